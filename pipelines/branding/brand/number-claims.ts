import { queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { NumberRow } from '../number-list.ts';
import type { OperationRecord } from '../operation.ts';
import { causeValues, type Cause } from './settle.ts';
import { allows, NUMBER_TRANSITIONS, type NumberState } from '../states.ts';

/** The outcomes of a row of numbers, besides the codes of rows that name no number. Closed list. */
export const NUMBER_OUTCOMES = {
  accepted: 'The number was submitted with the brand.',
  known: 'The brand has this number already; it is not verified again.',
  number_repeated: 'An earlier row of the request names this number.',
  number_of_other_brand: 'Another live brand has this number.',
  number_permanently_rejected: 'This number was permanently rejected.',
} as const satisfies Record<string, string>;

/** A row with its outcome. */
export interface ClaimedRow {
  readonly line: number;
  readonly phone: string | null;
  readonly country: string | null;
  /** State that the number had with the brand. */
  readonly before: NumberState | null;
  readonly outcome: keyof typeof NUMBER_OUTCOMES | (string & {});
  readonly reason: string;
}

/** The outcomes of a request's numbers. */
export interface NumberClaims {
  readonly rows: readonly ClaimedRow[];
  /** Each number of the request once, in order, whatever its outcome. */
  readonly phones: readonly string[];
  readonly ofOtherBrands: readonly string[];
}

interface Conflict {
  phone: string;
  ownState: NumberState | null;
  ofOtherBrand: boolean;
  permanentlyRejected: boolean;
}

/** The outcome of each row, under the lock of claims. */
export async function judgeClaims(
  client: Queryable,
  brandId: number,
  rows: readonly NumberRow[],
): Promise<NumberClaims> {
  const phones = [...new Set(rows.flatMap(({ phone }) => (phone === null ? [] : [phone])))];
  const conflicts = new Map(
    (await queryRows<Conflict>(client, sql('branding/find_number_conflicts'), [brandId, phones])).map((conflict) => [
      conflict.phone,
      conflict,
    ]),
  );
  const seen = new Set<string>();
  const judged = rows.map((row): ClaimedRow => {
    if (row.phone === null)
      return { line: row.line, phone: null, country: null, before: null, outcome: row.code, reason: row.reason };
    const conflict = conflicts.get(row.phone);
    const outcome = seen.has(row.phone) ? 'number_repeated' : judgeConflict(conflict);
    seen.add(row.phone);
    return {
      line: row.line,
      phone: row.phone,
      country: row.country,
      before: conflict?.ownState ?? null,
      outcome,
      reason: NUMBER_OUTCOMES[outcome],
    };
  });
  return { rows: judged, phones, ofOtherBrands: phones.filter((phone) => conflicts.get(phone)?.ofOtherBrand === true) };
}

function judgeConflict(conflict: Conflict | undefined): keyof typeof NUMBER_OUTCOMES {
  if (conflict === undefined) return 'accepted';
  if (conflict.permanentlyRejected) return 'number_permanently_rejected';
  if (conflict.ofOtherBrand) return 'number_of_other_brand';
  return conflict.ownState === null || allows(NUMBER_TRANSITIONS, conflict.ownState, 'submit') ? 'accepted' : 'known';
}

/** Submits the accepted numbers with the brand, and stores every row with its outcome. */
export async function claimNumbers(
  client: Queryable,
  {
    brandId,
    operation,
    claims,
    cause,
  }: { brandId: number; operation: OperationRecord; claims: NumberClaims; cause: Cause },
): Promise<void> {
  const { rows } = claims;
  if (rows.length === 0) return;
  const accepted = rows.filter(({ outcome }) => outcome === 'accepted');
  await client.query(sql('branding/submit_numbers'), [
    brandId,
    accepted.map(({ phone }) => phone),
    accepted.map(({ country }) => country),
    accepted.map(({ before }) => before),
    operation.request.callReason,
    ...causeValues(cause),
  ]);
  await client.query(sql('branding/insert_operation_rows'), [
    operation.operationId,
    rows.map(({ line }) => line),
    rows.map(({ phone }) => phone),
    rows.map(({ outcome }) => outcome),
    rows.map(({ reason }) => reason),
  ]);
}
