import { ServiceError } from '../../runtime/errors.ts';
import { rangeOf } from '../phone/phone-number.ts';

/** The closed list of what columns hold; docs/artefacts.md gives the form of each. */
export const COLUMN_TYPES = ['e164', 'prefix', 'level', 'risk', 'category', 'count', 'date', 'text'] as const;

/** One column of an artefact. An absent value is the empty string. */
export interface Column {
  readonly name: string;
  readonly type: (typeof COLUMN_TYPES)[number];
  readonly meaning: string;
}

/** What a cache is: its name in paths, whether it is split by country, its columns, and the COPY that reads its rows. */
export interface CacheDefinition {
  readonly name: string;
  /** Last part of the path below /v1/caches, and the directory of its files. */
  readonly path: string;
  readonly title: string;
  readonly perCountry: boolean;
  /** The first column is the key: rows ascend by it in byte order, and each value occurs once. */
  readonly columns: readonly Column[];
  /** What a reader must know before using the rows; null if nothing. */
  readonly notice: string | null;
  /** Statement of sql/caches: rows ascending by key in byte order; takes :'country', :'evaluatedAt', :'from', :'to' and :'keys'. */
  readonly copyStatement: string;
  /** The same where no brand is live; null if the rows have nothing of brands, or nothing else. */
  readonly unbrandedCopyStatement: string | null;
  /** The key of the row about a phone. */
  readonly keyOf: (phone: string) => string;
}

/** Columns that more than one cache has. */
const phone = {
  name: 'phone',
  type: 'e164',
  meaning: 'Number in E.164 with its plus sign. Unique, ascending in byte order.',
} as const;
const reputationLevel = {
  name: 'reputation_level',
  type: 'level',
  meaning: 'NEUTRAL, SPAM (nuisance) or FRAUD.',
} as const;
const reputationCategory = {
  name: 'reputation_category',
  type: 'category',
  meaning: 'Id of /v1/reputation/categories; empty if none.',
} as const;
const displayName = { name: 'display_name', type: 'text', meaning: 'Name to show on a call.' } as const;

/** Branded phones: every live branded number of every country with its display name. */
const brandedPhones = {
  name: 'branded_phones',
  path: 'branded_phones',
  title: 'Branded phones',
  perCountry: false,
  columns: [phone, displayName],
  notice: null,
  copyStatement: 'caches/copy_branded_phones',
  unbrandedCopyStatement: null,
  keyOf: (phone: string) => phone,
} as const;

/** Profile phones: reputation and display info of every known number of one country. */
const profilePhones = {
  name: 'phones',
  path: 'phones',
  title: 'Profile phones',
  perCountry: true,
  columns: [
    phone,
    reputationLevel,
    reputationCategory,
    displayName,
    { name: 'display_description', type: 'text', meaning: 'What the number is, in one line.' },
    { name: 'display_detail', type: 'text', meaning: 'More about it.' },
    { name: 'display_image', type: 'text', meaning: 'URL of an image.' },
  ],
  notice: null,
  copyStatement: 'caches/copy_profile_phones',
  unbrandedCopyStatement: 'caches/copy_unbranded_profile_phones',
  keyOf: (phone: string) => phone,
} as const;

/** Ranges at risk: blocks of 1,000 numbers from which several were reported lately. */
const spamRanges = {
  name: 'spam_ranges',
  path: 'spam_ranges',
  title: 'Ranges at risk',
  perCountry: false,
  columns: [
    {
      name: 'prefix',
      type: 'prefix',
      meaning:
        'The beginning that the 1,000 numbers of the range share: a number without its last three digits. Unique, ascending in byte order.',
    },
    { name: 'risk', type: 'risk', meaning: 'ELEVATED, HIGH or SEVERE.' },
    {
      name: 'lift',
      type: 'count',
      meaning:
        'How many times as often as a number anywhere, at least, numbers of ranges with this risk were reported in the next 7 days, in the history that the rule was measured on.',
    },
    {
      name: 'numbers_reported',
      type: 'count',
      meaning: 'Different numbers of the range that were reported within 42 days.',
    },
    {
      name: 'since',
      type: 'date',
      meaning: 'Day (UTC) of the night from which on the range has been listed without a break.',
    },
    {
      name: 'until',
      type: 'date',
      meaning: 'Day (UTC) on which the range leaves the list at the latest if nothing more is reported.',
    },
  ],
  notice:
    'Evidence about blocks of numbers, not a label of any number: most numbers of a range are innocent. Do not apply it to numbers of the cache branded_phones or to cleared numbers.',
  copyStatement: 'caches/copy_spam_ranges',
  unbrandedCopyStatement: null,
  keyOf: rangeOf,
} as const;

/** Spammers: the SPAM and FRAUD numbers of every country. */
const spammerPhones = {
  name: 'spammer_phones',
  path: 'spammer_phones',
  title: 'Spammers',
  perCountry: false,
  columns: [phone, reputationLevel, reputationCategory],
  notice: null,
  copyStatement: 'caches/copy_spammer_phones',
  unbrandedCopyStatement: null,
  keyOf: (phone: string) => phone,
} as const;

/** The closed list of caches. */
export const CACHES = [
  profilePhones,
  brandedPhones,
  spammerPhones,
  spamRanges,
] as const satisfies readonly CacheDefinition[];

export type CacheName = (typeof CACHES)[number]['name'];

/** One artefact: a cache, and the country where the cache is split by country, else ''. */
export interface ArtefactName {
  readonly cache: CacheName;
  readonly country: string;
}

/**
 * The definition of a cache by its name.
 * @throws ServiceError `cache_unknown`
 */
export function findCache(name: string): CacheDefinition & { readonly name: CacheName } {
  const found = CACHES.find((cache) => cache.name === name);
  if (found === undefined) {
    throw new ServiceError('cache_unknown', {
      operation: 'find cache',
      object: name,
      hint: `The caches are ${CACHES.map((cache) => cache.name).join(', ')}.`,
    });
  }
  return found;
}

/** True for two upper-case ASCII letters. Checked on the raw text: a dotless i would upper-case to I. */
export function isCountryCode(text: string): boolean {
  return /^[A-Z]{2}$/.test(text);
}

/** An artefact as people and reports name it: `phones/US`, `spammer_phones`. */
export function formatArtefact({ cache, country }: { cache: string; country: string }): string {
  return country === '' ? cache : `${cache}/${country}`;
}
