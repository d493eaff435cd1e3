import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  daysBetween,
  findDates,
  monthFirstCountries,
  roleOfDate,
} from '../../../../pipelines/branding/letter/letter-dates.ts';

const read = (text: string, country = 'US') =>
  findDates(text, country).map(({ date, alternative }) => (alternative === null ? date : [date, alternative]));

/** Any day of a century, as year, month and day. */
const day = fc
  .date({ min: new Date('2000-01-01T00:00:00Z'), max: new Date('2099-12-31T00:00:00Z'), noInvalidDate: true })
  .map((date) => ({
    iso: date.toISOString().slice(0, 10),
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
  }));
type Day = typeof day extends fc.Arbitrary<infer T> ? T : never;

const months = {
  en: [
    'January',
    'February',
    'March',
    'April',
    'May',
    'June',
    'July',
    'August',
    'September',
    'October',
    'November',
    'December',
  ],
  es: [
    'enero',
    'febrero',
    'marzo',
    'abril',
    'mayo',
    'junio',
    'julio',
    'agosto',
    'septiembre',
    'octubre',
    'noviembre',
    'diciembre',
  ],
  fr: [
    'janvier',
    'février',
    'mars',
    'avril',
    'mai',
    'juin',
    'juillet',
    'août',
    'septembre',
    'octobre',
    'novembre',
    'décembre',
  ],
  de: [
    'Januar',
    'Februar',
    'März',
    'April',
    'Mai',
    'Juni',
    'Juli',
    'August',
    'September',
    'Oktober',
    'November',
    'Dezember',
  ],
  pt: [
    'janeiro',
    'fevereiro',
    'março',
    'abril',
    'maio',
    'junho',
    'julho',
    'agosto',
    'setembro',
    'outubro',
    'novembro',
    'dezembro',
  ],
  it: [
    'gennaio',
    'febbraio',
    'marzo',
    'aprile',
    'maggio',
    'giugno',
    'luglio',
    'agosto',
    'settembre',
    'ottobre',
    'novembre',
    'dicembre',
  ],
} as const;
const two = (number: number) => String(number).padStart(2, '0');
const ordinal = (number: number) =>
  `${number}${number % 10 === 1 && number !== 11 ? 'st' : number % 10 === 2 && number !== 12 ? 'nd' : number % 10 === 3 && number !== 13 ? 'rd' : 'th'}`;

/** Forms in which a month's name decides the order. */
const wordForms: Readonly<Record<string, (day: Day) => string>> = {
  'March 3, 2026': (d) => `${months.en[d.month - 1]} ${d.day}, ${d.year}`,
  'March 3rd, 2026': (d) => `${months.en[d.month - 1]} ${ordinal(d.day)}, ${d.year}`,
  'MARCH 03 2026': (d) => `${months.en[d.month - 1]!.toUpperCase()} ${two(d.day)} ${d.year}`,
  'Mar. 3, 2026': (d) => `${months.en[d.month - 1]!.slice(0, 3)}. ${d.day}, ${d.year}`,
  "Mar 3, '26": (d) => `${months.en[d.month - 1]!.slice(0, 3)} ${d.day}, '${two(d.year % 100)}`,
  '3 March 2026': (d) => `${d.day} ${months.en[d.month - 1]} ${d.year}`,
  '3-Mar-2026': (d) => `${d.day}-${months.en[d.month - 1]!.slice(0, 3)}-${d.year}`,
  '03MAR2026': (d) => `${two(d.day)}${months.en[d.month - 1]!.slice(0, 3).toUpperCase()}${d.year}`,
  '3-Mar-26': (d) => `${d.day}-${months.en[d.month - 1]!.slice(0, 3)}-${two(d.year % 100)}`,
  'the 3rd day of March, 2026': (d) => `the ${ordinal(d.day)} day of ${months.en[d.month - 1]}, ${d.year}`,
  '3rd of March 2026': (d) => `${ordinal(d.day)} of ${months.en[d.month - 1]} ${d.year}`,
  '2026 March 3': (d) => `${d.year} ${months.en[d.month - 1]} ${d.day}`,
  'le 3 mars 2026': (d) => `le ${d.day === 1 ? '1er' : d.day} ${months.fr[d.month - 1]} ${d.year}`,
  '3. März 2026': (d) => `${d.day}. ${months.de[d.month - 1]} ${d.year}`,
  'den 03. MÄRZ 2026': (d) => `den ${two(d.day)}. ${months.de[d.month - 1]!.toUpperCase()} ${d.year}`,
  '3 de marzo de 2026': (d) => `${d.day} de ${months.es[d.month - 1]} de ${d.year}`,
  '3 de marzo del 2026': (d) => `${d.day} de ${months.es[d.month - 1]} del ${d.year}`,
  '1º de março de 2026': (d) => `${d.day}${d.day === 1 ? 'º' : ''} de ${months.pt[d.month - 1]} de ${d.year}`,
  '3 marzo 2026': (d) => `${d.day} ${months.it[d.month - 1]} ${d.year}`,
  '1° marzo 2026': (d) => `${d.day}${d.day === 1 ? '°' : ''} ${months.it[d.month - 1]} ${d.year}`,
};

/** Numeric forms whose order is known. */
const numericForms: Readonly<Record<string, { readonly country: string; readonly print: (day: Day) => string }>> = {
  '2026-03-03': { country: 'US', print: (d) => d.iso },
  '2026/3/3': { country: 'DE', print: (d) => `${d.year}/${d.month}/${d.day}` },
  '2026.03.03': { country: 'DE', print: (d) => d.iso.replaceAll('-', '.') },
  '03/03/2026 (US)': { country: 'US', print: (d) => `${two(d.month)}/${two(d.day)}/${d.year}` },
  '3-3-2026 (PH)': { country: 'PH', print: (d) => `${d.month}-${d.day}-${d.year}` },
  '03/03/2026 (GB)': { country: 'GB', print: (d) => `${two(d.day)}/${two(d.month)}/${d.year}` },
  '3.3.2026 (DE)': { country: 'DE', print: (d) => `${d.day}.${d.month}.${d.year}` },
  '3. 3. 2026 (CZ)': { country: 'CZ', print: (d) => `${d.day}. ${d.month}. ${d.year}` },
  '03-03-2026 (NL)': { country: 'NL', print: (d) => `${two(d.day)}-${two(d.month)}-${d.year}` },
  '3/3/26 (US)': { country: 'US', print: (d) => `${d.month}/${d.day}/${two(d.year % 100)}` },
  '03.03.26 (DE)': { country: 'DE', print: (d) => `${two(d.day)}.${two(d.month)}.${two(d.year % 100)}` },
};

describe('a date with the name of a month', () => {
  it.each(Object.keys(wordForms))('written as "%s" is read back, whichever day it is, in any country', (form) => {
    fc.assert(
      fc.property(day, fc.constantFrom('US', 'DE', 'GB'), (d, country) => {
        const text = `Date: ${wordForms[form]!(d)}`;
        expect([text, ...findDates(text, country).map(({ date, alternative }) => [date, alternative])]).toEqual([
          text,
          [d.iso, null],
        ]);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ['12 sept. 2026', '2026-09-12'],
    ['12 Sept 2026', '2026-09-12'],
    ['5 janv. 2026', '2026-01-05'],
    ['5. Jän. 2026', '2026-01-05'],
    ['5. Jänner 2026', '2026-01-05'],
    ['2 dic 2026', '2026-12-02'],
    ['9 ene. 2026', '2026-01-09'],
    ['9 out. 2026', '2026-10-09'],
    ['9 gen 2026', '2026-01-09'],
    ['31 August 2026', '2026-08-31'],
    ['7 mai 2026', '2026-05-07'],
    ['7 Okt. 2026', '2026-10-07'],
    ['7 setiembre 2026', '2026-09-07'],
  ])('in a short form, %s, is %s', (text, date) => {
    expect(read(text, 'DE')).toEqual([date]);
  });

  it('may be wrapped after "day of"', () => {
    expect(read('signed this 3rd day of\nMarch, 2026')).toEqual(['2026-03-03']);
  });
});

describe('a numeric date', () => {
  it.each(Object.keys(numericForms))('written as %s is read back, whichever day it is', (form) => {
    const { country, print } = numericForms[form]!;
    fc.assert(
      fc.property(day, (d) => {
        expect(findDates(`on ${print(d)}.`, country).map(({ date }) => date)).toEqual([d.iso]);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ['03/04/2026', 'US', ['2026-03-04', '2026-04-03']],
    ['03/04/2026', 'GB', ['2026-04-03', '2026-03-04']],
    ['03/04/2026', 'CA', ['2026-04-03', '2026-03-04']],
    ['12/12/2026', 'US', '2026-12-12'],
    ['12/13/2026', 'GB', '2026-12-13'],
    ['13/12/2026', 'US', '2026-12-13'],
    ['03.04.26', 'DE', '2026-04-03'],
    ['26-03-14', 'US', ['2014-03-26', '2026-03-14']],
    ['26/03/14', 'US', '2014-03-26'],
    ['29/02/28', 'GB', '2028-02-29'],
  ])('%s in %s is %j', (text, country, expected) => {
    expect(read(text, country)).toEqual([expected]);
  });

  it('has two readings exactly if day and month differ and neither is over 12', () => {
    fc.assert(
      fc.property(day, fc.constantFrom('US', 'GB'), (d, country) => {
        const [found] = findDates(`${two(d.month)}/${two(d.day)}/${d.year}`, country);
        expect(found!.alternative !== null).toBe(d.day <= 12 && d.day !== d.month);
      }),
    );
  });

  it('is month first where the locales of the country write it so', () => {
    const writesMonthFirst = (locale: string) =>
      new Intl.DateTimeFormat(locale, { dateStyle: 'short', timeZone: 'UTC' })
        .format(new Date('2026-11-21T00:00:00Z'))
        .startsWith('11');
    for (const country of monthFirstCountries)
      expect([country, [`en-${country}`, `fil-${country}`, `es-${country}`].some(writesMonthFirst)]).toEqual([
        country,
        true,
      ]);
    for (const locale of ['en-GB', 'de-DE', 'fr-FR', 'es-ES', 'it-IT', 'pt-BR', 'en-AU', 'en-IN', 'es-MX'])
      expect(writesMonthFirst(locale)).toBe(false);
  });
});

describe('what is no date', () => {
  it.each([
    '31/02/2026',
    '2026-02-29',
    'February 30, 2026',
    '00/00/2026',
    '13/13/2026',
    '2026-13-01',
    '32.01.2026',
    '3/4',
    'March 2026',
    '1.2.3.4',
    '192.168.10.12',
    '+1 202-555-0100',
    '202.555.0100',
    '01.42.68.53.00',
    '12/34/56',
    'Version 1.2.2026.4',
    'May 5',
    'set 3 2',
    'Suite 3 Marble 2026',
    '1899-12-31',
    '2200-01-01',
    '',
    '12-3456789',
  ])('%j', (text) => {
    expect(read(text)).toEqual([]);
  });
});

describe('several dates', () => {
  it('are found in the order of the text', () => {
    expect(read('from March 3, 2026 until 4 April 2027, see 2025-01-02')).toEqual([
      '2026-03-03',
      '2027-04-04',
      '2025-01-02',
    ]);
  });

  it('side by side are not joined', () => {
    expect(read('3 March 2026 4 March 2026')).toEqual(['2026-03-03', '2026-03-04']);
    expect(read('12\nMarch 26, 2026')).toEqual(['2026-03-26']);
  });
});

describe('the role of a date', () => {
  it.each([
    'date: ',
    'dated ',
    'date ........ ',
    'signed on ',
    'date signed: ',
    'signed this ',
    'signature date: ',
    'signed and dated this ',
    'executed on the ',
    'fecha: ',
    'fecha de firma: ',
    'fait le ',
    'fait a paris, le ',
    'datum: ',
    'ort, datum: berlin, den ',
    'data: ',
    'data da assinatura: ',
    'firmato il ',
    'luogo e data: milano, ',
    'firmado en madrid, a ',
    'date / ',
    'date of signature ____',
  ])('after "%s" is the signing date', (before) => {
    expect(roleOfDate(before, '')).toBe('signing');
  });

  it.each([
    'effective date: ',
    'effective ',
    'this letter expires on ',
    'expiration date: ',
    'valid until ',
    'valid from ',
    'date of birth: ',
    'founded on ',
    'rev. ',
    'form updated ',
    'gultig bis ',
    'valido hasta el ',
    'jusqu’au ',
    'a compter du ',
    'scade il ',
    'received on ',
    'start date: ',
    'end date: ',
    'dated as of ',
  ])('after "%s" is another', (before) => {
    expect(roleOfDate(before, '')).toBe('other');
  });

  it.each(['', 'berlin, den ', 'we spoke on ', 'candidate '])('after "%s" is not read', (before) => {
    expect(roleOfDate(before, '')).toBe('unlabelled');
  });

  it('is recognised by the words behind it too', () => {
    expect(roleOfDate('dated ', ' (effective date)')).toBe('other');
  });
});

describe('days between two dates', () => {
  it.each([
    ['2026-03-01', '2026-03-31', 30],
    ['2026-03-31', '2026-03-01', -30],
    ['2024-02-28', '2024-03-01', 2],
    ['2026-10-24', '2026-10-26', 2],
  ])('%s and %s are %i', (from, to, days) => {
    expect(daysBetween(from, to)).toBe(days);
  });
});
