import { sampleBytes, type SampleFormat } from '../decode/sample-formats.ts';

/** How the samples of a stream may be encoded, by FFmpeg's names. */
export const STREAM_ENCODINGS = ['pcm_s16le', 'pcm_f32le', 'pcm_mulaw', 'pcm_alaw'] as const;

export type StreamEncoding = (typeof STREAM_ENCODINGS)[number];

/** Format of the bytes of a stream: samples, with the channels interleaved. */
export interface StreamFormat {
  readonly encoding: StreamEncoding;
  /** In Hz. */
  readonly sampleRate: number;
  readonly channels: number;
}

/** Each encoding as the reader of samples knows it, and as a WAV file names it (RFC 2361). */
const facts = {
  pcm_s16le: { samples: 's16', tag: 1 },
  pcm_f32le: { samples: 'f32', tag: 3 },
  pcm_mulaw: { samples: 'mulaw', tag: 7 },
  pcm_alaw: { samples: 'alaw', tag: 6 },
} as const satisfies Record<StreamEncoding, { samples: SampleFormat; tag: number }>;

/** Format of the samples in memory. */
export function sampleFormatOf({ encoding }: Pick<StreamFormat, 'encoding'>): SampleFormat {
  return facts[encoding].samples;
}

/** Bytes of one sample of every channel. */
export function frameBytesOf(format: StreamFormat): number {
  return sampleBytes[sampleFormatOf(format)] * format.channels;
}

/** Duration of a number of bytes, in seconds. */
export function secondsOf(bytes: number, format: StreamFormat): number {
  return bytes / frameBytesOf(format) / format.sampleRate;
}

/** The length in the header of a WAV file that is still being written. */
const unknownLength = 0xffff_ffff;

/** Bytes of the header of a stream's WAV file, which is longer for anything but integer PCM. */
export function wavHeaderBytes({ encoding }: Pick<StreamFormat, 'encoding'>): number {
  return encoding === 'pcm_s16le' ? 44 : 58;
}

/**
 * The header of a WAV file with `dataBytes` of audio, or of one that is still being written. Audio of an odd number of bytes
 * is padded by one byte.
 */
export function wavHeader(format: StreamFormat, dataBytes?: number): Buffer {
  const header = Buffer.alloc(wavHeaderBytes(format));
  const isInteger = format.encoding === 'pcm_s16le';
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(dataBytes === undefined ? unknownLength : header.length - 8 + dataBytes + (dataBytes % 2), 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(isInteger ? 16 : 18, 16);
  writeFormat(header.subarray(20, 36), format);
  if (!isInteger) {
    header.write('fact', 38, 'latin1');
    header.writeUInt32LE(4, 42);
    header.writeUInt32LE(dataBytes === undefined ? unknownLength : dataBytes / frameBytesOf(format), 46);
  }
  header.write('data', header.length - 8, 'latin1');
  header.writeUInt32LE(dataBytes ?? unknownLength, header.length - 4);
  return header;
}

function writeFormat(into: Buffer, format: StreamFormat): void {
  const frameBytes = frameBytesOf(format);
  into.writeUInt16LE(facts[format.encoding].tag, 0);
  into.writeUInt16LE(format.channels, 2);
  into.writeUInt32LE(format.sampleRate, 4);
  into.writeUInt32LE(format.sampleRate * frameBytes, 8);
  into.writeUInt16LE(frameBytes, 12);
  into.writeUInt16LE((8 * frameBytes) / format.channels, 14);
}

/** Most bytes of audio, in complete samples, in a WAV file of at most `fileBytesMax`. */
export function audioBytesIn(fileBytesMax: number, format: StreamFormat): number {
  const frameBytes = frameBytesOf(format);
  const paddingBytes = frameBytes % 2; // of an odd number of bytes
  const frames = Math.floor(
    (Math.min(fileBytesMax, unknownLength) - wavHeaderBytes(format) - paddingBytes) / frameBytes,
  );
  return Math.max(0, frames) * frameBytes;
}

/** The encoding of a WAV file's samples, if streams support it. */
export function encodingOfSamples(samples: SampleFormat): StreamEncoding | undefined {
  return STREAM_ENCODINGS.find((encoding) => facts[encoding].samples === samples);
}
