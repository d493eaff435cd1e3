import { domainToUnicode } from 'node:url';
import { APPROVED_FIELDS, isKnownCallReason, type ApprovedField, type ApprovedProfile } from '../brand-profile.ts';
import type { Finding } from '../finding.ts';
import {
  NEARNESS,
  nearProtectedName,
  protectedNameIn,
  type NearName,
  type ProtectedNames,
} from '../names/protected-names.ts';
import { NAME_REASONS, relateName } from '../names/related-name.ts';

/** Checks of a brand with its letter, besides the rules of letters: the text when one passes, and when a person must decide. */
export const BRAND_CHECKS = {
  display_name_related: {
    pass: 'The display name is related to the legal name.',
    review: 'The display name is not plainly that of the company by its legal name: a person decides. {reason}',
  },
  name_not_protected: {
    pass: 'No name of the brand, and none in its website and logo, is near a protected name.',
    review:
      'The {field} is near the protected name {name} ({category}): {how}. A person decides, also where the company has that very name.',
  },
  call_reasons_known: {
    pass: 'Every call reason is in the list of the service.',
    review: 'The call reason "{reason}" is not in the list of the service. A person decides whether it may be shown.',
  },
  logo_fixed: {
    pass: 'The picture of the logo is fixed by its SHA-256, or there is none.',
    review: 'The logo has no SHA-256, so that another picture may take its place. A person looks at it.',
  },
  letter_of_one_owner: {
    pass: 'No other client has submitted this letter.',
    review: 'Another client has submitted the same letter. A person looks at it.',
  },
  numbers_claimed_once: {
    pass: 'No other brand that waits for a person claims these numbers.',
    review: 'Another brand that waits for a person claims {claimed} of {numbers} numbers too. A person looks at both.',
  },
} as const;

/** A finding of one of these checks. */
export function brandFinding(code: keyof typeof BRAND_CHECKS, severity: 'pass' | 'review'): Finding {
  return { code, severity, message: BRAND_CHECKS[code][severity], place: null, excerpt: null };
}

/** True if a person must decide because of a finding. */
export function needsPerson(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === 'review');
}

/** A finding for a person, with each `{...}` of its text replaced. */
export function findingAbout(code: keyof typeof BRAND_CHECKS, words: Readonly<Record<string, string>>): Finding {
  const finding = brandFinding(code, 'review');
  return { ...finding, message: finding.message.replace(/\{(\w+)\}/g, (_place, word: string) => words[word]!) };
}

/**
 * Checks what a profile would show: a display name that is not plainly the company's, whatever its DBA is, a name near a protected one,
 * a call reason of its sender's own words and a picture that may be exchanged are decided by a person, also where the company has
 * exactly that name.
 */
export function checkBrand(profile: ApprovedProfile, protectedNames: ProtectedNames): readonly Finding[] {
  const { related, reason } = relateName(profile.displayName, profile.legalName);
  const near = findProtected(profile, protectedNames);
  const ownReason = profile.callReasons.find((each) => !isKnownCallReason(each));
  return [
    related
      ? brandFinding('display_name_related', 'pass')
      : findingAbout('display_name_related', { reason: NAME_REASONS[reason] }),
    near === null
      ? brandFinding('name_not_protected', 'pass')
      : findingAbout('name_not_protected', { ...near, how: NEARNESS[near.how] }),
    ownReason === undefined
      ? brandFinding('call_reasons_known', 'pass')
      : findingAbout('call_reasons_known', { reason: ownReason }),
    brandFinding('logo_fixed', profile.logo !== null && profile.logoSha256 === null ? 'review' : 'pass'),
  ];
}

function findProtected(
  { displayName, dba, legalName, website, logo }: ApprovedProfile,
  protectedNames: ProtectedNames,
): (Pick<NearName, 'name' | 'category' | 'how'> & { readonly field: string }) | null {
  const found = (field: ApprovedField, near: NearName | null) =>
    near === null ? [] : [{ field: APPROVED_FIELDS[field], name: near.name, category: near.category, how: near.how }];
  const names = Object.entries({ displayName, dba, legalName }).flatMap(([field, name]) =>
    name === null ? [] : found(field as ApprovedField, nearProtectedName(name, protectedNames)),
  );
  const hosts = website === null ? [] : domainToUnicode(new URL(website).hostname).split('.').slice(0, -1);
  const files = logo === null ? [] : new URL(logo).pathname.split('/').slice(-1).map(nameOfPicture);
  return (
    [
      ...names,
      ...hosts.flatMap((label) => found('website', protectedNameIn(label.replaceAll('-', ' '), protectedNames))),
      ...files.flatMap((file) => found('logo', protectedNameIn(file, protectedNames))),
    ][0] ?? null
  );
}

/** The words of a file's name that may be a company's: `chase` of `chase-logo_2x.png`. */
function nameOfPicture(file: string): string {
  return file
    .replace(/\.\w+$/, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/\b(?:logo|logos|icon|image|img|picture|banner|\d+x?)\b/giu, ' ');
}
