import { AudioRefusal } from '../reasons.ts';
import type { RecordingFile } from './recording-file.ts';
import { formatRefusal, startsWith } from './unread-formats.ts';

/**
 * The containers that are read; `mp4` is 3GP and QuickTime too, `matroska` WebM, `asf` Windows Media, `w64` Wave64, `aac` bare
 * frames (ADTS).
 */
export type Container =
  'wav' | 'flac' | 'mp3' | 'ogg' | 'mp4' | 'amr' | 'matroska' | 'aiff' | 'caf' | 'au' | 'w64' | 'asf' | 'aac';

/** The container of a file by its content, and the offset of that content behind tags and padding. */
export interface Sniffed {
  readonly container: Container;
  readonly at: number;
}

/**
 * ID3 tags in a row, and bytes of tags and of zeros behind them, before the first frame of an MP3 or AAC file. A tag with a picture
 * has some MB.
 */
export const sniffLimits = { tagsMax: 16, tagBytesMax: 64 * 1024 * 1024, paddingBytesMax: 64 * 1024 } as const;

const headBytes = 4096;

/**
 * Detects the container by the content, never by the name.
 * @throws AudioRefusal `format_unknown`, with the format's name where it is known but not read here
 */
export async function sniffContainer(file: RecordingFile): Promise<Sniffed> {
  const head = await file.read(0, Buffer.alloc(headBytes));
  const container = containerOf(head);
  if (container !== undefined) return { container, at: 0 };

  const at = await skipTags(file, head);
  const frames = await file.read(at, Buffer.alloc(headBytes));
  const isWhole = at + frames.length === file.bytes;
  if (at > 0 && startsWith(frames, 'fLaC')) return { container: 'flac', at };
  if (hasFrames(frames, isWhole, mp3Frames)) return { container: 'mp3', at };
  if (hasFrames(frames, isWhole, adtsFrames)) return { container: 'aac', at };
  throw formatRefusal(at > 0 ? frames : head);
}

/** First bytes of the other containers. */
const magics: readonly (readonly [magic: string, container: Container])[] = [
  ['fLaC', 'flac'],
  ['OggS', 'ogg'],
  ['#!AMR', 'amr'],
  ['\x1a\x45\xdf\xa3', 'matroska'],
  ['caff', 'caf'],
  ['.snd', 'au'],
  ['riff\x2e\x91\xcf\x11', 'w64'],
  ['\x30\x26\xb2\x75\x8e\x66\xcf\x11', 'asf'],
];

/** The container whose first bytes these are; undetermined for MP3 and AAC, which have none. */
export function containerOf(head: Buffer): Container | undefined {
  if (isWav(head)) return 'wav';
  if (startsWith(head, 'ftyp', 4) && head.readUInt32BE(0) >= 8) return 'mp4';
  if (startsWith(head, 'FORM') && (startsWith(head, 'AIFF', 8) || startsWith(head, 'AIFC', 8))) return 'aiff';
  return magics.find(([magic]) => startsWith(head, magic))?.[1];
}

/** RIFF with WAVE, or its 64-bit successors by EBU Tech 3306 (RF64) and ITU-R BS.2088 (BW64). */
function isWav(head: Buffer): boolean {
  return ['RIFF', 'RF64', 'BW64'].some((name) => startsWith(head, name)) && startsWith(head, 'WAVE', 8);
}

/** The offset behind ID3v2 tags (id3.org, "ID3 tag version 2.4.0", section 3.1) and zeros. */
async function skipTags(file: RecordingFile, head: Buffer): Promise<number> {
  let at = 0;
  let bytes = head;
  for (let tags = 0; startsWith(bytes, 'ID3'); tags++) {
    const length = tagLength(bytes);
    if (length === undefined) throw new AudioRefusal('audio_damaged', 'Its ID3 tag has no valid length.');
    at += length;
    if (tags === sniffLimits.tagsMax || at > sniffLimits.tagBytesMax)
      throw new AudioRefusal(
        'audio_damaged',
        `It has more than ${sniffLimits.tagsMax} tags or ${sniffLimits.tagBytesMax} bytes of them.`,
      );
    bytes = await file.read(at, Buffer.alloc(headBytes));
  }
  return at === 0 && bytes[0] !== 0 ? 0 : skipZeros(file, at);
}

function tagLength(bytes: Buffer): number | undefined {
  const size = bytes.subarray(6, 10);
  if (size.length < 4 || size.some((part) => part > 0x7f)) return undefined;
  const footer = (bytes[5]! & 0x10) === 0 ? 0 : 10;
  return 10 + footer + size.reduce((sum, part) => sum * 128 + part, 0);
}

async function skipZeros(file: RecordingFile, at: number): Promise<number> {
  const bytes = await file.read(at, Buffer.alloc(sniffLimits.paddingBytesMax));
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return at + Math.max(0, zeros);
}

/** How the frames of a stream without a container are recognised. */
interface FrameForm {
  /** The length of the frame that begins here, if one does. */
  readonly lengthOf: (bytes: Buffer) => number | undefined;
  /** Bits of the third byte that are the same in all frames. */
  readonly sameBits: number;
}

/** Two frame headers with the same version, layer and rate, the second where the first one's frame ends; one if the file ends with it. */
function hasFrames(bytes: Buffer, isWhole: boolean, { lengthOf, sameBits }: FrameForm): boolean {
  const length = lengthOf(bytes);
  if (length === undefined || length > bytes.length) return false;
  const next = bytes.subarray(length);
  if (next.length < 4) return isWhole && next.length === 0;
  // The second may also be a tag at the end: TAG (ID3v1), APE, ID3, Lyrics.
  if (isWhole && ['TAG', 'APE', 'ID3', 'LYR'].some((name) => startsWith(next, name))) return true;
  return lengthOf(next) !== undefined && bytes[1] === next[1] && (bytes[2]! & sameBits) === (next[2]! & sameBits);
}

const bitRates = {
  mpeg1: [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  mpeg2: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;

/**
 * The length of the layer III frame with this header, by ISO/IEC 11172-3, 2.4.2.3; none for other layers, free format and reserved
 * values.
 */
function mp3FrameLength(bytes: Buffer): number | undefined {
  if (bytes.length < 4 || bytes[0] !== 0xff || (bytes[1]! & 0xe0) !== 0xe0) return undefined;
  const version = (bytes[1]! >> 3) & 3; // 3: MPEG 1, 2: MPEG 2, 0: MPEG 2.5
  const isLayerThree = ((bytes[1]! >> 1) & 3) === 1;
  const bitRate = bitRates[version === 3 ? 'mpeg1' : 'mpeg2'][(bytes[2]! >> 4) - 1];
  const rate = [44_100, 48_000, 32_000][(bytes[2]! >> 2) & 3];
  if (version === 1 || !isLayerThree || bitRate === undefined || rate === undefined) return undefined;
  const divisor = { 3: 1, 2: 2, 0: 4 }[version as 3 | 2 | 0];
  return Math.floor(((version === 3 ? 144_000 : 72_000) * bitRate) / (rate / divisor)) + ((bytes[2]! >> 1) & 1);
}

const mp3Frames: FrameForm = { lengthOf: mp3FrameLength, sameBits: 0x0c };

/** The length of the ADTS frame with this header, by ISO/IEC 13818-7, 6.2.1; none for reserved rates. */
function adtsFrameLength(bytes: Buffer): number | undefined {
  if (bytes.length < 7 || bytes[0] !== 0xff || (bytes[1]! & 0xf6) !== 0xf0) return undefined;
  const length = ((bytes[3]! & 0x03) << 11) | (bytes[4]! << 3) | (bytes[5]! >> 5);
  const isReserved = ((bytes[2]! >> 2) & 0x0f) > 12;
  return isReserved || length <= 7 ? undefined : length;
}

const adtsFrames: FrameForm = { lengthOf: adtsFrameLength, sameBits: 0xfc };
