import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { ResolvedModel } from '../models/registry.ts';
import type { ScoredRecording } from '../verification.ts';
import type { AnsweredRecording, ModelAnswer } from './drift-report.ts';

const pageRecordings = 5000;

/** A recording of a batch with the stored answers of both models; null where a model has not scored it. */
export interface StoredAnswers extends Omit<AnsweredRecording, 'old' | 'new'> {
  readonly deleted: boolean;
  old: ModelAnswer | null;
  new: ModelAnswer | null;
}

type StoredResult = Parameters<typeof modelAnswerOf>[0];

type StoredRow = Omit<StoredAnswers, 'old' | 'new'> & {
  readonly old: StoredResult | null;
  readonly new: StoredResult | null;
};

/** The recordings of a batch in its order, each once, with the stored answers of both models. */
export async function listStoredAnswers(
  db: Queryable,
  batchId: number,
  { old, new: now }: { old: ResolvedModel; new: ResolvedModel },
): Promise<StoredAnswers[]> {
  const answers: StoredAnswers[] = [];
  for (let after = ''; ; after = answers.at(-1)!.audioSha256) {
    const rows = await queryRows<StoredRow>(db, sql('audio/list_drift_recordings'), [
      batchId,
      old.name,
      old.manifestSha256,
      now.name,
      now.manifestSha256,
      after,
      pageRecordings,
    ]);
    answers.push(
      ...rows.map((row) => ({
        ...row,
        old: row.old && modelAnswerOf(row.old),
        new: row.new && modelAnswerOf(row.new),
      })),
    );
    if (rows.length < pageRecordings) return answers.sort((a, b) => a.line - b.line);
  }
}

/** How many items of a batch have no audio, since their file was refused. */
export async function countItemsWithoutAudio(db: Queryable, batchId: number): Promise<number> {
  return (await queryRow<{ items: number }>(db, sql('audio/count_items_without_audio'), [batchId]))!.items;
}

/** The answer of a model in the form of reports. */
export function modelAnswerOf({
  state,
  reason,
  decision,
  scores,
}: Pick<ScoredRecording, 'state' | 'reason' | 'decision' | 'scores'>): ModelAnswer {
  return state === 'performed'
    ? { kind: 'scored', label: decision!.label, scores: scores! }
    : { kind: 'withoutScore', reason: reason! };
}
