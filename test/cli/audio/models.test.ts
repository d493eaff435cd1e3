import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { PrintedModel, PrintedModelDetails } from '../../../cli/audio/model-tables.ts';
import { submitBatch } from '../../../pipelines/audio/batches/batch-intake.ts';
import type { DefaultMove } from '../../../pipelines/audio/drift/move-default.ts';
import type { ShippedDrift } from '../../../pipelines/audio/drift/shipped-drift.ts';
import type { DriftReport } from '../../../pipelines/audio/drift/drift-report.ts';
import { refusedWith, runCli, runCliJson } from '../../support/cli.ts';
import { useTestDatabase } from '../../support/database.ts';
import { waveformGraph, waveformPart, writeTestModel } from '../../support/onnx-file.ts';
import { configIn, submissionOf, useFolder, writeVoice } from '../../support/recording-batch.ts';

const { db, url } = await useTestDatabase();
const folder = await useFolder('models-cli');
const config = configIn(folder);
const env = { DATABASE_URL: url, STATE_DIR: config.stateDir };
const cli = (...args: string[]) => runCli(env, ...args);
const json = <Result>(...args: string[]) => runCliJson<Result>(env, ...args);

type PrintedReport = DriftReport & { reportId: number; computed: number; itemsWithoutAudio: number; files: string[] };

let batch: string;

beforeAll(async () => {
  const files = await Promise.all(
    [100, 140, 180, 220].map((pitch) => writeVoice(join(folder, `${pitch}.wav`), { pitch })),
  );
  batch = (
    await submitBatch(
      { db, config },
      submissionOf(files.map((path) => ({ path, source: path.slice(folder.length + 1) }))),
    )
  ).batch.id;
});

describe('models list', () => {
  it('has a row for each model of the specification, with the removed one', async () => {
    const { models, release } = await json<{ release: string; models: PrintedModel[] }>('models', 'list');
    expect(release).toBe('2026.11.r3p0');
    expect(models.map(({ model }) => model).sort()).toEqual([
      'digital/v1.1',
      'digital/v3',
      'digital/v3.1',
      'digital/v3.2',
      'digital/v3.3',
      'phone/v1.1',
      'phone/v3',
      'phone/v5',
      'phone/v6',
      'phone/v7',
      'phone/v8',
      'phone/v8.1',
      'phone/v8.2',
    ]);
    expect(models.find(({ model }) => model === 'phone/v5')).toMatchObject({
      state: 'removed',
      removedIn: '2026.02.r1p0',
      replacedBy: 'phone/v6',
    });
    expect(
      models
        .filter(({ isDefault }) => isDefault)
        .map(({ model }) => model)
        .sort(),
    ).toEqual(['digital/v3.3', 'phone/v8.2']);
    const { stdout } = await cli('models', 'list');
    expect(stdout).toMatch(/^phone\/v5 +2025\.11\.r1p0 +removed .*phone\/v6/m);
    expect(stdout).toMatch(/^phone\/v8\.2 .* of phone/m);
  });

  it('answers as of a release, and refuses one that there was none', async () => {
    const { models } = await json<{ models: PrintedModel[] }>('models', 'list', '--release', '2025.11.r1p0');
    expect(models.find(({ isDefault, family }) => isDefault && family === 'phone')?.model).toBe('phone/v5');
    expect((await cli('models', 'list', '--release', '2025.11.r1p0')).stdout).toMatch(
      /\n\nAs of 2025\.11\.r1p0, by the registry alone; today is 2026\.11\.r3p0/,
    );
    expect(await cli('models', 'list', '--release', '2024.01.r1')).toMatchObject(refusedWith('release_unknown', 2));
  });
});

describe('models show', () => {
  it('gives the manifest, the place of the weights and the history', async () => {
    const model = await json<PrintedModelDetails>('models', 'show', 'PHONE/v1.1');
    expect(model).toMatchObject({
      model: 'phone/v1.1',
      state: 'available',
      isDefault: false,
      origin: 'shipped',
      manifest: { kind: 'authenticity', sha256: expect.any(String) as string },
      defaults: [],
      reports: [],
    });
    expect((await stat(model.weights!)).size).toBe(model.manifest!.bytes);
  });

  it('also shows a model that was removed, and knows no other', async () => {
    expect(await json('models', 'show', 'phone/v5')).toMatchObject({
      state: 'removed',
      replacedBy: 'phone/v6',
      manifest: null,
      weights: null,
    });
    expect(await cli('models', 'show', 'phone/v99')).toMatchObject(refusedWith('model_unknown', 2));
  });
});

describe('models add', () => {
  it('adds a model once, and says who added it why', async () => {
    const given = join(folder, 'own');
    await mkdir(given);
    await writeTestModel(given, { graph: waveformGraph(), manifest: { ...waveformPart, model: 'phone/v90-own' } });
    const add = [
      'models',
      'add',
      join(given, 'manifest.json'),
      '--weights',
      join(given, 'model.onnx'),
      '--reason',
      'Trained on our calls',
    ];
    expect(await cli(...add, '--by', 'Kim')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^phone\/v90-own is added\./) as string,
    });
    expect(await cli(...add)).toMatchObject({ code: 0, stdout: expect.stringMatching(/there already/) as string });
    expect((await cli('models', 'show', 'phone/v90-own')).stdout).toMatch(
      /^added +.* by Kim: Trained on our calls$[\s\S]*Manifest:\n\{\n {2}"schema": "model-manifest\/1"/m,
    );
  });

  it('needs a reason, and weights that are what the manifest says', async () => {
    const given = join(folder, 'own');
    expect(
      await cli('models', 'add', join(given, 'manifest.json'), '--weights', join(given, 'model.onnx')),
    ).toMatchObject({ code: 2 });
    const other = join(folder, 'other');
    await mkdir(other);
    await writeTestModel(other, { graph: waveformGraph(), manifest: { ...waveformPart, model: 'phone/v91-own' } });
    expect(
      await cli(
        'models',
        'add',
        join(other, 'manifest.json'),
        '--weights',
        join(other, 'manifest.json'),
        '--reason',
        'x',
      ),
    ).toMatchObject(refusedWith('model_invalid'));
  });
});

describe('models drift', () => {
  it('compares two shipped models on the audio of a batch, and writes report and picture', async () => {
    const [picture, output] = [join(folder, 'drift.svg'), join(folder, 'drift.json')];
    const report = await json<PrintedReport>(
      'models',
      'drift',
      'phone/v1.1',
      'phone/v3',
      '--batch',
      batch,
      '--picture',
      picture,
      '--output',
      output,
    );
    expect(report).toMatchObject({
      schema: 'drift-report/1',
      batch,
      counts: { items: 4, recordings: 4, compared: 4, notCompared: 0 },
      computed: 8,
      itemsWithoutAudio: 0,
      files: [picture, output],
    });
    expect(report.points).toHaveLength(4);
    expect(await readFile(picture, 'utf8')).toMatch(/^<svg [\s\S]*phone\/v1\.1 → phone\/v3[\s\S]*<\/svg>\n$/);
    expect(JSON.parse(await readFile(output, 'utf8'))).toMatchObject({
      schema: 'drift-report/1',
      counts: report.counts,
    });
  });

  it('prints what a person needs to decide, and computes nothing twice', async () => {
    const { code, stdout } = await cli('models', 'drift', 'phone/v1.1', 'phone/v3', '--batch', batch);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^scores computed +0$/m);
    expect(stdout).toMatch(/^decision +old +new +change +95 % interval +p$/m);
    expect(stdout).toMatch(/^score +compared +mean shift/m);
    expect(stdout).toMatch(/caller-trust models default phone phone\/v3 --report \d+ --reason '\.\.\.'$/m);
  });

  it('does not write over a file that is there', async () => {
    expect(
      await cli('models', 'drift', 'phone/v1.1', 'phone/v3', '--batch', batch, '--picture', join(folder, 'drift.svg')),
    ).toMatchObject(refusedWith('usage_invalid', 2));
    expect(
      await cli(
        'models',
        'drift',
        'phone/v1.1',
        'phone/v3',
        '--batch',
        'no-such',
        '--picture',
        join(folder, 'none', 'a.svg'),
      ),
    ).toMatchObject(refusedWith('usage_invalid', 2));
    expect(
      await cli(
        'models',
        'drift',
        'phone/v1.1',
        'phone/v3',
        '--batch',
        'no-such',
        '--picture',
        join(folder, 'new.svg'),
      ),
    ).toMatchObject({ code: 1 });
    await expect(readFile(join(folder, 'new.svg'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('refuses a model that was removed, and says what takes its place', async () => {
    expect(await cli('models', 'drift', 'phone/v5', 'phone/v3', '--batch', batch)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/phone\/v6 takes its place\. \[model_removed\]/) as string,
    });
  });
});

describe('models default', () => {
  it('says which model is the default, and why it moved', async () => {
    expect(await cli('models', 'default', 'phone')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^phone\/v8\.2 is the default of phone, by release 2026\.11\.r3p0\..* phone\/v8\.1 stays available by its name\.$/m,
      ) as string,
    });
  });

  it('names the drift report of a move of the registry, which is of the models that are here', async () => {
    for (const family of ['phone', 'digital']) {
      const { drift, model } = await json<{ drift: ShippedDrift; model: string }>('models', 'default', family);
      const report = JSON.parse(await readFile(drift.file, 'utf8')) as DriftReport;
      const digestOf = async (name: string) => (await json<PrintedModelDetails>('models', 'show', name)).manifestSha256;
      expect([report.old.model, report.new.model]).toEqual([drift.old, model]);
      expect([report.old.manifestSha256, report.new.manifestSha256]).toEqual([
        await digestOf(drift.old),
        await digestOf(model),
      ]);
      expect((await cli('models', 'default', family)).stdout).toContain(
        `${report.counts.flips} of them got another decision`,
      );
    }
  });

  it('says that digital/v3.3 calls less genuine speech synthesized, and ranks no better', async () => {
    const { stdout } = await cli('models', 'default', 'digital');
    expect(stdout).toMatch(/^digital\/v3\.3 is the default of digital, by release 2026\.11\.r3p0\./);
    expect(stdout).toContain('at most 4 % of people that the threshold was not chosen on. It ranks no better');
  });

  it('does not move without a reason', async () => {
    expect(await cli('models', 'default', 'phone', 'phone/v3')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('[reason_required]') as string,
    });
  });

  it('refuses to move without a report, and says the exact command that makes one', async () => {
    const { code, stderr } = await cli('models', 'default', 'phone', 'phone/v3', '--reason', 'x');
    expect(code).toBe(1);
    expect(stderr).toContain('[drift_report_missing]');
    expect(stderr).toContain('`caller-trust models drift phone/v8.2 phone/v3 --batch ID`');
  });

  it('moves by force, then with a report, and the history has both', async () => {
    expect(
      await json<DefaultMove>(
        'models',
        'default',
        'phone',
        'phone/v1.1',
        '--force',
        '--reason',
        'outage of v8',
        '--by',
        'Kim',
      ),
    ).toMatchObject({ before: 'phone/v8.2', model: 'phone/v1.1', forced: true, reportId: null });
    const moved = await cli('models', 'default', 'phone', 'phone/v3', '--reason', 'drift was read');
    expect(moved).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^phone\/v3 is the default of phone since .* on drift report \d+; before it was phone\/v1\.1\./,
      ) as string,
    });
    const { defaults, reports } = await json<PrintedModelDetails>('models', 'show', 'phone/v1.1');
    expect(defaults.map(({ model, forced, setBy }) => [model, forced, setBy])).toEqual([
      ['phone/v3', false, expect.stringMatching(/^cli /)],
      ['phone/v1.1', true, 'Kim'],
    ]);
    expect(reports.length).toBeGreaterThan(1);
    expect(
      (await json<{ models: PrintedModel[] }>('models', 'list')).models.find(
        ({ isDefault, family }) => isDefault && family === 'phone',
      )?.model,
    ).toBe('phone/v3');
  });

  it('knows two families', async () => {
    expect(await cli('models', 'default', 'radio', 'phone/v3', '--reason', 'x')).toMatchObject({ code: 2 });
  });
});
