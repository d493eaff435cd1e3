/** The facts that the header of a WAV file says of its audio. */
interface WavForm {
  /** The encoding (RFC 2361). */
  readonly tag: number;
  /** In Hz. */
  readonly sampleRate: number;
  readonly channels: number;
  /** Of one sample. */
  readonly bits: number;
}

/** The tag of integer samples, whose header is the shortest. */
const integerTag = 1;

/** The length in the header of a WAV file that is still being written. */
export const unknownWavBytes = 0xffff_ffff;

/** Bytes of the header of a WAV file. */
export function wavHeaderBytesOf({ tag }: Pick<WavForm, 'tag'>): number {
  return tag === integerTag ? 44 : 58;
}

/**
 * The header of a WAV file with `dataBytes` of audio, or of one that is still being written. Audio of an odd number of bytes
 * is padded by one byte.
 */
export function wavHeaderOf(form: WavForm, dataBytes?: number): Buffer {
  const header = Buffer.alloc(wavHeaderBytesOf(form));
  const frameBits = form.bits * form.channels;
  const riffBytes = dataBytes === undefined ? unknownWavBytes : header.length - 8 + dataBytes + (dataBytes % 2);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(riffBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(form.tag === integerTag ? 16 : 18, 16);
  header.writeUInt16LE(form.tag, 20);
  header.writeUInt16LE(form.channels, 22);
  header.writeUInt32LE(form.sampleRate, 24);
  header.writeUInt32LE((form.sampleRate * frameBits) / 8, 28);
  header.writeUInt16LE(Math.ceil(frameBits / 8), 32);
  header.writeUInt16LE(form.bits, 34);
  if (form.tag !== integerTag) {
    header.write('fact', 38, 'latin1');
    header.writeUInt32LE(4, 42);
    header.writeUInt32LE(dataBytes === undefined ? unknownWavBytes : Math.floor((dataBytes * 8) / frameBits), 46);
  }
  header.write('data', header.length - 8, 'latin1');
  header.writeUInt32LE(dataBytes ?? unknownWavBytes, header.length - 4);
  return header;
}
