import type { OfferedDelta, ServedManifest } from './served-manifest.ts';

/** What a client has of an artefact. */
export interface LocalVersion {
  readonly version: number;
  readonly plainSha256: string;
}

/** How a local copy comes to the served version. */
export type UpdatePlan =
  { readonly kind: 'unchanged' } | { readonly kind: 'delta'; readonly delta: OfferedDelta } | { readonly kind: 'full' };

/** The way with the least bytes. What counts are the rows: a copy that was made with a delta need not have the bytes of the served file. */
export function planUpdate(
  local: LocalVersion | undefined,
  { version, file, deltas }: Pick<ServedManifest, 'version' | 'file' | 'deltas'>,
): UpdatePlan {
  if (local === undefined) return { kind: 'full' };
  if (local.plainSha256 === file.plainSha256) return { kind: 'unchanged' };
  const delta = local.version < version ? deltas.find(({ from }) => from === local.version) : undefined;
  return delta !== undefined && delta.bytes < file.bytes ? { kind: 'delta', delta } : { kind: 'full' };
}
