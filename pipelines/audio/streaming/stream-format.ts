import { z } from 'zod';
import { sampleBytes, type SampleFormat } from '../decode/sample-formats.ts';
import { unknownWavBytes, wavHeaderBytesOf, wavHeaderOf } from '../decode/wav-writing.ts';

/** How the samples of a stream may be encoded, by FFmpeg's names. */
export const STREAM_ENCODINGS = ['pcm_s16le', 'pcm_f32le', 'pcm_mulaw', 'pcm_alaw'] as const;

export type StreamEncoding = (typeof STREAM_ENCODINGS)[number];

/** Format of the bytes of a stream: samples, with the channels interleaved. */
export const streamFormatForm = z.strictObject({
  encoding: z.enum(STREAM_ENCODINGS),
  /** In Hz. */
  sampleRate: z.int().positive(),
  channels: z.int().positive(),
});

export type StreamFormat = Readonly<z.output<typeof streamFormatForm>>;

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

/** Bytes of the header of a stream's WAV file, which is longer for anything but integer PCM. */
export function wavHeaderBytes({ encoding }: Pick<StreamFormat, 'encoding'>): number {
  return wavHeaderBytesOf(facts[encoding]);
}

/**
 * The header of a stream's WAV file with `dataBytes` of audio, or of one that is still being written. Audio of an odd number
 * of bytes is padded by one byte.
 */
export function wavHeader({ encoding, sampleRate, channels }: StreamFormat, dataBytes?: number): Buffer {
  const { tag, samples } = facts[encoding];
  return wavHeaderOf({ tag, sampleRate, channels, bits: 8 * sampleBytes[samples] }, dataBytes);
}

/** Most bytes of audio, in complete samples, in a WAV file of at most `fileBytesMax`. */
export function audioBytesIn(fileBytesMax: number, format: StreamFormat): number {
  const frameBytes = frameBytesOf(format);
  const paddingBytes = frameBytes % 2; // of an odd number of bytes
  const frames = Math.floor(
    (Math.min(fileBytesMax, unknownWavBytes) - wavHeaderBytes(format) - paddingBytes) / frameBytes,
  );
  return Math.max(0, frames) * frameBytes;
}

/** The encoding of a WAV file's samples, if streams support it. */
export function encodingOfSamples(samples: SampleFormat): StreamEncoding | undefined {
  return STREAM_ENCODINGS.find((encoding) => facts[encoding].samples === samples);
}
