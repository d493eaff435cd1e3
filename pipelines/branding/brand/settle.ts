import { queryRow, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { nextBrandStep, numberMoves, type BrandStanding, type BrandStep, type NumberMove } from './settle-plan.ts';
import {
  BRAND_TRANSITIONS,
  NUMBER_TRANSITIONS,
  transition,
  type BrandAction,
  type BrandState,
  type LetterState,
} from '../states.ts';

/** The actor and the reason of a change, for the audit trail. */
export interface Cause {
  readonly actor: string;
  readonly reason: string;
  readonly operationId: number | null;
}

/** The parameters of a statement that records a cause, in its order. */
export function causeValues({ actor, reason, operationId }: Cause): [string, string, number | null] {
  return [actor, reason, operationId];
}

interface NumberStandingRow {
  handle: string;
  state: BrandState;
  pendingRevision: number | null;
  needsDecision: boolean | null;
  pendingLetter: LetterState | null;
  letterInForce: boolean;
}

/** A brand takes at most submit, review, approve, and the end of a revision. */
const stepsMax = 8;

/**
 * Brings a brand, its numbers and its live branded numbers to the states that follow from its letters and decisions. Letters must be
 * in date at `at`. Inside a transaction that holds the lock of the brand.
 */
export async function settleBrand(
  client: Queryable,
  brandId: number,
  { at, cause }: { at: Date; cause: Cause },
): Promise<BrandState> {
  let standing = await readStanding(client, brandId, at);
  for (let steps = 0; steps < stepsMax; steps++) {
    const step = nextBrandStep(standingOf(standing));
    if (step === null) break;
    await takeStep(client, { brandId, standing, step, cause });
    standing = await readStanding(client, brandId, at);
  }
  for (const move of numberMoves(standing.state))
    await moveNumbers(client, brandId, { ...move, phones: null, at, cause: { ...cause, reason: move.reason } });
  await client.query(sql('branding/publish_numbers'), [brandId]);
  return standing.state;
}

async function readStanding(client: Queryable, brandId: number, at: Date): Promise<NumberStandingRow> {
  return (await queryRow<NumberStandingRow>(client, sql('branding/read_brand_standing'), [brandId, at]))!; // the caller holds its lock
}

function standingOf(row: NumberStandingRow): BrandStanding {
  const pending =
    row.pendingRevision === null ? null : { letter: row.pendingLetter, needsDecision: row.needsDecision === true };
  return { state: row.state, pending, letterInForce: row.letterInForce };
}

async function takeStep(
  client: Queryable,
  { brandId, standing, step, cause }: { brandId: number; standing: NumberStandingRow; step: BrandStep; cause: Cause },
): Promise<void> {
  if (step.kind === 'brand')
    await moveBrand(
      client,
      { brandId, handle: standing.handle, state: standing.state },
      { action: step.action, cause },
    );
  else await endRevision(client, brandId, { approve: step.action === 'approve', cause });
}

/** Moves a brand by its table. @throws ServiceError `transition_refused` */
export async function moveBrand(
  client: Queryable,
  brand: { brandId: number; handle: string; state: BrandState },
  { action, cause }: { action: BrandAction; cause: Cause },
): Promise<BrandState> {
  const to = transition(BRAND_TRANSITIONS, brand.state, { action, object: brand.handle });
  await client.query(sql('branding/set_brand_state'), [brand.brandId, to, action, ...causeValues(cause)]);
  return to;
}

/** Publishes or drops the pending revision of a brand that was approved before. */
export async function endRevision(
  client: Queryable,
  brandId: number,
  { approve, cause }: { approve: boolean; cause: Cause },
): Promise<void> {
  const action = approve ? 'approve_revision' : 'reject_revision';
  await client.query(sql('branding/end_revision'), [brandId, approve, action, ...causeValues(cause)]);
}

/** Moves numbers of a brand that are in the given states and standings. */
export async function moveNumbers(
  client: Queryable,
  brandId: number,
  {
    action,
    from,
    standing,
    phones,
    at,
    cause,
  }: Omit<NumberMove, 'reason'> & { phones: readonly string[] | null; at: Date; cause: Cause },
): Promise<void> {
  const allowed = from.filter((state) => NUMBER_TRANSITIONS.actions[action].from.includes(state as never));
  const { to } = NUMBER_TRANSITIONS.actions[action];
  await client.query(sql('branding/move_numbers'), [
    brandId,
    phones,
    allowed,
    standing,
    to,
    action,
    ...causeValues(cause),
    at,
  ]);
}
