import { ClientError } from '../base/errors.ts';

/** Last digits of a number that are not part of its range: a range has 1,000 numbers. */
const rangeDigits = 3;

/** The range of 1,000 numbers of a number in E.164, as their common prefix. */
export function rangeOf(phone: string): string {
  return phone.slice(0, -rangeDigits);
}

const itself = (phone: string) => phone;

/**
 * What a reader must know of each cache besides its manifest: the last part of its path below /v1/caches, whether it is split by
 * country, and the key of the row about a phone.
 */
export const PUBLISHED_CACHES = [
  { name: 'phones', path: 'phones', perCountry: true, keyOf: itself },
  { name: 'branded_phones', path: 'branded_phones', perCountry: false, keyOf: itself },
  { name: 'spammer_phones', path: 'spammer_phones', perCountry: false, keyOf: itself },
  { name: 'spam_ranges', path: 'spam_ranges', perCountry: false, keyOf: rangeOf },
] as const;

export type CacheName = (typeof PUBLISHED_CACHES)[number]['name'];

/** What a reader must know of a cache. */
export type PublishedCache = Omit<(typeof PUBLISHED_CACHES)[number], 'name' | 'perCountry'> & {
  readonly name: CacheName;
  readonly perCountry: boolean;
};

/** One artefact: a cache, and the country where the cache is split by country, else ''. */
export interface ArtefactName {
  readonly cache: CacheName;
  readonly country: string;
}

/**
 * What is known of a cache by its name.
 * @throws ClientError `cache_unknown`
 */
export function findPublishedCache(name: string): PublishedCache {
  const found = PUBLISHED_CACHES.find((cache) => cache.name === name);
  if (found !== undefined) return found;
  throw new ClientError('cache_unknown', {
    operation: 'find cache',
    object: name,
    hint: `The caches are ${PUBLISHED_CACHES.map((cache) => cache.name).join(', ')}.`,
  });
}

/**
 * The artefact of a cache and a country; `country` is left out for a cache that is not split by country.
 * @throws ClientError `cache_unknown`, `country_required`, `country_invalid`
 */
export function artefactOf(cache: string, country?: string): ArtefactName {
  const { name, perCountry } = findPublishedCache(cache);
  if (!perCountry) {
    if (country !== undefined && country !== '')
      throw new ClientError('country_invalid', {
        operation: 'name artefact',
        object: cache,
        problem: 'The cache is not split by country.',
      });
    return { cache: name, country: '' };
  }
  if (country === undefined || country === '')
    throw new ClientError('country_required', { operation: 'name artefact', object: cache });
  if (!isCountryCode(country)) throw new ClientError('country_invalid', { operation: 'name artefact', object: cache });
  return { cache: name, country };
}

/** True for two upper-case ASCII letters. Checked on the raw text: a dotless i would upper-case to I. */
export function isCountryCode(text: string): boolean {
  return /^[A-Z]{2}$/.test(text);
}

/** An artefact as people and reports name it: `phones/US`, `spammer_phones`. */
export function formatArtefact({ cache, country }: { cache: string; country: string }): string {
  return country === '' ? cache : `${cache}/${country}`;
}

/** Name of the copy of an artefact in a directory: `phones-US`, `spammer_phones`. */
export function copyName({ cache, country }: { cache: string; country: string }): string {
  return country === '' ? cache : `${cache}-${country}`;
}
