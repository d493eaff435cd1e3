import { isDeepStrictEqual } from 'node:util';
import { ServiceError } from '../../../runtime/errors.ts';
import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { Vault } from '../../../runtime/secrets/vault.ts';
import { brandFinding, needsPerson } from '../brand/brand-check.ts';
import { readBrandProfiles } from '../brand/brand-record.ts';
import { checkNames, isNameCheckCurrent, recordNameFindings, type NameCheck } from '../brand/brand-revision.ts';
import { brandProfileSchema, needsApproval, type BrandProfile } from '../brand-profile.ts';
import { openDocument } from '../document-store.ts';
import type { Finding } from '../finding.ts';
import { findIssuedForm } from './letter-form.ts';
import { digestsOfFirstRevision } from '../form/issued-form.ts';
import type { ApprovalPolicy } from '../decision/letter-form-rules.ts';
import type { RevocationPolicy } from '../letter-trust.ts';
import { concludeLetter, recordLetter, type DecidedLetter } from '../brand/letter-record.ts';
import type { LetterReadingOutcome } from '../letter-reading.ts';
import type { LetterTextDecision, LetterTextFacts } from '../decision/letter-text-decision.ts';
import { isContended, lockBrand, requireDecidedLetters, type LockedBrand } from '../brand/locked-brand.ts';
import { judgeNumberTexts, readNumberList, type NumberRow } from '../number-list.ts';
import { readOperationRecord, type OperationRecord } from '../operation.ts';
import {
  claimNumbers,
  judgeClaims,
  judgeRivalClaims,
  requireRoomForClaims,
  type NumberClaims,
} from '../brand/number-claims.ts';
import { readProvenPhones } from '../brand/proven-numbers.ts';
import { makeResult } from '../brand/result-maker.ts';
import type { OperationResult } from '../operation-result.ts';
import { causeValues, settleBrand, type Cause } from '../brand/settle.ts';

interface RunOperationOptions {
  readonly db: Pool;
  readonly vault: Vault;
  /** Reads a letter in child processes; see reading/letter-reader.ts. */
  readonly readLetter: (bytes: Uint8Array) => Promise<LetterReadingOutcome>;
  /** Says what was found on a letter; see letter-text-decision.ts. Only tests give another. */
  readonly decideText: (facts: LetterTextFacts) => Promise<LetterTextDecision>;
  /** The requirements of approval by rules. */
  readonly policy: ApprovalPolicy;
  /** Most numbers of one owner that may wait for a letter or a decision. */
  readonly numbersWaitingMax: number;
  readonly revocation: RevocationPolicy;
  readonly operationId: number;
  readonly now: () => Date;
  /** Ends the statement that runs; everything is rolled back. */
  readonly signal?: AbortSignal | undefined;
}

/** Most attempts to decide a request while its brand, or the brands of its numbers, change; more indicate a fault. */
const decisionsMax = 5;

/**
 * Runs one operation: reads its files, checks the names and decides the text of the letter, then in one transaction makes or
 * changes the brand, claims the numbers, approves the letter or not, settles every state, and records the result. Under the lock of
 * the brand only facts are compared; if the brand, its numbers or the protected names have changed since names and text were decided,
 * they are decided again without the lock. Safe to run twice: a second run returns the result.
 * @throws ServiceError `operation_unknown`, `brand_unknown`, `brand_handle_taken`, `brand_withdrawn`, `transition_refused`,
 * `numbers_file_invalid`, `numbers_waiting_too_many`, `document_sealed`, `interrupted`
 */
export async function runOperation(options: RunOperationOptions): Promise<OperationResult> {
  const { db, vault, operationId } = options;
  const operation = await readOperationRecord(db, operationId);
  if (operation.state !== 'queued') return resultOfEnded(operation);
  const { numbersDocumentId, letterDocumentId } = operation;
  let unlocked = await readBrandUnlocked(db, operation);
  const { country } = unlocked.profile;
  const rows =
    numbersDocumentId === null
      ? judgeNumberTexts(operation.request.numbers, country)
      : await readNumberList(await openDocument({ db, vault }, numbersDocumentId), country);
  const file = letterDocumentId === null ? null : await readFile(options, letterDocumentId);
  for (let decisions = 1; ; decisions++) {
    if (decisions > 1) unlocked = await readBrandUnlocked(db, operation);
    const names = await checkNames(db, unlocked.profile);
    const letter = file === null ? null : await decideTextOfLetter(options, file, { operation, rows, unlocked });
    const result = await inTransaction(
      db,
      (client) => finishOperation(client, options, { operation, rows, names, letter }),
      options.signal,
    ).catch((error: unknown) => {
      if ((error instanceof ChangedMeanwhile || isContended(error)) && decisions < decisionsMax) return null;
      throw error;
    });
    if (result !== null) return result;
  }
}

async function finishOperation(
  client: Queryable,
  options: RunOperationOptions,
  work: OperationWork,
): Promise<OperationResult> {
  const { operationId } = options;
  if ((await queryRow(client, sql('branding/lock_operation'), [operationId])) === undefined)
    return resultOfEnded(await readOperationRecord(client, operationId));
  const result = await applyOperation(client, options, work);
  await client.query(sql('branding/finish_operation'), [operationId, JSON.stringify(result)]);
  return result;
}

/** Rolls back a transaction whose decision is outdated. */
class ChangedMeanwhile extends Error {}

/** The result of an ended operation, also for a second run. */
function resultOfEnded({ result, failure, operationId }: OperationRecord): OperationResult {
  if (result !== null) return result;
  throw new ServiceError(failure!.code, {
    operation: 'run branding operation',
    object: String(operationId),
    problem: failure!.reason,
  });
}

interface OperationWork {
  readonly operation: OperationRecord;
  readonly rows: readonly NumberRow[];
  /** Check of the profile that the request makes, or that a letter is checked against. */
  readonly names: NameCheck;
  readonly letter: LetterWithDecision | null;
}

/** The reading of a letter. */
interface LetterFile {
  readonly reading: LetterReadingOutcome;
  /** Digests of the bytes that may be an issued form. */
  readonly digests: readonly string[];
}

/** What the decision on a letter's text depends on besides the letter: if it has changed, the decision is outdated. */
type TextBasis = Pick<LetterTextFacts, 'brand' | 'requestedPhones' | 'phonesOfOtherBrands'>;

interface LetterWithDecision {
  readonly file: LetterFile;
  readonly basis: TextBasis;
  readonly text: LetterTextDecision;
}

async function readFile({ db, vault, readLetter }: RunOperationOptions, documentId: number): Promise<LetterFile> {
  const bytes = await openDocument({ db, vault }, documentId);
  const reading = await readLetter(bytes);
  return { reading, digests: reading.kind === 'read' ? digestsOfFirstRevision(bytes, reading.reading) : [] };
}

/** A brand that was read without its lock. */
interface UnlockedBrand {
  readonly brandId: number;
  /** The profile that the request makes, or that a letter will be checked against, unless it changes meanwhile. */
  readonly profile: BrandProfile;
}

/** Id of a brand that does not exist yet: every live number belongs to another brand. */
const noBrand = 0;

/** @throws ServiceError `brand_unknown` */
async function readBrandUnlocked(db: Queryable, { request, kind }: OperationRecord): Promise<UnlockedBrand> {
  if ('brand' in request) return { brandId: noBrand, profile: request.brand };
  const { brandId, profile, pendingProfile } = await readBrandProfiles(db, request.handle);
  if (kind === 'add_phone_number') return { brandId, profile };
  return { brandId, profile: mergeProfile(pendingProfile ?? profile, 'changes' in request ? request.changes : {}) };
}

async function decideTextOfLetter(
  { db, decideText }: RunOperationOptions,
  file: LetterFile,
  { operation, rows, unlocked }: Pick<OperationWork, 'operation' | 'rows'> & { unlocked: UnlockedBrand },
): Promise<LetterWithDecision> {
  const basis = basisOf(unlocked.profile, await judgeClaims(db, unlocked.brandId, rows));
  return {
    file,
    basis,
    text: await decideText({ ...basis, reading: file.reading, submittedAt: operation.requestedAt }),
  };
}

function basisOf(brand: BrandProfile, { phones, ofOtherBrands }: NumberClaims): TextBasis {
  return { brand: brandProfileSchema.parse(brand), requestedPhones: phones, phonesOfOtherBrands: ofOtherBrands };
}

async function applyOperation(
  client: Queryable,
  { vault, now, policy, revocation, numbersWaitingMax }: RunOperationOptions,
  { operation, rows, names, letter }: OperationWork,
): Promise<OperationResult> {
  const cause: Cause = {
    actor: operation.requestedBy,
    reason: `Asked for by operation ${operation.operationId}.`,
    operationId: operation.operationId,
  };
  const at = now();
  const brand = await applyRequest(client, { operation, names, cause });
  requireOwnReason(brand, operation);
  const claims = await judgeClaims(client, brand.brandId, rows);
  const target = letterTarget(brand, operation);
  if (letter !== null && !isDeepStrictEqual(basisOf(target.profile, claims), letter.basis))
    throw new ChangedMeanwhile();
  const decided =
    letter === null ? null : await decideUnderLock(client, { operation, brand, claims, letter, policy, revocation });
  if (decided?.outcome !== 'approved')
    await requireRoomForClaims(client, { owner: operation.owner, claims, limit: numbersWaitingMax });
  await claimNumbers(client, { brandId: brand.brandId, operation, claims, cause });
  const letterId =
    decided === null
      ? null
      : await recordLetter(client, { vault, brandId: brand.brandId, ...target, operation, decided, at });
  if (decided?.outcome === 'approved' && target.revision === brand.pendingRevision)
    await recordNameFindings(client, brand.brandId, {
      ...target,
      findings: await findingsOn(client, names, target.profile),
    });
  await settleBrand(client, brand.brandId, {
    at,
    cause: decided === null ? cause : { ...cause, actor: decided.ruleVersion, reason: decided.reason },
  });
  return makeResult(client, { brandId: brand.brandId, letterId, claims, kind: operation.kind });
}

/** A call reason of numbers is one of the brand's, which are approved with it; publish_numbers.sql shows no other. */
function requireOwnReason(
  { approvedProfile, profile }: LockedBrand,
  { request: { callReason } }: OperationRecord,
): void {
  if (callReason === null || (approvedProfile ?? profile).callReasons.includes(callReason)) return;
  throw new ServiceError('brand_request_invalid', {
    operation: 'add numbers',
    problem: 'callReason: it is none of the call reasons of the brand.',
    hint: 'Add it to the callReasons of the brand, where it is approved.',
  });
}

/** The decision on a letter, by facts that are read under the lock. */
async function decideUnderLock(
  client: Queryable,
  {
    operation,
    brand,
    claims,
    letter: { file, basis, text },
    policy,
    revocation,
  }: Pick<RunOperationOptions, 'policy' | 'revocation'> & {
    operation: OperationRecord;
    brand: LockedBrand;
    claims: NumberClaims;
    letter: LetterWithDecision;
  },
): Promise<DecidedLetter> {
  const { owner, letterDocumentId, requestedAt: submittedAt } = operation;
  const { brandId } = brand;
  const form = await findIssuedForm(client, { digests: file.digests, codes: text.formCodes });
  const phones = form?.content.phones ?? [];
  const own = await queryRows<{ phone: string }>(client, sql('branding/list_own_numbers'), [brandId, phones]);
  const reused = await queryRow(client, sql('branding/find_reused_letter'), [letterDocumentId, owner]);
  const request = {
    owner,
    brandId,
    profile: basis.brand,
    isApprovedProfile:
      brand.approvedProfile !== null && !needsApproval(brandProfileSchema.parse(brand.approvedProfile), basis.brand),
    requestedPhones: basis.requestedPhones,
    ownPhones: new Set(own.map(({ phone }) => phone)),
  };
  const more = [
    brandFinding('letter_of_one_owner', reused === undefined ? 'pass' : 'review'),
    await judgeRivalClaims(client, { brandId, claims, formPhones: phones }),
  ];
  return concludeLetter({
    reading: file.reading,
    text,
    more,
    form,
    request,
    provenPhones: await readProvenPhones(client, brandId, phones),
    policy,
    revocation,
    submittedAt,
  });
}

/** The revision that a letter is checked against: the pending one, but for numbers the published one, if there is one. */
function letterTarget(brand: LockedBrand, { kind }: OperationRecord): { revision: number; profile: BrandProfile } {
  if (kind === 'add_phone_number' && brand.approvedRevision !== null && brand.approvedProfile !== null)
    return { revision: brand.approvedRevision, profile: brand.approvedProfile };
  return { revision: brand.pendingRevision ?? brand.approvedRevision ?? brand.lastRevision, profile: brand.profile };
}

/** What was found about names before the lock was taken, if it still holds for a profile. @throws ChangedMeanwhile */
async function findingsOn(client: Queryable, names: NameCheck, profile: BrandProfile): Promise<readonly Finding[]> {
  if (await isNameCheckCurrent(client, names, profile)) return names.findings;
  throw new ChangedMeanwhile();
}

interface RequestWork extends Pick<OperationWork, 'operation' | 'names'> {
  readonly cause: Cause;
}

/** Makes or changes the brand by the request; returns it locked. */
async function applyRequest(client: Queryable, work: RequestWork): Promise<LockedBrand> {
  const { request, owner } = work.operation;
  if ('brand' in request) return addBrand(client, request.brand, work);
  const brand = await lockBrand(client, request.handle, owner);
  if ('changes' in request) return updateBrand(client, brand, { ...work, changes: request.changes });
  requireOpenFor(brand, 'add number');
  return brand;
}

async function addBrand(
  client: Queryable,
  profile: BrandProfile,
  { operation, names, cause }: RequestWork,
): Promise<LockedBrand> {
  const { handle } = operation.request;
  const findings = await findingsOn(client, names, profile);
  const values = [
    handle,
    operation.owner,
    JSON.stringify(profile),
    profile.displayName,
    JSON.stringify(findings),
    needsPerson(findings),
    ...causeValues(cause),
  ];
  const made = await queryRow(client, sql('branding/insert_brand'), values);
  if (made === undefined)
    throw new ServiceError('brand_handle_taken', {
      operation: 'add brand',
      object: handle,
      hint: 'Give another handle, or update the brand if it is yours.',
    });
  return lockBrand(client, handle, operation.owner);
}

function requireOpenFor({ state, handle }: LockedBrand, operation: string): void {
  if (state === 'withdrawn') throw new ServiceError('brand_withdrawn', { operation, object: handle });
  if (state === 'rejected' && operation === 'add number') {
    throw new ServiceError('transition_refused', {
      operation,
      object: handle,
      problem: 'The brand is rejected, and takes no numbers.',
      hint: 'Update the brand with what its findings ask for.',
    });
  }
}

/**
 * A change of a field that is approved, or a new letter, makes a revision that must be approved; other changes apply at once. An
 * update replaces the pending revision, and its pending letters are carried over if the company stays the same.
 */
async function updateBrand(
  client: Queryable,
  brand: LockedBrand,
  { operation, names, changes, cause }: RequestWork & { changes: object },
): Promise<LockedBrand> {
  requireOpenFor(brand, 'update brand');
  const [current, profile] = [brandProfileSchema.parse(brand.profile), mergeProfile(brand.profile, changes)];
  const withLetter = operation.letterDocumentId !== null;
  if (isDeepStrictEqual(profile, current) && !withLetter) return brand;
  const changesWaiting = brand.pendingRevision !== null && needsApproval(current, profile);
  if (withLetter || changesWaiting) await requireDecidedLetters(client, brand);
  const published = brand.approvedProfile;
  const findings = await findingsOn(client, names, profile);
  const changed = published !== null && needsApproval(brandProfileSchema.parse(published), profile);
  const carried = !withLetter && !needsApproval(current, profile) && brand.pendingRevision !== null;
  // A letter is checked for the changes when it is decided; without one a person must decide.
  const needsDecision = carried ? brand.needsDecision : changed || (needsPerson(findings) && published === null);
  const takenAtOnce = published !== null && !changed && !withLetter && brand.pendingRevision === null;
  const revision = brand.lastRevision + 1;
  const values = [
    brand.brandId,
    revision,
    JSON.stringify(profile),
    profile.displayName,
    JSON.stringify(findings),
    needsDecision,
    takenAtOnce,
    ...causeValues(cause),
  ];
  await client.query(sql('branding/insert_revision'), values);
  const goesOver = carried || (published === null && !withLetter && current.legalName === profile.legalName);
  if (goesOver)
    await client.query(sql('branding/carry_letters'), [
      brand.brandId,
      brand.pendingRevision ?? brand.lastRevision,
      revision,
    ]);
  // What a letter did not show is not approved by it
  if (goesOver && !carried)
    await client.query(sql('branding/require_decision_with_letters'), [brand.brandId, revision]);
  return lockBrand(client, brand.handle, brand.owner);
}

function mergeProfile(profile: BrandProfile, changes: object): BrandProfile {
  return brandProfileSchema.parse({ ...profile, ...changes });
}
