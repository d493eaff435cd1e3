import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { BatchSubmission } from '../../pipelines/audio/batches/batch-intake.ts';
import type { SubmittedItem } from '../../pipelines/audio/batches/batch-items.ts';
import { loadConfig, type Config } from '../../runtime/config.ts';
import { wavFile } from './audio-file.ts';
import { speechLike, writeWav } from './speech-like.ts';

/** A shipped model that needs no default, for tests of what is around scoring. */
export const testModel = 'phone/v1.1';

/** A folder of a test file's own, removed in the end. */
export async function useFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `caller-trust-${name}-`));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Settings whose state lies in a folder. */
export function configIn(folder: string, settings: Record<string, string> = {}): Config {
  return loadConfig({ STATE_DIR: join(folder, 'state'), ...settings });
}

/** A submission of the items with everything else set. */
export function submissionOf(items: readonly SubmittedItem[], changes: Partial<BatchSubmission> = {}): BatchSubmission {
  return {
    owner: 'Test',
    key: `test-${Math.random()}`,
    name: 'test',
    requestedBy: 'test',
    model: testModel,
    items,
    ...changes,
  };
}

/** A recording of voice that is scored. */
export function writeVoice(
  path: string,
  { seconds = 4, pitch = 140 }: { seconds?: number; pitch?: number } = {},
): Promise<string> {
  return writeWav(path, [speechLike({ sampleRate: 8000, seconds, pitch })], 8000);
}

/** A tiny recording whose content is like no other's of another number: silence, with the number in its last sample. */
export function tinyRecording(number: number): Buffer {
  const data = Buffer.alloc(1604);
  data.writeUInt32LE(number, 1600);
  return wavFile({ data });
}
