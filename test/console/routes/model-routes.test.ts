import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readBatch } from '../../../pipelines/audio/batches/batch.ts';
import { submitBatch } from '../../../pipelines/audio/batches/batch-intake.ts';
import { storeDriftReport } from '../../../pipelines/audio/drift/drift-record.ts';
import { makeDriftReport, type AnsweredRecording } from '../../../pipelines/audio/drift/drift-report.ts';
import { moveDefault } from '../../../pipelines/audio/drift/move-default.ts';
import { loadRegistry } from '../../../pipelines/audio/models/registry.ts';
import { configIn, submissionOf, useFolder, writeVoice } from '../../support/recording-batch.ts';
import { findBarriers, noChromium, useBrowser } from '../support/browser.ts';
import { logIn, useConsole } from '../support/console-process.ts';

const running = await useConsole();
const browser = await useBrowser(running);
const folder = await useFolder('models-pages');
const { db } = running.database;

/** A name that would break a page, or a picture, that does not take it as text. */
const oddName = '<script>alert(1)</script>\u202E.wav';

let report: number;

beforeAll(async () => {
  const config = configIn(folder);
  const path = await writeVoice(join(folder, 'a.wav'));
  const batch = await readBatch(
    db,
    (await submitBatch({ db, config }, submissionOf([{ path, source: 'a.wav' }]))).batch.id,
  );
  const registry = await loadRegistry(db, config);
  const compared = (model: string) => {
    const entry = registry.models().find((each) => each.model === model)!;
    return {
      model,
      manifestSha256: entry.manifestSha256!,
      thresholds: {
        synthesis: entry.manifest!.thresholds.synthesis ?? null,
        replay: entry.manifest!.thresholds.replay ?? null,
      },
    };
  };
  const made = makeDriftReport(
    { old: compared('phone/v8.2'), new: compared('phone/v7'), batch: batch.id, settings: { channels: 'apart' } },
    answers(),
  );
  report = (await storeDriftReport(db, made, { batchId: batch.batchId, madeBy: 'ada' })).reportId;
  await moveDefault(db, config, {
    family: 'phone',
    model: 'phone/v7',
    by: 'ada',
    reason: 'Fewer complaints <b>',
    force: false,
  });
});

/** Forty recordings; one in eight changes its decision, and three that one model could not score. */
function answers(): AnsweredRecording[] {
  return Array.from({ length: 43 }, (_, at): AnsweredRecording => {
    const scores = { synthesis: 0.1 + (at % 9) / 11, replay: 0.95 - (at % 7) / 20 };
    const label = (synthesis: number) => (synthesis >= 0.5376 ? 'authentic' : 'synthesized');
    const moved = at % 8 === 0 ? 1 - scores.synthesis : scores.synthesis;
    const old: AnsweredRecording['old'] = { kind: 'scored', label: label(scores.synthesis), scores };
    const now: AnsweredRecording['new'] =
      at < 40
        ? { kind: 'scored', label: label(moved), scores: { ...scores, synthesis: moved } }
        : { kind: 'withoutScore', reason: 'insufficient_voice' };
    return {
      audioSha256: at.toString(16).padStart(64, '0'),
      line: at + 1,
      source: at === 0 ? oddName : `call-${at}.wav`,
      items: 1,
      old,
      new: now,
    };
  });
}

describe('the routes of models', () => {
  it('give the registry, also as of a release', async () => {
    const viewer = await logIn(running, 'viewer');
    expect(await viewer.json('/api/models')).toMatchObject({
      newestRelease: '2026.11.r3p0',
      changes: [
        {
          family: 'phone',
          model: 'phone/v7',
          before: null,
          setBy: 'ada',
          reason: 'Fewer complaints <b>',
          reportId: report,
          forced: false,
        },
      ],
    });
    const { models } = await viewer.json<{ models: { model: string; isDefault: boolean }[] }>(
      '/api/models?release=2025.11.r1p0',
    );
    expect(models.find(({ model }) => model === 'phone/v5')).toMatchObject({ isDefault: true });
    expect(await viewer.json('/api/models?release=2024.01.r1')).toMatchObject({ code: 'release_unknown', status: 404 });
  });

  it('refuse names and ids that there are none, in words', async () => {
    const viewer = await logIn(running, 'viewer');
    expect(await viewer.json('/api/models/phone/v99')).toMatchObject({ code: 'model_unknown', status: 404 });
    expect(await viewer.json('/api/models/phone/..%2F..%2Fpackage')).toMatchObject({
      code: 'model_unknown',
      status: 404,
    });
    expect(await viewer.json('/api/models/other/v1')).toMatchObject({ code: 'parameter_invalid', status: 400 });
    expect(await viewer.json('/api/models/phone/v5/det.svg')).toMatchObject({ code: 'route_unknown', status: 404 });
    expect(await viewer.json('/api/drift-reports/999999')).toMatchObject({ code: 'drift_report_unknown', status: 404 });
    expect(await viewer.json('/api/drift-reports/999999999999999999')).toMatchObject({
      code: 'parameter_invalid',
      status: 400,
    });
    expect(await viewer.json('/api/drift-reports/x/picture.svg')).toMatchObject({
      code: 'parameter_invalid',
      status: 400,
    });
  });

  it('send pictures that may run and load nothing', async () => {
    const viewer = await logIn(running, 'viewer');
    for (const path of [`/api/drift-reports/${report}/picture.svg`, '/api/models/phone/v8/det.svg']) {
      const response = await viewer.fetch(path);
      expect(response.headers.get('content-type')).toBe('image/svg+xml');
      expect(response.headers.get('content-security-policy')).toBe(
        "default-src 'none'; sandbox; frame-ancestors 'none'",
      );
      expect(await response.text()).not.toMatch(/<script|href=|url\(|@import/);
    }
  });
});

// A machine without Chromium skips this; .ci/run installs it.
describe.skipIf(noChromium)('the pages of models', () => {
  it('lead from the registry to a card with what it must not be used for, and its error rates as tables', async () => {
    const page = await browser.open('/models', { role: 'viewer' });
    await page.getByRole('row', { name: /phone\/v5.*removed.*phone\/v6/ }).waitFor();
    await page.getByRole('link', { name: 'phone/v8', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Model phone/v8' }).waitFor();
    await page
      .getByRole('region', { name: 'What it must not be used for' })
      .getByText('As proof in a dispute.')
      .waitFor();
    for (const part of await page.locator('.card-text > details > summary').all()) await part.click(); // folded at first
    await page
      .getByRole('region', { name: /^Error rates on the development set/ })
      .getByRole('columnheader', { name: 'EER %', exact: true })
      .first()
      .waitFor();
    expect(
      await page.evaluate(
        "new Promise((resolve) => { document.querySelector('figure img').scrollIntoView({ behavior: 'instant' }); const image = document.querySelector('figure img'); const look = () => image.complete ? resolve(image.naturalWidth > 0) : setTimeout(look, 50); look(); })",
      ),
    ).toBe(true);
  });

  it('show a drift report with its picture, its figures as tables, and names as text', async () => {
    const page = await browser.open('/models', { role: 'viewer' });
    await page
      .getByRole('link', { name: `report ${report}` })
      .first()
      .click();
    await page.getByRole('img', { name: /40 recordings compared, \d with another decision/ }).waitFor();
    await page.getByRole('region', { name: 'Changed decisions' }).getByText('<script>alert(1)</script>.wav').waitFor();
    await page
      .getByRole('region', { name: 'Why recordings were not compared' })
      .getByText('insufficient voice')
      .waitFor();
    expect(
      await page.evaluate(
        "new Promise((resolve) => { const image = document.querySelector('figure img'); const look = () => image.complete ? resolve(image.naturalWidth) : setTimeout(look, 50); look(); })",
      ),
    ).toBe(972);
  });

  it('say who moved a default, when and why, and on what it rests', async () => {
    const page = await browser.open('/models', { role: 'viewer' });
    await page
      .getByRole('region', { name: 'Changes of defaults, newest first' })
      .getByRole('row', { name: new RegExp(`phone/v7 ada Fewer complaints <b> report ${report}`) })
      .waitFor();
  });

  it.each([
    { width: 1280, dark: false },
    { width: 360, dark: true },
  ])(
    'have no barrier that axe finds, and scroll in one direction alone, at $width px (dark: $dark)',
    async ({ width, dark }) => {
      for (const path of [
        '/models',
        '/models/phone/v8',
        '/models/phone/v5',
        '/models/voiceprint',
        `/drift/${report}`,
      ]) {
        const page = await browser.open(path, { width, dark });
        await page.locator('.facts, table').first().waitFor();
        expect(await findBarriers(page)).toEqual([]);
        expect(
          await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
        ).toBeLessThanOrEqual(0);
      }
    },
  );
});
