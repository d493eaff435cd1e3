import { isGeneric, splitCompanyName } from './company-words.ts';
import { isNearSpelling } from './edit-distance.ts';
import { isSameWord, joinWords, type FoldedWord } from './name-folding.ts';
import {
  hasHiddenCharacters,
  hasStrayStrokes,
  hasUnusualLetters,
  looksLatin,
  mixesScripts,
  scriptsOf,
} from './look-alikes.ts';

/** Result of comparing a shown name with a company's names: the first two relate them, the others need a person. */
export const NAME_REASONS = {
  same_words: 'It has the words of the company’s name.',
  part_of_words: 'Its distinctive words are all in the company’s name.',
  hidden_characters: 'A name holds characters that are not shown.',
  verification_sign: 'It holds a sign that looks like one of verification.',
  mixed_scripts: 'A name mixes letters of several alphabets.',
  look_alike_letters: 'A name holds letters that look like others.',
  generic_words: 'It is made of generic words alone.',
  initials: 'It has initials of the company’s name alone.',
  near: 'It differs from the company’s name in a letter or two.',
  some_words: 'Only some of its distinctive words are in the company’s name.',
  claimed_role:
    'It claims to be something that the public trusts, such as a bank, and the legal name does not, or says more.',
  other_trade: 'It names another trade than the company’s name.',
  other_form: 'It has another legal form than the company’s name.',
  other_script: 'It is in another alphabet than the company’s name.',
  no_words: 'None of its distinctive words is in the company’s name.',
} as const satisfies Readonly<Record<string, string>>;

export type NameReason = keyof typeof NAME_REASONS;

/** Whether a shown name clearly belongs to the company, and why. */
interface NameRelation {
  readonly related: boolean;
  readonly reason: NameReason;
}

/**
 * Whether a shown name clearly belongs to a company: its distinctive words are all in the legal name, which a certificate proves; a
 * DBA is its sender's own word. Everything else needs a person. Letters are compared as written: a look-alike never matches another.
 */
export function relateName(shown: string, legalName: string): NameRelation {
  const unsafe = reasonAgainst([shown, legalName]);
  if (unsafe !== null) return { related: false, reason: unsafe };
  const [name, company] = [splitCompanyName(shown), splitCompanyName(legalName)];
  const reason = compareWithCompany(name.core, company.core);
  if (!isRelation(reason))
    return {
      related: false,
      reason: reason === 'no_words' && !sharesScript(shown, legalName) ? 'other_script' : reason,
    };
  if (claimsRole(name.core, company.core)) return { related: false, reason: 'claimed_role' };
  if (name.form !== null && company.form !== name.form) return { related: false, reason: 'other_form' };
  return { related: true, reason };
}

/**
 * True if a shown name has a role that the company's name lacks, or leaves out what the company does beside it: Mercy Hospital is not
 * Mercy Hospital Billing Partners.
 */
function claimsRole(shown: readonly FoldedWord[], company: readonly FoldedWord[]): boolean {
  const roles = shown.filter((word) => isGeneric(word, ['role']));
  return (
    !roles.every((word) => contains(company, word)) ||
    (roles.length > 0 &&
      missingFrom(shown, company).some(
        (word) => isGeneric(word) && !isGeneric(word, ['joining', 'business', 'place', 'form']),
      ))
  );
}

const verificationSigns = /[\u2611\u2705\u2713\u2714\u221A\u{1F5F8}\u{1F5F9}\u{1F6E1}\u{1F512}\u2605\u2606]/u;

/** The reason in the characters themselves that needs a person, or null. */
function reasonAgainst(names: readonly string[]): NameReason | null {
  if (names.some(hasHiddenCharacters)) return 'hidden_characters';
  if (names.some((name) => verificationSigns.test(name))) return 'verification_sign';
  if (names.some(mixesScripts)) return 'mixed_scripts';
  return names.some((name) => hasUnusualLetters(name) || hasStrayStrokes(name) || looksLatin(name))
    ? 'look_alike_letters'
    : null;
}

const isRelation = (reason: NameReason) => reason === 'same_words' || reason === 'part_of_words';

/** Compares the words of a shown name with those of one name of a company. */
function compareWithCompany(shown: readonly FoldedWord[], company: readonly FoldedWord[]): NameReason {
  const isSame = shown.length === company.length && shown.every((word, at) => isSameWord(word, company[at]!));
  if (shown.every((word) => isGeneric(word)) && !(isSame && isOrdinaryTrade(shown))) return 'generic_words';
  if (isSame) return 'same_words';
  const counted = shown.filter((word) => !isGeneric(word, freeWords));
  if (isJoinOfRun(shown, company)) return 'part_of_words';
  const missing = missingFrom(company, counted);
  if (missing.length === 0 && counted.some(isDistinctive))
    return hasOtherTrade(shown, company) ? 'other_trade' : 'part_of_words';
  if (missing.length === 0) return 'initials';
  if (isInitials(shown, company)) return 'initials';
  const [ours, theirs] = [joinWords(shown).plain, joinWords(company).plain];
  if (isNearSpelling(ours, theirs)) return 'near';
  if (missing.every((word) => isGeneric(word, ['role']))) return 'claimed_role';
  return counted.some((word) => !isGeneric(word) && contains(company, word)) ? 'some_words' : 'no_words';
}

/** True for generic words that are the whole name of an ordinary business: a trade and a word of place or quality, but no role. */
function isOrdinaryTrade(words: readonly FoldedWord[]): boolean {
  return (
    !words.some((word) => isGeneric(word, ['role'])) &&
    words.some((word) => isGeneric(word, ['place'])) &&
    words.some((word) => isGeneric(word, ['trade']) && !isGeneric(word, ['contact']))
  );
}

/** Kinds of words that do not distinguish companies: a shown name may have others of these than the company. */
const freeWords = ['joining', 'business', 'trade', 'place', 'contact'] as const;

/** True if each of two names has a trade that the other lacks: Northwind Plumbing may not be Northwind Dental. */
function hasOtherTrade(shown: readonly FoldedWord[], company: readonly FoldedWord[]): boolean {
  const lacks = (some: readonly FoldedWord[], others: readonly FoldedWord[]) =>
    some.some(
      (word) =>
        isGeneric(word, ['trade']) && !isGeneric(word, ['joining', 'business', 'contact']) && !contains(others, word),
    );
  return lacks(shown, company) && lacks(company, shown);
}

/** A word that distinguishes businesses: not a generic one, nor a single letter of an alphabet. */
function isDistinctive(word: FoldedWord): boolean {
  return !isGeneric(word) && (word.plain.length > 1 || /[\p{Script=Han}\p{Script=Hangul}]/u.test(word.plain));
}

function contains(words: readonly FoldedWord[], wanted: FoldedWord): boolean {
  return words.some((word) => isSameWord(word, wanted));
}

/** The wanted words that the company's name lacks, with repetitions. */
function missingFrom(company: readonly FoldedWord[], wanted: readonly FoldedWord[]): readonly FoldedWord[] {
  const left = [...company];
  return wanted.filter((word) => {
    const at = left.findIndex((other) => isSameWord(word, other));
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

/** True if a name equals some consecutive words of the other but for spaces: `FooBar` and `Foo Bar`. */
function isJoinOfRun(shown: readonly FoldedWord[], company: readonly FoldedWord[]): boolean {
  const wanted = joinWords(shown);
  return company.some((_, from) =>
    company.some((__, last) => {
      const run = company.slice(from, last + 1);
      return run.some(isDistinctive) && isSameWord(joinWords(run), wanted);
    }),
  );
}

/** `NDG` or `N.D.G.` for Northwind Dental Group, also with the initial of a legal form. */
function isInitials(shown: readonly FoldedWord[], company: readonly FoldedWord[]): boolean {
  const short = joinWords(shown).plain;
  const initials = company.map(({ plain }) => plain[0]).join('');
  return (
    short.length >= 2 &&
    short.length <= 6 &&
    (initials.includes(short) || (short.length > 2 && initials.startsWith(short.slice(0, -1))))
  );
}

function sharesScript(shown: string, company: string): boolean {
  const own = scriptsOf(shown);
  return scriptsOf(company).some((script) => own.includes(script));
}
