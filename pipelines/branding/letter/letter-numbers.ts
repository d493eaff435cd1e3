import { callingCodeOf, findPhones, type PhoneInText } from '../../phone/phone-number.ts';
import type { LetterPlace } from '../letter-reading.ts';
import type { PageText } from './letter-text.ts';

/**
 * Where a requested number was found: printed on a page, or in the list that the PDF embeds. `range`: it is not printed, but lies
 * between two numbers of one line that may be the ends of a range.
 */
type WhereFound = 'page' | 'list' | 'range';

/** A requested number that was found. */
export interface FoundPhone {
  /** E.164. */
  readonly phone: string;
  readonly where: WhereFound;
  /** Null for the embedded list. */
  readonly place: LetterPlace | null;
}

/** The numbers of a letter. */
export interface FoundNumbers {
  /** The requested numbers that were found, each once, in the order of the pages. */
  readonly requested: readonly FoundPhone[];
  /** Requested numbers of which nothing was found, the first of them, and how many there are. */
  readonly missing: readonly string[];
  readonly missingCount: number;
  /** Numbers on the pages that were not requested, each once. */
  readonly others: readonly { readonly phone: string; readonly place: LetterPlace }[];
}

interface NumberSearch {
  readonly pages: readonly PageText[];
  /** The text of the CSV that the PDF embeds. */
  readonly list: string | null;
  /** E.164. */
  readonly requested: ReadonlySet<string>;
  /** ISO 3166-1 alpha-2: numbers without a country are of this one. */
  readonly country: string;
}

/** Longest range of which the numbers between are found. */
const rangeNumbersMax = 1_000;

/** Numbers that were not requested, and numbers that were not found: so many are kept. */
const keptMax = 100;

/** Finds the requested numbers of a letter, digit for digit, and the other numbers on its pages. */
export function findNumbers({ pages, list, requested, country }: NumberSearch): FoundNumbers {
  const found = new Map<string, FoundPhone>();
  const others = new Map<string, LetterPlace>();
  const ranges: { first: string; last: string; place: LetterPlace }[] = [];
  for (const page of pages) {
    const phones = phonesOf(page.text, requested, country);
    for (const [at, { phone, start, end }] of phones.entries()) {
      const { place } = page.seen(start, end);
      if (!requested.has(phone)) others.set(phone, others.get(phone) ?? place);
      else if (!found.has(phone)) found.set(phone, { phone, where: 'page', place });
      const last = rangeEnd(page.text, phones[at]!, phones[at + 1]);
      if (last !== null) ranges.push({ first: phone, last: last.phone, place: page.seen(start, last.end).place });
    }
  }
  for (const { first, last, place } of ranges)
    for (const phone of between(first, last))
      if (requested.has(phone) && !found.has(phone)) found.set(phone, { phone, where: 'range', place });
  for (const phone of list === null ? [] : phonesOfList(list, country))
    if (requested.has(phone) && !found.has(phone)) found.set(phone, { phone, where: 'list', place: null });
  const missing = [...requested].filter((phone) => !found.has(phone));
  return {
    requested: [...found.values()],
    missing: missing.slice(0, keptMax),
    missingCount: missing.length,
    others: [...others].slice(0, keptMax).map(([phone, place]) => ({ phone, place })),
  };
}

/** Requested numbers by their digits, wherever spaces and line ends part them, and every other number by the numbering plans. */
function phonesOf(text: string, requested: ReadonlySet<string>, country: string): readonly Phone[] {
  const exact = requestedIn(text, requested, country);
  const planned = findPhones(text, country).filter(
    ({ start, end }) => !exact.some((each) => start < each.end && end > each.start),
  );
  return [...exact, ...planned].sort((a, b) => a.start - b.start);
}

type Phone = Pick<PhoneInText, 'phone' | 'start' | 'end'>;

const digitGroups = /\d+/g;

/** What may stand between two groups of digits of one number. */
const withinNumber = /^[\s().\-\u2010-\u2015/\u00b7]{0,4}$/;

/** Of a national number, and of one with an international prefix (011, 00). */
const [digitsMin, digitsMax] = [5, 18];

function requestedIn(text: string, requested: ReadonlySet<string>, country: string): readonly Phone[] {
  const groups = [...text.matchAll(digitGroups)].map((match) => ({
    digits: match[0],
    start: match.index,
    end: match.index + match[0].length,
  }));
  const found: Phone[] = [];
  const code = callingCodeOf(country);
  for (let at = 0; at < groups.length; at++) {
    const { start } = groups[at]!;
    if (!beginsNumber(text, start)) continue;
    let digits = '';
    for (let last = at; last < groups.length; last++) {
      const group = groups[last]!;
      const isTrunkZero = last > at && group.digits === '0' && text[group.start - 1] === '('; // +49 (0) 30
      if (last > at && !withinNumber.test(text.slice(groups[last - 1]!.end, group.start))) break;
      if (!isTrunkZero) digits += group.digits;
      if (digits.length > digitsMax) break;
      if (digits.length < digitsMin) continue;
      const phone = e164Forms(digits, text[start - 1] === '+', code).find((form) => requested.has(form));
      if (phone === undefined || !endsNumber(text, group.end)) continue;
      found.push({ phone, start: text[start - 1] === '+' ? start - 1 : start, end: group.end });
      at = last;
      break;
    }
  }
  return found;
}

/** Not in the middle of a word or of a longer number. */
function beginsNumber(text: string, start: number): boolean {
  return !/[\p{L}\d][-./]?$/u.test(text.slice(Math.max(0, start - 2), start));
}

/** A dash and a few digits behind a number are the end of a range. */
function endsNumber(text: string, end: number): boolean {
  return !/^(?:[\p{L}_]|[./]\d|[-\u2010-\u2015]\d{7})/u.test(text.slice(end, end + 8));
}

/** The numbers that digits may stand for: with `+` the international form alone, else also the national ones of a country. */
function e164Forms(digits: string, isInternational: boolean, code: string | null): readonly string[] {
  if (isInternational) return [`+${digits}`];
  return [
    ...(code === null ? [] : [`+${code}${digits}`, `+${code}${digits.replace(/^0/, '')}`]),
    `+${digits}`,
    `+${digits.replace(/^(?:00|011|4)/, '')}`, // a plus is sometimes read as a 4
  ];
}

/** The ends of a range with nothing but a dash or two words between. */
const betweenEnds =
  /^\s{0,2}(?:[-\u2010-\u2015]|\.{2,3}|\u2026|\p{L}[\p{L}']{0,9}(?:\s\p{L}[\p{L}']{0,9})?)[\s(]{0,3}$/u;
const lastDigits =
  /^ {0,2}(?:(?:[-\u2010-\u2015]|\.{2,3}|\u2026) {0,2}(?=\d{2,6})|\p{L}[\p{L}']{0,9}(?: \p{L}[\p{L}']{0,9})? {1,2}(?=\d{4,6}))(\d+)(?!\d|[-. /()]{1,2}\d)/u;

/** The last number of a range that begins with a number: the next one, or its own last digits written behind it. */
function rangeEnd(text: string, first: Phone, next: Phone | undefined): Pick<Phone, 'phone' | 'end'> | null {
  if (next !== undefined && betweenEnds.test(text.slice(first.end, next.start))) return next;
  const match = lastDigits.exec(text.slice(first.end, first.end + 40));
  const digits = match?.[1] ?? '';
  if (match === null || digits.length > first.phone.length - 4) return null;
  return { phone: first.phone.slice(0, -digits.length) + digits, end: first.end + match[0].length };
}

/** The numbers after the first up to the last, without the last where they are no range. */
function between(first: string, last: string): readonly string[] {
  const from = BigInt(first.slice(1));
  const count = Number(BigInt(last.slice(1)) - from);
  if (first.length !== last.length || count < 1 || count > rangeNumbersMax) return [];
  return Array.from({ length: count }, (_, at) => `+${from + BigInt(at + 1)}`);
}

const listLinesMax = 100_000;
const listLineCharactersMax = 500;

/** The number of each line of a list: the first cell that is one. */
function phonesOfList(text: string, country: string): readonly string[] {
  return text.split(/\r\n|\n|\r/, listLinesMax).flatMap((line) =>
    line
      .slice(0, listLineCharactersMax)
      .replaceAll('"', '')
      .split(/[,;\t]/)
      .flatMap((cell) => findPhones(cell.trim(), country).slice(0, 1))
      .slice(0, 1)
      .map(({ phone }) => phone),
  );
}
