import { findFormCodes, digestsOfFirstRevision, type KnownForm } from '../../pipelines/branding/form/issued-form.ts';
import { formVersion, renderLetterForm } from '../../pipelines/branding/form/letter-form-pdf.ts';
import type { LetterReadingOutcome } from '../../pipelines/branding/letter-reading.ts';
import { checkBrand, needsPerson } from '../../pipelines/branding/brand/brand-check.ts';
import type { Finding, LetterOutcome } from '../../pipelines/branding/finding.ts';
import type { RevocationData } from '../../pipelines/branding/letter-trust.ts';
import { protectedNamesWith } from '../../pipelines/branding/names/protected-names.ts';
import { concludeLetter } from '../../pipelines/branding/brand/letter-record.ts';
import { decideLetterText } from '../../pipelines/branding/decision/letter-text-decision.ts';
import { formContent, handedInOn, type FormKind } from './form-kinds.ts';
import { sha256Of } from '../../runtime/digest.ts';

const owner = 'client';
const issue = {
  code: 'BCDFGHJKLMNPQRSTVWXYZ23456',
  issuedAt: new Date('2026-05-15T09:00:00Z'),
  validUntil: new Date('2026-06-14T09:00:00Z'),
};
const submittedAt = new Date(`${handedInOn}T12:00:00Z`);

/** A kind of the catalogue and what the service decides on it under the policy `signature`. */
export interface JudgedForm {
  readonly kind: FormKind;
  /** Of the letter and of the brand that it names: a person decides where one of them says so. */
  readonly outcome: LetterOutcome;
  readonly findings: readonly Finding[];
  /** Whether the rule that must say what is wrong does; null for an honest letter. */
  readonly isPointedAt: boolean | null;
}

/** Issues the form, makes the file that comes back, and decides it as a worker does. */
export async function judgeForm(
  kind: FormKind,
  read: (bytes: Uint8Array, revocationData: RevocationData) => Promise<LetterReadingOutcome>,
): Promise<JudgedForm> {
  const content = { ...formContent, ...kind.content };
  const { bytes: issued, signaturePlace } = await renderLetterForm(content, issue, 'en');
  const { bytes: savedAnew } = await renderLetterForm(content, { ...issue, issuedAt: submittedAt }, 'en');
  const bytes = kind.make({ issued, savedAnew });
  const outcome = await read(bytes, kind.revocationData);
  const sha256 = sha256Of(issued);
  const sameBytes = outcome.kind === 'read' && digestsOfFirstRevision(bytes, outcome.reading).includes(sha256);
  const known: KnownForm = {
    formId: 1,
    ...issue,
    owner,
    sha256,
    bytes: issued.length,
    formVersion,
    language: 'en',
    content,
    signaturePlace,
    brandId: null,
    decidedAgainst: false,
    revoked: false,
    ...kind.known,
    sameBytes,
  };
  const { signerName: _name, signerTitle: _title, phones: _phones, ...shown } = content;
  const brand = { ...shown, contact: null, relationship: 'owner' as const, ...kind.requested };
  const text = decideLetterText({
    reading: outcome,
    brand,
    submittedAt,
    requestedPhones: kind.phones,
    phonesOfOtherBrands: [],
  });
  const isKnown = sameBytes || (outcome.kind === 'read' && findFormCodes(outcome.reading).includes(issue.code));
  const request = {
    owner,
    brandId: 1,
    profile: brand,
    isApprovedProfile: kind.facts.isApprovedProfile ?? false,
    requestedPhones: kind.phones,
    ownPhones: new Set<string>(),
  };
  const decided = concludeLetter({
    reading: outcome,
    text,
    more: [],
    form: isKnown ? known : null,
    request,
    provenPhones: new Set(),
    policy: 'signature',
    revocation: 'check',
    submittedAt,
    ...kind.facts,
  });
  const findings = [...decided.findings, ...checkBrand(brand, protectedNamesWith([]))];
  const isPointedAt =
    kind.wrong === null
      ? null
      : findings.some(({ code, severity }) => code === kind.wrong && (severity === 'review' || severity === 'reject'));
  const outcomeOfBoth = decided.outcome === 'approved' && needsPerson(findings) ? 'in_review' : decided.outcome;
  return { kind, findings, outcome: outcomeOfBoth, isPointedAt };
}
