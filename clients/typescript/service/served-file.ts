import { ClientError } from '../../../format/base/errors.ts';
import { sha256Of } from '../../../format/base/sha256.ts';
import { isTargetHref } from '../../../format/trust/targets.ts';
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
export const versionChangesMax = 3;

/** A part of a file, and the consumer of its bytes. */
interface WantedRange {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  /** Called with bytes and their offset in the file, in order. */
  readonly take: (bytes: Uint8Array, at: number) => Promise<void> | void;
}

/**
 * Downloads a range of a file. After a lost connection, only the missing bytes are requested.
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

/**
 * Downloads a file into memory and checks its digest.
 * @throws as {@link downloadRange}; ClientError `download_damaged`
 */
export async function downloadToMemory(client: ServiceClient, remote: RemoteFile): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(remote.bytes);
  await downloadRange(client, remote, { start: 0, end: remote.bytes, take: (chunk, at) => bytes.set(chunk, at) });
  if (sha256Of(bytes) === remote.sha256) return bytes;
  throw new ClientError('download_damaged', {
    operation: 'check download',
    object: remote.href,
    problem: 'The downloaded file is not as it was published.',
  });
}

/** Most bytes of an index. It is requested by its cache alone, so that a newer one may come. 100,000 segments have 12 MB. */
const indexBytesMax = 64 * 1024 * 1024;

/** Reads a segment index; undefined if it is not served any more. */
export async function fetchIndex(
  client: ServiceClient,
  { href, sha256, bytes }: RemoteFile,
): Promise<Uint8Array | undefined> {
  const index = await client.findBytes(href, { bytesMax: isTargetHref(href) ? bytes : indexBytesMax });
  return index === undefined || sha256Of(index) !== sha256 ? undefined : index;
}

/** The bytes below a digest never change, and a mirror has entity tags of its own. */
export function ifStill({ href, sha256 }: Pick<RemoteFile, 'href' | 'sha256'>): Record<string, string> {
  return isTargetHref(href) ? {} : { 'If-Range': `"${sha256}"` };
}

/** @throws VersionChanged, ClientError `download_failed` unless the answer is the requested range of the expected version. */
function requireRange(
  { status, headers }: FetchedBytes,
  { remote, start, end }: { remote: RemoteFile; start: number; end: number },
): void {
  const [etag, range] = [headers.get('etag'), headers.get('content-range')];
  if (status === 206 && range === `bytes ${start}-${end - 1}/${remote.bytes}`) return;
  if (status === 404) throw new VersionChanged();
  if (!isTargetHref(remote.href) && etag !== null && etag !== `"${remote.sha256}"`) throw new VersionChanged();
  if (status === 206) throw new VersionChanged();
  throw new ClientError('download_failed', {
    operation: 'download',
    object: remote.href,
    problem: `The service answers ${status} to a request for a range.`,
  });
}
