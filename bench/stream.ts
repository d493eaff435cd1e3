/**
 * Claims: with 20 streams in real time on two cores, the first window comes at most 1 s after its last sample was sent, later ones at
 * most 250 ms (p99); and what a stream costs.
 *
 *   npm run build && node dist/bench/stream.js [--streams 20] [--seconds 60] [--model phone] [--rate 8000] [--recording file]
 *
 * A console of its own (embedded PostgreSQL, no worker) in a process of its own; the clients are in this one. Each sends 20 ms of
 * audio every 20 ms; the streams begin spread over two seconds. The latency of a window runs from the sending of the piece that
 * holds its last sample to its first message. Windows that are sent again with more audio are counted separately. CPU is that of
 * the console and its scoring processes, from /proc, as a share of one core; that of the clients is shown apart.
 */
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createKey } from '../pipelines/access/keys.ts';
import { loadKeySecret } from '../pipelines/access/key-secret.ts';
import { openRecording } from '../pipelines/audio/decode/open-recording.ts';
import { resample } from '../pipelines/audio/signal/resample.ts';
import { StreamClient } from '../pipelines/audio/streaming/stream-client.ts';
import type { ServerMessage } from '../pipelines/audio/streaming/stream-protocol.ts';
import { migrateDatabase } from '../cli/command.ts';
import { childEnvironment, loadConfig } from '../runtime/config.ts';
import { removeStateDirectory } from '../runtime/services/embedded-postgres.ts';
import { openServices } from '../runtime/services/services.ts';

const { values: options } = parseArgs({
  options: {
    streams: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '60' },
    model: { type: 'string', default: 'phone' },
    rate: { type: 'string', default: '8000' },
    recording: { type: 'string', default: 'samples/recordings/synthesizer-espeak-de.wav' },
  },
});
const [streams, seconds, rate] = [Number(options.streams), Number(options.seconds), Number(options.rate)];

/** Seconds of audio in one message, as a page or a telephone sends it. */
const pieceSeconds = 0.02;

/** Seconds over which the streams begin. */
const spreadSeconds = 2;

/** Ticks of the CPU times in /proc, in ms: the kernel's USER_HZ is 100 everywhere. */
const tickMs = 10;

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
  await runConsole(async (url, pid) => measure(url, pid, key));
} finally {
  await services.close();
  await removeStateDirectory(stateDir);
}

async function runConsole(work: (url: string, pid: number) => Promise<void>): Promise<void> {
  const child = spawn(process.execPath, ['dist/console/main.js'], {
    env: childEnvironment(env) as NodeJS.ProcessEnv,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  try {
    let url: string | undefined;
    while (url === undefined) {
      if (child.exitCode !== null) throw new Error('the console ended');
      await sleep(50);
      url = await readFile(join(stateDir, 'console.json'), 'utf8').then(
        (text) => (JSON.parse(text) as { url: string }).url,
        () => undefined,
      );
    }
    await work(url, child.pid!);
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

async function measure(url: string, pid: number, key: string): Promise<void> {
  const audio = await speech();
  await stream(url, key, audio.subarray(0, 10 * rate * 2), { first: [], later: [], again: 0 }); // the process that scores is up, its model open
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
      await stream(url, key, Buffer.concat([audio.subarray(from), audio.subarray(0, from)]), latencies);
    }),
  );
  const [wallMs, own] = [performance.now() - before.at, process.cpuUsage(before.own)];
  const [consoleMs, scoringMs] = [ticksOf(String(pid)) * tickMs - before.console, childrenMs(pid) - before.scoring];
  const share = (ms: number) => `${((ms / wallMs) * 100).toFixed(0)} %`;
  console.log(
    `${streams} streams of ${seconds} s, ${rate} Hz, ${options.model}; ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}`,
  );
  console.log(describe('first windows', latencies.first));
  console.log(describe('later windows', latencies.later));
  console.log(`sent again     ${latencies.again}`);
  console.log(
    `CPU of a core  console ${share(consoleMs)}, scoring ${share(scoringMs)}, both ${(((consoleMs + scoringMs) / wallMs / streams) * 100).toFixed(1)} % a stream; clients ${share((own.user + own.system) / 1000)}`,
  );
}

/** Speech of the length asked for, by repetition. */
async function speech(): Promise<Buffer> {
  const recording = await openRecording(options.recording, {
    bytesMax: 1e9,
    channelsMax: 8,
    sampleRateMin: 4000,
    sampleRateMax: 192_000,
    secondsMax: 3600,
    wallSecondsMax: 60,
  });
  const parts: number[] = [];
  for await (const block of recording.blocks()) parts.push(...block[0]!);
  await recording.close();
  const samples = resample(Float32Array.from(parts), recording.sampleRate, rate);
  const numbers = Int16Array.from({ length: seconds * rate }, (_none, at) => samples[at % samples.length]! * 32_767);
  return Buffer.from(numbers.buffer);
}

async function stream(url: string, key: string, audio: Buffer, latencies: Latencies): Promise<void> {
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
  await client.start({ model: options.model, format: { encoding: 'pcm_s16le', sampleRate: rate, channels: 1 } });
  const started = performance.now();
  for (let at = 0; at < audio.length; at += pieceBytes) {
    const early = started + (at / 2 / rate) * 1000 - performance.now();
    if (early > 1) await sleep(early);
    sentAt.push(performance.now());
    await client.send(audio.subarray(at, at + pieceBytes));
  }
  await client.end();
}

function describe(name: string, latencies: readonly number[]): string {
  const sorted = [...latencies].sort((a, b) => a - b);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN).toFixed(0);
  return `${name}  ${sorted.length}: median ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`;
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
