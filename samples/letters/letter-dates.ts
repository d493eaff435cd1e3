import type { LetterLanguage } from './letter-words.ts';
import type { LetterCountry } from './sample-phones.ts';

const dayMs = 86_400_000;

/** A date as `YYYY-MM-DD`, a number of days after an instant's day in UTC. */
export function dayAfter(instant: Date, days: number): string {
  return new Date(instant.getTime() + days * dayMs).toISOString().slice(0, 10);
}

interface CalendarDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly name: string;
}

type DateForm = (date: CalendarDay) => string;

const two = (value: number) => String(value).padStart(2, '0');
const ordinal = (day: number) =>
  `${day}${day % 10 === 1 && day !== 11 ? 'st' : day % 10 === 2 && day !== 12 ? 'nd' : day % 10 === 3 && day !== 13 ? 'rd' : 'th'}`;
const iso: DateForm = ({ year, month, day }) => `${year}-${two(month)}-${two(day)}`;
const dayFirst: DateForm = ({ year, month, day }) => `${two(day)}/${two(month)}/${year}`;

const dateForms: Readonly<Record<LetterCountry, readonly DateForm[]>> = {
  US: [
    ({ name, day, year }) => `${name} ${day}, ${year}`,
    ({ name, day, year }) => `${name} ${day}, ${year}`,
    ({ name, day, year }) => `${name} ${ordinal(day)}, ${year}`,
    ({ year, month, day }) => `${two(month)}/${two(day)}/${year}`,
    ({ year, month, day }) => `${month}/${day}/${year}`,
    iso,
  ],
  CA: [({ name, day, year }) => `${name} ${day}, ${year}`, iso],
  GB: [
    ({ name, day, year }) => `${day} ${name} ${year}`,
    ({ name, day, year }) => `${ordinal(day)} ${name} ${year}`,
    dayFirst,
  ],
  DE: [
    ({ name, day, year }) => `${day}. ${name} ${year}`,
    ({ year, month, day }) => `${two(day)}.${two(month)}.${year}`,
  ],
  FR: [({ name, day, year }) => `${day === 1 ? '1er' : day} ${name} ${year}`, dayFirst],
  ES: [({ name, day, year }) => `${day} de ${name} de ${year}`, dayFirst],
};

/** The number of date formats in a country's letters. */
export function dateFormCount(country: LetterCountry): number {
  return dateForms[country].length;
}

function monthName(day: string, language: LetterLanguage): string {
  return new Date(day).toLocaleString(language, { month: 'long', timeZone: 'UTC' });
}

/** A date in one of the formats of a country's letters. */
export function writeDate(
  day: string,
  { country, language, form }: { country: LetterCountry; language: LetterLanguage; form: number },
): string {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
  return dateForms[country][form]!({ year, month, day: date, name: monthName(day, language) });
}
