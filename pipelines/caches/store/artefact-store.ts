import type { FileHandle } from 'node:fs/promises';
import type { StoredFile } from './stored-file.ts';
import type { StoredName } from './stored-name.ts';

/** A file that is being written and has no name yet. */
export interface UnfinishedFile {
  readonly handle: FileHandle;
  /**
   * Reads the bytes back, makes them durable and gives the file its name. The same content stored twice is one file.
   * @throws ServiceError `artefact_not_stored` unless the digest of the bytes is that of the name
   */
  keep(name: StoredName): Promise<void>;
  discard(): Promise<void>;
}

/** The files of artefacts: in a directory, or in a bucket of an object store with a directory of local copies. */
export interface ArtefactStore {
  /** Local directory in which files are written, and read by builds. */
  readonly directory: string;

  /** The place of a stored file, for people; unique for each name. */
  path(name: StoredName): string;

  /**
   * Opens a local copy of a stored file, which is fetched if there is none.
   * @throws an error with the code `ENOENT` if there is no such file.
   */
  open(name: StoredName): Promise<FileHandle>;

  /**
   * Opens a stored file in place, without fetching it.
   * @throws an error with the code `ENOENT` if there is no such file.
   */
  openToServe(name: StoredName): Promise<StoredFile>;

  /** Starts a file. `owner` names the build that writes it. */
  start(owner: string): Promise<UnfinishedFile>;

  /**
   * Uploads a local file again if its object is missing or has another size. The caller has checked the bytes of the local
   * file; an object of the right size is not read.
   * @throws ServiceError `storage_unavailable`, or an error with the code `ENOENT` if there is no local file.
   */
  restore(name: StoredName): Promise<void>;

  /** The owners of all unfinished files of this machine. */
  listUnfinished(): Promise<string[]>;

  removeUnfinished(owner: string): Promise<void>;

  /** Every stored file. */
  list(): Promise<(StoredName & { readonly bytes: number })[]>;

  remove(name: StoredName): Promise<void>;
}

/** Codes of the errors of a stored file that is missing, or whose bytes are not those that were stored. */
const lossCodes = /^(ENOENT|EIO|Z_|artefact_damaged$|segment_index_invalid$|delta_invalid$)/;

/** True if a stored file is missing or damaged; false if the store cannot be asked, which says nothing about the file. */
export function isLost(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && lossCodes.test(error.code);
}
