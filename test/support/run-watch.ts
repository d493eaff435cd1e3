import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Pause between two looks. A process must be seen before its parent ends: afterwards nothing says whose it was. */
const lookMs = 300;

/** What ends by itself, such as the children of a process that was killed, has this long to do so. */
const endSecondsMax = 10;

/** A process of `/proc`; two of the same id differ in their start. */
interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly start: string;
  readonly name: string;
  readonly isZombie: boolean;
}

/**
 * Watches a process with its descendants, also those whose parents have ended, and the System V shared memory and the data
 * directories of PostgreSQL that they make. Other runs beside it are not seen. Without `/proc` nothing is.
 */
export class RunWatch {
  readonly #root: number;
  /** Start by id. */
  readonly #processes = new Map<number, string>();
  /** `<id> <creator>` of what was there before: the id of its creator may be that of a process of this run. */
  readonly #strangersSegments = new Set(listSegments());
  readonly #segments = new Set<string>();
  /** Working directories of processes of PostgreSQL. */
  readonly #serverDirectories = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  constructor(root = process.pid) {
    this.#root = root;
    for (const { pid, start } of listProcesses()) if (pid === root) this.#processes.set(pid, start);
    this.look();
    this.#timer = setInterval(() => this.look(), lookMs).unref();
  }

  /** Notes what has come since the last look; returns the processes of the run that live. */
  look(): Seen[] {
    const found = listProcesses();
    const known = ({ pid, start }: Seen) => this.#processes.get(pid) === start;
    for (let grows = true; grows;) {
      const ids = new Set(found.filter(known).map(({ pid }) => pid));
      const born = found.filter((each) => ids.has(each.parent) && !known(each));
      for (const { pid, start } of born) this.#processes.set(pid, start);
      grows = born.length > 0;
    }
    const alive = found.filter((each) => known(each) && !each.isZombie);
    for (const { pid, name } of alive) if (name === 'postgres') this.#serverDirectories.add(workingDirectory(pid));
    for (const segment of listSegments())
      if (this.#processes.has(Number(segment.split(' ')[1])) && !this.#strangersSegments.has(segment))
        this.#segments.add(segment);
    return alive;
  }

  /** Ends the watch: what is left after a while, a line each. Processes that are left are asked to end. */
  async end(secondsMax = endSecondsMax): Promise<string[]> {
    clearInterval(this.#timer);
    const descendants = () => this.look().filter(({ pid }) => pid !== this.#root);
    const segments = () => listSegments().filter((segment) => this.#segments.has(segment));
    for (let waits = secondsMax * 10; waits > 0 && descendants().length + segments().length > 0; waits--)
      await sleep(100);
    const left = descendants();
    const ids = new Set(left.map(({ pid }) => pid));
    const lines = left
      .filter(({ parent }) => !ids.has(parent))
      .map(({ pid, name }) => `process ${pid}: ${commandLine(pid) || name}`);
    for (const segment of segments()) lines.push(`shared memory ${segment.replace(' ', ' of process ')}`);
    for (const { pid } of left) endProcess(pid);
    return lines;
  }

  /** Data directories of PostgreSQL that exist. */
  listDataDirectories(): string[] {
    return [...this.#serverDirectories].filter((path) => existsSync(join(path, 'PG_VERSION')));
  }
}

/** What a browser leaves that is killed with the worker that started it: its profile, its sockets, its sound. */
const browserFiles = /^(playwright_|org\.chromium\.|pulse-)/;

/** What lies in the directory of temporary files, a line each. */
export async function listTemporaryFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter(({ name }) => !browserFiles.test(name))
    .map((entry) => {
      const kind = entry.isDirectory() ? 'folder' : entry.isSocket() ? 'socket' : 'file';
      return `${kind} ${join(directory, entry.name)}`;
    });
}

function listProcesses(): Seen[] {
  if (!existsSync('/proc/self/stat')) return [];
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const text = readOrNothing(`/proc/${name}/stat`);
    if (text === '') return []; // it has ended
    const [before, after] = [text.slice(0, text.lastIndexOf(')')), text.slice(text.lastIndexOf(')') + 2).split(' ')];
    return {
      pid: Number(name),
      parent: Number(after[1]),
      start: after[19]!,
      name: before.slice(before.indexOf('(') + 1),
      isZombie: after[0] === 'Z',
    };
  });
}

/** Id and creator of every segment of this machine. */
function listSegments(): string[] {
  const [, ...lines] = readOrNothing('/proc/sysvipc/shm').trimEnd().split('\n');
  return lines.map((line) => {
    const [, id, , , creator] = line.trim().split(/\s+/);
    return `${id} ${creator}`;
  });
}

function commandLine(pid: number): string {
  return readOrNothing(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim().slice(0, 300);
}

function workingDirectory(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // it has ended
  }
}
