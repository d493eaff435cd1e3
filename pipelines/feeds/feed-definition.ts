import type { FeedOptions } from './feed-options.ts';
import type { DateForm } from './feed-dates.ts';
import type { Refusal } from '../rows/reject.ts';
import type { RowFormat } from '../rows/feed-rows.ts';
import type { Queryable } from '../../runtime/postgres.ts';
import type { FeedMeasures } from './load-gates.ts';
import type { SeenNumbers } from './seen-numbers.ts';

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
  /** Takes the number of each accepted row, of feeds in which the last line of a number counts. */
  readonly numbers: SeenNumbers;
  /** Order of the parts of dates with slashes, or serial numbers; null if the file has none. */
  readonly dateForm: DateForm | null;
}

/** COPY text of an accepted row (its staging columns but the line number, between tabs), or why it is refused. */
export type RowJudge = (values: readonly string[]) => string | Refusal;

/** A feed: the format of its rows, their judge, its staging table, and how the staged rows are measured and merged. */
export interface FeedDefinition {
  readonly name: string;
  readonly format: RowFormat;
  /** Creates the staging table `feed_staging`, which is dropped at the end of the transaction. */
  readonly createStaging: string;
  /** Columns of the staging table in the order of the judge's values; the line number follows. */
  readonly stagingColumns: readonly string[];
  readonly makeJudge: (options: JudgeOptions) => RowJudge;
  /** Places of the columns of dates among a row's values. */
  readonly dateColumns: readonly number[];
  /** Measures the staged rows. The numbers that it compares them with do not change before the transaction ends. */
  readonly measure: (client: Queryable, load: StagedLoad) => Promise<MeasuredFeed>;
}

/** A load whose rows are staged. */
export interface StagedLoad {
  readonly loadId: number;
  readonly requestedAt: Date;
  /** False if no two rows have the same number, in feeds in which the last line of one counts. */
  readonly mayRepeat: boolean;
}

/** The staged rows, measured: what gates judge, and the merge that follows unless they hold the load. */
export interface MeasuredFeed {
  readonly measures: Omit<FeedMeasures, 'given' | 'accepted'>;
  /** Complaints that are too old to count. */
  readonly rowsTooOld?: number;
  readonly merge: () => Promise<MergedRows>;
}

/** What a merge did. */
export interface MergedRows {
  /** Rows of the database that were inserted or changed. */
  readonly rowsChanged: number;
  /** Staged rows that a later line of the same number overrides. */
  readonly rowsSuperseded?: number;
  /** Labels for protected numbers, also unchanged ones. */
  readonly labelsWithheld?: number;
}
