import { rename } from 'node:fs/promises';
import { ClientError, isClientError } from '../../../format/base/errors.ts';
import { formatArtefact, type ArtefactName } from '../../../format/artefact/caches.ts';
import { formatSegmentIndex } from '../../../format/artefact/segment-index.ts';
import { contentOf, type OfferedDelta, type ServedManifest } from '../service/manifest.ts';
import { fetchManifest, type KnownManifest, type ManifestSource } from '../service/manifest-source.ts';
import { fetchIndex, VersionChanged, versionChangesMax } from '../service/served-file.ts';
import { planUpdate } from '../service/update-plan.ts';
import { applyDeltaFile } from './apply-delta-file.ts';
import { checkFile, type PromisedFile } from './check-file.ts';
import { discardDownload, downloadFile, type DownloadOptions } from './download-file.ts';
import type { CopyState } from './copy-state.ts';
import type { LocalCopy } from './local-copy.ts';

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
 * @throws ClientError `download_failed`, `download_damaged`, or the service's own error
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
        throw new ClientError('download_failed', {
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
  const made = applied !== undefined && 'bytes' in applied ? applied : await downloadWhole(options, manifest);
  await copy.replace({ bytes: made.bytes, manifestEtag, manifest, isVerified }, made.index);
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
): Promise<MadeFile | { refused: string }> {
  try {
    return await applyOffered(options, delta, manifest);
  } catch (error) {
    if (!isRefusedDelta(error)) throw error;
    return { refused: error.problem };
  }
}

/** True for errors of the delta, after which the whole file is downloaded; false for those of disk and connection. */
function isRefusedDelta(error: unknown): error is ClientError {
  return (
    isClientError(error, 'delta_invalid') ||
    isClientError(error, 'delta_gone') ||
    isClientError(error, 'download_damaged')
  );
}

/** The file of a version: its bytes and its segment index; undefined where it has none. */
interface MadeFile {
  readonly bytes: number;
  readonly index: Uint8Array | undefined;
}

/** Applies a delta to the copy. */
async function applyOffered(
  { client, copy, parallel }: UpdateOptions,
  delta: OfferedDelta,
  { file }: ServedManifest,
): Promise<MadeFile> {
  const path = await copy.downloadPath('delta');
  await downloadChecked({ client, path, parallel, remote: delta });
  const { bytes, segments } = await applyDeltaFile({
    oldPath: copy.rowsPath,
    deltaPath: path,
    outputPath: await copy.begin(),
    expected: contentOf(file),
  });
  return { bytes, index: formatSegmentIndex(segments) };
}

async function downloadWhole(
  { client, copy, parallel }: UpdateOptions,
  { file, index }: ServedManifest,
): Promise<MadeFile> {
  const indexBytes = index === null ? undefined : await fetchIndex(client, index);
  if (index !== null && indexBytes === undefined) throw new VersionChanged();
  const path = await copy.downloadPath('full');
  const { plainCrc32 } = file;
  await downloadChecked({ client, path, parallel, remote: file, content: { plainCrc32, ...contentOf(file) } });
  await rename(path, await copy.begin()); // LocalCopy.replace makes it durable with its directory
  return { bytes: file.bytes, index: indexBytes };
}

type CheckedDownload = DownloadOptions & { readonly content?: Omit<PromisedFile, 'sha256'> | undefined };

/** Downloads and checks a file. If a resumed download is damaged, as by a crash of the machine, the file is downloaded again. */
async function downloadChecked({ content, ...download }: CheckedDownload): Promise<void> {
  for (;;) {
    const { resumedBytes } = await downloadFile(download);
    try {
      return await checkFile(download.path, { sha256: download.remote.sha256, ...content });
    } catch (error) {
      await discardDownload(download.path);
      if (resumedBytes === 0 || !isClientError(error, 'download_damaged')) throw error;
    }
  }
}
