import { rename } from 'node:fs/promises';
import type { ArtefactFile } from '../artefact-facts.ts';
import { failureOf, isServiceError, ServiceError } from '../../../runtime/errors.ts';
import { formatArtefact, type ArtefactName } from '../definition.ts';
import { applyDeltaFile, type ExpectedContent } from './apply-delta-file.ts';
import { checkFile } from './check-file.ts';
import {
  discardDownload,
  downloadFile,
  VersionChanged,
  type DownloadOptions,
  versionChangesMax,
} from './download-file.ts';
import type { CopyState, LocalCopy } from './local-copy.ts';
import { fetchManifest, type KnownManifest, type ManifestSource } from './manifest-source.ts';
import type { OfferedDelta, ServedManifest } from './served-manifest.ts';

/** The result of {@link bringUpToDate}. */
export interface UpdatedCopy {
  readonly how: 'unchanged' | 'delta' | 'full';
  readonly manifest: ServedManifest;
  readonly deltaRefused: string | null;
}

interface UpdateOptions extends ManifestSource {
  readonly copy: LocalCopy;
  /** Ranges of one file that are downloaded at a time. */
  readonly parallel: number;
  readonly local: CopyState | undefined;
}

/**
 * Updates a copy to the served version. Starts again if a new version is published meanwhile.
 * @throws ServiceError `download_failed`, `download_damaged`, or the service's own error
 */
export async function bringUpToDate(options: UpdateOptions, { manifest, ...artefact }: Target): Promise<UpdatedCopy> {
  let known = manifest === undefined ? undefined : { manifest, manifestEtag: null, isVerified: false };
  for (let changes = 0; ; changes++) {
    try {
      if (changes > 0) await options.trust?.refresh();
      return await updateTo(options, known ?? (await fetchManifest(options, artefact, options.local)));
    } catch (error) {
      if (!(error instanceof VersionChanged)) throw error;
      if (changes === versionChangesMax)
        throw new ServiceError('download_failed', {
          operation: 'pull',
          object: formatArtefact(artefact),
          problem: 'New versions are published faster than they can be downloaded.',
          cause: error,
        });
      known = undefined;
    }
  }
}

/** An artefact, with its manifest if it is known already, from a service that does not sign. */
export interface Target extends ArtefactName {
  readonly manifest?: ServedManifest;
}

async function updateTo(
  options: UpdateOptions,
  { manifest, manifestEtag, isVerified }: KnownManifest,
): Promise<UpdatedCopy> {
  const { copy, local } = options;
  const plan = planUpdate(local?.manifest, manifest);
  if (plan.kind === 'unchanged') {
    if (manifestEtag === null || manifestEtag !== local!.manifestEtag || isVerified !== local!.isVerified)
      await copy.confirm({ bytes: local!.bytes, manifestEtag, manifest, isVerified });
    return { how: 'unchanged', manifest, deltaRefused: null };
  }
  const applied = plan.kind === 'delta' ? await tryDelta(options, plan.delta, manifest) : undefined;
  const bytes = applied !== undefined && 'bytes' in applied ? applied.bytes : await downloadWhole(options, manifest);
  await copy.replace({ bytes, manifestEtag, manifest, isVerified });
  for (const kind of ['full', 'delta'] as const) await discardDownload(await copy.downloadPath(kind));
  if (applied === undefined) return { how: 'full', manifest, deltaRefused: null };
  return 'bytes' in applied
    ? { how: 'delta', manifest, deltaRefused: null }
    : { how: 'full', manifest, deltaRefused: applied.refused };
}

async function tryDelta(
  options: UpdateOptions,
  delta: OfferedDelta,
  manifest: ServedManifest,
): Promise<{ bytes: number } | { refused: string }> {
  try {
    return { bytes: await applyOffered(options, delta, manifest) };
  } catch (error) {
    if (!isRefusedDelta(error)) throw error;
    return { refused: failureOf(error).reason };
  }
}

/** True for errors of the delta, after which the whole file is downloaded; false for those of disk and connection. */
function isRefusedDelta(error: unknown): boolean {
  return (
    isServiceError(error, 'delta_invalid') ||
    isServiceError(error, 'delta_gone') ||
    isServiceError(error, 'download_damaged')
  );
}

/** Applies a delta to the copy; returns the bytes of the new file. */
async function applyOffered(
  { client, copy, parallel }: UpdateOptions,
  delta: OfferedDelta,
  { file }: ServedManifest,
): Promise<number> {
  const path = await copy.downloadPath('delta');
  await downloadChecked({ client, path, parallel, remote: delta });
  const { bytes } = await applyDeltaFile({
    oldPath: copy.rowsPath,
    deltaPath: path,
    outputPath: await copy.begin(),
    expected: contentOf(file),
  });
  return bytes;
}

/** Returns the bytes of the file. */
async function downloadWhole({ client, copy, parallel }: UpdateOptions, { file }: ServedManifest): Promise<number> {
  const path = await copy.downloadPath('full');
  await downloadChecked({ client, path, parallel, remote: file, content: contentOf(file) });
  await rename(path, await copy.begin()); // LocalCopy.replace makes it durable with its directory
  return file.bytes;
}

type CheckedDownload = DownloadOptions & { readonly content?: ExpectedContent | undefined };

/** Downloads and checks a file. If a resumed download is damaged, as by a crash of the machine, the file is downloaded again. */
async function downloadChecked({ content, ...download }: CheckedDownload): Promise<void> {
  for (;;) {
    const { resumedBytes } = await downloadFile(download);
    try {
      return await checkFile(download.path, { sha256: download.remote.sha256, ...content });
    } catch (error) {
      await discardDownload(download.path);
      if (resumedBytes === 0 || !isServiceError(error, 'download_damaged')) throw error;
    }
  }
}

/** The content digest that a manifest promises; undefined for a version from before there was one. */
export function contentOf({
  contentSha256,
  segmentRowsMax,
}: Pick<ArtefactFile, 'contentSha256' | 'segmentRowsMax'>): ExpectedContent | undefined {
  return contentSha256 === null || segmentRowsMax === null ? undefined : { contentSha256, segmentRowsMax };
}

/** What an update is planned by. */
type PlannedManifest = Pick<ServedManifest, 'version' | 'file' | 'deltas'>;

/** How a local copy is updated. */
type UpdatePlan =
  { readonly kind: 'unchanged' } | { readonly kind: 'delta'; readonly delta: OfferedDelta } | { readonly kind: 'full' };

/** The update with the least bytes. Rows are compared, since a copy made with a delta may have other bytes than the served file. */
function planUpdate(local: PlannedManifest | undefined, { version, file, deltas }: PlannedManifest): UpdatePlan {
  if (local === undefined) return { kind: 'full' };
  const hasSameRows = file.contentSha256 !== null && local.file.contentSha256 === file.contentSha256;
  if (hasSameRows || local.file.sha256 === file.sha256) return { kind: 'unchanged' };
  if (contentOf(file) === undefined) return { kind: 'full' }; // what a delta makes could not be checked
  const delta = local.version < version ? deltas.find(({ from }) => from === local.version) : undefined;
  return delta !== undefined && delta.bytes < file.bytes ? { kind: 'delta', delta } : { kind: 'full' };
}
