import { describe, expect, it } from 'vitest';
import { runFeedLoad } from '../../../../pipelines/feeds/feed-load.ts';
import { loadGateLimits } from '../../../../pipelines/feeds/load-gates.ts';
import { loadConfig } from '../../../../runtime/config.ts';
import { useFeedLoader } from '../../../support/feeds.ts';
import { findBarriers, noChromium, useBrowser } from '../../support/browser.ts';
import { useConsole } from '../../support/console-process.ts';

const running = await useConsole();
const browser = await useBrowser(running);
const {
  database: { db },
  stateDir,
} = running;
const config = { ...loadConfig({ STATE_DIR: stateDir }), gates: { ...loadGateLimits, rowsMin: 1 } };
const { load } = await useFeedLoader(db);
const list = (rows: number) =>
  `${Array.from({ length: rows }, (_, at) => `+1202555${1000 + at},SPAM\n`).join('')}x,SPAM\n`;

// A machine without Chromium skips this; .ci/run installs it.
describe.skipIf(noChromium)('the pages of feeds', () => {
  it('have no barrier that axe finds, wide or narrow, and lead to a held load, which an operator releases with a reason', async () => {
    for (let times = 0; times < 7; times++) await load('reputation', list(100), config);
    await load('reputation', list(3), config);
    await db.query("UPDATE feed_load SET requested_at = requested_at - interval '9 days'");
    for (const [width, dark] of [
      [1280, false],
      [360, true],
    ] as const) {
      const page = await browser.open('/feeds', { width, dark });
      await page.getByText('Stopped coming:').waitFor();
      expect(await findBarriers(page)).toEqual([]);
      await page.getByRole('link', { name: 'Load 8' }).click();
      await page.getByRole('heading', { level: 1, name: 'Load 8' }).waitFor();
      await page.getByRole('cell', { name: 'x,SPAM' }).waitFor();
      expect(await findBarriers(page)).toEqual([]);
      expect(
        await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
      ).toBeLessThanOrEqual(0);
    }
    const page = await browser.open('/feeds/8');
    await page.getByRole('cell', { name: 'volume' }).waitFor();
    await page.getByRole('button', { name: 'Release' }).click();
    await page.getByLabel('Reason').fill('A short list today');
    await page.getByRole('button', { name: 'Release the load' }).click();
    await page.getByText('A short list today').waitFor();
    expect((await db.query('SELECT state, decided_by FROM feed_load WHERE load_id = 8')).rows).toEqual([
      { state: 'queued', decided_by: 'console operator' },
    ]);
  });

  it('offer a viewer neither a file to load nor a decision', async () => {
    await db.query(
      "UPDATE feed_load SET state = 'held', decision = NULL, decided_by = NULL, decided_reason = NULL, decided_at = NULL WHERE load_id = 8",
    );
    const page = await browser.open('/feeds/8', { role: 'viewer' });
    await page.getByText('Held: nothing of it counts').waitFor();
    expect(await page.getByRole('button', { name: /Release|Discard|Load a file/ }).count()).toBe(0);
  });

  it('submit a file, and follow its load', async () => {
    const page = await browser.open('/feeds');
    await page.getByRole('button', { name: 'Load a file' }).click();
    await page.getByLabel('Feed', { exact: true }).selectOption('reputation');
    await page
      .getByLabel('File', { exact: true })
      .setInputFiles({ name: 'today.csv', mimeType: 'text/csv', buffer: Buffer.from(list(2)) });
    await page.getByRole('button', { name: 'Load the file' }).click();
    await page.getByRole('heading', { level: 1, name: 'Load 9' }).waitFor();
    await runFeedLoad({ db, feedDir: config.feedDir, loadId: 9, limits: { ...config, gates: loadGateLimits } });
    await page.getByText('done').first().waitFor();
  });
});
