import { ServiceError } from '../../../runtime/errors.ts';
import { queryRow, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { Vault } from '../../../runtime/secrets/vault.ts';
import type { BrandProfile } from '../brand-profile.ts';
import { storeReading } from '../document-store.ts';
import type { Finding, LetterOutcome } from '../finding.ts';
import { decideApproval, formSignedOn, type ApprovalFacts } from '../decision/letter-approval.ts';
import type { LetterFinds } from '../letter/letter-finds.ts';
import type { LetterReading, LetterReadingOutcome } from '../letter-reading.ts';
import { letterRuleVersion } from '../letter/rules/letter-rules.ts';
import type { LetterTextDecision } from '../decision/letter-text-decision.ts';
import { letterValidity } from './letter-validity.ts';
import type { OperationRecord } from '../operation.ts';
import { causeValues, type Cause } from './settle.ts';
import { LETTER_TRANSITIONS, transition, type LetterAction, type LetterState } from '../states.ts';

/** The decision on a letter, whether it could be read or not. */
export interface DecidedLetter {
  readonly outcome: LetterOutcome;
  readonly ruleVersion: string;
  readonly findings: readonly Finding[];
  readonly signedOn: string | null;
  readonly coveredPhones: readonly string[];
  /** The issued form that it equals byte for byte, and whether it was issued for this request, so that no other brand may use it. */
  readonly formId: number | null;
  readonly formFits: boolean;
  /** Null if it could not be read. */
  readonly reading: LetterReading | null;
  readonly finds: LetterFinds | null;
  /** For the audit trail: the codes that decided. */
  readonly reason: string;
}

/** The sealed content that comes with a letter, for reviewers. */
export interface SealedReading {
  readonly findings: readonly Finding[];
  readonly finds: LetterFinds | null;
  readonly reading: LetterReading | null;
}

/** The input of the decision under the lock of changes: the reading and the findings on the text, and facts that may have changed since. */
interface LetterDecisionFacts extends Omit<ApprovalFacts, 'reading' | 'textFindings'> {
  readonly reading: LetterReadingOutcome;
  readonly text: LetterTextDecision;
  /** Findings about the request that need the database. */
  readonly more: readonly Finding[];
}

/** Decides a letter by the findings on its text and by the issued form that it is. */
export function concludeLetter({ reading: outcome, text, more, ...facts }: LetterDecisionFacts): DecidedLetter {
  const reading = outcome.kind === 'read' ? outcome.reading : null;
  const { form, request } = facts;
  const known = { ruleVersion: letterRuleVersion, reading, formId: null, formFits: false };
  if (reading === null) return { ...text, ...known, outcome: 'rejected', reason: reasonOfFindings(text.findings) };
  const { outcome: verdict, findings: all } = decideApproval({
    ...facts,
    reading,
    textFindings: [...text.findings, ...more],
  });
  const isForm = form !== null && form.sameBytes;
  const findings = isForm ? all : all.filter(({ severity }) => severity !== 'pass'); // of a free letter nothing is said to be in order
  const { finds, signedOn, coveredPhones } = text;
  const decided = { ...known, outcome: verdict, findings, finds, reason: reasonOfFindings(findings) };
  if (!isForm) return { ...decided, signedOn, coveredPhones };
  return {
    ...decided,
    signedOn: formSignedOn(reading),
    coveredPhones: form.content.phones,
    formId: form.owner === request.owner ? form.formId : null, // another client's copy must not count against the form
    formFits: !findings.some(
      ({ code, severity }) => severity === 'review' && (code === 'form_issued' || code === 'form_fits_request'),
    ),
  };
}

function reasonOfFindings(findings: readonly Finding[]): string {
  const decisive = [
    ...new Set(
      findings.filter(({ severity }) => severity === 'reject' || severity === 'review').map(({ code }) => code),
    ),
  ];
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
export async function recordLetter(
  client: Queryable,
  { vault, brandId, revision, profile, operation, decided, at }: RecordLetterOptions,
): Promise<number> {
  const { findings, reading, finds } = decided;
  const documentId = operation.letterDocumentId!; // a letter was read
  const row = await queryRow<{ letterId: number }>(client, sql('branding/insert_letter'), [
    brandId,
    revision,
    documentId,
    operation.operationId,
    operation.requestedAt,
    decided.ruleVersion,
    reading?.format ?? null,
    reading?.pages.length ?? null,
    decided.signedOn,
    operation.requestedBy,
    `Submitted with operation ${operation.operationId}.`,
    profile.legalName,
    decided.formId,
  ]);
  const letterId = row!.letterId;
  await client.query(sql('branding/insert_findings'), [
    letterId,
    findings.map(({ code }) => code),
    findings.map(({ severity }) => severity),
    findings.map(({ message }) => message),
    findings.map(({ place }) => place?.page ?? null),
    findings.map(({ place }) => place?.line ?? null),
  ]);
  if (decided.formId !== null && decided.formFits)
    await client.query(sql('branding/use_issued_form'), [decided.formId, brandId]);
  await client.query(sql('branding/insert_letter_numbers'), [letterId, decided.coveredPhones]);
  await storeReading({ db: client, vault }, documentId, { findings, finds, reading } satisfies SealedReading);
  const action = { approved: 'approve', rejected: 'reject', in_review: 'review' } as const;
  const cause = { actor: decided.ruleVersion, reason: decided.reason, operationId: operation.operationId };
  await moveLetter(
    client,
    { letterId, state: 'submitted', signedOn: decided.signedOn },
    { action: action[decided.outcome], at, cause },
  );
  return letterId;
}

/**
 * Moves a letter by its transition table; an approval sets its validity.
 * @throws ServiceError `transition_refused`
 */
export async function moveLetter(
  client: Queryable,
  letter: { letterId: number; state: LetterState; signedOn?: string | null },
  { action, at, cause, endsOn = null }: { action: LetterAction; at: Date; cause: Cause; endsOn?: string | null },
): Promise<LetterState> {
  const object = String(letter.letterId);
  const to = transition(LETTER_TRANSITIONS, letter.state, { action, object });
  const validity =
    action === 'approve' ? letterValidity({ signedOn: letter.signedOn ?? null, endsOn, approvedAt: at }) : undefined;
  if (validity === null)
    throw new ServiceError('transition_refused', {
      operation: 'approve letter',
      object,
      problem: 'The letter was signed more than 12 months ago, or has ended.',
      hint: 'Ask for a new letter.',
    });
  await client.query(sql('branding/set_letter_state'), [
    letter.letterId,
    to,
    action,
    ...causeValues(cause),
    validity?.from ?? null,
    validity?.until ?? null,
  ]);
  return to;
}
