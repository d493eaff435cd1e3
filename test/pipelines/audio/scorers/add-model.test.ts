import { appendFile, mkdir, mkdtemp, readFile, readdir, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addModel } from '../../../../pipelines/audio/scorers/add-model.ts';
import { loadRegistry } from '../../../../pipelines/audio/models/registry.ts';
import { loadConfig } from '../../../../runtime/config.ts';
import { sha256Of } from '../../../../runtime/digest.ts';
import { float32 } from '../../../support/audio-file.ts';
import { useTestDatabase } from '../../../support/database.ts';
import {
  encodeOnnx,
  externalGraph,
  spectrogramGraph,
  spectrogramPart,
  waveformGraph,
  waveformPart,
  writeTestModel,
  type TestModel,
} from '../../../support/onnx-file.ts';
import { slowGraph, useScoringPool, useTestDirectory } from '../../../support/scoring.ts';
import { speechLike, writeWav } from '../../../support/speech-like.ts';

const { db } = await useTestDatabase();
const directory = await useTestDirectory();
const modelDir = join(directory, 'models');
const config = { ...loadConfig({}), modelDir };
const { pool } = useScoringPool();

async function prepare(
  model: TestModel,
): Promise<{ manifestFile: string; weightsFile: string; by: string; reason: string }> {
  const folder = await mkdtemp(join(directory, 'given-'));
  await writeTestModel(folder, model);
  return {
    manifestFile: join(folder, 'manifest.json'),
    weightsFile: join(folder, 'model.onnx'),
    by: 'ops',
    reason: 'test',
  };
}

describe('an own model', () => {
  it.each(['by', 'reason'] as const)('needs to say %s', async (missing) => {
    const given = await prepare({ graph: waveformGraph(), manifest: { ...waveformPart, model: 'phone/v9-unsaid' } });
    await expect(addModel(db, config, { ...given, [missing]: ' ' })).rejects.toMatchObject({ code: 'reason_required' });
  });

  it.each([
    ['phone/v9-pairs', { graph: waveformGraph(), manifest: { ...waveformPart, model: 'phone/v9-pairs' } }, 4],
    [
      'digital/v9-spectrum',
      { graph: spectrogramGraph(), manifest: { ...spectrogramPart, model: 'digital/v9-spectrum' } },
      2,
    ],
  ])('of any shape is added and scores: %s', async (name, given, windows) => {
    expect(await addModel(db, config, await prepare(given))).toMatchObject({ model: name, isNew: true });
    const registry = await loadRegistry(db, config);
    expect(registry.models().find(({ model }) => model === name)).toMatchObject({
      origin: 'added',
      release: null,
      state: 'available',
      isDefault: false,
      added: { by: 'ops', reason: 'test' },
    });
    const resolution = registry.resolve(name.toUpperCase());
    if (resolution.kind !== 'model') throw new Error(`${name} is ${resolution.kind}`);
    const file = await writeWav(join(directory, 'voice.wav'), [speechLike({ sampleRate: 8000, seconds: 5 })], 8000);
    const scored = await pool.score({
      file,
      model: { phone: resolution.model, digital: null },
      settings: { channels: 'apart' },
    });
    expect(scored).toMatchObject({ state: 'performed', model: name });
    expect(scored.windows).toHaveLength(windows);
    expect(Object.values(scored.scores!).every((score) => score !== null && score > 0 && score < 1)).toBe(true);
  });

  it('lies under its digest in the model directory, and nothing else with it', async () => {
    const given = await prepare({ graph: waveformGraph(), manifest: { ...waveformPart, model: 'phone/v10-pairs' } });
    const { weightsSha256 } = await addModel(db, config, given);
    expect(await readdir(modelDir)).toContain(`${weightsSha256}.onnx`);
    expect((await readdir(modelDir)).filter((name) => !/^[0-9a-f]{64}\.onnx$/.test(name))).toEqual([]);
    expect((await readFile(join(modelDir, `${weightsSha256}.onnx`))).equals(await readFile(given.weightsFile))).toBe(
      true,
    );
  });

  it('is there once, however often it is added', async () => {
    const given = await prepare({ graph: waveformGraph(), manifest: { ...waveformPart, model: 'phone/v11-pairs' } });
    const added = await Promise.all([addModel(db, config, given), addModel(db, config, given)]);
    expect(added.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(await addModel(db, config, given)).toMatchObject({ isNew: false });
  });

  it.each([
    ['a shipped one', 'phone/v8', /shipped/],
    ['one that was removed', 'phone/v5', /shipped/],
    ['another one that was added', 'phone/v12-own', /Another model/],
  ])('does not take the name of %s', async (_name, model, message) => {
    await addModel(
      db,
      config,
      await prepare({ graph: waveformGraph(), manifest: { ...waveformPart, model: 'phone/v12-own' } }),
    );
    const other = await prepare({
      graph: waveformGraph(),
      manifest: { ...waveformPart, model, minimumVoiceSeconds: 1.25 },
    });
    await expect(addModel(db, config, other)).rejects.toMatchObject({
      code: 'model_exists',
      message: expect.stringMatching(message) as string,
    });
  });
});

/** A model whose one weight lies in a file next to its graph, which refers to it by `location`. */
async function prepareExternal(model: string, { location = 'model.onnx.data', limits = { batchMax: 8 } } = {}) {
  const data = float32([40]);
  const given = await prepare({
    graph: externalGraph(location),
    manifest: {
      model,
      limits,
      externalData: [{ file: 'model.onnx.data', bytes: data.length, sha256: sha256Of(data) }],
    },
  });
  const dataFile = join(dirname(given.weightsFile), 'model.onnx.data');
  await writeFile(dataFile, data);
  return { ...given, dataFile };
}

describe('an own model with external data', () => {
  const name = 'phone/v15-external';

  it('lies in a folder with its files and nothing else, and scores from there', async () => {
    const given = await prepareExternal(name);
    await writeFile(join(dirname(given.weightsFile), 'notes.txt'), 'not of the model');
    expect(await addModel(db, config, given)).toMatchObject({ model: name, isNew: true });
    expect(await addModel(db, config, given)).toMatchObject({ isNew: false });
    await rm(dirname(given.weightsFile), { recursive: true });
    const resolution = (await loadRegistry(db, config)).resolve(name);
    if (resolution.kind !== 'model') throw new Error(`${name} is ${resolution.kind}`);
    expect((await readdir(dirname(resolution.model.weightsFile))).toSorted()).toEqual([
      'model.onnx',
      'model.onnx.data',
    ]);
    const file = await writeWav(join(directory, 'external.wav'), [speechLike({ sampleRate: 8000, seconds: 5 })], 8000);
    const request = {
      file,
      model: { phone: resolution.model, digital: null },
      settings: { channels: 'apart' },
    } as const;
    expect(await pool.score(request)).toMatchObject({ state: 'performed', model: name });
    expect((await readdir(modelDir)).filter((each) => each.startsWith('incoming-'))).toEqual([]);
  });

  it.each<[string, (given: { dataFile: string }) => Promise<void>, RegExp]>([
    ['is missing', ({ dataFile }) => rm(dataFile), /model\.onnx\.data cannot be read/],
    ['was changed', ({ dataFile }) => writeFile(dataFile, float32([41])), /model\.onnx\.data has another sha256/],
    ['is longer', ({ dataFile }) => appendFile(dataFile, 'x'), /model\.onnx\.data 4 bytes, and it has more/],
    ['is shorter', ({ dataFile }) => truncate(dataFile, 3), /model\.onnx\.data 4 bytes, and it has 3/],
  ])('is refused if that %s', async (_what, spoil, message) => {
    const given = await prepareExternal('phone/v16-spoilt');
    await spoil(given);
    await expect(addModel(db, config, given)).rejects.toMatchObject({
      code: 'model_invalid',
      problem: expect.stringMatching(message) as string,
    });
    expect((await readdir(modelDir)).filter((each) => each.startsWith('incoming-'))).toEqual([]);
  });

  it.each(['other.data', '../other.data', '/etc/hostname'])(
    'is refused if its graph names a file that the manifest does not: %s',
    async (location) => {
      const given = await prepareExternal('phone/v17-other', { location });
      await writeFile(join(dirname(given.weightsFile), 'other.data'), float32([40]));
      await writeFile(join(dirname(given.weightsFile), '..', 'other.data'), float32([40]));
      await expect(addModel(db, config, given)).rejects.toMatchObject({
        code: 'model_invalid',
        problem: expect.stringContaining('cannot be opened') as string,
      });
    },
  );

  it('removes the copy of a process that was killed a day ago, and no younger one', async () => {
    const hour = 3_600_000;
    for (const [name, ageMs] of [
      ['incoming-old', 24.1 * hour],
      ['incoming-new', 23.9 * hour],
    ] as const) {
      await mkdir(join(modelDir, name), { recursive: true });
      await writeFile(join(modelDir, name, 'model.onnx'), 'part');
      const at = new Date(Date.now() - ageMs);
      await utimes(join(modelDir, name), at, at);
    }
    await addModel(db, config, await prepareExternal('phone/v19-swept'));
    expect((await readdir(modelDir)).filter((name) => name.startsWith('incoming-'))).toEqual(['incoming-new']);
    await rm(join(modelDir, 'incoming-new'), { recursive: true });
  });

  it('may be as large, and ask for as much memory, as the operator allows, and no more', async () => {
    const given = await prepareExternal('phone/v18-large', {
      limits: { batchMax: 8, memoryBytes: 400 * 1024 ** 2 } as { batchMax: number },
    });
    const bytes = externalGraph('model.onnx.data').length + 4;
    const allowed = { ...config, modelMemoryBytesMax: 400 * 1024 ** 2 };
    const small = await prepareExternal('phone/v18-small');
    await expect(addModel(db, { ...config, modelMemoryBytesMax: bytes - 1 }, small)).rejects.toMatchObject({
      problem: `Its files have ${bytes} bytes, and ${bytes - 1} bytes of memory are allowed (MODEL_MEMORY_BYTES_MAX).`,
    });
    expect(await addModel(db, { ...config, modelMemoryBytesMax: bytes }, small)).toMatchObject({ isNew: true });
    await expect(
      addModel(db, { ...allowed, modelMemoryBytesMax: allowed.modelMemoryBytesMax - 1 }, given),
    ).rejects.toMatchObject({ problem: expect.stringContaining('(MODEL_MEMORY_BYTES_MAX)') as string });
    expect(await addModel(db, allowed, given)).toMatchObject({ isNew: true });
  });
});

describe('an own model is refused', () => {
  /** Its batch is fixed. */
  const fixedBatch = encodeOnnx({
    inputs: [{ name: 'input', shape: [1, 16_000] }],
    outputs: [{ name: 'output', shape: [1, 1] }],
    weights: [],
    nodes: [{ op: 'ReduceMean', inputs: ['input'], outputs: ['output'], attributes: { axes: [1], keepdims: 1 } }],
  });
  /** It divides by nothing. */
  const notFinite = encodeOnnx({
    inputs: [{ name: 'input', shape: ['batch', 'samples'] }],
    outputs: [{ name: 'output', shape: ['batch', 1] }],
    weights: [{ name: 'nothing', dims: [1], values: [0] }],
    nodes: [
      { op: 'ReduceMean', inputs: ['input'], outputs: ['mean'], attributes: { axes: [1], keepdims: 1 } },
      { op: 'Mul', inputs: ['mean', 'nothing'], outputs: ['zero'] },
      { op: 'Div', inputs: ['zero', 'nothing'], outputs: ['output'] },
    ],
  });
  const name = { model: 'phone/v13-refused' };

  it.each<[string, TestModel, RegExp]>([
    ['if its weights are no graph', { graph: Buffer.from('no graph'), manifest: name }, /cannot be opened/],
    [
      'if its input has another name',
      {
        graph: spectrogramGraph(),
        manifest: { ...spectrogramPart, ...name, input: { ...spectrogramPart.input, name: 'spectrum' } },
      },
      /no input "spectrum"/,
    ],
    [
      'if its output has another name',
      {
        graph: spectrogramGraph(),
        manifest: { ...spectrogramPart, ...name, output: { ...spectrogramPart.output, name: 'scores' } },
      },
      /no output "scores"/,
    ],
    [
      'if its input has another shape',
      { graph: spectrogramGraph(65), manifest: { ...spectrogramPart, ...name } },
      /does not run on an input of 3 x 398 x 129/,
    ],
    [
      'if its layout has another number of columns',
      {
        graph: spectrogramGraph(),
        manifest: {
          ...spectrogramPart,
          ...name,
          output: { ...spectrogramPart.output, layout: ['synthesis'] },
          calibration: { synthesis: { slope: 1, intercept: 0 } },
          thresholds: { synthesis: 0.5 },
        },
      },
      /answered 6 numbers for 3 windows/,
    ],
    ['if its batch is fixed', { graph: fixedBatch, manifest: name }, /does not run on an input of 3 x 16000/],
    ['if it answers what is no number', { graph: notFinite, manifest: name }, /not finite/],
  ])('%s', async (_name, given, message) => {
    await expect(addModel(db, config, await prepare(given))).rejects.toMatchObject({
      code: 'model_invalid',
      message: expect.stringMatching(message) as string,
    });
  });

  it('if its manifest says another digest than its weights have', async () => {
    const given = await prepare({ graph: waveformGraph(), manifest: { ...waveformPart, ...name } });
    await writeFile(given.weightsFile, spectrogramGraph());
    await expect(addModel(db, config, given)).rejects.toMatchObject({
      code: 'model_invalid',
      message: expect.stringMatching(/bytes|sha256/) as string,
    });
  });

  it('if it does not run within the limits of scoring', async () => {
    const given = await prepare({ graph: slowGraph(), manifest: name });
    await expect(addModel(db, { ...config, audioWorkSecondsMax: 2 }, given)).rejects.toMatchObject({
      code: 'model_invalid',
      message: expect.stringMatching(/within the limits of scoring: It took more than 2 s/) as string,
    });
  });

  it('and leaves neither row nor weights', async () => {
    const { rows } = await db.query('SELECT model FROM added_model WHERE model = $1', [name.model]);
    expect(rows).toEqual([]);
    expect((await loadRegistry(db, config)).resolve(name.model)).toEqual({ kind: 'unknown', model: name.model });
  });
});

describe('a default that an operator set', () => {
  it('is taken for its family, and for auto', async () => {
    await addModel(
      db,
      config,
      await prepare({ graph: waveformGraph(), manifest: { ...waveformPart, model: 'phone/v14-own' } }),
    );
    await db.query(
      "INSERT INTO model_default (family, model, set_by, reason, forced) VALUES ('phone', 'phone/v14-own', 'ops', 'test', true)",
    );
    const registry = await loadRegistry(db, config);
    expect(registry.defaultOf('phone')?.model).toBe('phone/v14-own');
    expect(registry.defaultOf('phone', '2026.03.r1p0')?.model).toBe('phone/v7');
    expect(registry.resolve('phone')).toMatchObject({ kind: 'model', model: { name: 'phone/v14-own' } });
  });
});
