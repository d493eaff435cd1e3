import { AudioRefusal } from '../reasons.ts';
import type { RecordingFile } from './recording-file.ts';

/** The containers that are read. */
export type Container = 'wav' | 'flac' | 'mp3' | 'ogg' | 'mp4';

/** The container of a file by its content, and the offset of that content behind tags and padding. */
export interface Sniffed {
  readonly container: Container;
  readonly at: number;
}

/** ID3 tags in a row, and bytes of tags and of zeros behind them, before an MP3 file's first frame. A tag with a picture has some MB. */
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
  if (at > 0 && startsWith(frames, 'fLaC')) return { container: 'flac', at };
  if (isMp3(frames, at + frames.length === file.bytes)) return { container: 'mp3', at };
  throw new AudioRefusal('format_unknown', unreadName(at > 0 ? frames : head));
}

function containerOf(head: Buffer): Container | undefined {
  if (isWav(head)) return 'wav';
  if (startsWith(head, 'fLaC')) return 'flac';
  if (startsWith(head, 'OggS')) return 'ogg';
  if (startsWith(head, 'ftyp', 4) && head.readUInt32BE(0) >= 8) return 'mp4';
  return undefined;
}

/** RIFF with WAVE, or its 64-bit successors by EBU Tech 3306 (RF64) and ITU-R BS.2088 (BW64). */
function isWav(head: Buffer): boolean {
  return ['RIFF', 'RF64', 'BW64'].some((name) => startsWith(head, name)) && startsWith(head, 'WAVE', 8);
}

function startsWith(bytes: Buffer, text: string, at = 0): boolean {
  return bytes.length >= at + text.length && bytes.toString('latin1', at, at + text.length) === text;
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

/** Two frame headers of layer III with the same version, layer and rate, the second where the first one's frame ends; one if the file ends with it. */
function isMp3(bytes: Buffer, isWhole: boolean): boolean {
  const length = frameLength(bytes);
  if (length === undefined || length > bytes.length) return false;
  const next = bytes.subarray(length);
  if (next.length < 4) return isWhole && next.length === 0;
  // The second may also be a tag at the end: TAG (ID3v1), APE, ID3, Lyrics.
  if (isWhole && ['TAG', 'APE', 'ID3', 'LYR'].some((name) => startsWith(next, name))) return true;
  return frameLength(next) !== undefined && bytes[1] === next[1] && (bytes[2]! & 0x0c) === (next[2]! & 0x0c);
}

const bitRates = {
  mpeg1: [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  mpeg2: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;

/** The length of the layer III frame with this header, by ISO/IEC 11172-3, 2.4.2.3; none for other layers, free format and reserved values. */
function frameLength(bytes: Buffer): number | undefined {
  if (bytes.length < 4 || bytes[0] !== 0xff || (bytes[1]! & 0xe0) !== 0xe0) return undefined;
  const version = (bytes[1]! >> 3) & 3; // 3: MPEG 1, 2: MPEG 2, 0: MPEG 2.5
  const isLayerThree = ((bytes[1]! >> 1) & 3) === 1;
  const bitRate = bitRates[version === 3 ? 'mpeg1' : 'mpeg2'][(bytes[2]! >> 4) - 1];
  const rate = [44_100, 48_000, 32_000][(bytes[2]! >> 2) & 3];
  if (version === 1 || !isLayerThree || bitRate === undefined || rate === undefined) return undefined;
  const divisor = { 3: 1, 2: 2, 0: 4 }[version as 3 | 2 | 0];
  return Math.floor(((version === 3 ? 144_000 : 72_000) * bitRate) / (rate / divisor)) + ((bytes[2]! >> 1) & 1);
}

/** First bytes of formats that are submitted by mistake, so that the refusal can name them. */
const unread: readonly (readonly [magic: string, at: number, name: string])[] = [
  ['AIFF', 8, 'an AIFF file'],
  ['AIFC', 8, 'an AIFF file'],
  ['AVI ', 8, 'an AVI film'],
  ['RIFX', 0, 'a big-endian WAV file'],
  ['riff', 0, 'a Wave64 file'],
  ['.snd', 0, 'an AU file'],
  ['caff', 0, 'a CAF file'],
  ['#!AMR', 0, 'an AMR file'],
  ['#!SILK', 1, 'a SILK file'],
  ['\x1a\x45\xdf\xa3', 0, 'a WebM or Matroska file'],
  ['\x30\x26\xb2\x75', 0, 'a Windows Media file'],
  ['wvPk', 0, 'a WavPack file'],
  ['MAC ', 0, "a Monkey's Audio file"],
  ['ADIF', 0, 'a bare AAC stream'],
  ['\xff\xf1', 0, 'a bare AAC stream'],
  ['\xff\xf9', 0, 'a bare AAC stream'],
  ['#EXTM3U', 0, 'a playlist'],
  ['[playlist]', 0, 'a playlist'],
  ['ffconcat', 0, 'a concat script'],
  ['<', 0, 'a markup document'],
  ['%PDF', 0, 'a PDF document'],
  ['PK\x03\x04', 0, 'a ZIP archive'],
  ['\x1f\x8b', 0, 'a gzip file'],
  ['\x7fELF', 0, 'a program'],
  ['MZ', 0, 'a program'],
];

function unreadName(head: Buffer): string {
  const found = unread.find(([magic, at]) => startsWith(head, magic, at));
  return found === undefined
    ? 'Its first bytes are of no format that is read here.'
    : `It is ${found[2]}, which is not read here.`;
}
