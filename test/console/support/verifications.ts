import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AudioStore } from '../../../pipelines/audio/store/audio-store.ts';
import { finishBatch, readBatch, type Batch } from '../../../pipelines/audio/batches/batch.ts';
import { submitBatch, type BatchSubmission } from '../../../pipelines/audio/batches/batch-intake.ts';
import type { SubmittedItem } from '../../../pipelines/audio/batches/batch-items.ts';
import { loadRegistry } from '../../../pipelines/audio/models/registry.ts';
import { performChunk } from '../../../pipelines/audio/batches/perform-chunk.ts';
import { AudioRefusal } from '../../../pipelines/audio/reasons.ts';
import type { DecisionLabel, ScoredRecording } from '../../../pipelines/audio/verification.ts';
import { silentLog } from '../../support/night.ts';
import { configIn, submissionOf, testModel } from '../../support/recording-batch.ts';
import { speechLikeWav } from '../../support/speech-like-wav.ts';
import type { TestConsole } from './console-process.ts';

/** What scoring is to say of a recording. */
interface MadeOutcome {
  readonly label?: DecisionLabel;
  readonly scores?: { readonly synthesis: number; readonly replay: number };
  readonly refusal?: AudioRefusal;
  readonly withoutScore?: 'no_voice' | 'insufficient_voice';
  readonly source?: string;
}

/** What was seeded: the batch, and the ids of its items in their order. */
interface SeededBatch {
  readonly batch: Batch;
  readonly ids: readonly string[];
  readonly digests: readonly string[];
}

const scoresOf: Readonly<Record<DecisionLabel, { synthesis: number; replay: number }>> = {
  undecided: { synthesis: 0.6, replay: 0.6 },
  authentic: { synthesis: 0.9, replay: 0.8 },
  synthesized: { synthesis: 0.1, replay: 0.8 },
  replayed: { synthesis: 0.9, replay: 0.1 },
  synthesizedAndReplayed: { synthesis: 0.1, replay: 0.1 },
};

let made = 0;

/** Hands recordings of made voices in, and ends those that have an outcome, as a worker does. The others wait. */
export async function seedBatch(
  { database: { db }, stateDir }: Pick<TestConsole, 'database' | 'stateDir'>,
  outcomes: readonly (MadeOutcome | 'queued')[],
  changes: Partial<BatchSubmission> = {},
): Promise<SeededBatch> {
  const config = configIn(stateDir, { STATE_DIR: stateDir });
  const folder = join(stateDir, 'seeded');
  await mkdir(folder, { recursive: true });
  const items: SubmittedItem[] = [];
  for (const outcome of outcomes) {
    const path = join(folder, `${++made}.wav`);
    await writeFile(path, speechLikeWav(5, { pitchHz: 90 + (made % 200) }));
    items.push({ path, source: (outcome !== 'queued' && outcome.source) || `call-${made}.wav` });
  }
  const { batch } = await submitBatch(
    { db, config },
    submissionOf(items, { key: randomUUID(), name: 'seeded', ...changes }),
  );
  const { rows } = await db.query<{ public_id: string; audio_sha256: string }>(
    'SELECT public_id, audio_sha256 FROM verification WHERE batch_id = $1 ORDER BY line',
    [batch.batchId],
  );
  const store = new AudioStore(config.audioDir);
  const outcomeOf = new Map(rows.map(({ audio_sha256 }, at) => [store.pathOf(audio_sha256), outcomes[at]!]));
  const ended = new AbortController();
  const score = async ({ file }: { file: string }): Promise<ScoredRecording> => {
    const outcome = outcomeOf.get(file)!;
    if (outcome === 'queued') {
      ended.abort(new Error('enough is seeded'));
      throw ended.signal.reason;
    }
    if (outcome.refusal !== undefined) throw outcome.refusal;
    return scoredAs(outcome);
  };
  const work = {
    db,
    store,
    registry: await loadRegistry(db, config),
    score,
    limits: { audioScorers: 1, itemCrashesMax: 2 },
    log: silentLog,
    signal: ended.signal,
  };
  await performChunk(work, { batchId: batch.batchId, generation: batch.generation, chunk: 0 }).catch(
    (error: unknown) => {
      if (!ended.signal.aborted) throw error;
    },
  );
  await finishBatch(db, batch);
  return {
    batch: await readBatch(db, batch.id),
    ids: rows.map(({ public_id }) => public_id),
    digests: rows.map(({ audio_sha256 }) => audio_sha256),
  };
}

function scoredAs({ label = 'authentic', scores = scoresOf[label], withoutScore }: MadeOutcome): ScoredRecording {
  const audio = { format: 'wav', codec: 'pcm_s16le', sampleRate: 8000, channels: 1, durationSeconds: 5 };
  const shared = { model: testModel, audio, notes: [], computedMs: 12 };
  if (withoutScore !== undefined) {
    return {
      ...shared,
      state: 'performedWithoutScore',
      voiceSeconds: 0,
      scores: null,
      decision: null,
      reason: withoutScore,
      channelScores: [{ channel: 0, voiceSeconds: 0, scores: null, reason: withoutScore }],
      windows: [{ channel: 0, start: 0, end: 4, label: 'insufficientVoice', scores: null }],
    };
  }
  const windows = [0, 1].map((start) => ({ channel: 0, start, end: start + 4, label: 'validVoice' as const, scores }));
  return {
    ...shared,
    state: 'performed',
    voiceSeconds: 4,
    scores,
    decision: {
      label,
      thresholds: { synthesis: 0.5, replay: 0.4 },
      policy: 'thresholds/2',
      reason: label === 'undecided' ? 'between_thresholds' : null,
      authenticFrom: { synthesis: 0.7, replay: 0.7 },
      falseAcceptance: { synthesis: 0.1, replay: 0.1 },
    },
    reason: null,
    channelScores: [{ channel: 0, voiceSeconds: 4, scores, reason: null }],
    windows,
  };
}
