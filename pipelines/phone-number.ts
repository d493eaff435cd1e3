import { parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/max';
import { lookUpPlan } from './numbering-plan.ts';

/** A number that can be dialled, as it is published, and the country that it belongs to (+800 and +881 belong to none). */
export interface DialledPhone {
  readonly phone: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null;
}

/** Why a text is not a number that the service takes. */
export interface PhoneRefusal {
  readonly code: 'phone_missing' | 'phone_invalid';
  readonly reason: string;
}

const e164 = /^\+[1-9][0-9]{7,14}$/;
const e164WithPunctuation = /^\+[-\d ().]{8,40}$/;
const northAmerican = /^1?[2-9][0-9]{9}$/;
const textCharactersMax = 64;

/**
 * The code of ISO 3166-1 that a number's country is published under. The library has codes of its own for two islands
 * that ISO counts to Saint Helena, Ascension and Tristan da Cunha. It also has XK for Kosovo, which ISO leaves to its
 * users and which has no other code.
 */
function officialCountry(country: string | null): string | null {
  return country === 'AC' || country === 'TA' ? 'SH' : country;
}

const missing: PhoneRefusal = { code: 'phone_missing', reason: 'The row has no phone number.' };
const unreadable: PhoneRefusal = { code: 'phone_invalid', reason: 'The text is not a phone number.' };
const unassigned: PhoneRefusal = { code: 'phone_invalid', reason: 'No numbering plan has this number.' };
const extended: PhoneRefusal = { code: 'phone_invalid', reason: 'The number has an extension.' };
const tooShort: PhoneRefusal = { code: 'phone_invalid', reason: 'The number is shorter than 8 digits with its country code.' };

/**
 * The number that a text names, in E.164 with its country, or why it is none.
 * Without a default country only international form (`+...`) is understood.
 */
export function judgePhone(text: string, defaultCountry?: CountryCode): DialledPhone | PhoneRefusal {
  const candidate = e164Candidate(text, defaultCountry);
  if (candidate === null) return text.trim() === '' ? missing : askLibrary(text.trim(), defaultCountry);
  const verdict = lookUpPlan(candidate);
  if (verdict.kind === 'valid') return { phone: candidate, country: officialCountry(verdict.country) };
  return verdict.kind === 'invalid' ? unassigned : askLibrary(candidate, undefined);
}

/** True for a refusal. */
export function isPhoneRefusal(result: DialledPhone | PhoneRefusal): result is PhoneRefusal {
  return 'code' in result;
}

/** The text in the form that the numbering plans are compiled for, if that takes no more than leaving out punctuation. */
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
  return e164.test(parsed.number) ? { phone: parsed.number, country: officialCountry(parsed.country ?? null) } : tooShort;
}
