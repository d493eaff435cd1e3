import { open, readFile, rm, stat, type FileHandle } from 'node:fs/promises';
import { downloadRange, type RemoteFile } from '../service/served-file.ts';
import type { ServiceClient } from '../service/service-client.ts';

export interface DownloadOptions {
  readonly client: ServiceClient;
  readonly remote: RemoteFile;
  /** Output file. An earlier run's partial download there is resumed. */
  readonly path: string;
  /** Ranges that are downloaded at a time. */
  readonly parallel: number;
}

/**
 * A file is downloaded in pieces, and completed pieces are recorded: a run that is killed loses only the pieces in progress.
 * Limits on the number and the size of pieces keep requests and records few.
 */
const piecesMax = 64;
const pieceBytesMin = 1024 * 1024;

/**
 * Downloads a file in parallel ranges of one version, without checking its digest. Resolves to the bytes that an earlier run
 * had downloaded.
 * @throws VersionChanged; ClientError `download_failed`, or the service's own error
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
        const start = piece * pieceBytes;
        const end = start + bytesOf(piece);
        await downloadRange(client, remote, { start, end, take: (bytes, at) => writeAt(file, bytes, at) });
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

/** Writes all bytes at a position of a file; one call of `write` may write fewer. */
async function writeAt(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let written = 0; written < bytes.length;)
    written += (await file.write(bytes, written, bytes.length - written, at + written)).bytesWritten;
}

/** Removes the files of {@link downloadFile} at a path. */
export async function discardDownload(path: string): Promise<void> {
  await rm(path, { force: true });
  await rm(notesPath(path), { force: true });
}

const notesPath = (path: string) => `${path}.pieces`;

/** The completed pieces of a download, in a file next to it: a first line that identifies the file, then a piece number a line. */
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
