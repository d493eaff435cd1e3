import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { AudioStore } from '../../../../pipelines/audio/store/audio-store.ts';
import { submitBatch } from '../../../../pipelines/audio/batches/batch-intake.ts';
import {
  compareModels,
  type Comparison,
  type ComparisonRequest,
} from '../../../../pipelines/audio/drift/compare-models.ts';
import { listDriftReports } from '../../../../pipelines/audio/drift/drift-record.ts';
import { listDefaultChanges, moveDefault } from '../../../../pipelines/audio/drift/move-default.ts';
import { loadRegistry, type ModelRegistry } from '../../../../pipelines/audio/models/registry.ts';
import { useTestDatabase } from '../../../support/database.ts';
import { writeModelDirectory } from '../../../support/model-directory.ts';
import { configIn, submissionOf, useFolder, writeVoice } from '../../../support/recording-batch.ts';
import { useScoringPool } from '../../../support/scoring.ts';
import { speechLike, writeWav } from '../../../support/speech-like.ts';

const { db } = await useTestDatabase();
const folder = await useFolder('drift');
const config = configIn(folder);
const { pool } = useScoringPool();
const store = new AudioStore(config.audioDir);
/** Each of its own loudness of noise, so that the test graph gives each its own score. */
const noises = [0.0005, 0.001, 0.002, 0.004, 0.006, 0.009];

let shippedDirectory: string;
let batch: string;
let registry: ModelRegistry;

const compare = (request: Partial<ComparisonRequest> = {}, changes: Partial<Comparison> = {}) =>
  compareModels(
    { db, registry, store, pool, atOnce: 2, signal: new AbortController().signal, ...changes },
    { old: 'phone/v7', new: 'phone/v8', batch, by: 'test', ...request },
  );

async function openRegistry(): Promise<void> {
  registry = await loadRegistry(db, { modelDir: config.modelDir, shippedDirectory });
}

/** A batch of the noises, one of them twice, with a file that is no audio and one that is missing. */
async function submitVoices(): Promise<string> {
  const files = await Promise.all(
    noises.map((noise, at) =>
      writeWav(join(folder, `voice-${at}.wav`), [speechLike({ sampleRate: 8000, seconds: 4, noise })], 8000),
    ),
  );
  const text = join(folder, 'text.wav');
  await writeFile(text, 'no audio');
  const items = [...files, files[0]!, text, join(folder, 'missing.wav')].map((path) => ({
    path,
    source: path.slice(folder.length + 1),
    model: 'phone/v1.1',
  }));
  const submitted = await submitBatch({ db, config }, submissionOf(items, { model: 'phone/v1.1' }));
  return submitted.batch.id;
}

/** A threshold for the new model with three of the six recordings below it; the old one takes all. */
async function chooseThresholds(): Promise<void> {
  await writeModelDirectory(shippedDirectory, {
    'phone/v7': { thresholds: { synthesis: 0.001, replay: 0.001 } },
    'phone/v8': { thresholds: { synthesis: 0.999, replay: 0.001 } },
  });
  await openRegistry();
  const { report } = await compare();
  const scores = report.flips.map(({ new: now }) => now.scores.synthesis!).sort((a, b) => a - b);
  const middle = (scores[2]! + scores[3]!) / 2;
  await writeModelDirectory(shippedDirectory, {
    'phone/v7': { thresholds: { synthesis: 0.001, replay: 0.001 } },
    'phone/v8': { thresholds: { synthesis: middle, replay: 0.001 } },
  });
  await openRegistry();
}

beforeAll(async () => {
  shippedDirectory = join(folder, 'shipped');
  batch = await submitVoices();
  await chooseThresholds();
});

describe('the comparison of two models', () => {
  it('scores what is not stored, and reports the outcome of each recording', async () => {
    const { report, computed, itemsWithoutAudio } = await compare();
    expect(report).toMatchObject({
      old: { model: 'phone/v7', thresholds: { synthesis: 0.001 } },
      new: { model: 'phone/v8' },
      batch,
      settings: { channels: 'apart' },
    });
    expect(report.counts).toEqual({ items: 8, recordings: 7, compared: 6, notCompared: 1, flips: 3 });
    expect([computed, itemsWithoutAudio]).toEqual([6, 1]); // those of phone/v7 were stored by the choice of the threshold
    expect(report.flips.map(({ old, new: now }) => [old.label, now.label])).toEqual(
      Array.from({ length: 3 }, () => ['undecided', 'synthesized']),
    );
    expect(report.classes.find(({ label }) => label === 'undecided')).toMatchObject({
      compared: 6,
      old: 6,
      new: 3,
      change: -0.5,
      p: expect.closeTo(0.25, 12) as number,
    });
    expect(report.notComparedReasons).toEqual([{ old: 'format_unknown', new: 'format_unknown', recordings: 1 }]);
    expect(report.shifts[0]).toMatchObject({ score: 'synthesis', compared: 6, largest: 0 }); // the same graph and calibration: nothing moves
  });

  it('computes nothing twice, and gives the same report again', async () => {
    const [first, second] = [await compare(), await compare()];
    expect(second.computed).toBe(0);
    expect(second.report).toEqual(first.report);
    expect(second.reportId).toBeGreaterThan(first.reportId);
  });

  it('gives an item that came twice as one recording of two items, at its first line', async () => {
    const { report } = await compare();
    const listed = report.flips.find(({ source }) => source === 'voice-0.wav') ?? report.flips[0]!;
    expect(report.counts.items - report.counts.recordings).toBe(1);
    expect(listed.line).toBeLessThanOrEqual(noises.length);
  });

  it('reports its progress', async () => {
    const reported: string[] = [];
    await writeModelDirectory(shippedDirectory, {
      'phone/v7': { thresholds: { synthesis: 0.001, replay: 0.001 } },
      'phone/v8': { thresholds: { synthesis: 0.4, replay: 0.002 } },
    });
    await openRegistry();
    await compare({}, { atOnce: 1, onProgress: (done, all) => void reported.push(`${done}/${all}`) });
    expect(reported).toEqual(Array.from({ length: 7 }, (_none, at) => `${at + 1}/7`));
  });

  it('takes what is stored of audio that was deleted, and says of the rest that it could not be compared', async () => {
    const whole = await compare();
    await db.query("UPDATE recording SET deleted_at = now(), deleted_why = 'test' WHERE sha256 = $1", [
      await digestOf('voice-1.wav'),
    ]);
    await rm(store.pathOf(await digestOf('voice-1.wav')));
    expect((await compare()).report.counts).toEqual(whole.report.counts);
    await writeModelDirectory(shippedDirectory, {
      'phone/v8': { thresholds: { synthesis: 0.41, replay: 0.002 } },
      'phone/v7': { thresholds: { synthesis: 0.001, replay: 0.001 } },
    });
    await openRegistry();
    const { report } = await compare();
    expect(report.counts.compared).toBe(whole.report.counts.compared - 1);
    expect(report.notComparedReasons).toContainEqual({ old: null, new: 'recording_deleted', recordings: 1 });
    expect(report.notCompared.find(({ new: now }) => now === 'recording_deleted')).toMatchObject({
      source: 'voice-1.wav',
      line: 2,
      old: null,
    });
  });

  it.each([
    { request: { new: 'phone/v7' }, code: 'usage_invalid' },
    { request: { new: 'digital/v3' }, code: 'usage_invalid' },
    { request: { new: 'phone/v99' }, code: 'model_unknown' },
    { request: { old: 'phone/v5' }, code: 'model_removed' },
    { request: { batch: '7' }, code: 'batch_unknown' },
  ])('refuses $request with $code', async ({ request, code }) => {
    await expect(compare(request)).rejects.toMatchObject({ code });
  });

  it('stores no report when it is interrupted', async () => {
    await writeModelDirectory(shippedDirectory, { 'phone/v8': { thresholds: { synthesis: 0.42, replay: 0.002 } } });
    await openRegistry();
    const before = await listDriftReports(db, { model: 'phone/v8', limit: 100 });
    await expect(compare({}, { signal: AbortSignal.abort(new Error('stop')) })).rejects.toThrow('stop');
    expect(await listDriftReports(db, { model: 'phone/v8', limit: 100 })).toEqual(before);
  });

  async function digestOf(source: string): Promise<string> {
    const { rows } = await db.query('SELECT audio_sha256 FROM verification WHERE source = $1', [source]);
    return rows[0].audio_sha256;
  }
});

describe('the default of a family', () => {
  const sources = () => ({ modelDir: config.modelDir, shippedDirectory });
  const move = (changes: Partial<Parameters<typeof moveDefault>[2]> = {}) =>
    moveDefault(db, sources(), {
      family: 'phone',
      model: 'phone/v7',
      by: 'cli test',
      reason: 'test',
      force: false,
      ...changes,
    });

  beforeAll(async () => {
    await writeModelDirectory(shippedDirectory);
    await openRegistry();
  });

  it('does not move without a drift report, and the refusal has the command that makes one', async () => {
    await expect(move()).rejects.toMatchObject({
      code: 'drift_report_missing',
      hint: expect.stringContaining('`caller-trust models drift phone/v8 phone/v7 --batch ID`') as string,
    });
  });

  it('does not move on a report in the other direction, nor on one of a model that has changed since', async () => {
    const { reportId } = await compare();
    await expect(move({ reportId })).rejects.toMatchObject({
      code: 'drift_report_missing',
      problem: `Drift report ${reportId} is not of phone/v8 and phone/v7 as they are now.`,
    });
    const turned = await compare({ old: 'phone/v8', new: 'phone/v7' });
    await writeModelDirectory(shippedDirectory, { 'phone/v7': { thresholds: { synthesis: 0.3, replay: 0.3 } } });
    await expect(move({ reportId: turned.reportId })).rejects.toMatchObject({ code: 'drift_report_missing' });
    await expect(move()).rejects.toMatchObject({
      code: 'drift_report_missing',
      problem: 'There is no drift report of phone/v8 and phone/v7 as they are now.',
    });
  });

  it('does not move on a report that compared nothing', async () => {
    await writeVoice(join(folder, 'lonely.wav'), { pitch: 90 });
    const alone = await submitBatch(
      { db, config },
      submissionOf([{ path: join(folder, 'text.wav'), source: 'text.wav' }]),
    );
    await openRegistry();
    const { reportId } = await compare({ old: 'phone/v8', new: 'phone/v7', batch: alone.batch.id });
    await expect(move({ reportId })).rejects.toMatchObject({
      code: 'drift_report_missing',
      problem: `Drift report ${reportId} compared no recording.`,
    });
  });

  it('moves with one, which the record names; the registry follows', async () => {
    await openRegistry();
    const { reportId } = await compare({ old: 'phone/v8', new: 'phone/v7' });
    expect(registry.defaultOf('phone')?.model).toBe('phone/v8');
    expect(await move()).toMatchObject({
      family: 'phone',
      before: 'phone/v8',
      model: 'phone/v7',
      reportId,
      forced: false,
      since: expect.any(Date) as Date,
    });
    await openRegistry();
    expect([registry.defaultOf('phone')?.model, registry.defaultOf('digital')?.model]).toEqual([
      'phone/v7',
      'digital/v3',
    ]);
    expect(registry.defaultOf('phone', '2026.03.r1p0')?.model).toBe('phone/v7');
  });

  it('stays where it is without a trace when it is set to the same model', async () => {
    const before = await listDefaultChanges(db, 'phone/v7');
    expect(await move({ model: 'PHONE/V7' })).toMatchObject({ before: 'phone/v7', model: 'phone/v7', since: null });
    expect(await listDefaultChanges(db, 'phone/v7')).toEqual(before);
  });

  it('moves by force, which the record says', async () => {
    await writeModelDirectory(shippedDirectory, { 'phone/v7': { thresholds: { synthesis: 0.2, replay: 0.3 } } });
    expect(await move({ model: 'phone/v8', force: true, reason: 'v7 misses the new attack' })).toMatchObject({
      before: 'phone/v7',
      model: 'phone/v8',
      reportId: null,
      forced: true,
    });
    expect(
      (await listDefaultChanges(db, 'phone/v7')).map(({ model, forced, reason, setBy }) => [
        model,
        forced,
        reason,
        setBy,
      ]),
    ).toEqual([
      ['phone/v8', true, 'v7 misses the new attack', 'cli test'],
      ['phone/v7', false, 'test', 'cli test'],
    ]);
  });

  it.each([
    { changes: { model: 'digital/v3' }, code: 'usage_invalid' },
    { changes: { model: 'phone/v5' }, code: 'model_removed' },
    { changes: { model: 'phone/v6' }, code: 'model_unknown' },
    { changes: { reason: ' ' }, code: 'reason_required' },
    { changes: { reportId: 999_999 }, code: 'drift_report_missing' },
  ])('is not set with $changes: $code', async ({ changes, code }) => {
    await expect(move(changes)).rejects.toMatchObject({ code });
  });

  it('is written once at a time', async () => {
    await Promise.all(Array.from({ length: 4 }, () => move({ force: true, reason: 'together' })));
    expect((await listDefaultChanges(db, 'phone/v7')).filter(({ reason }) => reason === 'together')).toHaveLength(1);
  });

  it.each(['UPDATE model_default SET reason = $$x$$', 'DELETE FROM model_default'])(
    'keeps its record: %s is refused',
    async (statement) => {
      await expect(db.query(statement)).rejects.toThrow(/only ever added/);
    },
  );
});
