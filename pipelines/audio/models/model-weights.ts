import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { z } from 'zod';
import { sha256Of } from '../../../runtime/digest.ts';
import { unusable, type externalFile, type ModelManifest } from './manifest.ts';

/**
 * The bytes of a model's weights, checked against the manifest.
 * @throws ServiceError `model_invalid` if they are missing or have another size or digest
 */
export async function readWeights(
  file: string,
  { bytes, sha256: digest }: { readonly bytes: number; readonly sha256: string },
): Promise<Uint8Array> {
  const weights = await readFile(file).catch((cause: unknown) => {
    throw unusable(file, 'The weights cannot be read.', cause);
  });
  if (weights.byteLength !== bytes)
    throw unusable(file, `The manifest's bytes are ${bytes}, the weights have ${weights.byteLength}.`);
  const found = sha256Of(weights);
  if (found !== digest) throw unusable(file, `The manifest's sha256 is ${digest}, that of the weights is ${found}.`);
  return weights;
}

/** A file of a model: its name, size and digest. */
type ModelFile = z.output<typeof externalFile>;

/** What a manifest says of the files of its model. */
export type ModelFiles = Pick<ModelManifest, 'file' | 'sha256' | 'bytes' | 'externalData'>;

/** The files of a model: its graph first, then its external data. */
export function filesOfModel({ file, sha256: digest, bytes, externalData = [] }: ModelFiles): ModelFile[] {
  return [{ file, sha256: digest, bytes }, ...externalData];
}

/** Bytes of all files of a model. */
export function bytesOfModel(files: ModelFiles): number {
  return filesOfModel(files).reduce((sum, { bytes }) => sum + bytes, 0);
}

/**
 * A graph for the runtime, checked against the manifest: its bytes, or, where tensors lie in external data, its path. External
 * data is checked as it is read, and mapped by the runtime: it is never in memory as a whole.
 * @throws ServiceError `model_invalid` if a file is missing or has another size or digest
 */
export async function readGraph(file: string, manifest: ModelFiles): Promise<Uint8Array | string> {
  if (manifest.externalData === undefined) return readWeights(file, manifest);
  for (const each of filesOfModel(manifest)) {
    const path = each.file === manifest.file ? file : join(dirname(file), each.file);
    await checkFile(path, each, async () => {});
  }
  return file;
}

/**
 * Reads a file of a model part by part and checks its size and digest.
 * @throws ServiceError `model_invalid` if it is missing or differs
 */
export async function checkFile(
  path: string,
  { file, bytes, sha256: digest }: ModelFile,
  take: (part: Uint8Array) => Promise<unknown>,
): Promise<void> {
  const hash = createHash('sha256');
  let found = 0;
  const parts = createReadStream(path, { highWaterMark: readBytes });
  try {
    for await (const part of parts as AsyncIterable<Buffer>) {
      found += part.length;
      if (found > bytes) break;
      hash.update(part);
      await take(part);
    }
  } catch (cause) {
    throw unusable(path, `The file ${file} cannot be read.`, cause);
  }
  if (found !== bytes)
    throw unusable(path, `The manifest gives ${file} ${bytes} bytes, and it has ${found > bytes ? 'more' : found}.`);
  if (hash.digest('hex') !== digest)
    throw unusable(path, `The file ${file} has another sha256 than the manifest says.`);
}

/** Bytes of one read of a model's file. */
const readBytes = 1024 * 1024;
