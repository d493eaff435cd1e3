import {
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
  type CountryCode,
} from 'libphonenumber-js/max';
import { lookUpPlan } from './numbering-plan.ts';

/** A valid number in E.164 with its country (+800 and +881 have none). */
interface DialledPhone {
  readonly phone: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null;
}

/** Why a text is refused as a number. */
interface PhoneRefusal {
  readonly code: 'phone_missing' | 'phone_invalid';
  readonly reason: string;
}

/** A country whose national numbers can be read, ISO 3166-1 alpha-2. */
export type NumberingCountry = CountryCode;

/** True for a country whose national numbers can be read. */
export function isNumberingCountry(value: unknown): value is NumberingCountry {
  return typeof value === 'string' && isSupportedCountry(value);
}

/** The calling code of a country without `+`; null for a country that is not known. */
export function callingCodeOf(country: string): string | null {
  return isSupportedCountry(country) ? getCountryCallingCode(country) : null;
}

const e164 = /^\+[1-9][0-9]{7,14}$/;
const e164WithPunctuation = /^\+[-\d ().]{8,40}$/;
const northAmerican = /^1?[2-9][0-9]{9}$/;
const textCharactersMax = 64;

/**
 * The published ISO 3166-1 code of a country. The library has codes of its own for two islands that ISO assigns to Saint
 * Helena, Ascension and Tristan da Cunha. XK for Kosovo is kept: ISO reserves it for users, and there is no other code.
 */
function officialCountry(country: string | null): string | null {
  return country === 'AC' || country === 'TA' ? 'SH' : country;
}

const missing: PhoneRefusal = { code: 'phone_missing', reason: 'The row has no phone number.' };
const unreadable: PhoneRefusal = { code: 'phone_invalid', reason: 'The text is not a phone number.' };
const unassigned: PhoneRefusal = { code: 'phone_invalid', reason: 'No numbering plan has this number.' };
const extended: PhoneRefusal = { code: 'phone_invalid', reason: 'The number has an extension.' };
const rounded = /^\s*\+?\d+(?:[.,]\d+)?E\+?\d+\s*$/i;
const digitsLost: PhoneRefusal = {
  code: 'phone_invalid',
  reason:
    'A spreadsheet has rounded the number, as in 4.7E+11: its last digits are lost. Format the column as text and save it again.',
};
const tooShort: PhoneRefusal = {
  code: 'phone_invalid',
  reason: 'The number is shorter than 8 digits with its country code.',
};

/**
 * The number of a text, in E.164 with its country, or why the text is refused.
 * Without a default country only the international form (`+...`) is read.
 */
export function judgePhone(text: string, defaultCountry?: CountryCode): DialledPhone | PhoneRefusal {
  const candidate = e164Candidate(text, defaultCountry);
  if (candidate === null) return judgeOtherText(text, defaultCountry);
  const verdict = lookUpPlan(candidate);
  if (verdict.kind === 'valid') return { phone: candidate, country: officialCountry(verdict.country) };
  return verdict.kind === 'invalid' ? unassigned : askLibrary(candidate, undefined);
}

/** A text that is not E.164, nor is it when punctuation is removed. */
function judgeOtherText(text: string, defaultCountry: CountryCode | undefined): DialledPhone | PhoneRefusal {
  if (rounded.test(text)) return digitsLost;
  return text.trim() === '' ? missing : askLibrary(text.trim(), defaultCountry);
}

/** True for a refusal. */
export function isPhoneRefusal(result: DialledPhone | PhoneRefusal): result is PhoneRefusal {
  return 'code' in result;
}

/** The text in E.164, if removing punctuation is enough; else null. */
function e164Candidate(text: string, defaultCountry: CountryCode | undefined): string | null {
  if (e164.test(text)) return text;
  if (defaultCountry === 'US' && northAmerican.test(text)) return text.length === 10 ? `+1${text}` : `+${text}`;
  if (!e164WithPunctuation.test(text)) return null;
  const digits = text.replace(/[-() .]/g, '');
  return e164.test(digits) ? digits : null;
}

function askLibrary(text: string, defaultCountry: CountryCode | undefined): DialledPhone | PhoneRefusal {
  if (text.length > textCharactersMax) return unreadable;
  const parsed = parsePhoneNumberFromString(text, { defaultCountry, extract: false });
  if (parsed === undefined) return unreadable;
  if (!parsed.isValid()) return unassigned;
  if (parsed.ext !== undefined) return extended;
  return e164.test(parsed.number)
    ? { phone: parsed.number, country: officialCountry(parsed.country ?? null) }
    : tooShort;
}

/** A number in a text, with the offsets of its characters (`end` is the one after the last). */
export interface PhoneInText extends DialledPhone {
  readonly start: number;
  readonly end: number;
}

const digitRun = /[+(]?\d[\d ().+/-]*\d/g;
const lettersBefore = /[\p{L}_@$]$/u;
const lettersAfter = /^[\p{L}_@]/u;
const extensionAfter = /^\s{0,3}(?:x|ext|extension|durchwahl|poste|#)[\s.:]{0,3}\d{1,6}(?![\d-])/i;
const bullet = /^(?:\d{1,3}[.)]|\(\d\))$/;
const numberDigits = { min: 7, max: 17 }; // with an international prefix (011, 00)
const numberTokensMax = 6;
/** National forms of +1, and forms with an international prefix. Saves parsing most groups of digits that are no number. */
const northAmericanForm = /^(?:1?[2-9]\d{9}|011\d{7,14})$/;

/**
 * The valid numbers of a text by `judgePhone`, in the order of the text. Without `+` they are read in the default country
 * (ISO 3166-1 alpha-2; an unknown code counts as none). Numbers with an extension are left out. Numbers may be separated by
 * spaces alone; the library's own search would read the start of the next one as an extension.
 */
export function findPhones(text: string, defaultCountry: string): readonly PhoneInText[] {
  const country = isSupportedCountry(defaultCountry) ? defaultCountry : undefined;
  const plain = plainPunctuation(text);
  return [...plain.matchAll(digitRun)].flatMap((match) => {
    const end = match.index + match[0].length;
    if (
      lettersBefore.test(plain.slice(Math.max(0, match.index - 2), match.index)) ||
      lettersAfter.test(plain.slice(end, end + 2))
    )
      return [];
    const found = findInRun(match[0], country).map((phone) => ({
      ...phone,
      start: phone.start + match.index,
      end: phone.end + match.index,
    }));
    return extensionAfter.test(plain.slice(end, end + 24)) ? found.filter((phone) => phone.end !== end) : found;
  });
}

/** The text with ASCII digits, plus signs, hyphens and spaces; offsets do not change. */
function plainPunctuation(text: string): string {
  return text
    .replace(/[\u2010-\u2015\u2212\uFE58\uFE63\uFF0D\xAD]/g, '-')
    .replace(/[\xA0\u2000-\u200B\u202F\u205F\u3000\t]/g, ' ')
    .replace(/[\uFF10-\uFF19\uFF0B\uFF08\uFF09]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0));
}

/** The numbers in a run of digits and punctuation: repeatedly the longest group of tokens that is a number. */
function findInRun(run: string, country: CountryCode | undefined): PhoneInText[] {
  const tokens = [...run.matchAll(/\+?[^ +]+/g)].map((match) => ({
    text: match[0],
    start: match.index,
    end: match.index + match[0].length,
  }));
  const found: PhoneInText[] = [];
  for (let first = 0; first < tokens.length; first++) {
    if (bullet.test(tokens[first]!.text)) continue;
    const last = lastTokenOfNumber(run, tokens.slice(first, first + numberTokensMax), country);
    if (last === null || isIndex(run, tokens.slice(first), { end: last.end, country })) continue;
    found.push({ ...last.phone, start: tokens[first]!.start, end: last.end });
    first += last.tokens - 1;
  }
  return found;
}

/** True if the first token is the row number of a table: `1 03 53 01 36 72`, `2 089 99998-426`. */
function isIndex(
  run: string,
  tokens: readonly Token[],
  { end, country }: { end: number; country: CountryCode | undefined },
): boolean {
  if (tokens.length < 2 || tokens.length > numberTokensMax + 1 || !/^[1-9]\d?$/.test(tokens[0]!.text)) return false;
  const without = lastTokenOfNumber(run, tokens.slice(1), country);
  return without !== null && (without.end > end || (without.end === end && /^[0(]/.test(tokens[1]!.text)));
}

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function lastTokenOfNumber(
  run: string,
  tokens: readonly Token[],
  country: CountryCode | undefined,
): { phone: DialledPhone; end: number; tokens: number } | null {
  const joined = tokens.findIndex(
    ({ text }, at) =>
      at > 0 &&
      (text.startsWith('+') || text === '/' || (text === '-' && at > 1 && tokens[at + 1]?.text.startsWith('+'))),
  );
  const northAmerica = country !== undefined && getCountryCallingCode(country) === '1';
  for (let count = joined === -1 ? tokens.length : joined; count > 0; count--) {
    const end = tokens[count - 1]!.end;
    const text = run.slice(tokens[0]!.start, end).replace(/[-/.( ]+$/, '');
    const digits = text.replace(/\D/g, '');
    if (digits.length < numberDigits.min || digits.length > numberDigits.max) continue;
    if (northAmerica && !text.startsWith('+') && !northAmericanForm.test(digits)) continue;
    const phone = judgePhone(text, country);
    if (!isPhoneRefusal(phone)) return { phone, end: tokens[0]!.start + text.length, tokens: count };
  }
  return null;
}
