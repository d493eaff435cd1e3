import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { openLazyScoring } from '../../../../jobs/lazy-scoring.ts';
import { AudioStore } from '../../../../pipelines/audio/store/audio-store.ts';
import {
  cancelBatch,
  countStates,
  finishBatch,
  readBatch,
  retryBatch,
  type Batch,
} from '../../../../pipelines/audio/batches/batch.ts';
import { submitBatch } from '../../../../pipelines/audio/batches/batch-intake.ts';
import type { SubmittedItem } from '../../../../pipelines/audio/batches/batch-items.ts';
import { loadRegistry } from '../../../../pipelines/audio/models/registry.ts';
import { failChunk, performChunk, type ChunkWork } from '../../../../pipelines/audio/batches/perform-chunk.ts';
import { AudioRefusal } from '../../../../pipelines/audio/reasons.ts';
import { deleteRecording } from '../../../../pipelines/audio/batches/retention.ts';
import type { ScoredRecording } from '../../../../pipelines/audio/verification.ts';
import { listVerifications } from '../../../../pipelines/audio/batches/stored-verifications.ts';
import { ServiceError } from '../../../../runtime/errors.ts';
import { useTestDatabase } from '../../../support/database.ts';
import { writeModelDirectory } from '../../../support/model-directory.ts';
import { silentLog } from '../../../support/night.ts';
import { resample } from '../../../../pipelines/audio/signal/resample.ts';
import { fullBandSpeech, speechLike, writeWav } from '../../../support/speech-like.ts';
import {
  configIn,
  submissionOf,
  testModel,
  tinyRecording,
  useFolder,
  writeVoice,
} from '../../../support/recording-batch.ts';

const { db } = await useTestDatabase();
const folder = await useFolder('perform');
const config = configIn(folder);
const store = new AudioStore(config.audioDir);
const scoring = openLazyScoring({ config, log: silentLog });
afterAll(() => scoring.close());

let made = 0;
const silence = async (): Promise<SubmittedItem> => {
  const source = `${++made}.wav`;
  await writeFile(join(folder, source), tinyRecording(made));
  return { path: join(folder, source), source };
};
const submit = async (items: readonly SubmittedItem[], model = testModel) =>
  (await submitBatch({ db, config }, submissionOf(items, { key: randomUUID(), model }))).batch;
const perform = async (batch: Batch, changes: Partial<ChunkWork> = {}, chunk = 0) =>
  performChunk(
    {
      db,
      store,
      registry: await loadRegistry(db, config),
      score: scoring.score,
      limits: { audioScorers: 2, itemCrashesMax: 2 },
      log: silentLog,
      signal: new AbortController().signal,
      ...changes,
    },
    { batchId: batch.batchId, generation: batch.generation, chunk },
  );
const itemsOf = ({ batchId }: Batch) => listVerifications(db, batchId, { after: 0, limit: 1000, windows: true });
const endsOf = async (batch: Batch) =>
  (await itemsOf(batch)).map(({ state, reason, reused }) => [state, reason, reused]);

/** What a scorer would say, for tests that count how often it is asked. */
const verdict = (changes: Partial<ScoredRecording> = {}): ScoredRecording => ({
  state: 'performed',
  model: testModel,
  audio: { format: 'wav', codec: 'pcm_s16le', sampleRate: 8000, channels: 1, durationSeconds: 4 },
  voiceSeconds: 3,
  scores: { synthesis: 0.25, replay: 0.75 },
  decision: {
    label: 'synthesized',
    thresholds: { synthesis: 0.5, replay: 0.5 },
    policy: 'thresholds/2',
    reason: null,
    authenticFrom: { synthesis: null, replay: null },
    falseAcceptance: { synthesis: null, replay: null },
  },
  reason: null,
  channelScores: [],
  windows: [],
  notes: [],
  computedMs: 1,
  ...changes,
});
const counting = (answer: (asked: string[]) => ScoredRecording | Promise<ScoredRecording> = () => verdict()) => {
  const asked: string[] = [];
  return { asked, score: async ({ file }: { file: string }) => (asked.push(file), answer(asked)) };
};

describe('a chunk', () => {
  it('gives each item the outcome of its audio, by the real scorers', async () => {
    const voice = { path: await writeVoice(join(folder, 'voice.wav')), source: 'voice' };
    await writeFile(join(folder, 'text'), 'no audio');
    const batch = await submit([
      voice,
      await silence(),
      { path: join(folder, 'text'), source: 'text' },
      { ...voice, source: 'again' },
    ]);
    expect(await perform(batch)).toEqual({ scored: 2, reused: 1, refused: 1 });
    const [first, second, third, fourth] = await itemsOf(batch);
    expect(first).toMatchObject({
      state: 'performed',
      reason: null,
      model: testModel,
      attempts: 1,
      reused: false,
      audio: { sampleRate: 8000, channels: 1, duration: 4 },
    });
    expect(first!.scores!.synthesis).toBeGreaterThan(0);
    expect(first!.decision!.label).toEqual(expect.any(String));
    expect(first!.windows!.length).toBeGreaterThan(0);
    expect(second).toMatchObject({ state: 'performedWithoutScore', scores: null, decision: null });
    expect(third).toMatchObject({ state: 'error', reason: 'format_unknown', scores: null });
    expect({ ...fourth, id: '', line: 0, source: '', attempts: 0, reused: false, times: null }).toEqual({
      ...first,
      id: '',
      line: 0,
      source: '',
      attempts: 0,
      reused: false,
      times: null,
    });
    expect(fourth!.reused).toBe(true);
    expect(await finishBatch(db, batch)).toBe('done');
  });

  it('takes the model of the detected band, and a stored result of it the next time', async () => {
    const upsampled = resample(fullBandSpeech({ sampleRate: 8000, seconds: 3 }), 8000, 16_000);
    const path = await writeWav(join(folder, 'upsampled.wav'), [upsampled], 16_000);
    const item = { path, source: 'upsampled' };
    const ends = async (model: string) => {
      const batch = await submit([item], model);
      await perform(batch);
      const [{ model: used, notes, reused } = { model: null, notes: [], reused: null }] = await itemsOf(batch);
      return { used, notes, reused };
    };
    const notes = ['telephone_band'];
    expect(await ends('digital/v3.3')).toEqual({ used: 'digital/v3.3', notes, reused: false });
    expect(await ends('auto')).toEqual({ used: 'phone/v8.2', notes, reused: false });
    expect(await ends('auto')).toEqual({ used: 'phone/v8.2', notes, reused: true });
    expect(await ends('digital')).toEqual({ used: 'digital/v3.3', notes, reused: true });
  });

  it('is not stopped by a default that cannot be used and that it does not need', async () => {
    const shippedDirectory = await writeModelDirectory(join(folder, 'broken'));
    await rm(join(shippedDirectory, 'digital-v3', 'manifest.json'));
    const broken = { ...config, shippedDirectory };
    const registry = await loadRegistry(db, broken);
    const wide = await writeWav(join(folder, 'wide.wav'), [speechLike({ sampleRate: 16_000, seconds: 3 })], 16_000);
    const items = [
      { path: await writeVoice(join(folder, 'narrow.wav'), { pitch: 170 }), source: 'narrow' },
      { path: wide, source: 'wide' },
    ];
    const { batch } = await submitBatch(
      { db, config: broken },
      submissionOf(items, { key: randomUUID(), model: 'auto' }),
    );
    await perform(batch, { registry });
    const [narrow, other] = await itemsOf(batch);
    expect(narrow).toMatchObject({ state: 'performed', model: 'phone/v8' });
    expect(other).toMatchObject({
      state: 'error',
      reason: 'scoring_failed',
      reasonDetail: 'At 16000 Hz it needs the default of digital, which cannot be used here.',
    });
    expect(() => registry.resolve('digital')).toThrowError(
      expect.objectContaining({
        code: 'model_invalid',
        problem: 'The manifest cannot be read.',
        hint: `Look at ${join(shippedDirectory, 'digital-v3', 'manifest.json')}.`,
      }) as Error,
    );
    await rm(join(shippedDirectory, 'phone-v8', 'manifest.json'));
    const none = await loadRegistry(db, broken);
    expect(() => none.resolve('auto')).toThrowError(expect.objectContaining({ code: 'model_invalid' }) as Error);
  });

  it('computes nothing that is stored, and nothing twice within itself', async () => {
    const items = [await silence(), await silence()];
    const { asked, score } = counting();
    await perform(await submit([items[0]!, items[0]!, items[1]!, items[0]!]), { score });
    expect(asked).toHaveLength(2);
    const again = await submit([items[1]!, items[0]!]);
    expect(await perform(again, { score })).toEqual({ scored: 0, reused: 2, refused: 0 });
    expect(asked).toHaveLength(2);
    expect((await itemsOf(again)).map(({ scores, attempts, reused }) => [scores, attempts, reused])).toEqual([
      [{ synthesis: 0.25, replay: 0.75 }, 0, true],
      [{ synthesis: 0.25, replay: 0.75 }, 0, true],
    ]);
  });

  it('computes again with another model, and with other settings', async () => {
    const item = await silence();
    const { asked, score } = counting();
    await perform(await submit([item]), { score });
    const digital = counting(() => verdict({ model: 'digital/v1.1' }));
    await perform(await submit([item], 'digital/v1.1'), digital);
    const { batch } = await submitBatch({ db, config }, submissionOf([item], { settings: { channels: 'mixed' } }));
    await perform(batch, { score });
    expect([asked.length, digital.asked.length]).toEqual([2, 1]);
  });

  it('refuses every item of the same damaged audio at once, but tries each where the cause may lie in the service', async () => {
    const item = await silence();
    const damaged = counting(() =>
      Promise.reject(new AudioRefusal('audio_damaged', 'Its sizes contradict each other.')),
    );
    const batch = await submit([item, item, item]);
    expect(await perform(batch, damaged)).toEqual({ scored: 0, reused: 0, refused: 3 });
    expect(damaged.asked).toHaveLength(1);
    expect((await itemsOf(batch)).map(({ reasonDetail }) => reasonDetail)).toEqual(
      Array(3).fill('Its sizes contradict each other.'),
    );
    const crashing = counting((asked) =>
      asked.length === 1 ? Promise.reject(new AudioRefusal('scorer_crashed')) : verdict(),
    );
    const second = await submit([item, item, item]);
    expect(await perform(second, crashing)).toEqual({ scored: 1, reused: 1, refused: 1 });
    expect(await endsOf(second)).toEqual([
      ['error', 'scorer_crashed', false],
      ['performed', null, false],
      ['performed', null, true],
    ]);
  });

  it('ends an item whose scoring threw as failed, and continues with the others', async () => {
    const batch = await submit([await silence(), await silence()]);
    await perform(batch, {
      limits: { audioScorers: 1, itemCrashesMax: 2 },
      ...counting((asked) => (asked.length === 1 ? Promise.reject(new TypeError('a bug')) : verdict())),
    });
    expect(await endsOf(batch)).toEqual([
      ['error', 'scoring_failed', false],
      ['performed', null, false],
    ]);
  });

  it('says so if the audio was deleted, is not there, or its model is gone', async () => {
    const items = [await silence(), await silence()];
    const batch = await submit(items);
    const [first, second] = await itemsOf(batch);
    await deleteRecording({ db, store }, first!.audio!.sha256, 'test');
    await rm(store.pathOf(second!.audio!.sha256));
    await perform(batch);
    expect(await endsOf(batch)).toEqual([
      ['error', 'recording_deleted', false],
      ['error', 'scoring_failed', false],
    ]);
    const gone = await submit([items[0]!]);
    await db.query(`UPDATE verification SET model = 'phone/v5' WHERE batch_id = $1`, [gone.batchId]);
    await perform(gone);
    expect(await endsOf(gone)).toEqual([['error', 'model_removed', false]]);
  });

  it('finds a stored result after the audio was deleted', async () => {
    const item = await silence();
    await perform(await submit([item]), counting());
    const batch = await submit([item]);
    const [record] = await itemsOf(batch);
    await deleteRecording({ db, store }, record!.audio!.sha256, 'test');
    expect(await perform(batch)).toEqual({ scored: 0, reused: 1, refused: 0 });
  });
});

describe('an outcome', () => {
  it('is visible a second later, with what is in hand by then, while others of its chunk take longer', async () => {
    const batch = await submit(await Promise.all(Array.from({ length: 4 }, silence)));
    const stop = new AbortController();
    const ended: number[] = [];
    const { score } = counting(async (asked) => {
      if (asked.length > 2) await sleep(60_000, undefined, { signal: stop.signal });
      ended.push(performance.now());
      return verdict();
    });
    const running = perform(batch, { score, signal: stop.signal });
    await until(async () => (await countStates(db, batch.batchId)).performed === 2);
    expect(performance.now() - ended[0]!).toBeLessThan(3000);
    expect(await countStates(db, batch.batchId)).toMatchObject({ performed: 2, performing: 2, queued: 0 });
    stop.abort();
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    expect((await itemsOf(batch)).map(({ state, attempts }) => [state, attempts])).toEqual([
      ['performed', 1],
      ['performed', 1],
      ['queued', 0],
      ['queued', 0],
    ]);
  });

  it('is written once where scoring is quick', async () => {
    const batch = await submit(await Promise.all(Array.from({ length: 30 }, silence)));
    await db.query(`
      CREATE TABLE written (batch_id bigint);
      CREATE FUNCTION note_written() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO written VALUES (NEW.batch_id); RETURN NULL; END';
      CREATE TRIGGER noted AFTER UPDATE ON verification FOR EACH ROW EXECUTE FUNCTION note_written()`);
    await perform(batch, counting());
    await db.query('DROP TRIGGER noted ON verification');
    expect((await itemsOf(batch)).map(({ state, attempts }) => [state, attempts])).toEqual(
      Array(30).fill(['performed', 1]),
    );
    const { rowCount } = await db.query('SELECT FROM written');
    expect(rowCount).toBeLessThanOrEqual(30 + 2); // the first one of each scorer is recorded as begun
  });

  it('that the database does not take costs its recording only', async () => {
    const batch = await submit(await Promise.all(Array.from({ length: 3 }, silence)));
    await perform(
      batch,
      counting(async (asked) => (asked.length === 2 ? verdict({ scores: { synthesis: 2, replay: 0.5 } }) : verdict())),
    );
    expect((await endsOf(batch)).map(([state, reason]) => [state, reason]).sort()).toEqual([
      ['error', 'scoring_failed'],
      ['performed', null],
      ['performed', null],
    ]);
  });
});

describe('a job that is not wanted any more', () => {
  it('does nothing for a batch that is done, cancelled, tried again, or still open', async () => {
    const { asked, score } = counting();
    const batch = await submit([await silence()]);
    expect(await perform({ ...batch, generation: 2 }, { score })).toEqual({ scored: 0, reused: 0, refused: 0 });
    await db.query(`UPDATE verification_batch SET state = 'open' WHERE batch_id = $1`, [batch.batchId]);
    await perform(batch, { score });
    await db.query(`UPDATE verification_batch SET state = 'queued' WHERE batch_id = $1`, [batch.batchId]);
    await cancelBatch(db, batch.id);
    await perform(batch, { score });
    expect(asked).toEqual([]);
    expect(await endsOf(batch)).toEqual([['error', 'batch_cancelled', false]]);
  });

  it('cannot be cancelled any more when every item has an outcome: the batch is done', async () => {
    const batch = await submit([await silence()]);
    await perform(batch, { score: counting(async () => verdict()).score });
    await db.query(`UPDATE verification_batch SET state = 'performing', ended_at = NULL WHERE batch_id = $1`, [
      batch.batchId,
    ]);
    await expect(cancelBatch(db, batch.id)).rejects.toMatchObject({ code: 'batch_ended' });
    expect(await readBatch(db, batch.id)).toMatchObject({ state: 'done' });
  });

  it('stops within a second when the batch is cancelled, and what was not written by then does not count', async () => {
    const batch = await submit(await Promise.all(Array.from({ length: 4 }, silence)));
    const { asked, score } = counting(async (asked) => {
      if (asked.length === 1) await sleep(1100); // its outcome is written at once
      if (asked.length === 3) await cancelBatch(db, batch.id);
      if (asked.length === 3) await sleep(1100);
      return verdict();
    });
    await perform(batch, { score, limits: { audioScorers: 1, itemCrashesMax: 2 } });
    expect(asked).toHaveLength(3);
    expect(await endsOf(batch)).toEqual([
      ['performed', null, false],
      ['error', 'batch_cancelled', false],
      ['error', 'batch_cancelled', false],
      ['error', 'batch_cancelled', false],
    ]);
    expect(await readBatch(db, batch.id)).toMatchObject({ state: 'cancelled' });
  });
});

describe('an attempt that does not end', () => {
  it('is taken back when the process must stop', async () => {
    const batch = await submit([await silence(), await silence()]);
    const stop = new AbortController();
    const interrupted = new ServiceError('interrupted', { operation: 'run job' });
    const scorer = counting(async (asked) => {
      if (asked.length === 1) return verdict();
      stop.abort(interrupted);
      throw interrupted;
    });
    await expect(
      perform(batch, { ...scorer, signal: stop.signal, limits: { audioScorers: 1, itemCrashesMax: 2 } }),
    ).rejects.toBe(interrupted);
    expect((await itemsOf(batch)).map(({ state, attempts }) => [state, attempts])).toEqual([
      ['performed', 1],
      ['queued', 0],
    ]);
    await perform(batch, counting());
    expect(await countStates(db, batch.batchId)).toMatchObject({ performed: 2 });
  });

  it('is counted before it is made: an item whose worker dies again and again ends in error, and takes no other along', async () => {
    const [killer, ...others] = [await silence(), await silence(), await silence()];
    const batch = await submit([killer!, ...others]);
    const killerFile = store.pathOf((await itemsOf(batch))[0]!.audio!.sha256);
    // A worker that dies writes nothing: here the statement after the answer is never reached.
    const dying = async ({ file }: { file: string }): Promise<ScoredRecording> => {
      if (file !== killerFile) return verdict();
      await db.query('SELECT 1');
      return new Promise<never>(() => {});
    };
    for (let deaths = 0; deaths < 2; deaths++) {
      void perform(batch, { score: dying, limits: { audioScorers: 1, itemCrashesMax: 2 } });
      await until(async () => (await itemsOf(batch))[0]!.attempts === deaths + 1);
    }
    expect((await itemsOf(batch)).map(({ state, attempts }) => [state, attempts])).toEqual([
      ['performing', 2],
      ['performed', 1],
      ['performed', 1],
    ]);
    await perform(batch, { score: dying });
    const [end] = await itemsOf(batch);
    expect(end).toMatchObject({
      state: 'error',
      reason: 'scorer_crashed',
      attempts: 3,
      reasonDetail: expect.stringContaining('2 times') as string,
    });
  });
});

describe('a worker that dies before it has recorded that an item was begun', () => {
  it('is followed by one that performs what is left one at a time, so that the item is found', async () => {
    const batch = await submit(await Promise.all(Array.from({ length: 4 }, silence)));
    const files = (await itemsOf(batch)).map(({ audio }) => store.pathOf(audio!.sha256));
    const killer = files[2]!;
    for (const expected of [
      [
        ['performing', 1],
        ['queued', 0],
        ['queued', 0],
        ['queued', 0],
      ],
      [
        ['performing', 1],
        ['performed', 1],
        ['performing', 1],
        ['queued', 0],
      ],
      [
        ['performed', 2],
        ['performed', 1],
        ['performing', 2],
        ['performed', 1],
      ],
    ]) {
      const worker = mortal();
      const dies = new Promise<void>((resolve) => {
        const score = async ({ file }: { file: string }) => {
          if (file !== killer) return verdict();
          worker.die();
          resolve();
          return new Promise<never>(() => {});
        };
        void perform(batch, { db: worker.db, score, limits: { audioScorers: 1, itemCrashesMax: 2 } });
      });
      await dies;
      expect((await itemsOf(batch)).map(({ state, attempts }) => [state, attempts])).toEqual(expected);
    }
    const { asked, score } = counting();
    await perform(batch, { score });
    expect(asked).toEqual([]);
    expect((await itemsOf(batch))[2]).toMatchObject({ state: 'error', reason: 'scorer_crashed', attempts: 3 });
  });

  /** The database as a worker has it that writes nothing once it is dead. */
  function mortal(): { readonly db: typeof db; die(): void } {
    let isDead = false;
    const silent = new Promise<never>(() => {});
    return {
      db: Object.assign(Object.create(db) as typeof db, {
        query: (...args: Parameters<typeof db.query>) => (isDead ? silent : db.query(...args)),
        connect: () => (isDead ? silent : db.connect()),
      }),
      die: () => (isDead = true),
    };
  }
});

describe('a job that has failed permanently', () => {
  it('ends what is left of its chunk in error, and nothing else', async () => {
    const batch = await submit(await Promise.all(Array.from({ length: 51 }, silence)));
    const first = { batchId: batch.batchId, generation: 1, chunk: 0 };
    await perform(batch, {
      ...counting((asked) =>
        asked.length === 1 ? verdict() : Promise.reject(new ServiceError('scorer_unavailable', { operation: 'score' })),
      ),
      limits: { audioScorers: 1, itemCrashesMax: 2 },
    }).catch(() => {});
    await failChunk(db, { ...first, generation: 7 }, 'of another generation');
    await failChunk(db, first, 'The process that scores recordings could not be started.');
    expect(await countStates(db, batch.batchId)).toEqual({
      queued: 1,
      performing: 0,
      performed: 1,
      performedWithoutScore: 0,
      error: 49,
    });
    expect(await finishBatch(db, batch)).toBe('missing');
  });
});

describe('a retry', () => {
  it('queues again what may succeed, or with all also the rest, and counts attempts again from 0', async () => {
    const items = [await silence(), await silence(), await silence()];
    const batch = await submit([...items, { path: join(folder, 'none'), source: 'none' }]);
    const answers = [verdict(), new AudioRefusal('time_exceeded'), new AudioRefusal('audio_damaged')];
    await perform(batch, {
      limits: { audioScorers: 1, itemCrashesMax: 2 },
      ...counting((asked) => {
        const answer = answers[asked.length - 1]!;
        return answer instanceof AudioRefusal ? Promise.reject(answer) : answer;
      }),
    });
    await expect(retryBatch(db, batch.id, { all: false })).rejects.toMatchObject({ code: 'batch_ended' });
    await finishBatch(db, batch);
    expect(await retryBatch(db, batch.id, { all: false })).toEqual({ retried: 1 });
    const again = await readBatch(db, batch.id);
    expect(again).toMatchObject({ state: 'queued', generation: 2, endedAt: null });
    await perform(batch, counting()); // of the first generation
    expect(await countStates(db, batch.batchId)).toMatchObject({ queued: 1 });
    await perform(again, counting());
    await finishBatch(db, again);
    expect(await endsOf(batch)).toEqual([
      ['performed', null, false],
      ['performed', null, false],
      ['error', 'audio_damaged', false],
      ['error', 'file_missing', false],
    ]);
    expect(await retryBatch(db, batch.id, { all: false })).toEqual({ retried: 0 });
    expect(await readBatch(db, batch.id)).toMatchObject({ state: 'done', generation: 2 });
    expect(await retryBatch(db, batch.id, { all: true })).toEqual({ retried: 1 });
  });

  it('lets a cancelled batch continue', async () => {
    const batch = await submit([await silence()]);
    await cancelBatch(db, batch.id);
    await expect(cancelBatch(db, batch.id)).rejects.toMatchObject({ code: 'batch_ended' });
    expect(await retryBatch(db, batch.id, { all: false })).toEqual({ retried: 1 });
    const again = await readBatch(db, batch.id);
    await perform(again, counting());
    expect(await finishBatch(db, again)).toBe('done');
  });

  it.each(['no-uuid', randomUUID()])('says that there is no batch %s', async (id) => {
    await expect(retryBatch(db, id, { all: false })).rejects.toMatchObject({ code: 'batch_unknown' });
  });
});

async function until(done: () => Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 10));
}
