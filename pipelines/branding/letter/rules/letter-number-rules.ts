import type { Finding } from '../../finding.ts';
import type { LetterFields } from '../letter-fields.ts';
import { letterRuleLimits, type FindingSource } from './letter-rules.ts';
import { foundIn, type LetterText } from '../letter-text.ts';
import { orPass, pass, report, type LetterCase } from './letter-case.ts';

const endingsMax = 5;

/** The last four digits of some numbers: 0143, 0144 and 3 more. */
function endingsOf(phones: readonly string[]): string {
  const shown = phones
    .slice(0, endingsMax)
    .map((phone) => phone.slice(-4))
    .join(', ');
  return phones.length > endingsMax ? `${shown} and ${phones.length - endingsMax} more` : shown;
}

/** The rule that the letter authorizes each requested number. */
export function judgeCoveredNumbers({ requestedPhones, fields, covered, letter }: LetterCase): readonly Finding[] {
  const ranges = fields.refusedRanges.map((place) => report('numbers_authorized', 'range_unclear', { place }));
  if (requestedPhones.length === 0) return [report('numbers_authorized', 'none_requested'), ...ranges];
  const lacking = requestedPhones.filter((phone) => !covered.has(phone));
  const others = new Map(fields.otherPhones.map((other) => [other.phone, other]));
  const notListed = lacking.filter((phone) => others.has(phone));
  const missing = lacking.filter((phone) => !others.has(phone));
  const lackingOf = (
    name: 'missing' | 'not_listed',
    phones: readonly string[],
    source: FindingSource | null,
  ): readonly Finding[] => {
    const figures = { missing: phones.length, requested: requestedPhones.length, endings: endingsOf(phones) };
    return phones.length === 0 ? [] : [report('numbers_authorized', name, source, figures)];
  };
  const findings = [
    ...lackingOf('missing', missing, resemblingLine(letter, missing)),
    ...lackingOf('not_listed', notListed, { place: others.get(notListed[0] ?? '')?.place ?? null }),
    ...ranges,
  ];
  const place = fields.phones.find(({ phone }) => phone === requestedPhones[0])?.place ?? null;
  const line =
    place === null ? undefined : letter.lines.find((each) => each.page === place.page && each.line === place.line);
  return orPass('numbers_authorized', findings, line === undefined ? null : foundIn(line, line.text));
}

/** Most missing numbers that are searched digit by digit. */
const resemblingMax = 20;

const comparedDigits = 7;

const readAsDigits: Readonly<Record<string, string>> = {
  o: '0',
  q: '0',
  d: '0',
  i: '1',
  l: '1',
  '|': '1',
  z: '2',
  s: '5',
  b: '8',
  g: '9',
};

/**
 * The line that has the last seven digits of one of some numbers but one, with letters that OCR takes for digits: where a person
 * looks first.
 */
function resemblingLine({ lines }: LetterText, phones: readonly string[]): FindingSource | null {
  const endings = phones.slice(0, resemblingMax).map((phone) => phone.slice(-comparedDigits));
  const line = lines.find(({ folded }) => {
    if (!/\d{2}/.test(folded)) return false;
    const digits = folded.replace(/[oqdil|zsbg]/g, (letter) => readAsDigits[letter]!).replace(/\D/g, '');
    return endings.some((wanted) => {
      for (let at = 0; at + comparedDigits <= digits.length; at++)
        if (differences(digits, at, wanted) <= 1) return true;
      return false;
    });
  });
  return line === undefined ? null : foundIn(line, line.text);
}

function differences(digits: string, at: number, wanted: string): number {
  let count = 0;
  for (let offset = 0; offset < wanted.length && count < 2; offset++)
    if (digits[at + offset] !== wanted[offset]) count++;
  return count;
}

/** The rule that many numbers come in a CSV. */
export function judgeCsvNeeded({
  requestedPhones: { length: requested },
  csv,
  fields,
}: LetterCase): readonly Finding[] {
  const inLetter = fields.phones.filter(({ source }) => source !== 'csv');
  const { numbersWithoutCsvMax, listedNumbersMax } = letterRuleLimits;
  const needsCsv = requested > numbersWithoutCsvMax && csv === null;
  const [first, listed] = [inLetter[0], inLetter.length];
  return orPass('csv_for_many', [
    ...(needsCsv ? [report('csv_for_many', 'missing', null, { requested })] : []),
    ...(listed > listedNumbersMax ? [report('csv_for_many', 'many_listed', { place: first!.place }, { listed })] : []),
  ]);
}

/** The rule that the letter and its CSV agree. */
export function judgeCsv({ csv, csvPhones, fields, reading }: LetterCase): readonly Finding[] {
  const { attachment, phones } = fields;
  const seen = { place: attachment.place, excerpt: null };
  if (csv === null) return [attachment.stated ? report('csv_agrees', 'no_csv', seen) : pass('csv_agrees')];
  const embedded = phones.filter(({ source }) => source === 'csv').map(({ phone }) => phone);
  if (csvPhones !== null && reading.embeddedCsv !== null && !sameNumbers(csvPhones, embedded))
    return [report('csv_agrees', 'two_lists', seen)];
  if (!agrees(attachment, csv)) return [report('csv_agrees', 'disagrees', seen)];
  if (reading.embeddedCsv !== null && fields.signature.kind === 'pdf') return [pass('csv_agrees', seen)]; // the signature covers the CSV
  if (!attachment.stated) return [report('csv_agrees', 'not_stated')];
  return [isPinned(attachment, csv) ? pass('csv_agrees', seen) : report('csv_agrees', 'not_pinned', seen)];
}

function sameNumbers(left: readonly string[], right: readonly string[]): boolean {
  const [a, b] = [new Set(left), new Set(right)];
  return a.size === b.size && [...a].every((phone) => b.has(phone));
}

/** States the smallest and the largest number and the count: by their place in the file, there may be others between. */
function isPinned({ first, last, count }: LetterFields['attachment'], csv: readonly string[]): boolean {
  const ordered = byValue(csv);
  return count === ordered.length && first !== null && first === ordered[0] && last !== null && last === ordered.at(-1);
}

/** Each number once, from the smallest on. */
function byValue(csv: readonly string[]): readonly string[] {
  return [...new Set(csv)].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
}

/** What the letter states of its list is true of the CSV; its first and last number by place in the file or by value. */
function agrees({ first, last, count }: LetterFields['attachment'], csv: readonly string[]): boolean {
  const numbers = [...new Set(csv)];
  const ordered = byValue(csv);
  const isFirst = first === null || first === numbers[0] || first === ordered[0];
  const isLast = last === null || last === numbers.at(-1) || last === ordered.at(-1);
  return isFirst && isLast && (count === null || count === numbers.length);
}

/** The rule that no requested number belongs to another live brand. */
export function judgeOtherBrands({ requestedPhones, phonesOfOtherBrands }: LetterCase): readonly Finding[] {
  const taken = phonesOfOtherBrands.length;
  if (taken === 0) return [pass('numbers_of_one_brand')];
  return [
    report('numbers_of_one_brand', 'taken', null, {
      taken,
      requested: requestedPhones.length,
      endings: endingsOf(phonesOfOtherBrands),
    }),
  ];
}
