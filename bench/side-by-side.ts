import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** One of several ways to do the same work. */
export interface Contender {
  readonly name: string;
  /** Brings the world back to the state before a run; not measured. */
  readonly prepare?: () => Promise<void>;
  /** Does the work. A contender that works in another process returns that one's figures. */
  readonly run: () => Promise<void | ChildFigures>;
}

/** The resources of a contender's own process: CPU and, if known, its highest resident memory. */
export interface ChildFigures {
  readonly cpuMs: number;
  readonly peakRssBytes?: number;
}

/** What the runs of one contender took: medians over the rounds. */
export interface Measured {
  readonly name: string;
  readonly wallMs: number;
  /**
   * CPU time, user and system, of this process and the programs that it ran, or the contender's own. The database server's is not
   * in it.
   */
  readonly cpuMs: number;
  /** Highest resident memory of that process during any run; 0 where it was not measured. */
  readonly peakRssBytes: number;
  readonly wallMsOfEach: readonly number[];
}

const samplingMs = 20;

/** A clock tick of /proc. */
export const tickMs = 10;

/**
 * Runs contenders in turn, round by round, so that a machine that grows slower or busier is unfair to none of them,
 * and returns the medians.
 */
export async function runSideBySide(contenders: readonly Contender[], rounds: number): Promise<Measured[]> {
  const runs = contenders.map(() => [] as RunFigures[]);
  for (let round = 0; round < rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      await contender.prepare?.();
      runs[index]!.push(await measure(contender.run));
    }
  }
  return contenders.map(({ name }, index) => summarise(name, runs[index]!));
}

/** Prints one line a contender, with its time as a multiple of the reference's. */
export function printSideBySide(measured: readonly Measured[], reference: string): void {
  const base = measured.find(({ name }) => name === reference)?.wallMs;
  const width = Math.max(...measured.map(({ name }) => name.length));
  for (const { name, wallMs, cpuMs, peakRssBytes, wallMsOfEach } of measured) {
    const ratio = base === undefined ? '' : `  x${(wallMs / base).toFixed(2)}`;
    const memory = peakRssBytes === 0 ? '' : `  peak RSS ${Math.round(peakRssBytes / 2 ** 20)} MiB`;
    const each = wallMsOfEach.map((ms) => (ms / 1000).toFixed(2)).join(' ');
    console.log(
      `${name.padEnd(width)}  ${(wallMs / 1000).toFixed(2)} s${ratio}  own CPU ${(cpuMs / 1000).toFixed(2)} s${memory}  (each: ${each})`,
    );
  }
}

interface RunFigures {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakRssBytes: number;
}

async function measure(run: Contender['run']): Promise<RunFigures> {
  let peakRssBytes = process.memoryUsage.rss();
  const sampler = setInterval(() => (peakRssBytes = Math.max(peakRssBytes, process.memoryUsage.rss())), samplingMs);
  const cpuBefore = usedCpuMs();
  const start = performance.now();
  const child = await run();
  const wallMs = performance.now() - start;
  const cpuMs = usedCpuMs() - cpuBefore;
  clearInterval(sampler);
  if (child !== undefined) return { wallMs, cpuMs: child.cpuMs, peakRssBytes: child.peakRssBytes ?? 0 };
  return { wallMs, cpuMs, peakRssBytes };
}

/** CPU time of this process, user and system in all threads, and on Linux of the programs that it has run and that have ended. */
export function usedCpuMs(): number {
  const { user, system } = process.cpuUsage();
  const ended =
    process.platform === 'linux'
      ? readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ').slice(13, 15)
      : [];
  return (user + system) / 1000 + ended.reduce((sum, ticks) => sum + Number(ticks) * tickMs, 0);
}

function summarise(name: string, runs: readonly RunFigures[]): Measured {
  return {
    name,
    wallMs: median(runs.map(({ wallMs }) => wallMs)),
    cpuMs: median(runs.map(({ cpuMs }) => cpuMs)),
    peakRssBytes: Math.max(...runs.map(({ peakRssBytes }) => peakRssBytes)),
    wallMsOfEach: runs.map(({ wallMs }) => wallMs),
  };
}

/** The median; of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Debian packages of the programs that benches run. */
const packages = {
  psql: 'postgresql-client',
  gzip: 'gzip',
  pigz: 'pigz',
  ffmpeg: 'ffmpeg',
  pdftotext: 'poppler-utils',
  pdftoppm: 'poppler-utils',
  tesseract: 'tesseract-ocr',
} as const;

/** Ends the process with the packages to install, before anything is measured, unless all programs are on the PATH. */
export function requirePrograms(...programs: (keyof typeof packages)[]): void {
  const missing = programs.filter((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0);
  if (missing.length === 0) return;
  console.error(
    `This bench needs ${missing.join(', ')}: apt-get install ${[...new Set(missing.map((program) => packages[program]))].join(' ')}`,
  );
  process.exit(69); // EX_UNAVAILABLE of sysexits.h
}
