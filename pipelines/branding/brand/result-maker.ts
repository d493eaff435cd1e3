import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { Finding } from '../finding.ts';
import type { NumberClaims } from './number-claims.ts';
import type { OperationKind } from '../operation.ts';
import { rejectsShownMax, type NumbersResult, type OperationResult, type PublicFinding } from '../operation-result.ts';
import type { BrandState, LetterState, NumberState } from '../states.ts';

interface ResultRow {
  brand: Omit<OperationResult['brand'], 'findings'> & { findings: Finding[] };
  letter: {
    letterId: number;
    state: LetterState;
    ruleVersion: string;
    signedOn: string | null;
    validUntil: Date | null;
  } | null;
}

/** The answer to a request, read from the brand at the end of its transaction. */
export async function makeResult(
  client: Queryable,
  {
    brandId,
    letterId,
    claims,
    kind,
  }: { brandId: number; letterId: number | null; claims: NumberClaims; kind: OperationKind },
): Promise<OperationResult> {
  const { brand, letter } = (await queryRow<ResultRow>(client, sql('branding/read_result'), [brandId, letterId]))!; // the caller holds the brand
  const numbers = claims.rows.length === 0 ? null : await numbersResult(client, brandId, claims);
  return {
    schema: 'caller-trust/branding-result/1',
    outcome: operationOutcomeOf({
      brand: brand.state,
      pending: brand.pendingRevision !== null && kind !== 'add_phone_number',
      letter: letter?.state ?? null,
      numbers,
    }),
    brand: { ...brand, findings: brand.findings.map(publicFinding) },
    letter: letter && {
      ...letter,
      validUntil: letter.validUntil?.toISOString() ?? null,
      findings: await listFindings(client, letter.letterId),
    },
    numbers,
  };
}

/** The outcome of the operation by the states of all resources. */
function operationOutcomeOf({
  brand,
  pending,
  letter,
  numbers,
}: {
  brand: BrandState;
  pending: boolean;
  letter: LetterState | null;
  numbers: NumbersResult | null;
}): OperationResult['outcome'] {
  if (letter === 'rejected' || brand === 'rejected') return 'rejected';
  if (numbers !== null && refusedAll(numbers)) return 'rejected';
  if (letter === 'in_review' || brand === 'in_review' || (numbers?.states.in_review ?? 0) > 0) return 'in_review';
  if (brand === 'draft' || brand === 'suspended' || (brand === 'expired' && !pending)) return 'accepted';
  return pending ? 'in_review' : 'approved';
}

function refusedAll({ given, rejected, states }: NumbersResult): boolean {
  return rejected + (states.unsuccessful ?? 0) >= given;
}

/** The findings of a letter, without the text that they were read from. */
export function listFindings(db: Queryable, letterId: number): Promise<PublicFinding[]> {
  return queryRows<PublicFinding>(db, sql('branding/list_findings'), [letterId]);
}

/** A finding without the text that it was read from. */
export function publicFinding({ code, severity, message, place }: Finding): PublicFinding {
  return { code, severity, message, page: place?.page ?? null, line: place?.line ?? null };
}

async function numbersResult(client: Queryable, brandId: number, { rows }: NumberClaims): Promise<NumbersResult> {
  const count = (outcome: string) => rows.filter((row) => row.outcome === outcome).length;
  const own = rows.filter(({ outcome }) => outcome === 'accepted' || outcome === 'known').map(({ phone }) => phone);
  const states = await queryRows<{ state: NumberState; count: number }>(client, sql('branding/count_brand_numbers'), [
    brandId,
    own,
  ]);
  const refused = rows.filter(({ outcome }) => outcome !== 'accepted' && outcome !== 'known');
  return {
    given: rows.length,
    accepted: count('accepted'),
    known: count('known'),
    rejected: refused.length,
    states: Object.fromEntries(states.map(({ state, count: numbers }) => [state, numbers])),
    rejects: refused
      .slice(0, rejectsShownMax)
      .map(({ line, phone, outcome: code, reason }) => ({ line, phone, code, reason })),
  };
}
