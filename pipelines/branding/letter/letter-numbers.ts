import { findPhones, isPhoneRefusal, judgePhone, type PhoneInText } from '../../phone/phone-number.ts';
import type { DateInText } from './letter-dates.ts';
import type { LetterReading, LetterPlace } from '../letter-reading.ts';
import { lastIndexAt, lineIndexAt, placeOfLine, type LetterText, type TextLine, pattern } from './letter-text.ts';

/** A number that the letter lists for branding. */
export interface FoundPhone {
  /** E.164. */
  readonly phone: string;
  readonly source: 'text' | 'range' | 'csv';
  /** Null for a number of the embedded CSV. */
  readonly place: LetterPlace | null;
}

/** The letter's description of an attached list: "see the attached list from +1... to +1..., 120 numbers". */
export interface FoundAttachment {
  readonly stated: boolean;
  readonly first: string | null;
  readonly last: string | null;
  readonly count: number | null;
  readonly place: LetterPlace | null;
}

/** The numbers of a letter. */
export interface FoundNumbers {
  /** Listed for branding in the text, in ranges, and in the CSV embedded in the PDF, each once. */
  readonly phones: readonly FoundPhone[];
  /** On the letter, but not listed for branding: letterhead, fax, "call us at", excluded. */
  readonly otherPhones: readonly FoundPhone[];
  readonly attachment: FoundAttachment;
  /** Ranges that were not expanded: too many numbers, or ends that do not fit together. */
  readonly refusedRanges: readonly LetterPlace[];
  /** False if there is more text, or there are more numbers, than the limits allow. */
  readonly complete: boolean;
}

/** Limits of numbers. */
export const letterNumberLimits = {
  /**
   * Numbers of one range; the product asks for a CSV for more than 15 numbers, so a longer range is a mistake or an attempt to get
   * a block.
   */
  rangeNumbersMax: 1_000,
  /** Numbers of all lines and ranges of a letter. */
  textNumbersMax: 10_000,
  /** Lines of the embedded CSV. */
  csvLinesMax: 100_000,
} as const;

/** Ends a list, or makes what follows no list: closing words, labels of a signature block, contacts. */
const endOfList = new RegExp(
  '(?<![a-z])(?:' +
    'sincerely|regards|yours (?:truly|faithfully)|respectfully|signature|signed|in witness whereof|contact(?! cent)|questions|call (?:us|me|our)|reach (?:us|me)|(?:further|more) information' +
    '|fax|telefax|e-?mail|atentamente|cordialement|mit freundlichen|hochachtungsvoll|atenciosamente|(?:distinti|cordiali) saluti|unterschrift|assinatura' +
    '|contacto|kontakt|ansprechpartner|contatto|contato' +
    ')(?![a-z])|www\\.|https?:|\\n {0,8}(?:by|(?:print )?name|title|date|address|company|tax id|ein|phone|telephone|tel)\\.? {0,3}:',
  'g',
);
/** Says that the numbers that follow are not authorized. */
const exclusion = pattern('g')`
  (?<![a-z])(?:except(?:ing|ed)?|exclud\w+|exclusi\w+|other than|but not|not including|no longer|(?:do|does|are|is|shall|may|must|will) not|cannot
  |not (?:authori\w+|covered|included|to be)|unauthori[sz]ed|revok\w+|withdr\w+|excepto|salvo|excluid\w*|sauf|hormis|ausser|ausgenommen|exceto|tranne
  |eccetto|esclus\w*)(?![a-z])
`;
/** Announces numbers to be branded. */
const startOfList = new RegExp(
  [
    '(?<![a-z])(?:following|listed|these|covered|authori[sz]ed|branded|outbound|calling|our|below|list of(?: the| our' +
      '| all)?)[^.;\\n]{0,60}\\n?[^.;\\n]{0,40}(?<![a-z])(?:numbers|number\\(s\\)|tns|dids|anis)(?![a-z])',
    '(?<![a-z])(?:tele|phone |telephone |calling |caller )?(?:numbers|number\\(s\\)|tns|dids)[^.;\\n]{0,40}(?:to be (?:branded|displayed|registered)' +
      '|for brand\\w+|covered|authori[sz]ed|(?:listed )?below|as follows|to brand)',
    '(?<=\\n|^)[^a-z\\n]{0,8}(?:list of |calling |outbound |business |authori[sz]ed )?(?:tele|phone |telephone |calling |call )?(?:phone )?(?:numbers' +
      '|number\\(s\\)|tns|dids)(?:[^a-z\\n]{0,6}(?=\\n|$)|[^:\\n\\d+]{0,60}:)',
  ].join('|'),
  'g',
);
/** The same in wording that may be wrapped anywhere. */
const startOfListWrapped = new RegExp(
  [
    '(?<![a-z])calls?(?: that (?:are|is))? {0,2}(?:placed |made |originating |coming |which come )?\\s?from(?! us| our (?:company|business))',
    '(?<![a-z])(?:brand|register|label|display)\\w*[^.;]{0,120}(?<![a-z])(?:phone |telephone )?numbers?(?![a-z])',
    '(?<![a-z])(?:siguientes|estos|nuestros) (?:numeros|telefonos)|numeros (?:de telefono|telefonicos)(?: autorizados)?|llamadas desde|(?:numeros' +
      '|telefonos) (?:siguientes|autorizados)',
    '(?<![a-z])numeros (?:de telephone )?suivants|(?:les|ces|nos) numeros (?:de telephone|suivants|autorises|ci-dessous)|numeros de telephone|appels (?:depuis|provenant|emis)',
    '(?<![a-z])(?:folgenden?|diese[nr]?|unsere[nr]?|nachstehenden?) [^.;\\n]{0,30}(?:nummern|rufnummern|telefonnummern)|(?:ruf|telefon)nummern(?=[^a-z])|anrufe von',
    '(?<![a-z])(?:seguintes|estes|nossos) (?:numeros|telefones)|numeros de telefone|chamadas (?:de|a partir)',
    '(?<![a-z])(?:seguenti|questi|nostri) numeri|numeri (?:di telefono|telefonici)|chiamate (?:da|dai)',
  ].join('|'),
  'g',
);
const noPhones =
  /(?<![a-z])(?:contact|fax|emergency|reference|tracking|account|tax|serial|invoice|order|case|registration(?= ?(?:no|nr|num|id|code))|contacto|kontakt)(?![a-z])(?! cent)/;
const authorizes = pattern('g')`
  (?<![a-z])(?<!(?:not|no longer|never)(?: [a-z]+)? )(?:authori[sz]es?|grants?|consents?|permits?|permite|permet|erlaub(?:t|en)|autoriza\w*|autorise\w*
  |ermachtig\w*|bevollmachtig\w*|autorisier\w*|autorizz\w*)(?![a-z])
`;

type State = 'list' | 'bare' | 'closed';
interface Change {
  readonly start: number;
  readonly state: State;
}

/**
 * Where the numbers that follow are a list for branding. `bare`: after wording that authorizes, lines of nothing but
 * numbers count.
 */
function changesOf({ folded, flat }: LetterText): readonly Change[] {
  const starts = [...folded.matchAll(startOfList), ...flat.matchAll(startOfListWrapped)].map((match): Change => {
    const before = folded
      .slice(Math.max(0, match.index - 30), match.index)
      .split(/[.;\n]/)
      .at(-1)!;
    const after = folded
      .slice(match.index + match[0].length, match.index + match[0].length + 60)
      .split(/[:;\n+]|\. /)[0]!;
    const excluded = noPhones.test(`${before}${match[0]}`) || `${before}${match[0]}${after}`.search(exclusion) !== -1;
    return { start: match.index + match[0].length, state: excluded ? 'closed' : 'list' };
  });
  const ends = [...folded.matchAll(endOfList), ...flat.matchAll(exclusion)].map((match): Change => ({
    start: match.index,
    state: 'closed',
  }));
  const wordings = [...flat.matchAll(authorizes)].map((match): Change => ({ start: match.index, state: 'bare' }));
  const all = [...starts, ...ends, ...wordings].sort((a, b) => a.start - b.start);
  // wording in a sentence that already names a list does not end the list
  return all.filter((change, at) => change.state !== 'bare' || all[at - 1]?.state !== 'list');
}

interface Phone extends PhoneInText {
  readonly line: TextLine;
  readonly offset: number;
  readonly offsetEnd: number;
  /** Last digits of a range that are written after its first number: `+1 202 555 0100 through 0149`. */
  readonly through: string | null;
}

/** The numbers of a letter and of its embedded CSV, and its description of a list. */
export function findNumbers(
  reading: LetterReading,
  letter: LetterText,
  dates: readonly DateInText[],
  country: string,
): FoundNumbers {
  const phones = phonesInText(letter, dates, country);
  const attachment = findAttachment(letter, phones);
  const ends = new Set(attachment.ends);
  const sorter = new Sorter(letter, changesOf(letter), letterNumberLimits.textNumbersMax);
  for (let at = 0; at < phones.length; at++) {
    const [phone, next] = [phones[at]!, phones[at + 1]];
    if (ends.has(phone)) continue;
    if (next !== undefined && !ends.has(next) && phone.through === null && isRange(letter.folded, phone, next)) {
      sorter.addRange(phone, next.phone);
      at++;
    } else if (phone.through !== null) sorter.addRange(phone, withLastDigits(phone.phone, phone.through));
    else sorter.add(phone);
  }
  const csv = phonesOfCsv(reading.embeddedCsv?.text ?? '', country);
  const listed = new Map<string, FoundPhone>();
  for (const found of sorter.listed) if (!listed.has(found.phone)) listed.set(found.phone, found);
  for (const phone of csv.phones) if (!listed.has(phone)) listed.set(phone, { phone, source: 'csv', place: null });
  return {
    phones: [...listed.values()],
    otherPhones: sorter.others.filter(({ phone }) => !listed.has(phone)),
    attachment: attachment.found,
    refusedRanges: sorter.refusedRanges,
    complete: sorter.complete && csv.complete,
  };
}

/** Sorts numbers into those listed for branding and others. */
class Sorter {
  readonly listed: FoundPhone[] = [];
  readonly others: FoundPhone[] = [];
  readonly refusedRanges: LetterPlace[] = [];
  complete = true;
  private readonly letter: LetterText;
  private readonly changes: readonly Change[];
  private readonly numbersMax: number;

  constructor(letter: LetterText, changes: readonly Change[], numbersMax: number) {
    this.letter = letter;
    this.changes = changes;
    this.numbersMax = numbersMax;
  }

  add(phone: Phone): void {
    this.put(phone, [phone.phone], 'text');
  }

  addRange(phone: Phone, last: string | null): void {
    const numbers = last === null ? null : expandRange(phone.phone, last);
    if (numbers === null) this.refusedRanges.push(placeOfLine(phone.line));
    this.put(phone, numbers ?? [phone.phone, ...(last === null ? [] : [last])], numbers === null ? 'text' : 'range');
  }

  /** The state after the last change before an offset. */
  private stateAt(offset: number): State {
    return this.changes[lastIndexAt(this.changes, offset)]?.state ?? 'closed';
  }

  private put(from: Phone, numbers: readonly string[], source: 'text' | 'range'): void {
    const target = isListed(this.letter, from, this.stateAt(from.offset)) ? this.listed : this.others;
    for (const phone of numbers) {
      if (this.listed.length + this.others.length === this.numbersMax) this.complete = false;
      else target.push({ phone, source, place: placeOfLine(from.line) });
      if (!this.complete) return;
    }
  }
}

const contactLabel = pattern('')`
  (?:fax|telefax|contact|call (?:us|me)|reach(?: us| me)?|questions|voicemail|pager|whatsapp|hotline|help ?line|for (?:more|further) information|kontakt
  |contacto)(?![a-z])[^\d\n]{0,40}$
`;
const phoneLabel =
  /(?:^|[^a-z])(?:tel|phone|telephone|mobile|cell|office|direct|main|telefon|telefono|telefone|telephone|movil|mobil)(?![a-z])/;
const excludedAfter = /^[ (,:-]{0,4}(?:not |except|exclud|fax|do not|cancel|remov|revok|inactive)/;
const margin = { top: 0.06, bottom: 0.94 };

function isListed(letter: LetterText, phone: Phone, state: State): boolean {
  const { line } = phone;
  const before = letter.folded.slice(Math.max(line.start, phone.offset - 60), phone.offset);
  const after = line.folded.slice(phone.end, phone.end + 30);
  if (state === 'closed' || contactLabel.test(before) || excludedAfter.test(after)) return false;
  const inMargin = line.box.top < margin.top || line.box.top + line.box.height > margin.bottom;
  if (phoneLabel.test(before) && (inMargin || /@|www\.|https?:/.test(line.folded))) return false;
  return (
    state === 'list' ||
    !/[a-z]{2}/.test(line.folded.replace(/(?:and|through|thru|to|und|bis|y|et|e|hasta)(?![a-z])/g, ''))
  );
}

/** A label that makes the digits after it something else than a phone number. */
const otherIdentifier = pattern('')`
  (?:^|[^a-z])(?:account|acct|a\/c|ein|fein|tax|vat|tin|iban|ssn|duns|d-u-n-s|invoice|inv|order|ref|reference|case|ticket|policy|contract|registration
  |reg|license|licence|serial|zip|postal|plz|p\.? ?o\.? box|envelope|id|iva|cif|nif|siret|siren|steuer\w{0,12}|ust-?id\w{0,6}|hrb|cnpj|cpf|partita
  |codice|konto\w{0,8}|cuenta|compte|conta|conto)(?: ?(?:code|no|number|num|nr|nummer|id|#))?\.?[ :#._-]{0,6}$
`;
/** The last digits of a range: after a word, or after a dash. */
const rangeTail = pattern('g')`
  (?<=\d)(?: {1,3}(?:through|thru|to|bis|hasta|ate|a|al|jusqu'a|fino a) {1,3}|\)? {0,2}[-\u2013\u2014] {0,2}| ?(?:\.{2,3}|\u2026) ?)(?:x
  |\.{2,3})?(\d{1,6})(?!\d|[-. /()\u2013\u2014]{1,2}\d)
`;

/** Numbers in all lines, also those that continue in the next line, without dates and other identifiers. */
function phonesInText(letter: LetterText, dates: readonly DateInText[], country: string): readonly Phone[] {
  const blanked = blankOut(letter.text, dates);
  const phones: Phone[] = [];
  const wrapped: Phone[] = [];
  for (const [at, line] of letter.lines.entries()) {
    const text = blanked.slice(line.start, line.start + line.text.length);
    if (phones.length > letterNumberLimits.textNumbersMax) break;
    if (!/\d/.test(text)) continue;
    const found = phonesOfLine(line, text, country);
    phones.push(
      ...found.filter(
        ({ offset, offsetEnd }) => !wrapped.some((other) => offset < other.offsetEnd && offsetEnd > other.offset),
      ),
    );
    const over = phoneOverEnd({ letter, at, text, found, blanked, country });
    if (over === null) continue;
    wrapped.push(over);
    if (phones.at(-1)?.offset === over.offset) phones.pop(); // the one at the end of the line was a part of it
  }
  const inColumns = phonesInColumns(letter, [...phones, ...wrapped], country);
  return wrapped.length + inColumns.length === 0
    ? phones
    : [...phones, ...wrapped, ...inColumns].sort((a, b) => a.offset - b.offset);
}

/** A part of a number in a column of its own. */
const numberPart = /^[+(]?\d[\d ().-]{0,11}$/;
const partsMax = 5;

/** Numbers whose parts are separated by a tab or several spaces in one row: `614` and `555-0141`. */
function phonesInColumns({ lines }: LetterText, known: readonly Phone[], country: string): readonly Phone[] {
  const whole = new Set(known.map(({ line }) => line));
  const parts = lines.filter((line) => !whole.has(line) && numberPart.test(line.text.trim()));
  const rightOf = (part: TextLine) =>
    parts.filter((other) => isBesideLine(other, part)).sort((a, b) => a.box.left - b.box.left)[0];
  return parts
    .filter((part) => !parts.some((other) => isBesideLine(part, other)))
    .flatMap((first): Phone[] => {
      const row = [first];
      for (let next = rightOf(first); next !== undefined && row.length < partsMax; next = rightOf(next)) row.push(next);
      const text = row.map((part) => part.text.trim()).join(' ');
      const [phone, ...others] = row.length === 1 ? [] : findPhones(text, country);
      if (phone === undefined || others.length > 0 || phone.start !== 0 || phone.end !== text.length) return [];
      return [
        {
          ...phone,
          start: 0,
          end: first.text.length,
          line: first,
          offset: first.start,
          offsetEnd: first.start + first.text.length,
          through: null,
        },
      ];
    });
}

/** True if a line is right of another one in the same row. */
function isBesideLine(line: TextLine, other: TextLine): boolean {
  return (
    line.page === other.page &&
    line !== other &&
    line.box.left > other.box.left &&
    Math.abs(line.box.top - other.box.top) < 0.5 * other.box.height
  );
}

/** The start of a number at the end of a line, and its rest at the start of the next; other digits before it are a part of it. */
const numberStart = /(?:^|(?<!\d ?)[^\d+().-])((?:\+|\(|0)[\d ().-]{0,16}|\d{3}[\d ().-]{0,8})$/;
const numberRest = /^ ?[(\d](?:[\d ().-]{0,16}\d)?/;
const linesToRest = 3;

interface LineEnd {
  readonly letter: LetterText;
  readonly at: number;
  readonly text: string;
  readonly found: readonly Phone[];
  readonly blanked: string;
  readonly country: string;
}

/** A number that is broken between a line and the next one under it: `030 23125-510, 089` and `99998-578`. */
function phoneOverEnd({ letter, at, text, found, blanked, country }: LineEnd): Phone | null {
  const line = letter.lines[at]!;
  const next = letter.lines
    .slice(at + 1, at + 1 + linesToRest)
    .find((other) => other.page === line.page && Math.abs(other.box.left - line.box.left) < 0.02);
  const nextText = next === undefined ? '' : blanked.slice(next.start, next.start + next.text.length);
  const rest = numberRest.exec(nextText)?.[0] ?? '';
  const last = found.at(-1);
  const start =
    last !== undefined && /^-?$/.test(text.slice(last.end)) && isLastDigits(text, rest, nextText)
      ? text.slice(last.start)
      : numberStart.exec(text)?.[1];
  if (next === undefined || rest === '' || start === undefined) return null;
  const from = text.length - start.length;
  if (found.some((each) => each.end > from && each.start !== from)) return null;
  if (last !== undefined && last.start === from && !isLastDigits(text, rest, nextText)) return null;
  const phone = findPhones(`${start} ${rest}`, country).find((each) => each.start === 0 && each.end > start.length);
  if (phone === undefined) return null;
  return {
    ...phone,
    start: from,
    end: text.length,
    line,
    offset: line.start + from,
    offsetEnd: next.start + phone.end - start.length - 1,
    through: null,
  };
}

/** True if a full line is followed by a few digits that end at a comma or the like: the last digits of its last number. */
function isLastDigits(text: string, rest: string, nextText: string): boolean {
  return (
    text.length >= fullLineCharacters &&
    /^ ?\d{1,5}$/.test(rest) &&
    /^ ?(?:[,;.]|und |and |et |y |e |$)/.test(nextText.slice(rest.length))
  );
}

const fullLineCharacters = 40;

function blankOut(text: string, spans: readonly { readonly start: number; readonly end: number }[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of spans) {
    parts.push(text.slice(at, start), '|'.repeat(end - start));
    at = end;
  }
  return parts.join('') + text.slice(at);
}

function phonesOfLine(line: TextLine, text: string, country: string): readonly Phone[] {
  const whole = findPhones(text, country);
  const tails = [...text.matchAll(rangeTail)]
    .map((match) => ({ start: match.index, end: match.index + match[0].length, digits: match[1]! }))
    .filter(({ start, end }) => !whole.some((phone) => phone.start < start && phone.end >= end));
  const found = tails.length === 0 ? whole : findPhones(blankOut(text, tails), country);
  return found
    .filter((phone) => !otherIdentifier.test(line.folded.slice(Math.max(0, phone.start - 40), phone.start)))
    .map((phone) => {
      const through = tails.find(({ start }) => start === phone.end)?.digits ?? null;
      return { ...phone, line, offset: line.start + phone.start, offsetEnd: line.start + phone.end, through };
    });
}

const betweenEnds =
  /^\s{0,3}(?:,\s)?(?:through|thru|to|until|bis|hasta|ate|a|al|jusqu'a|fino a|-|\u2013|\u2014|\.{2,3}|\u2026)\s{0,3}(?:and including\s)?$/;

function isRange(folded: string, first: Phone, last: Phone): boolean {
  const between = folded.slice(first.offsetEnd, last.offset);
  if (between.length > 30) return false;
  return (
    betweenEnds.test(between) ||
    (/^\s+and\s+$/.test(between) && /between\s+$/.test(folded.slice(Math.max(0, first.offset - 12), first.offset)))
  );
}

function withLastDigits(phone: string, digits: string): string | null {
  return digits.length < phone.length - 4 ? phone.slice(0, -digits.length) + digits : null;
}

/** All valid numbers from one to another, or null if they are no range: unequal lengths, descending, or over the limit. */
export function expandRange(first: string, last: string): readonly string[] | null {
  const count = Number(BigInt(last.slice(1)) - BigInt(first.slice(1))) + 1;
  if (first.length !== last.length || count < 1 || count > letterNumberLimits.rangeNumbersMax) return null;
  const numbers = Array.from({ length: count }, (_, at) => `+${BigInt(first.slice(1)) + BigInt(at)}`);
  return numbers.filter((phone) => !isPhoneRefusal(judgePhone(phone)));
}

const attachmentWording = new RegExp(
  [
    '(?<![a-z])(?:attached|enclosed|accompanying|appended|annexed|embedded)(?![a-z])[^.:+]{0,60}(?<![a-z])(?:list|csv|file|spreadsheet|schedule|exhibit' +
      '|appendix|annex|numbers)(?![a-z])',
    '(?<![a-z])(?:list|csv|file|spreadsheet|numbers|schedule|exhibit|appendix)(?![a-z])[^.:+]{0,60}(?<![a-z])(?:attached|enclosed|appended|accompan\\w+|embedded)(?![a-z])',
    '(?<![a-z])see (?:the )?(?:attached|enclosed)(?![a-z])',
    '[a-z0-9_-]\\.csv(?![a-z])',
    '(?<![a-z])in (?:the|its|our) csv(?: file)?(?![a-z])',
    '(?<![a-z])(?:lista|archivo|fichero|relacion)[^.]{0,40}(?:adjunt|anex)\\w*',
    '(?<![a-z])(?:liste|fichier)[^.]{0,40}(?:joint|annex)\\w*',
    '(?<![a-z])ci-joint\\w*',
    '(?<![a-z])(?:beigefugt|anliegend|angehangt|beiliegend)\\w*[^.]{0,40}(?:liste|datei|nummern)',
    '(?<![a-z])(?:liste|datei)[^.]{0,40}(?:beigefugt|anliegend|anhang|anlage)',
    '(?<![a-z])(?:lista|arquivo)[^.]{0,40}anex\\w*',
    '(?<![a-z])(?:elenco|lista)[^.]{0,40}allegat\\w*',
  ].join('|'),
  'g',
);
const noAttachment = /(?<![a-z])(?:no|not|nothing|without|none)(?![a-z])[^.\n]{0,30}$/;
const countWording = new RegExp(
  [
    String.raw`(?<![\d+.-] ?)(?<before>\d{1,3}(?:[,. ]\d{3}){1,2}|\d{1,6})\)? {1,2}(?:(?:tele)?phone |distinct |unique |different |total |calling `,
    String.raw`|lines? )*(?:numbers|dids|tns|rows|entries|numeros|nummern|rufnummern|telefonnummern|numeri)(?![a-z])|(?<![a-z])(?:total(?: (?:count|numbers?|of))?`,
    String.raw`|count|quantity|number of (?:tele)?(?:phone )?(?:numbers|rows)|numbers in (?:the )?(?:list|file`,
    String.raw`|csv))[^\d\n+]{0,25}(?<after>\d{1,3}(?:[,. ]\d{3}){1,2}(?!\d)|\d{1,6})(?![\d-]|[ .(]\d)`,
  ].join(''),
);
const firstWording =
  /(?:first|from|begin\w*|start\w*|between|desde|del|primer\w*|premier\w*|von|erste\w*|primeir\w*|prim[oa]|da|dal|du|de)(?![a-z])[^\d\n+(]{0,40}$/;
const lastWording =
  /(?:last|to|through|thru|end\w*|until|and|hasta|al|ultim\w*|dernier\w*|bis|letzte\w*|ate|fino|au|-|\u2013|a)(?![a-z])[^\d\n+(]{0,40}$/;
const labelledFirst =
  /(?:^|[^a-z])(?:first|primer|premier|erste|primeiro|primo)(?: [a-z]{2,10}){0,4}(?: is)? ?[:=]? {0,3}$/;
const labelledLast = /(?:^|[^a-z])(?:last|ultimo|dernier|letzte)(?: [a-z]{2,10}){0,4}(?: is)? ?[:=]? {0,3}$/;

const sentenceCharactersMax = 400;

/** The letter's description of a list, and its first and last number if named. */
function findAttachment(
  letter: LetterText,
  phones: readonly Phone[],
): { readonly found: FoundAttachment; readonly ends: readonly Phone[] } {
  const { folded, flat } = letter;
  const statement = [...flat.matchAll(attachmentWording)].find(
    (match) => !noAttachment.test(folded.slice(Math.max(0, match.index - 40), match.index)),
  );
  if (statement === undefined)
    return { found: { stated: false, first: null, last: null, count: null, place: null }, ends: [] };
  const [from, to] = sentenceAround(folded, statement.index, statement.index + statement[0].length);
  const inSentence = phones.filter(({ offset }) => offset >= from && offset < to);
  const first =
    phones.find((phone) => labelledFirst.test(wordsBefore(folded, phone))) ??
    inSentence.find((phone) => firstWording.test(wordsBefore(folded, phone, from)));
  const last =
    phones.find((phone) => labelledLast.test(wordsBefore(folded, phone))) ??
    inSentence.find(
      (phone) =>
        first !== undefined && phone.offset > first.offset && lastWording.test(wordsBefore(folded, phone, from)),
    );
  const lastPhone = last?.phone ?? (first?.through == null ? null : withLastDigits(first.phone, first.through));
  const place = placeOfLine(letter.lines[lineIndexAt(letter, statement.index)]!);
  const count = countIn(flat.slice(from, to)) ?? countIn(folded.slice(to, to + sentenceCharactersMax));
  return {
    found: { stated: true, first: first?.phone ?? null, last: lastPhone, count, place },
    ends: [first, last].filter((phone) => phone !== undefined),
  };
}

/** The words before a number, at most from a place on. */
function wordsBefore(folded: string, { offset }: Phone, from = 0): string {
  return folded.slice(Math.max(from, offset - 60), offset).replace(/\n/g, ' ');
}

/** Bounds of the sentence that holds a part of the text. */
function sentenceAround(folded: string, start: number, end: number): readonly [from: number, to: number] {
  const least = Math.max(0, start - sentenceCharactersMax);
  const before = [...folded.slice(least, start).matchAll(/[.!?;]\s|:\s?\n/g)].at(-1);
  const after = /[.!?;](?=\s|$)/.exec(folded.slice(end, end + sentenceCharactersMax));
  return [before === undefined ? least : least + before.index + 1, end + (after?.index ?? sentenceCharactersMax)];
}

function countIn(folded: string): number | null {
  const match = countWording.exec(folded);
  const digits = match?.groups?.before ?? match?.groups?.after;
  return digits === undefined ? null : Number(digits.replace(/\D/g, ''));
}

/** The number of each line of a CSV: the first cell that is one. A line without, such as the heading, is passed over. */
function phonesOfCsv(
  text: string,
  country: string,
): { readonly phones: readonly string[]; readonly complete: boolean } {
  const lines = text.split(/\r\n|\n|\r/, letterNumberLimits.csvLinesMax + 1);
  const phones = lines.slice(0, letterNumberLimits.csvLinesMax).flatMap((line) => {
    const cells = line
      .slice(0, csvLineCharactersMax)
      .replace(/"/g, '')
      .split(/[,;\t]/);
    return cells
      .flatMap((cell) => findPhones(cell.trim(), country).slice(0, 1))
      .slice(0, 1)
      .map(({ phone }) => phone);
  });
  return { phones: [...new Set(phones)], complete: lines.length <= letterNumberLimits.csvLinesMax };
}

const csvLineCharactersMax = 500;
