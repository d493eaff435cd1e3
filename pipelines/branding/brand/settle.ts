import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import {
  nextBrandStep,
  numberMoves,
  type BrandStanding,
  type BrandStep,
  type NumberMove,
  type NumberStanding,
} from './settle-plan.ts';
import {
  BRAND_TRANSITIONS,
  NUMBER_TRANSITIONS,
  transition,
  type BrandAction,
  type BrandState,
  type LetterState,
  type NumberState,
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
  await moveNumbers(client, brandId, { moves: numberMoves(standing.state), phones: null, at, cause });
  await publishNumbers(client, brandId);
  return standing.state;
}

async function publishNumbers(client: Queryable, brandId: number): Promise<void> {
  const gone = await queryRows<{ phone: string }>(client, sql('branding/publish_numbers'), [brandId]);
  if (gone.length > 0)
    await client.query(sql('branding/withdraw_live_numbers'), [brandId, gone.map(({ phone }) => phone)]);
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

/**
 * Moves numbers of a brand, all or those that are named, by the first of the moves that fits the state and the standing of each. Every
 * statement names its numbers, so that its plan is one look-up a number whatever the planner knows of tables that this transaction fills.
 */
export async function moveNumbers(
  client: Queryable,
  brandId: number,
  {
    moves,
    phones,
    at,
    cause,
  }: { moves: readonly NumberMove[]; phones: readonly string[] | null; at: Date; cause: Omit<Cause, 'reason'> },
): Promise<void> {
  const byStanding = new Map<string, { readonly move: NumberMove; readonly from: NumberState; phones: string[] }>();
  for (const move of moves)
    for (const from of move.from)
      for (const standing of move.standing)
        if (!byStanding.has(`${from} ${standing}`)) byStanding.set(`${from} ${standing}`, { move, from, phones: [] });
  if (byStanding.size === 0) return;
  const states = new Set([...byStanding.values()].map(({ from }) => from));
  const values = [brandId, phones, at, [...states], [...byStanding.keys()]];
  const numbers = await queryRows<{ phone: string; state: NumberState; standing: NumberStanding }>(
    client,
    sql('branding/list_number_standings'),
    values,
  );
  for (const { phone, state, standing } of numbers) byStanding.get(`${state} ${standing}`)!.phones.push(phone);
  for (const { move, from, phones: moved } of byStanding.values()) {
    if (moved.length === 0) continue;
    const { to } = NUMBER_TRANSITIONS.actions[move.action];
    const why = causeValues({ ...cause, reason: move.reason });
    await client.query(sql('branding/move_numbers'), [brandId, moved, from, to, move.action, ...why, at]);
  }
}
