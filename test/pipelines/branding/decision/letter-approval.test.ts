import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../../pipelines/branding/finding.ts';
import {
  decideApproval,
  provenFinding,
  waitsForProofOnly,
  type ApprovalFacts,
} from '../../../../pipelines/branding/decision/letter-approval.ts';
import type { ApprovedProfile } from '../../../../pipelines/branding/brand-profile.ts';
import type { KnownForm } from '../../../../pipelines/branding/form/issued-form.ts';
import { FORM_RULES, type ApprovalPolicy } from '../../../../pipelines/branding/decision/letter-form-rules.ts';
import type { PdfRevision, PdfSignature } from '../../../../pipelines/branding/letter-reading.ts';
import { letterRuleLimits, type LetterRule } from '../../../../pipelines/branding/letter/rules/letter-rules.ts';

const phones = ['+12125550100', '+12125550101'];
const box = { left: 0.1, top: 0.8, width: 0.5, height: 0.08 };
const submittedAt = new Date('2026-05-20T12:00:00Z');
const dayMs = 86_400_000;

const profile: ApprovedProfile = {
  legalName: 'Northwind Dental LLC',
  dba: null,
  displayName: 'Northwind Dental',
  website: 'https://northwind.example',
  logo: 'https://northwind.example/logo.png',
  logoSha256: 'a'.repeat(64),
  callReasons: ['Appointment reminder', 'Survey'],
  country: 'US',
  taxId: null,
  address: null,
};
const form: KnownForm = {
  formId: 1,
  code: 'A'.repeat(26),
  owner: 'agency',
  sha256: 'f'.repeat(64),
  bytes: 100,
  formVersion: 'letter-form/1',
  language: 'en',
  content: { ...profile, signerName: 'Jane Sample', signerTitle: 'Director', phones },
  signaturePlace: { page: 1, line: 0, box },
  issuedAt: new Date('2026-05-01T12:00:00Z'),
  validUntil: new Date('2026-05-31T12:00:00Z'),
  brandId: null,
  decidedAgainst: false,
  revoked: false,
  sameBytes: true,
};
const signature: PdfSignature = {
  field: 'Signature',
  page: 1,
  box,
  subFilter: 'adbe.pkcs7.detached',
  signerName: 'Jane Sample',
  signerOrganization: 'Northwind Dental LLC',
  signerCountry: 'US',
  signerOrganizationId: null,
  signedAt: '2026-05-19T08:00:00.000Z',
  timeStamp: null,
  digestMatches: true,
  signatureValid: true,
  coverage: 'whole',
  chain: 'trusted',
  revocation: 'good',
  problem: null,
};
const revision = (kind: PdfRevision['kind'], changes: readonly string[] = []): PdfRevision => ({
  end: 100,
  sha256: 'f'.repeat(64),
  kind,
  changes,
});

interface Change {
  readonly form?: Partial<KnownForm> | null;
  readonly content?: Partial<KnownForm['content']>;
  readonly signature?: Partial<PdfSignature>;
  readonly signatures?: readonly PdfSignature[];
  readonly revisions?: readonly PdfRevision[];
  readonly request?: Partial<Omit<ApprovalFacts['request'], 'profile'>>;
  /** What the request has besides what the form shows. */
  readonly requested?: Partial<ApprovedProfile>;
  readonly facts?: Partial<ApprovalFacts>;
}

function factsOf({
  form: formChanges = {},
  content,
  signature: signed,
  signatures,
  revisions,
  request,
  requested,
  facts,
}: Change = {}): ApprovalFacts {
  return {
    form: formChanges === null ? null : { ...form, ...formChanges, content: { ...form.content, ...content } },
    reading: {
      signatures: signatures ?? [{ ...signature, ...signed }],
      revisions: revisions ?? [revision('original'), revision('signature')],
    },
    textFindings: [],
    provenPhones: new Set(),
    policy: 'signature',
    revocation: 'check',
    submittedAt,
    ...facts,
    request: {
      owner: 'agency',
      brandId: 7,
      profile: { ...profile, ...requested },
      isApprovedProfile: false,
      requestedPhones: phones,
      ownPhones: new Set(),
      ...request,
    },
  };
}

/** Outcome, and the codes with the cases that did not pass. */
function verdict(change: Change = {}): string {
  const { outcome, findings } = decideApproval(factsOf(change));
  const decisive = findings
    .filter(({ severity }) => severity !== 'pass')
    .map((finding) => `${finding.code}.${caseOf(finding)}`);
  return [outcome, ...decisive].join(' ');
}

function caseOf({ code, message }: Finding): string {
  const cases: LetterRule['cases'] = FORM_RULES.find(({ id }) => id === code)?.cases ?? {};
  const found = Object.entries(cases).find(([, { message: text }]) =>
    new RegExp(
      `^${text
        .split(/\{\w+\}/)
        .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
        .join('.*')}$`,
    ).test(message),
  );
  return found?.[0] ?? '?';
}

const reject: Finding = { code: 'text_readable', severity: 'reject', message: '', place: null, excerpt: null };
const passing: Finding = { ...reject, code: 'letter_signed', severity: 'pass' };

describe('an issued form that came back signed', () => {
  it('is approved, with a finding of every rule', () => {
    const { outcome, findings } = decideApproval(factsOf());
    expect(outcome).toBe('approved');
    expect(findings.map(({ code, severity }) => [code, severity])).toEqual(FORM_RULES.map(({ id }) => [id, 'pass']));
  });

  it.each<[string, Change]>([
    [
      'validation data and a time stamp after the signature',
      {
        revisions: [revision('original'), revision('signature'), revision('validation'), revision('time_stamp')],
        signature: { coverage: 'extended' },
      },
    ],
    ['a signature that shows nothing', { signature: { page: null, box: null } }],
    [
      'the number of the company in certificate and form',
      {
        content: { taxId: '52-1234567' },
        requested: { taxId: '52-1234567' },
        signature: { signerOrganizationId: 'NTRUS+OH-521234567' },
      },
    ],
    [
      'the VAT number',
      { content: { taxId: 'US 99' }, requested: { taxId: 'US 99' }, signature: { signerOrganizationId: 'VATUS-99' } },
    ],
    [
      'a number of the company in the certificate alone',
      { signature: { signerOrganizationId: 'LEIXG-529900T8BM49AURSDO55' } },
    ],
    ['a title before the signer’s name', { signature: { signerName: 'Dr. Jane Sample' } }],
    ['the family name first', { signature: { signerName: 'Sample, Jane' } }],
    ['an organization of another writing', { signature: { signerOrganization: 'NORTHWIND DENTAL, LLC' } }],
    ['a note of the rules of text that would refuse a free letter', { facts: { textFindings: [reject] } }],
    ['numbers on it that the brand has already', { request: { requestedPhones: [], ownPhones: new Set(phones) } }],
    ['a form that became a letter of the same brand before', { form: { brandId: 7 } }],
    [
      'a signature on the last day',
      { form: { issuedAt: new Date('2026-04-01T00:00:00Z') }, signature: { signedAt: '2026-04-20T00:00:00.000Z' } },
    ],
    ['a submission at the last moment', { form: { validUntil: submittedAt } }],
  ])('is approved with %s', (_what, change) => {
    expect(verdict(change)).toBe('approved');
  });

  it.each<[string, Change, string]>([
    ['nothing that was issued', { form: null }, 'in_review form_issued.not_issued'],
    ['a copy that was printed or saved again', { form: { sameBytes: false } }, 'in_review form_issued.printed'],
    ['a form of another client', { form: { owner: 'other' } }, 'in_review form_issued.other_client'],
    ['a form that another brand has used', { form: { brandId: 8 } }, 'in_review form_issued.other_brand'],
    [
      'a form out of date',
      { form: { validUntil: new Date(submittedAt.getTime() - 1) } },
      'in_review form_issued.out_of_date',
    ],
    ['a form that was revoked', { form: { revoked: true } }, 'in_review form_issued.revoked'],
    [
      'a form that a person has decided against',
      { form: { decidedAgainst: true } },
      'in_review form_issued.decided_against',
    ],
    ...Object.entries<Partial<ApprovedProfile>>({
      'another legal name': { legalName: 'Meridian Bank Inc.' },
      'a DBA': { dba: 'Smiles' },
      'another display name': { displayName: 'Meridian Bank' },
      'another website': { website: 'https://meridian.example' },
      'another logo': { logo: 'https://meridian.example/logo.png' },
      'another picture of the logo': { logoSha256: null },
      'a call reason more': { callReasons: [...profile.callReasons, 'Your card is blocked'] },
      'another first call reason': { callReasons: [...profile.callReasons].reverse() },
      'another country': { country: 'CA' },
      'a tax id': { taxId: '52-1234567' },
      'an address': { address: '1 Main Street' },
    }).map(([what, requested]): [string, Change, string] => [
      `a request of ${what}`,
      { requested },
      'in_review form_fits_request.other_details',
    ]),
    [
      'a requested number that is not on it',
      { request: { requestedPhones: [...phones, '+12125550102'] } },
      'in_review form_fits_request.missing_numbers',
    ],
    [
      'a list of other numbers in place of its own',
      { request: { requestedPhones: ['+12125550100', '+12125550109'] } },
      'in_review form_fits_request.missing_numbers form_fits_request.more_numbers',
    ],
    [
      'a number on it that nobody asked for',
      { request: { requestedPhones: phones.slice(1) } },
      'in_review form_fits_request.more_numbers',
    ],
    [
      'a change besides the signature',
      { revisions: [revision('original'), revision('other', ['page 1: content']), revision('signature')] },
      'in_review form_unchanged.changed',
    ],
    [
      'a change after the signature',
      {
        revisions: [revision('original'), revision('signature'), revision('other')],
        signature: { coverage: 'changed' },
      },
      'in_review form_unchanged.changed',
    ],
    ['a signature that leaves bytes out', { signature: { coverage: 'partial' } }, 'in_review form_unchanged.changed'],
    [
      'a signature that is drawn over the text',
      { signature: { box: { left: 0.1, top: 0.1, width: 0.8, height: 0.5 } } },
      'in_review form_unchanged.drawn_elsewhere',
    ],
    ['a signature on another page', { signature: { page: 2 } }, 'in_review form_unchanged.drawn_elsewhere'],
    [
      'a signature without a rectangle on a page',
      { signature: { box: null } },
      'in_review form_unchanged.drawn_elsewhere',
    ],
    ['no signature', { signatures: [], revisions: [revision('original')] }, 'rejected form_signed.missing'],
    [
      'no signature but something drawn',
      { signatures: [], revisions: [revision('original'), revision('other')] },
      'in_review form_unchanged.changed form_signed.missing_beside_changes',
    ],
    ['bytes changed after signing', { signature: { digestMatches: false } }, 'rejected form_signed.altered'],
    [
      'a signature that could not be verified',
      { signature: { signatureValid: false, digestMatches: false, problem: 'unknown' } },
      'in_review form_signed.unverified',
    ],
    ['a self-made certificate', { signature: { chain: 'untrusted' } }, 'in_review form_signature_trusted.untrusted'],
    ['no roots', { signature: { chain: 'unchecked' } }, 'in_review form_signature_trusted.no_roots'],
    [
      'a trusted certificate of another person',
      { signature: { signerName: 'John Other' } },
      'in_review form_signer_fits.another_person',
    ],
    [
      'a trusted certificate of another company',
      { signature: { signerOrganization: 'Meridian Bank Inc.' } },
      'in_review form_signer_fits.another_company',
    ],
    [
      'a trusted certificate of the company that the sender calls its DBA',
      { content: { dba: 'Zed' }, requested: { dba: 'Zed' }, signature: { signerOrganization: 'Zed LLC' } },
      'in_review form_signer_fits.another_company',
    ],
    [
      'a trusted certificate of a company that has the display name',
      { signature: { signerOrganization: 'Northwind Dental GmbH' } },
      'in_review form_signer_fits.another_company',
    ],
    [
      'a trusted certificate of a company whose name contains this one',
      { signature: { signerOrganization: 'Friends of Northwind Dental LLC' } },
      'in_review form_signer_fits.another_company',
    ],
    [
      'a trusted certificate whose company has a letter of another alphabet',
      { signature: { signerOrganization: 'Nоrthwind Dental LLC' } },
      'in_review form_signer_fits.another_company',
    ],
    [
      'a trusted certificate of a person of no company',
      { signature: { signerOrganization: null } },
      'in_review form_signer_fits.no_company',
    ],
    [
      'a trusted certificate of a company of the same name in another country',
      { signature: { signerCountry: 'MD' } },
      'in_review form_signer_fits.another_country',
    ],
    [
      'a trusted certificate that names no country',
      { signature: { signerCountry: null } },
      'in_review form_signer_fits.no_country',
    ],
    [
      'a trusted certificate with the number of another country',
      { signature: { signerOrganizationId: 'VATMD-521234567' } },
      'in_review form_signer_fits.another_number',
    ],
    [
      'a trusted certificate with another number of the company',
      {
        content: { taxId: '52-1234567' },
        requested: { taxId: '52-1234567' },
        signature: { signerOrganizationId: 'NTRUS-7' },
      },
      'in_review form_signer_fits.another_number',
    ],
    [
      'a signer with one more name',
      { signature: { signerName: 'Jane Mallory Sample' } },
      'in_review form_signer_fits.another_person',
    ],
    [
      'a signer with an initial more',
      { signature: { signerName: 'Jane M. Sample' } },
      'in_review form_signer_fits.another_person',
    ],
    [
      'a signer of another generation',
      { signature: { signerName: 'Jane Sample III' } },
      'in_review form_signer_fits.another_person',
    ],
    [
      'a revoked certificate',
      { signature: { chain: 'untrusted', revocation: 'revoked' } },
      'rejected form_signature_trusted.untrusted form_certificate_not_revoked.revoked',
    ],
    [
      'a certificate of which nothing is known, where that is required',
      { signature: { revocation: 'unknown' }, facts: { revocation: 'require' } },
      'in_review form_certificate_not_revoked.unknown',
    ],
    ['a certificate without a name', { signature: { signerName: null } }, 'in_review form_signer_fits.another_person'],
    [
      'a second signature of somebody else',
      { signatures: [signature, { ...signature, signerName: 'John Other' }] },
      'in_review form_signer_fits.another_person',
    ],
    [
      'a second signature that is not trusted',
      { signatures: [signature, { ...signature, chain: 'untrusted' }] },
      'in_review form_signature_trusted.untrusted',
    ],
    [
      'a signature from before the form was issued',
      { signature: { signedAt: '2026-05-01T11:49:59.000Z' } },
      'in_review form_signed_in_time.before_issue',
    ],
    [
      'a signature from the future',
      { signature: { signedAt: '2026-05-20T12:10:01.000Z' } },
      'in_review form_signed_in_time.future',
    ],
    ['a signature without a time', { signature: { signedAt: null } }, 'in_review form_signed_in_time.no_time'],
    [
      'a signature of a day too long ago',
      {
        form: { issuedAt: new Date('2026-04-01T00:00:00Z') },
        signature: {
          signedAt: new Date(submittedAt.getTime() - (letterRuleLimits.ageDaysMax + 1) * dayMs).toISOString(),
        },
      },
      'in_review form_signed_in_time.too_old',
    ],
  ])('is not approved with %s', (_what, change, expected) => {
    expect(verdict(change)).toBe(expected);
  });

  it('is refused where its numbers belong to another brand', () => {
    expect(
      decideApproval(factsOf({ facts: { textFindings: [{ ...reject, code: 'numbers_of_one_brand' }] } })).outcome,
    ).toBe('rejected');
    expect(
      decideApproval(
        factsOf({ facts: { textFindings: [{ ...reject, code: 'letter_of_one_owner', severity: 'review' }] } }),
      ).outcome,
    ).toBe('in_review');
  });
});

describe('a free letter', () => {
  it.each<ApprovalPolicy>(['signature', 'signature+numbers', 'form+numbers'])(
    'is never approved under %s, whatever passes and is proven',
    (policy) => {
      for (const sameBytes of [null, false]) {
        const facts = factsOf({
          form: sameBytes === null ? null : { sameBytes },
          facts: { policy, provenPhones: new Set(phones), textFindings: [passing] },
        });
        expect(decideApproval(facts).outcome).toBe('in_review');
        expect(decideApproval({ ...facts, textFindings: [passing, reject] }).outcome).toBe('rejected');
      }
    },
  );
});

describe('the setting', () => {
  const selfMade: Change = { signature: { chain: 'untrusted', revocation: 'unknown', signerOrganization: null } };
  const proven = (policy: ApprovalPolicy, count = phones.length): Change => ({
    facts: { policy, provenPhones: new Set(phones.slice(0, count)) },
  });
  const ofApproved: Change = { request: { isApprovedProfile: true } };

  it('signature+numbers asks for both', () => {
    expect(verdict(proven('signature+numbers'))).toBe('approved');
    expect(verdict(proven('signature+numbers', 1))).toBe('in_review numbers_proven.unproven');
    expect(verdict({ ...selfMade, ...proven('signature+numbers') })).toMatch(
      /^in_review form_signature_trusted\.untrusted .*form_signer_fits\.no_company$/,
    );
    expect(verdict({ signature: { signerOrganization: null }, ...ofApproved, ...proven('signature+numbers') })).toBe(
      'approved form_signer_fits.company_not_needed',
    );
  });

  it('form+numbers sends a new name under a self-made certificate to a person, however many numbers are proven', () => {
    expect(verdict({ ...selfMade, ...proven('form+numbers') })).toBe(
      'in_review form_signature_trusted.name_unproven form_certificate_not_revoked.unknown_noted form_signer_fits.no_company',
    );
    expect(verdict({ signature: { signerOrganization: null }, ...proven('form+numbers') })).toBe(
      'in_review form_signer_fits.no_company',
    );
    expect(verdict(proven('form+numbers'))).toBe('approved');
  });

  it('form+numbers takes a self-made certificate of the signer for more numbers of an approved brand, if each is proven', () => {
    const more = { ...selfMade, ...ofApproved };
    expect(verdict({ ...more, ...proven('form+numbers') })).toBe(
      'approved form_signature_trusted.not_needed form_certificate_not_revoked.unknown_noted form_signer_fits.company_not_needed',
    );
    expect(verdict({ ...more, ...proven('form+numbers', 1) })).toMatch(/^in_review .*numbers_proven\.unproven$/);
    expect(
      verdict({
        ...more,
        ...proven('form+numbers'),
        content: { phones: [] },
        request: { requestedPhones: [], isApprovedProfile: true },
      }),
    ).toMatch(/^in_review .*numbers_proven\.none$/);
    expect(verdict({ ...proven('form+numbers'), signature: { chain: 'untrusted', signerName: 'John Other' } })).toMatch(
      /^in_review /,
    );
    expect(verdict({ ...proven('form+numbers'), signatures: [], revisions: [revision('original')] })).toMatch(
      /^rejected /,
    );
  });

  it('about revocation notes by default that nothing is known, and is not asked where it is off', () => {
    const unknown: Change = { signature: { revocation: 'unknown' } };
    expect(verdict(unknown)).toBe('approved form_certificate_not_revoked.unknown_noted');
    expect(verdict({ ...unknown, facts: { revocation: 'off' } })).toBe(
      'approved form_certificate_not_revoked.not_checked',
    );
    expect(verdict({ facts: { revocation: 'require' } })).toBe('approved');
  });
});

describe('a letter that waits for its numbers', () => {
  const findings = (policy: ApprovalPolicy, change: Change = {}) =>
    decideApproval(factsOf({ ...change, facts: { policy } })).findings;
  const selfMade: Change = { signature: { chain: 'untrusted' }, request: { isApprovedProfile: true } };

  it('is approved once they are proven, if it waits for nothing else', () => {
    expect(waitsForProofOnly(findings('signature+numbers'), 'signature+numbers')).toBe(true);
    const unknown: Change = { signature: { revocation: 'unknown' } };
    expect(waitsForProofOnly(findings('signature+numbers', unknown), 'signature+numbers')).toBe(true);
    expect(waitsForProofOnly(findings('form+numbers', selfMade), 'form+numbers')).toBe(true);
    expect(waitsForProofOnly(findings('signature+numbers', selfMade), 'signature+numbers')).toBe(false);
    expect(waitsForProofOnly(findings('form+numbers', { form: { decidedAgainst: true } }), 'form+numbers')).toBe(false);
    expect(provenFinding).toMatchObject({ code: 'numbers_proven', severity: 'pass' });
  });

  it('does not profit from a policy that was less strict when it came', () => {
    expect(waitsForProofOnly(findings('form+numbers', selfMade), 'signature+numbers')).toBe(false);
  });

  it('is never a free one', () => {
    for (const form of [null, { sameBytes: false }])
      expect(waitsForProofOnly(findings('form+numbers', { form }), 'form+numbers')).toBe(false);
    expect(waitsForProofOnly([], 'form+numbers')).toBe(false);
  });
});
