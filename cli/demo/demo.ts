import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import type { Command } from 'commander';
import type { Manifest } from '../../pipelines/caches/manifest.ts';
import { formatArtefact } from '../../pipelines/caches/definition.ts';
import { childEnvironment, loadConfig } from '../../runtime/config.ts';
import { removeStateDirectory } from '../../runtime/services/embedded-postgres.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { isProcessAlive } from '../../runtime/files/file-lock.mjs';
import { interruption, run, type Outcome } from '../command.ts';
import {
  checkVerifications,
  compareVoices,
  formatVerifications,
  verifySamples,
  type ComparedVoices,
  type VerifiedSamples,
} from './demo-audio.ts';
import { demoOwner, formatLetters, registerBrands, type DemoCommands, type ShownLetter } from './demo-branding.ts';
import { streamSample } from './demo-stream.ts';
import { followChange, type FollowedChange } from './demo-updates.ts';
import { packageRoot } from '../../runtime/package-root.ts';
import { writeSampleFeeds } from '../../samples/feeds/sample-feeds.ts';
import { writeSampleLetters } from '../../samples/letters/sample-letters.ts';
import { formatTable } from '../table.ts';
import { sha256Of } from '../../runtime/digest.ts';

const execute = promisify(execFile);
const readySecondsMax = 60;
const stopSecondsMax = 30;
const commandOutputBytesMax = 64 * 1024 * 1024;

interface DemoOptions {
  keep?: boolean;
}

/** `demo`: a tour of the service through its public commands. */
export function defineDemo(command: Command): void {
  command.option('--keep', 'leave the database and the files in place afterwards').action(run(demo));
}

/** A downloaded and checked artefact. */
interface Download {
  readonly name: string;
  readonly manifest: Manifest;
  readonly path: string;
}

async function demo({ keep = false }: DemoOptions): Promise<Outcome> {
  const directory = await chooseDirectory(join(loadConfig().stateDir, 'demo'));
  await removeStateDirectory(join(directory, 'state'));
  await mkdir(join(directory, 'state'), { recursive: true });
  const letters = await writeSampleLetters(join(directory, 'letters'), { seed: 1, asOf: new Date() });
  const service = await startService(directory, { LETTER_TRUST_ROOTS: letters.trustRoot });
  try {
    const feeds = await writeSampleFeeds(join(directory, 'feeds'), { asOf: new Date(), seed: 1, scale: 1 });
    say(`sample feeds are in ${join(directory, 'feeds')}`);
    for (const feed of ['reputation', 'directory', 'complaints'] as const) {
      const load = await service.cli<{ rowsGiven: number; rowsAccepted: number; rowsRejected: number }>(
        'feed',
        'load',
        feed,
        feeds[feed],
      );
      say(`${feed}: ${load.rowsGiven} rows given, ${load.rowsAccepted} accepted, ${load.rowsRejected} rejected`);
    }
    const brands = await registerBrands(service, letters);
    for (const { file, outcome, because } of brands) say(`${file}: ${outcome} (${because})`);
    const { night } = await service.cli<{ night: { runId: number } }>('night', 'run');
    say(`night ${night.runId} is published`);
    const { key } = await service.cli<{ key: string }>(
      'keys',
      'create',
      demoOwner,
      '--scope',
      'caches:read',
      'branding:read',
      'verifications:read',
    );
    const downloads = await downloadAll({ url: await service.url(), key, directory: join(directory, 'downloads') });
    await checkBranding(await service.url(), key, { brands, downloads });
    await service.cli('artefacts', 'verify');
    const again = await service.cli<{ counts: { published: number } }>('night', 'run');
    if (again.counts.published !== 0) throw failure('A second night over the same rows published something.');
    say('a second night over the same rows published nothing new');
    const followed = await followChange(service, {
      url: await service.url(),
      key,
      phone: await firstSpammer(downloads),
      directory,
    });
    say(
      `one number was cleared: a client that had pulled ${followed.bytesFirst} bytes took ${followed.bytesSecond} for ${followed.deltas} deltas, a look-up without a copy ${followed.bytesLookedUp}`,
    );
    const verified = await verifySamples(service);
    await checkVerifications(await service.url(), key, verified);
    say(
      `${verified.items.length} recordings were verified, a second batch of them took every result from the first, and the API shows the same scores`,
    );
    const streamed = await streamSample(service, { directory, verified });
    say(
      `${streamed.source} was streamed to the console: ${streamed.windows} windows came back while it was sent, and the scores of the batch at its end`,
    );
    const voices = await compareVoices(service);
    say(
      `a voice was enrolled, compared and deleted: identity ${formatScore(voices.same)} for the same reader, ${formatScore(voices.other)} for another`,
    );
    return describe(directory, { brands, downloads, followed, verified, voices });
  } finally {
    await service.stop();
    if (!keep) await removeStateDirectory(join(directory, 'state'));
  }
}

/** The default directory, or a new one if another demo is running there. */
async function chooseDirectory(usual: string): Promise<string> {
  await mkdir(usual, { recursive: true });
  const owner = Number(await readFile(join(usual, 'pid'), 'utf8').catch(() => ''));
  const directory = owner > 0 && owner !== process.pid && isProcessAlive(owner) ? `${usual}-${process.pid}` : usual;
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'pid'), String(process.pid));
  return directory;
}

/** The running service of the demo: `caller-trust start` in a child process, and commands that use it. */
interface Service extends DemoCommands {
  url(): Promise<string>;
  stop(): Promise<void>;
}

async function startService(directory: string, settings: Record<string, string>): Promise<Service> {
  const state = join(directory, 'state');
  // One user does everything in the demo.
  const env = childEnvironment({
    TWO_PAIRS_OF_EYES: 'off',
    STATE_DIR: state,
    DATABASE_URL: undefined,
    API_DATABASE_URL: undefined,
    ARTEFACT_DIR: undefined,
    API_PORT: '0',
    METRICS_PORT: '0',
    CONSOLE_PORT: '0',
    NIGHT_SCHEDULE: '0 0 29 2 *', // no night but those that are asked for
    ...settings,
  });
  const cli = join(packageRoot, 'dist', 'cli.js');
  const log = await open(join(directory, 'service.log'), 'w');
  const child = spawn(process.execPath, [cli, 'start'], {
    env: env as NodeJS.ProcessEnv,
    stdio: ['ignore', log.fd, log.fd],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await log.close();
  const service: Service = {
    async cli<Result>(...args: string[]): Promise<Result> {
      const { stdout } = await execute(process.execPath, [cli, ...args, '--json'], {
        env: env as NodeJS.ProcessEnv,
        maxBuffer: commandOutputBytesMax,
      }).catch((error: { stderr?: string }) => {
        throw failure(`\`caller-trust ${args.join(' ')}\` failed: ${error.stderr ?? ''}`, directory);
      });
      return JSON.parse(stdout) as Result;
    },
    async outcome<Result>(...args: string[]): Promise<Result> {
      const { stdout, stderr } = await execute(process.execPath, [cli, ...args, '--json'], {
        env: env as NodeJS.ProcessEnv,
        maxBuffer: commandOutputBytesMax,
      }).catch((error: { stdout?: string; stderr?: string }) => error);
      if (!stdout) throw failure(`\`caller-trust ${args.join(' ')}\` failed: ${stderr ?? ''}`, directory);
      return JSON.parse(stdout) as Result;
    },
    async url() {
      return (JSON.parse(await readFile(join(state, 'api.json'), 'utf8')) as { url: string }).url;
    },
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), stopSecondsMax * 1000);
      await ended;
      clearTimeout(late);
    },
  };
  await untilHealthy(service, child, directory).catch(async (error: unknown) => {
    await service.stop();
    throw error;
  });
  return service;
}

async function untilHealthy(service: Service, child: ChildProcess, directory: string): Promise<void> {
  const until = Date.now() + readySecondsMax * 1000;
  for (;;) {
    interruption.signal.throwIfAborted();
    if (child.exitCode !== null || Date.now() > until) throw failure('The service did not start.', directory);
    const answer = await service
      .url()
      .then((url) => fetch(`${url}/healthz`))
      .catch(() => undefined);
    if (answer?.ok) {
      say(`the service answers at ${await service.url()}`);
      return say('one person decides everything here (TWO_PAIRS_OF_EYES=off)');
    }
    await sleep(100);
  }
}

/** Downloads every listed artefact and checks it as a client would: digests, sizes, rows, order, 304. */
async function downloadAll({
  url,
  key,
  directory,
}: {
  url: string;
  key: string;
  directory: string;
}): Promise<Download[]> {
  await mkdir(directory, { recursive: true });
  const headers = { Authorization: `Bearer ${key}` };
  const manifests = await untilPublished(url, headers);
  const downloads: Download[] = [];
  for (const manifest of manifests) {
    const name = formatArtefact({ cache: manifest.cache, country: manifest.country ?? '' });
    const answer = await fetch(`${url}${manifest.file.href}`, { headers });
    const bytes = Buffer.from(await answer.arrayBuffer());
    checkDownload(name, manifest, bytes);
    const again = await fetch(`${url}${manifest.file.href}`, {
      headers: { ...headers, 'If-None-Match': answer.headers.get('etag') ?? '' },
    });
    if (again.status !== 304)
      throw failure(`${name}: a second request with the same ETag was answered ${again.status}.`);
    const path = join(directory, `${name.replace('/', '-')}.tsv.gz`);
    await writeFile(path, bytes);
    downloads.push({ name, manifest, path });
  }
  say(`${downloads.length} artefacts were downloaded and checked`);
  return downloads;
}

/** The API accepts a new key and serves a new publication within its polling intervals. */
async function untilPublished(url: string, headers: Record<string, string>): Promise<Manifest[]> {
  const until = Date.now() + readySecondsMax * 1000;
  for (;;) {
    const answer = await fetch(`${url}/v1/caches`, { headers });
    if (answer.ok) {
      const { manifests } = (await answer.json()) as { manifests: Manifest[] };
      if (manifests.length > 0) return manifests;
    }
    if (Date.now() > until) throw failure(`The API answers ${answer.status} to the list of caches.`);
    await sleep(200);
  }
}

function checkDownload(name: string, { file, rows }: Manifest, bytes: Buffer): void {
  const plain = gunzipSync(bytes);
  const lines = plain.toString('utf8').split('\n').slice(0, -1);
  const phones = lines.map((line) => line.split('\t', 1)[0]!);
  const wrong = [
    sha256Of(bytes) !== file.sha256 && 'digest',
    sha256Of(plain) !== file.plainSha256 && 'digest of the rows',
    bytes.length !== file.bytes && 'size',
    lines.length !== rows && 'rows',
    phones.some((phone, at) => at > 0 && phone <= phones[at - 1]!) && 'order',
  ].filter((problem) => problem !== false);
  if (wrong.length > 0) throw failure(`${name}: ${wrong.join(', ')} not as the manifest says.`);
}

/** Checks that the API shows the owner each brand in its decided state, and that the branded cache has exactly the verified numbers. */
async function checkBranding(
  url: string,
  key: string,
  { brands, downloads }: { brands: readonly ShownLetter[]; downloads: readonly Download[] },
): Promise<void> {
  const answer = await fetch(`${url}/v1/brands`, { headers: { Authorization: `Bearer ${key}` } });
  const { brands: shown } = (await answer.json()) as { brands: { handle: string; state: string }[] };
  const wrong = brands.filter(({ brand, outcome }) => shown.find(({ handle }) => handle === brand)?.state !== outcome);
  if (!answer.ok || wrong.length > 0)
    throw failure(`The API does not show ${wrong.map(({ brand }) => brand).join(', ')} as decided.`);
  const verified = brands.reduce((sum, brand) => sum + brand.verified, 0);
  const published = downloads.find(({ name }) => name === 'branded_phones')?.manifest.rows;
  if (published !== verified)
    throw failure(`${verified} numbers are verified, and the branded cache has ${published ?? 'no'} rows.`);
  say(`the branded cache has the ${verified} verified numbers, and the API shows the brands as they were decided`);
}

/** The first number of the spammer cache; the sample numbers begin with +1, which has countries. */
async function firstSpammer(downloads: readonly Download[]): Promise<string> {
  const plain = gunzipSync(await readFile(downloads.find(({ name }) => name === 'spammer_phones')!.path)).toString(
    'utf8',
  );
  return plain.split('\t', 1)[0]!;
}

interface Made {
  readonly brands: readonly ShownLetter[];
  readonly downloads: readonly Download[];
  readonly followed: FollowedChange;
  readonly verified: VerifiedSamples;
  readonly voices: ComparedVoices;
}

function formatScore(value: number | null): string {
  return value?.toFixed(3) ?? 'none';
}

function describe(directory: string, { brands, downloads, followed, verified, voices }: Made): Outcome {
  const table = formatTable(downloads, [
    { title: 'artefact', value: ({ name }) => name },
    { title: 'version', value: ({ manifest }) => manifest.version },
    { title: 'rows', value: ({ manifest }) => manifest.rows },
    { title: 'bytes', value: ({ manifest }) => manifest.file.bytes },
    { title: 'plain bytes', value: ({ manifest }) => manifest.file.plainBytes },
    { title: 'sha256', value: ({ manifest }) => `${manifest.file.sha256.slice(0, 12)}...` },
    { title: 'checked', value: () => 'ok' },
  ]);
  const text = `${formatLetters(brands)}\n\n${table}\n\n${formatVerifications(verified)}\n\nFeeds, letters, downloads, copies and the log of the service are in ${directory}.`;
  return {
    json: {
      brands,
      artefacts: downloads.map(({ name, manifest, path }) => ({ name, path, manifest })),
      followed,
      verifications: verified,
      voices,
    },
    text,
  };
}

function failure(problem: string, directory?: string): ServiceError {
  return new ServiceError('night_failed', {
    operation: 'run demo',
    problem,
    ...(directory === undefined ? {} : { hint: `${join(directory, 'service.log')} has the log.` }),
  });
}

function say(text: string): void {
  process.stderr.write(`demo: ${text}\n`);
}
