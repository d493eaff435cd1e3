import type { Config } from '../../../runtime/config.ts';
import { ServiceError, type ErrorCode, isServiceError } from '../../../runtime/errors.ts';
import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { ApprovalPolicy } from '../decision/letter-form-rules.ts';
import { approveProvenLetters } from './letter-proof.ts';
import { letterRuleVersion } from '../letter/rules/letter-rules.ts';
import { inBrandTransaction, lockBrand, type LockedBrand } from '../brand/locked-brand.ts';
import { hashCode, isCode, makeCode } from './proof-code.ts';
import { planProofs } from './proof-plan.ts';
import { settleBrand } from '../brand/settle.ts';
import type { CodeCaller } from './code-caller.ts';
import type { NumberState } from '../states.ts';

/** Limits of proofs by calls. */
export const proofLimits = {
  /** A code has 8 digits: with 5 tries and 3 calls a day, guessing proves a number once in 6.7 million days. */
  codeTriesMax: 5,
  /** Of one number, for all requesters together: strangers' requests cannot have it called more often. */
  callsPerDayMax: 3,
  /** Of one brand. */
  proofsOpenMax: 100,
  /** Validity of a code. */
  codeMinutes: 30,
  /** Days for which a proof counts: a year, since numbers change hands. */
  proofDays: 365,
} as const;

/** The limits that tests lower, and a setting. */
export type ProofLimits = Pick<Config, 'numberBlockCalls'> & {
  readonly callsPerDayMax?: number;
  readonly proofsOpenMax?: number;
};

/** The proof of a number, and its open proof. */
export interface NumberProofStatus {
  readonly phone: string;
  readonly state: NumberState;
  /** Until when its proof is valid; null if it has none. */
  readonly provenUntil: Date | null;
  /** The open proof; null if there is none. */
  readonly pending: {
    readonly proofId: number;
    /**
     * The number's own call; null where others of its block are called. `placedAt` and `expiresAt` are null until the caller has
     * accepted it.
     */
    readonly call: {
      readonly placedAt: Date | null;
      readonly expiresAt: Date | null;
      readonly triesLeft: number;
      readonly confirmed: boolean;
    } | null;
  } | null;
}

interface ProofRow {
  phone: string;
  state: NumberState;
  provenUntil: Date | null;
  proofId: number | null;
  callId: number | null;
  placedAt: Date | null;
  expiresAt: Date | null;
  tries: number;
  confirmedAt: Date | null;
  drawnBefore: boolean;
  callsOfDay: number;
}

/** States of a number that a brand has or claims. */
const provableStates: ReadonlySet<NumberState> = new Set(['submitted', 'in_review', 'verified', 'suspended']);

/** Numbers of a brand in ascending order with their proofs, after one of them, or those that are named. */
export async function listNumberProofs(
  db: Queryable,
  brandId: number,
  options: { phones?: readonly string[]; after?: string; limit?: number },
): Promise<NumberProofStatus[]> {
  const rows = await listRows(db, brandId, options);
  return rows.map(({ phone, state, provenUntil, proofId, callId, placedAt, expiresAt, tries, confirmedAt }) => {
    const call = { placedAt, expiresAt, triesLeft: proofLimits.codeTriesMax - tries, confirmed: confirmedAt !== null };
    const pending = proofId === null ? null : { proofId, call: callId === null ? null : call };
    return { phone, state, provenUntil, pending };
  });
}

async function listRows(
  db: Queryable,
  brandId: number,
  { phones, after = '', limit = 1_000_000 }: { phones?: readonly string[] | undefined; after?: string; limit?: number },
): Promise<ProofRow[]> {
  return queryRows<ProofRow>(db, sql('branding/list_number_proofs'), [brandId, phones ?? null, after, limit]);
}

/** A proof that was started, with the numbers that will be called. */
interface StartedProof {
  readonly proofId: number;
  /** Numbers that it covers. */
  readonly numbers: number;
  readonly called: readonly string[];
}

/** Why numbers are not called. */
export type ProofSkip = 'open' | 'proven' | 'not_held' | 'calls_of_day' | 'proofs_open';

/** The outcome of a request for proofs. */
export interface StartedProofs {
  readonly started: readonly StartedProof[];
  readonly skipped: readonly { readonly phone: string; readonly why: ProofSkip }[];
}

export interface StartProofsOptions {
  readonly db: Pool;
  readonly handle: string;
  /** In E.164; null for every number of the brand that is not proven. */
  readonly phones: readonly string[] | null;
  readonly language: string;
  readonly actor: string;
  readonly limits: ProofLimits;
  /** Writes the caller's record in the transaction; if it fails, nothing is done. */
  readonly record?: (client: Queryable) => Promise<void>;
}

/** One transaction at a time starts proofs, so that the calls of a number are counted over all brands. */
const startLock = 7_224_203; // any constant

const languageForm = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;

/**
 * Starts proofs that a brand answers its numbers; a job places their calls. A number with an open proof is not called again, so the same
 * request twice calls once. All limits are counted in the database under one lock, whichever process asks.
 * @throws ServiceError `brand_unknown`, `phone_unknown`, `parameter_invalid` for the language, `proof_limit_reached` if nothing can
 * be started
 */
export async function startProofs({
  db,
  handle,
  phones,
  language,
  actor,
  limits: given,
  record,
}: StartProofsOptions): Promise<StartedProofs> {
  if (!languageForm.test(language))
    throw new ServiceError('parameter_invalid', {
      operation: 'prove number',
      problem: 'The language is not a tag such as en or de-AT.',
    });
  const limits = { ...proofLimits, ...given };
  return inTransaction(db, async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [startLock]);
    const { brandId } = await lockBrand(client, handle, null);
    await client.query(sql('branding/fail_overdue_proofs'), [brandId, actor]);
    const rows = await listRows(client, brandId, { phones: phones ?? undefined });
    requireKnown(phones, rows, handle);
    const named = phones !== null;
    const skips = new Map(rows.map((row): [string, ProofSkip | null] => [row.phone, skipOf(row, { named, limits })]));
    const free = rows.filter(({ phone }) => skips.get(phone) === null);
    const planned = planProofs(
      free.map(({ phone }) => phone),
      {
        drawnBefore: new Set(free.filter(({ drawnBefore: before }) => before).map(({ phone }) => phone)),
        blockCalls: limits.numberBlockCalls,
      },
    );
    const { proofs: openNow } = (await queryRow<{ proofs: number }>(client, sql('branding/count_open_proofs'), [
      brandId,
    ]))!;
    const room = Math.max(0, limits.proofsOpenMax - openNow);
    for (const phone of planned.slice(room).flatMap((proof) => proof.phones)) skips.set(phone, 'proofs_open');
    const started: StartedProof[] = [];
    for (const { phones: members, called } of planned.slice(0, room)) {
      const values = [
        brandId,
        language,
        actor,
        members,
        called,
        `One of ${called.length} calls that prove ${members.length} numbers.`,
      ];
      const { proofId } = (await queryRow<{ proofId: number }>(client, sql('branding/insert_number_proof'), values))!;
      started.push({ proofId, numbers: members.length, called });
    }
    const skipped = [...skips].flatMap(([phone, why]) => (why === null ? [] : [{ phone, why }]));
    requireSome({ started, skipped }, limits, handle);
    await record?.(client);
    return { started, skipped };
  });
}

function skipOf(row: ProofRow, { named, limits }: { named: boolean; limits: Required<ProofLimits> }): ProofSkip | null {
  if (!provableStates.has(row.state)) return 'not_held';
  if (row.proofId !== null) return 'open';
  if (row.provenUntil !== null && !named) return 'proven';
  return row.callsOfDay >= limits.callsPerDayMax ? 'calls_of_day' : null;
}

function requireKnown(phones: readonly string[] | null, rows: readonly ProofRow[], handle: string): void {
  const known = new Set(rows.map(({ phone }) => phone));
  if (phones === null || phones.every((phone) => known.has(phone))) return;
  throw new ServiceError('phone_unknown', {
    operation: 'prove number',
    object: handle,
    problem: 'The brand does not have one of these numbers.',
    hint: '`caller-trust brand numbers` shows those that it has.',
  });
}

/** Limits are an error only if no number is left to call. */
function requireSome(
  { started, skipped }: StartedProofs,
  { callsPerDayMax, proofsOpenMax }: Required<ProofLimits>,
  handle: string,
): void {
  const limit = skipped.find(({ why }) => why === 'calls_of_day' || why === 'proofs_open')?.why;
  if (started.length > 0 || limit === undefined) return;
  const problem =
    limit === 'calls_of_day'
      ? `A number is called ${callsPerDayMax} times in 24 hours at most.`
      : `The brand has ${proofsOpenMax} open proofs already.`;
  throw new ServiceError('proof_limit_reached', {
    operation: 'prove number',
    object: handle,
    problem,
    hint:
      limit === 'calls_of_day' ? 'Try again later.' : 'Give the codes of those back first, or wait until they expire.',
  });
}

interface PlaceCallsOptions {
  readonly db: Pool;
  readonly caller: CodeCaller;
  /** See `loadCodeSecret`. */
  readonly secret: string;
  readonly proofId: number;
}

/** First part of the lock of a proof, so that two workers do not place its calls at a time; the second is its id. */
const proofLock = 7_224_204; // any constant

/**
 * Passes the calls of a proof to the caller, each with its own code; only the hash of a code is stored. Safe to run twice: the hash is
 * stored before the call is passed on, and a call with a stored hash is passed on again, with another code, only if the caller
 * has not accepted it. Returns how many calls were placed.
 * @throws ServiceError `caller_failed`
 */
export async function placeProofCalls({ db, caller, secret, proofId }: PlaceCallsOptions): Promise<number> {
  return inTransaction(db, async (locked) => {
    await locked.query('SELECT pg_advisory_xact_lock($1, hashint8($2))', [proofLock, proofId]); // a session of its own: each step below commits separately
    const calls = await queryRows<{ callId: number; phone: string; language: string; hasCode: boolean }>(
      db,
      sql('branding/list_unplaced_calls'),
      [proofId],
    );
    let placed = 0;
    for (const { callId, phone, language, hasCode } of calls) {
      if (!hasCode || !(await caller.hasTaken(callId))) {
        const code = makeCode();
        const { expiresAt } = (await queryRow<{ expiresAt: Date }>(db, sql('branding/store_code'), [
          callId,
          hashCode(secret, callId, code),
          proofLimits.codeMinutes,
        ]))!;
        await caller.place({ callId, phone, code, language, expiresAt });
        placed += 1;
      }
      await db.query(sql('branding/record_placed_call'), [callId]);
    }
    return placed;
  });
}

/** Ends a proof whose calls cannot be placed. */
export async function failProof(
  db: Queryable,
  proofId: number,
  { code, reason, actor }: { code: ErrorCode | 'code_wrong'; reason: string; actor: string },
): Promise<void> {
  await db.query(sql('branding/fail_proof'), [proofId, code, actor, reason]);
}

interface ConfirmCodeOptions {
  readonly db: Pool;
  readonly handle: string;
  readonly phone: string;
  readonly code: string;
  readonly actor: string;
  readonly secret: string;
  /** LETTER_APPROVAL: a letter that waits only for the proof of its numbers is approved with the last of them. */
  readonly policy: ApprovalPolicy;
  readonly record?: (client: Queryable) => Promise<void>;
}

/** The outcome of a correct code: a block may wait for the codes of other calls. */
type ConfirmedCode =
  | {
      readonly proven: true;
      readonly numbers: number;
      readonly validUntil: Date;
      /** Letters that this has approved. */ readonly letters: readonly number[];
    }
  | { readonly proven: false };

/**
 * Checks a code that a call has spoken. Each wrong one counts, also where it is refused; the last attempt fails the whole proof.
 * @throws ServiceError `brand_unknown`, `proof_unknown` if no code of the number waits (any more), `proof_code_wrong`
 */
export async function confirmCode(options: ConfirmCodeOptions): Promise<ConfirmedCode> {
  const { db, handle, actor } = options;
  const outcome = await inBrandTransaction(db, async (client) => {
    const brand = await lockBrand(client, handle, null);
    await client.query(sql('branding/fail_overdue_proofs'), [brand.brandId, actor]);
    await options.record?.(client);
    return tryCode(client, brand, options);
  });
  if (isServiceError(outcome)) throw outcome; // the transaction that counts the attempt is committed
  return outcome;
}

async function tryCode(
  client: Queryable,
  { brandId }: LockedBrand,
  { handle, phone, code: given, secret, actor, policy }: ConfirmCodeOptions,
): Promise<ConfirmedCode | ServiceError> {
  const operation = 'confirm number';
  const taken = await queryRow<{ proofId: number; callId: number; codeHash: Buffer; tries: number }>(
    client,
    sql('branding/take_code_try'),
    [brandId, phone, proofLimits.codeTriesMax],
  );
  if (taken === undefined)
    return new ServiceError('proof_unknown', {
      operation,
      object: handle,
      hint: '`caller-trust number prove start` has the number called; a code expires, and is good for a few tries.',
    });
  if (!isCode(taken.codeHash, secret, { callId: taken.callId, given })) {
    const left = proofLimits.codeTriesMax - taken.tries;
    if (left <= 0)
      await failProof(client, taken.proofId, {
        code: 'code_wrong',
        reason: `${taken.tries} wrong codes were given.`,
        actor,
      });
    return new ServiceError('proof_code_wrong', {
      operation,
      object: handle,
      problem:
        left > 0
          ? `The code is wrong; ${left} ${left === 1 ? 'try is' : 'tries are'} left.`
          : 'The code is wrong, and no try is left: the proof has failed.',
      hint: 'Give the digits that the call said.',
    });
  }
  const proven = await queryRow<{ validUntil: Date; numbers: number }>(client, sql('branding/confirm_call'), [
    taken.callId,
    proofLimits.proofDays,
    actor,
  ]);
  if (proven === undefined) return { proven: false };
  const at = new Date();
  const letters = await approveProvenLetters(client, { brandId, policy, at });
  if (letters.length > 0)
    await settleBrand(client, brandId, {
      at,
      cause: { actor: letterRuleVersion, reason: 'The last of the numbers of a letter was proven.', operationId: null },
    });
  return { proven: true, numbers: proven.numbers, validUntil: proven.validUntil, letters };
}
