import type { Command } from 'commander';
import { findCache, formatArtefact, isCountryCode, type ArtefactName } from '../../pipelines/caches/definition.ts';
import { allCaches } from '../../pipelines/caches/client/pull.ts';
import { lookUp } from '../../pipelines/caches/client/look-up.ts';
import type { TrustReport } from '../../pipelines/caches/client/publication-trust.ts';
import { ServiceClient } from '../../pipelines/caches/client/service-client.ts';
import { isPhoneRefusal, judgePhone } from '../../pipelines/phone/phone-number.ts';
import { loadConfig } from '../../runtime/config.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { interruption, run, type Outcome } from '../command.ts';
import { readKeyFile } from './key-file.ts';
import { formatTrust, readRootFile } from './root-file.ts';
import { formatCount, formatFacts } from '../table.ts';

interface LookupOptions {
  cache: string;
  country?: string;
  dir?: string;
  keyFile?: string;
  trust?: string;
}

/** `lookup`: finds one number in a published cache without downloading it. It needs no database. */
export function addLookupCommand(program: Command): void {
  program
    .command('lookup')
    .description('look a number up in a published cache, without downloading it')
    .argument('<url>', 'address of the service')
    .argument('<phone>', 'the number, with its country code')
    .option('--cache <cache>', `${allCaches.slice(0, -1).join(', ')} or ${allCaches.at(-1)}`, 'phones')
    .option('--country <XX>', 'country of the profile phones; by default that of the number')
    .option('--dir <directory>', 'keep the index and the trusted root here, so that the next look-up fetches less')
    .option('--trust <file>', 'the root that vouches for what is published')
    .option('--key-file <file>', 'file that holds the API key; by default CALLER_TRUST_KEY')
    .addHelpText(
      'after',
      '\nThe exit code is 1 if the number is not listed.\n\nExample:\n  caller-trust lookup https://caches.example +12122187292 --key-file key',
    )
    .action(run((url: string, phone: string, options: LookupOptions) => runLookup({ url, phone, ...options })));
}

async function runLookup({
  url,
  phone: text,
  dir,
  keyFile,
  trust: trustFile,
  ...options
}: LookupOptions & { url: string; phone: string }): Promise<Outcome> {
  const { phone, artefact } = whereToLook(text, options);
  const client = new ServiceClient({
    url,
    key: keyFile === undefined ? loadConfig().clientKey : await readKeyFile(keyFile),
    signal: interruption.signal,
  });
  let trust: TrustReport | undefined;
  const { version, row } = await lookUp({
    client,
    artefact,
    phone,
    directory: dir,
    trustAnchor: trustFile === undefined ? undefined : await readRootFile(trustFile),
    onTrust: (report) => (trust = report),
  });
  const { bytesReceived } = client;
  const facts =
    row === null
      ? []
      : Object.entries(row).map(([name, value]): [string, string | null] => [name, value === '' ? null : value]);
  const where = `${formatArtefact(artefact)} version ${version}, ${formatCount(bytesReceived)} bytes received`;
  const known = row === null ? `${phone} is not listed.` : formatFacts(facts);
  return {
    json: { ...artefact, version, phone, listed: row !== null, row, bytesReceived, trust: trust ?? null },
    text: `${known}\n\n${where}.\n${formatTrust(trust, unverified)}`,
    failed: row === null,
  };
}

const unverified = 'the service signs nothing, or neither --trust nor --dir was given';

/** @throws ServiceError `phone_invalid`, `cache_unknown`, `country_invalid`, `country_required` */
function whereToLook(
  text: string,
  { cache, country }: Pick<LookupOptions, 'cache' | 'country'>,
): { phone: string; artefact: ArtefactName } {
  const judged = judgePhone(text);
  if (isPhoneRefusal(judged))
    throw new ServiceError('phone_invalid', { operation: 'look number up', problem: judged.reason });
  const { name, perCountry } = findCache(cache);
  if (!perCountry) return { phone: judged.phone, artefact: { cache: name, country: '' } };
  const wanted = country ?? judged.country;
  if (wanted === null)
    throw new ServiceError('country_required', {
      operation: 'look number up',
      problem: 'The number belongs to no country.',
      hint: 'Look in another cache: --cache spammer_phones.',
    });
  if (!isCountryCode(wanted))
    throw new ServiceError('country_invalid', { operation: 'look number up', object: wanted });
  return { phone: judged.phone, artefact: { cache: name, country: wanted } };
}
