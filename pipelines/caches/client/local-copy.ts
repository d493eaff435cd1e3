import { mkdir, readdir, readFile, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { DirectoryLock } from './directory-lock.ts';
import { manifestInFile, type ServedManifest } from './served-manifest.ts';
import { syncPath, writeWholeFile, keepWholeFile } from '../../../runtime/whole-file.ts';

/** Format of the state file. */
const stateSchema = 'caller-trust/copy/1';

/** Names of the files of a copy. */
const copyFiles = { rows: 'rows.tsv.gz', state: 'state.json' } as const;

const stateForm = z.object({
  schema: z.literal(stateSchema),
  /** Of the local file, whose bytes may differ from those of the served one. */
  bytes: z.int().positive(),
  /** Entity tag of the manifest. */
  manifestEtag: z.string().nullable(),
  manifest: manifestInFile,
  /** A signature vouched for the manifest. */
  isVerified: z.boolean().default(false),
});

/** The state of a complete local copy. */
export interface CopyState {
  readonly bytes: number;
  readonly manifestEtag: string | null;
  readonly manifest: ServedManifest;
  readonly isVerified: boolean;
}

/**
 * The local copy of one artefact: `<directory>/<name>/rows.tsv.gz` and `state.json`. `<name>` is a symbolic link to a
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
  async read(): Promise<CopyState | undefined> {
    const text = await readFile(join(this.#directory, this.#name, copyFiles.state), 'utf8').catch(() => '');
    const parsed = stateForm.safeParse(parseStateJson(text));
    if (!parsed.success) return undefined;
    const rows = await stat(this.rowsPath).catch(() => undefined);
    return rows?.size === parsed.data.bytes ? parsed.data : undefined;
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

  /** Makes the begun version the copy, in one step. @throws as {@link begin} */
  async replace(state: CopyState): Promise<void> {
    await this.#lock.requireHeld();
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

function formatState({ bytes, manifestEtag, manifest, isVerified }: CopyState): string {
  return `${JSON.stringify({ schema: stateSchema, bytes, manifestEtag, isVerified, manifest }, null, 2)}\n`;
}

function parseStateJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // incomplete, or not a state file
  }
}

/** Name of a copy in its directory: `phones-US`, `spammer_phones`. */
export function copyName({ cache, country }: { cache: string; country: string }): string {
  return country === '' ? cache : `${cache}-${country}`;
}
