import type { Scores } from '../verification.ts';
import type { VerificationRecord } from './stored-verifications.ts';
import { nextStepOf } from '../next-step.ts';
import { formatSheetField } from '../../rows/csv-field.ts';

type CsvValue = string | number | boolean | null | undefined;

/** Columns of results as CSV. */
const columns: readonly (readonly [string, (record: VerificationRecord) => CsvValue])[] = [
  ['line', ({ line }) => line],
  ['source', ({ source }) => source],
  ['state', ({ state }) => state],
  ['synthesis', ({ scores }) => roundScore(scores, 'synthesis')],
  ['replay', ({ scores }) => roundScore(scores, 'replay')],
  ['decision', ({ decision }) => decision?.label],
  ['next_step', nextStepOf],
  ['reason', ({ reason }) => reason],
  ['reason_detail', ({ reasonDetail }) => reasonDetail],
  ['requested_model', ({ requestedModel }) => requestedModel],
  ['model', ({ model }) => model],
  ['sha256', ({ audio }) => audio?.sha256],
  ['sample_rate', ({ audio }) => audio?.sampleRate],
  ['channels', ({ audio }) => audio?.channels],
  ['duration', ({ audio }) => audio?.duration],
  ['voice_duration', ({ audio }) => audio?.voiceDuration],
  ['reused', ({ reused }) => reused],
  ['attempts', ({ attempts }) => attempts],
  ['id', ({ id }) => id],
  ['notes', ({ notes }) => notes.join(' ')],
];

/** First line of results as CSV. */
export const resultsHeader = `${columns.map(([name]) => name).join(',')}\n`;

/** Results as lines of CSV (RFC 4180), in the columns of {@link resultsHeader}. */
export function formatResults(records: readonly VerificationRecord[]): string {
  return records.map((record) => `${columns.map(([, value]) => formatSheetField(value(record))).join(',')}\n`).join('');
}

/** A score with six digits, or null. */
function roundScore(scores: Scores | null, name: keyof Scores): number | null {
  const score = scores?.[name] ?? null;
  return score === null ? null : Number(score.toFixed(6));
}
