import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { ResolvedModel } from '../models/registry.ts';
import type { AudioReason } from '../reasons.ts';
import type { DecisionLabel, ScoredRecording } from '../verification.ts';
import type { AnsweredRecording, ModelAnswer } from './drift-report.ts';

const pageRecordings = 5000;

/** A recording of a batch with what is stored of it; an answer is null where the model was never asked. */
export interface StoredAnswers extends Omit<AnsweredRecording, 'old' | 'new'> {
  readonly deleted: boolean;
  old: ModelAnswer | null;
  new: ModelAnswer | null;
}

interface Row extends Record<string, unknown> {
  readonly audioSha256: string;
  readonly line: number;
  readonly source: string;
  readonly items: number;
  readonly deleted: boolean;
  readonly oldState: 'performed' | 'performedWithoutScore' | null;
  readonly oldReason: AudioReason | null;
  readonly oldLabel: DecisionLabel | null;
  readonly oldSynthesis: number | null;
  readonly oldReplay: number | null;
  readonly newState: 'performed' | 'performedWithoutScore' | null;
  readonly newReason: AudioReason | null;
  readonly newLabel: DecisionLabel | null;
  readonly newSynthesis: number | null;
  readonly newReplay: number | null;
}

/** The recordings of a batch in its order, each once, with what both models are stored to have said of them. */
export async function listStoredAnswers(
  db: Queryable,
  batchId: number,
  { old, new: now }: { old: ResolvedModel; new: ResolvedModel },
): Promise<StoredAnswers[]> {
  const answers: StoredAnswers[] = [];
  for (let after = ''; ; after = answers.at(-1)!.audioSha256) {
    const rows = await queryRows<Row>(db, sql('audio/list_drift_recordings'), [
      batchId,
      old.name,
      old.manifestSha256,
      now.name,
      now.manifestSha256,
      after,
      pageRecordings,
    ]);
    answers.push(...rows.map(toAnswers));
    if (rows.length < pageRecordings) return answers.sort((a, b) => a.line - b.line);
  }
}

/** How many items of a batch have no audio, since their file could not be taken. */
export async function countItemsWithoutAudio(db: Queryable, batchId: number): Promise<number> {
  return (await queryRow<{ items: number }>(db, sql('audio/count_items_without_audio'), [batchId]))!.items;
}

/** What a model said, as reports take it. */
export function answerOf({
  state,
  reason,
  decision,
  scores,
}: Pick<ScoredRecording, 'state' | 'reason' | 'decision' | 'scores'>): ModelAnswer {
  return state === 'performed'
    ? { kind: 'scored', label: decision!.label, scores: scores! }
    : { kind: 'withoutScore', reason: reason! };
}

function toAnswers(row: Row): StoredAnswers {
  return {
    audioSha256: row.audioSha256,
    line: row.line,
    source: row.source,
    items: row.items,
    deleted: row.deleted,
    old: storedAnswer({
      state: row.oldState,
      reason: row.oldReason,
      label: row.oldLabel,
      synthesis: row.oldSynthesis,
      replay: row.oldReplay,
    }),
    new: storedAnswer({
      state: row.newState,
      reason: row.newReason,
      label: row.newLabel,
      synthesis: row.newSynthesis,
      replay: row.newReplay,
    }),
  };
}

interface StoredResult {
  readonly state: 'performed' | 'performedWithoutScore' | null;
  readonly reason: AudioReason | null;
  readonly label: DecisionLabel | null;
  readonly synthesis: number | null;
  readonly replay: number | null;
}

function storedAnswer({ state, reason, label, synthesis, replay }: StoredResult): ModelAnswer | null {
  if (state === null) return null;
  return state === 'performed'
    ? { kind: 'scored', label: label!, scores: { synthesis, replay } }
    : { kind: 'withoutScore', reason: reason! };
}
