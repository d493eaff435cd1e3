/** An artefact: a cache, and the country where the cache is split by country, else ''. */
export interface ArtefactName {
  readonly cache: string;
  readonly country: string;
}

/** `phones/US`, `spammer_phones`: the artefact for people. */
export function nameOf({ cache, country }: ArtefactName): string {
  return country === '' ? cache : `${cache}/${country}`;
}

/** `phones/US`, `spammer_phones/-`: the artefact in paths of the console. */
export function pathOf({ cache, country }: ArtefactName): string {
  return `${cache}/${country || '-'}`;
}
