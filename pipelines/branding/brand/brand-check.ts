import type { BrandProfile } from '../brand-profile.ts';
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
    pass: 'The display name is related to the legal name or the DBA.',
    review: 'The display name is not plainly that of the company: a person decides. {reason}',
  },
  name_not_protected: {
    pass: 'No name or call reason of the brand is near a protected name.',
    review:
      'The {field} is near the protected name {name} ({category}): {how}. A person decides, also where the company has that very name.',
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

/** The names of a brand in findings. */
const namesOfBrand = { displayName: 'display name', dba: 'DBA', legalName: 'legal name' } as const satisfies Partial<
  Record<keyof BrandProfile, string>
>;

/** The texts that are compared with protected names. */
type CheckedProfile = Pick<BrandProfile, keyof typeof namesOfBrand | 'callReasons'>;

/**
 * Checks the names of a profile: a display name that is not plainly the company's, and a name or call reason near a protected name,
 * might belong to another company, so a person decides, also where the company has exactly that name.
 */
export function checkBrand(profile: CheckedProfile, protectedNames: ProtectedNames): readonly Finding[] {
  const { related, reason } = relateName(profile.displayName, profile);
  const near = findProtected(profile, protectedNames);
  return [
    related
      ? brandFinding('display_name_related', 'pass')
      : findingAbout('display_name_related', { reason: NAME_REASONS[reason] }),
    near === null
      ? brandFinding('name_not_protected', 'pass')
      : findingAbout('name_not_protected', { ...near, how: NEARNESS[near.how] }),
  ];
}

function findProtected(
  profile: CheckedProfile,
  protectedNames: ProtectedNames,
): (Pick<NearName, 'name' | 'category' | 'how'> & { readonly field: string }) | null {
  for (const [field, words] of Object.entries(namesOfBrand) as [keyof typeof namesOfBrand, string][]) {
    const near = profile[field] === null ? null : nearProtectedName(profile[field], protectedNames);
    if (near !== null) return { field: words, name: near.name, category: near.category, how: near.how };
  }
  const near = profile.callReasons
    .map((reason) => protectedNameIn(reason, protectedNames))
    .find((each) => each !== null);
  return near === undefined ? null : { field: 'call reason', name: near.name, category: near.category, how: near.how };
}
