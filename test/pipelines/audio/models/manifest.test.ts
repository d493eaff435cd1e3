import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  digestOfManifest,
  inputShape,
  manifestLimits,
  parseManifest,
  readManifest,
  type ModelManifest,
} from '../../../../pipelines/audio/models/manifest.ts';
import { readWeights } from '../../../../pipelines/audio/models/model-weights.ts';
import {
  spectrogramPart,
  testManifest,
  waveformGraph,
  waveformPart,
  writeTestModel,
} from '../../../support/onnx-file.ts';

const weights = waveformGraph();
const plain = testManifest(weights);
const spectrogram = testManifest(weights, spectrogramPart);

/** The manifest with one field, named by its path, replaced; undefined removes it. */
function withField(manifest: ModelManifest, path: string, value: unknown): unknown {
  const copy = structuredClone(manifest) as unknown as Record<string, unknown>;
  const keys = path.split('.');
  const parent = keys.slice(0, -1).reduce((at, key) => at[key] as Record<string, unknown>, copy);
  if (value === undefined) delete parent[keys.at(-1)!];
  else parent[keys.at(-1)!] = value;
  return copy;
}

const external = (file: string, bytes = 1) => ({ file, bytes, sha256: 'a'.repeat(64) });
const condition = {
  voiceSecondsFrom: 0,
  calibration: { slope: 1, intercept: 0 },
  attackBelow: 0.3,
  authenticFrom: 0.7,
  falseAlarm: 0.05,
  falseAcceptance: 0.1,
};

describe('the conditions of a manifest', () => {
  const accepts = (synthesis: readonly unknown[]) =>
    parseManifest(withField(plain, 'conditions', { synthesis })).conditions?.synthesis;

  it.each([
    ['one length', [condition]],
    ['two lengths', [condition, { ...condition, voiceSecondsFrom: 6 }]],
    ['no score that is enough', [{ ...condition, authenticFrom: null, falseAcceptance: null }]],
    ['no band', [{ ...condition, authenticFrom: 0.3 }]],
  ])('may have %s', (_name, synthesis) => {
    expect(accepts(synthesis)).toEqual(synthesis);
  });

  it.each([
    ['none', []],
    ['a first one that does not begin at 0', [{ ...condition, voiceSecondsFrom: 1 }]],
    ['two of one length', [condition, condition]],
    ['a score that is enough without its false acceptance', [{ ...condition, falseAcceptance: null }]],
    ['a false acceptance of no score', [{ ...condition, authenticFrom: null }]],
    ['a band upside down', [{ ...condition, authenticFrom: 0.29 }]],
    [
      'more lengths than the limit',
      Array.from({ length: manifestLimits.conditionsMax + 1 }, (_none, at) => ({ ...condition, voiceSecondsFrom: at })),
    ],
  ])('may not have %s', (_name, synthesis) => {
    expect(() => accepts(synthesis)).toThrow(/The manifest's conditions/);
  });

  it('are of the scores of the layout', () => {
    expect(() => parseManifest(withField(plain, 'conditions', { replay: [condition] }))).toThrow(/conditions/);
  });
});

describe('a manifest', () => {
  it('is accepted with a waveform and with a power spectrogram', () => {
    expect(parseManifest(plain)).toEqual(plain);
    expect(parseManifest(testManifest(weights, waveformPart))).toMatchObject({
      output: { activation: 'softmax-pair' },
    });
    expect(parseManifest(spectrogram)).toEqual(spectrogram);
  });

  it.each([
    ['input.windowSeconds', 15, 30.1],
    ['input.hopSeconds', 0.125, 0.124],
    ['input.hopSeconds', 2, 2.01],
    ['input.sampleRate', 48_000, 48_001],
    ['input.sampleRateMin', 8000, 8001],
    ['input.sampleRateMin', 4000, 3999],
    ['input.padding', 'zero', 'mirror'],
    ['input.level', { kind: 'none' }, { kind: 'peak' }],
    ['input.level', { kind: 'rms', targetDbfs: 0 }, { kind: 'rms', targetDbfs: 1 }],
    ['input.level', { kind: 'rms', targetDbfs: -60 }, { kind: 'rms', targetDbfs: -61 }],
    ['input.kind', 'waveform', 'mel-spectrogram'],
    ['output.layout', ['synthesis'], ['identity']],
    ['output.layout', ['synthesis'], ['synthesis', 'synthesis']],
    ['output.layout', ['synthesis'], []],
    ['output.activation', 'probability', 'softmax'],
    ['output.polarity', 'higher-is-spoof', 'lower-is-spoof'],
    ['calibration', { synthesis: { slope: 100, intercept: -100 } }, { synthesis: { slope: 101, intercept: 0 } }],
    ['calibration', { synthesis: { slope: 0.01, intercept: 0 } }, { synthesis: { slope: 0, intercept: 0 } }],
    ['calibration', { synthesis: { slope: 1, intercept: 0 } }, { synthesis: { slope: 1, intercept: NaN } }],
    ['calibration', { synthesis: { slope: 1, intercept: 0 } }, { synthesis: { slope: 1, intercept: Infinity } }],
    [
      'calibration',
      { synthesis: { slope: 1, intercept: 0 } },
      { synthesis: { slope: 1, intercept: 0 }, replay: { slope: 1, intercept: 0 } },
    ],
    ['thresholds', { synthesis: 0.99 }, { synthesis: 1 }],
    ['thresholds', { synthesis: 0.01 }, { replay: 0.5 }],
    ['minimumVoiceSeconds', 0.5, 0.49],
    ['minimumVoiceSeconds', 2, 2.1],
    ['voiceActivity', 'telephone/2', 'silero'],
    ['limits.batchMax', 64, 65],
    ['limits.batchMax', 1, 0],
    ['limits.memoryBytes', manifestLimits.memoryBytesMax, manifestLimits.memoryBytesMax + 1],
    ['externalData', [external('model.onnx.data')], [external('../model.onnx.data')]],
    ['externalData', [external('a'), external('b', manifestLimits.externalBytesMax)], [external('/etc/passwd')]],
    ['externalData', [external('a')], [external('a', manifestLimits.externalBytesMax + 1)]],
    [
      'externalData',
      Array.from({ length: manifestLimits.externalFilesMax }, (_none, at) => external(`${at}`)),
      Array.from({ length: manifestLimits.externalFilesMax + 1 }, (_none, at) => external(`${at}`)),
    ],
    ['bytes', manifestLimits.weightsBytesMax, manifestLimits.weightsBytesMax + 1],
    ['sha256', 'a'.repeat(64), 'A'.repeat(64)],
    ['file', 'v9.onnx', '../v9.onnx'],
    ['file', 'v9.onnx', '/tmp/v9.onnx'],
    ['model', 'digital/v9.1', 'Phone/v9'],
    ['model', 'phone/v9-acme', 'acme/v9'],
    ['kind', 'authenticity', 'voiceprint'],
    ['schema', 'model-manifest/1', 'model-manifest/2'],
  ])('has its limit at %s: %j, but not %j', (path, good, bad) => {
    expect(() => parseManifest(withField(plain, path, good))).not.toThrow();
    expect(() => parseManifest(withField(plain, path, bad))).toThrowError(
      expect.objectContaining({ code: 'model_invalid', message: expect.stringContaining(path) as string }) as Error,
    );
  });

  it('has windows of half a second at least', () => {
    const shortest = {
      ...plain,
      minimumVoiceSeconds: 0.5,
      input: { ...plain.input, windowSeconds: manifestLimits.windowSecondsMin, hopSeconds: 0.25 },
    };
    expect(() => parseManifest(shortest)).not.toThrow();
    expect(() => parseManifest(withField(shortest, 'input.windowSeconds', 0.49))).toThrow(/input\.windowSeconds/);
  });

  it.each([
    ['input.fftSize', 8192, 16_384],
    ['input.fftSize', 512, 500],
    ['input.frameSamples', 256, 257],
    ['input.frameSamples', 80, 79],
    ['input.hopSamples', 200, 201],
    ['input.hopSamples', 1, 0],
  ])('has its limit of a spectrogram at %s: %j, but not %j', (path, good, bad) => {
    expect(() => parseManifest(withField(spectrogram, path, good))).not.toThrow();
    expect(() => parseManifest(withField(spectrogram, path, bad))).toThrowError(
      expect.objectContaining({ code: 'model_invalid', message: expect.stringContaining('input.') as string }) as Error,
    );
  });

  it('has no input of more numbers than the limit', () => {
    const dense = { ...spectrogram, input: { ...spectrogram.input, windowSeconds: 30, hopSamples: 20, fftSize: 1024 } };
    expect(() => parseManifest(dense)).toThrow(/input\.windowSeconds: makes an input of more than 4194304/);
  });

  it.each(['input.level', 'output.polarity', 'calibration', 'thresholds', 'sha256', 'limits', 'voiceActivity'])(
    'is refused without %s',
    (path) => {
      expect(() => parseManifest(withField(plain, path, undefined))).toThrow(path);
    },
  );

  it('is refused with a field that nothing reads', () => {
    expect(() => parseManifest({ ...plain, threshold: 0.5 })).toThrow(/threshold/);
  });

  it('gives the shape of one input', () => {
    expect(inputShape(plain.input)).toEqual([16_000]);
    expect(inputShape(spectrogram.input)).toEqual([398, 129]);
  });

  it('has one digest, whatever the order of its fields', () => {
    const turned = Object.fromEntries(Object.entries(plain).reverse());
    expect(digestOfManifest(turned)).toBe(digestOfManifest(plain));
    expect(digestOfManifest({ ...plain, minimumVoiceSeconds: 1.5 })).not.toBe(digestOfManifest(plain));
  });
});

describe('the files of a model', () => {
  let directory = '';
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'manifest-test-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it('are read if the weights are what the manifest says', async () => {
    const written = await writeTestModel(directory, { graph: weights, manifest: {} });
    const manifest = await readManifest(directory);
    expect(manifest).toEqual(written);
    expect(Buffer.from(await readWeights(join(directory, manifest.file), manifest)).equals(weights)).toBe(true);
  });

  it.each([
    ['a digest that is another', { ...plain, sha256: 'a'.repeat(64) }, /sha256 is a{64}, that of the weights is/],
    ['a size that is another', { ...plain, bytes: 7 }, /bytes are 7, the weights have/],
  ])('are refused for %s', async (_name, manifest, message) => {
    await writeFile(join(directory, 'model.onnx'), weights);
    await expect(readWeights(join(directory, 'model.onnx'), manifest)).rejects.toMatchObject({
      code: 'model_invalid',
      message: expect.stringMatching(message) as string,
    });
  });

  it.each([
    ['is missing', undefined],
    ['is no JSON', '{'],
    ['is too large', ' '.repeat(manifestLimits.manifestBytesMax + 1)],
  ])('are refused if the manifest %s', async (_name, text) => {
    const folder = await mkdtemp(join(directory, 'model-'));
    if (text !== undefined) await writeFile(join(folder, 'manifest.json'), text);
    await expect(readManifest(folder)).rejects.toMatchObject({ code: 'model_invalid' });
  });

  it('are refused if the weights are missing', async () => {
    await expect(readWeights(join(directory, 'no.onnx'), plain)).rejects.toMatchObject({ code: 'model_invalid' });
  });
});
