import type { BrandProfile } from './brand-profile.ts';
import type { Finding } from './finding.ts';
import type { Place } from './letter-reading.ts';

/** What is checked about a brand and its letter together, beside the rules of letters: the text when it passes, and when a person must decide. */
export const BRAND_CHECKS = {
  display_name_related: {
    pass: 'The display name is related to the legal name or the DBA.',
    review: 'The display name shares no word with the legal name or the DBA. A person decides; a DBA that the letter names helps.',
  },
  display_name_on_letter: {
    pass: 'The letter has the name that calls will show.',
    review: 'The letter does not have the name that calls will show, word for word. A person decides; a letter that has it is decided faster.',
  },
  letter_as_drawn: {
    pass: 'What the pages show is the text that was read.',
    review: 'The pages do not show all of the text that the file carries, or show other text. A person compares them.',
  },
  letter_of_one_owner: {
    pass: 'No other client has handed in this letter.',
    review: 'Another client has handed in the same letter. A person looks at it.',
  },
} as const;

/** A finding of one of these checks. */
export function brandFinding(code: keyof typeof BRAND_CHECKS, severity: 'pass' | 'review', place: Place | null = null): Finding {
  return { code, severity, message: BRAND_CHECKS[code][severity], place, excerpt: null };
}

/** Words that say what a business is and not which one, in lower case. */
const ordinaryWords = new Set(['and', 'the', 'of', 'for', 'inc', 'llc', 'ltd', 'limited', 'corp', 'corporation', 'co', 'company', 'gmbh', 'ag', 'kg', 'sa', 'srl', 'sarl', 'sas', 'bv', 'plc', 'group', 'holding', 'holdings', 'services', 'service', 'de', 'la', 'le', 'les', 'el', 'und', 'et', 'y']);

/**
 * Checks a profile beside its letter: a display name that shares no word with the legal name or the DBA might be the name
 * of somebody else, so a person decides.
 */
export function checkBrand({ displayName, legalName, dba }: Pick<BrandProfile, 'displayName' | 'legalName' | 'dba'>): Finding {
  const known = new Set([...distinctiveWords(legalName), ...distinctiveWords(dba ?? '')]);
  const shared = distinctiveWords(displayName).some((word) => known.has(word)) || isInitials(displayName, legalName) || isInitials(displayName, dba ?? '');
  return brandFinding('display_name_related', shared ? 'pass' : 'review');
}

function distinctiveWords(name: string): string[] {
  return wordsOf(name).filter((word) => word.length > 1 && !ordinaryWords.has(word));
}

function wordsOf(name: string): string[] {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** `NDG` for Northwind Dental Group. */
function isInitials(short: string, name: string): boolean {
  const initials = wordsOf(name).map((word) => word[0]).join('');
  const word = wordsOf(short).join('');
  return word.length >= 2 && initials.startsWith(word);
}
