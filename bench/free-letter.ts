import { brandProfileSchema } from '../pipelines/branding/brand-profile.ts';
import type { Finding, LetterOutcome } from '../pipelines/branding/finding.ts';
import { decideApproval } from '../pipelines/branding/decision/letter-approval.ts';
import type { LetterBrand } from '../pipelines/branding/letter/rules/letter-case.ts';
import type { LetterReading } from '../pipelines/branding/letter-reading.ts';

/** A letter that is no issued form, as it was read and judged. */
interface FreeLetter {
  readonly reading: LetterReading;
  readonly findings: readonly Finding[];
  readonly brand: LetterBrand;
  /** E.164, as requested. */
  readonly phones: readonly string[];
  readonly submittedAt: Date;
}

/** What the service decides on a letter that is no issued form. */
export function decideFreeLetter({ reading, findings, brand, phones, submittedAt }: FreeLetter): LetterOutcome {
  const { legalName, dba, displayName } = brand;
  const request = {
    owner: 'bench',
    brandId: 1,
    profile: brandProfileSchema.parse({ legalName, dba, displayName, country: 'US' }),
    isApprovedProfile: false,
    requestedPhones: phones,
    ownPhones: new Set<string>(),
  };
  return decideApproval({
    form: null,
    reading,
    textFindings: findings,
    request,
    provenPhones: new Set(),
    policy: 'signature',
    revocation: 'check',
    submittedAt,
  }).outcome;
}
