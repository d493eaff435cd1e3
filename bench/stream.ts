import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKey } from '../pipelines/access/keys.ts';
import { loadKeySecret } from '../pipelines/access/key-secret.ts';
import { StreamClient } from '../pipelines/audio/streaming/stream-client.ts';
import type { ServerMessage } from '../pipelines/audio/streaming/stream-protocol.ts';
import { migrateDatabase } from '../cli/command.ts';
import { childEnvironment, loadConfig } from '../runtime/config.ts';
import { removeStateDirectory } from '../runtime/services/embedded-postgres.ts';
import { openServices } from '../runtime/services/services.ts';
import { compiledPath } from '../runtime/package-root.ts';
import { isMain } from './program.ts';
import { readSample } from './sample-recording.ts';
import { tickMs } from './side-by-side.ts';

/**
 * Claims: with 20 streams in real time on two cores, the first window comes at most 1 s after its last sample was sent, later ones at
 * most 250 ms (p99); and a stream takes at most 4 % of a core.
 *
 *   npm run build && node dist/bench/stream.js [streams=20] [seconds=60] [rate=8000] [model=phone]
 *
 * A console of its own (embedded PostgreSQL, no worker) in a process of its own; the clients are in this one. Each sends 20 ms of
 * audio every 20 ms; the streams begin spread over two seconds. The latency of a window runs from the sending of the piece that
 * holds its last sample to its first message. Windows that are sent again with more audio are counted separately. CPU is that of
 * the console and its scoring processes, from /proc, as a share of one core; that of the clients is shown apart.
 */
interface StreamLoad {
  readonly streams: number;
  readonly seconds: number;
  readonly model: string;
  readonly rate: number;
}

const usual: StreamLoad = { streams: 20, seconds: 60, model: 'phone', rate: 8000 };

/** What streams took. Latencies in ms, ascending. */
interface StreamFigures {
  readonly first: readonly number[];
  readonly later: readonly number[];
  /** Windows that were sent again. */
  readonly again: number;
  /** CPU of console, scoring processes and clients, as a share of one core. */
  readonly console: number;
  readonly scoring: number;
  readonly clients: number;
  /** CPU of the service for a stream, as a share of one core. */
  readonly ofStream: number;
}

/** Seconds of audio in one message, as a page or a telephone sends it. */
const pieceSeconds = 0.02;

/** Seconds over which the streams begin. */
const spreadSeconds = 2;

/** Scores streams in real time in a console of its own. */
export async function measureStreams(given: Partial<StreamLoad>): Promise<StreamFigures> {
  const load = { ...usual, ...given };
  const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-bench-stream-'));
  const env = {
    STATE_DIR: stateDir,
    CONSOLE_PORT: '0',
    LOG_LEVEL: 'warn',
    STREAM_CONNECTIONS_MAX: '4000', // a quarter of them for one sender
  };
  const config = loadConfig(env);
  const services = await openServices(config, 'bench');
  try {
    await migrateDatabase(services);
    const { key } = await createKey(services.db, {
      client: 'bench',
      scopes: ['verifications:stream'],
      secret: await loadKeySecret(config),
    });
    return await withConsole(env, (url, pid) => measure({ url, key }, pid, load));
  } finally {
    await services.close();
    await removeStateDirectory(stateDir);
  }
}

async function withConsole<Result>(
  env: Readonly<Record<'STATE_DIR', string>>,
  work: (url: string, pid: number) => Promise<Result>,
): Promise<Result> {
  const child = spawn(process.execPath, [compiledPath('console/main')], {
    env: childEnvironment(env) as NodeJS.ProcessEnv,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  try {
    let url: string | undefined;
    while (url === undefined) {
      if (child.exitCode !== null) throw new Error('the console ended');
      await sleep(50);
      url = await readFile(join(env.STATE_DIR, 'console.json'), 'utf8').then(
        (text) => (JSON.parse(text) as { url: string }).url,
        () => undefined,
      );
    }
    return await work(url, child.pid!);
  } finally {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }
}

interface Latencies {
  readonly first: number[];
  readonly later: number[];
  /** Windows that were sent again. */
  again: number;
}

interface Service {
  readonly url: string;
  readonly key: string;
}

async function measure(service: Service, pid: number, load: StreamLoad): Promise<StreamFigures> {
  const { streams, rate } = load;
  const audio = await readSpeech(load);
  // The process that scores is up then, its model open.
  await stream(service, load, audio.subarray(0, 10 * rate * 2), { first: [], later: [], again: 0 });
  const latencies: Latencies = { first: [], later: [], again: 0 };
  const before = {
    at: performance.now(),
    console: ticksOf(String(pid)) * tickMs,
    scoring: childrenMs(pid),
    own: process.cpuUsage(),
  };
  await Promise.all(
    Array.from({ length: streams }, async (_none, number) => {
      await sleep((number / streams) * spreadSeconds * 1000);
      const from = Math.floor((number / streams) * (audio.length / 2)) & ~1;
      await stream(service, load, Buffer.concat([audio.subarray(from), audio.subarray(0, from)]), latencies);
    }),
  );
  const [wallMs, own] = [performance.now() - before.at, process.cpuUsage(before.own)];
  const [consoleMs, scoringMs] = [ticksOf(String(pid)) * tickMs - before.console, childrenMs(pid) - before.scoring];
  return {
    first: latencies.first.sort((a, b) => a - b),
    later: latencies.later.sort((a, b) => a - b),
    again: latencies.again,
    console: consoleMs / wallMs,
    scoring: scoringMs / wallMs,
    clients: (own.user + own.system) / 1000 / wallMs,
    ofStream: (consoleMs + scoringMs) / wallMs / streams,
  };
}

/** Speech of the length asked for, by repetition. */
async function readSpeech({ seconds, rate }: StreamLoad): Promise<Buffer> {
  const samples = await readSample('synthesizer-espeak-de.wav', rate);
  const numbers = Int16Array.from({ length: seconds * rate }, (_none, at) => samples[at % samples.length]! * 32_767);
  return Buffer.from(numbers.buffer);
}

async function stream(
  { url, key }: Service,
  { model, rate }: StreamLoad,
  audio: Buffer,
  latencies: Latencies,
): Promise<void> {
  const sentAt: number[] = [];
  const pieceBytes = Math.round(rate * pieceSeconds) * 2;
  const seen = new Set<number>();
  const onMessage = (message: ServerMessage): void => {
    if (message.type !== 'window') return;
    if (seen.has(message.start)) return void latencies.again++;
    const sent = sentAt[Math.ceil((message.end * rate * 2) / pieceBytes) - 1];
    if (sent !== undefined) (seen.size === 0 ? latencies.first : latencies.later).push(performance.now() - sent);
    seen.add(message.start);
  };
  const client = new StreamClient({ url, key, signal: new AbortController().signal, onMessage });
  await client.start({ model, format: { encoding: 'pcm_s16le', sampleRate: rate, channels: 1 } });
  const started = performance.now();
  for (let at = 0; at < audio.length; at += pieceBytes) {
    const early = started + (at / 2 / rate) * 1000 - performance.now();
    if (early > 1) await sleep(early);
    sentAt.push(performance.now());
    await client.send(audio.subarray(at, at + pieceBytes));
  }
  await client.end();
}

/** A latency in ms: the share of the windows that have no higher one. */
export function latencyAt(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(share * ascending.length))] ?? NaN;
}

/** CPU time of the processes that a process has started and that still run. */
function childrenMs(pid: number): number {
  return (
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
      .reduce((sum, child) => sum + ticksOf(child), 0) * tickMs
  );
}

function statOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return [];
  }
}

function parentOf(pid: string): number {
  return Number(statOf(pid)[1] ?? 0);
}

function ticksOf(pid: string): number {
  const stat = statOf(pid);
  return Number(stat[11] ?? 0) + Number(stat[12] ?? 0);
}

function print(load: StreamLoad, figures: StreamFigures): void {
  console.log(
    `${load.streams} streams of ${load.seconds} s, ${load.rate} Hz, ${load.model}; ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}`,
  );
  for (const name of ['first', 'later'] as const) {
    const [middle, most, all] = [0.5, 0.99, 1].map((share) => latencyAt(figures[name], share).toFixed(0));
    console.log(`${name} windows  ${figures[name].length}: median ${middle} ms, p99 ${most} ms, max ${all} ms`);
  }
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  console.log(
    `sent again ${figures.again}; CPU of a core: console ${percent(figures.console)}, scoring ${percent(figures.scoring)}, both ${percent(figures.ofStream)} a stream; clients ${percent(figures.clients)}`,
  );
}

if (isMain(import.meta.url)) {
  const [streams, seconds, rate] = [usual.streams, usual.seconds, usual.rate].map((usually, at) =>
    Number(process.argv[2 + at] ?? usually),
  ) as [number, number, number];
  const load = { ...usual, streams, seconds, rate, model: process.argv[5] ?? usual.model };
  print(load, await measureStreams(load));
}
