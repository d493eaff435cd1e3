import type { BrandProfile } from '../../pipelines/branding/brand-profile.ts';
import type { ApprovalFacts } from '../../pipelines/branding/decision/letter-approval.ts';
import type { KnownForm } from '../../pipelines/branding/form/issued-form.ts';
import type { LetterReading, PdfRevision, PdfSignature } from '../../pipelines/branding/letter-reading.ts';
import { decideLetterText } from '../../pipelines/branding/decision/letter-text-decision.ts';
import { Seeded } from '../../runtime/seeded.ts';
import { letterReading } from './branding.ts';

/** How a stranger makes a letter in the name of a company that exists. */
export const strangersWays = [
  'free, typed signature',
  'free, self-made certificate',
  'form, unsigned',
  'form, self-made certificate',
  'form, printed with a typed signature',
  'form, trusted certificate of another person',
  'form, trusted certificate of another company',
] as const;

type StrangersWay = (typeof strangersWays)[number];

/** A letter that agrees with itself and with its request in everything; only who sends it is wrong. */
export interface StrangersLetter {
  readonly way: StrangersWay;
  readonly phones: readonly string[];
  readonly profile: BrandProfile;
  readonly reading: LetterReading;
  readonly facts: Omit<ApprovalFacts, 'policy' | 'provenPhones'>;
}

const firstParts = [
  'Harbor',
  'Summit',
  'Cedar',
  'Lakeside',
  'Juniper',
  'Granite',
  'Prairie',
  'Redwood',
  'Meridian',
  'Anchor',
  'Falcon',
  'Willow',
];
const secondParts = [
  'Savings',
  'Dental',
  'Insurance',
  'Logistics',
  'Energy',
  'Pharmacy',
  'Credit',
  'Travel',
  'Utilities',
  'Clinic',
  'Freight',
  'Telecom',
];
const legalForms = ['Inc.', 'LLC', 'Corporation', 'Ltd', 'LP', 'Company'];
const people = [
  'Jane Roe',
  'Maria Lopez',
  'John Carter',
  'Aisha Khan',
  'Peter Novak',
  'Chloe Martin',
  'David Okafor',
  'Ingrid Berg',
];
const titles = ['Chief Financial Officer', 'President', 'Managing Director', 'General Counsel', 'Owner'];
const hash = 'f'.repeat(64);
const submittedAt = new Date('2026-05-20T12:00:00Z');
const place = { page: 1, line: 0, box: { left: 0.1, top: 0.8, width: 0.5, height: 0.08 } };
const original: PdfRevision = { end: 1000, sha256: hash, kind: 'original', changes: [] };
const signed: PdfRevision = { end: 9000, sha256: 'e'.repeat(64), kind: 'signature', changes: [] };

/** Letters of strangers, the same for the same seed: each in its turn in each of {@link strangersWays}. */
export function makeStrangersLetters(count: number, seed: number): StrangersLetter[] {
  const seeded = new Seeded(seed);
  return Array.from({ length: count }, (_, at) =>
    makeLetter(seeded.fork(at), strangersWays[at % strangersWays.length]!, at),
  );
}

function makeLetter(seeded: Seeded, way: StrangersWay, at: number): StrangersLetter {
  const displayName = `${seeded.pick(firstParts)} ${seeded.pick(secondParts)}`;
  const legalName = `${displayName} ${seeded.pick(legalForms)}`;
  const [signer, title] = [seeded.pick(people), seeded.pick(titles)];
  const first = seeded.whole(2_000_000, 9_000_000);
  const phones = Array.from({ length: seeded.whole(1, 8) }, (_, offset) => `+1212${first + offset}`);
  const profile: BrandProfile = {
    legalName,
    displayName,
    dba: null,
    country: 'US',
    website: null,
    address: null,
    taxId: null,
    contact: null,
    callReasons: [],
    logo: null,
    logoSha256: null,
    relationship: 'owner',
  };
  const { contact: _contact, relationship: _relationship, ...shown } = profile;
  const text = letterReading({
    brand: legalName,
    alias: displayName,
    signer,
    date: submittedAt.toISOString().slice(0, 10),
    phones,
    signature: way.includes('typed') ? `/s/ ${signer}` : '',
  });
  const signatures = signaturesOf(way, { seeded, signer, legalName });
  const reading: LetterReading = {
    ...text,
    signatures,
    revisions: signatures.length === 0 ? [original] : [original, signed],
  };
  const form: KnownForm | null = way.startsWith('free')
    ? null
    : {
        formId: at + 1,
        code: 'A'.repeat(26),
        owner: 'stranger',
        sha256: hash,
        bytes: original.end,
        formVersion: 'letter-form/1',
        language: 'en',
        content: { ...shown, signerName: signer, signerTitle: title, phones },
        signaturePlace: place,
        issuedAt: new Date(submittedAt.getTime() - seeded.whole(1, 500) * 60_000),
        validUntil: new Date('2026-06-15T12:00:00Z'),
        brandId: null,
        decidedAgainst: false,
        revoked: false,
        sameBytes: !way.includes('printed'),
      };
  const { findings } = decideLetterText({
    reading: { kind: 'read', reading },
    brand: profile,
    submittedAt,
    requestedPhones: phones,
    phonesOfOtherBrands: [],
  });
  const request = {
    owner: 'stranger',
    brandId: at + 1,
    profile: shown,
    isApprovedProfile: false,
    requestedPhones: phones,
    ownPhones: new Set<string>(),
  };
  return {
    way,
    phones,
    profile,
    reading,
    facts: { form, reading, textFindings: findings, request, revocation: 'check', submittedAt },
  };
}

/** What a stranger can sign with: a certificate of his own making in any name, or a trusted one in his own. */
function signaturesOf(
  way: StrangersWay,
  { seeded, signer, legalName }: { seeded: Seeded; signer: string; legalName: string },
): PdfSignature[] {
  const signature: PdfSignature = {
    field: 'Signature',
    page: place.page,
    box: place.box,
    subFilter: seeded.pick(['adbe.pkcs7.detached', 'ETSI.CAdES.detached']),
    signerName: signer,
    signerOrganization: seeded.chance(0.8) ? legalName : null,
    signerCountry: 'US',
    signerOrganizationId: null,
    signedAt: submittedAt.toISOString(),
    timeStamp: null,
    digestMatches: true,
    signatureValid: true,
    coverage: 'whole',
    chain: seeded.pick(['untrusted', 'unchecked']),
    revocation: 'unknown',
    problem: null,
  };
  if (way.endsWith('self-made certificate')) return [signature];
  if (way.endsWith('of another person')) return [{ ...signature, chain: 'trusted', signerName: 'Mallory Stranger' }];
  if (way.endsWith('of another company'))
    return [{ ...signature, chain: 'trusted', signerOrganization: 'Stranger Trading Ltd' }];
  return [];
}
