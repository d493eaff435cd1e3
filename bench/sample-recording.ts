import { join } from 'node:path';
import { openRecording } from '../pipelines/audio/decode/open-recording.ts';
import { resample } from '../pipelines/audio/signal/resample.ts';
import { packageRoot } from '../runtime/package-root.ts';

/** The first channel of a recording of samples/recordings, at a rate. */
export async function readSample(name: string, rate: number): Promise<Float32Array> {
  const recording = await openRecording(join(packageRoot, 'samples/recordings', name), {
    bytesMax: 1e9,
    channelsMax: 8,
    sampleRateMin: 4000,
    sampleRateMax: 192_000,
    secondsMax: 3600,
    wallSecondsMax: 60,
  });
  const parts: number[] = [];
  for await (const block of recording.blocks()) parts.push(...block[0]!);
  await recording.close();
  return resample(Float32Array.from(parts), recording.sampleRate, rate);
}
