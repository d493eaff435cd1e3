import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { digestOfManifest } from '../../pipelines/audio/models/manifest.ts';
import type { ResolvedModel } from '../../pipelines/audio/models/registry.ts';
import { openScoringPool, type ScoringPool } from '../../pipelines/audio/scorers/scoring-pool.ts';
import { loadConfig, type Config } from '../../runtime/config.ts';
import { encodeOnnx, writeTestModel, type TestModel } from './onnx-file.ts';

/** A directory of a test file's own, removed after its last test. Call it at the top level of a test file. */
export async function useTestDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'scoring-test-'));
  afterAll(() => rm(directory, { recursive: true }));
  return directory;
}

/** Writes a model into a folder of its own under `directory`. */
export async function makeTestModel(directory: string, model: TestModel): Promise<ResolvedModel> {
  const folder = await mkdtemp(join(directory, 'model-'));
  const manifest = await writeTestModel(folder, model);
  return {
    name: manifest.model,
    manifest,
    manifestSha256: digestOfManifest(manifest),
    weightsFile: join(folder, manifest.file),
  };
}

/** A line that the pool logged: message and fields. */
interface Logged {
  readonly message: string;
  readonly fields: { readonly err?: unknown };
}

/** A pool with some settings changed, and what it logs. It is closed after the last test. */
export function useScoringPool(settings: Partial<Config> = {}): {
  readonly pool: ScoringPool;
  readonly logged: Logged[];
} {
  const logged: Logged[] = [];
  const write = (fields: Logged['fields'], message: string) => void logged.push({ fields, message });
  const pool = openScoringPool({
    config: { ...loadConfig({}), audioScorers: 1, ...settings },
    log: { warn: write, error: write } as Parameters<typeof openScoringPool>[0]['log'],
  });
  afterAll(() => pool.close());
  return { pool, logged };
}

/** A graph whose one run multiplies matrices of `size` many times: it takes seconds, and nothing but a kill ends it. */
export function slowGraph({
  size = 1024,
  rounds = 4000,
}: { readonly size?: number; readonly rounds?: number } = {}): Buffer {
  const square = { name: 'square', dims: [size, size], values: new Float32Array(size * size).fill(1 / size) };
  return encodeOnnx({
    inputs: [{ name: 'input', shape: ['batch', 'samples'] }],
    outputs: [{ name: 'output', shape: ['batch', 1] }],
    weights: [square, { name: 'wide', dims: [2], values: [size, 1], type: 'int64' }],
    nodes: [
      { op: 'ReduceMean', inputs: ['input'], outputs: ['mean'], attributes: { axes: [1], keepdims: 1 } },
      { op: 'ReduceMean', inputs: ['mean'], outputs: ['scalar'], attributes: { axes: [0], keepdims: 0 } },
      { op: 'Add', inputs: ['square', 'scalar'], outputs: ['at0'] },
      ...Array.from({ length: rounds }, (_none, round) => ({
        op: 'MatMul',
        inputs: [`at${round}`, 'square'],
        outputs: [`at${round + 1}`],
      })),
      { op: 'ReduceMean', inputs: [`at${rounds}`], outputs: ['all'], attributes: { axes: [0, 1], keepdims: 1 } },
      { op: 'Add', inputs: ['mean', 'all'], outputs: ['output'] },
    ],
  });
}

/** A graph that spreads its input over this many bytes before it answers. */
export function hungryGraph(bytes: number): Buffer {
  return encodeOnnx({
    inputs: [{ name: 'input', shape: ['batch', 'samples'] }],
    outputs: [{ name: 'output', shape: ['batch', 1] }],
    weights: [{ name: 'shape', dims: [2], values: [1, Math.round(bytes / 4 / 8)], type: 'int64' }],
    nodes: [
      { op: 'ReduceMean', inputs: ['input'], outputs: ['mean'], attributes: { axes: [1], keepdims: 1 } },
      { op: 'Expand', inputs: ['mean', 'shape'], outputs: ['at0'] },
      // Eight in a row that all live to the end, so that it takes its time.
      ...Array.from({ length: 7 }, (_none, round) => ({
        op: 'Sigmoid',
        inputs: [`at${round}`],
        outputs: [`at${round + 1}`],
      })),
      { op: 'Sum', inputs: Array.from({ length: 8 }, (_none, round) => `at${round}`), outputs: ['sum'] },
      { op: 'ReduceMean', inputs: ['sum'], outputs: ['output'], attributes: { axes: [1], keepdims: 1 } },
    ],
  });
}

/** The scoring processes that a process has started: none where the system has no /proc. */
export async function scorerPids(parent = process.pid): Promise<number[]> {
  const numbers = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(numbers.map(async (pid) => ((await isScorerOf(pid, parent)) ? [Number(pid)] : [])));
  return found.flat();
}

async function isScorerOf(pid: string, parent: number): Promise<boolean> {
  const [stat, command] = await Promise.all(
    ['stat', 'cmdline'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')),
  );
  const [, state, ppid] = /^\d+ \(.*\) (\S) (\d+)/s.exec(stat!) ?? [];
  return Number(ppid) === parent && state !== 'Z' && command!.includes('scorer-child');
}
