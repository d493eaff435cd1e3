import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { FittedCalibration } from '../../../evaluation/audio/fit-calibration.ts';
import type { ModelManifest } from '../../../pipelines/audio/models/manifest.ts';
import { runCli, runCliJson } from '../../support/cli.ts';
import { useTestDatabase } from '../../support/database.ts';
import { encodeOnnx, writeTestModel } from '../../support/onnx-file.ts';
import { useFolder } from '../../support/recording-batch.ts';
import { speechLike, wavOf } from '../../support/speech-like.ts';

const { url } = await useTestDatabase();
const folder = await useFolder('calibrate-cli');
const env = { DATABASE_URL: url, STATE_DIR: join(folder, 'state') };
const at = (...path: string[]) => join(folder, ...path);
/** Its logit is the mean of |x|, which is higher for even signals than for peaked ones of the same level. */
const evenness = encodeOnnx({
  inputs: [{ name: 'input', shape: ['batch', 'samples'] }],
  outputs: [{ name: 'output', shape: ['batch', 1] }],
  weights: [{ name: 'slope', dims: [1, 1], values: [40] }],
  nodes: [
    { op: 'Abs', inputs: ['input'], outputs: ['size'] },
    { op: 'ReduceMean', inputs: ['size'], outputs: ['mean'], attributes: { axes: [1], keepdims: 1 } },
    { op: 'MatMul', inputs: ['mean', 'slope'], outputs: ['output'] },
  ],
});
const header = 'path,label,channel,speaker,synthesizer,codec';
const rows: string[] = [];

beforeAll(async () => {
  await mkdir(at('exported'));
  await writeTestModel(at('exported'), { graph: evenness, manifest: { model: 'phone/v9-export' } });
  for (let place = 0; place < 200; place++) {
    const isGenuine = place < 100;
    const peaked = speechLike({ sampleRate: 8000, seconds: 2.5, pitch: 90 + place });
    const even = peaked.map((sample) => Math.sign(sample) * Math.sqrt(Math.abs(sample)) * 0.5);
    await writeFile(at(`${place}.wav`), wavOf([isGenuine ? even : peaked], 8000));
    rows.push(
      isGenuine
        ? `${place}.wav,bonafide,phone,speaker ${place % 5},,`
        : `${place}.wav,synthetic,phone,,voice ${place % 2},`,
    );
  }
  await writeFile(at('index.csv'), [header, ...rows, ''].join('\n'));
  await writeFile(at('few.csv'), [header, ...rows.slice(1), ''].join('\n'));
});

describe('models calibrate', () => {
  it('writes a manifest with a calibration of the own recordings, which is added as another model', async () => {
    const output = at('exported', 'calibrated.json');
    const args = ['models', 'calibrate', at('exported'), '--index', at('index.csv'), '--as', 'Phone/v9-own'];
    const { fits, file } = await runCliJson<{ fits: FittedCalibration[]; file: string }>(
      env,
      ...args,
      '--output',
      output,
    );
    expect([file, fits.length]).toEqual([output, 1]);
    const [fit] = fits;
    expect(fit).toMatchObject({ score: 'synthesis', bonafide: 100, attacks: 100 });
    expect(fit!.heldOut.cllr).toBeLessThan(0.3);
    const made = JSON.parse(await readFile(output, 'utf8')) as ModelManifest;
    expect(made).toMatchObject({ model: 'phone/v9-own', calibration: { synthesis: fit!.calibration } });
    expect(made.conditions).toEqual({ synthesis: [fit!.condition] });
    expect(made.training).toMatchObject({ calibration: { of: 'phone/v9-export', index: { recordings: 200 } } });
    const weights = ['--weights', at('exported', 'model.onnx')];
    const added = await runCliJson<object>(env, 'models', 'add', output, ...weights, '--reason', 'calibrated');
    expect(added).toMatchObject({ model: 'phone/v9-own', isNew: true });
  });

  it('refuses too few recordings, and leaves no file', async () => {
    const output = at('few.json');
    const args = ['models', 'calibrate', at('exported'), '--index', at('few.csv'), '--as', 'phone/v9-few'];
    const { code, stderr } = await runCli(env, ...args, '--output', output);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/needs 100 bonafide recordings .*; there are 99, of 5/)]);
    await expect(stat(output)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
