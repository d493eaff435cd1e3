import { findPublishedCache, PUBLISHED_CACHES, type ArtefactName } from '../artefact/caches.ts';

/** Where the service serves signed metadata, and below it the signed files. */
export const trustPath = '/v1/trust';
export const targetsPath = `${trustPath}/targets`;

/** What is signed of an artefact; `from`: the version that a delta starts from. */
export type TargetName = ArtefactName &
  (
    | { readonly kind: 'manifest' }
    | { readonly kind: 'rows' }
    | { readonly kind: 'index' }
    | { readonly kind: 'filter' }
    | { readonly kind: 'delta'; readonly from: number }
  );

const fileNames = { manifest: 'manifest.json', rows: 'rows.tsv.gz', index: 'index.tsv', filter: 'filter.bin' } as const;

/** The path of a target in the metadata: `phones/US/rows.tsv.gz`, `spammer_phones/delta-from-11.tsv.gz`. */
export function formatTarget(target: TargetName): string {
  const { path, perCountry } = findPublishedCache(target.cache);
  const file = target.kind === 'delta' ? `delta-from-${target.from}.tsv.gz` : fileNames[target.kind];
  return [path, ...(perCountry ? [target.country] : []), file].join('/');
}

/** What a path of the metadata names; undefined if this version knows no such target. */
export function parseTarget(path: string): TargetName | undefined {
  const [, directory, country = '', file, from] =
    /^([a-z_]+)\/(?:([A-Z]{2})\/)?(manifest\.json|rows\.tsv\.gz|index\.tsv|filter\.bin|delta-from-([1-9]\d{0,8})\.tsv\.gz)$/.exec(
      path,
    ) ?? [];
  const cache = PUBLISHED_CACHES.find(({ path: name }) => name === directory);
  if (cache === undefined || file === undefined || cache.perCountry !== (country !== '')) return undefined;
  const artefact = { cache: cache.name, country };
  if (from !== undefined) return { ...artefact, kind: 'delta', from: Number(from) };
  const kind = (['manifest', 'rows', 'index', 'filter'] as const).find((each) => fileNames[each] === file)!;
  return { ...artefact, kind };
}

/** Where a target is served: below its digest, as TUF's consistent snapshots have it. What is there never changes. */
export function targetHref(path: string, sha256: string): string {
  return `${targetsPath}/${path.replace(/[^/]*$/, (file) => `${sha256}.${file}`)}`;
}

/** The path and the digest of a served target: the reverse of {@link targetHref}, without the path of the service. */
export function parseServedTarget(served: string): { readonly path: string; readonly sha256: string } | undefined {
  const [, directory, sha256, file] = /^(.+)\/([0-9a-f]{64})\.([^/]+)$/.exec(served) ?? [];
  return sha256 === undefined ? undefined : { path: `${directory}/${file}`, sha256 };
}

/** True for addresses whose bytes never change. */
export function isTargetHref(href: string): boolean {
  return href.startsWith(`${targetsPath}/`);
}
