import type { StreamEncoding } from '../../../../pipelines/audio/streaming/stream-format.ts';
import { readSamples } from '../../../../pipelines/audio/decode/sample-formats.ts';
import { float32, numbersOf, pcm16 } from '../../../support/audio-file.ts';

/** The samples of channels in turn, as a stream sends them. Those of G.711 are the nearest of its 256. */
export function encodeSamples(encoding: StreamEncoding, channels: readonly Float32Array[]): Buffer {
  if (encoding === 'pcm_s16le') return pcm16(...channels);
  if (encoding === 'pcm_f32le') return float32(...channels);
  const codes = nearestCodes(encoding === 'pcm_mulaw' ? 'mulaw' : 'alaw');
  return numbersOf(channels, 1, (bytes, value, at) =>
    bytes.writeUInt8(codes[Math.round((Math.max(-1, Math.min(1, value)) + 1) * 2048)]!, at),
  );
}

/** By value from -1 to 1 in 4,096 steps: the code whose sample is nearest. */
function nearestCodes(law: 'mulaw' | 'alaw'): Uint8Array {
  const values = new Float32Array(256);
  readSamples(
    law,
    { bytes: Uint8Array.from({ length: 256 }, (_none, code) => code), first: 0, step: 1, into: values },
    { clipped: 0, notFinite: 0 },
  );
  return Uint8Array.from({ length: 4097 }, (_none, step) => {
    const value = step / 2048 - 1;
    return values.reduce(
      (best, each, code) => (Math.abs(each - value) < Math.abs(values[best]! - value) ? code : best),
      0,
    );
  });
}
