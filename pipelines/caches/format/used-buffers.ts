import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes of buffers after which those that are not used any more are freed: V8 does that by itself after 64 MiB in each thread. */
const bytesBetweenCollections = 4 * 1024 * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
let bytesSinceCollection = 0;

/** Records bytes of buffers that this thread does not use any more. */
export function freeUsedBytes(bytes: number): void {
  bytesSinceCollection += bytes;
  if (bytesSinceCollection < bytesBetweenCollections) return;
  collect({ type: 'minor' });
  bytesSinceCollection = 0;
}
