import { owner } from '../../support/branding.ts';
import { describe, expect, it } from 'vitest';
import { findBarriers, noChromium, useBrowser } from '../support/browser.ts';
import { queryRow } from '../../../runtime/postgres.ts';
import { logIn, passwordOf, useConsole } from '../support/console-process.ts';

const running = await useConsole();
/** When a session of a user was last in use: each look-up notes it, once a minute. */
async function seenAt(name: string): Promise<string> {
  const row = await queryRow<{ seen: string }>(
    running.database.db,
    'SELECT max(s.seen_at)::text AS seen FROM console_session AS s JOIN console_user USING (user_id) WHERE name = $1',
    [name],
  );
  return row!.seen;
}

const browser = await useBrowser(running);

// A machine without Chromium skips this; .ci/run installs it.
describe.skipIf(noChromium)('the frame of the console', () => {
  it('lets a user in with name and password, by the keyboard alone, and out again', async () => {
    const page = await browser.open('/');
    await page.getByText('As of').waitFor();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Name').fill('viewer');
    await page.keyboard.press('Tab');
    await page.keyboard.type(passwordOf('viewer'));
    await page.keyboard.press('Enter');
    await page.getByText('viewer viewer').waitFor();
    await page.reload();
    await page.getByText('viewer viewer').waitFor();
    expect(await page.getByRole('link', { name: 'Audit trail' }).count()).toBe(0);
  });

  it('shows a user of an agency the pages of branding alone, without what its role does not do', async () => {
    const page = await browser.open('/', { role: 'agency' });
    await page.getByText('You act for').waitFor();
    const links = await page
      .getByRole('navigation', { name: 'Parts of the console' })
      .getByRole('link')
      .allTextContents();
    expect(links).toEqual(['Brands', 'Letters', 'Requests']);
    await page.getByRole('navigation', { name: 'Parts of the console' }).getByRole('link', { name: 'Brands' }).click();
    await page.getByRole('link', { name: 'Add Managed Brand' }).click();
    expect(await page.getByLabel('Owner').inputValue()).toBe(owner);
  });

  it('shows the operator what was done, in the browser', async () => {
    const page = await browser.open('/audit');
    await page.getByRole('cell', { name: 'logged in' }).first().waitFor();
    expect(await page.title()).toBe('Audit trail · Caller Trust');
  });

  it('shows the operator what remote clients sent, with which key, and what it became', async () => {
    const insert = `INSERT INTO intake_request (client, key_id, brand_handle, idempotency_key, kind, request_sha256, object, address)
      SELECT 'Acme <b>centre</b>', 'p7xaugwycxta', 'acme', 'k' || n, 'load', repeat('0', 64), n::text, '192.0.2.7' FROM generate_series(1, 51) AS n`;
    await running.database.db.query(insert);
    const page = await browser.open('/audit', { width: 390 });
    await page.getByLabel('Trail of').selectOption('the intake');
    const table = page.getByRole('table', { name: 'Requests to the intake' });
    await table.getByRole('link', { name: 'load' }).first().waitFor();
    expect(await table.getByRole('row').count()).toBe(51);
    expect(await table.getByRole('row').nth(1).innerText()).toMatch(
      /Acme <b>centre<\/b>\s+p7xaugwycxta\s+acme\s+load\s+192\.0\.2\.7/,
    );
    expect(await table.getByRole('link', { name: 'load' }).first().getAttribute('href')).toBe('/feeds/51');
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Older' }).click();
    await table.getByRole('row').nth(2).waitFor({ state: 'detached' });
    expect(await table.getByRole('row').count()).toBe(2);
  });

  it('says of a path without a page that there is none', async () => {
    const page = await browser.open('/no/such/page');
    await page.getByRole('heading', { name: 'No such page' }).waitFor();
  });

  it('serves its modules without asking the database, so that the page can say what is wrong', async () => {
    const { cookie } = await logIn(running, 'viewer');
    await running.database.db.query("UPDATE console_session SET seen_at = now() - interval '5 minutes'");
    const before = await seenAt('viewer');
    const page = await (await fetch(running.url)).text();
    const files = [...page.matchAll(/"(\/pages\/[^"]+)"/g)].map(([, path]) => path!);
    expect(files.map((path) => path.split('/').at(-1))).toEqual(['icon.svg', 'console.css', 'main.js']);
    for (const path of ['/', ...files])
      expect((await fetch(`${running.url}${path}`, { headers: { Cookie: cookie } })).status).toBe(200);
    expect(await seenAt('viewer')).toBe(before);
  });

  it('leads to pages by search and by shortcuts, which a user can switch off', async () => {
    const page = await browser.open('/', { refusals: [400, 404] });
    await page.getByText('As of').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('no-such-brand');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing has this name').waitFor();
    await page.getByLabel('Search').fill('(202) 555-0143');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Numbers', level: 1 }).waitFor();
    await page.getByText('phone_', { exact: false }).first().waitFor(); // it was looked up, and has no country
    expect(page.url()).toBe(`${running.url}/numbers`);
    await page.getByLabel('Search').fill('phones/US');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/artefacts/phones/US');
    await page.getByRole('heading', { level: 1 }).focus();
    await page.keyboard.type('gb');
    await page.waitForURL('**/brands');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Review desk').waitFor();
    await page.getByLabel('Shortcuts are on in this browser').uncheck();
    await page.keyboard.press('Escape');
    await page.keyboard.type('gn/?');
    expect([await page.getByRole('dialog').count(), page.url()]).toEqual([0, `${running.url}/brands`]);
  });

  it('loads with six requests, and again with none for its files', async () => {
    const page = await browser.open('/');
    const requests = async () => {
      await page.getByText('As of').waitFor();
      // 'other' is what the browser asks for by itself: the icon, which a browser without windows never shows
      return page.evaluate<string[]>(
        "performance.getEntries().filter(({ transferSize, initiatorType }) => transferSize > 0 && initiatorType !== 'other').map(({ name }) => new URL(name).pathname.replace(/[0-9a-f]{16}/, '*'))",
      );
    };
    const files = ['/pages/*/console.css', '/pages/*/main.js'];
    const first = await requests();
    expect(first).toEqual(expect.arrayContaining(['/', ...files]));
    expect(new Set(first).size).toBeLessThanOrEqual(6); // what a page follows may be read again meanwhile
    await page.reload();
    const second = await requests();
    expect(second.filter((path) => !path.startsWith('/api/'))).toEqual(['/']);
  });

  it('says so when its program does not come, and what is wrong when it is refused', async () => {
    const page = await browser.open('/', { refusals: [404, 429] });
    await page.getByText('As of').waitFor();
    await page.route(/main\.js/, (route) => route.fulfill({ status: 404 }));
    await page.reload();
    await page.evaluate('for (const animation of document.getAnimations()) animation.finish()');
    await page.getByText('It should be here by now').waitFor({ state: 'visible' });
    await page.unroute(/main\.js/);
    const detail = 'Too many requests from this address.';
    await page.route('**/api/session', (route) =>
      route.fulfill({ status: 429, json: { code: 'rate_limited', detail, hint: 'Try again in a minute.' } }),
    );
    await page.reload();
    await page.getByText(detail).waitFor();
    await page.unroute('**/api/session');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('As of').waitFor();
  });

  it.each([
    { width: 1280, dark: false },
    { width: 360, dark: true },
  ])(
    'has no barrier that axe finds, and scrolls in one direction alone, at $width px (dark: $dark)',
    async ({ width, dark }) => {
      for (const path of ['/', '/audit']) {
        const page = await browser.open(path, { width, dark });
        await page.getByRole('heading', { level: 1 }).waitFor();
        expect(await findBarriers(page)).toEqual([]);
        expect(
          await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
        ).toBeLessThanOrEqual(0);
      }
    },
  );
});
