import { ClientError } from '../../../format/base/errors.ts';
import { sha256Of } from '../../../format/base/sha256.ts';
import { formatArtefact, type ArtefactName } from '../../../format/artefact/caches.ts';
import type { ByteRange } from '../../../format/artefact/padded-range.ts';
import { isTargetHref } from '../../../format/trust/targets.ts';
import type { PublicationTrust } from './publication-trust.ts';
import { ConnectionLost, type FetchedBytes, type ServiceClient } from './service-client.ts';

/** A file of the service as its manifest names it. */
export interface RemoteFile {
  readonly href: string;
  /** Also the entity tag. */
  readonly sha256: string;
  readonly bytes: number;
}

/** The served file is not that of the manifest: a new version was published meanwhile. */
export class VersionChanged extends Error {}

/** New versions that may be published during one operation of the client. */
const versionChangesMax = 3;

/**
 * Does work on the version that is published now, again if a new one is published meanwhile, for which the work throws
 * {@link VersionChanged}.
 * @throws ClientError `download_failed`, and what the work throws
 */
export async function onPresentVersion<Result>(
  { trust, artefact }: { readonly trust?: PublicationTrust | undefined; readonly artefact: ArtefactName },
  work: () => Promise<Result>,
): Promise<Result> {
  for (let changes = 0; ; changes++) {
    try {
      if (changes > 0) await trust?.refresh();
      return await work();
    } catch (error) {
      if (!(error instanceof VersionChanged)) throw error;
      if (changes === versionChangesMax)
        throw new ClientError('download_failed', {
          operation: 'read published version',
          object: formatArtefact(artefact),
          problem: 'Each time that the version was read, it had changed, or a file of it was missing.',
          cause: error,
        });
    }
  }
}

/** A part of a file, and the consumer of its bytes. */
interface WantedRange extends ByteRange {
  /** Called with bytes and their offset in the file, in order. */
  readonly take: (bytes: Uint8Array, at: number) => Promise<void> | void;
}

/**
 * Downloads a range of a file, of one byte at least. After a lost connection, only the missing bytes are requested.
 * @throws VersionChanged; ClientError `download_failed`, or the service's own error
 */
export function downloadRange(
  client: ServiceClient,
  remote: RemoteFile,
  { start, end, take }: WantedRange,
): Promise<void> {
  let at = start;
  return client.getResumable(remote.href, {
    headers: () => ({ Range: `bytes=${at}-${end - 1}`, ...ifStill(remote) }),
    missing: isTargetHref(remote.href),
    progress: () => at,
    async take(answer) {
      requireRange(answer, { remote, start: at, end });
      for await (const chunk of answer.chunks) {
        if (at + chunk.length > end)
          throw new ClientError('download_failed', {
            operation: 'download',
            object: remote.href,
            problem: 'The service sends more bytes than were requested.',
          });
        await take(chunk, at);
        at += chunk.length;
      }
      if (at < end) throw new ConnectionLost('the answer ended early');
    },
  });
}

/** Downloads a range of a file into memory, without checking a digest. @throws as {@link downloadRange} */
export async function readRange(
  client: ServiceClient,
  remote: RemoteFile,
  { start, end }: ByteRange,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(end - start);
  if (end > start)
    await downloadRange(client, remote, { start, end, take: (chunk, at) => bytes.set(chunk, at - start) });
  return bytes;
}

/** A part of a file whose digest is known. */
export interface FilePart {
  readonly offset: number;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Downloads a part of a file into memory and checks its digest.
 * @throws as {@link downloadRange}; ClientError `download_damaged`
 */
export async function readPart(
  client: ServiceClient,
  remote: RemoteFile,
  { offset, bytes, sha256 }: FilePart,
): Promise<Uint8Array> {
  const part = await readRange(client, remote, { start: offset, end: offset + bytes });
  if (sha256Of(part) === sha256) return part;
  throw damaged(remote);
}

function damaged({ href }: RemoteFile): ClientError {
  return new ClientError('download_damaged', {
    operation: 'check download',
    object: href,
    problem: 'The downloaded file is not as it was published.',
  });
}

/** Downloads a file into memory and checks its digest. @throws as {@link readPart} */
export function readWhole(client: ServiceClient, remote: RemoteFile): Promise<Uint8Array> {
  return readPart(client, remote, { offset: 0, ...remote });
}

/** The bytes below a digest never change, and a mirror has entity tags of its own. */
function ifStill({ href, sha256 }: RemoteFile): Record<string, string> {
  return isTargetHref(href) ? {} : { 'If-Range': `"${sha256}"` };
}

/**
 * @throws VersionChanged, ClientError `download_damaged`, `download_failed` unless the answer is the requested range of the expected
 * version. A range of a file of another length is another version's, or damaged where only one version can have the address.
 */
function requireRange(
  { status, headers }: FetchedBytes,
  { remote, start, end }: { remote: RemoteFile; start: number; end: number },
): void {
  const [etag, range] = [headers.get('etag'), headers.get('content-range')];
  const isSame = isTargetHref(remote.href) || etag === `"${remote.sha256}"`;
  if (status === 206 && range === `bytes ${start}-${end - 1}/${remote.bytes}`) return;
  if (status === 206 && isSame) throw damaged(remote);
  if (status === 404 || status === 206 || (!isSame && etag !== null)) throw new VersionChanged();
  throw new ClientError('download_failed', {
    operation: 'download',
    object: remote.href,
    problem: `The service answers ${status} to a request for a range.`,
  });
}
