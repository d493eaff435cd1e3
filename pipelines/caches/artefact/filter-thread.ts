import { parentPort, workerData } from 'node:worker_threads';
import { buildFilter, type FilterKind } from './filter-building.ts';

/** The thread that makes one filter, and ends. */
const { keys, kind } = workerData as { keys: Float64Array; kind: FilterKind }; // set by filter-file.ts
const bytes = buildFilter(keys, kind);
parentPort!.postMessage(bytes, [bytes.buffer]);
