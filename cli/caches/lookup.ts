import type { Command } from 'commander';
import { findCache, formatArtefact, isCountryCode, type ArtefactName } from '../../pipelines/caches/definition.ts';
import { allCaches } from '../../clients/typescript/files/pull.ts';
import { findInCopy } from '../../clients/typescript/files/find-in-copy.ts';
import { lookUpKept } from '../../clients/typescript/files/look-up-kept.ts';
import type { Row } from '../../format/artefact/find-row.ts';
import { ServiceClient } from '../../clients/typescript/service/service-client.ts';
import { isPhoneRefusal, judgePhone } from '../../pipelines/phone/phone-number.ts';
import { loadConfig } from '../../runtime/config.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { interruption, run, type Outcome } from '../command.ts';
import { readKeyFile } from './key-file.ts';
import { parseCount } from '../options.ts';
import { formatTrust, readRootFile } from './root-file.ts';
import { formatCount, formatFacts } from '../table.ts';

interface LookupOptions {
  cache: string;
  country?: string;
  dir?: string;
  keyFile?: string;
  trust?: string;
  pad?: number;
  filterFirst?: boolean;
}

/** `lookup`: finds one number in a published cache without downloading it, or in a copy. It needs no database. */
export function defineLookup(command: Command): void {
  command
    .argument('<from>', 'address of the service, or a directory of copies')
    .argument('<phone>', 'the number, with its country code')
    .option('--cache <cache>', `${allCaches.slice(0, -1).join(', ')} or ${allCaches.at(-1)}`, 'phones')
    .option('--country <XX>', 'country of the profile phones; by default that of the number')
    .option('--dir <directory>', 'keep the index and the trusted root here, so that the next look-up fetches less')
    .option('--trust <file>', 'the root that vouches for what is published')
    .option(
      '--pad <bytes>',
      'request at least this many bytes, the same for every number, so that the length reveals nothing to the service',
      parseCount,
    )
    .option(
      '--filter-first',
      'ask only for a number that the filter of the cache finds, which is kept with --dir; spammer_phones and spam_ranges have one',
    )
    .option('--key-file <file>', 'file that holds the API key; by default CALLER_TRUST_KEY')
    .addHelpText(
      'after',
      '\nThe exit code is 1 if the number is not listed.\n\nExample:\n  caller-trust lookup https://caches.example +12122187292 --key-file key\n  caller-trust lookup numbers +12122187292',
    )
    .action(run((from: string, phone: string, options: LookupOptions) => runLookup({ from, phone, ...options })));
}

type LookupArguments = LookupOptions & { readonly from: string; readonly phone: string };

async function runLookup({ from, phone: text, ...options }: LookupArguments): Promise<Outcome> {
  const place = whereToLook(text, options);
  return /^https?:\/\//i.test(from) ? lookUpAt(from, place, options) : lookUpInCopy(from, place, options);
}

interface Place {
  readonly phone: string;
  readonly artefact: ArtefactName;
}

async function lookUpAt(
  url: string,
  { phone, artefact }: Place,
  { dir, keyFile, trust: trustFile, pad, filterFirst }: LookupOptions,
): Promise<Outcome> {
  const client = new ServiceClient({
    url,
    key: keyFile === undefined ? loadConfig().clientKey : await readKeyFile(keyFile),
    signal: interruption.signal,
  });
  const { version, row, trust } = await lookUpKept({
    client,
    artefact,
    phone,
    padTo: pad,
    filterFirst,
    directory: dir,
    trustAnchor: trustFile === undefined ? undefined : await readRootFile(trustFile),
  });
  const { bytesReceived } = client;
  const where = `${formatArtefact(artefact)} version ${version}, ${formatCount(bytesReceived)} bytes received`;
  return {
    json: { ...artefact, version, phone, listed: row !== null, row, bytesReceived, trust: trust ?? null },
    text: `${formatRow(phone, row)}\n\n${where}.\n${formatTrust(trust, unverified)}`,
    failed: row === null,
  };
}

/** @throws ServiceError `usage_invalid` for options that only the service has a use for */
async function lookUpInCopy(
  directory: string,
  { phone, artefact }: Place,
  { dir, keyFile, trust, pad, filterFirst }: LookupOptions,
): Promise<Outcome> {
  if ([dir, keyFile, trust, pad, filterFirst].some((given) => given !== undefined))
    throw new ServiceError('usage_invalid', {
      operation: 'look number up',
      problem:
        'A copy is looked up without a key: --dir, --key-file, --trust, --pad and --filter-first belong to an address.',
      hint: 'Give the address with http:// or https://, or leave them out.',
    });
  const { version, row, isVerified } = await findInCopy({ directory, artefact, phone });
  const where = `${formatArtefact(artefact)} version ${version}, from the copy`;
  const signed = isVerified ? 'Verified when it was pulled.' : 'Not verified: no signature vouched for the copy.';
  return {
    json: { ...artefact, version, phone, listed: row !== null, row, verified: isVerified },
    text: `${formatRow(phone, row)}\n\n${where}.\n${signed}`,
    failed: row === null,
  };
}

function formatRow(phone: string, row: Row | null): string {
  if (row === null) return `${phone} is not listed.`;
  return formatFacts(Object.entries(row).map(([name, value]) => [name, value === '' ? null : value]));
}

const unverified = 'the service signs nothing, or neither --trust nor --dir was given';

/** @throws ServiceError `phone_invalid`, `cache_unknown`, `country_invalid`, `country_required` */
function whereToLook(text: string, { cache, country }: Pick<LookupOptions, 'cache' | 'country'>): Place {
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
