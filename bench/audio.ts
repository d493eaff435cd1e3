/**
 * Claims: one core scores 60 recordings of 8 s a second, WAV at 600 times real time and Opus at 300, in bounded memory; and
 * how that compares with ffmpeg, which only decodes, in a process for each file and in one for all.
 *
 *   npm run build && node dist/bench/audio.js [--model auto] [--rounds 3] [--seconds 8,60,600] [--format opus] [--audio 480] [--queue]
 *
 * Each round scores and decodes the same files in turn: `--audio` seconds of them, two files at least. The pool has one
 * process, which is up and has its models open. A file is scored as often as it takes; the pool keeps nothing of it. `x real`
 * is by wall clock, `a core` by CPU time of all processes of the contender: on a busy machine only the latter says something.
 * `--queue` adds the whole path: files copied into the store, queue, worker and PostgreSQL (a new one, whose own CPU time is
 * not counted). Each run has files that were never seen, since results are not computed twice.
 * ffmpeg is taken from the PATH; without it only WAV is measured, and compared with nothing.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { loadShippedRegistry } from '../pipelines/audio/models/registry.ts';
import { openScoringPool, type PoolRequest, type ScoringPool } from '../pipelines/audio/scorers/scoring-pool.ts';
import { loadConfig } from '../runtime/config.ts';
import { createLog } from '../runtime/log.ts';
import { FORMATS, makeCopies, makeRecording, type Format } from './audio-files.ts';
import { openQueueBench } from './audio-queue.ts';
import { requirePrograms, runSideBySide, type ChildFigures, type Measured } from './side-by-side.ts';
import { requireModels } from '../pipelines/audio/models/named-model.ts';

const run = promisify(execFile);
const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: 'auto' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '8,60,600' },
    format: { type: 'string' },
    audio: { type: 'string', default: '480' },
    queue: { type: 'boolean', default: false },
  },
});

/** Requests that wait for the one process, so that it never waits for them. */
const requestsAhead = 2;
const filesMin = 2;
/** Ticks of the CPU times in /proc, in ms: the kernel's USER_HZ is 100 everywhere. */
const tickMs = 10;

/** Observed processes of the pool: a released one counts while it exists, and then as ended. */
const seen = new Set<number>();

requirePrograms('ffmpeg');
const formats = (Object.keys(FORMATS) as Format[]).filter((format) => (options.format ?? format) === format);

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-bench-'));
const pool = openScoringPool({
  config: { ...loadConfig(), audioScorers: 1 },
  log: createLog({ level: 'warn', process: 'bench' }),
});
const queue = options.queue ? await openQueueBench(directory, pool) : null;
try {
  const model = requireModels(await loadShippedRegistry(), options.model);
  for (const format of formats)
    for (const seconds of options.seconds.split(',').map(Number)) await compare({ format, seconds, model });
} finally {
  await queue?.close();
  await pool.close();
  await rm(directory, { recursive: true, force: true });
}

async function compare({
  format,
  seconds,
  model,
}: {
  format: Format;
  seconds: number;
  model: PoolRequest['model'];
}): Promise<void> {
  const file = await makeRecording(directory, format, seconds);
  const count = Math.max(filesMin, Math.round(Number(options.audio) / seconds));
  const request: PoolRequest = { file, model, settings: { channels: 'apart' } };
  const { state, windows, model: used } = await pool.score(request); // opens the model, and warms up
  const list = join(directory, 'list.txt');
  await writeFile(list, `file '${file}'\n`.repeat(count));
  let copies: string[] = [];
  const throughQueue = {
    name: 'service with queue',
    prepare: async () => void (copies = await makeCopies(file, count)),
    run: () => measured(() => queue!.perform(copies, options.model)),
  };
  const peers = [
    { name: 'ffmpeg, a process a file', run: () => measured(() => decodeEach(file, count)) },
    { name: 'ffmpeg, one process', run: () => measured(() => decodeAll(list)) },
  ];
  const figures = await runSideBySide(
    [
      { name: 'service', run: () => measured(() => scoreMany(pool, request, count)) },
      ...(queue === null ? [] : [throughQueue]),
      ...peers,
    ],
    Number(options.rounds),
  );
  console.log(`\n${format}, ${seconds} s, ${count} files, ${used}, ${windows.length} windows each, ${state}`);
  for (const each of figures) report(each, { count, seconds, base: figures[0]! });
}

async function scoreMany(scoring: ScoringPool, request: PoolRequest, count: number): Promise<void> {
  let left = count;
  const feed = async () => {
    while (left-- > 0) await scoring.score(request);
  };
  await Promise.all(Array.from({ length: requestsAhead }, feed));
}

async function decodeEach(file: string, count: number): Promise<void> {
  for (let each = 0; each < count; each++)
    await run('ffmpeg', ['-v', 'error', '-threads', '1', '-i', file, '-f', 'null', '-']);
}

async function decodeAll(list: string): Promise<void> {
  await run('ffmpeg', ['-v', 'error', '-threads', '1', '-f', 'concat', '-safe', '0', '-i', list, '-f', 'null', '-']);
}

/** CPU time of this process, of the pool's, and of those that ended meanwhile; and the highest memory of the pool's. */
async function measured(work: () => Promise<void>): Promise<ChildFigures> {
  const before = cpuMs();
  await work();
  return { cpuMs: cpuMs() - before, peakRssBytes: Math.max(0, ...pool.pids().map(peakBytes)) };
}

function cpuMs(): number {
  for (const pid of pool.pids()) seen.add(pid);
  const own = statOf('self'); // none moves from the one to the other between the two looks: the event loop takes ended processes in
  const children = [...seen].map((pid) => (isThere(pid) ? statOf(String(pid)).own : 0));
  return tickMs * (own.own + own.ended + children.reduce((sum, each) => sum + each, 0));
}

function isThere(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

/** CPU ticks of a process, and of its children that ended. */
function statOf(pid: string): { readonly own: number; readonly ended: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .map(Number);
  return { own: fields[11]! + fields[12]!, ended: fields[13]! + fields[14]! };
}

function peakBytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
}

interface Work {
  readonly count: number;
  readonly seconds: number;
  readonly base: Measured;
}

function report({ name, wallMs, cpuMs: cpu, peakRssBytes }: Measured, { count, seconds, base }: Work): void {
  const rates = (ms: number) =>
    `${((count * 1000) / ms).toFixed(1).padStart(7)} files/s ${((count * seconds * 1000) / ms).toFixed(0).padStart(6)} x real`;
  const memory =
    name === base.name
      ? `  process ${Math.round(peakRssBytes / 2 ** 20)} MiB`
      : `  CPU x${(cpu / base.cpuMs).toFixed(2)} of the service`;
  console.log(`  ${name.padEnd(24)} wall ${rates(wallMs)}   a core ${rates(cpu)}${memory}`);
}
