// A model of 1.3 GB, the size of published detectors with a front end of 300 million parameters, through the whole path: `models add`,
// `verify` of a batch, `models drift`, in processes of their own with a database of their own. Prints seconds and the most memory of
// a process that scores. Its weights are random, so its scores mean nothing.
//
//   npm run build && node dist/bench/large-model.js [--megabytes 1300] [--recordings 4] [--threads 1]
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, open, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { childEnvironment } from '../runtime/config.ts';
import { Seeded } from '../runtime/seeded.ts';
import { packageRoot } from '../runtime/package-root.ts';
import { encodeOnnx, testManifest, type OnnxTensor } from '../test/support/onnx-file.ts';

const { values } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '1300' },
    recordings: { type: 'string', default: '4' },
    threads: { type: 'string', default: '1' },
  },
});
const [megabytes, recordings] = [Number(values.megabytes), Number(values.recordings)];
const memoryBytes = Math.round(megabytes * 1e6 * 1.5) + 300e6;

/** Frames of 20 ms of a window of 4 s at 16 kHz, and the numbers between two layers. */
const [frameSamples, frames, width] = [320, 200, 2000] as const;
const dataName = 'model.onnx.data';

const folder = await mkdtemp(join(tmpdir(), 'large-model-'));
const env = childEnvironment({
  DATABASE_URL: undefined,
  REDIS_URL: undefined,
  STATE_DIR: join(folder, 'state'),
  MODEL_MEMORY_BYTES_MAX: String(memoryBytes),
  MODEL_THREADS: values.threads,
  AUDIO_SCORERS: '1',
}) as NodeJS.ProcessEnv;

try {
  await measure('make', makeModel);
  const calls = await makeCalls();
  await measure('models add', () =>
    cli('models', 'add', join(folder, 'manifest.json'), '--weights', join(folder, 'model.onnx'), '--reason', 'bench'),
  );
  const batch = await measure(`verify ${recordings} recordings`, () =>
    cli('verify', calls, '--model', 'phone/v9-large', '--wait'),
  );
  await measure('the same again, from stored results', () =>
    cli('verify', calls, '--model', 'phone/v9-large', '--wait'),
  );
  const { id } = (JSON.parse(batch) as { batch: { id: string } }).batch;
  await measure('models drift', () => cli('models', 'drift', 'phone/v8', 'phone/v9-large', '--batch', id));
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function cli(...args: string[]): Promise<string> {
  const command = [join(packageRoot, 'dist/cli.js'), ...args, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, command, { env, maxBuffer: 2 ** 26 });
  return stdout;
}

/** Runs a step and prints its seconds and the most resident memory of a process that scores. */
async function measure<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  let peakKib = 0;
  const look = setInterval(() => void scorerPeakKib().then((kib) => (peakKib = Math.max(peakKib, kib))), 200);
  const started = performance.now();
  try {
    return await work();
  } finally {
    clearInterval(look);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const memory = peakKib === 0 ? '' : `, ${Math.round(peakKib / 1024)} MiB`;
    console.log(`${name}: ${seconds} s${memory}`);
  }
}

async function scorerPeakKib(): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const peaks = await Promise.all(
    pids.map(async (pid) => {
      const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
      if (!(await read('cmdline')).includes('scorer-child') || !(await isOwn(pid))) return 0;
      return Number(/VmHWM:\s+(\d+)/.exec(await read('status'))?.[1] ?? 0);
    }),
  );
  return Math.max(0, ...peaks);
}

/** Whether this process started it, or one that it started. */
async function isOwn(pid: string): Promise<boolean> {
  for (let at = Number(pid); at > 1;) {
    const stat = await readFile(`/proc/${at}/stat`, 'utf8').catch(() => '');
    at = Number(/^\d+ \(.*\) \S (\d+)/s.exec(stat)?.[1] ?? 0);
    if (at === process.pid) return true;
  }
  return false;
}

/** A perceptron over frames, as many layers as fill the bytes; the weights lie in one file of external data. */
async function makeModel(): Promise<void> {
  const layers = Math.max(1, Math.round((megabytes * 1e6) / (width * width * 4)));
  const sizes = [[frameSamples, width], ...Array.from({ length: layers }, () => [width, width]), [width, 1]];
  let offset = 0;
  const weights: OnnxTensor[] = sizes.map((dims, layer) => {
    const tensor = { name: `w${layer}`, dims, values: [], location: dataName, offset };
    offset += dims[0]! * dims[1]! * 4;
    return tensor;
  });
  const graph = encodeOnnx({
    inputs: [{ name: 'input', shape: ['batch', frameSamples * frames] }],
    outputs: [{ name: 'output', shape: ['batch', 1] }],
    weights: [...weights, { name: 'frames', dims: [3], values: [-1, frames, frameSamples], type: 'int64' }],
    nodes: [
      { op: 'Reshape', inputs: ['input', 'frames'], outputs: ['a0'] },
      ...sizes.slice(0, -1).flatMap((_dims, layer) => [
        { op: 'MatMul', inputs: [`a${layer}`, `w${layer}`], outputs: [`m${layer}`] },
        { op: 'Relu', inputs: [`m${layer}`], outputs: [`a${layer + 1}`] },
      ]),
      {
        op: 'ReduceMean',
        inputs: [`a${sizes.length - 1}`],
        outputs: ['pooled'],
        attributes: { axes: [1], keepdims: 0 },
      },
      { op: 'MatMul', inputs: ['pooled', `w${sizes.length - 1}`], outputs: ['output'] },
    ],
  });
  const sha256 = await writeRandom(join(folder, dataName), offset);
  const manifest = testManifest(graph, {
    model: 'phone/v9-large',
    parameters: offset / 4,
    externalData: [{ file: dataName, sha256, bytes: offset }],
    input: {
      kind: 'waveform',
      name: 'input',
      sampleRate: 16_000,
      sampleRateMin: 8_000,
      windowSeconds: 4,
      hopSeconds: 2,
      padding: 'repeat',
      level: { kind: 'rms', targetDbfs: -26 },
    },
    limits: { batchMax: 4, memoryBytes },
  });
  await writeFile(join(folder, 'model.onnx'), graph);
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
  console.log(`${layers} layers, ${offset} bytes, memory asked ${Math.round(memoryBytes / 2 ** 20)} MiB`);
}

/**
 * Random weights that keep the level from layer to layer (variance 2 / width). Each layer starts elsewhere in one random block, so
 * that no two are equal.
 */
async function writeRandom(path: string, bytes: number): Promise<string> {
  const random = new Seeded(1);
  const block = Float32Array.from({ length: width * width }, () => (random.next() - 0.5) * Math.sqrt(24 / width));
  const buffer = Buffer.from(block.buffer);
  const digest = createHash('sha256');
  const file = await open(path, 'w');
  for (let at = 0, turn = 0; at < bytes; turn++) {
    const start = (turn * 4 * 7919) % buffer.length;
    const part = buffer.subarray(start, start + Math.min(bytes - at, buffer.length - start));
    await file.writeFile(part);
    digest.update(part);
    at += part.length;
  }
  await file.close();
  return digest.digest('hex');
}

/** A sample recording several times, each time with another byte, so that no result serves two. */
async function makeCalls(): Promise<string> {
  const calls = join(folder, 'calls');
  await mkdir(calls);
  const source = join(packageRoot, 'samples/recordings', 'reader-a-1.wav');
  for (let at = 0; at < recordings; at++) {
    const path = join(calls, `${at}.wav`);
    await copyFile(source, path);
    const file = await open(path, 'r+');
    await file.write(Buffer.of(at + 1), 0, 1, 1000);
    await file.close();
  }
  return calls;
}
