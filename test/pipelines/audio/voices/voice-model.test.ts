import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { digestOfManifest, readManifest } from '../../../../pipelines/audio/models/manifest.ts';
import { openVoiceModel, shippedVoiceModelDirectory } from '../../../../pipelines/audio/voices/voice-model.ts';
import { useFolder } from '../../../support/recording-batch.ts';
import { writeVoiceModel } from '../../../support/voice-model.ts';

const folder = await useFolder('voice-model');

describe('a voiceprint model', () => {
  it('is opened with its calibration and its thresholds', async () => {
    expect(await openVoiceModel(await writeVoiceModel(join(folder, 'good')))).toEqual({
      name: 'voiceprint/0-test',
      manifestSha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      directory: join(folder, 'good'),
      calibration: { slope: 40, intercept: -36 },
      identityThreshold: 0.5,
      mismatchThreshold: 0.5,
      agreementMin: 0.8,
      succeeds: [],
    });
  });

  it.each([
    { field: 'calibration.identity', changes: { calibration: {} } },
    { field: 'calibration.identity.slope', changes: { calibration: { identity: { slope: 0, intercept: 0 } } } },
    { field: 'thresholds.identity', changes: { thresholds: { agreement: 0.5 } } },
    { field: 'thresholds.identity', changes: { thresholds: { identity: 1, agreement: 0.5 } } },
    {
      field: 'calibration.identity.slope',
      changes: {
        calibration: {
          identity: { slope: 1, intercept: 0, bySeconds: { slope: -1, intercept: 0, from: 1.5, to: Math.exp(1) } },
        },
      },
    },
    { field: 'thresholds.mismatch', changes: { thresholds: { identity: 0.5, mismatch: 0.51, agreement: 0.5 } } },
    { field: 'succeeds.0', changes: { succeeds: ['voiceprint/1'] } },
    { field: 'thresholds.agreement', changes: { thresholds: { identity: 0.5, agreement: 1.01 } } },
  ])('without a valid $field is refused, and the error names it', async ({ field, changes }) => {
    const directory = await writeVoiceModel(join(folder, 'bad'), changes);
    await expect(openVoiceModel(directory)).rejects.toMatchObject({
      code: 'model_invalid',
      problem: expect.stringContaining(`${field}:`) as string,
    });
  });

  it('that is shipped has the numbers of voiceprint/1, whose voiceprints stay valid, and other conclusions', async () => {
    const { succeeds, ...manifest } = await readManifest(shippedVoiceModelDirectory, 'voiceprint');
    const before = {
      ...manifest,
      model: 'voiceprint/1',
      calibration: { identity: { slope: 13.6299, intercept: -2.5908 } },
      thresholds: { identity: 0.5, agreement: 0.098 },
      training: { ...manifest.training, recipe: 'training/voiceprint/train.py' },
    };
    expect(succeeds).toEqual([digestOfManifest(before)]);
    const model = await openVoiceModel();
    expect(model).toMatchObject({ name: 'voiceprint/2', mismatchThreshold: 0.1, succeeds });
    expect(model.identityThreshold).toBeGreaterThanOrEqual(0.95);
    expect(model.calibration.bySeconds).toMatchObject({ from: 3, to: 16 });
  });

  it('is not one of authenticity, nor a folder without a manifest', async () => {
    const directory = await writeVoiceModel(join(folder, 'other'));
    const manifest = JSON.parse(await readFile(join(directory, 'manifest.json'), 'utf8')) as object;
    await writeFile(join(directory, 'manifest.json'), JSON.stringify({ ...manifest, kind: 'authenticity' }));
    await expect(openVoiceModel(directory)).rejects.toMatchObject({ code: 'model_invalid' });
    await expect(openVoiceModel(join(folder, 'nothing'))).rejects.toMatchObject({ code: 'model_invalid' });
  });
});
