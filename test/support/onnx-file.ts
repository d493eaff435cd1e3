import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelManifest } from '../../pipelines/audio/models/manifest.ts';

/** A size that is known, or the name of one that is not. */
type Dimension = number | string;

export interface OnnxTensor {
  readonly name: string;
  readonly dims: readonly number[];
  readonly values: ArrayLike<number>;
  /** Default: float32. Those of float16 are its bits. */
  readonly type?: keyof typeof tensorTypes;
  /** The values lie in another file, at this path. */
  readonly location?: string;
  /** Where in that file; default: it is all of it. */
  readonly offset?: number;
}

export interface OnnxNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes?: Readonly<Record<string, number | readonly number[]>>;
}

interface OnnxValue {
  readonly name: string;
  readonly shape: readonly Dimension[];
}

interface OnnxGraph {
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
  readonly nodes: readonly OnnxNode[];
  readonly weights: readonly OnnxTensor[];
}

/** The bytes of an ONNX file (opset 13, IR version 8): a small encoder of the messages of onnx.proto that tests need. */
export function encodeOnnx({ inputs, outputs, nodes, weights }: OnnxGraph): Buffer {
  const graph = [
    ...nodes.map((node) => message(1, encodeNode(node))),
    text(2, 'test'),
    ...weights.map((tensor) => message(5, encodeTensor(tensor))),
    ...inputs.map((value) => message(11, encodeValue(value))),
    ...outputs.map((value) => message(12, encodeValue(value))),
  ];
  return Buffer.concat([
    integer(1, 8),
    text(2, 'caller-trust tests'),
    message(7, graph),
    message(8, [text(1, ''), integer(2, 13)]),
  ]);
}

function encodeNode({ op, inputs, outputs, attributes = {} }: OnnxNode): Buffer[] {
  const encoded = Object.entries(attributes).map(([name, value]) =>
    message(5, [text(1, name), ...encodeAttribute(value)]),
  );
  return [...inputs.map((name) => text(1, name)), ...outputs.map((name) => text(2, name)), text(4, op), ...encoded];
}

/** Whole numbers only: INT is type 2, INTS type 7. */
function encodeAttribute(value: number | readonly number[]): Buffer[] {
  return typeof value === 'number'
    ? [integer(3, value), integer(20, 2)]
    : [...value.map((each) => integer(8, each)), integer(20, 7)];
}

/** Types of tensors by their numbers in onnx.proto. */
const tensorTypes = {
  float32: { number: 1, make: (values: ArrayLike<number>) => Float32Array.from(values) },
  int8: { number: 3, make: (values: ArrayLike<number>) => Int8Array.from(values) },
  int64: { number: 7, make: (values: ArrayLike<number>) => BigInt64Array.from(Array.from(values, BigInt)) },
  float16: { number: 10, make: (values: ArrayLike<number>) => Uint16Array.from(values) },
} as const;

function encodeTensor({ name, dims, values, type = 'float32', location, offset }: OnnxTensor): Buffer[] {
  const { number, make } = tensorTypes[type];
  const data = make(values);
  const stored =
    location === undefined
      ? [message(9, [Buffer.from(data.buffer)])]
      : [
          message(13, [text(1, 'location'), text(2, location)]),
          ...(offset === undefined ? [] : [message(13, [text(1, 'offset'), text(2, String(offset))])]),
          integer(14, 1),
        ];
  return [...dims.map((size) => integer(1, size)), integer(2, number), text(8, name), ...stored];
}

function encodeValue({ name, shape }: OnnxValue): Buffer[] {
  const dims = shape.map((size) => message(1, [typeof size === 'number' ? integer(1, size) : text(2, size)]));
  return [text(1, name), message(2, [message(1, [integer(1, 1), message(2, dims)])])];
}

function integer(field: number, value: number): Buffer {
  return Buffer.concat([varint(BigInt(field) << 3n), varint(BigInt.asUintN(64, BigInt(value)))]);
}

function text(field: number, value: string): Buffer {
  return message(field, [Buffer.from(value)]);
}

function message(field: number, parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([varint((BigInt(field) << 3n) | 2n), varint(BigInt(body.length)), body]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(bytes);
}

/** A graph with external data in `location`: it multiplies the mean of |x| by the number there and gives a logit. */
export function externalGraph(location: string): Buffer {
  return encodeOnnx({
    inputs: [{ name: 'input', shape: ['batch', 'samples'] }],
    outputs: [{ name: 'output', shape: ['batch', 1] }],
    weights: [{ name: 'slope', dims: [1, 1], values: [], location }],
    nodes: [
      { op: 'Abs', inputs: ['input'], outputs: ['size'] },
      { op: 'ReduceMean', inputs: ['size'], outputs: ['mean'], attributes: { axes: [1], keepdims: 1 } },
      { op: 'MatMul', inputs: ['mean', 'slope'], outputs: ['output'] },
    ],
  });
}

/** What a test says of its model; the rest is filled in. */
export interface TestModel {
  readonly graph: Buffer;
  readonly manifest: Partial<Omit<ModelManifest, 'file' | 'sha256' | 'bytes'>>;
}

/** A manifest of a model that listens to 2 s at 8 kHz and gives one synthesis logit, with what `changes` say. */
export function testManifest(graph: Buffer, changes: TestModel['manifest'] = {}): ModelManifest {
  return {
    schema: 'model-manifest/1',
    model: 'phone/v9-test',
    kind: 'authenticity',
    file: 'model.onnx',
    sha256: createHash('sha256').update(graph).digest('hex'),
    bytes: graph.length,
    parameters: 0,
    input: {
      kind: 'waveform',
      name: 'input',
      sampleRate: 8000,
      sampleRateMin: 8000,
      windowSeconds: 2,
      hopSeconds: 1,
      padding: 'repeat',
      level: { kind: 'rms', targetDbfs: -26 },
    },
    output: { name: 'output', layout: ['synthesis'], activation: 'logit', polarity: 'higher-is-authentic' },
    calibration: { synthesis: { slope: 1, intercept: 0 } },
    thresholds: { synthesis: 0.5 },
    voiceActivity: 'energy/1',
    minimumVoiceSeconds: 1,
    limits: { batchMax: 8 },
    ...changes,
  };
}

/** Writes `manifest.json` and `model.onnx` into a directory. */
export async function writeTestModel(directory: string, { graph, manifest }: TestModel): Promise<ModelManifest> {
  const whole = testManifest(graph, manifest);
  await writeFile(join(directory, 'model.onnx'), graph);
  await writeFile(join(directory, 'manifest.json'), `${JSON.stringify(whole, null, 2)}\n`);
  return whole;
}

/** A manifest's part for `waveformGraph`: pairs after softmax; the second is the spoof. */
export const waveformPart = {
  output: { name: 'output', layout: ['synthesis', 'replay'], activation: 'softmax-pair', polarity: 'higher-is-spoof' },
  calibration: { synthesis: { slope: 1, intercept: 0 }, replay: { slope: 2, intercept: -0.5 } },
  thresholds: { synthesis: 0.5, replay: 0.4 },
} as const satisfies TestModel['manifest'];

/**
 * Waveform in; two softmax pairs [authentic, spoof] out, from the mean of |x|: at level -26 dBFS it distinguishes peaked signals from even
 * ones.
 */
export function waveformGraph(): Buffer {
  return encodeOnnx({
    inputs: [{ name: 'input', shape: ['batch', 'samples'] }],
    outputs: [{ name: 'output', shape: ['batch', 4] }],
    weights: [
      { name: 'slopes', dims: [1, 4], values: [40, -40, -20, 20] },
      { name: 'biases', dims: [4], values: [-1.5, 1.5, 0.75, -0.75] },
      { name: 'pairs', dims: [3], values: [-1, 2, 2], type: 'int64' },
      { name: 'columns', dims: [2], values: [-1, 4], type: 'int64' },
    ],
    nodes: [
      { op: 'Abs', inputs: ['input'], outputs: ['size'] },
      { op: 'ReduceMean', inputs: ['size'], outputs: ['mean'], attributes: { axes: [1], keepdims: 1 } },
      { op: 'MatMul', inputs: ['mean', 'slopes'], outputs: ['product'] },
      { op: 'Add', inputs: ['product', 'biases'], outputs: ['logits'] },
      { op: 'Reshape', inputs: ['logits', 'pairs'], outputs: ['paired'] },
      { op: 'Softmax', inputs: ['paired'], outputs: ['shares'], attributes: { axis: 2 } },
      { op: 'Reshape', inputs: ['shares', 'columns'], outputs: ['output'] },
    ],
  });
}

/** A manifest's part for `spectrogramGraph` at 8 kHz. */
export const spectrogramPart = {
  input: {
    kind: 'power-spectrogram',
    name: 'input',
    sampleRate: 8000,
    sampleRateMin: 8000,
    windowSeconds: 4,
    hopSeconds: 2,
    padding: 'repeat',
    level: { kind: 'rms', targetDbfs: -26 },
    frameSamples: 200,
    hopSamples: 80,
    fftSize: 256,
  },
  output: { name: 'output', layout: ['synthesis', 'replay'], activation: 'logit', polarity: 'higher-is-authentic' },
  calibration: { synthesis: { slope: 0.5, intercept: 1 }, replay: { slope: 0.25, intercept: 0 } },
  thresholds: { synthesis: 0.5, replay: 0.5 },
} as const satisfies TestModel['manifest'];

/** Power spectrogram in; logits [synthesis, replay] out: mean log power below against above a quarter of the rate, and the level. */
export function spectrogramGraph(bins = 129): Buffer {
  const tilt = Array.from({ length: bins }, (_none, bin) => (bin < bins / 2 ? 1 : -1) / bins);
  return encodeOnnx({
    inputs: [{ name: 'input', shape: ['batch', 'frames', bins] }],
    outputs: [{ name: 'output', shape: ['batch', 2] }],
    weights: [
      { name: 'least', dims: [1], values: [1e-6] },
      { name: 'slopes', dims: [bins, 2], values: tilt.flatMap((value) => [value, -1 / bins]) },
    ],
    nodes: [
      { op: 'Add', inputs: ['input', 'least'], outputs: ['raised'] },
      { op: 'Log', inputs: ['raised'], outputs: ['levels'] },
      { op: 'ReduceMean', inputs: ['levels'], outputs: ['means'], attributes: { axes: [1], keepdims: 0 } },
      { op: 'MatMul', inputs: ['means', 'slopes'], outputs: ['output'] },
    ],
  });
}
