import {
  listOperationRows,
  type OperationKind,
  type OperationRow,
  type operationTitles,
} from '../../pipelines/branding/operation.ts';
import { formatSheetField } from '../../pipelines/rows/csv-field.ts';
import type { OperationResult } from '../../pipelines/branding/operation-result.ts';
import type { ErrorCode } from '../../runtime/errors.ts';
import { queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { requestBranding } from '../../jobs/queues/branding-producer.ts';
import type { Listed } from './json.ts';

export type { OperationKind };

/** The titles, which the pages repeat: their type makes the compiler compare them. */
export type OperationTitles = typeof operationTitles;
export type { OperationRow };
export type { Operation } from '../../pipelines/branding/operation.ts';

/** The outcome of an operation, or its state before the outcome. */
export const OPERATION_STANDINGS = [
  'queued',
  'approved',
  'in_review',
  'accepted',
  'rejected',
  'failed',
] as const satisfies readonly (OperationResult['outcome'] | 'queued' | 'failed')[];

export type OperationStanding = (typeof OPERATION_STANDINGS)[number];

/** An operation in a list. */
export interface OperationSummary {
  readonly operationId: number;
  readonly kind: OperationKind;
  readonly owner: string;
  readonly handle: string;
  readonly requestedBy: string;
  readonly requestedAt: Date;
  readonly standing: OperationStanding;
  readonly failureCode: ErrorCode | null;
  readonly hasLetter: boolean;
  readonly numbers: number | null;
}

/** Filters of a list of operations. */
interface OperationFilter {
  readonly before?: number | undefined;
  /** Null for all. */
  readonly owners: readonly string[] | null;
  readonly standing?: string | undefined;
  readonly handle?: string | undefined;
  readonly limit: number;
}

/** Operations, newest first. */
export async function listOperations(
  db: Queryable,
  { before, owners, standing, handle, limit }: OperationFilter,
): Promise<OperationSummary[]> {
  return queryRows<OperationSummary>(db, sql('console/list_operations'), [
    before ?? null,
    owners,
    standing ?? null,
    handle ?? null,
    limit,
  ]);
}

/** Rows per read while writing a file. */
const rowsRead = 1000;

/** Streams the refused rows of an operation as CSV (RFC 4180) with a header. */
export async function* writeRejects(db: Queryable, operationId: number): AsyncGenerator<string> {
  yield 'line,phone,code,reason\r\n';
  for (let after = 0; ;) {
    const rows = await listOperationRows(db, operationId, { refused: true, after, limit: rowsRead });
    yield rows
      .map(
        ({ line, phone, outcome, reason }) =>
          `${[line, phone ?? '', outcome, reason].map(formatSheetField).join(',')}\r\n`,
      )
      .join('');
    if (rows.length < rowsRead) return;
    after = rows.at(-1)!.line;
  }
}

/** A request for branding that was accepted. */
export type AcceptedRequest = Awaited<ReturnType<typeof requestBranding>>;

/** Rows of a request, in its order. */
export type OperationRowPage = Listed & { readonly rows: readonly OperationRow[] };

/** Requests for branding, newest first. */
export type OperationSummaryPage = Listed & { readonly operations: readonly OperationSummary[] };
