import type { OfferedDelta, ServedManifest } from './manifest.ts';

/** What an update is planned by. */
type PlannedManifest = Pick<ServedManifest, 'version' | 'file' | 'deltas'>;

/** How a local copy is updated. */
export type UpdatePlan =
  { readonly kind: 'unchanged' } | { readonly kind: 'delta'; readonly delta: OfferedDelta } | { readonly kind: 'full' };

/** The update with the least bytes. Texts are compared, since a copy made with a delta may have other bytes than the served file. */
export function planUpdate(local: PlannedManifest | undefined, { version, file, deltas }: PlannedManifest): UpdatePlan {
  if (local === undefined) return { kind: 'full' };
  if (local.file.plainSha256 === file.plainSha256) return { kind: 'unchanged' };
  const delta = local.version < version ? deltas.find(({ from }) => from === local.version) : undefined;
  return delta !== undefined && delta.bytes < file.bytes ? { kind: 'delta', delta } : { kind: 'full' };
}
