import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidArgumentError, type Command } from 'commander';
import { formatArtefact, isCountryCode } from '../../pipelines/caches/definition.ts';
import { allCaches, pull, type PulledArtefact, type Wanted } from '../../clients/typescript/files/pull.ts';
import type { TrustReport } from '../../clients/typescript/service/publication-trust.ts';
import { ServiceClient } from '../../clients/typescript/service/service-client.ts';
import { loadConfig } from '../../runtime/config.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { interruption, run, type Outcome } from '../command.ts';
import { readKeyFile } from './key-file.ts';
import { formatTrust, readRootFile } from './root-file.ts';
import { parseCount } from '../options.ts';
import { startProgress } from '../progress.ts';
import { formatCount, formatTable } from '../table.ts';

/** Ranges of one file that are downloaded in parallel. */
const parallelLimits = { byDefault: 4, max: 16 } as const;

interface PullCommandOptions {
  dir: string;
  cache: string[];
  country: string[];
  keyFile?: string;
  trust?: string;
  parallel: number;
  randomDelay: number;
}

/** `pull`: a client of the API; needs no database. */
export function definePull(command: Command): void {
  command
    .argument('<url>', 'address of the service')
    .requiredOption('--dir <directory>', 'where the copies are kept')
    .option('--cache <cache...>', `caches to pull: ${allCaches.join(', ')}`, [...allCaches])
    .option('--country <XX...>', 'countries of the profile phones, or all', ['all'])
    .option('--key-file <file>', 'file that holds the API key; by default CALLER_TRUST_KEY')
    .option('--trust <file>', 'the root that vouches for what is published; needed once')
    .option('--parallel <count>', 'ranges that are downloaded at a time', parseParallel, parallelLimits.byDefault)
    .option(
      '--random-delay <seconds>',
      'wait a random time first, so that not every client asks at once',
      parseCount,
      0,
    )
    .addHelpText(
      'after',
      '\nExample, for every night:\n  caller-trust pull https://caches.example --dir numbers --cache phones --country US CA --key-file key --random-delay 3600',
    )
    .action(run(runPull));
}

function parseParallel(text: string): number {
  const count = parseCount(text);
  if (count < 1 || count > parallelLimits.max)
    throw new InvalidArgumentError(`Give a count of 1 to ${parallelLimits.max}.`);
  return count;
}

async function runPull(url: string, options: PullCommandOptions): Promise<Outcome> {
  const wanted = wantedOf(options);
  const key = options.keyFile === undefined ? loadConfig().clientKey : await readKeyFile(options.keyFile);
  const client = new ServiceClient({ url, key, signal: interruption.signal });
  await sleep(Math.random() * options.randomDelay * 1000, undefined, { signal: interruption.signal }).catch(() =>
    interruption.signal.throwIfAborted(),
  );
  const trustAnchor = options.trust === undefined ? undefined : await readRootFile(options.trust);
  let trust: TrustReport | undefined;
  const progress = startProgress();
  const pulled = await pull({
    client,
    wanted,
    directory: resolve(options.dir),
    parallel: options.parallel,
    trustAnchor,
    onTrust: (report) => (trust = report),
    onProgress: (artefact) => progress.show(`pulling ${artefact}`),
  }).finally(() => progress.end());
  const failed = pulled.filter(({ failure }) => failure !== null);
  if (pulled.length === 1 && failed[0]?.failure) throw asError(failed[0], failed[0].failure);
  return {
    json: { bytesReceived: client.bytesReceived, trust: trust ?? null, artefacts: pulled },
    text: `${formatPulled(pulled, client.bytesReceived)}\n${formatTrust(trust, 'the service signs nothing')}`,
    failed: failed.length > 0,
  };
}

/** @throws ServiceError `country_invalid` */
function wantedOf({ cache, country }: PullCommandOptions): Wanted {
  if (country.length === 1 && country[0] === 'all') return { caches: cache, countries: 'all' };
  for (const each of country)
    if (!isCountryCode(each)) throw new ServiceError('country_invalid', { operation: 'pull', object: each });
  return { caches: cache, countries: country };
}

/** If one artefact was requested, its error decides the exit code. */
function asError(artefact: PulledArtefact, { code, reason }: NonNullable<PulledArtefact['failure']>): ServiceError {
  return new ServiceError(code, { operation: 'pull', object: formatArtefact(artefact), problem: reason });
}

function formatPulled(pulled: readonly PulledArtefact[], bytesReceived: number): string {
  if (pulled.length === 0) return 'Nothing of this is published yet.';
  const table = formatTable(pulled, [
    { title: 'artefact', value: formatArtefact },
    { title: 'how', value: ({ how }) => how },
    { title: 'from', value: ({ from }) => from },
    { title: 'version', value: ({ version }) => version },
    { title: 'rows', value: ({ rows }) => rows },
    { title: 'bytes', value: ({ bytesReceived: bytes }) => bytes },
    { title: 'of', value: ({ bytesWhole }) => bytesWhole },
    { title: 'seconds', value: ({ seconds }) => seconds.toFixed(2) },
  ]);
  const notes = pulled.flatMap(({ failure, deltaRefused, from, version, ...artefact }) => [
    ...(failure === null ? [] : [`${formatArtefact(artefact)}: ${failure.reason} [${failure.code}]`]),
    ...(deltaRefused === null
      ? []
      : [`${formatArtefact(artefact)}: the delta was of no use, the whole file was taken: ${deltaRefused}`]),
    ...(from !== null && version !== null && version < from
      ? [`${formatArtefact(artefact)}: version ${version} took the place of the newer version ${from}.`]
      : []),
  ]);
  return [table, '', ...notes, `${formatCount(bytesReceived)} bytes received.`].join('\n');
}
