import { ServiceError } from '../../../runtime/errors.ts';
import { queryRow, queryRows, type Pool, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { cleanText } from '../../phone/text-cleaning.ts';
import { requireAnotherPerson, type EyesPolicy } from '../../access/two-pairs-of-eyes.ts';
import { letterUnknown } from './brand-record.ts';
import { moveLetter } from './letter-record.ts';
import { inBrandTransaction, lockBrand, requireDecidedLetters, type LockedBrand } from './locked-brand.ts';
import { endRevision, moveBrand, moveNumbers, settleBrand, type Cause } from './settle.ts';
import { anyStanding } from './settle-plan.ts';
import { NUMBER_TRANSITIONS, transition, type BrandState, type LetterState, type NumberState } from '../states.ts';
import { destroyDocument } from '../document-store.ts';

/** Who decides, and why: both are kept in the audit trail. */
export interface Decider {
  readonly actor: string;
  readonly reason: string;
  /** Writes the caller's record in the transaction of the action; if it fails, nothing is done. */
  readonly record?: (client: Queryable) => Promise<void>;
}

export interface BrandActionOptions extends Decider {
  readonly db: Pool;
  readonly handle: string;
}

export interface LetterActionOptions extends Decider {
  readonly db: Pool;
  readonly letterId: number;
}

/** Who may make a decision that requires a second person. */
export interface SecondPerson {
  readonly eyes: EyesPolicy;
}

/** A decision on a submitted brand or letter. */
export interface PersonDecision extends SecondPerson {
  readonly approve: boolean;
}

/** What a person can do to a number. */
export const NUMBER_PERSON_ACTIONS = ['suspend', 'resume', 'reject', 'remove'] as const;

export type NumberPersonAction = (typeof NUMBER_PERSON_ACTIONS)[number];

/**
 * Approves or rejects a brand that waits for a person, or the pending revision of one that was approved before. A revision never
 * changes: naming the one that was reviewed decides no other.
 * @throws ServiceError `brand_unknown`, `reason_required`, `transition_refused`: also while a letter of it is undecided, and if it is
 *   another revision that waits, `decided_by_requester`
 */
export async function decideBrand({
  approve,
  eyes,
  revision,
  ...options
}: BrandActionOptions & PersonDecision & { revision?: number | undefined }): Promise<BrandState> {
  return withBrand(options, async (client, brand, cause) => {
    if (brand.state === 'withdrawn')
      throw new ServiceError('brand_withdrawn', { operation: 'decide brand', object: brand.handle });
    if (revision !== undefined && brand.pendingRevision !== revision) throw anotherPending(brand, revision);
    await requireDecidedLetters(client, brand);
    const everApproved = brand.approvedRevision !== null;
    if (everApproved && brand.pendingRevision === null) throw nothingPending(brand);
    await requireAnotherPerson(client, { eyes, actor: cause.actor, of: { kind: 'brand', brandId: brand.brandId } });
    if (everApproved && approve) await client.query(sql('branding/vouch_for_letters'), [brand.brandId]);
    if (everApproved) return endRevision(client, brand.brandId, { approve, cause });
    await moveBrand(client, brand, { action: approve ? 'approve' : 'reject', cause });
  });
}

/**
 * Takes an approved brand's numbers out of the next night. @throws ServiceError `brand_unknown`, `reason_required`,
 * `transition_refused`
 */
export async function suspendBrand(options: BrandActionOptions): Promise<BrandState> {
  return withBrand(options, (client, brand, cause) => moveBrand(client, brand, { action: 'suspend', cause }));
}

/** Undoes a suspension. @throws ServiceError `brand_unknown`, `reason_required`, `transition_refused`, `decided_by_requester` */
export async function resumeBrand({ eyes, ...options }: BrandActionOptions & SecondPerson): Promise<BrandState> {
  return withBrand(options, async (client, brand, cause) => {
    await moveBrand(client, brand, { action: 'resume', cause });
    await requireAnotherPerson(client, {
      eyes,
      actor: cause.actor,
      of: { kind: 'resumption', brandId: brand.brandId },
    }); // last, as for a letter
  });
}

/**
 * Ends a brand and its letters permanently, and frees its numbers. @throws ServiceError `brand_unknown`, `reason_required`,
 * `transition_refused`
 */
export async function withdrawBrand(options: BrandActionOptions): Promise<BrandState> {
  return withBrand(options, async (client, brand, cause) => {
    await moveBrand(client, brand, { action: 'withdraw', cause });
    const letters = await queryRows<{ letterId: number; state: LetterState }>(
      client,
      sql('branding/list_open_letters'),
      [brand.brandId],
    );
    for (const { letterId, state } of letters)
      await moveLetter(client, { letterId, state }, { action: 'withdraw', at: new Date(), cause });
  });
}

/**
 * Approves or rejects a letter that waits for a person. An approval covers every number that was requested with it, until the day
 * on which the letter ends by its own words, where it says one.
 * @throws ServiceError `letter_unknown`, `reason_required`, `transition_refused`, `decided_by_requester`
 */
export async function decideLetterByPerson({
  approve,
  eyes,
  endsOn,
  ...options
}: LetterActionOptions & PersonDecision & { readonly endsOn?: string | undefined }): Promise<LetterState> {
  return withLetter(options, async (client, letter, cause) => {
    if (approve) await client.query(sql('branding/authorize_requested_numbers'), [letter.letterId]);
    const state = await moveLetter(client, letter, {
      action: approve ? 'approve' : 'reject',
      at: new Date(),
      cause,
      endsOn: endsOn ?? null,
    });
    await requireAnotherPerson(client, { eyes, actor: cause.actor, of: { kind: 'letter', ...letter } }); // last: for a decided letter its state is the better answer
    return state;
  });
}

/**
 * Revokes a letter: its numbers leave the next night unless another letter names them. @throws ServiceError as {@link
 * decideLetterByPerson}
 */
export async function withdrawLetter(options: LetterActionOptions): Promise<LetterState> {
  return withLetter(options, (client, letter, cause) =>
    moveLetter(client, letter, { action: 'withdraw', at: new Date(), cause }),
  );
}

/**
 * Destroys the key of a letter: its file and what was read from it cannot be recovered. Its states and findings stay.
 * @throws ServiceError `letter_unknown`, `reason_required`, `transition_refused` while a person has yet to decide it, `document_destroyed`
 */
export async function deleteLetterDocument(options: LetterActionOptions): Promise<LetterState> {
  return withLetter(options, async (client, letter, cause) => {
    if (letter.state === 'submitted' || letter.state === 'in_review') throw undecided(letter.letterId);
    if (!(await destroyDocument(client, letter.documentId, cause.reason)))
      throw new ServiceError('document_destroyed', { operation: 'delete letter', object: String(letter.letterId) });
    await client.query(sql('branding/record_letter_event'), [
      letter.letterId,
      'delete_document',
      cause.actor,
      cause.reason,
    ]);
    return letter.state;
  });
}

/**
 * Suspends, resumes, permanently rejects or removes one number of a brand; returns its state.
 * @throws ServiceError `brand_unknown`, `phone_unknown`, `reason_required`, `transition_refused`, `decided_by_requester` for a resumption
 */
export async function changeNumber({
  action,
  phone,
  eyes,
  ...options
}: BrandActionOptions & SecondPerson & { action: NumberPersonAction; phone: string }): Promise<NumberState> {
  const of = { brandId: 0 };
  await withBrand(options, async (client, brand, cause) => {
    of.brandId = brand.brandId;
    const before = await queryRow<{ state: NumberState }>(client, sql('branding/read_brand_number'), [
      brand.brandId,
      phone,
    ]);
    if (before === undefined)
      throw new ServiceError('phone_unknown', {
        operation: `${action} number`,
        object: brand.handle,
        problem: 'The brand does not have this number.',
      });
    transition(NUMBER_TRANSITIONS, before.state, { action, object: brand.handle });
    const move = { action, from: [before.state], standing: anyStanding, reason: cause.reason };
    await moveNumbers(client, brand.brandId, { moves: [move], phones: [phone], at: new Date(), cause });
    if (action === 'resume')
      await requireAnotherPerson(client, {
        eyes,
        actor: cause.actor,
        of: { kind: 'resumption', brandId: brand.brandId },
      });
  });
  // The state after settling: a resumed number that no letter names has expired.
  return (await queryRow<{ state: NumberState }>(options.db, sql('branding/read_brand_number'), [of.brandId, phone]))!
    .state;
}

/** Runs an action on a brand under its lock and settles the brand; returns its state. */
async function withBrand(
  { db, handle, ...decider }: BrandActionOptions,
  work: (client: Queryable, brand: LockedBrand, cause: Cause) => Promise<unknown>,
): Promise<BrandState> {
  const cause = causeOf(decider);
  return inBrandTransaction(db, async (client) => {
    const brand = await lockBrand(client, handle, null);
    await work(client, brand, cause);
    await decider.record?.(client);
    return settleBrand(client, brand.brandId, { at: new Date(), cause });
  });
}

interface LockedLetter {
  readonly letterId: number;
  readonly brandId: number;
  readonly documentId: number;
  readonly state: LetterState;
  readonly signedOn: string | null;
  readonly handle: string;
}

async function withLetter(
  { db, letterId, ...decider }: LetterActionOptions,
  work: (client: Queryable, letter: LockedLetter, cause: Cause) => Promise<LetterState>,
): Promise<LetterState> {
  const cause = causeOf(decider);
  return inBrandTransaction(db, async (client) => {
    const { handle } = await readLetterRow(client, letterId);
    const brand = await lockBrand(client, handle, null); // letters change under the lock of their brand
    const state = await work(client, await readLetterRow(client, letterId), cause);
    await decider.record?.(client);
    await settleBrand(client, brand.brandId, { at: new Date(), cause });
    return state;
  });
}

async function readLetterRow(client: Queryable, letterId: number): Promise<LockedLetter> {
  const row = await queryRow<LockedLetter>(client, sql('branding/lock_letter'), [letterId]);
  if (row === undefined) throw letterUnknown(letterId);
  return row;
}

function undecided(letterId: number): ServiceError {
  return new ServiceError('transition_refused', {
    operation: 'decide',
    object: `letter ${letterId}`,
    problem: `Letter ${letterId} waits for a person.`,
    hint: `Decide it first: \`caller-trust letter decide ${letterId}\`.`,
  });
}

function nothingPending({ handle, state }: LockedBrand): ServiceError {
  return new ServiceError('transition_refused', {
    operation: 'decide brand',
    object: handle,
    problem: `The brand is ${state}, and no revision of it waits for a decision.`,
    hint: 'Use suspend, resume or withdraw.',
  });
}

function anotherPending({ handle, pendingRevision: pending }: LockedBrand, revision: number): ServiceError {
  return new ServiceError('transition_refused', {
    operation: 'decide brand',
    object: handle,
    problem:
      pending === null
        ? `Revision ${revision} does not wait for a decision any more.`
        : `Revision ${pending} waits for a decision, in place of revision ${revision}.`,
    hint: 'Load the page again, or run `caller-trust brand show`, and decide what is shown then.',
  });
}

function causeOf({ actor, reason }: Decider): Cause {
  const why = cleanText(reason);
  if (why === null) throw new ServiceError('reason_required', { operation: 'decide' });
  return { actor, reason: why.slice(0, 500), operationId: null };
}
