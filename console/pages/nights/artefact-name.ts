/** An artefact: a cache, and the country where the cache is split by country, else ''. */
interface ArtefactName {
  readonly cache: string;
  readonly country: string;
}

/** The display name of an artefact: `phones/US`, `spammer_phones`. */
export function nameOf({ cache, country }: ArtefactName): string {
  return country === '' ? cache : `${cache}/${country}`;
}

/** An artefact in paths of the console: `phones/US`, `spammer_phones/-`. */
export function pathOf({ cache, country }: ArtefactName): string {
  return `${cache}/${country || '-'}`;
}
