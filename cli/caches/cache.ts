import { createReadStream } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { applyDeltaFile, type AppliedDelta } from '../../clients/typescript/files/apply-delta-file.ts';
import { checkFile } from '../../clients/typescript/files/check-file.ts';
import { filterBytesMax, NumberFilter } from '../../format/artefact/number-filter.ts';
import { readSignedManifest } from '../../clients/typescript/service/manifest-source.ts';
import { readStoredTargets } from '../../clients/typescript/service/publication-trust.ts';
import { parseManifest, type ServedManifest } from '../../clients/typescript/service/manifest.ts';
import { DirectoryStore } from '../../clients/typescript/files/directory-store.ts';
import { findCache } from '../../pipelines/caches/definition.ts';
import { mixed } from '../../format/trust/trusted-set.ts';
import { formatTarget } from '../../format/trust/targets.ts';
import { isPhoneRefusal, judgePhone } from '../../pipelines/phone/phone-number.ts';
import { ServiceError, isServiceError } from '../../runtime/errors.ts';
import { run, type Outcome } from '../command.ts';
import { formatCount, formatFacts, formatTable } from '../table.ts';
import { keepWholeFile } from '../../runtime/files/whole-file.ts';

interface ApplyOptions {
  output: string;
  manifest?: string;
  metadata?: string;
}

/** `cache apply-delta` and `cache check-filter`: need neither database nor service. */
export function addCacheCommands(cache: Command): void {
  cache
    .command('check-filter')
    .description('say which numbers a downloaded filter finds: those of its list, and few others')
    .argument('<file>', 'the filter')
    .argument('<phone...>', 'numbers, with their country codes')
    .addHelpText(
      'after',
      '\nThe exit code is 1 if it finds none of them.\n\nExample:\n  caller-trust cache check-filter spammers.filter +12122187292',
    )
    .action(run(checkFilter));
  cache
    .command('apply-delta')
    .description('make the file of a version from that of an earlier one and a delta')
    .argument('<old>', 'file of the version that the delta begins at')
    .argument('<delta>', 'the delta')
    .requiredOption('--output <file>', 'where the new file goes')
    .option(
      '--manifest <file>',
      'manifest of the new version: the delta must be one of its deltas, and its rows must come out',
    )
    .option(
      '--metadata <directory>',
      'signed metadata, as `pull` keeps it in .trust: the manifest must be the one that it names',
    )
    .addHelpText(
      'after',
      '\nExample:\n  caller-trust cache apply-delta v11.tsv.gz delta.gz --output v12.tsv.gz --manifest manifest.json',
    )
    .action(run((old: string, delta: string, options: ApplyOptions) => applyDelta({ old, delta, ...options })));
}

async function checkFilter(path: string, texts: string[]): Promise<Outcome> {
  const filter = new NumberFilter(await readFilterFile(path));
  const numbers = texts.map((text) => {
    const judged = judgePhone(text);
    if (isPhoneRefusal(judged))
      throw new ServiceError('phone_invalid', { operation: 'look in filter', problem: judged.reason });
    return { phone: judged.phone, found: filter.has(judged.phone) };
  });
  const { keys, keyType, bits } = filter.facts;
  const { falsePositiveRate } = filter;
  const of = keyType === 'phone' ? 'numbers' : 'ranges';
  return {
    json: { keys, keyType, fingerprintBits: bits, falsePositiveRate, numbers },
    text: `${formatTable(numbers, [
      { title: 'phone', value: ({ phone }) => phone },
      { title: 'found', value: ({ found }) => (found ? 'perhaps' : 'no') },
    ])}\n\n${formatCount(keys)} ${of}; one in ${formatCount(1 / falsePositiveRate)} others is found too: look a number up before you act.`,
    failed: numbers.every(({ found }) => !found),
  };
}

/** The bytes of a file, or one byte more of them than a filter may have. */
async function readFilterFile(path: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  try {
    for await (const part of createReadStream(path, { end: filterBytesMax })) parts.push(part as Buffer);
  } catch (error) {
    throw readable(error, path);
  }
  return Buffer.concat(parts);
}

async function applyDelta({
  old,
  delta,
  output,
  manifest,
  metadata,
}: ApplyOptions & { old: string; delta: string }): Promise<Outcome> {
  if (metadata !== undefined && manifest === undefined)
    throw new ServiceError('usage_invalid', {
      operation: 'apply delta',
      problem: 'Signed metadata vouches for a manifest, and none was given.',
      hint: 'Give --manifest too.',
    });
  const promised = manifest === undefined ? undefined : await readManifest(manifest, metadata);
  if (promised !== undefined) await requireOffered(delta, promised.deltas);
  const unfinished = `${output}.${process.pid}.unfinished`;
  const plainSha256 = promised?.file.plainSha256;
  const applied = await applyDeltaFile({ oldPath: old, deltaPath: delta, outputPath: unfinished, plainSha256 })
    .then(async (made) => {
      await keepWholeFile(unfinished, output, { durable: true });
      return made;
    })
    .catch(async (error: unknown) => {
      await rm(unfinished, { force: true });
      throw readable(error);
    });
  const { index: _index, ...facts } = applied;
  const what = { checked: promised !== undefined, signed: metadata !== undefined };
  return { json: { output, ...what, ...facts }, text: formatApplied(output, facts, what) };
}

/** @throws ServiceError `usage_invalid`, `delta_invalid`, `download_damaged`, and those of the signed metadata */
async function readManifest(path: string, metadata: string | undefined): Promise<ServedManifest> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw readable(error);
  });
  let manifest: ServedManifest;
  try {
    manifest = parseManifest(JSON.parse(bytes.toString()));
  } catch (cause) {
    throw new ServiceError('delta_invalid', {
      operation: 'read manifest',
      object: path,
      problem: 'The file is not a manifest.',
      cause,
    });
  }
  return metadata === undefined ? manifest : verifyManifest(bytes, manifest, metadata);
}

/** The manifest, if it is the one that the signed metadata of a directory names for its artefact. */
async function verifyManifest(
  bytes: Buffer,
  { cache, country }: ServedManifest,
  metadata: string,
): Promise<ServedManifest> {
  const targets = await readStoredTargets(new DirectoryStore(metadata, { durable: true }));
  const artefact = { cache: findCache(cache).name, country: country ?? '' };
  const target = targets[formatTarget({ ...artefact, kind: 'manifest' })];
  if (target === undefined) throw mixed('manifest');
  return readSignedManifest(bytes, artefact, target);
}

/** @throws ServiceError `delta_invalid` unless the file is one of the deltas that a manifest lists. */
async function requireOffered(path: string, deltas: readonly { readonly sha256: string }[]): Promise<void> {
  for (const { sha256 } of deltas) {
    const fits = await checkFile(path, { sha256 }).then(
      () => true,
      (error: unknown) => {
        if (isServiceError(error)) return false;
        throw readable(error);
      },
    );
    if (fits) return;
  }
  throw new ServiceError('delta_invalid', {
    operation: 'apply delta',
    object: path,
    problem: 'The delta is damaged, or the manifest does not list it.',
  });
}

/** Reports a file that cannot be opened, or is a directory, as a usage error; without a `path` that of the error. */
function readable(error: unknown, path?: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || (path === undefined && !('path' in error))) return error;
  return new ServiceError('usage_invalid', {
    operation: 'open file',
    object: path ?? String((error as NodeJS.ErrnoException).path),
    problem: 'The file cannot be opened.',
    cause: error,
  });
}

function formatApplied(
  output: string,
  { added, changed, removed, bytes, plainSha256 }: Omit<AppliedDelta, 'index'>,
  { checked, signed }: { checked: boolean; signed: boolean },
): string {
  return formatFacts([
    ['file', output],
    ['added', formatCount(added)],
    ['changed', formatCount(changed)],
    ['removed', formatCount(removed)],
    ['bytes', formatCount(bytes)],
    ['SHA-256 of the rows', plainSha256],
    ['digest', !checked ? 'not compared with anything' : `as the ${signed ? 'signed ' : ''}manifest promises`],
  ]);
}
