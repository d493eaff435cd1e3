import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import type { AudioReason } from '../../pipelines/audio/reasons.ts';
import {
  extensibleFormat,
  float32,
  longSizes,
  numbersOf,
  pcm16,
  riffChunk,
  sampleRecording,
  tone,
  wavFile,
  wavFormat,
  type RecordingFolder,
  type WavParts,
} from '../support/audio-file.ts';
import { aiffFile, auFile, cafChunk, cafFile, formChunk, w64File } from '../support/audio-containers.ts';

/** A recording made to do harm, and what reading it must end in; several outcomes where FFmpeg decides. */
interface HostileRecording {
  readonly name: string;
  /** The content, or what makes the path. */
  readonly content: () => Buffer | ((folder: RecordingFolder) => string | Promise<string>);
  readonly outcomes: readonly (AudioReason | 'read')[];
}

const damaged = 'audio_damaged';
const unknown = 'format_unknown';
const unsupported = 'codec_unsupported';
type Outcome = AudioReason | 'read';
type Row = readonly [name: string, content: HostileRecording['content'], ...outcomes: Outcome[]];

const bytes = (text: string) => Buffer.from(text, 'latin1');
const zeros = (length: number) => Buffer.alloc(length);
const join2 = (...parts: Buffer[]) => Buffer.concat(parts);

/** Bytes that look random and are the same each time. */
function noise(length: number, seed = 1): Buffer {
  let state = seed;
  return Buffer.from(
    Uint8Array.from({ length }, () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) >>> 24),
  );
}

/** A copy with some bytes changed. */
function patched(original: Buffer, at: number, ...values: readonly number[]): Buffer {
  const copy = Buffer.from(original);
  copy.set(values, at);
  return copy;
}

/** A copy with a 32-bit big-endian number `shift` bytes behind the first `mark`. */
function marked(original: Buffer, mark: string, shift: number, value: number): Buffer {
  const at = original.indexOf(mark, 0, 'latin1');
  if (at < 0) throw new Error(`There is no ${mark}.`);
  const copy = Buffer.from(original);
  copy.writeUInt32BE(value >>> 0, at + shift);
  return copy;
}

const wav = (parts: WavParts) => () => wavFile(parts);
const wavCut = (length: number): Row => [
  `WAV cut after ${length} bytes`,
  () => wavFile().subarray(0, length),
  length < 12 ? unknown : length < 46 ? damaged : 'read',
];
const ima = (parts: WavParts, more = [2, 0, 249, 1]) =>
  wavFile({
    format: join2(wavFormat({ tag: 0x11, bits: 4, blockAlign: 256, ...parts }), Buffer.from(more)),
    data: noise(5_120),
  });

const wavRows: readonly Row[] = [
  ...[1, 4, 8, 11, 12, 16, 20, 28, 36, 40, 43, 44, 45, 46].map(wavCut),
  ['WAV whose lengths are 0', wav({ riffBytes: 0, dataBytes: 0 }), 'read'],
  ['WAV whose lengths are 2^32-1', wav({ riffBytes: 0xffff_ffff, dataBytes: 0xffff_ffff }), 'read'],
  ['WAV whose audio claims 2^31 bytes', wav({ dataBytes: 0x8000_0000 }), 'read'],
  ['WAV with no channel', wav({ channels: 0, blockAlign: 2 }), damaged],
  ['WAV with no channel and no byte a sample', wav({ channels: 0, blockAlign: 0 }), damaged],
  ['WAV at 0 Hz', wav({ sampleRate: 0 }), damaged],
  ['WAV at 1 Hz', wav({ sampleRate: 1 }), 'sample_rate_too_low'],
  ['WAV at 2^32-1 Hz', wav({ sampleRate: 0xffff_ffff }), 'sample_rate_too_high'],
  ['WAV with 255 channels at 768 kHz', wav({ channels: 255, sampleRate: 768_000 }), 'channels_too_many'],
  ['WAV with 32,767 channels', wav({ channels: 32_767 }), 'channels_too_many'],
  ['WAV with 65,535 channels', wav({ channels: 65_535, blockAlign: 0xfffe }), damaged],
  ['WAV with samples of 0 bits', wav({ bits: 0, blockAlign: 2 }), damaged],
  ['WAV with samples of 65,535 bits', wav({ bits: 65_535 }), unsupported],
  ['WAV with samples of 1 bit', wav({ bits: 1 }), 'read'],
  ['WAV with 65,535 bytes a sample', wav({ blockAlign: 65_535 }), damaged],
  ['WAV of nothing but NaN', wav({ tag: 3, bits: 32, data: Buffer.alloc(8_000, 0xff) }), 'read'],
  [
    'WAV of infinities',
    wav({
      tag: 3,
      bits: 32,
      data: float32(Array.from({ length: 500 }, (_none, at) => (at % 2 === 0 ? Infinity : -Infinity))),
    }),
    'read',
  ],
  [
    'WAV of 64-bit numbers of every kind',
    wav({
      tag: 3,
      bits: 64,
      data: numbersOf([[1e308, -1e308, 5e-324, Number.NaN, Infinity, 0]], 8, (into, value, at) =>
        into.writeDoubleLE(value, at),
      ),
    }),
    'read',
  ],
  [
    'WAV with a chunk of odd length and no pad',
    () => join2(wavFile().subarray(0, 12), riffChunk('LIST', zeros(3)).subarray(0, 11), wavFile().subarray(12)),
    damaged,
  ],
  ['WAV with a chunk of 2^32-1 bytes', wav({ beforeData: [riffChunk('LIST', zeros(4), 0xffff_ffff)] }), damaged],
  [
    'WAV with a chunk that leads back to itself',
    wav({ beforeData: [riffChunk('LIST', zeros(4), 0xffff_fff8)] }),
    damaged,
  ],
  [
    'WAV with 100,000 empty chunks',
    wav({ beforeData: Array.from({ length: 100_000 }, () => riffChunk('junk', zeros(0))) }),
    damaged,
  ],
  ['WAV whose format claims 2^32-1 bytes', () => marked(wavFile(), 'fmt ', 4, 0xffff_ffff), damaged],
  ['WAV with a format of no byte', wav({ format: zeros(0) }), damaged],
  ['WAV with a format of 14 bytes', wav({ format: wavFormat({}).subarray(0, 14) }), damaged],
  [
    'WAV with its format behind its audio',
    () => join2(wavFile().subarray(0, 12), riffChunk('data', zeros(64)), riffChunk('fmt ', wavFormat({}))),
    damaged,
  ],
  ['WAV with two formats', wav({ beforeData: [riffChunk('fmt ', wavFormat({ channels: 8 }))] }), damaged],
  [
    'WAV with an extensible format in an extensible format',
    wav({ format: extensibleFormat({ tag: 0xfffe }) }),
    unsupported,
  ],
  [
    'WAV with chunk names of no letters',
    wav({ beforeData: [riffChunk('\0\0\0\0', zeros(8)), riffChunk('\xff\xff\xff\xff', zeros(8))] }),
    'read',
  ],
  ['WAV that holds MP3', wav({ tag: 0x55, bits: 0, blockAlign: 1, data: sampleRecording('tone.mp3') }), 'read'],
  ['WAV of format 0xffff', wav({ tag: 0xffff }), unsupported],
  ['WAV in a WAV', wav({ data: wavFile() }), 'read'],
  ['WAV with its last sample cut', () => wavFile({ data: pcm16(tone()) }).subarray(0, -1), 'read'],
  ['WAV of 2 hours', wav({ sampleRate: 4_000, bits: 8, data: zeros((7_200 * 4_000) / 2) }), 'recording_too_long'],
  ['RF64 without its lengths', wav({ id: 'RF64', riffBytes: 0xffff_ffff, dataBytes: 0xffff_ffff }), 'read'],
  [
    'RF64 whose audio claims 0 bytes',
    wav({ id: 'RF64', riffBytes: 0xffff_ffff, dataBytes: 0xffff_ffff, beforeFormat: [longSizes({ dataBytes: 0n })] }),
    'read',
  ],
  [
    'RF64 whose audio claims 2^64-1 bytes',
    wav({
      id: 'RF64',
      dataBytes: 0xffff_ffff,
      beforeFormat: [longSizes({ riffBytes: 2n ** 64n - 1n, dataBytes: 2n ** 64n - 1n, samples: 2n ** 64n - 1n })],
    }),
    'read',
  ],
  [
    'RF64 with 4,294,967,295 further lengths',
    wav({
      id: 'BW64',
      dataBytes: 0xffff_ffff,
      beforeFormat: [patched(longSizes({ dataBytes: 100n }), 32, 255, 255, 255, 255)],
    }),
    'read',
  ],
  ['RF64 with lengths of 4 bytes', wav({ id: 'RF64', beforeFormat: [riffChunk('ds64', zeros(4))] }), damaged],
  ['IMA WAV with blocks of 0 bytes', () => ima({ blockAlign: 0 }), damaged],
  ['IMA WAV with blocks of 1 byte', () => ima({ blockAlign: 1 }), damaged],
  ['IMA WAV with blocks of 65,535 bytes', () => ima({ blockAlign: 65_535 }), damaged, 'read'],
  ['IMA WAV with 255 channels', () => ima({ channels: 255 }), 'channels_too_many'],
  ['IMA WAV with 3 channels', () => ima({ channels: 3 }), damaged, 'read'],
  ['IMA WAV at 0 Hz', () => ima({ sampleRate: 0 }), damaged],
  ['IMA WAV with 65,535 samples a block', () => ima({}, [2, 0, 255, 255]), damaged, 'read'],
  [
    'GSM WAV of noise',
    () =>
      wavFile({
        format: join2(wavFormat({ tag: 0x31, bits: 0, blockAlign: 65 }), Buffer.from([2, 0, 64, 1])),
        data: noise(6_500),
      }),
    'read',
  ],
  [
    'GSM WAV with blocks of 1 byte',
    () =>
      wavFile({
        format: join2(wavFormat({ tag: 0x31, bits: 0, blockAlign: 1 }), Buffer.from([2, 0, 64, 1])),
        data: noise(6_500),
      }),
    damaged,
    'read',
  ],
  ['big-endian WAV', wav({ id: 'RIFX' }), unknown],
  ...([0x02, 0x10, 0x17, 0x42, 0x45, 0x55, 0x28f] as const).flatMap((tag): Row[] => [
    [`WAV of noise with the tag ${tag}`, wav({ tag, bits: 4, blockAlign: 1, data: noise(4_000) }), 'read', damaged],
    [
      `WAV of noise in blocks of 65,535 bytes with the tag ${tag}`,
      wav({ tag, bits: 65_535, blockAlign: 65_535, data: noise(70_000) }),
      'read',
      damaged,
    ],
    [
      `WAV of 8 channels of noise with the tag ${tag}`,
      wav({ tag, bits: 4, channels: 8, blockAlign: 36, data: noise(4_000) }),
      'read',
      damaged,
    ],
  ]),
];

const flac = () => sampleRecording('tone-24.flac');

/** The first block of a FLAC file: `total` samples of `bits` bits. */
function streamInfo({
  sampleRate = 16_000,
  channels = 1,
  bits = 16,
  total = 0,
  block = 4_096,
  length = 34,
  isLast = true,
}: {
  readonly sampleRate?: number;
  readonly channels?: number;
  readonly bits?: number;
  readonly total?: number;
  readonly block?: number;
  readonly length?: number;
  readonly isLast?: boolean;
} = {}): Buffer {
  const info = zeros(42);
  info.write('fLaC');
  info.writeUInt32BE((isLast ? 0x8000_0000 : 0) + length, 4);
  info.writeUInt16BE(block, 8);
  info.writeUInt16BE(block, 10);
  info.writeBigUInt64BE(
    (BigInt(sampleRate) << 44n) | (BigInt(channels - 1) << 41n) | (BigInt(bits - 1) << 36n) | BigInt(total),
    18,
  );
  return info;
}

const flacBlock = (type: number, content: Buffer, declared = content.length) =>
  join2(Buffer.from([type, declared >> 16, (declared >> 8) & 255, declared & 255]), content);
const behindInfo = (...blocks: Buffer[]) =>
  join2(flac().subarray(0, 42), ...blocks, flac().subarray(flac().indexOf(Buffer.from([0xff, 0xf8]))));

const flacRows: readonly Row[] = [
  ['FLAC of its first four bytes', () => flac().subarray(0, 4), damaged],
  ['FLAC cut within its first block', () => flac().subarray(0, 20), damaged],
  ['FLAC without a frame', () => streamInfo({ total: 16_000 }), damaged],
  ['FLAC at 0 Hz', () => join2(streamInfo({ sampleRate: 0 }), noise(2_000)), damaged],
  [
    'FLAC with 8 channels at 655,350 Hz',
    () => join2(streamInfo({ sampleRate: 655_350, channels: 8 }), noise(2_000)),
    'sample_rate_too_high',
  ],
  ['FLAC with samples of 1 bit', () => join2(streamInfo({ bits: 1 }), noise(2_000)), damaged],
  ['FLAC with blocks of 0 samples', () => join2(streamInfo({ block: 0 }), noise(2_000)), damaged],
  [
    'FLAC that claims 2^36-1 samples',
    () => patched(flac(), 21, flac()[21]! | 15, 255, 255, 255, 255),
    'recording_too_long',
  ],
  ['FLAC of noise', () => join2(streamInfo(), noise(20_000)), damaged],
  [
    'FLAC of frame headers',
    () => join2(streamInfo(), Buffer.alloc(50_000, bytes('\xff\xf8\xc9\x18\x00\xc2'))),
    damaged,
  ],
  ['FLAC whose first block claims 16 MiB', () => join2(streamInfo({ length: 0xff_ffff }), noise(2_000)), damaged],
  [
    'FLAC with 100,000 empty blocks',
    () => join2(streamInfo({ isLast: false }), Buffer.alloc(400_000, Buffer.from([1, 0, 0, 0]))),
    damaged,
  ],
  [
    'FLAC with a picture that claims 2^32-1 bytes',
    () =>
      behindInfo(
        flacBlock(
          0x86,
          join2(Buffer.from([0, 0, 0, 3, 0, 0, 0, 9]), bytes('image/png'), zeros(4 + 16), Buffer.alloc(4, 255)),
        ),
      ),
    'read',
    damaged,
  ],
  [
    'FLAC with comments that claim 2^32-1 bytes',
    () => behindInfo(flacBlock(0x84, Buffer.alloc(40, 255))),
    'read',
    damaged,
  ],
  ['FLAC with seek points everywhere', () => behindInfo(flacBlock(0x83, Buffer.alloc(18_000, 255))), 'read', damaged],
  ['FLAC with a cue sheet of noise', () => behindInfo(flacBlock(0x85, noise(4_000))), 'read', damaged],
  ['FLAC of an hour of silence in 14 KB', () => sampleRecording('silence-hour.flac'), 'recording_too_long'],
  [
    'FLAC of an hour of silence that claims no length',
    () =>
      patched(sampleRecording('silence-hour.flac'), 21, sampleRecording('silence-hour.flac')[21]! & 0xf0, 0, 0, 0, 0),
    'recording_too_long',
  ],
  ['FLAC cut in a frame', () => flac().subarray(0, 20_001), 'read'],
  [
    'FLAC with noise in its middle',
    () => join2(flac().subarray(0, 12_000), noise(3_000), flac().subarray(15_000)),
    'read',
  ],
];

const mp3 = () => sampleRecording('tone.mp3');
const bare = () => sampleRecording('tone-no-header.mp3');
const id3 = (length: number, content: Buffer = zeros(0)) =>
  join2(bytes('ID3\x04\0\0'), Buffer.from([21, 14, 7, 0].map((shift) => (length >> shift) & 127)), content);
const nestedTag = (depth: number): Buffer =>
  depth === 0 ? zeros(0) : id3(nestedTag(depth - 1).length, nestedTag(depth - 1));
/** MP3 frames of 32 kbit/s at 16 kHz, or with another header, with nothing in them. */
const emptyFrames = (count: number, header = [0xff, 0xf3, 0x48, 0xc4]) =>
  Buffer.concat(Array.from({ length: count }, () => join2(Buffer.from(header), zeros(140))));

const mp3Rows: readonly Row[] = [
  ['MP3 with ID3 tags in each other, 9 deep', () => join2(nestedTag(9), mp3()), 'read'],
  [
    'MP3 behind 1,000 ID3 tags',
    () => join2(Buffer.concat(Array.from({ length: 1_000 }, () => id3(0))), mp3()),
    damaged,
  ],
  ['MP3 behind a tag that claims 256 MiB', () => join2(id3(0x0fff_ffff), mp3()), damaged],
  ['MP3 behind a tag longer than the file', () => join2(id3(1_000_000), mp3()), unknown],
  ['MP3 behind a tag of no length', () => join2(bytes('ID3\x04\0\0\xff\xff\xff\xff'), mp3()), damaged],
  [
    'MP3 behind a tag with a picture that claims 256 MiB',
    () => join2(id3(200, join2(bytes('APIC\x0f\x7f\x7f\x7f\0\0'), zeros(190))), mp3()),
    'read',
  ],
  [
    'MP3 behind a compressed tag',
    () => join2(bytes('ID3\x03\0\xff'), Buffer.from([0, 0, 0, 100]), noise(100), mp3()),
    'read',
  ],
  ['MP3 behind a MiB of zeros', () => join2(zeros(1024 * 1024), mp3()), unknown],
  ['MP3 of frames with nothing in them', () => emptyFrames(200), 'read', damaged],
  ['MP3 of free format', () => Buffer.alloc(50_000, bytes('\xff\xf3\x08\xc4')), unknown],
  ['MP3 of frame headers', () => Buffer.alloc(50_000, bytes('\xff\xf3\x48\xc4')), 'read', damaged],
  ['MP3 of 0xff', () => Buffer.alloc(50_000, 255), unknown],
  [
    'MP3 whose header claims 2^32-1 frames and bytes',
    () => marked(marked(mp3(), 'Info', 8, -1), 'Info', 12, -1),
    'read',
    'recording_too_long',
  ],
  [
    'MP3 whose header drops more than there is',
    () => patched(mp3(), mp3().indexOf('Lavf lame') + 21, 255, 255, 255),
    'read',
    damaged,
  ],
  [
    'MP3 that changes its rate',
    () => join2(bare(), emptyFrames(20, [0xff, 0xfb, 0x10, 0xc4]), bare()),
    'read',
    damaged,
  ],
  [
    'MP3 that changes to two channels',
    () => join2(bare(), emptyFrames(20, [0xff, 0xf3, 0x48, 0x04]), bare()),
    'read',
    damaged,
  ],
  [
    'MP3 with noise in its middle',
    () => join2(bare().subarray(0, 1_080), noise(3_000), bare().subarray(1_080)),
    'read',
  ],
  [
    'MP3 with an APE tag that claims 2^32-1 bytes',
    () => join2(mp3(), bytes('APETAGEX'), Buffer.alloc(24, 255)),
    'read',
  ],
  ['MP3 cut in its first frame', () => bare().subarray(0, 100), unknown],
  ['MP3 cut in its second frame', () => bare().subarray(0, 150), 'read', damaged],
  ['MP3 of an hour in frames with nothing in them', () => emptyFrames(100_000), 'recording_too_long', damaged],
];

/** The checksum of an Ogg page (RFC 3533). */
export function oggChecksum(page: Buffer): number {
  let sum = 0;
  for (const byte of page) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) sum = (sum << 1) ^ (sum < 0 ? 0x04c1_1db7 : 0);
  }
  return sum >>> 0;
}

function oggPage(
  body: Buffer,
  {
    flags = 0,
    granule = 0n,
    serial = 1,
    sequence = 0,
    segments,
  }: {
    readonly flags?: number;
    readonly granule?: bigint;
    readonly serial?: number;
    readonly sequence?: number;
    readonly segments?: readonly number[];
  } = {},
): Buffer {
  const lacing = segments ?? [...Array.from({ length: Math.floor(body.length / 255) }, () => 255), body.length % 255];
  const head = zeros(27);
  head.write('OggS');
  head[5] = flags;
  head.writeBigInt64LE(BigInt.asIntN(64, granule), 6);
  head.writeUInt32LE(serial, 14);
  head.writeUInt32LE(sequence, 18);
  head[26] = lacing.length;
  const page = join2(head, Buffer.from(lacing), body);
  page.writeUInt32LE(oggChecksum(page), 22);
  return page;
}

const opusHead = ({ channels = 1, preSkip = 312, family = 0, map = [] as number[], version = 1 } = {}) =>
  join2(
    bytes('OpusHead'),
    Buffer.from([version, channels, preSkip & 255, preSkip >> 8, 0x80, 0x3e, 0, 0, 0, 0, family, ...map]),
  );
const opusTags = () => join2(bytes('OpusTags'), zeros(8));
/** Opus packets of 20 ms of nothing, a page each. */
const opusFile = (head: Buffer, packets: readonly Buffer[], granule = (at: number) => BigInt(at + 1) * 960n) =>
  Buffer.concat([
    oggPage(head, { flags: 2 }),
    oggPage(opusTags(), { sequence: 1 }),
    ...packets.map((packet, at) =>
      oggPage(packet, { sequence: at + 2, granule: granule(at), flags: at === packets.length - 1 ? 4 : 0 }),
    ),
  ]);
const silentPackets = (count: number) => Array.from({ length: count }, () => Buffer.from([0x78, 0xff, 0xfe]));
const opus = () => sampleRecording('tone.opus');
const vorbis = () => sampleRecording('tone.ogg');

const oggRows: readonly Row[] = [
  ['Ogg of its first four bytes', () => bytes('OggS'), damaged],
  ['Ogg cut within its first page', () => opus().subarray(0, 30), damaged],
  ['Ogg with a first page and nothing', () => oggPage(opusHead(), { flags: 2 }), damaged],
  ['Opus of silence', () => opusFile(opusHead(), silentPackets(100)), 'read'],
  ['Opus with no channel', () => opusFile(opusHead({ channels: 0 }), silentPackets(100)), damaged],
  [
    'Opus with 255 channels',
    () =>
      opusFile(
        opusHead({ channels: 255, family: 255, map: [255, 0, ...Array.from({ length: 255 }, (_none, at) => at)] }),
        silentPackets(100),
      ),
    'channels_too_many',
    damaged,
  ],
  [
    'Opus with 8 channels and a map of lies',
    () => opusFile(opusHead({ channels: 8, family: 1, map: [1, 1, 9, 9, 9, 9, 9, 9, 9, 9] }), silentPackets(100)),
    damaged,
  ],
  [
    'Opus with channels of no known place',
    () =>
      opusFile(
        opusHead({ channels: 2, family: 255, map: [2, 0, 0, 1] }),
        Array.from({ length: 60 }, () => Buffer.from([0x78, 1, 0xff, 0xfe, 0x78, 0xff, 0xfe])),
      ),
    'read',
    damaged,
  ],
  [
    'Opus that skips more than there is',
    () => opusFile(opusHead({ preSkip: 65_535 }), silentPackets(50)),
    damaged,
    'read',
  ],
  ['Opus of version 255', () => opusFile(opusHead({ version: 255 }), silentPackets(50)), damaged, 'read'],
  [
    'Opus whose pages count to 2^63-1',
    () => opusFile(opusHead(), silentPackets(50), () => 2n ** 63n - 1n),
    'recording_too_long',
    'read',
    damaged,
  ],
  [
    'Opus whose pages count backwards',
    () => opusFile(opusHead(), silentPackets(50), (at) => -1_000_000n * BigInt(at)),
    'read',
    damaged,
  ],
  [
    'Opus of noise',
    () =>
      opusFile(
        opusHead(),
        Array.from({ length: 50 }, (_none, at) => noise(200, at)),
      ),
    'read',
    damaged,
  ],
  ['Opus of an hour of silence', () => opusFile(opusHead(), silentPackets(180_000)), 'recording_too_long'],
  ['Ogg whose checksums are wrong', () => patched(opus(), 22, 1, 2, 3, 4), 'read', damaged],
  [
    'Ogg with 5,000 streams',
    () => Buffer.concat(Array.from({ length: 5_000 }, (_none, serial) => oggPage(opusHead(), { flags: 2, serial }))),
    damaged,
  ],
  [
    'Ogg whose packet never ends',
    () =>
      join2(
        oggPage(opusHead(), { flags: 2 }),
        oggPage(opusTags(), { sequence: 1 }),
        ...Array.from({ length: 40 }, (_none, at) =>
          oggPage(zeros(255 * 255), { sequence: at + 2, flags: 1, segments: Array.from({ length: 255 }, () => 255) }),
        ),
      ),
    damaged,
    'read',
  ],
  [
    'Ogg pages of no segment',
    () =>
      join2(
        oggPage(opusHead(), { flags: 2 }),
        Buffer.concat(
          Array.from({ length: 20_000 }, (_none, sequence) => oggPage(zeros(0), { sequence, segments: [] })),
        ),
      ),
    damaged,
  ],
  [
    'Ogg of one stream, then of another with two channels',
    () => join2(opus(), opusFile(opusHead({ channels: 2 }), silentPackets(50))),
    'read',
    damaged,
  ],
  [
    'Ogg with Speex',
    () => join2(oggPage(join2(bytes('Speex   '), noise(72)), { flags: 2 }), oggPage(noise(100), { sequence: 1 })),
    unsupported,
    damaged,
  ],
  [
    'Ogg with a film',
    () =>
      join2(
        oggPage(join2(bytes('\x80theora'), Buffer.from([3, 2, 1]), noise(32)), { flags: 2 }),
        oggPage(noise(100), { sequence: 1 }),
      ),
    damaged,
  ],
  [
    'Vorbis whose first packet claims 255 channels',
    () => marked(vorbis(), '\x01vorbis', 11, 0xff80_3e00),
    damaged,
    'channels_too_many',
  ],
  ['Vorbis at 0 Hz', () => patched(vorbis(), vorbis().indexOf('\x01vorbis') + 12, 0, 0, 0, 0), damaged],
  [
    'Vorbis with noise in its code books',
    () =>
      join2(
        vorbis().subarray(0, vorbis().indexOf('BCV')),
        noise(1_000),
        vorbis().subarray(vorbis().indexOf('BCV') + 1_000),
      ),
    damaged,
  ],
  [
    'Vorbis with comments that claim 2^32-1 bytes',
    () => patched(vorbis(), vorbis().indexOf('\x03vorbis') + 7, 255, 255, 255, 255),
    damaged,
    'read',
  ],
];

const m4a = () => sampleRecording('tone.m4a');
const box = (name: string, ...content: Buffer[]) => {
  const body = Buffer.concat(content);
  const head = bytes(`....${name}`);
  head.writeUInt32BE(body.length + 8, 0);
  return join2(head, body);
};
const ftyp = () => box('ftyp', bytes('M4A \0\0\0\0M4A mp42isom'));
const deepBoxes = (depth: number) => {
  let content = zeros(0);
  for (let level = 0; level < depth; level++) content = box(level % 2 === 0 ? 'trak' : 'moov', content);
  return content;
};
/** A copy whose references to its own data lead to the file with this address. */
const referring = (address: string) => {
  const original = m4a();
  const at = original.indexOf('url ') - 4;
  const reference = box('url ', zeros(4), bytes(`${address}\0`));
  const grown = reference.length - 12;
  const copy = join2(original.subarray(0, at), reference, original.subarray(at + 12));
  for (const name of ['moov', 'trak', 'mdia', 'minf', 'dinf', 'dref'])
    copy.writeUInt32BE(original.readUInt32BE(original.indexOf(name) - 4) + grown, original.indexOf(name) - 4);
  return copy;
};

const mp4Rows: readonly Row[] = [
  ['MP4 of a first box and nothing', () => ftyp(), damaged],
  ['MP4 with a box of no length', () => join2(ftyp(), Buffer.from([0, 0, 0, 0]), bytes('moov')), damaged],
  [
    'MP4 with a box of 2^63 bytes',
    () => join2(ftyp(), Buffer.from([0, 0, 0, 1]), bytes('moov'), Buffer.from([128, 0, 0, 0, 0, 0, 0, 0])),
    damaged,
  ],
  [
    'MP4 with a box shorter than its head',
    () => join2(ftyp(), Buffer.from([0, 0, 0, 4]), bytes('moov'), noise(500)),
    damaged,
  ],
  ['MP4 with boxes 2,000 deep', () => join2(ftyp(), deepBoxes(2_000)), damaged],
  ['MP4 without its index', () => m4a().subarray(0, m4a().indexOf('moov') - 4), damaged],
  ['MP4 with its index cut', () => m4a().subarray(0, m4a().indexOf('stts')), damaged],
  ['MP4 with two indexes', () => join2(m4a(), m4a().subarray(m4a().indexOf('moov') - 4)), 'read', damaged],
  ['MP4 that claims 2^32-1 sizes', () => marked(m4a(), 'stsz', 12, -1), damaged, 'read'],
  ['MP4 whose sizes are all 2^31', () => marked(m4a(), 'stsz', 8, 0x7fff_ffff), damaged, 'read'],
  ['MP4 that claims 2^32-1 times', () => marked(m4a(), 'stts', 8, -1), damaged, 'read', 'recording_too_long'],
  ['MP4 whose samples last 2^32-1', () => marked(m4a(), 'stts', 16, -1), damaged, 'read', 'recording_too_long'],
  ['MP4 that claims 2^32-1 places', () => marked(m4a(), 'stco', 8, -1), damaged, 'read'],
  ['MP4 whose audio lies behind the end', () => marked(m4a(), 'stco', 12, 0xffff_0000), damaged],
  ['MP4 that claims 2^32-1 chunks', () => marked(m4a(), 'stsc', 8, -1), damaged, 'read'],
  ['MP4 with 2^32-1 samples a chunk', () => marked(m4a(), 'stsc', 16, -1), damaged, 'read'],
  ['MP4 with no unit of time', () => marked(m4a(), 'mdhd', 16, 0), damaged, 'read'],
  ['MP4 that lasts 2^32-1 units', () => marked(m4a(), 'mdhd', 20, -1), 'recording_too_long', 'read', damaged],
  ['MP4 with 2^32-1 edits', () => marked(m4a(), 'elst', 8, -1), damaged, 'read'],
  [
    'MP4 with an edit of 2^32-1',
    () => marked(marked(m4a(), 'elst', 12, -1), 'elst', 16, 0x7fff_ffff),
    damaged,
    'read',
    'recording_too_long',
  ],
  ['MP4 with 65,535 channels', () => marked(m4a(), 'mp4a', 20, 0xffff_0010), 'read', damaged, 'channels_too_many'],
  ['MP4 at 0 Hz', () => marked(m4a(), 'mp4a', 28, 0), 'read', damaged],
  [
    'MP4 with noise for its codec',
    () => join2(m4a().subarray(0, m4a().indexOf('esds') + 8), noise(20), m4a().subarray(m4a().indexOf('esds') + 28)),
    damaged,
    'read',
    unsupported,
  ],
  [
    'MP4 with another codec',
    () => patched(m4a(), m4a().indexOf('mp4a'), ...bytes('samr')),
    'read',
    damaged,
    unsupported,
  ],
  [
    'MP4 that is encrypted',
    () => patched(m4a(), m4a().indexOf('mp4a'), ...bytes('enca')),
    damaged,
    unsupported,
    'read',
  ],
  ['MP4 with a film instead of audio', () => patched(m4a(), m4a().indexOf('soun'), ...bytes('vide')), damaged],
  ['MP4 whose audio lies in /etc/passwd', () => referring('file:///etc/passwd'), 'read', damaged],
  ['MP4 whose audio lies on a server', () => referring('http://127.0.0.1:9/audio'), 'read', damaged],
  ['3GP cut in its audio', () => sampleRecording('tone.3gp').subarray(0, 700), damaged, 'read'],
  [
    '3GP with frames of every kind',
    () => patched(sampleRecording('tone.3gp'), sampleRecording('tone.3gp').indexOf('mdat') + 4, ...noise(500)),
    'read',
    damaged,
  ],
  ['MP4 of noise', () => join2(ftyp(), box('moov', noise(5_000)), box('mdat', noise(5_000))), damaged],
];

const amr = () => sampleRecording('tone.amr');

const amrRows: readonly Row[] = [
  ['AMR of its first bytes', () => amr().subarray(0, 6), damaged],
  ['AMR cut in a frame', () => amr().subarray(0, 100), 'read'],
  ['AMR of noise', () => join2(amr().subarray(0, 6), noise(20_000)), 'read', damaged],
  ['AMR of frames of no kind', () => join2(amr().subarray(0, 6), Buffer.alloc(20_000, 0x74)), 'read', damaged],
  [
    'AMR of an hour',
    () => join2(amr().subarray(0, 6), Buffer.alloc(3_600 * (amr().length - 6), amr().subarray(6))),
    'recording_too_long',
  ],
  ['wideband AMR of noise', () => join2(bytes('#!AMR-WB\n'), noise(20_000)), 'read', damaged],
  ['AMR of 2^24 channels', () => join2(bytes('#!AMR_MC1.0\n\0\0\0\x01'), noise(2_000)), 'channels_too_many', damaged],
  ['AMR of no kind', () => join2(bytes('#!AMRX'), noise(2_000)), damaged, unsupported, 'read', 'channels_too_many'],
];

const aac = () => sampleRecording('tone.aac');

const aacRows: readonly Row[] = [
  ['AAC cut in its second frame', () => aac().subarray(0, 400), 'read', damaged],
  [
    'AAC with noise in its middle',
    () => join2(aac().subarray(0, 1_500), noise(3_000), aac().subarray(1_500)),
    'read',
    damaged,
  ],
  ['AAC of frames of 8 bytes', () => Buffer.alloc(50_000, bytes('\xff\xf1\x60\x40\x01\x1f\xfc\0')), 'read', damaged],
  [
    'AAC that changes its rate',
    () => join2(aac(), patched(aac(), 2, (aac()[2]! & 0xc3) | (3 << 2)), aac()),
    'read',
    damaged,
  ],
  ['AAC of frame headers with a length of 0', () => Buffer.alloc(50_000, bytes('\xff\xf1\x60\x40\0\x1f\xfc')), unknown],
];

/** An EBML element: its id in hexadecimal, and its content with a length of 8 bytes. */
const element = (id: string, content: Buffer, declared = content.length) => {
  const size = zeros(8);
  size.writeBigUInt64BE(BigInt(declared) | (1n << 56n));
  return join2(Buffer.from(id, 'hex'), size, content);
};
const webmHead = () => element('1a45dfa3', element('4282', bytes('webm')));
/** A WebM file of one track with what follows its number and kind. */
const webm = (track: readonly Buffer[], ...clusters: Buffer[]) =>
  join2(
    webmHead(),
    element(
      '18538067',
      join2(
        element('1654ae6b', element('ae', join2(element('d7', Buffer.of(1)), element('83', Buffer.of(2)), ...track))),
        ...clusters,
      ),
    ),
  );
const opusTrack = (more: readonly Buffer[] = []) => [
  element('86', bytes('A_OPUS')),
  element('63a2', opusHead()),
  ...more,
];
const audioOf = (hertz: number, channels: number) => {
  const rate = zeros(8);
  rate.writeDoubleBE(hertz);
  return element('e1', join2(element('b5', rate), element('9f', Buffer.from([channels >> 8, channels & 255]))));
};
const clusterOf = (packets: readonly Buffer[], at = 0) =>
  element(
    '1f43b675',
    Buffer.concat([
      element('e7', Buffer.of(at)),
      ...packets.map((packet) => element('a3', join2(Buffer.of(0x81, 0, 0, 0), packet))),
    ]),
  );
const elementsIn = (depth: number): Buffer => {
  let content = zeros(0);
  for (let level = 0; level < depth; level++) content = element('18538067', content);
  return content;
};
const tone3 = () => sampleRecording('tone.webm');

const matroskaRows: readonly Row[] = [
  ['WebM of its first four bytes', () => tone3().subarray(0, 4), damaged],
  ['WebM of its head and nothing', webmHead, damaged],
  ['WebM cut in its audio', () => tone3().subarray(0, 1_500), 'read', damaged],
  ['WebM of noise', () => join2(webmHead(), noise(20_000)), damaged],
  ['WebM of silence', () => webm(opusTrack([audioOf(48_000, 1)]), clusterOf(silentPackets(60))), 'read'],
  [
    'WebM of an hour of silence',
    () => webm(opusTrack([audioOf(48_000, 1)]), clusterOf(silentPackets(180_000))),
    'recording_too_long',
  ],
  [
    'WebM with 65,535 channels',
    () => webm(opusTrack([audioOf(48_000, 65_535)]), clusterOf(silentPackets(9))),
    'read',
    damaged,
    'channels_too_many',
  ],
  ['WebM at 0 Hz', () => webm(opusTrack([audioOf(0, 1)]), clusterOf(silentPackets(9))), 'read', damaged],
  [
    'WebM at infinity',
    () => webm(opusTrack([audioOf(Infinity, 1)]), clusterOf(silentPackets(9))),
    'read',
    damaged,
    'sample_rate_too_high',
  ],
  ['WebM with elements 500 deep', () => join2(webmHead(), elementsIn(500)), damaged],
  [
    'WebM with an element of 2^56-2 bytes',
    () => join2(webmHead(), Buffer.from('1853806701fffffffffffffe', 'hex'), noise(2_000)),
    damaged,
  ],
  [
    'WebM whose track claims a name of 2^40 bytes',
    () => webm([element('536e', noise(20), 2 ** 40), ...opusTrack()], clusterOf(silentPackets(9))),
    damaged,
    'read',
  ],
  [
    'Matroska with tracks whose frames are compressed, a MiB of zeros in a KiB',
    () =>
      webm(
        [
          element('86', bytes('A_PCM/INT/LIT')),
          audioOf(8_000, 1),
          element(
            '6d80',
            element('6240', join2(element('5032', Buffer.of(1)), element('5034', element('4254', Buffer.of(0))))),
          ),
        ],
        clusterOf(Array.from({ length: 50 }, () => deflateSync(zeros(1024 * 1024)))),
      ),
    'read',
    damaged,
    'recording_too_long',
  ],
  [
    'WebM with 5,000 tracks',
    () =>
      join2(
        webmHead(),
        element(
          '18538067',
          element(
            '1654ae6b',
            Buffer.concat(
              Array.from({ length: 5_000 }, (_none, at) =>
                element(
                  'ae',
                  join2(element('d7', Buffer.of(at >> 8, at & 255)), element('83', Buffer.of(2)), ...opusTrack()),
                ),
              ),
            ),
          ),
        ),
      ),
    damaged,
  ],
  [
    'WebM with a film and no audio',
    () => webm([element('86', bytes('V_VP8')), element('83', Buffer.of(1))], clusterOf(silentPackets(9))),
    damaged,
    unsupported,
  ],
  [
    'Matroska with AC-3',
    () => webm([element('86', bytes('A_AC3')), audioOf(48_000, 2)], clusterOf([noise(500)])),
    unsupported,
    damaged,
  ],
  [
    'Matroska of pages of text',
    () => webm([element('86', bytes('S_TEXT/UTF8')), element('83', Buffer.of(17))], clusterOf([bytes('text')])),
    damaged,
  ],
];

const wma = () => sampleRecording('tone.wma');

const asfRows: readonly Row[] = [
  ['WMA of its first sixteen bytes', () => wma().subarray(0, 16), damaged],
  ['WMA cut in its head', () => wma().subarray(0, 300), damaged],
  ['WMA cut in its audio', () => wma().subarray(0, 4_000), 'read', damaged],
  ['WMA with a head of 2^64-1 bytes', () => patched(wma(), 16, ...Buffer.alloc(8, 255)), damaged, 'read'],
  ['WMA with 2^32-1 objects', () => patched(wma(), 24, 255, 255, 255, 255), damaged, 'read'],
  ['WMA of noise behind its head', () => join2(wma().subarray(0, 1_000), noise(20_000)), 'read', damaged],
  ['WMA of noise', () => join2(wma().subarray(0, 30), noise(20_000)), damaged],
  [
    'WMA with packets of 2^32-1 bytes',
    () => join2(wma().subarray(0, 176), Buffer.alloc(8, 255), wma().subarray(184)),
    'read',
    damaged,
  ],
];

const pcm = () => pcm16(tone({ seconds: 0.2 }));

const plainRows: readonly Row[] = [
  ['AU of its first four bytes', () => bytes('.snd'), damaged],
  ['AU of no sample', () => auFile({ data: zeros(0) }), damaged],
  ['AU of 2^32-1 bytes, as a stream writes it', () => auFile({ data: zeros(800), dataBytes: 0xffff_ffff }), 'read'],
  ['AU whose head claims 2^32-1 bytes', () => auFile({ data: zeros(800), headBytes: 0xffff_ffff }), damaged, 'read'],
  ['AU with a head of 2^24 bytes', () => auFile({ data: zeros(800), headBytes: 0x0100_0000 }), damaged, 'read'],
  ['AU at 0 Hz', () => auFile({ data: zeros(800), sampleRate: 0 }), damaged],
  ['AU with no channel', () => auFile({ data: zeros(800), channels: 0 }), damaged],
  ['AU with 65,535 channels', () => auFile({ data: zeros(800), channels: 65_535 }), 'channels_too_many', damaged],
  ['AU with an encoding of nobody', () => auFile({ data: zeros(800), encoding: 99 }), unsupported, damaged],
  ['AU at 2^31 Hz', () => auFile({ data: zeros(800), sampleRate: 0x7fff_ffff }), 'sample_rate_too_high', damaged],
  ['AIFF of its first bytes', () => aiffFile({ data: pcm() }).subarray(0, 12), damaged],
  [
    'AIFF that claims 2^32-1 samples',
    () => aiffFile({ data: pcm(), frames: 0xffff_ffff }),
    'read',
    damaged,
    'recording_too_long',
  ],
  [
    'AIFF whose audio claims 2^32-1 bytes',
    () => aiffFile({ data: pcm(), dataBytes: 0xffff_ffff }),
    'read',
    damaged,
    'recording_too_long',
  ],
  ['AIFF with no channel', () => aiffFile({ data: pcm(), channels: 0 }), damaged],
  ['AIFF with 65,535 channels', () => aiffFile({ data: pcm(), channels: 65_535 }), 'channels_too_many', damaged],
  ['AIFF at 0 Hz', () => aiffFile({ data: pcm(), sampleRate: 0 }), damaged],
  ['AIFF with samples of 65,535 bits', () => aiffFile({ data: pcm(), bits: 65_535 }), 'read', damaged, unsupported],
  [
    'AIFF of 10,000 empty chunks',
    () => aiffFile({ data: pcm(), beforeData: Array.from({ length: 10_000 }, () => formChunk('ANNO', zeros(0))) }),
    'read',
    damaged,
  ],
  [
    'AIFF with a chunk of 2^32-1 bytes',
    () => aiffFile({ data: pcm(), beforeData: [formChunk('NAME', zeros(4), 0xffff_ffff)] }),
    damaged,
    'read',
  ],
  ['CAF of its first bytes', () => cafFile({ data: pcm() }).subarray(0, 8), damaged],
  [
    'CAF at a rate that is no number',
    () => cafFile({ data: pcm(), sampleRate: Number.NaN }),
    damaged,
    'sample_rate_too_low',
    'sample_rate_too_high',
  ],
  [
    'CAF at -1 Hz',
    () => cafFile({ data: pcm(), sampleRate: -1 }),
    damaged,
    'sample_rate_too_low',
    'sample_rate_too_high',
  ],
  ['CAF with no channel', () => cafFile({ data: pcm(), channels: 0 }), damaged],
  [
    'CAF with 2^31 channels',
    () => cafFile({ data: pcm(), channels: 0x7fff_ffff, packet: { bytes: 2, frames: 1 } }),
    'channels_too_many',
    damaged,
  ],
  ['CAF with packets of no byte', () => cafFile({ data: pcm(), packet: { bytes: 0, frames: 0 } }), damaged, 'read'],
  [
    'CAF with packets of 2^31 bytes',
    () => cafFile({ data: pcm(), packet: { bytes: 0x7fff_ffff, frames: 1 } }),
    damaged,
    'read',
  ],
  [
    'CAF whose audio claims 2^62 bytes',
    () => cafFile({ data: pcm(), dataBytes: 2 ** 62 }),
    'read',
    damaged,
    'recording_too_long',
  ],
  [
    'CAF with a chunk of -1 bytes',
    () => cafFile({ data: pcm(), beforeData: [cafChunk('free', zeros(4), -1n)] }),
    damaged,
    'read',
  ],
  [
    'CAF with a table of 2^62 packets',
    () =>
      cafFile({
        data: pcm(),
        codec: 'alac',
        packet: { bytes: 0, frames: 0 },
        beforeData: [cafChunk('pakt', Buffer.alloc(24, 0x3f))],
      }),
    damaged,
    'recording_too_long',
  ],
  ['Wave64 of its first bytes', () => w64File({ data: pcm(), format: wavFormat({}) }).subarray(0, 24), damaged],
  [
    'Wave64 whose audio claims 2^52 bytes',
    () => w64File({ data: pcm(), format: wavFormat({}), dataBytes: 2 ** 52 }),
    'read',
    damaged,
    'recording_too_long',
  ],
  ['Wave64 with no channel', () => w64File({ data: pcm(), format: wavFormat({ channels: 0 }) }), damaged],
  ['Wave64 at 0 Hz', () => w64File({ data: pcm(), format: wavFormat({ sampleRate: 0 }) }), damaged],
  ['Wave64 that holds MP3', () => w64File({ data: mp3(), format: wavFormat({ tag: 0x55 }) }), unsupported, damaged],
];

const nameRows: readonly Row[] = [
  [
    'playlist named .mp3',
    () => (folder) => folder.write('list.mp3', bytes('#EXTM3U\n#EXTINF:1,a\nfile:///etc/passwd\n')),
    unknown,
  ],
  [
    'concat script named .wav',
    () => (folder) => folder.write('list.wav', bytes("ffconcat version 1.0\nfile '/etc/passwd'\n")),
    unknown,
  ],
  [
    'HLS playlist named .m4a',
    () => (folder) =>
      folder.write('list.m4a', bytes('#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nconcat:/etc/passwd\n')),
    unknown,
  ],
  [
    'DASH manifest named .flac',
    () => (folder) => folder.write('list.flac', bytes('<?xml version="1.0"?><MPD></MPD>')),
    unknown,
  ],
  [
    'session description named .ogg',
    () => (folder) => folder.write('list.ogg', bytes('v=0\no=- 0 0 IN IP4 127.0.0.1\nm=audio 9 RTP/AVP 0\n')),
    unknown,
  ],
  ['MP3 with a protocol as its name', () => (folder) => folder.write('concat:a|b', mp3()), 'read'],
  ['MP3 with a pattern as its name', () => (folder) => folder.write('%03d*.png', mp3()), 'read'],
  [
    'WAV with a name of other bytes',
    () => (folder) => folder.write('\u202egnp.\u0000x'.replaceAll('\u0000', ''), wavFile()),
    'read',
  ],
  ['PDF document with an MP3 file in it', () => join2(bytes('%PDF-1.7\n'), mp3()), unknown],
  ['WAV with a ZIP archive behind it', () => join2(wavFile(), bytes('PK\x05\x06'), zeros(18)), 'read'],
  ['ZIP archive with a WAV file in it', () => join2(bytes('PK\x03\x04'), wavFile()), unknown],
  ['WAV that is an MP3 file too', wav({ beforeData: [riffChunk('id3 ', mp3())] }), 'read'],
  ['script', () => bytes('#!/bin/sh\nexit 0\n'), unknown],
  ['gzip of a WAV file', () => bytes('\x1f\x8b\x08\0'), unknown],
  ['text of nothing but new lines', () => Buffer.alloc(100_000, 10), unknown],
  ['noise', () => noise(1_000_000), unknown],
  ['empty file', () => zeros(0), 'file_empty'],
  ['file past the limit', () => join2(wavFile(), zeros(16 * 1024 * 1024)), 'file_too_large'],
];

const pathRows: readonly Row[] = [
  ['no file', () => (folder) => join(folder.path, 'none'), 'file_missing'],
  [
    'folder',
    () => (folder) => {
      mkdirSync(join(folder.path, 'folder.wav'));
      return join(folder.path, 'folder.wav');
    },
    'file_unreadable',
  ],
  [
    'named pipe',
    () => (folder) => {
      execFileSync('mkfifo', [join(folder.path, 'pipe.wav')]);
      return join(folder.path, 'pipe.wav');
    },
    'file_unreadable',
  ],
  [
    'socket',
    () => async (folder) => {
      const path = join(folder.path, 'socket.wav');
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(path, resolve));
      server.unref();
      return path;
    },
    'file_unreadable',
  ],
  [
    'symbolic link',
    () => (folder) => {
      symlinkSync('/etc/passwd', join(folder.path, 'link.wav'));
      return join(folder.path, 'link.wav');
    },
    'file_unreadable',
  ],
  [
    'symbolic link to itself',
    () => (folder) => {
      symlinkSync('loop.wav', join(folder.path, 'loop.wav'));
      return join(folder.path, 'loop.wav');
    },
    'file_unreadable',
  ],
  ['device without end', () => () => '/dev/zero', 'file_unreadable'],
  ['memory of a process', () => () => '/proc/self/mem', 'file_empty', 'file_unreadable'],
];

/** Every hostile recording. */
export const hostileRecordings: readonly HostileRecording[] = [
  ...wavRows,
  ...flacRows,
  ...mp3Rows,
  ...oggRows,
  ...mp4Rows,
  ...amrRows,
  ...aacRows,
  ...matroskaRows,
  ...asfRows,
  ...plainRows,
  ...nameRows,
  ...pathRows,
].map(([name, content, ...outcomes]) => ({ name, content, outcomes }));
