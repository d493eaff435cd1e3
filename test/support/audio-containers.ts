// Small files of containers other than WAV, made by hand; what is left out fits the rest, and lengths may lie.

interface ContainerParts {
  readonly data: Buffer;
  readonly sampleRate?: number;
  readonly channels?: number;
  /** The length that the audio says it has. */
  readonly dataBytes?: number;
}

/** An AU file (Sun): mu-law unless said otherwise. */
export function auFile({
  data,
  sampleRate = 8_000,
  channels = 1,
  dataBytes = data.length,
  encoding = 1,
  headBytes = 24,
}: ContainerParts & { readonly encoding?: number; readonly headBytes?: number }): Buffer {
  const head = Buffer.from('.snd....................');
  for (const [at, value] of [headBytes, dataBytes, encoding, sampleRate, channels].entries())
    head.writeUInt32BE(value, 4 + at * 4);
  return Buffer.concat([head, data]);
}

/** A chunk with a big-endian length and its pad byte. */
export function formChunk(name: string, content: Buffer, declared = content.length): Buffer {
  const head = Buffer.from(`${name}....`, 'latin1');
  head.writeUInt32BE(declared, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}

/** An AIFF-C file: little-endian samples of 16 bits unless said otherwise. */
export function aiffFile({
  data,
  sampleRate = 8_000,
  channels = 1,
  dataBytes = data.length + 8,
  bits = 16,
  codec = 'sowt',
  frames = Math.floor((data.length * 8) / Math.max(1, bits * channels)),
  beforeData = [],
}: ContainerParts & {
  readonly bits?: number;
  readonly codec?: string;
  readonly frames?: number;
  readonly beforeData?: readonly Buffer[];
}): Buffer {
  const common = Buffer.alloc(24);
  common.writeUInt16BE(channels, 0);
  common.writeUInt32BE(frames, 2);
  common.writeUInt16BE(bits, 6);
  writeExtended(common.subarray(8), sampleRate);
  common.write(codec, 18, 'latin1');
  const body = Buffer.concat([
    Buffer.from('AIFC'),
    formChunk('COMM', common),
    ...beforeData,
    formChunk('SSND', Buffer.concat([Buffer.alloc(8), data]), dataBytes),
  ]);
  return formChunk('FORM', body);
}

/** An integer as the 80-bit number of IEEE 754 with which AIFF says its rate. */
function writeExtended(into: Buffer, value: number): void {
  if (value === 0) return;
  const exponent = Math.floor(Math.log2(value));
  into.writeUInt16BE(16_383 + exponent, 0);
  into.writeBigUInt64BE(BigInt(value) << BigInt(63 - exponent), 2);
}

/** A chunk of a CAF file. */
export function cafChunk(name: string, content: Buffer, declared = BigInt(content.length)): Buffer {
  const head = Buffer.from(`${name}........`, 'latin1');
  head.writeBigInt64BE(BigInt.asIntN(64, declared), 4);
  return Buffer.concat([head, content]);
}

/** A CAF file: big-endian samples of 16 bits unless said otherwise. */
export function cafFile({
  data,
  sampleRate = 8_000,
  channels = 1,
  dataBytes = data.length + 4,
  codec = 'lpcm',
  packet = { bytes: 2 * channels, frames: 1 },
  bits = 16,
  beforeData = [],
}: ContainerParts & {
  readonly codec?: string;
  readonly packet?: { readonly bytes: number; readonly frames: number };
  readonly bits?: number;
  readonly beforeData?: readonly Buffer[];
}): Buffer {
  const description = Buffer.alloc(32);
  description.writeDoubleBE(sampleRate, 0);
  description.write(codec, 8, 'latin1');
  for (const [at, value] of [0, packet.bytes, packet.frames, channels, bits].entries())
    description.writeUInt32BE(value, 12 + at * 4);
  return Buffer.concat([
    Buffer.from('caff\0\x01\0\0', 'latin1'),
    cafChunk('desc', description),
    ...beforeData,
    cafChunk('data', Buffer.concat([Buffer.alloc(4), data]), BigInt(dataBytes)),
  ]);
}

const w64Tail = { riff: '2e91cf11a5d628db04c10000', other: 'f3acd3118cd100c04f8edb8a' } as const;

/** A Wave64 file with the content of a WAV file's format chunk. */
export function w64File({
  data,
  format,
  dataBytes = data.length + 24,
}: Pick<ContainerParts, 'data' | 'dataBytes'> & { readonly format: Buffer }): Buffer {
  const guid = (name: string, tail: string = w64Tail.other) =>
    Buffer.concat([Buffer.from(name), Buffer.from(tail, 'hex')]);
  const sized = (bytes: number) => {
    const size = Buffer.alloc(8);
    size.writeBigUInt64LE(BigInt(bytes));
    return size;
  };
  const rest = Buffer.concat([
    guid('wave'),
    guid('fmt '),
    sized(format.length + 24),
    format,
    guid('data'),
    sized(dataBytes),
    data,
  ]);
  return Buffer.concat([guid('riff', w64Tail.riff), sized(rest.length + 24), rest]);
}
