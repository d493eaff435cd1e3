import type { FileHandle } from 'node:fs/promises';
import type { StoredFile } from './stored-file.ts';
import type { StoredName } from './stored-name.ts';

/** A file that is being written and cannot be read by anyone yet. */
export interface UnfinishedFile {
  readonly handle: FileHandle;
  /** Makes the bytes durable and gives the file its name. The same content stored twice is one file. */
  keep(name: StoredName): Promise<void>;
  discard(): Promise<void>;
}

/** Where the files of artefacts are: a directory, or a bucket of an object store with a directory of copies beside it. */
export interface ArtefactStore {
  /** Directory of this machine in which files are written, and read by builds. */
  readonly directory: string;

  /** Where a stored file is, for people, and the same for the same name only. */
  path(name: StoredName): string;

  /**
   * Opens a stored file for reading on this machine, where it is fetched to if it is not here.
   * @throws an error with the code `ENOENT` if there is no such file.
   */
  open(name: StoredName): Promise<FileHandle>;

  /**
   * Opens a stored file where it is, without fetching it.
   * @throws an error with the code `ENOENT` if there is no such file.
   */
  openToServe(name: StoredName): Promise<StoredFile>;

  /** Starts a file. `owner` names the build that writes it. */
  start(owner: string): Promise<UnfinishedFile>;

  /**
   * Stores a file of this machine again where the store has lost it: an object that is missing, or of another size.
   * The caller has checked the bytes of the file here; those of an object of the right size are not read.
   * @throws ServiceError `storage_unavailable`, or an error with the code `ENOENT` if the file is not on this machine.
   */
  restore(name: StoredName): Promise<void>;

  /** The owners of all unfinished files of this machine. */
  listUnfinished(): Promise<string[]>;

  removeUnfinished(owner: string): Promise<void>;

  /** Every stored file. */
  list(): Promise<(StoredName & { readonly bytes: number })[]>;

  remove(name: StoredName): Promise<void>;
}
