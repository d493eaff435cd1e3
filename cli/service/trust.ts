import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import {
  initTrust,
  makeRootKeys,
  readTrustStatus,
  requireThreshold,
  rotateTrust,
  type MadeRoot,
  type TrustStatus,
} from '../../pipelines/caches/signing/ceremony.ts';
import { readRootKey, writeNew, writeRootKeys } from '../../pipelines/caches/signing/root-key-files.ts';
import { describeEndingSignature, findEndingSignatures } from '../../pipelines/caches/signing/signature-expiry.ts';
import { metadataName } from '../../format/trust/metadata.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { openVault } from '../../runtime/secrets/vault.ts';
import { run, runWith, withServices, type Outcome } from '../command.ts';
import { readRootFile } from '../caches/root-file.ts';
import { parseCount } from '../options.ts';
import { formatFacts, formatTable } from '../table.ts';
import type { Services } from '../../runtime/services/services.ts';

/** `trust init|rotate|status`. */
export function addTrustCommands(trust: Command): void {
  trust
    .command('init')
    .description('begin to sign: make the keys of the root, which are kept apart from the service, and its online keys')
    .requiredOption('--out <directory>', 'where the keys of the root and 1.root.json are written')
    .option('--keys <count>', 'keys of the root', parseCount, 3)
    .option('--threshold <count>', 'how many of them must sign a change of keys', parseCount, 2)
    .option(
      '--passphrase-file <file>',
      'file with the passphrase that encrypts the key files; without it they are plain',
    )
    .addHelpText('after', '\nExample:\n  caller-trust trust init --keys 3 --threshold 2 --out /media/ceremony')
    .action(run(init));
  trust
    .command('rotate')
    .description('make the next root: renew it, or change keys')
    .requiredOption('--key <file...>', 'files of keys of the present root, as many as its threshold')
    .requiredOption('--out <directory>', 'where the next root, and new keys of it, are written')
    .option('--online', 'make new online keys: the present ones are lost, or may be known to others')
    .option('--new-keys <count>', 'replace all keys of the root with this many new ones', parseCount)
    .option('--threshold <count>', 'how many of the new keys must sign', parseCount)
    .option('--made-since <file...>', 'roots that were made after the backup of a restored database, in order')
    .option('--passphrase-file <file>', 'file with the passphrase of the key files, and of the new ones')
    .addHelpText(
      'after',
      '\nExamples:\n  caller-trust trust rotate --key a.pem b.pem --out next            renews the root for a year\n  caller-trust trust rotate --key a.pem b.pem --out next --online   replaces the online keys',
    )
    .action(run(rotate));
  trust.command('status').description('show root, expiry and versions of what is signed').action(runWith(status));
}

interface InitOptions {
  readonly out: string;
  readonly keys: number;
  readonly threshold: number;
  readonly passphraseFile?: string;
}

function init({ out, keys, threshold, passphraseFile }: InitOptions): Promise<Outcome> {
  requireThreshold({ threshold, keys });
  return withServices(async ({ db, config }) => {
    const vault = await openVault(config);
    const passphrase = await readPassphrase(passphraseFile);
    const now = new Date();
    if ((await readTrustStatus({ db, vault, now })).signs)
      throw new ServiceError('usage_invalid', {
        operation: 'make root',
        problem: 'The service signs already.',
        hint: 'Change its keys with `caller-trust trust rotate`.',
      });
    const rootKeys = makeRootKeys(keys);
    const files = await writeRootKeys(out, rootKeys, passphrase); // first: a root without its keys could never be changed
    return describeRoot(await initTrust({ db, vault, now }, { rootKeys, threshold }), { out, files });
  });
}

interface RotateOptions {
  readonly key: string[];
  readonly out: string;
  readonly online?: boolean;
  readonly newKeys?: number;
  readonly threshold?: number;
  readonly madeSince?: string[];
  readonly passphraseFile?: string;
}

function rotate({
  key,
  out,
  online = false,
  newKeys,
  threshold,
  madeSince = [],
  passphraseFile,
}: RotateOptions): Promise<Outcome> {
  if ((newKeys === undefined) !== (threshold === undefined))
    throw new ServiceError('usage_invalid', {
      operation: 'rotate keys',
      problem: 'New keys need their threshold, and a threshold new keys: give --new-keys and --threshold together.',
    });
  if (newKeys !== undefined) requireThreshold({ threshold: threshold!, keys: newKeys });
  return withServices(async ({ db, config }) => {
    const passphrase = await readPassphrase(passphraseFile);
    const presentKeys = await Promise.all(key.map((path) => readRootKey(path, passphrase)));
    const keys = newKeys === undefined ? undefined : makeRootKeys(newKeys);
    const files = keys === undefined ? [] : await writeRootKeys(out, keys, passphrase);
    const made = await rotateTrust(
      { db, vault: await openVault(config), now: new Date() },
      {
        presentKeys,
        online,
        madeSince: await Promise.all(madeSince.map(readRootFile)),
        newRoot: keys === undefined ? undefined : { keys, threshold: threshold! },
      },
    );
    return describeRoot(made, { out, files });
  });
}

async function describeRoot(
  { version, bytes, sha256 }: MadeRoot,
  { out, files: keyFiles }: { out: string; files: readonly string[] },
): Promise<Outcome> {
  const root = join(out, metadataName('root', version));
  await writeNew(root, bytes);
  const text = formatFacts([
    ['root', `version ${version}`],
    ['SHA-256', sha256],
    ['written', root],
    ...keyFiles.map((path): [string, string] => ['key', path]),
  ]);
  const advice =
    keyFiles.length === 0
      ? ''
      : '\n\nGive each key to another person, on a medium that is not connected, and delete it here. Publish the digest: clients compare it.';
  return { json: { version, sha256, root, keyFiles }, text: `${text}${advice}` };
}

/** @throws ServiceError `usage_invalid` */
async function readPassphrase(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new ServiceError('usage_invalid', {
      operation: 'read passphrase',
      object: path,
      problem: 'The file of the passphrase cannot be read.',
      cause,
    });
  });
  const passphrase = text.replace(/\r?\n$/, '');
  if (passphrase.length >= 12) return passphrase;
  throw new ServiceError('usage_invalid', {
    operation: 'read passphrase',
    object: path,
    problem: 'The passphrase has fewer than 12 characters.',
  });
}

async function status({ db, config }: Services): Promise<Outcome> {
  const now = new Date();
  const found = await readTrustStatus({ db, vault: await openVault(config), now });
  const warnings = findWarnings(found, now);
  return { json: { ...found, warnings }, text: formatStatus(found, warnings), failed: warnings.length > 0 };
}

function findWarnings({ roles, problem }: TrustStatus, now: Date): string[] {
  return [
    ...findEndingSignatures(roles, now.getTime()).map(describeEndingSignature),
    ...(problem === null ? [] : [problem]),
  ];
}

function formatStatus({ signs, root, roles, targets, bytes }: TrustStatus, warnings: readonly string[]): string {
  if (!signs || root === null)
    return 'The service does not sign what it publishes. `caller-trust trust init` begins it.';
  const facts = formatFacts([
    ['root', `version ${root.version}, ${root.threshold} of ${root.keyIds.length} keys`],
    ['SHA-256', root.sha256],
    ['signed files', `${targets} in ${bytes} bytes`],
  ]);
  const table = formatTable(roles, [
    { title: 'role', value: ({ role }) => role },
    { title: 'version', value: ({ version }) => String(version) },
    { title: 'expires', value: ({ expires }) => expires },
  ]);
  return [facts, table, ...(warnings.length === 0 ? [] : [warnings.join('\n')])].join('\n\n');
}
