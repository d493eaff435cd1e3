import { rename } from 'node:fs/promises';
import { isClientError, type ClientError } from '../../../format/base/errors.ts';
import type { ArtefactName } from '../../../format/artefact/caches.ts';
import type { OfferedDelta, ServedManifest } from '../service/manifest.ts';
import { fetchManifest, type KnownManifest, type ManifestSource } from '../service/manifest-source.ts';
import { onPresentVersion, readWhole } from '../service/served-file.ts';
import { planUpdate } from '../service/update-plan.ts';
import { applyDeltaFile } from './apply-delta-file.ts';
import { checkFile } from './check-file.ts';
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
  let given = manifest === undefined ? undefined : { manifest, manifestEtag: null, isVerified: false };
  return onPresentVersion({ trust: options.trust, artefact }, async () => {
    const known = given ?? (await fetchManifest(options, artefact, options.local));
    given = undefined;
    return updateTo(options, known);
  });
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
      await copy.confirm({ ...local!, manifestEtag, manifest, isVerified });
    return { how: 'unchanged', manifest, deltaRefused: null };
  }
  const applied = plan.kind === 'delta' ? await tryDelta(options, plan.delta, manifest) : undefined;
  const made = applied !== undefined && 'bytes' in applied ? applied : await downloadWhole(options, manifest);
  const { bytes, directory, index } = made;
  await copy.replace({ bytes, directory, manifestEtag, manifest, isVerified }, index);
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

/** The file of a version: its bytes and its segment index, and where the directory of that is. */
interface MadeFile extends Pick<CopyState, 'bytes' | 'directory'> {
  readonly index: Uint8Array;
}

/** Applies a delta to the copy. */
async function applyOffered(
  { client, copy, parallel }: UpdateOptions,
  delta: OfferedDelta,
  { file }: ServedManifest,
): Promise<MadeFile> {
  const path = await copy.downloadPath('delta');
  await downloadChecked({ client, path, parallel, remote: delta });
  const { bytes, index } = await applyDeltaFile({
    oldPath: copy.rowsPath,
    deltaPath: path,
    outputPath: await copy.begin(),
    plainSha256: file.plainSha256,
  });
  return { bytes, directory: index.directory, index: index.content };
}

async function downloadWhole(
  { client, copy, parallel }: UpdateOptions,
  { file, index }: ServedManifest,
): Promise<MadeFile> {
  const indexBytes = await readWhole(client, index);
  const path = await copy.downloadPath('full');
  await downloadChecked({ client, path, parallel, remote: file, plainSha256: file.plainSha256 });
  await rename(path, await copy.begin()); // LocalCopy.replace makes it durable with its directory
  return { bytes: file.bytes, directory: index.directory, index: indexBytes };
}

type CheckedDownload = DownloadOptions & { readonly plainSha256?: string };

/** Downloads and checks a file. If a resumed download is damaged, as by a crash of the machine, the file is downloaded again. */
async function downloadChecked({ plainSha256, ...download }: CheckedDownload): Promise<void> {
  for (;;) {
    const { resumedBytes } = await downloadFile(download);
    try {
      return await checkFile(download.path, { sha256: download.remote.sha256, plainSha256 });
    } catch (error) {
      await discardDownload(download.path);
      if (resumedBytes === 0 || !isClientError(error, 'download_damaged')) throw error;
    }
  }
}
