import type { FilterFacts } from '../../format/artefact/number-filter.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { PUBLISHED_CACHES, type CacheName, type PublishedCache } from '../../format/artefact/caches.ts';

export { formatArtefact, isCountryCode, type ArtefactName, type CacheName } from '../../format/artefact/caches.ts';

/** The closed list of what columns hold; docs/artefacts.md gives the form of each. */
export const COLUMN_TYPES = ['e164', 'prefix', 'level', 'risk', 'category', 'count', 'date', 'text'] as const;

/** One column of an artefact. An absent value is the empty string. */
export interface Column {
  readonly name: string;
  readonly type: (typeof COLUMN_TYPES)[number];
  readonly meaning: string;
}

/** What a cache is: what readers know of it, its columns, and the view with its rows. */
export interface CacheDefinition extends PublishedCache {
  readonly title: string;
  /** The first column is the key: rows ascend by it in byte order, and each value occurs once. */
  readonly columns: readonly Column[];
  /** What a reader must know before using the rows; null if nothing. */
  readonly notice: string | null;
  /** What the filter of the artefact holds; null if the cache has none. */
  readonly filterKeys: FilterFacts['keyType'] | null;
  /** A view with the columns under their names, and `country` if the cache is split by it (`cache_profile_phones` ...). */
  readonly view: string;
}

const [publishedPhones, publishedBrandedPhones, publishedSpammerPhones, publishedSpamRanges] = PUBLISHED_CACHES;

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
  ...publishedBrandedPhones,
  title: 'Branded phones',
  columns: [phone, displayName],
  notice: null,
  filterKeys: null,
  view: 'cache_branded_phones',
} as const;

/** Profile phones: reputation and display info of every known number of one country. */
const profilePhones = {
  ...publishedPhones,
  title: 'Profile phones',
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
  filterKeys: null,
  view: 'cache_profile_phones',
} as const;

/** Ranges at risk: blocks of 1,000 numbers from which several were reported lately. */
const spamRanges = {
  ...publishedSpamRanges,
  title: 'Ranges at risk',
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
  filterKeys: 'prefix',
  view: 'cache_spam_ranges',
} as const;

/** Spammers: the SPAM and FRAUD numbers of every country. */
const spammerPhones = {
  ...publishedSpammerPhones,
  title: 'Spammers',
  columns: [phone, reputationLevel, reputationCategory],
  notice: null,
  filterKeys: 'phone',
  view: 'cache_spammer_phones',
} as const;

/** The closed list of caches. */
export const CACHES = [
  profilePhones,
  brandedPhones,
  spammerPhones,
  spamRanges,
] as const satisfies readonly CacheDefinition[];

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
