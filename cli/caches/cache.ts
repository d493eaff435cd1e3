import { readFile, rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { applyDeltaFile, type AppliedDelta } from '../../pipelines/caches/client/apply-delta-file.ts';
import { checkFile } from '../../pipelines/caches/client/check-file.ts';
import { contentOf } from '../../pipelines/caches/client/update-copy.ts';
import { parseManifest } from '../../pipelines/caches/client/served-manifest.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { run, type Outcome } from '../command.ts';
import { formatCount, formatFacts } from '../table.ts';
import { keepWholeFile } from '../../runtime/whole-file.ts';

interface ApplyOptions {
  output: string;
  manifest?: string;
}

/** `cache apply-delta`: needs neither database nor service. */
export function addCacheCommands(program: Command): void {
  program
    .command('cache')
    .description('files of caches, as clients have them')
    .command('apply-delta')
    .description('make the file of a version from that of an earlier one and a delta')
    .argument('<old>', 'file of the version that the delta begins at')
    .argument('<delta>', 'the delta')
    .requiredOption('--output <file>', 'where the new file goes')
    .option(
      '--manifest <file>',
      'manifest of the new version: the delta must be one of its deltas, and its rows must come out',
    )
    .addHelpText(
      'after',
      '\nExample:\n  caller-trust cache apply-delta v11.tsv.gz delta.gz --output v12.tsv.gz --manifest manifest.json',
    )
    .action(run((old: string, delta: string, options: ApplyOptions) => applyDelta({ old, delta, ...options })));
}

async function applyDelta({
  old,
  delta,
  output,
  manifest,
}: ApplyOptions & { old: string; delta: string }): Promise<Outcome> {
  const promised = manifest === undefined ? undefined : await readManifest(manifest);
  if (promised !== undefined) await requireOffered(delta, promised.deltas);
  const expected = promised && contentOf(promised.file);
  const unfinished = `${output}.${process.pid}.unfinished`;
  const applied = await applyDeltaFile({ oldPath: old, deltaPath: delta, outputPath: unfinished, expected })
    .then(async (made) => {
      await keepWholeFile(unfinished, output, { durable: true });
      return made;
    })
    .catch(async (error: unknown) => {
      await rm(unfinished, { force: true });
      throw readable(error);
    });
  return {
    json: { output, checked: expected !== undefined, ...applied },
    text: formatApplied(output, applied, expected !== undefined),
  };
}

/** @throws ServiceError `usage_invalid`, `download_damaged` */
async function readManifest(path: string) {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw readable(error);
  });
  try {
    return parseManifest(JSON.parse(text));
  } catch (cause) {
    throw new ServiceError('delta_invalid', {
      operation: 'read manifest',
      object: path,
      problem: 'The file is not a manifest.',
      cause,
    });
  }
}

/** @throws ServiceError `delta_invalid` unless the file is one of the deltas that a manifest lists. */
async function requireOffered(path: string, deltas: readonly { readonly sha256: string }[]): Promise<void> {
  for (const { sha256 } of deltas) {
    const fits = await checkFile(path, { sha256 }).then(
      () => true,
      (error: unknown) => {
        if (error instanceof ServiceError) return false;
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

/** Reports a file that cannot be opened as a usage error. */
function readable(error: unknown): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('path' in error)) return error;
  return new ServiceError('usage_invalid', {
    operation: 'open file',
    object: String(error.path),
    problem: 'The file cannot be opened.',
    cause: error,
  });
}

function formatApplied(
  output: string,
  { added, changed, removed, bytes, plainCrc32 }: AppliedDelta,
  checked: boolean,
): string {
  return formatFacts([
    ['file', output],
    ['added', formatCount(added)],
    ['changed', formatCount(changed)],
    ['removed', formatCount(removed)],
    ['bytes', formatCount(bytes)],
    ['CRC-32 of the rows', plainCrc32],
    ['content digest', checked ? 'as the manifest promises' : 'not compared with anything'],
  ]);
}
