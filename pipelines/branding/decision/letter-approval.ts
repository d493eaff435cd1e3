import { APPROVED_FIELDS, changedFields, type ApprovedProfile } from '../brand-profile.ts';
import type { Finding, LetterOutcome } from '../finding.ts';
import { dayOf, daysBetween } from '../letter/letter-dates.ts';
import type { KnownForm } from '../form/issued-form.ts';
import { FORM_RULES, formRuleLimits, type ApprovalPolicy, type FormRuleId } from './letter-form-rules.ts';
import type { RevocationPolicy } from '../letter-trust.ts';
import { compareHolder } from './certificate-holder.ts';
import type { LetterReading, PdfSignature, LetterPlace } from '../letter-reading.ts';
import { findingsBy, letterRuleLimits } from '../letter/rules/letter-rules.ts';
import { isWithin } from '../reading/pdf/page-geometry.ts';

/** The facts that the approval of a letter depends on, all cheap to compare, since it is decided under the lock of changes. */
export interface ApprovalFacts {
  /** The issued form that the letter is or shows; null: neither. */
  readonly form: KnownForm | null;
  readonly reading: Pick<LetterReading, 'signatures' | 'revisions'>;
  /** Findings of the rules of free text; for an issued form only those of `rulesBesideText` count. */
  readonly textFindings: readonly Finding[];
  readonly request: ApprovalRequest;
  /** Of the form's numbers. */
  readonly provenPhones: ReadonlySet<string>;
  readonly policy: ApprovalPolicy;
  readonly revocation: RevocationPolicy;
  readonly submittedAt: Date;
}

/** The request that a letter came with. */
interface ApprovalRequest {
  readonly profile: ApprovedProfile;
  /** The profile is the approved one of the brand, so that the letter adds numbers alone. */
  readonly isApprovedProfile: boolean;
  readonly owner: string;
  readonly brandId: number;
  /** E.164, each once. */
  readonly requestedPhones: readonly string[];
  /** Those of the form's numbers that the brand has. */
  readonly ownPhones: ReadonlySet<string>;
}

/** The outcome of a letter, and why. */
interface Approval {
  readonly outcome: LetterOutcome;
  readonly findings: readonly Finding[];
}

/** Rules of free text that apply to an issued form, too: they are about the request and not about the text. */
const rulesBesideText: ReadonlySet<string> = new Set([
  'numbers_of_one_brand',
  'letter_of_one_owner',
  'numbers_claimed_once',
]);

/**
 * Decides a letter. Only an issued form that was returned unchanged and signed by its signer under the policy is approved; its text
 * need not be interpreted. A free letter is rejected if a finding says so, else a person decides.
 */
export function decideApproval(facts: ApprovalFacts): Approval {
  const { form, textFindings } = facts;
  if (form === null || !form.sameBytes) {
    const findings = [report('form_issued', form === null ? 'not_issued' : 'printed'), ...textFindings];
    return { findings, outcome: findings.some(({ severity }) => severity === 'reject') ? 'rejected' : 'in_review' };
  }
  const findings = [...judgeForm(form, facts), ...textFindings.filter(({ code }) => rulesBesideText.has(code))];
  return { findings, outcome: outcomeOf(findings) };
}

/** The worst severity decides. */
function outcomeOf(findings: readonly Finding[]): LetterOutcome {
  if (findings.some(({ severity }) => severity === 'reject')) return 'rejected';
  return findings.some(({ severity }) => severity === 'review') ? 'in_review' : 'approved';
}

/** The part of a finding that is stored with a letter. */
export type KeptFinding = Pick<Finding, 'code' | 'severity'>;

/**
 * True if, by its stored findings, a letter waits only for the proof of its numbers: once every number is proven, it is
 * approved without being read again. A free letter never is, since one of its findings waits for a person. A note under one
 * policy does not count as passed under a stricter one.
 */
export function waitsForProofOnly(findings: readonly KeptFinding[], policy: ApprovalPolicy): boolean {
  const noted: readonly FormRuleId[] = [
    'form_certificate_not_revoked',
    'form_signer_fits',
    ...(policy === 'form+numbers' ? (['form_signature_trusted'] as const) : []),
  ];
  const holds = (id: FormRuleId) =>
    findings.some(({ code }) => code === id) &&
    findings.every(
      ({ code, severity }) => code !== id || severity === 'pass' || (severity === 'note' && noted.includes(id)),
    );
  const others = findings.filter(
    ({ code, severity }) => code !== 'numbers_proven' && (severity === 'review' || severity === 'reject'),
  );
  return others.length === 0 && FORM_RULES.every(({ id }) => id === 'numbers_proven' || holds(id));
}

const { pass, report, orPass } = findingsBy(FORM_RULES);

/** The finding on numbers that are all proven. */
export const provenFinding = pass('numbers_proven');

function judgeForm(form: KnownForm, facts: ApprovalFacts): readonly Finding[] {
  const isSigned = facts.reading.signatures.length > 0; // without a signature there are no findings on it
  return [
    ...judgeIssued(form, facts),
    ...judgeRequest(form, facts),
    ...judgeUnchanged(form, facts),
    ...judgeFormSignatures(facts),
    ...(isSigned
      ? [...judgeTrust(facts), ...judgeRevocation(facts), ...judgeFormSigner(form, facts), ...judgeTime(form, facts)]
      : []),
    ...judgeProof(form, facts),
  ];
}

function judgeIssued(form: KnownForm, { request, submittedAt }: ApprovalFacts): readonly Finding[] {
  return orPass('form_issued', [
    ...(form.owner === request.owner ? [] : [report('form_issued', 'other_client')]),
    ...(form.brandId === null || form.brandId === request.brandId ? [] : [report('form_issued', 'other_brand')]),
    ...(submittedAt > form.validUntil
      ? [report('form_issued', 'out_of_date', null, { until: dayOf(form.validUntil) })]
      : []),
    ...(form.revoked ? [report('form_issued', 'revoked')] : []),
    ...(form.decidedAgainst ? [report('form_issued', 'decided_against')] : []),
  ]);
}

function judgeRequest({ content }: KnownForm, { request }: ApprovalFacts): readonly Finding[] {
  const others = changedFields(content, request.profile).map((field) => APPROVED_FIELDS[field]);
  const onForm = new Set(content.phones);
  const requested = new Set(request.requestedPhones);
  const missing = request.requestedPhones.filter((phone) => !onForm.has(phone)).length;
  const more = content.phones.filter((phone) => !requested.has(phone) && !request.ownPhones.has(phone)).length;
  return orPass('form_fits_request', [
    ...(others.length === 0 ? [] : [report('form_fits_request', 'other_details', null, { fields: others.join(', ') })]),
    ...(missing === 0
      ? []
      : [report('form_fits_request', 'missing_numbers', null, { missing, requested: requested.size })]),
    ...(more === 0 ? [] : [report('form_fits_request', 'more_numbers', null, { more })]),
  ]);
}

const changesShownMax = 3;

function judgeUnchanged(
  { signaturePlace }: KnownForm,
  { reading: { revisions, signatures } }: ApprovalFacts,
): readonly Finding[] {
  const others = revisions.slice(1).filter(({ kind }) => kind === 'other');
  const changes = [
    ...new Set(
      others.flatMap((revision) => (revision.changes.length === 0 ? ['something else was added'] : revision.changes)),
    ),
  ];
  if (others.length === 0 && signatures.some(({ coverage }) => coverage === 'changed' || coverage === 'partial'))
    changes.push('a signature does not cover what the file shows');
  const elsewhere = signatures.find((signature) => !isInPlace(signature, signaturePlace));
  return orPass('form_unchanged', [
    ...(changes.length === 0
      ? []
      : [report('form_unchanged', 'changed', null, { changes: changes.slice(0, changesShownMax).join('; ') })]),
    ...(elsewhere === undefined
      ? []
      : [report('form_unchanged', 'drawn_elsewhere', { place: signaturePlaceOf(elsewhere) })]),
  ]);
}

/** A signature is invisible, or drawn within the reserved rectangle. */
function isInPlace({ page, box }: PdfSignature, reserved: LetterPlace): boolean {
  if (page === null) return true;
  return page === reserved.page && box !== null && isWithin(box, reserved.box!);
}

function signaturePlaceOf({ page, box }: PdfSignature): LetterPlace | null {
  return page === null ? null : { page, line: 0, box };
}

function judgeFormSignatures({ reading: { signatures, revisions } }: ApprovalFacts): readonly Finding[] {
  if (signatures.length === 0)
    return [report('form_signed', revisions.length > 1 ? 'missing_beside_changes' : 'missing')];
  return orPass(
    'form_signed',
    signatures.flatMap((signature) => {
      if (signature.signatureValid && !signature.digestMatches)
        return [report('form_signed', 'altered', { place: signaturePlaceOf(signature) })];
      return signature.signatureValid && signature.digestMatches
        ? []
        : [report('form_signed', 'unverified', { place: signaturePlaceOf(signature) })];
    }),
  );
}

function judgeTrust({ reading: { signatures }, policy, request }: ApprovalFacts): readonly Finding[] {
  const chains = new Set(signatures.map(({ chain }) => chain));
  if (chains.size === 1 && chains.has('trusted')) return [pass('form_signature_trusted')];
  if (policy === 'form+numbers')
    return [report('form_signature_trusted', request.isApprovedProfile ? 'not_needed' : 'name_unproven')];
  return [report('form_signature_trusted', chains.has('unchecked') ? 'no_roots' : 'untrusted')];
}

function judgeRevocation({ reading: { signatures }, revocation }: ApprovalFacts): readonly Finding[] {
  const id = 'form_certificate_not_revoked';
  if (revocation === 'off') return [report(id, 'not_checked')];
  if (signatures.some(({ revocation: status }) => status === 'revoked')) return [report(id, 'revoked')];
  if (signatures.every(({ revocation: status }) => status === 'good')) return [pass(id)];
  return [report(id, revocation === 'require' ? 'unknown' : 'unknown_noted')];
}

function judgeFormSigner(
  { content }: KnownForm,
  { reading: { signatures }, policy, request }: ApprovalFacts,
): readonly Finding[] {
  return orPass(
    'form_signer_fits',
    signatures.flatMap((signature) => {
      const found = compareHolder(signature, content);
      if (found === null) return [];
      const isNameKnown = found === 'no_company' && policy !== 'signature' && request.isApprovedProfile;
      return [
        report('form_signer_fits', isNameKnown ? 'company_not_needed' : found, { place: signaturePlaceOf(signature) }),
      ];
    }),
  );
}

function judgeTime(
  { issuedAt }: KnownForm,
  { reading: { signatures }, submittedAt }: ApprovalFacts,
): readonly Finding[] {
  const slackMs = formRuleLimits.clockMinutesMax * 60_000;
  return orPass(
    'form_signed_in_time',
    signatures.flatMap((signature) => {
      const place = signaturePlaceOf(signature);
      if (signature.signedAt === null) return [report('form_signed_in_time', 'no_time', { place })];
      const at = Date.parse(signature.signedAt);
      const days = daysBetween(signature.signedAt.slice(0, 10), dayOf(submittedAt));
      if (at < issuedAt.getTime() - slackMs) return [report('form_signed_in_time', 'before_issue', { place })];
      if (at > submittedAt.getTime() + slackMs) return [report('form_signed_in_time', 'future', { place })];
      return days > letterRuleLimits.ageDaysMax ? [report('form_signed_in_time', 'too_old', { place }, { days })] : [];
    }),
  );
}

function judgeProof({ content: { phones } }: KnownForm, { provenPhones, policy }: ApprovalFacts): readonly Finding[] {
  if (policy === 'signature') return [pass('numbers_proven')];
  if (phones.length === 0)
    return [policy === 'form+numbers' ? report('numbers_proven', 'none') : pass('numbers_proven')];
  const missing = phones.filter((phone) => !provenPhones.has(phone)).length;
  return [
    missing === 0
      ? pass('numbers_proven')
      : report('numbers_proven', 'unproven', null, { missing, requested: phones.length }),
  ];
}

/** The day on which a form was signed, by the latest of its signatures; null if none has a time. */
export function formSignedOn({ signatures }: Pick<LetterReading, 'signatures'>): string | null {
  return (
    signatures
      .flatMap(({ signedAt }) => signedAt?.slice(0, 10) ?? [])
      .sort()
      .at(-1) ?? null
  );
}
