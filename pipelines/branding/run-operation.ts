import { isDeepStrictEqual } from 'node:util';
import { ServiceError } from '../../runtime/errors.ts';
import { inTransaction, queryRow, type Pool, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { Vault } from '../vault.ts';
import { brandFinding, checkBrand } from './brand-check.ts';
import { readBrand } from './brand-record.ts';
import { brandProfileSchema, needsApproval, type BrandProfile } from './brand-profile.ts';
import { openDocument } from './document-store.ts';
import type { Finding } from './finding.ts';
import { lockBrand, requireDecidedLetters, takeChangeLock, type LockedBrand } from './locked-brand.ts';
import { addFindings, decideReadLetter, decisivePlaces, namesAll, recordLetter, type DecidedLetter } from './letter-record.ts';
import { checkAsDrawn } from './letter-as-drawn.ts';
import type { LetterPage, LetterReadingOutcome } from './letter-reading.ts';
import { readProtectedNames } from './names/protected-name-record.ts';
import { judgeNumbers, readNumberList, type NumberListLimits, type NumberRow } from './number-list.ts';
import { readOperationRecord, type OperationRecord } from './operation.ts';
import { claimNumbers, judgeClaims } from './number-claims.ts';
import { makeResult } from './result-maker.ts';
import type { OperationResult } from './operation-result.ts';
import { settleBrand, type Cause } from './settle.ts';

/** What carries an operation out. */
export interface RunOperationOptions {
  readonly db: Pool;
  readonly vault: Vault;
  /** Reads a letter in processes of its own; see reading/letter-reader.ts. */
  readonly readLetter: (bytes: Uint8Array) => Promise<LetterReadingOutcome>;
  /** Recognises pages of a letter as they are drawn. */
  readonly drawPages: (bytes: Uint8Array, pages: readonly number[]) => Promise<readonly LetterPage[]>;
  readonly limits: NumberListLimits;
  readonly operationId: number;
  readonly now: () => Date;
}

/**
 * Carries out one operation: reads its files, then in one transaction makes or changes the brand, claims the numbers,
 * decides the letter, settles every state, and records the result. Safe to run twice: a second run returns the result.
 * @throws ServiceError `operation_unknown`, `brand_unknown`, `brand_handle_taken`, `brand_withdrawn`, `transition_refused`,
 * `numbers_file_invalid`, `document_sealed`, `interrupted`
 */
export async function runOperation(options: RunOperationOptions): Promise<OperationResult> {
  const { db, vault, operationId, limits } = options;
  const operation = await readOperationRecord(db, operationId);
  if (operation.state !== 'queued') return answerOf(operation);
  const rows = operation.numbersDocumentId === null ? judgeNumbers(operation.request.numbers) : await readNumberList(await openDocument({ db, vault }, operation.numbersDocumentId), limits);
  const letter = operation.letterDocumentId === null ? null : await readWithPages(options, operation, { rows, bytes: await openDocument({ db, vault }, operation.letterDocumentId) });
  return inTransaction(db, async (client) => {
    if ((await queryRow(client, sql('branding/lock_operation'), [operationId])) === undefined) return answerOf(await readOperationRecord(client, operationId));
    const result = await carryOut(client, options, { operation, rows, letter });
    await client.query(sql('branding/finish_operation'), [operationId, JSON.stringify(result)]);
    return result;
  });
}

/** What an ended operation answers, also to a second run. */
function answerOf({ result, failure, operationId }: OperationRecord): OperationResult {
  if (result !== null) return result;
  throw new ServiceError(failure!.code, { operation: 'run branding operation', object: String(operationId), problem: failure!.reason });
}

interface Work {
  readonly operation: OperationRecord;
  readonly rows: readonly NumberRow[];
  readonly letter: ReadLetter | null;
}

/** A letter as it was read, and its pages as they are drawn where that could matter. */
interface ReadLetter {
  readonly reading: LetterReadingOutcome;
  readonly drawn: readonly LetterPage[];
}

async function carryOut(client: Queryable, { vault, now }: RunOperationOptions, { operation, rows, letter }: Work): Promise<OperationResult> {
  const cause: Cause = { actor: operation.requestedBy, reason: `Asked for by operation ${operation.operationId}.`, operationId: operation.operationId };
  await takeChangeLock(client);
  const at = now();
  const brand = await applyRequest(client, operation, cause);
  const claims = await judgeClaims(client, brand.brand_id, rows);
  await claimNumbers(client, { brandId: brand.brand_id, operation, claims, cause });
  const csvPhones = operation.numbersDocumentId === null ? null : claims.phones;
  const target = letterTarget(brand, operation);
  const facts = { brand: target.profile, submittedAt: operation.requestedAt, claims, csvPhones };
  const decided = letter === null ? null : await checkFurther(client, decideReadLetter({ reading: letter.reading, ...facts }), { operation, drawn: letter.drawn });
  const letterId = decided === null ? null : await recordLetter(client, { vault, brandId: brand.brand_id, ...target, operation, decided, at });
  if (decided !== null) await judgeNames(client, brand, decided);
  await settleBrand(client, brand.brand_id, { at, cause: automatic(cause, decided) });
  return makeResult(client, { brandId: brand.brand_id, letterId, claims, kind: operation.kind });
}

/** What the rules do not see: how the pages are drawn, and who else has handed the letter in. */
async function checkFurther(client: Queryable, decided: DecidedLetter, { operation, drawn }: { operation: OperationRecord; drawn: readonly LetterPage[] }): Promise<DecidedLetter> {
  if (decided.reading === null) return decided;
  const reused = await queryRow(client, sql('branding/find_reused_letter'), [operation.letterDocumentId, operation.owner]);
  const owner = brandFinding('letter_of_one_owner', reused === undefined ? 'pass' : 'review');
  if (decided.outcome !== 'approved') return addFindings(decided, [owner]);
  return addFindings(decided, [owner, checkAsDrawn({ pages: decided.reading.pages, drawn, places: decisivePlaces(decided) })]);
}

/** Reads a letter, and where the rules would approve it also its pages as a person sees them. Outside of the transaction: it takes seconds. */
async function readWithPages(options: RunOperationOptions, operation: OperationRecord, { rows, bytes }: { rows: readonly NumberRow[]; bytes: Uint8Array }): Promise<ReadLetter> {
  const reading = await options.readLetter(bytes);
  const brand = await peekProfile(options.db, operation);
  if (reading.kind === 'refused' || brand === null) return { reading, drawn: [] };
  const phones = [...new Set(rows.flatMap(({ phone }) => phone ?? []))];
  const decided = decideReadLetter({ reading, brand, submittedAt: operation.requestedAt, claims: { rows: [], phones, ofOtherBrands: [] }, csvPhones: operation.numbersDocumentId === null ? null : phones });
  const withText = reading.reading.pages.filter(({ source }) => source === 'text').map(({ page }) => page);
  return { reading, drawn: decided.outcome === 'approved' && withText.length > 0 ? await options.drawPages(bytes, withText) : [] };
}

/** The profile that a letter will be checked against, unless it changes meanwhile; null where the brand is not there. */
async function peekProfile(db: Queryable, { request, kind }: OperationRecord): Promise<BrandProfile | null> {
  if ('brand' in request) return request.brand;
  const brand = await readBrand(db, request.handle).catch(() => null); // the transaction says what is wrong with it
  if (brand === null) return null;
  if (kind === 'add_phone_number') return brand.profile;
  return mergeProfile(brand.pendingProfile ?? brand.profile, 'changes' in request ? request.changes : {});
}

/**
 * A name that calls will show for the first time must stand in the approved letter, else a person decides; where it does,
 * and nothing else needs a person, the letter is enough.
 */
async function judgeNames(client: Queryable, { brand_id, profile, approved_profile: published, pending_revision }: LockedBrand, decided: DecidedLetter): Promise<void> {
  if (pending_revision === null || decided.outcome !== 'approved') return;
  const fields = published === null ? [profile.displayName] : (['legalName', 'dba', 'displayName'] as const).filter((field) => profile[field] !== published[field]).map((field) => profile[field]);
  const onLetter = brandFinding('display_name_on_letter', namesAll(decided, fields.flatMap((name) => name ?? [])) ? 'pass' : 'review');
  const findings = [...checkBrand(profile, await readProtectedNames(client)), onLetter];
  await client.query(sql('branding/judge_revision'), [brand_id, pending_revision, JSON.stringify(findings), needsPerson(findings)]);
}

/** The revision that a letter is checked against: the one that waits, but for numbers the one that is published, if there is one. */
function letterTarget(brand: LockedBrand, { kind }: OperationRecord): { revision: number; profile: BrandProfile } {
  if (kind === 'add_phone_number' && brand.approved_revision !== null && brand.approved_profile !== null) return { revision: brand.approved_revision, profile: brand.approved_profile };
  return { revision: brand.pending_revision ?? brand.approved_revision ?? brand.last_revision, profile: brand.profile };
}

function automatic(cause: Cause, decided: DecidedLetter | null): Cause {
  return decided === null ? cause : { ...cause, actor: decided.ruleVersion, reason: decided.reason };
}

/** Makes or changes the brand as the request says; returns it locked. */
async function applyRequest(client: Queryable, operation: OperationRecord, cause: Cause): Promise<LockedBrand> {
  const { request } = operation;
  if ('brand' in request) return addBrand(client, operation, { profile: request.brand, cause });
  const brand = await lockBrand(client, request.handle, operation.owner);
  if ('changes' in request) return updateBrand(client, brand, { operation, changes: request.changes, cause });
  requireOpenFor(brand, 'add number');
  return brand;
}

async function addBrand(client: Queryable, operation: OperationRecord, { profile, cause }: { profile: BrandProfile; cause: Cause }): Promise<LockedBrand> {
  const { handle } = operation.request;
  const findings = checkBrand(profile, await readProtectedNames(client));
  const values = [handle, operation.owner, JSON.stringify(profile), profile.displayName, JSON.stringify(findings), needsPerson(findings), cause.actor, cause.reason, cause.operationId];
  const made = await queryRow(client, sql('branding/insert_brand'), values);
  if (made === undefined) throw new ServiceError('brand_handle_taken', { operation: 'add brand', object: handle, hint: 'Give another handle, or update the brand if it is yours.' });
  return lockBrand(client, handle, operation.owner);
}

function requireOpenFor({ state, handle }: LockedBrand, operation: string): void {
  if (state === 'withdrawn') throw new ServiceError('brand_withdrawn', { operation, object: handle });
  if (state === 'rejected' && operation === 'add number') {
    throw new ServiceError('transition_refused', { operation, object: handle, problem: 'The brand is rejected, and takes no numbers.', hint: 'Update the brand with what its findings ask for.' });
  }
}

/**
 * A change of a name, or a new letter, makes a revision that must be approved; other changes are taken at once. An update
 * replaces what waits, and the letters that wait with it go over, if the company stays.
 */
async function updateBrand(client: Queryable, brand: LockedBrand, { operation, changes, cause }: { operation: OperationRecord; changes: object; cause: Cause }): Promise<LockedBrand> {
  requireOpenFor(brand, 'update brand');
  const [current, profile] = [brandProfileSchema.parse(brand.profile), mergeProfile(brand.profile, changes)];
  const withLetter = operation.letterDocumentId !== null;
  if (isDeepStrictEqual(profile, current) && !withLetter) return brand;
  const renamedWhileWaiting = brand.pending_revision !== null && needsApproval(current, profile);
  if (withLetter || renamedWhileWaiting) await requireDecidedLetters(client, brand);
  const published = brand.approved_profile;
  const renamed = published !== null && needsApproval(published, profile);
  const findings = checkBrand(profile, await readProtectedNames(client));
  const carried = !withLetter && !needsApproval(current, profile) && brand.pending_revision !== null;
  // Whether a letter names the new name is seen when it is decided; without one only a person can tell.
  const needsDecision = carried ? brand.needs_decision : renamed || (needsPerson(findings) && published === null);
  const takenAtOnce = published !== null && !renamed && !withLetter && brand.pending_revision === null;
  const revision = brand.last_revision + 1;
  const values = [brand.brand_id, revision, JSON.stringify(profile), profile.displayName, JSON.stringify(findings), needsDecision, takenAtOnce, cause.actor, cause.reason, cause.operationId];
  await client.query(sql('branding/insert_revision'), values);
  const goesOver = carried || (published === null && !withLetter && current.legalName === profile.legalName);
  if (goesOver) await client.query(sql('branding/carry_letters'), [brand.brand_id, brand.pending_revision ?? brand.last_revision, revision]);
  return lockBrand(client, brand.handle, brand.owner);
}

function mergeProfile(profile: BrandProfile, changes: object): BrandProfile {
  return brandProfileSchema.parse({ ...profile, ...changes });
}

function needsPerson(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === 'review');
}
