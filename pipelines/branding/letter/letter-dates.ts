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
const monthFirstCountries: ReadonlySet<string> = new Set('US AS GU MH MP PA PH PR UM VI'.split(' '));

/** Languages in Latin letters whose names of months are known, from the runtime's own locale data. */
const monthLanguages = ['en', 'es', 'fr', 'de', 'pt', 'it', 'nl', 'da', 'sv', 'nb', 'pl'];

/** The number of a month by the first three letters of its name, or the whole name where two languages differ, without accents. */
const monthOf = new Map(
  monthLanguages.flatMap((language) =>
    (['long', 'short'] as const).flatMap((month) => {
      const format = new Intl.DateTimeFormat(language, { month, day: 'numeric', timeZone: 'UTC' });
      return Array.from({ length: 12 }, (_, at) => {
        const parts = format.formatToParts(new Date(Date.UTC(2026, at, 15)));
        return [foldMonth(parts.find(({ type }) => type === 'month')!.value), at + 1] as const;
      });
    }),
  ),
);

function foldMonth(word: string): string {
  return word
    .normalize('NFD')
    .replace(/[^\p{L}]/gu, '')
    .toLowerCase();
}

const separator = String.raw`[\s,./-]{1,3}`;
const word = String.raw`(?<month>\p{L}{3,12})\.?`;
const between = String.raw`(?:\s(?:\p{L}{2,3})\s|${separator})`; // 3 de marzo de 2026, 3rd day of March is `of March`
const forms: readonly RegExp[] = [
  /(?<![\d./-])(?<year>\d{4})[-/.](?<first>\d{1,2})[-/.](?<second>\d{1,2})(?![\d]|[-/.]\d)/gu, // 2026-03-03
  /(?<![\d./+-])(?<first>\d{1,2}) ?(?<separator>[-/.]) ?(?<second>\d{1,2}) ?\k<separator> ?(?<year>\d{4}|\d{2})(?![\d]|[-/.]\d)/gu,
  new RegExp(
    String.raw`(?<!\d)(?<day>\d{1,2})(?:\p{L}{2}|[.º°ª])?(?: day)?${between}${word}${between}(?<year>\d{4})(?!\d)`,
    'gu',
  ),
  new RegExp(
    String.raw`(?<!\p{L})${word}${separator}(?<day>\d{1,2})(?:\p{L}{2})?${separator}(?<year>\d{4})(?!\d)`,
    'gu',
  ),
];

/**
 * The dates in a text, in its order, without days that do not exist. A year of two digits is of this century. In a numeric date a
 * part over 12 is the day; otherwise the country decides which comes first.
 */
export function findDates(text: string, country: string): readonly DateInText[] {
  const found = forms.flatMap((form) =>
    [...text.matchAll(form)].flatMap((match) => {
      const [date, alternative = null] = readingsOf(match.groups!, monthFirstCountries.has(country));
      return date === undefined ? [] : [{ date, alternative, start: match.index, end: match.index + match[0].length }];
    }),
  );
  return found.sort((a, b) => a.start - b.start).filter((each, at, all) => at === 0 || each.start >= all[at - 1]!.end);
}

function readingsOf(groups: Readonly<Record<string, string | undefined>>, monthFirst: boolean): readonly string[] {
  const year = Number(groups['year']!.length === 2 ? `20${groups['year']}` : groups['year']);
  const days = (parts: readonly (readonly [month: number, day: number])[]) =>
    [...new Set(parts.map(([month, day]) => calendarDay(year, month, day)))].filter((day) => day !== null);
  if (groups['month'] !== undefined)
    return days([[monthOf.get(foldMonth(groups['month'])) ?? 0, Number(groups['day'])]]);
  const [first, second] = [Number(groups['first']), Number(groups['second'])];
  if (groups['separator'] === undefined) return days([[first, second]]); // the year is first
  return days(
    monthFirst
      ? [
          [first, second],
          [second, first],
        ]
      : [
          [second, first],
          [first, second],
        ],
  );
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
