import { createReadStream } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isServiceError, ServiceError } from '../../runtime/errors.ts';
import { readFeedRows, type RowFormat } from '../../pipelines/rows/feed-rows.ts';

/** The true class of a recording. */
export const TRIAL_LABELS = ['bonafide', 'synthetic', 'replay'] as const;

export type TrialLabel = (typeof TRIAL_LABELS)[number];

/** Trials of speaker verification in addition to the detector: of the claimed person, or of another. */
const SPEAKER_TRIALS = ['target', 'nontarget'] as const;

/** A recording of a test set in its index. Missing text is ''. */
export interface IndexRow {
  readonly line: number;
  /** As written in the index. */
  readonly path: string;
  readonly file: string;
  readonly label: TrialLabel;
  readonly channel: string;
  readonly speaker: string;
  /** '' for a live voice. */
  readonly synthesizer: string;
  readonly codec: string;
  /** Kind of attack, as the authors of the set name it: `classic`, `neural, unseen` ... */
  readonly attack: string;
  /** Part of a corpus, or source. */
  readonly set: string;
  /** Label of the replayed recording. */
  readonly baseLabel: 'bonafide' | 'synthetic' | '';
  readonly snrDb: number | null;
  /** Score of speaker verification, higher for the claimed person, and the kind of trial of a bonafide recording. */
  readonly asvScore: number | null;
  readonly asvTrial: (typeof SPEAKER_TRIALS)[number] | '';
}

/** Most recordings of an index. */
const indexRowsMax = 1_000_000;

const required = ['path', 'label', 'channel', 'speaker', 'synthesizer', 'codec'] as const;
const optional = ['attack', 'set', 'base_label', 'snr_db', 'asv_score', 'asv_trial'] as const;
type Column = (typeof required)[number] | (typeof optional)[number];
const columns = [...required, ...optional];
const indexFormat = {
  columns: columns.map((name) => ({
    names: name === 'set' ? ['set', 'source'] : [name],
    required: required.some((each) => each === name),
  })),
  headerOptional: false,
  personal: false,
} as unknown as RowFormat; // each list of names has one name at least

/**
 * Reads the index of a test set: CSV or TSV with a header. Other columns and empty lines are ignored.
 * @throws ServiceError `index_invalid`, with the line
 */
export async function readIndex(file: string): Promise<IndexRow[]> {
  const rows: IndexRow[] = [];
  const lineOf = new Map<string, number>();
  const folder = dirname(resolve(file));
  try {
    for await (const batch of readFeedRows(createReadStream(file), indexFormat)) {
      for (const row of batch) {
        if ('refusal' in row) {
          if (row.refusal.code === 'line_empty') continue;
          throw invalidTestIndex(row.line, row.refusal.reason);
        }
        const parsed = readRow(row.line, row.values, folder);
        const before = lineOf.get(parsed.file);
        if (before !== undefined) throw invalidTestIndex(row.line, `The same path is on line ${before}.`);
        lineOf.set(parsed.file, row.line);
        rows.push(parsed);
        if (rows.length > indexRowsMax)
          throw invalidTestIndex(row.line, `The index has more than ${indexRowsMax} recordings.`);
      }
    }
  } catch (error) {
    if (isServiceError(error, 'feed_header_invalid') || isServiceError(error, 'feed_encoding_invalid'))
      throw invalidTestIndex(1, error.problem);
    if (!isServiceError(error))
      throw new ServiceError('index_invalid', {
        operation: 'read index',
        problem: 'The index cannot be read.',
        cause: error,
      });
    throw error;
  }
  if (rows.length === 0) throw invalidTestIndex(1, 'The index names no recording.');
  return rows;
}

function readRow(line: number, values: readonly string[], folder: string): IndexRow {
  const text = (name: Column) => (values[columns.indexOf(name)] ?? '').trim();
  const path = text('path');
  if (path === '' || path.includes('\0')) throw invalidTestIndex(line, 'The path is empty.');
  const label = oneOf(line, 'label', text('label'), TRIAL_LABELS);
  const channel = text('channel');
  if (channel === '') throw invalidTestIndex(line, 'The channel is empty.');
  const baseLabel =
    text('base_label') === '' ? '' : oneOf(line, 'base_label', text('base_label'), ['bonafide', 'synthetic'] as const);
  const synthesizer = text('synthesizer');
  return {
    line,
    path,
    file: resolve(folder, path),
    label,
    channel,
    speaker: text('speaker'),
    synthesizer: label === 'bonafide' ? '' : label === 'synthetic' && synthesizer === '' ? 'unnamed' : synthesizer,
    codec: text('codec'),
    attack: label === 'bonafide' ? '' : text('attack'),
    set: text('set'),
    baseLabel,
    snrDb: numberOf(line, 'snr_db', text('snr_db')),
    asvScore: numberOf(line, 'asv_score', text('asv_score')),
    asvTrial: text('asv_trial') === '' ? '' : oneOf(line, 'asv_trial', text('asv_trial'), SPEAKER_TRIALS),
  };
}

function oneOf<const Value extends string>(line: number, name: Column, text: string, values: readonly Value[]): Value {
  const value = values.find((each) => each === text);
  if (value === undefined) throw invalidTestIndex(line, `The column ${name} must be one of ${values.join(', ')}.`);
  return value;
}

function numberOf(line: number, name: Column, text: string): number | null {
  if (text === '') return null;
  const value = Number(text);
  if (!Number.isFinite(value)) throw invalidTestIndex(line, `The column ${name} must be a number.`);
  return value;
}

function invalidTestIndex(line: number, problem: string): ServiceError {
  const hint = `An index is a CSV with the columns ${required.join(', ')}; docs/evaluation.md has more.`;
  return new ServiceError('index_invalid', { operation: 'read index', object: `line ${line}`, problem, hint });
}
