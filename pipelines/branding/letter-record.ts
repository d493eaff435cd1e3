import { ServiceError } from '../../runtime/errors.ts';
import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { Vault } from '../vault.ts';
import type { BrandProfile } from './brand-profile.ts';
import { storeReading } from './document-store.ts';
import type { Finding, LetterOutcome } from './finding.ts';
import { decideLetter, refusalFinding } from './letter-decision.ts';
import { extractFields, type LetterFields } from './letter-fields.ts';
import type { LetterReading, LetterReadingOutcome, Place } from './letter-reading.ts';
import { letterRuleVersion } from './letter-rules.ts';
import { textOf } from './letter-text.ts';
import { letterValidity } from './letter-validity.ts';
import { findName, wordsOf } from './name-match.ts';
import type { NumberClaims } from './number-claims.ts';
import type { OperationRecord } from './operation.ts';
import type { Cause } from './settle.ts';
import { LETTER_TRANSITIONS, transition, type LetterAction, type LetterState } from './states.ts';

/** A letter that was read, or could not be, with what the rules make of it. */
export interface DecidedLetter {
  readonly outcome: LetterOutcome;
  readonly ruleVersion: string;
  readonly findings: readonly Finding[];
  readonly signedOn: string | null;
  readonly coveredPhones: readonly string[];
  /** Null if it could not be read. */
  readonly reading: LetterReading | null;
  readonly fields: LetterFields | null;
  /** For the audit trail: the codes that decided. */
  readonly reason: string;
}

/** What is sealed beside a letter for those who review it. */
export interface SealedReading {
  readonly findings: readonly Finding[];
  readonly fields: LetterFields | null;
  readonly reading: LetterReading | null;
}

export interface LetterDecisionFacts {
  readonly reading: LetterReadingOutcome;
  readonly brand: BrandProfile;
  readonly submittedAt: Date;
  readonly claims: NumberClaims;
  /** Numbers of the CSV that came with the letter. */
  readonly csvPhones: readonly string[] | null;
}

/** Applies the rules to a letter as it was read. */
export function decideReadLetter({ reading: outcome, brand, submittedAt, claims, csvPhones }: LetterDecisionFacts): DecidedLetter {
  if (outcome.kind === 'refused') {
    const findings = [refusalFinding(outcome.code, outcome.problem)];
    return { outcome: 'rejected', ruleVersion: letterRuleVersion, findings, signedOn: null, coveredPhones: [], reading: null, fields: null, reason: reasonOf(findings) };
  }
  const { reading } = outcome;
  const names = [brand.legalName, brand.dba, brand.displayName].filter((name) => name !== null);
  const fields = extractFields(reading, { country: brand.country, names });
  const decision = decideLetter({
    submittedOn: dayOf(submittedAt),
    latestDay: dayOf(new Date(submittedAt.getTime() + mostAdvancedZoneMs)),
    brand,
    requestedPhones: claims.phones,
    csvPhones,
    phonesOfOtherBrands: claims.ofOtherBrands,
    reading,
    fields,
  });
  return { ...decision, reading, fields, reason: reasonOf(decision.findings) };
}

/** The first day on which the letter ends by its own words, by the earlier reading of an ambiguous one; null if it says none. */
function endOf({ fields }: DecidedLetter): string | null {
  const days = (fields?.endDates ?? []).flatMap(({ date, alternative }) => (alternative === null ? [date] : [date, alternative]));
  return days.sort()[0] ?? null;
}

/** The decision with more findings; one for a person turns an approval into a review. */
export function addFindings(decided: DecidedLetter, more: readonly Finding[]): DecidedLetter {
  const findings = [...decided.findings, ...more];
  const outcome = decided.outcome === 'approved' && more.some(({ severity }) => severity === 'review') ? 'in_review' : decided.outcome;
  return { ...decided, findings, outcome, reason: reasonOf(findings) };
}

/** Where the decision was read: the lines of its findings and of its numbers. */
export function decisivePlaces({ findings, fields }: DecidedLetter): Place[] {
  return [...findings.map(({ place }) => place), ...(fields?.phones ?? []).map(({ place }) => place)].filter((place) => place !== null);
}

/** True if the letter has each of some names, as whole words. */
export function namesAll({ reading }: DecidedLetter, names: readonly string[]): boolean {
  if (reading === null) return false;
  const { text } = textOf(reading);
  const words = wordsOf(text);
  return names.every((name) => ['whole', 'other_form'].includes(findName(text, words, name, { near: false })?.kind ?? ''));
}

/** Kiribati's Line Islands are 14 hours ahead of UTC. */
const mostAdvancedZoneMs = 14 * 3_600_000;

function dayOf(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}

function reasonOf(findings: readonly Finding[]): string {
  const decisive = [...new Set(findings.filter(({ severity }) => severity === 'reject' || severity === 'review').map(({ code }) => code))];
  return decisive.length === 0 ? 'Every rule passed.' : `Decided by ${decisive.join(', ')}.`;
}

interface RecordLetterOptions {
  readonly vault: Vault;
  readonly brandId: number;
  readonly revision: number;
  readonly profile: BrandProfile;
  readonly operation: OperationRecord;
  readonly decided: DecidedLetter;
  readonly at: Date;
}

/** Stores a decided letter with its findings and numbers, the reading sealed, and moves it to its state. Returns its id. */
export async function recordLetter(client: Queryable, { vault, brandId, revision, profile, operation, decided, at }: RecordLetterOptions): Promise<number> {
  const { findings, reading, fields } = decided;
  const documentId = operation.letterDocumentId!; // a letter was read
  const row = await queryRow<{ letter_id: number }>(client, sql('branding/insert_letter'), [
    brandId, revision, documentId, operation.operationId, operation.requestedAt, decided.ruleVersion,
    reading?.format ?? null, reading?.pages.length ?? null, decided.signedOn, operation.requestedBy, `Handed in with operation ${operation.operationId}.`, profile.legalName, endOf(decided),
  ]);
  const letterId = row!.letter_id;
  await client.query(sql('branding/insert_findings'), [
    letterId,
    findings.map(({ code }) => code),
    findings.map(({ severity }) => severity),
    findings.map(({ message }) => message),
    findings.map(({ place }) => place?.page ?? null),
    findings.map(({ place }) => place?.line ?? null),
  ]);
  await client.query(sql('branding/insert_letter_numbers'), [letterId, decided.coveredPhones]);
  await storeReading({ db: client, vault }, documentId, { findings, fields, reading } satisfies SealedReading);
  const action = { approved: 'approve', rejected: 'reject', in_review: 'review' } as const;
  const cause = { actor: decided.ruleVersion, reason: decided.reason, operationId: operation.operationId };
  await moveLetter(client, { letterId, state: 'submitted', signedOn: decided.signedOn, endsOn: endOf(decided) }, { action: action[decided.outcome], at, cause });
  return letterId;
}

/**
 * Moves a letter by its table; an approval gives it its time of validity.
 * @throws ServiceError `transition_refused`
 */
export async function moveLetter(
  client: Queryable,
  letter: { letterId: number; state: LetterState; signedOn?: string | null; endsOn?: string | null },
  { action, at, cause }: { action: LetterAction; at: Date; cause: Cause },
): Promise<LetterState> {
  const object = String(letter.letterId);
  const to = transition(LETTER_TRANSITIONS, letter.state, { action, object });
  const validity = action === 'approve' ? letterValidity({ signedOn: letter.signedOn ?? null, endsOn: letter.endsOn ?? null, approvedAt: at }) : undefined;
  if (validity === null) throw new ServiceError('transition_refused', { operation: 'approve letter', object, problem: 'The letter was signed more than 12 months ago, or has ended by its own words.', hint: 'Ask for a new letter.' });
  await client.query(sql('branding/set_letter_state'), [letter.letterId, to, action, cause.actor, cause.reason, cause.operationId, validity?.from ?? null, validity?.until ?? null]);
  return to;
}
