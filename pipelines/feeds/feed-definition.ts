import type { FeedOptions } from './feed-options.ts';
import type { DateForm } from './feed-dates.ts';
import type { Refusal } from '../rows/reject.ts';
import type { RowFormat } from '../rows/feed-rows.ts';

/** A published category and its level. */
export interface Category {
  readonly id: number;
  readonly name: string;
  readonly level: string;
}

/** The input of a judge besides the rows; the same each time that a load runs. */
export interface JudgeOptions {
  readonly categories: readonly Category[];
  /** No complaint is later than the submission of its feed. */
  readonly submittedAt: Date;
  readonly options: FeedOptions;
  /** Order of the parts of dates with slashes, or serial numbers; null if the file has none. */
  readonly dateForm: DateForm | null;
}

/** COPY text of an accepted row (its staging columns but the line number, between tabs), or why it is refused. */
export type RowJudge = (values: readonly string[]) => string | Refusal;

/** A feed: the format of its rows, their judge, and the statements of sql/feeds that stage and merge them. */
export interface FeedDefinition {
  readonly name: string;
  readonly format: RowFormat;
  readonly stagingTable: string;
  /** Creates the staging table, which is dropped at the end of the transaction. */
  readonly createStaging: string;
  /** Columns of the staging table in the order of the judge's values; the line number follows. */
  readonly stagingColumns: readonly string[];
  readonly makeJudge: (options: JudgeOptions) => RowJudge;
  /** Places of the columns of dates among a row's values. */
  readonly dateColumns: readonly number[];
  /** Counts the staging table for the gates; takes the time of submission and the days after which a complaint does not count. */
  readonly measure: string;
  /** Merges the staging table; takes the load id, returns one row: rows_superseded, rows_changed, labels_withheld. */
  readonly merge: string;
}
