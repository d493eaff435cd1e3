import { foldSameLength, pattern } from './letter-text.ts';

/** A date in a text. `alternative` is the other reading of a numeric date whose order is ambiguous (03/04/2026). */
export interface DateInText {
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly alternative: string | null;
  readonly start: number;
  readonly end: number;
}

/**
 * Where numeric dates are written month first: the locales of these countries in the Unicode CLDR (version 44, short
 * date format). Elsewhere the day comes first.
 */
export const monthFirstCountries: ReadonlySet<string> = new Set('US AS GU MH MP PA PH PR UM VI'.split(' '));

/** Names of months without accents, in English, Spanish, French, German, Portuguese and Italian, and their abbreviations. */
const monthNames: readonly string[] = [
  'january jan enero ene janvier janv januar janner jaenner janeiro gennaio gen',
  'february feb febrero fevrier fevr fev februar feber fevereiro febbraio febb',
  'march mar marzo mars marz maerz mrz marco',
  'april apr abril abr avril avr aprile',
  'may mayo mai maio maggio mag',
  'june jun junio juin juni junho giugno giu',
  'july jul julio juillet juil juli julho luglio lug',
  'august aug agosto ago aout',
  'september sep sept septiembre setiembre septembre setembro set settembre sett',
  'october oct octubre octobre oktober okt outubro out ottobre ott',
  'november nov noviembre novembre novembro',
  'december dec diciembre dic decembre dezember dez dezembro dicembre',
];

const monthOf = new Map(monthNames.flatMap((names, at) => names.split(' ').map((name) => [name, at + 1] as const)));
const month = `(?<month>${[...monthOf.keys()].sort((a, b) => b.length - a.length).join('|')})(?![a-z])\\.?`;
const day = '(?<!\\d)(?<day>\\d{1,2})';
const year = "(?<year>\\d{4}|['’]?\\d{2})(?!\\d)";
const ordinal = '(?:st|nd|rd|th|er|[ºª°.o])?';

/** Longer forms first: of two that overlap, the earlier in this list is taken. */
const forms: readonly RegExp[] = [
  new RegExp(`${day} ?${ordinal} {0,2}day {1,2}of[ \\n]{1,2}${month} ?,?[ \\n]{0,2}${year}`, 'g'), // this 3rd day of March, 2026
  new RegExp(`(?<![a-z])${month} {0,2}${day} ?${ordinal}(?: ?,[ \\n]{0,2}| {1,2}|-)${year}`, 'g'), // March 3rd, 2026
  new RegExp(
    `${day} ?${ordinal}[ /-]{0,2}(?:(?:de|of|di) )?${month}[ ,/-]{0,2}(?:(?:de|del|do|di|of) )?${year}(?! ?[,.] ?\\d)`,
    'g',
  ), // 3 de marzo de 2026
  new RegExp(`(?<!\\d)(?<year>\\d{4})[ /,.-]{1,2}${month}[ /,.-]{0,2}${day}(?!\\d)${ordinal}`, 'g'), // 2026 March 3
  /(?<![\d./-])(?<year>\d{4}) ?([-/.]) ?(?<monthNumber>\d{1,2}) ?\2 ?(?<day>\d{1,2})(?!\d|[-/.]\d)/g, // 2026-03-03
  /(?<![\d./+-])(?<first>\d{1,2}) ?(?<separator>[-/.]) ?(?<second>\d{1,2}) ?\k<separator> ?(?<year>\d{4}|['’]?\d{2})(?!\d|[-/.]\d)/g, // 3/3/2026
];

/**
 * The dates in a text, in its order, without days that do not exist. A year of two digits is of this
 * century. In a numeric date a part over 12 is the day; otherwise the country decides which comes first.
 */
export function findDates(text: string, country: string): readonly DateInText[] {
  const folded = foldSameLength(text);
  const found: DateInText[] = [];
  for (const form of forms) {
    for (const match of folded.matchAll(form)) {
      const [start, end] = [match.index, match.index + match[0].length];
      const readings = readingsOf(match.groups ?? {}, monthFirstCountries.has(country));
      if (readings[0] !== undefined) found.push({ date: readings[0], alternative: readings[1] ?? null, start, end });
    }
  }
  return withoutOverlaps(found);
}

/** Dates in order; `found` is ordered by preference. */
function withoutOverlaps(found: readonly DateInText[]): readonly DateInText[] {
  const byStart = found
    .map((date, rank) => ({ date, rank }))
    .sort((a, b) => a.date.start - b.date.start || a.rank - b.rank);
  const kept: { date: DateInText; rank: number }[] = [];
  for (const next of byStart) {
    const last = kept.at(-1);
    if (last === undefined || next.date.start >= last.date.end) kept.push(next);
    else if (next.rank < last.rank) kept[kept.length - 1] = next;
  }
  return kept.map(({ date }) => date);
}

function readingsOf(groups: Readonly<Record<string, string | undefined>>, monthFirst: boolean): readonly string[] {
  const fullYear = yearOf(groups.year!); // each form has a year
  if (groups.first !== undefined) {
    const yearMayBeFirst = groups.year!.length === 2 && groups.separator === '-';
    return numericReadings(
      {
        first: Number(groups.first),
        second: Number(groups.second),
        year: fullYear,
        yearMayBeFirst,
        dotted: groups.separator === '.',
      },
      monthFirst,
    );
  }
  const monthNumber = groups.month === undefined ? Number(groups.monthNumber) : monthOf.get(groups.month)!;
  return [calendarDay(fullYear, monthNumber, Number(groups.day))].filter((date) => date !== null);
}

interface NumericDate {
  readonly first: number;
  readonly second: number;
  readonly year: number;
  /** 26-03-04 may be of 2026. */
  readonly yearMayBeFirst: boolean;
  /** 4.3.2026: where the day comes first nobody writes a month before a dot. */
  readonly dotted: boolean;
}

function numericReadings(
  { first, second, year: fullYear, yearMayBeFirst, dotted }: NumericDate,
  monthFirst: boolean,
): readonly string[] {
  const [asMonthFirst, asDayFirst] = [calendarDay(fullYear, first, second), calendarDay(fullYear, second, first)];
  if (dotted && !monthFirst && asDayFirst !== null) return [asDayFirst];
  const asYearFirst = yearMayBeFirst ? calendarDay(2000 + first, second, fullYear - 2000) : null;
  const ordered = [...(monthFirst ? [asMonthFirst, asDayFirst] : [asDayFirst, asMonthFirst]), asYearFirst];
  return [...new Set(ordered.filter((date) => date !== null))];
}

function yearOf(digits: string): number {
  const number = Number(digits.replace(/\D/g, ''));
  return number < 100 ? 2000 + number : number;
}

const years = { min: 1900, max: 2199 };

/** YYYY-MM-DD, or null for a day that does not exist. */
function calendarDay(fullYear: number, monthNumber: number, dayNumber: number): string | null {
  if (fullYear < years.min || fullYear > years.max || monthNumber < 1 || monthNumber > 12 || dayNumber < 1) return null;
  const time = new Date(Date.UTC(fullYear, monthNumber - 1, dayNumber));
  return time.getUTCMonth() === monthNumber - 1 ? time.toISOString().slice(0, 10) : null;
}

const dayMilliseconds = 86_400_000;

/** The day of an instant, UTC. */
export function dayOf(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}

/** Whole days from one day to another; negative if the second is earlier. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / dayMilliseconds);
}

/**
 * The role of a date by the words around it: `signing` (a label such as "Date:", "Dated", "Signed on", "Fecha", "Fait à
 * Paris, le"), `other` (effective, expires, valid until, revised, born), or `unlabelled`.
 */
export type DateRole = 'signing' | 'other' | 'unlabelled';

const signingLabel = new RegExp(
  '(?:^|[^a-z])(?:' +
    'date(?: ?/ ?time)?(?: (?:signed|of (?:signature|signing|execution)|de (?:la )?signature))?|dated|(?:signature|signing|execution) date|signed(?: and dated)?|executed' +
    '|fecha(?: de(?: la)? firma)?|fechado|firmado|fait|signe|datum(?: der unterschrift)?|unterzeichnet|unterschrieben|data(?: d[ae](?:lla)? (?:assinatura' +
    '|firma))?|datado|assinado|firmato|fatto|sottoscritto' +
    ')(?: (?:electronically|digitally|by me))?[^a-z\\d]{0,40}(?:(?:on|this|the|le|el|il|den|am|em|o|dia|as of)[^a-z\\d]{1,5}){0,2}$',
);
/** `Fait à Paris, le`, `Firmado en Madrid, a`, `Signed at Boston on`, `Ort, Datum: Berlin, den`. */
const signedAtPlace = pattern('')`
  (?:^|[^a-z])(?:fait|signed|executed|dated|firmado|fechado|fatto|firmato|assinado|unterzeichnet|ort(?:,| und) datum|luogo e data|lugar y fecha
  |local e data|lieu et date|place and date) ?:? {0,2}(?:a|at|in|en|em|zu|presso)? ?[a-z][a-z .'()-]{1,30},? {0,2}(?:on|this|the|le|el|il|den|am|em|a
  |,)? {0,2}$
`;
const otherBefore = new RegExp(
  '(?:^|[^a-z\\d])(?:' +
    'effective|expir\\w*|valid\\w*|until|through|thru|term|begin\\w*|start\\w*|commenc\\w*|end|ends|ending|terminat\\w*|as of|since|founded|established|incorporated' +
    '|born|birth|dob|rev|revised|revision|version|form|updated|printed|received|faxed|invoice|previous|prior|last' +
    '|vigen\\w*|vence|vencimiento|hasta|desde|a partir|nacimiento|jusqu\\w*|a compter|echeance|nee?|gultig\\w*|bis|ab|seit|geboren|ablauf\\w*|ate|validade' +
    '|vencimento|nascimento|scade\\w*|valid[oa]|fino|decorr\\w*|nato|nata' +
    ')(?![a-z\\d])\\.?[^.;\\n]{0,40}$',
);
const otherAfter =
  /^ ?[(,-] ?(?:effective|expir|until|through|thru|rev)|^ (?:until|through|thru|and (?:shall |will )?(?:expire|remain))(?![a-z])/;

/** How far around a date its words are read, in characters. */
const contextCharacters = 80;

/** The role of a date by the words before and after it; both folded, from the previous date or line on. */
export function roleOfDate(before: string, after: string): DateRole {
  const context = before.slice(-contextCharacters).replace(/[_.…·]{2,}/g, ' ');
  if (otherBefore.test(context) || otherAfter.test(after)) return 'other';
  return signingLabel.test(context) || signedAtPlace.test(context) ? 'signing' : 'unlabelled';
}
