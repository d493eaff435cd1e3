import { isPhoneRefusal, judgePhone } from '../../pipelines/phone/phone-number.ts';
import { drawNames, letterPhones, type BrandNames, type LetterFacts } from './letter-facts.ts';
import { appendToPdf } from './pdf-file.ts';
import { literal } from './pdf-page.ts';
import { PhoneSource, toE164 } from './sample-phones.ts';
import type { Seeded } from '../../runtime/seeded.ts';

/** Ways to forge a sample letter. Closed list. */
export const FORGERIES = [
  'number_missing',
  'other_brand',
  'old_date',
  'future_date',
  'unsigned',
  'altered_after_signing',
] as const;
export type Forgery = (typeof FORGERIES)[number];

/** A number that is not on the letter: every second time, one that differs in one digit. */
export function drawMissingPhone(random: Seeded, facts: LetterFacts): string {
  const onLetter = new Set([
    ...letterPhones(facts),
    ...(facts.contactPhone === null ? [] : [toE164(facts.contactPhone)]),
  ]);
  for (let attempt = 0; ; attempt++) {
    const near = attempt < 20 && random.chance(0.5);
    const phone = near
      ? changeDigit(random.pick(letterPhones(facts)), random)
      : toE164(new PhoneSource({ random, country: facts.country }).next());
    if (!onLetter.has(phone) && isValid(phone)) return phone;
  }
}

function isValid(phone: string): boolean {
  const judged = judgePhone(phone);
  return !isPhoneRefusal(judged) && judged.phone === phone;
}

/** The number with another digit in one of its last two places. */
function changeDigit(phone: string, random: Seeded): string {
  const place = phone.length - random.whole(1, 2);
  return `${phone.slice(0, place)}${(Number(phone[place]) + random.whole(1, 9)) % 10}${phone.slice(place + 1)}`;
}

/** Names of another brand: every second time, one that shares a word. */
export function drawOtherBrand(random: Seeded, facts: LetterFacts): BrandNames {
  const own = [facts.legalName, facts.dba, facts.displayName];
  for (;;) {
    const other = drawNames(random, facts.country);
    const family = random.chance(0.5) ? asFamily(other, facts.legalName.split(' ')[0]!) : other;
    if (![family.legalName, family.dba, family.displayName].some((name) => name !== null && own.includes(name)))
      return family;
  }
}

function asFamily({ legalName }: BrandNames, word: string): BrandNames {
  const rest = legalName.split(' ').slice(1);
  const displayName = [word, ...rest.slice(0, -1)].join(' ').replace(/,$/, '').slice(0, 32).trim();
  return { legalName: [word, ...rest].join(' '), dba: null, displayName };
}

/** A changed signed letter, and its request. */
export interface AlteredLetter {
  readonly bytes: Uint8Array;
  /** What the letter says now. */
  readonly names: BrandNames;
  readonly phones: readonly string[];
}

/**
 * Changes a signed PDF whose texts are not compressed: a digit of a number, the brand, or a number that is added to the last
 * page by an incremental update, which keeps the signed bytes.
 */
export function alterSigned(
  bytes: Uint8Array,
  { facts, random, way }: { facts: LetterFacts; random: Seeded; way: number },
): AlteredLetter {
  const names = { legalName: facts.legalName, dba: facts.dba, displayName: facts.displayName };
  switch (way % 3) {
    case 0:
      return { names, ...appendNumber(bytes, facts, random) };
    case 1:
      return { names, ...alterDigit(bytes, facts, random) };
    default:
      return { ...alterBrand(bytes, names), phones: letterPhones(facts) };
  }
}

function alterDigit(bytes: Uint8Array, facts: LetterFacts, random: Seeded): { bytes: Uint8Array; phones: string[] } {
  const phones = letterPhones(facts);
  for (;;) {
    const changed = changeDigit(phones[0]!, random);
    if (!isValid(changed) || phones.includes(changed)) continue;
    const [from, to] = [facts.writePhone(facts.phones[0]!), facts.writePhone(withDigits(facts, changed))];
    return { bytes: replaceAll(bytes, literal(from), literal(to)), phones: [changed, ...phones.slice(1)] };
  }
}

/** The letter's first number with the digits of another one of the same length. */
function withDigits({ phones: [first] }: LetterFacts, phone: string) {
  const { code, area, groups } = first!;
  let place = 1 + code.length + area.length;
  return { ...first!, groups: groups.map((group) => phone.slice(place, (place += group.length))) };
}

const nextVowel: Readonly<Record<string, string>> = { a: 'o', e: 'a', i: 'e', o: 'u', u: 'i' };

/** Changes the first word of each of the brand's names. */
function alterBrand(
  bytes: Uint8Array,
  { legalName, dba, displayName }: BrandNames,
): { bytes: Uint8Array; names: BrandNames } {
  let altered = bytes;
  const change = (name: string) =>
    name.replace(/^\S+/, (word) => word.replace(/[aeiou]/g, (vowel) => nextVowel[vowel]!));
  for (const name of [legalName, dba, displayName]) {
    const [from = '', to = ''] = name === null ? [] : [name, change(name)].map((each) => each.split(' ')[0]!);
    for (const written of [(text: string) => text, (text: string) => text.toUpperCase()])
      altered = replaceAll(altered, literal(written(from)), literal(written(to)));
  }
  return {
    bytes: altered,
    names: { legalName: change(legalName), dba: dba === null ? null : change(dba), displayName: change(displayName) },
  };
}

/** Replaces a text of the pages by one of the same length; a signature's hexadecimal digits cannot contain it. */
function replaceAll(bytes: Uint8Array, from: string, to: string): Uint8Array {
  if (from === '' || from.length !== to.length) return bytes;
  return Buffer.from(Buffer.from(bytes).toString('latin1').replaceAll(from, to), 'latin1');
}

function appendNumber(bytes: Uint8Array, facts: LetterFacts, random: Seeded): { bytes: Uint8Array; phones: string[] } {
  const phone = new PhoneSource({ random, country: facts.country }).next();
  if (letterPhones(facts).includes(toE164(phone))) return appendNumber(bytes, facts, random);
  return { bytes: appendText(bytes, facts.writePhone(phone)), phones: [...letterPhones(facts), toE164(phone)] };
}

/** Replaces a text by one of the same length in all pages. */
export function alterText(bytes: Uint8Array, from: string, to: string): Uint8Array {
  return replaceAll(bytes, literal(from), literal(to));
}

/** A text at the foot of the last page, as an incremental update. */
export function appendText(bytes: Uint8Array, line: string): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1');
  const page = text.slice(text.lastIndexOf('\n', text.lastIndexOf(' 0 obj\n<< /Type /Page /Parent ')));
  const [, id = '', dictionary = ''] = /^\n(\d+) 0 obj\n(<< .*>>)\nendobj/.exec(page) ?? [];
  const content = `0 g BT /sans 11 Tf 1 0 0 1 96 60 Tm (${literal(line)}) Tj ET`;
  const added = Number(/\/Size (\d+)/.exec(text)![1]);
  const update = new Map([
    [Number(id), dictionary.replace(/\/Contents (\d+ 0 R)/, `/Contents [$1 ${added} 0 R]`)],
    [added, `<< /Length ${content.length} >>\nstream\n${content}\nendstream`],
  ]);
  return appendToPdf(bytes, update);
}
