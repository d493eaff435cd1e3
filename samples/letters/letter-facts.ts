import { dateFormCount, dayAfter, writeDate } from './letter-dates.ts';
import { nameWords, type LetterLanguage } from './letter-words.ts';
import {
  PhoneSource,
  phoneForms,
  toE164,
  type LetterCountry,
  type PhoneForm,
  type SamplePhone,
} from './sample-phones.ts';
import type { Seeded } from '../../runtime/seeded.ts';

/** The layouts of letters. Closed list. */
export const LAYOUTS = [
  'block_letter',
  'two_column_form',
  'number_table',
  'short_email',
  'two_pages',
  'csv_embedded',
  'csv_beside',
  'number_ranges',
  'dense_paragraph',
] as const;
export type Layout = (typeof LAYOUTS)[number];

/** How a letter is signed: with a PDF signature; typed; in a script font; with a picture or strokes of a pen; not at all. */
export type SigningStyle = 'pdf' | 'slash_s' | 'electronic_text' | 'script' | 'picture' | 'strokes' | 'none';

/** Names of a brand. */
export interface BrandNames {
  readonly legalName: string;
  readonly dba: string | null;
  readonly displayName: string;
}

/** The facts of a letter. */
export interface LetterFacts extends BrandNames {
  readonly country: LetterCountry;
  readonly language: LetterLanguage;
  readonly layout: Layout;
  readonly address: readonly string[];
  readonly signerName: string;
  readonly signerTitle: string;
  readonly signing: SigningStyle;
  /** `YYYY-MM-DD`. */
  readonly signedOn: string;
  readonly dateText: string;
  readonly untilText: string;
  readonly phones: readonly SamplePhone[];
  /** The company's own telephone in the letterhead, which the letter does not authorize; null without one. */
  readonly contactPhone: SamplePhone | null;
  readonly writePhone: PhoneForm;
}

const languages: Readonly<Record<LetterCountry, LetterLanguage>> = {
  US: 'en',
  CA: 'en',
  GB: 'en',
  DE: 'de',
  FR: 'fr',
  ES: 'es',
};
const countries: readonly LetterCountry[] = ['US', 'US', 'US', 'CA', 'GB', 'DE', 'FR', 'ES'];

/** The given facts of a letter; the others are drawn at random. */
interface FactsRequest {
  readonly layout: Layout;
  readonly signing: SigningStyle;
  /** Days from today to the signing date; below 0 is the past. */
  readonly signedDays: number;
  readonly asOf: Date;
  /** Default: random. */
  readonly country?: LetterCountry;
}

/** Draws the facts of a letter at random. */
export function drawFacts(
  random: Seeded,
  { layout, signing, signedDays, asOf, country = random.pick(countries) }: FactsRequest,
): LetterFacts {
  const language = languages[country];
  const names = drawNames(random, country);
  const source = new PhoneSource({ random, country });
  const signedOn = dayAfter(asOf, signedDays);
  const written = { country, language, form: random.whole(0, dateFormCount(country) - 1) };
  return {
    ...names,
    country,
    language,
    layout,
    address: drawAddress(random, country),
    signerName: `${random.pick(nameWords.first[language])} ${random.pick(nameWords.last[language])}`,
    signerTitle: random.pick(nameWords.titles[language]),
    signing,
    signedOn,
    dateText: writeDate(signedOn, written),
    untilText: writeDate(dayAfter(new Date(`${signedOn}T00:00:00Z`), 365), written),
    phones: drawPhones(random, { source, layout }).toSorted(
      (a, b) => toE164(a).length - toE164(b).length || (toE164(a) < toE164(b) ? -1 : 1),
    ),
    contactPhone: random.chance(0.6) ? source.next() : null,
    writePhone: random.pick(phoneForms[country]),
  };
}

/** Names of a company of a country. */
export function drawNames(random: Seeded, country: LetterCountry): BrandNames {
  const language = languages[country];
  const [firm, trade, suffix] = [
    random.pick(nameWords.firms),
    random.pick(nameWords.trades[language]),
    random.pick(nameWords.suffixes[country]),
  ];
  const legalName = `${firm} ${trade}${suffix.startsWith(',') ? suffix : ` ${suffix}`}`;
  const dba = random.chance(0.4) ? `${random.pick(nameWords.firms)} ${trade}` : null;
  return { legalName, dba, displayName: (dba ?? `${firm} ${trade}`).slice(0, 32).trim() };
}

function drawPhones(random: Seeded, { source, layout }: { source: PhoneSource; layout: Layout }): SamplePhone[] {
  const several = (count: number) => Array.from({ length: count }, () => source.next());
  switch (layout) {
    case 'block_letter':
    case 'two_column_form':
      return several(random.whole(1, 8));
    case 'number_table':
    case 'two_pages':
      return several(random.whole(6, 15));
    case 'short_email':
      return several(random.whole(1, 3));
    case 'dense_paragraph':
      return several(random.whole(2, 6));
    case 'csv_embedded':
    case 'csv_beside':
      return several(random.whole(16, 60));
    case 'number_ranges':
      return source.range(random.whole(4, 12));
  }
}

const streets = ['Larkspur', 'Heron', 'Quarry', 'Juniper', 'Millrace', 'Saddler', 'Fernhollow'];

/** An address in an invented place. */
function drawAddress(random: Seeded, country: LetterCountry): string[] {
  const house = random.whole(2, 980);
  const street = random.pick(streets);
  switch (country) {
    case 'US':
      return [
        `${house} ${street} ${random.pick(['Avenue', 'Street', 'Blvd.', 'Road'])}${random.chance(0.5) ? `, Suite ${random.whole(100, 990)}` : ''}`,
        random.pick([
          'Fenwick Falls, CA 94999',
          'Marlow Springs, TX 75999',
          'Brackett Junction, OH 43999',
          'New Alder, NY 10999',
        ]),
      ];
    case 'CA':
      return [`${house} ${street} Crescent`, random.pick(['Alderbrook, ON  K0Z 9Z9', 'Port Wexley, BC  V0Z 9Z9'])];
    case 'GB':
      return [
        `${house % 90} ${street} ${random.pick(['Row', 'Lane', 'Close'])}`,
        random.pick(['Little Marsden', 'Upper Tarrant', 'Oxenholme Green']),
        random.pick(['ZZ9 9ZZ', 'ZZ12 4QP']),
      ];
    case 'DE':
      return [
        `${random.pick(['Lindengrund', 'Mühlenstieg', 'Am Römerwall'])} ${house % 120}`,
        random.pick(['99998 Altweiler', '01999 Schönbruch', '59999 Hohenrode']),
      ];
    case 'FR':
      return [
        `${house % 80}, rue ${random.pick(['des Tilleuls', 'du Vieux Lavoir', 'de la Chênaie'])}`,
        random.pick(['99123 Vauclères', '99450 Saint-Orvin']),
      ];
    case 'ES':
      return [
        `Calle ${random.pick(['del Olmo', 'de la Ribera', 'Álamo Blanco'])} ${house % 90}`,
        random.pick(['52999 Villar Nuevo', '52999 Peñarruscal']),
      ];
  }
}

/** E.164 of the letter's numbers, in its order. */
export function letterPhones({ phones }: LetterFacts): string[] {
  return phones.map(toE164);
}
