import { open, readFile, rm, stat, type FileHandle } from 'node:fs/promises';
import { ServiceError } from '../../../runtime/errors.ts';
import { isTargetHref } from '../trust/targets.ts';
import { ConnectionLost, type FetchedBytes, type ServiceClient } from './service-client.ts';

/** A file of the service as its manifest names it. */
interface RemoteFile {
  readonly href: string;
  /** Also the entity tag. */
  readonly sha256: string;
  readonly bytes: number;
}

export interface DownloadOptions {
  readonly client: ServiceClient;
  readonly remote: RemoteFile;
  /** Output file. An earlier run's partial download there is resumed. */
  readonly path: string;
  /** Ranges that are downloaded at a time. */
  readonly parallel: number;
}

/** The served file is not that of the manifest: a new version was published meanwhile. */
export class VersionChanged extends Error {}

/** New versions that may be published during one operation of the client. */
export const versionChangesMax = 3;

/**
 * A file is downloaded in pieces, and completed pieces are recorded: a run that is killed loses only the pieces in progress.
 * Limits on the number and the size of pieces keep requests and records few.
 */
const piecesMax = 64;
const pieceBytesMin = 1024 * 1024;

/**
 * Downloads a file in parallel ranges of one version, without checking its digest. Resolves to the bytes that an earlier run
 * had downloaded.
 * @throws VersionChanged; ServiceError `download_failed`, or the service's own error
 */
export async function downloadFile({
  client,
  remote,
  path,
  parallel,
}: DownloadOptions): Promise<{ resumedBytes: number }> {
  const pieceBytes = Math.max(pieceBytesMin, Math.ceil(remote.bytes / piecesMax));
  const notes = await PieceNotes.open(path, `${remote.sha256} ${remote.bytes} ${pieceBytes}`);
  const missing = Array.from({ length: Math.ceil(remote.bytes / pieceBytes) }, (_, piece) => piece).filter(
    (piece) => !notes.done.has(piece),
  );
  const bytesOf = (piece: number) => Math.min(remote.bytes, (piece + 1) * pieceBytes) - piece * pieceBytes;
  const resumedBytes = [...notes.done].reduce((sum, piece) => sum + bytesOf(piece), 0);
  const file = await open(path, notes.done.size === 0 ? 'w' : 'r+');
  try {
    await file.truncate(remote.bytes);
    const work = async () => {
      for (let piece = missing.shift(); piece !== undefined; piece = missing.shift()) {
        await downloadPiece({ client, remote, file, start: piece * pieceBytes, bytes: bytesOf(piece) });
        await notes.add(piece);
      }
    };
    const workers = Array.from({ length: Math.min(parallel, missing.length) }, async () =>
      work().catch((error: unknown) => {
        missing.length = 0; // the others end after their current piece
        throw error;
      }),
    );
    const failed = (await Promise.allSettled(workers)).find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  } finally {
    await file.close();
    await notes.close();
  }
  return { resumedBytes };
}

/** Removes the files of {@link downloadFile} at a path. */
export async function discardDownload(path: string): Promise<void> {
  await rm(path, { force: true });
  await rm(notesPath(path), { force: true });
}

interface PieceToDownload {
  readonly client: ServiceClient;
  readonly remote: RemoteFile;
  readonly file: FileHandle;
  readonly start: number;
  readonly bytes: number;
}

/** Downloads a piece. After a lost connection, only the missing bytes are requested. */
function downloadPiece({ client, remote, file, start, bytes }: PieceToDownload): Promise<void> {
  let at = start;
  const end = start + bytes;
  return client.getResumable(remote.href, {
    headers: () => ({ Range: `bytes=${at}-${end - 1}`, ...ifStill(remote) }),
    missing: isTargetHref(remote.href),
    progress: () => at,
    async take(answer) {
      requireRange(answer, { remote, start: at, end });
      for await (const chunk of answer.chunks) {
        if (at + chunk.length > end)
          throw new ServiceError('download_failed', {
            operation: 'download',
            object: remote.href,
            problem: 'The service sends more bytes than were requested.',
          });
        for (let written = 0; written < chunk.length;) {
          const { bytesWritten } = await file.write(chunk, written, chunk.length - written, at);
          written += bytesWritten;
          at += bytesWritten;
        }
      }
      if (at < end) throw new ConnectionLost('the answer ended early');
    },
  });
}

/** The bytes below a digest never change, and a mirror has entity tags of its own. */
export function ifStill({ href, sha256 }: Pick<RemoteFile, 'href' | 'sha256'>): Record<string, string> {
  return isTargetHref(href) ? {} : { 'If-Range': `"${sha256}"` };
}

/** @throws VersionChanged, ServiceError `download_failed` unless the answer is the requested range of the expected version. */
function requireRange(
  { status, headers }: FetchedBytes,
  { remote, start, end }: { remote: RemoteFile; start: number; end: number },
): void {
  const [etag, range] = [headers.get('etag'), headers.get('content-range')];
  if (status === 206 && range === `bytes ${start}-${end - 1}/${remote.bytes}`) return;
  if (status === 404) throw new VersionChanged();
  if (!isTargetHref(remote.href) && etag !== null && etag !== `"${remote.sha256}"`) throw new VersionChanged();
  if (status === 206) throw new VersionChanged();
  throw new ServiceError('download_failed', {
    operation: 'download',
    object: remote.href,
    problem: `The service answers ${status} to a request for a range.`,
  });
}

const notesPath = (path: string) => `${path}.pieces`;

/** The completed pieces of a download, in a file beside it: a first line that identifies the file, then a piece number a line. */
class PieceNotes {
  readonly done: ReadonlySet<number>;
  readonly #file: FileHandle;

  static async open(path: string, subject: string): Promise<PieceNotes> {
    const done = await readNotes(path, subject);
    const file = await open(notesPath(path), done === undefined ? 'w' : 'a');
    if (done === undefined) await file.write(`${subject}\n`);
    return new PieceNotes(file, done ?? new Set());
  }

  private constructor(file: FileHandle, done: ReadonlySet<number>) {
    this.#file = file;
    this.done = done;
  }

  async add(piece: number): Promise<void> {
    await this.#file.write(`${piece}\n`);
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** Undefined if the record is of another subject, or the downloaded file is missing. An incomplete last line is ignored. */
async function readNotes(path: string, subject: string): Promise<Set<number> | undefined> {
  const lines = (await readFile(notesPath(path), 'utf8').catch(() => '')).split('\n').slice(0, -1);
  if (lines.shift() !== subject) return undefined;
  const there = await stat(path).catch(() => undefined);
  return there === undefined || there.size !== Number(subject.split(' ')[1]) ? undefined : new Set(lines.map(Number));
}
