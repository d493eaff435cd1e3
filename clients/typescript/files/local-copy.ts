import { mkdir, readdir, readlink, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { copyFiles, formatState, readCopyState, type CopyState } from './copy-state.ts';
import type { DirectoryLock } from './directory-lock.ts';
import { keepWholeFile, syncPath, writeWholeFile } from '../../../runtime/files/whole-file.ts';

/**
 * The local copy of one artefact: `<directory>/<name>/rows.tsv.gz`, `index.tsv` and `state.json`. `<name>` is a symbolic link to a
 * directory of one version, in which only the state may be confirmed later. So file and state are replaced in one step and
 * never belong to two versions, whenever the process or the machine stops. The previous version is kept until the next
 * replacement, for readers that have followed the link already.
 */
export class LocalCopy {
  readonly #directory: string;
  readonly #name: string;
  readonly #lock: DirectoryLock;

  constructor(directory: string, name: string, lock: DirectoryLock) {
    this.#directory = directory;
    this.#name = name;
    this.#lock = lock;
  }

  /** Path of the rows for readers. */
  get rowsPath(): string {
    return join(this.#directory, this.#name, copyFiles.rows);
  }

  /** The state of the copy; undefined if there is no complete one. */
  read(): Promise<CopyState | undefined> {
    return readCopyState(join(this.#directory, this.#name));
  }

  /** A path for a download; an earlier run's partial file there is kept. */
  async downloadPath(kind: 'full' | 'delta'): Promise<string> {
    const directory = join(this.#directory, '.partial');
    await mkdir(directory, { recursive: true });
    return join(directory, `${this.#name}.${kind}`);
  }

  /**
   * A path for the rows of the next version, in a directory that {@link replace} makes the copy.
   * @throws ServiceError `directory_busy` if another process has taken the directory over
   */
  async begin(): Promise<string> {
    await this.#lock.requireHeld();
    await rm(this.#unfinished, { recursive: true, force: true });
    await mkdir(this.#unfinished, { recursive: true });
    return join(this.#unfinished, copyFiles.rows);
  }

  /**
   * Makes the begun version the copy, in one step; `index` is that of its file.
   * @throws as {@link begin}
   */
  async replace(state: CopyState, index: Uint8Array): Promise<void> {
    await this.#lock.requireHeld();
    await writeWholeFile(join(this.#unfinished, copyFiles.index), index, { durable: true });
    await syncPath(join(this.#unfinished, copyFiles.rows));
    await writeWholeFile(join(this.#unfinished, copyFiles.state), formatState(state), { durable: true });
    const { version, file } = state.manifest;
    const before = await readlink(join(this.#directory, this.#name)).catch(() => undefined);
    const target = await this.#freeName(`v${version}-${file.sha256.slice(0, 12)}`);
    await keepWholeFile(this.#unfinished, join(this.#versions, target), { durable: true });
    await this.#pointTo(target);
    await this.#removeOthers([target, ...(before === undefined ? [] : [before.split('/').at(-1)!])]);
  }

  /** Replaces the state alone, when the rows are unchanged. @throws as {@link begin} */
  async confirm(state: CopyState): Promise<void> {
    await this.#lock.requireHeld();
    await writeWholeFile(join(this.#directory, this.#name, copyFiles.state), formatState(state), { durable: true });
  }

  async #pointTo(target: string): Promise<void> {
    const link = join(this.#versions, '.link');
    await rm(link, { force: true });
    await symlink(join('.versions', this.#name, target), link);
    await rename(link, join(this.#directory, this.#name)); // not keepWholeFile: a link whose target does not exist yet cannot be synced
    await syncPath(this.#directory);
  }

  /** A version that is downloaded again gets another directory: readers may use the present one. */
  async #freeName(wanted: string): Promise<string> {
    const taken = new Set(await readdir(this.#versions));
    for (let n = 0; ; n++) {
      const name = n === 0 ? wanted : `${wanted}-${n}`;
      if (!taken.has(name)) return name;
    }
  }

  async #removeOthers(kept: readonly string[]): Promise<void> {
    for (const name of await readdir(this.#versions))
      if (!kept.includes(name)) await rm(join(this.#versions, name), { recursive: true, force: true });
  }

  get #versions(): string {
    return join(this.#directory, '.versions', this.#name);
  }

  get #unfinished(): string {
    return join(this.#versions, '.unfinished');
  }
}
