import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { familiesOf, findEvaluatedModel, placesOf } from '../../../evaluation/audio/evaluated-models.ts';
import { readIndex } from '../../../evaluation/audio/index-file.ts';
import { scoreIndex } from '../../../evaluation/audio/score-index.ts';
import { formatScores } from '../../../evaluation/audio/score-list.ts';
import { loadShippedRegistry } from '../../../pipelines/audio/models/registry.ts';
import { decodeLimitsOf, openScoringPool } from '../../../pipelines/audio/scorers/scoring-pool.ts';
import { loadConfig } from '../../../runtime/config.ts';
import { createLog } from '../../../runtime/log.ts';
import { speechLikeWav } from '../../support/speech-like-wav.ts';

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-evaluate-'));
const config = loadConfig({ AUDIO_SCORERS: '1', STATE_DIR: directory });
const pool = openScoringPool({ config, log: createLog({ level: 'silent', process: 'test' }) });
afterAll(async () => {
  await pool.close();
  await rm(directory, { recursive: true, force: true });
});

it('scores each recording with the models of its channel; a bad file costs itself only', async () => {
  await writeFile(join(directory, 'live.wav'), speechLikeWav(6));
  await writeFile(join(directory, 'silent.wav'), speechLikeWav(6, { loudness: 0 }));
  await writeFile(join(directory, 'broken.wav'), 'RIFF but no audio');
  await writeFile(join(directory, 'wide.wav'), speechLikeWav(5, { rate: 16_000 }));
  const index = join(directory, 'index.csv');
  await writeFile(
    index,
    [
      'path,label,channel,speaker,synthesizer,codec',
      'live.wav,bonafide,phone,a,,',
      'silent.wav,bonafide,phone,a,,',
      'broken.wav,synthetic,phone,b,x,',
      'missing.wav,replay,phone,b,,',
      'wide.wav,bonafide,digital,c,,',
      '',
    ].join('\n'),
  );
  const read = await readIndex(index);
  const registry = await loadShippedRegistry();
  const models = [await findEvaluatedModel(registry, 'phone/v1.1'), await findEvaluatedModel(registry, 'digital/v1.1')];
  const progress: number[] = [];
  const { set, models: outcomes } = await scoreIndex(read, {
    pool,
    models,
    channels: 'apart',
    limits: decodeLimitsOf(config),
    concurrency: 2,
    onProgress: (done) => progress.push(done),
  });
  expect(progress).toEqual([1, 2, 3, 4, 5]);
  expect(outcomes.map(({ model, outcomes: of }) => [model, of.map((each) => each?.state ?? null)])).toEqual([
    ['phone/v1.1', ['performed', 'performedWithoutScore', 'error', 'error', null]],
    ['digital/v1.1', [null, null, null, null, 'performed']],
  ]);
  expect(outcomes[0]!.outcomes[3]).toEqual({ state: 'error', reason: 'file_missing' });
  expect(outcomes[0]!.weightsSha256).toBe(models[0]!.manifest.sha256);
  expect(set.nuisance.map((features) => features?.durationSeconds ?? null)).toEqual([6, 6, null, null, 5]);
  const lines = formatScores(read, outcomes).trimEnd().split('\n');
  expect(lines[0]).toBe('path,label,channel,speaker,synthesizer,codec,model,state,synthesis,replay,reason');
  expect(lines[1]).toMatch(/^live\.wav,bonafide,phone,a,,,phone\/v1\.1,performed,0\.\d+,0\.\d+,$/);
  expect(lines[4]).toBe('missing.wav,replay,phone,b,,,phone/v1.1,error,,,file_missing');
  expect(lines).toHaveLength(6);
});

it('asks a model about the channel of its family, and about everything where no channel has its name', () => {
  const channels = (...names: string[]) => names.map((channel) => ({ channel }));
  expect(placesOf(channels('phone', 'digital', 'phone'), { name: 'phone/v8' })).toEqual([0, 2]);
  expect(placesOf(channels('phone', 'voip', 'digital'), { name: 'digital/v3' })).toEqual([1, 2]);
  expect(placesOf(channels('digital', 'digital'), { name: 'phone/v8' })).toEqual([0, 1]);
  expect(placesOf(channels('landline', 'voip'), { name: 'phone/v8' })).toEqual([0, 1]);
  expect(familiesOf(channels('phone', 'phone'))).toEqual(['phone']);
  expect(familiesOf(channels('digital', 'phone'))).toEqual(['phone', 'digital']);
  expect(familiesOf(channels('digital', 'voip'))).toEqual(['phone', 'digital']);
});

it('finds a model by name, family or directory, and refuses others by name', async () => {
  const registry = await loadShippedRegistry();
  const byName = await findEvaluatedModel(registry, 'Phone/V1.1');
  expect(byName.directory).toMatch(/models\/phone-v1\.1$/);
  expect(await findEvaluatedModel(registry, byName.directory!)).toEqual(byName);
  for (const [name, code] of [
    ['phone/v2', 'model_unknown'],
    ['phone/v5', 'model_removed'],
    ['auto', 'usage_invalid'],
  ] as const) {
    await expect(findEvaluatedModel(registry, name)).rejects.toMatchObject({ code });
  }
});
