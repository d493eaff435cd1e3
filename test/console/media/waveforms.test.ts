import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { VerificationDetail } from '../../../console/answers/verification-answers.ts';
import { Waveforms } from '../../../console/media/waveforms.ts';
import { AudioStore } from '../../../pipelines/audio/store/audio-store.ts';
import { openScoringPool } from '../../../pipelines/audio/scorers/scoring-pool.ts';
import { createLog } from '../../../runtime/log.ts';
import { useTestDatabase } from '../../support/database.ts';
import { configIn, useFolder } from '../../support/recording-batch.ts';
import { speechLikeWav } from '../../support/speech-like-wav.ts';

const config = configIn(await useFolder('waveforms'));
const scoring = openScoringPool({ config, log: createLog({ level: 'silent', process: 'test' }) });
const { db } = await useTestDatabase();
const waveforms = new Waveforms({ config, db, scoring, signal: new AbortController().signal });
afterAll(() => scoring.close());

async function storedRecording(seconds: number): Promise<VerificationDetail> {
  const bytes = speechLikeWav(seconds);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const path = new AudioStore(config.audioDir).pathOf(sha256);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes);
  return {
    audio: { sha256 },
    model: null,
    settings: { channels: 'apart' },
    recording: { bytes: bytes.length, deletedAt: null },
  } as VerificationDetail;
}

it('is drawn once for all who wait, until the last of them has left', async () => {
  const recording = await storedRecording(5);
  const [first, second] = [new AbortController(), new AbortController()];
  const drawn = [waveforms.read(recording, first.signal), waveforms.read(recording, second.signal)];
  await Promise.resolve();
  first.abort();
  const [one, other] = await Promise.all(drawn);
  expect(one).toBe(other);
  expect(one!.durationSeconds).toBe(5);
});

it('is cancelled without requests, and drawn again for later ones', async () => {
  const recording = await storedRecording(120);
  const leaving = new AbortController();
  const drawn = waveforms.read(recording, leaving.signal);
  setTimeout(() => leaving.abort(new Error('left')), 5);
  await expect(drawn).rejects.toMatchObject({ code: 'interrupted' });
  await expect(waveforms.read(recording, new AbortController().signal)).resolves.toMatchObject({
    durationSeconds: 120,
  });
});
