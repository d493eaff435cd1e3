import { describe, expect, it } from 'vitest';
import type { Json } from '../../../console/answers/json.ts';
import type { Overview } from '../../../console/answers/overview-answers.ts';
import { findBarriers, noChromium, useBrowser } from '../support/browser.ts';
import { logIn, useConsole } from '../support/console-process.ts';
import { daysAgo, seedNights } from '../support/nights.ts';

const running = await useConsole({ CONSOLE_LOG_INS_PER_MINUTE_MAX: '1000' });
const {
  database: { db },
} = running;
const runs = await seedNights(running);
const browser = await useBrowser(running);

describe('the overview', () => {
  it('has the standing of each cache, the last night, and a trend of the days with a whole night', async () => {
    const viewer = await logIn(running, 'viewer');
    const overview = await viewer.json<Json<Overview>>('/api/overview');
    expect(overview.caches.map(({ cache }) => cache)).toContain('spammer_phones');
    const { rows } = await db.query<{ files: number; rows: number }>(
      "SELECT count(*)::int AS files, sum((v.facts->>'rows')::int)::int AS rows FROM publication AS p JOIN artefact_version AS v USING (cache, country, version) WHERE cache = 'phones'",
    );
    expect(overview.caches.find(({ cache }) => cache === 'phones')).toMatchObject(rows[0]!);
    expect(overview.lastNight?.runId).toBe(runs.at(-1));
    expect(overview.trend.map(({ day }) => day)).toEqual(overview.trend.map(({ day }) => day).toSorted());
    expect(overview.trend.map(({ day }) => day)).toContain(daysAgo(3));
    expect(overview.attention.map(({ title }) => title).join()).toMatch(/of an earlier night/);
  });

  it('is not for agencies', async () => {
    const agency = await logIn(running, 'agency');
    expect((await agency.fetch('/api/overview')).status).toBe(403);
  });

  // A machine without Chromium skips this; .ci/run installs it.
  describe.skipIf(noChromium)('in the browser', () => {
    it.each([
      { width: 1280, dark: false },
      { width: 360, dark: true },
    ])('has no barrier that axe finds at $width px (dark: $dark), and leads to what is wrong', async (looks) => {
      const page = await browser.open('/', looks);
      await page.getByRole('list', { name: 'What needs attention' }).waitFor();
      expect(await findBarriers(page)).toEqual([]);
      expect(
        await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
      ).toBeLessThanOrEqual(0);
      expect(await page.getByRole('img', { name: /^Rows of all files: / }).count()).toBe(1);
      await page.getByRole('link', { name: /of an earlier night/ }).click();
      await page.getByRole('heading', { level: 1, name: 'Artefacts' }).waitFor();
    });

    it('says how long ago something was, and exactly when', async () => {
      const page = await browser.open('/nights', { timezone: 'Europe/Vienna' });
      const requested = page.getByRole('table', { name: 'Nights' }).locator('time').first();
      await requested.waitFor();
      expect(await requested.textContent()).toMatch(/^(now|\d+ (min|h) ago) \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, /);
      expect(await requested.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, .*local$/);
    });
  });
});
