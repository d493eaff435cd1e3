import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openGraph } from '../../../../pipelines/audio/inference/graph.ts';
import { float32 } from '../../../support/audio-file.ts';
import {
  encodeOnnx,
  spectrogramGraph,
  waveformGraph,
  type OnnxNode,
  type OnnxTensor,
} from '../../../support/onnx-file.ts';
import { useTestDirectory } from '../../../support/scoring.ts';

const directory = await useTestDirectory();
const names = { inputName: 'input', outputName: 'output' };

/** A graph that adds to its input a number that lies in another file. */
const addition = (location: string) =>
  encodeOnnx({
    inputs: [{ name: 'input', shape: ['batch', 1] }],
    outputs: [{ name: 'output', shape: ['batch', 1] }],
    weights: [{ name: 'outside', dims: [1], values: [], location }],
    nodes: [{ op: 'Add', inputs: ['input', 'outside'], outputs: ['output'] }],
  });

describe('a graph', () => {
  it('is run by a runtime that reports its use to nobody', async () => {
    await (await openGraph(waveformGraph(), names)).close();
    const files = readdirSync(tmpdir()).filter((name) => name === `mat-debug-${process.pid}.log` || name === '.ses');
    expect(files, 'files of its telemetry').toEqual([]);
  });

  it('runs on a batch of waveforms', async () => {
    const graph = await openGraph(waveformGraph(), names);
    const even = new Float32Array(20).fill(0.05); // mean of |x| 0.05: logits 0.5, -0.5, -0.25, 0.25
    const output = await graph.run(even, [2, 10]);
    const share = 1 / (1 + Math.exp(-1));
    const expected = [share, 1 - share, 1 / (1 + Math.exp(0.5)), 1 / (1 + Math.exp(-0.5))];
    expect(Array.from(output)).toEqual([...expected, ...expected].map((value) => expect.closeTo(value, 5)));
    await graph.close();
  });

  it('runs on batches of different sizes, one after the other', async () => {
    const graph = await openGraph(spectrogramGraph(5), names);
    const one = await graph.run(Float32Array.from([1, 1, 1, 1, 1]), [1, 1, 5]);
    const three = await graph.run(new Float32Array(30).fill(Math.E), [3, 2, 5]);
    expect(Array.from(one)).toEqual([0, 0].map((value) => expect.closeTo(value, 4)));
    expect(Array.from(three)).toEqual([0.2, -1, 0.2, -1, 0.2, -1].map((value) => expect.closeTo(value, 4)));
    await graph.close();
  });

  it.each([
    ['no ONNX at all', Buffer.from('not a graph'), names, /cannot be opened/],
    ['a file that was cut', waveformGraph().subarray(0, 300), names, /cannot be opened/],
    [
      'an input of another name',
      waveformGraph(),
      { ...names, inputName: 'x' },
      /no input "x" \(input\.name\) but input/,
    ],
    [
      'an output of another name',
      waveformGraph(),
      { ...names, outputName: 'y' },
      /no output "y" \(output\.name\) but output/,
    ],
  ])('is refused: %s', async (_name, bytes, given, message) => {
    await expect(openGraph(bytes, given)).rejects.toMatchObject({
      code: 'model_invalid',
      message: expect.stringMatching(message) as string,
    });
  });

  it('is refused if it wants two inputs', async () => {
    const bytes = encodeOnnx({
      inputs: [
        { name: 'input', shape: [1] },
        { name: 'second', shape: [1] },
      ],
      outputs: [{ name: 'output', shape: [1] }],
      weights: [],
      nodes: [{ op: 'Add', inputs: ['input', 'second'], outputs: ['output'] }],
    });
    await expect(openGraph(bytes, names)).rejects.toThrow(/2 inputs/);
  });

  it.each(['/etc/hostname', '../../../../etc/hostname', 'package.json'])(
    'reads no weights from another file: %s',
    async (location) => {
      await expect(openGraph(addition(location), names)).rejects.toMatchObject({ code: 'model_invalid' });
    },
  );

  it.each([
    ['model.onnx.data', /^3$/],
    ['../outside.data', /escapes|cannot be opened/],
    ['/etc/hostname', /cannot be opened/],
  ])('of a path has its weights in files of its folder, and in no other: %s', async (location, outcome) => {
    const folder = mkdtempSync(join(directory, 'external-'));
    for (const name of ['external.data', 'outside.data']) writeFileSync(join(directory, name), Buffer.alloc(4));
    writeFileSync(join(folder, 'model.onnx.data'), float32([2]));
    writeFileSync(join(folder, 'model.onnx'), addition(location));
    const answer = await openGraph(join(folder, 'model.onnx'), names, { threads: 2 })
      .then(async (graph) => {
        const [sum] = await graph.run(Float32Array.of(1), [1, 1]);
        await graph.close();
        return String(sum);
      })
      .catch((error: Error) => error.message);
    expect(answer).toMatch(outcome);
  });

  it.each<[string, OnnxTensor[], OnnxNode]>([
    [
      'float16',
      [{ name: 'small', dims: [1], values: [0x4100], type: 'float16' }],
      { op: 'Cast', inputs: ['small'], outputs: ['weight'], attributes: { to: 1 } },
    ],
    [
      'int8',
      [
        { name: 'small', dims: [1], values: [5], type: 'int8' },
        { name: 'scale', dims: [], values: [0.5] },
      ],
      { op: 'DequantizeLinear', inputs: ['small', 'scale'], outputs: ['weight'] },
    ],
  ])('has weights of %s as it is', async (_type, weights, node) => {
    const bytes = encodeOnnx({
      inputs: [{ name: 'input', shape: ['batch', 1] }],
      outputs: [{ name: 'output', shape: ['batch', 1] }],
      weights,
      nodes: [node, { op: 'Mul', inputs: ['input', 'weight'], outputs: ['output'] }],
    });
    const graph = await openGraph(bytes, names);
    expect(Array.from(await graph.run(Float32Array.of(2), [1, 1]))).toEqual([5]);
    await graph.close();
  });

  it('says what it does not run on', async () => {
    const graph = await openGraph(spectrogramGraph(5), names);
    await expect(graph.run(new Float32Array(4), [1, 1, 4])).rejects.toMatchObject({
      code: 'model_invalid',
      message: expect.stringContaining('1 x 1 x 4') as string,
    });
    await graph.close();
  });
});
