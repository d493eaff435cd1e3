import { ServiceError } from '../../runtime/errors.ts';
import { brandedPhones } from './branded-phones.ts';
import { profilePhones } from './profile-phones.ts';
import { spamRanges } from './spam-ranges.ts';
import { spammerPhones } from './spammer-phones.ts';

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
  /** What a reader must know before the rows are put to use; null if there is nothing. */
  readonly notice: string | null;
  /** Statement of sql/caches: rows ascending by key in byte order; takes :'country', :'evaluatedAt', :'from' and :'to'. */
  readonly copyStatement: string;
  /** The key of the row that speaks of a phone. */
  readonly keyOf: (phone: string) => string;
}

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
