import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { AudioRefusal } from '../../../../pipelines/audio/reasons.ts';
import { until } from '../../../support/service-process.ts';
import { findBarriers, noChromium, useBrowser } from '../../support/browser.ts';
import { logIn, useConsole } from '../../support/console-process.ts';
import { seedBatch } from '../../support/verifications.ts';

const running = await useConsole();
const browser = await useBrowser(running);
const hostile = 'call \u202Egpj.<script>alert(1)</script>.wav';
const seeded = await seedBatch(running, [
  { label: 'authentic' },
  { label: 'replayed', source: hostile },
  { withoutScore: 'no_voice' },
  { refusal: new AudioRefusal('time_exceeded') },
]);
const demo = await seedBatch(running, [{ label: 'synthesized' }], { mode: 'webDemo', owner: 'console' });
const waiting = await seedBatch(running, ['queued', 'queued'], { name: 'Tuesday' });
const [authentic, replayed] = seeded.ids as [string, string];

const rowsOf = (page: Page) => page.getByRole('region', { name: 'Verifications' }).getByRole('row');

// A machine without Chromium skips this; .ci/run installs it.
describe.skipIf(noChromium)('the page of verifications', () => {
  it('is narrowed by its filters, which stay in the address, and leads to each one', async () => {
    const page = await browser.open('/verifications', { role: 'viewer' });
    await until(async () => (await rowsOf(page).count()) === 8, 'seven verifications are shown');
    await page.getByLabel('Decision').selectOption('replayed');
    await until(async () => (await rowsOf(page).count()) === 2, 'the replayed one is shown alone');
    expect(page.url()).toContain('label=replayed');
    await page.getByRole('row').getByText('below 0.40: replayed').waitFor();
    await page.getByLabel('Mode', { exact: true }).selectOption('webDemo');
    await page.getByText('No verification matches.').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.getByLabel('State').selectOption('error');
    await page.getByRole('row').getByText('Scoring took longer than the limit.').waitFor();
    await page.reload();
    await until(async () => (await rowsOf(page).count()) === 2, 'the filter is kept');
    expect(await page.getByRole('link', { name: 'Verify a recording' }).count()).toBe(0);
  });

  it('shows names from outside as text', async () => {
    const page = await browser.open('/verifications?label=replayed');
    await page.getByRole('link', { name: 'call gpj.<script>alert(1)</script>.wav' }).click();
    await page.getByRole('heading', { name: 'Verification', level: 1 }).waitFor();
    expect(await page.locator('body').innerText()).not.toContain('\u202E');
  });
});

describe.skipIf(noChromium)('the page of a verification', () => {
  it('says in words what came out, how it compares with the thresholds, and how often the model errs', async () => {
    const page = await browser.open(`/verifications/${replayed}`, { role: 'viewer' });
    await page.getByText('The recording looks played back by a loudspeaker.').waitFor();
    await page.getByText('That is below the threshold of 0.40, so the recording counts as replayed.').waitFor();
    await page
      .getByText(/of the authentic ones were taken for attacks at this threshold/)
      .first()
      .waitFor();
    await page.getByText('It is no proof that a machine or a person spoke, and it does not say who spoke.').waitFor();
    await page.getByText('The recording was not compared with a voiceprint').waitFor();
  });

  it('draws the recording with its voice and the scores of its windows, and has them as a table', async () => {
    const page = await browser.open(`/verifications/${authentic}`, { role: 'viewer' });
    await page.getByRole('img', { name: /^Waveform: Voice in \d+ stretch/ }).waitFor();
    await page.getByRole('img', { name: /^Scores of 2 windows/ }).waitFor();
    expect(
      await page.getByRole('region', { name: 'Windows with their labels and scores' }).getByRole('row').count(),
    ).toBe(3);
    await page.getByText('Show it').click();
    expect(await page.locator('pre').innerText()).toContain(`"id": "${authentic}"`);
  });

  it('plays the recording', async () => {
    const page = await browser.open(`/verifications/${authentic}`, { role: 'viewer' });
    await page.getByLabel('The recording', { exact: true }).waitFor();
    await page.evaluate(
      `(async () => { const audio = document.querySelector('audio'); audio.muted = true; await audio.play(); })()`,
    );
    await until(() => page.evaluate("document.querySelector('audio').currentTime > 0.3"), 'it plays');
    await until(() => page.evaluate("document.querySelector('.play-line').hidden === false"), 'the place is marked');
  });

  it('lets an operator delete the recording with a reason; a reviewer is not offered it', async () => {
    const other = await browser.open(`/verifications/${demo.ids[0]}`, { role: 'reviewer' });
    await other.getByText('Listening is recorded').waitFor();
    expect(await other.getByRole('button', { name: 'Delete the recording' }).count()).toBe(0);
    const page = await browser.open(`/verifications/${demo.ids[0]}`);
    await page.getByRole('button', { name: 'Delete the recording' }).click();
    expect(await page.getByRole('button', { name: 'Delete', exact: true }).isDisabled()).toBe(true);
    await page.getByLabel('Reason').fill('Request of the caller');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText(/The audio was deleted on .*Request of the caller/).waitFor();
    await page.getByRole('img', { name: /^Scores of 2 windows/ }).waitFor(); // results stay
  });

  it('follows one that waits, and says that no worker runs', async () => {
    const page = await browser.open(`/verifications/${waiting.ids[0]}`, { role: 'viewer' });
    await page.getByText('No worker runs.').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
  });
});

describe.skipIf(noChromium)('each page', () => {
  it.each([
    { width: 1280, dark: false },
    { width: 360, dark: true },
  ])(
    'has no barrier that axe finds, and scrolls in one direction alone, at $width px (dark: $dark)',
    async ({ width, dark }) => {
      for (const path of [
        '/verifications',
        `/verifications/${replayed}`,
        `/verifications/${seeded.ids[2]}`,
        '/batches',
        `/batches/${seeded.batch.id}`,
      ]) {
        const page = await browser.open(path, { width, dark });
        await page.getByRole('heading', { level: 1 }).waitFor();
        await until(() => page.evaluate("document.querySelector('[aria-busy=true]') === null"), 'everything is read');
        expect(await findBarriers(page), path).toEqual([]);
        expect(
          await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
          path,
        ).toBeLessThanOrEqual(0);
      }
    },
  );
});

describe.skipIf(noChromium)('the page of a batch', () => {
  it('offers to try failed recordings again, and says how many are queued', async () => {
    const page = await browser.open(`/batches/${seeded.batch.id}`, { role: 'reviewer' });
    await page.getByText('Every recording has an outcome.').waitFor();
    await page.getByRole('button', { name: 'Try failed recordings again' }).click();
    await page.getByText('1 recording is queued again.').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Cancel the batch' }).count()).toBe(0);
  });

  it('reads its recordings again and again while it runs', async () => {
    const page = await browser.open(`/batches/${waiting.batch.id}`, { role: 'viewer' });
    for (const source of ['read-again-1.wav', 'read-again-2.wav']) {
      await page
        .getByRole('cell', { name: /\.wav$/ })
        .first()
        .waitFor();
      await running.database.db.query('UPDATE verification SET source = $2 WHERE batch_id = $1 AND line = 1', [
        waiting.batch.batchId,
        source,
      ]);
      await page.getByRole('cell', { name: source }).waitFor();
    }
  }, 30_000);

  it('lets an operator cancel it, after a question', async () => {
    const page = await browser.open(`/batches/${waiting.batch.id}`);
    await page.getByRole('button', { name: 'Cancel the batch' }).click();
    await page.getByRole('button', { name: 'Keep it running' }).click();
    await page.getByRole('button', { name: 'Cancel the batch' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the batch' }).click();
    await page.getByText('cancelled', { exact: true }).first().waitFor();
    await page
      .getByRole('cell', { name: /The batch was cancelled/ })
      .first()
      .waitFor();
  });

  it('shows progress while a worker scores a real recording, without reading the page again', async () => {
    const form = new FormData();
    form.set('key', randomUUID());
    form.set(
      'file',
      new Blob([await readFile(join(import.meta.dirname, '../../../../samples/recordings/reader-a-1.wav'))]),
      'reader.wav',
    );
    const { batch } = await (
      await logIn(running, 'reviewer')
    ).json<{ batch: string }>('/api/detection', { method: 'POST', body: form });
    const page = await browser.open(`/batches/${batch}`, { role: 'viewer' });
    await page.getByText('No worker runs.').waitFor();
    running.start('jobs/worker-main.js');
    await page.getByText('Every recording has an outcome.').waitFor();
    await page.getByRole('cell', { name: 'undecided' }).waitFor();
  });
});
