import { contentOf, type OfferedDelta, type ServedManifest } from './manifest.ts';

/** What an update is planned by. */
type PlannedManifest = Pick<ServedManifest, 'version' | 'file' | 'deltas'>;

/** How a local copy is updated. */
export type UpdatePlan =
  { readonly kind: 'unchanged' } | { readonly kind: 'delta'; readonly delta: OfferedDelta } | { readonly kind: 'full' };

/** The update with the least bytes. Rows are compared, since a copy made with a delta may have other bytes than the served file. */
export function planUpdate(local: PlannedManifest | undefined, { version, file, deltas }: PlannedManifest): UpdatePlan {
  if (local === undefined) return { kind: 'full' };
  const hasSameRows = file.contentSha256 !== null && local.file.contentSha256 === file.contentSha256;
  if (hasSameRows || local.file.sha256 === file.sha256) return { kind: 'unchanged' };
  if (contentOf(file) === undefined) return { kind: 'full' }; // what a delta makes could not be checked
  const delta = local.version < version ? deltas.find(({ from }) => from === local.version) : undefined;
  return delta !== undefined && delta.bytes < file.bytes ? { kind: 'delta', delta } : { kind: 'full' };
}
