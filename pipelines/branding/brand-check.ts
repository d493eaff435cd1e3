import type { BrandProfile } from './brand-profile.ts';
import type { Finding } from './finding.ts';

/** Words that say what a business is and not which one, in lower case. */
const ordinaryWords = new Set(['and', 'the', 'of', 'for', 'inc', 'llc', 'ltd', 'limited', 'corp', 'corporation', 'co', 'company', 'gmbh', 'ag', 'kg', 'sa', 'srl', 'sarl', 'sas', 'bv', 'plc', 'group', 'holding', 'holdings', 'services', 'service', 'de', 'la', 'le', 'les', 'el', 'und', 'et', 'y']);

/**
 * Checks a profile beside its letter: a display name that shares no word with the legal name or the DBA might be the name
 * of somebody else, so a person decides.
 */
export function checkBrand({ displayName, legalName, dba }: Pick<BrandProfile, 'displayName' | 'legalName' | 'dba'>): Finding {
  const known = new Set([...distinctiveWords(legalName), ...distinctiveWords(dba ?? '')]);
  const shared = distinctiveWords(displayName).some((word) => known.has(word)) || isInitials(displayName, legalName) || isInitials(displayName, dba ?? '');
  const message = shared
    ? 'The display name is related to the legal name or the DBA.'
    : 'The display name shares no word with the legal name or the DBA. A person decides; a DBA that the letter names helps.';
  return { code: 'display_name_related', severity: shared ? 'pass' : 'review', message, place: null, excerpt: null };
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
