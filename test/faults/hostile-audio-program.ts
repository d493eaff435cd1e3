// Reads recordings one after another in one process: a line of JSON { path, limits } on standard input, a line on standard
// output with what the recording ended in. For test/faults/hostile-audio.ts, which starts it with a limit on its memory.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { DecodeLimits } from '../../pipelines/audio/decode/recording.ts';
import { openRecording } from '../../pipelines/audio/decode/open-recording.ts';

async function read({ path, limits }: { readonly path: string; readonly limits: DecodeLimits }): Promise<object> {
  const recording = await openRecording(path, limits);
  try {
    let [samples, wrong] = [0, 0];
    for await (const block of recording.blocks()) {
      samples += block[0]!.length;
      for (const channel of block) wrong += channel.length === block[0]!.length && isInRange(channel) ? 0 : 1;
      if (block.length !== recording.channels) wrong++;
    }
    return { outcome: wrong === 0 ? 'read' : 'wrong samples', samples, notes: recording.notes, codec: recording.codec };
  } finally {
    await recording.close();
  }
}

/** False for what is no number too. */
function isInRange(channel: Float32Array): boolean {
  for (let at = 0; at < channel.length; at++) if (!(channel[at]! >= -1 && channel[at]! <= 1)) return false;
  return true;
}

/** The largest resident memory since the process began. */
const peakBytes = () => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024;

for await (const line of createInterface({ input: process.stdin })) {
  const started = process.cpuUsage();
  const answer = await read(JSON.parse(line) as Parameters<typeof read>[0]).catch(
    (error: Error & { reason?: string; detail?: string }) =>
      error.name === 'AudioRefusal'
        ? { outcome: error.reason, detail: error.detail }
        : { outcome: `error: ${error.stack}` },
  );
  const { user, system } = process.cpuUsage(started);
  process.stdout.write(`${JSON.stringify({ ...answer, cpuSeconds: (user + system) / 1e6, peakBytes: peakBytes() })}\n`);
}
