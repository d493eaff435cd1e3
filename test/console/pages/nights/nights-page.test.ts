import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { enqueueJob } from '../../../../jobs/queues/enqueue.ts';
import { openQueues } from '../../../../jobs/queues/backend.ts';
import { loadConfig } from '../../../../runtime/config.ts';
import { silentLog } from '../../../support/night.ts';
import { findBarriers, noChromium, useBrowser } from '../../support/browser.ts';
import { useConsole } from '../../support/console-process.ts';
import { daysAgo, seedNights } from '../../support/nights.ts';

const running = await useConsole({ CONSOLE_LOG_INS_PER_MINUTE_MAX: '1000' });
const browser = await useBrowser(running);
const {
  database: { db },
} = running;
const runs = noChromium ? [] : await seedNights(running);

/** Nights of the last 30 days for 250 countries, as rows alone: there are no files behind them. */
async function addManyCountries(): Promise<void> {
  await db.query(`
    WITH run AS (
      INSERT INTO night_run (night_date, trigger, requested_by, state, outcome, generation, opened_at, finished_at)
      SELECT current_date - day, 'operator', 'test', 'finished', 'ok', 1, now(), now() FROM generate_series(5, 29) AS day
      RETURNING run_id
    )
    INSERT INTO build (run_id, generation, cache, country, state, facts)
    SELECT run_id, 1, 'phones', chr(65 + n / 26) || chr(65 + n % 26), 'unchanged', '{}' FROM run, generate_series(0, 249) AS n`);
}

// A machine without Chromium skips this; .ci/run installs it.
describe.skipIf(noChromium)('the pages of nights', () => {
  it.each([
    { width: 1280, dark: false },
    { width: 360, dark: true },
  ])(
    'have no barrier that axe finds, and scroll in one direction alone, at $width px (dark: $dark)',
    async ({ width, dark }) => {
      const page = await browser.open('/nights', { width, dark });
      for (const [path, heading] of [
        ['/nights', 'Nights'],
        [`/nights/${runs[2]!}`, `Night ${daysAgo(1)}, run ${runs[2]!}`],
        ['/artefacts', 'Artefacts'],
        ['/artefacts/phones/US', 'phones/US'],
      ] as const) {
        await page.goto(path);
        await page.getByRole('heading', { level: 1, name: heading }).waitFor();
        await page.getByRole('table').first().waitFor();
        expect(await findBarriers(page), path).toEqual([]);
        expect(
          await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
          path,
        ).toBeLessThanOrEqual(0);
      }
    },
  );

  it('lead through the history by the arrow keys, to the night of a mark', async () => {
    const page = await browser.open('/nights', { role: 'viewer' });
    await page.getByRole('link', { name: 'phones/CA', exact: true }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Night ${daysAgo(1)}, run ${runs[2]!}` }).waitFor();
    await page.getByText('phones/CA: 130 rows instead of 400').waitFor();
    await page.getByText('What to do: Find out why rows are missing.').first().waitFor();
    expect(await page.getByRole('button', { name: /^Run/ }).count()).toBe(0); // a viewer runs nothing
  });

  it('show the trace of a night that was traced', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const trace = "UPDATE night_run SET report = jsonb_set(report, '{traceId}', to_jsonb($2::text)) WHERE run_id = $1";
    await db.query(trace, [runs[0], traceId]);
    const page = await browser.open(`/nights/${runs[0]!}`, { role: 'viewer' });
    await page.locator('dd').getByText(traceId).waitFor();
    await page.goto(`/nights/${runs[1]!}`);
    await page.getByText('Attempt (generation)').waitFor();
    expect(await page.getByText('Trace', { exact: true }).count()).toBe(0);
  });

  it('keep the names of caches on one line, and the marks of the legend in one column, at 390 px', async () => {
    const page = await browser.open('/nights', { width: 390 });
    const name = page.getByRole('link', { name: 'branded_phones', exact: true });
    await name.waitFor();
    expect((await name.boundingBox())!.height).toBeLessThan(25);
    const marks = await page
      .locator('.night-legend .night-mark')
      .evaluateAll((all) =>
        all.map(
          (mark) => (mark as unknown as { getBoundingClientRect(): { left: number } }).getBoundingClientRect().left,
        ),
      );
    expect(marks).toHaveLength(6);
    expect(new Set(marks).size).toBe(1);
  });

  it('name the brands whose numbers have left', async () => {
    await db.query(
      `UPDATE night_run SET report = jsonb_set(report, '{lapsed}', '[{"brand": "example-bank", "validUntil": "2026-01-01T00:00:00.000Z", "numbers": 12}]') WHERE run_id = $1`,
      [runs[1]],
    );
    const page = await browser.open(`/nights/${runs[1]!}`, { role: 'viewer' });
    await page.getByRole('link', { name: 'example-bank' }).waitFor();
  });

  it('run a failed artefact again as asked in the dialog, and follow it to its end', async () => {
    running.start('jobs/worker-main.js');
    const page = await browser.open(`/nights/${runs[2]!}`);
    await page.getByRole('button', { name: "Run phones/CA as today's night" }).click(); // the page shows yesterday's
    const dialog = page.getByRole('dialog', { name: 'Run a night now' });
    await dialog.getByText('more than 20 % of its rows').waitFor();
    expect(await dialog.getByLabel('What to build').inputValue()).toBe('phones/CA');
    await dialog.getByLabel('Accept files that shrink').check();
    await dialog.getByRole('button', { name: 'Run the night' }).click();
    await page.getByRole('heading', { name: `Night ${daysAgo(0)}, run ${runs[3]! + 1}` }).waitFor();
    await page.getByText('1 published, 0 unchanged, 0 failed, of 1').waitFor();
    await page.getByRole('link', { name: 'phones/CA' }).click();
    await page.getByRole('link', { name: 'Download version 2' }).waitFor();
  });

  it('release a held file for a reason', async () => {
    await db.query(
      "UPDATE publication SET status = 'stale', stale_code = 'artefact_shrunk', stale_reason = 'x' WHERE cache = 'phones' AND country = 'CA'",
    );
    const page = await browser.open(`/nights/${runs[2]!}`);
    await page.getByRole('button', { name: 'Release phones/CA' }).click();
    await page.getByLabel('Reason').fill('The provider has closed');
    await page.getByRole('button', { name: 'Release', exact: true }).click();
    await page.getByText('Released: phones/CA.').waitFor();
    expect((await db.query('SELECT cache, country, reason, released_by FROM night_release')).rows).toEqual([
      { cache: 'phones', country: 'CA', reason: 'The provider has closed', released_by: 'console operator' },
    ]);
    expect((await db.query("SELECT object FROM console_event WHERE action = 'release_files'")).rows).toEqual([
      { object: 'phones/CA' },
    ]);
  });

  it('run one night when its answer was lost and the button is pressed again, and another one for another choice', async () => {
    const countNights = async () => (await db.query('SELECT FROM night_run')).rows.length;
    const before = await countNights();
    const page = await browser.open('/nights', { refusals: [409, 504] });
    let isLosing = true;
    await page.route('**/api/nights', async (route) => {
      if (!isLosing || route.request().method() !== 'POST') return route.fallback();
      isLosing = false;
      expect((await route.fetch({ headers: { ...route.request().headers(), origin: running.url } })).status()).toBe(
        202,
      );
      await route.fulfill({ status: 504, body: '' });
    });
    const dialog = page.getByRole('dialog', { name: 'Run a night now' });
    const run = dialog.getByRole('button', { name: 'Run the night' });
    await page.getByRole('button', { name: 'Run a night' }).click();
    await run.click();
    await dialog.getByText('The console answered 504.').waitFor();
    expect(await countNights()).toBe(before + 1);
    await dialog.getByRole('button', { name: 'Cancel' }).click(); // leaving the dialog asks for no other night
    await page.getByRole('button', { name: 'Run a night' }).click();
    await run.click();
    await page.getByRole('heading', { level: 1, name: `Night ${daysAgo(0)}, run` }).waitFor();
    expect(await countNights()).toBe(before + 1);
    isLosing = true;
    await page.getByRole('button', { name: 'Run again', exact: true }).click();
    await run.click();
    await dialog.getByText('The console answered 504.').waitFor();
    await dialog.getByLabel('Accept files that shrink').check();
    await run.click();
    await dialog.getByText('the choice has been changed since').waitFor();
    expect(await countNights()).toBe(before + 2);
    const shown = page.url();
    await run.click();
    await dialog.waitFor({ state: 'hidden' });
    await page.waitForURL((url) => url.href !== shown);
    expect(await countNights()).toBe(before + 3);
  });

  it('give a file out as it is stored, and verify what is stored', async () => {
    const page = await browser.open('/artefacts/phones/US');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download version 2' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('phones-US-v2.tsv.gz');
    const digest = createHash('sha256')
      .update(await readFile(await download.path()))
      .digest('hex');
    await page.getByText(digest).waitFor();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('All 2 versions are as published.').waitFor();
    await page.getByRole('link', { name: 'Download from 1' }).waitFor();
  });

  it('hold 250 countries, and show those of a cache or with a failure', async () => {
    await addManyCountries();
    const page = await browser.open('/nights', { width: 360 });
    await page.getByRole('link', { name: 'phones/JP', exact: true }).waitFor();
    expect(await page.locator('table.night-grid tbody tr').count()).toBeGreaterThan(250);
    expect(
      await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
    ).toBeLessThanOrEqual(0);
    await page.getByLabel('Only with a failure').check();
    await page.getByRole('link', { name: 'phones/JP', exact: true }).waitFor({ state: 'detached' });
    expect(page.url()).toContain('trouble=yes');
    expect(await page.locator('table.night-grid tbody tr').count()).toBe(1);
  });
});

describe.skipIf(noChromium)('the page of the queues', () => {
  it('shows a job, removes it, and resumes its queue', async () => {
    const queues = await openQueues(loadConfig(running.env), running.database.url, silentLog);
    await queues.pause('nights'); // the worker must not take the job
    await enqueueJob(queues, 'open-night', { runId: runs[0]! });
    await queues.close();
    const page = await browser.open('/queues?queue=nights');
    await page.getByText('No job is in this state.').waitFor();
    await page.getByLabel('State').selectOption('waiting');
    const job = page.getByRole('row', { name: `night-${runs[0]!}` });
    await job.getByText('open-night').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await job.getByRole('button', { name: 'Remove' }).click();
    await job.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Resume nights' }).click();
    await page.getByRole('button', { name: 'Pause nights' }).waitFor();
    const { rows } = await db.query(`SELECT object FROM console_event WHERE action = 'change_queue' ORDER BY event_id`);
    expect(rows).toEqual([
      { object: `queue nights, job night-${runs[0]!}: remove` },
      { object: 'queue nights: resume' },
    ]);
  });
});
