import { afterAll, describe, expect, it } from 'vitest';
import { RecordingFolder, wavFile } from '../support/audio-file.ts';
import { hostileRecordings } from './hostile-audio-files.ts';
import { cpuSecondsMax, memoryBytesMax, RecordingReader } from './hostile-audio.ts';

const folder = new RecordingFolder();
const reader = new RecordingReader();

afterAll(async () => {
  await reader.end();
  folder.remove();
});

describe('a hostile recording', () => {
  it.each(hostileRecordings.map((recording, at) => ({ ...recording, at })))(
    '$name: $outcomes',
    async ({ content, outcomes, at }) => {
      const made = content();
      const path = typeof made === 'function' ? await made(folder) : folder.write(`recording-${at}`, made);
      const answer = await reader.read(path);
      expect(answer, 'the process that read it has died').toBeDefined();
      expect(outcomes).toContain(answer!.outcome);
      expect(answer!.peakBytes).toBeLessThan(memoryBytesMax);
      expect(answer!.cpuSeconds).toBeLessThan(cpuSecondsMax);
    },
    130_000,
  );

  it('does no harm to an honest one that the same process reads after it', async () => {
    const answer = await reader.read(folder.write('honest.wav', wavFile()));
    expect(answer).toMatchObject({ outcome: 'read', samples: 4_000, notes: [] });
    expect(reader.deaths).toEqual([]);
  });

  it('is one of a hundred and more', () => {
    expect(hostileRecordings.length).toBeGreaterThanOrEqual(100);
    expect(new Set(hostileRecordings.map(({ name }) => name)).size).toBe(hostileRecordings.length);
  });
});
