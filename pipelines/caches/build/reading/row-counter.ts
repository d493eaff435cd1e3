import { endOfPrefix } from '../../../../format/artefact/key-range.ts';
import type { LevelCounts } from '../../../../format/artefact/levels.ts';
import type { Segment } from '../../../../format/artefact/segment-index.ts';
import { queryRows, type Queryable } from '../../../../runtime/postgres.ts';
import { sql } from '../../../../sql/sql.ts';
import type { ArtefactName } from '../../definition.ts';
import type { RowCounts } from '../plan/build-plan.ts';
import { neighbouringRegions, rowsUnder } from '../plan/dirty-regions.ts';

/** The rows whose phones begin with a prefix. */
export interface RegionCount extends RowCounts {
  readonly prefix: string;
}

/** Counts rows of an artefact by SQL. */
export class RowCounter {
  readonly #db: Queryable;
  readonly #artefact: ArtefactName;
  readonly #evaluatedAt: Date;

  constructor(db: Queryable, artefact: ArtefactName, evaluatedAt: Date) {
    this.#db = db;
    this.#artefact = artefact;
    this.#evaluatedAt = evaluatedAt;
  }

  /** Of the regions that have rows, or had some in the segments of the basis. */
  async countRegions(segments: readonly Segment[], prefixes: readonly string[]): Promise<RegionCount[]> {
    const counted: RegionCount[] = [];
    const statement = statements[this.#artefact.cache].ranges;
    for (const run of neighbouringRegions(segments, prefixes)) {
      const counts = sumRanges(await this.#query(statement, [run, run.map(endOfPrefix)]), run.length);
      counted.push(...run.map((prefix, at) => ({ prefix, ...counts[at]! })));
    }
    return counted.filter(({ prefix, rows }) => rows > 0 || rowsUnder(segments, prefix) > 0);
  }

  /** Of all keys, or of these together. */
  async countRows(keys: readonly string[] | null): Promise<RowCounts> {
    if (keys?.length === 0) return { rows: 0, levels: {} };
    return sumRanges(await this.#query(statements[this.#artefact.cache].rows, [keys]), 1)[0]!;
  }

  #query(statement: string, parameters: readonly unknown[]): Promise<RangeCount[]> {
    const { cache, country } = this.#artefact;
    const first = { phones: [country], branded_phones: [this.#evaluatedAt], spammer_phones: [], spam_ranges: [] }[
      cache
    ];
    return queryRows<RangeCount>(this.#db, sql(statement), [...first, ...parameters]);
  }
}

/** A row of the statements that count. */
interface RangeCount {
  /** From 1. */
  readonly range: number;
  readonly level: keyof LevelCounts | null;
  readonly rows: number;
}

function sumRanges(rows: readonly RangeCount[], ranges: number): RowCounts[] {
  const counts = Array.from({ length: ranges }, () => ({ rows: 0, levels: {} as LevelCounts }));
  for (const { range, level, rows: counted } of rows) {
    const count = counts[range - 1]!;
    count.rows += counted;
    if (level !== null) count.levels[level] = counted;
  }
  return counts;
}

const statements = {
  phones: { rows: 'caches/count_profile_phones', ranges: 'caches/count_profile_phones_by_range' },
  branded_phones: { rows: 'caches/count_branded_phones', ranges: 'caches/count_branded_phones_by_range' },
  spammer_phones: { rows: 'caches/count_spammer_phones', ranges: 'caches/count_spammer_phones_by_range' },
  spam_ranges: { rows: 'caches/count_spam_ranges', ranges: 'caches/count_spam_ranges_by_range' },
} as const;
