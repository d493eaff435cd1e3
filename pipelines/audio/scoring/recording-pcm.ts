import { openRecording } from '../decode/open-recording.ts';
import type { DecodeLimits } from '../decode/recording.ts';
import { AudioRefusal } from '../reasons.ts';

/** Bytes of one sample of 16 bits. */
const sampleBytes = 2;

/** A recording to decode, and the receiver of its samples. */
export interface PcmRequest {
  readonly file: string;
  /** Most bytes of samples. */
  readonly pcmBytesMax: number;
  readonly limits: DecodeLimits;
  /** Receives the next samples; decoding continues when it resolves. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
}

/** Facts of the decoded samples: 16 bits, little-endian, channels interleaved. */
export interface DecodedPcm {
  /** In Hz, as recorded. */
  readonly sampleRate: number;
  readonly channels: number;
  readonly pcmBytes: number;
}

/**
 * Decodes a recording at its own rate and with all of its channels, a block at a time.
 * @throws AudioRefusal if it cannot be read, and `recording_too_long` if there are more samples than were asked for
 */
export async function decodePcm({ file, pcmBytesMax, limits, write }: PcmRequest): Promise<DecodedPcm> {
  const recording = await openRecording(file, limits);
  try {
    const { sampleRate, channels, durationSeconds } = recording;
    requirePcmRoom(Math.floor((durationSeconds ?? 0) * sampleRate) * channels * sampleBytes, pcmBytesMax);
    let pcmBytes = 0;
    for await (const block of recording.blocks()) {
      const bytes = interleave(block);
      pcmBytes += bytes.length;
      requirePcmRoom(pcmBytes, pcmBytesMax);
      await write(bytes);
    }
    return { sampleRate, channels, pcmBytes };
  } finally {
    await recording.close();
  }
}

function requirePcmRoom(bytes: number, pcmBytesMax: number): void {
  if (bytes > pcmBytesMax)
    throw new AudioRefusal('recording_too_long', `Decoded, it has more than ${pcmBytesMax} bytes.`);
}

/** Samples in [-1, 1] of each channel as interleaved samples of 16 bits. */
function interleave(block: readonly Float32Array[]): Uint8Array {
  const channels = block.length;
  const samples = new Int16Array(block[0]!.length * channels);
  for (const [channel, from] of block.entries()) {
    for (let at = 0, to = channel; at < from.length; at++, to += channels)
      samples[to] = Math.min(32_767, Math.round(from[at]! * 32_768));
  }
  return new Uint8Array(samples.buffer);
}
