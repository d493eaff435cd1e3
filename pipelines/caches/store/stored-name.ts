/** The name of a stored file: by its content, so that the file never changes. */
export interface StoredName {
  readonly cache: string;
  readonly country: string;
  readonly sha256: string;
  /** Absent: the artefact itself. */
  readonly kind?: StoredKind;
}

/** The artefact, its segment index, a filter of its keys, or a delta to it. */
export type StoredKind = 'artefact' | 'index' | 'filter' | 'delta';

const endings: Readonly<Record<StoredKind, string>> = {
  artefact: '.tsv.gz',
  index: '.index.tsv',
  filter: '.filter.bin',
  delta: '.delta.tsv.gz',
};
const storedKey = /^([a-z_]+)\/(?:([A-Z]{2})\/)?([0-9a-f]{64})(\.tsv\.gz|\.index\.tsv|\.filter\.bin|\.delta\.tsv\.gz)$/;

/** The name of a stored file below the root of its store: `<cache>[/<country>]/<sha256>` with the ending of its kind. */
export function formatStoredName({ cache, country, sha256, kind = 'artefact' }: StoredName): string {
  return `${cache}/${country === '' ? '' : `${country}/`}${sha256}${endings[kind]}`;
}

/** The name of a path below the root; undefined for other files. */
export function parseStoredName(path: string): (StoredName & { readonly kind: StoredKind }) | undefined {
  const [, cache, country = '', sha256, ending] = storedKey.exec(path) ?? [];
  const kind = (Object.keys(endings) as StoredKind[]).find((each) => endings[each] === ending);
  return cache === undefined || sha256 === undefined || kind === undefined
    ? undefined
    : { cache, country, sha256, kind };
}
