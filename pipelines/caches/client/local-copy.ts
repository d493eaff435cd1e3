import { mkdir, readdir, readFile, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { DirectoryLock } from './directory-lock.ts';
import { manifestInFile, type ServedManifest } from './served-manifest.ts';
import { syncPath, writeWholeFile, keepWholeFile } from '../../../runtime/whole-file.ts';

/** Form of the state file. */
const stateSchema = 'caller-trust/copy/1';

/** Names of the files of a copy. */
export const copyFiles = { rows: 'rows.tsv.gz', state: 'state.json' } as const;

const stateForm = z.object({
  schema: z.literal(stateSchema),
  /** Of the file here, which need not have the bytes of the served one. */
  bytes: z.int().positive(),
  /** Entity tag of the manifest. */
  manifestEtag: z.string().nullable(),
  manifest: manifestInFile,
});

/** What is known of a whole local copy. */
export interface CopyState {
  readonly bytes: number;
  readonly manifestEtag: string | null;
  readonly manifest: ServedManifest;
}

/**
 * The local copy of one artefact: `<directory>/<name>/rows.tsv.gz` and `state.json`. `<name>` is a symbolic link to a
 * directory that is never changed but for the time when its manifest was confirmed, so that file and state are replaced in
 * one step and never belong to two versions, whenever the process or the machine stops. The version before is kept until
 * the next replacement, for readers that have followed the link already.
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

  /** Path under which readers find the rows. */
  get rowsPath(): string {
    return join(this.#directory, this.#name, copyFiles.rows);
  }

  /** The state of the copy, or undefined if there is none that is whole. */
  async read(): Promise<CopyState | undefined> {
    const text = await readFile(join(this.#directory, this.#name, copyFiles.state), 'utf8').catch(() => '');
    const parsed = stateForm.safeParse(parseJson(text));
    if (!parsed.success) return undefined;
    const rows = await stat(this.rowsPath).catch(() => undefined);
    return rows?.size === parsed.data.bytes ? parsed.data : undefined;
  }

  /** A path for a file that is being downloaded; what an earlier run left there is kept. */
  async downloadPath(kind: 'full' | 'delta'): Promise<string> {
    const directory = join(this.#directory, '.partial');
    await mkdir(directory, { recursive: true });
    return join(directory, `${this.#name}.${kind}`);
  }

  /**
   * A path for the rows of the next version, in a directory that becomes the copy with {@link replace}.
   * @throws ServiceError `directory_busy` if another process has taken the directory over
   */
  async begin(): Promise<string> {
    await this.#lock.requireHeld();
    await rm(this.#unfinished, { recursive: true, force: true });
    await mkdir(this.#unfinished, { recursive: true });
    return join(this.#unfinished, copyFiles.rows);
  }

  /** Makes what was begun the copy, in one step. @throws as {@link begin} */
  async replace(state: CopyState): Promise<void> {
    await this.#lock.requireHeld();
    await syncPath(join(this.#unfinished, copyFiles.rows));
    await writeWholeFile(join(this.#unfinished, copyFiles.state), formatState(state), { durable: true });
    const { version, file } = state.manifest;
    const before = await readlink(join(this.#directory, this.#name)).catch(() => undefined);
    const target = await this.#freeName(`v${version}-${file.plainSha256.slice(0, 12)}`);
    await keepWholeFile(this.#unfinished, join(this.#versions, target), { durable: true });
    await this.#pointTo(target);
    await this.#removeOthers([target, ...(before === undefined ? [] : [before.split('/').at(-1)!])]);
  }

  /** Replaces the state alone, where the rows stay as they are. @throws as {@link begin} */
  async confirm(state: CopyState): Promise<void> {
    await this.#lock.requireHeld();
    await writeWholeFile(join(this.#directory, this.#name, copyFiles.state), formatState(state), { durable: true });
  }

  async #pointTo(target: string): Promise<void> {
    const link = join(this.#versions, '.link');
    await rm(link, { force: true });
    await symlink(join('.versions', this.#name, target), link);
    await rename(link, join(this.#directory, this.#name)); // not keepWholeFile: a link that leads nowhere yet cannot be opened to be synced
    await syncPath(this.#directory);
  }

  /** A version that is downloaded anew gets a directory of its own: the one that is read stays until it is replaced. */
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

function formatState({ bytes, manifestEtag, manifest }: CopyState): string {
  return `${JSON.stringify({ schema: stateSchema, bytes, manifestEtag, manifest }, null, 2)}\n`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // cut off, or not ours
  }
}

/** Name of a copy in its directory: `phones-US`, `spammer_phones`. */
export function nameOf({ cache, country }: { cache: string; country: string }): string {
  return country === '' ? cache : `${cache}-${country}`;
}
