import { AudioRefusal } from '../reasons.ts';
import type { RecordingFile } from './recording-file.ts';
import { sampleBytes, type SampleFormat } from './sample-formats.ts';
import { codecRefusal, wavCodecName } from './unread-formats.ts';

/** The read access that parsing needs, to a file or to one that is still arriving. */
type ReadAtPlaces = Pick<RecordingFile, 'bytes' | 'read'>;

/** The facts in the chunks before a WAV file's audio. */
export interface WavHeader {
  readonly encoding: WavEncoding;
  readonly channels: number;
  readonly sampleRate: number;
  /** Bytes of one sample of every channel; in a compressed encoding, of one of its blocks. */
  readonly blockAlign: number;
  readonly dataAt: number;
  /** Bytes of audio in the file. */
  readonly dataBytes: number;
  /** The file ends before the audio that it declares. */
  readonly isTruncated: boolean;
  /** The file declares no length. */
  readonly isStreamed: boolean;
}

/** `samples` are read by wav-reader.ts, `compressed` by the optional decoder. */
type WavEncoding =
  | { readonly kind: 'samples'; readonly format: SampleFormat; readonly codec: string }
  | { readonly kind: 'compressed'; readonly codec: string };

/** Codecs by their tags (RFC 2361) that the optional decoder reads; the two of OKI ADPCM mean its form by Dialogic. */
const compressed: Readonly<Record<number, string>> = {
  0x02: 'adpcm_ms',
  0x10: 'adpcm_ima_oki',
  0x11: 'adpcm_ima_wav',
  0x17: 'adpcm_ima_oki',
  0x31: 'gsm_ms',
  0x42: 'g723_1',
  0x45: 'adpcm_g726',
  0x55: 'mp3',
  0x28f: 'adpcm_g722',
};

/** The codecs of WAV files that need the optional decoder. */
export const compressedWavCodecs: ReadonlySet<string> = new Set(Object.values(compressed));

/** Codecs whose blocks are whole: a shorter one at the end is padding. */
const blockCodecs: ReadonlySet<string> = new Set(['adpcm_ima_wav', 'adpcm_ms', 'gsm_ms']);

/** The length of the packets of a compressed WAV file where all have the same, else 0. */
export function packetBytesOf({ encoding, blockAlign }: WavHeader): number {
  return blockCodecs.has(encoding.codec) ? blockAlign : 0;
}

/** Chunks before the audio. Editors write about ten. */
export const wavChunksMax = 1_000;

interface Chunk {
  readonly name: string;
  readonly bytes: number;
  /** Offset of its content. */
  readonly at: number;
}

interface Format {
  readonly tag: number;
  readonly channels: number;
  readonly sampleRate: number;
  readonly blockAlign: number;
  readonly bits: number;
}

/**
 * Reads the chunks up to the audio; chunks that are not needed are skipped.
 * Chunks may come in any order, except that the format must precede the audio.
 * @throws AudioRefusal `audio_damaged` or `codec_unsupported`
 */
export async function readWavHeader(file: ReadAtPlaces): Promise<WavHeader> {
  const riff = await file.read(0, Buffer.alloc(12));
  if (riff.length < 12) throw new AudioRefusal('audio_damaged', 'It ends within its header.');
  let format: Format | undefined;
  let longDataBytes: number | undefined;
  for await (const chunk of chunksOf(file)) {
    if (chunk.name === 'ds64') longDataBytes = await readLongSize(file, chunk);
    if (chunk.name === 'fmt ') {
      if (format !== undefined) throw new AudioRefusal('audio_damaged', 'It has two format chunks.');
      format = await readFormat(file, chunk);
    }
    if (chunk.name === 'data')
      return headerOf({
        file,
        format,
        chunk,
        longDataBytes: riff.toString('latin1', 0, 4) === 'RIFF' ? undefined : longDataBytes,
        riffBytes: riff.readUInt32LE(4),
      });
  }
  throw new AudioRefusal('audio_damaged', 'It has no audio chunk.');
}

async function* chunksOf(file: ReadAtPlaces): AsyncGenerator<Chunk> {
  const head = Buffer.alloc(8);
  let at = 12;
  for (let count = 0; count < wavChunksMax; count++) {
    const read = await file.read(at, head);
    if (read.length < head.length) return;
    const chunk = { name: read.toString('latin1', 0, 4), bytes: read.readUInt32LE(4), at: at + 8 };
    yield chunk;
    at = chunk.at + chunk.bytes + (chunk.bytes % 2);
  }
  throw new AudioRefusal('audio_damaged', `It has more than ${wavChunksMax} chunks.`);
}

/** The length of the audio in a chunk `ds64`, which follows that of the file; each has 8 bytes. */
async function readLongSize(file: ReadAtPlaces, chunk: Chunk): Promise<number> {
  const content = await file.read(chunk.at, Buffer.alloc(16));
  if (chunk.bytes < 16 || content.length < 16)
    throw new AudioRefusal('audio_damaged', 'Its chunk of 64-bit lengths is too short.');
  const bytes = content.readBigUInt64LE(8);
  return bytes > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(bytes);
}

const tags = { pcm: 1, float: 3, alaw: 6, mulaw: 7, extensible: 0xfffe } as const;

/** The rest of the GUID of an extensible format after the tag. */
const guidTail = Buffer.from('000000001000800000aa00389b71', 'hex');

async function readFormat(file: ReadAtPlaces, chunk: Chunk): Promise<Format> {
  const content = await file.read(chunk.at, Buffer.alloc(Math.min(chunk.bytes, 40)));
  if (content.length < 16) throw new AudioRefusal('audio_damaged', 'Its format chunk is too short.');
  const tag = content.readUInt16LE(0);
  const format = {
    channels: content.readUInt16LE(2),
    sampleRate: content.readUInt32LE(4),
    blockAlign: content.readUInt16LE(12),
    bits: content.readUInt16LE(14),
  };
  if (tag !== tags.extensible) return { tag, ...format };
  if (content.length < 40) throw new AudioRefusal('audio_damaged', 'Its extensible format chunk is too short.');
  if (!content.subarray(26, 40).equals(guidTail)) throw codecRefusal('named by a GUID that is not known');
  return { tag: content.readUInt16LE(24), ...format };
}

interface Found {
  readonly file: ReadAtPlaces;
  readonly format: Format | undefined;
  readonly chunk: Chunk;
  readonly longDataBytes: number | undefined;
  readonly riffBytes: number;
}

function headerOf({ file, format, chunk, longDataBytes, riffBytes }: Found): WavHeader {
  if (format === undefined) throw new AudioRefusal('audio_damaged', 'Its audio precedes its format.');
  const { channels, sampleRate, blockAlign } = format;
  if (channels === 0) throw new AudioRefusal('audio_damaged', 'It declares no channel.');
  if (sampleRate === 0) throw new AudioRefusal('audio_damaged', 'It declares a sample rate of 0 Hz.');
  if (blockAlign === 0) throw new AudioRefusal('audio_damaged', 'It declares samples of 0 bytes.');

  const rest = file.bytes - chunk.at;
  const declared = chunk.bytes === 0xffff_ffff ? longDataBytes : chunk.bytes;
  const isStreamed = declared === undefined || (declared === 0 && !isWhole({ file, chunk, riffBytes }));
  const dataBytes = isStreamed ? rest : Math.min(declared, rest);
  return {
    encoding: encodingOf(format),
    channels,
    sampleRate,
    blockAlign,
    dataAt: chunk.at,
    dataBytes,
    isTruncated: !isStreamed && declared > rest,
    isStreamed,
  };
}

/** An audio chunk of length 0 is accepted if the length of the file agrees; else a recorder was stopped before it wrote the lengths. */
function isWhole({
  file,
  chunk,
  riffBytes,
}: {
  readonly file: ReadAtPlaces;
  readonly chunk: Chunk;
  readonly riffBytes: number;
}): boolean {
  return chunk.at >= file.bytes || (riffBytes + 8 > chunk.at && Math.abs(riffBytes + 8 - file.bytes) <= 1);
}

function encodingOf({ tag, bits, channels, blockAlign }: Format): WavEncoding {
  const codec = compressed[tag];
  if (codec !== undefined) return { kind: 'compressed', codec };
  const [format, name] = sampleFormat(tag, bits);
  if (blockAlign !== channels * sampleBytes[format])
    throw new AudioRefusal('audio_damaged', `It declares ${blockAlign} bytes for ${channels} samples of ${bits} bits.`);
  return { kind: 'samples', format, codec: name };
}

function sampleFormat(tag: number, bits: number): readonly [SampleFormat, string] {
  const isRead = ([tags.pcm, tags.float, tags.mulaw, tags.alaw] as readonly number[]).includes(tag);
  if (isRead && bits === 0) throw new AudioRefusal('audio_damaged', 'It declares samples of 0 bits.');
  if (tag === tags.pcm) {
    // Samples fill whole bytes, with their bits in the high positions.
    const format = (
      [
        ['u8', 'pcm_u8'],
        ['s16', 'pcm_s16le'],
        ['s24', 'pcm_s24le'],
        ['s32', 'pcm_s32le'],
      ] as const
    )[Math.ceil(bits / 8) - 1];
    if (format !== undefined) return format;
  }
  if (tag === tags.float && bits === 32) return ['f32', 'pcm_f32le'];
  if (tag === tags.float && bits === 64) return ['f64', 'pcm_f64le'];
  if (tag === tags.mulaw && bits === 8) return ['mulaw', 'pcm_mulaw'];
  if (tag === tags.alaw && bits === 8) return ['alaw', 'pcm_alaw'];
  throw codecRefusal(wavCodecName(tag, bits));
}
