import { beforeAll, describe, expect, it } from 'vitest';
import { findBarriers, noChromium, useBrowser } from '../../support/browser.ts';
import { logIn, useConsole, type ConsoleClient } from '../../support/console-process.ts';

const running = await useConsole();
const browser = await useBrowser(running);
const { db } = running.database;
const entry = { name: 'Skellbrook Bank', category: 'bank', country: 'US', common: false, reason: 'Ticket 4711' };

describe('protected names in the console', () => {
  let [reviewer, operator]: ConsoleClient[] = [];
  const post = (client: ConsoleClient, path: string, body: object) =>
    client.json(`/api/protected-names${path}`, { method: 'POST', body: JSON.stringify(body) });

  beforeAll(async () => {
    [reviewer, operator] = await Promise.all([logIn(running, 'reviewer'), logIn(running, 'operator')]);
  });

  it('are checked by reviewers, and added and removed by operators alone, with a reason, recorded', async () => {
    expect(await post(reviewer!, '/check', { name: 'Skelbrook Bank' })).toEqual({ near: null });
    expect(await post(reviewer!, '', entry)).toMatchObject({ code: 'forbidden' });
    expect(await post(operator!, '', { ...entry, reason: ' ' })).toMatchObject({ code: 'reason_required' });
    expect(await post(operator!, '', { ...entry, category: 'pet' })).toMatchObject({ code: 'parameter_invalid' });
    expect(await post(operator!, '', entry)).toEqual({ name: entry.name });
    expect(await post(operator!, '', entry)).toMatchObject({ code: 'protected_name_exists' });
    expect(await post(reviewer!, '/check', { name: 'Skelbrook Bank' })).toMatchObject({
      near: { name: entry.name, how: 'it looks like that name' },
    });
    expect(await reviewer!.json('/api/protected-names')).toMatchObject({
      names: [{ ...entry, addedBy: 'console operator' }],
    });
    expect(await post(reviewer!, '/remove', { name: entry.name, reason: 'x' })).toMatchObject({ code: 'forbidden' });
    expect(await post(operator!, '/remove', { name: entry.name, reason: 'The bank has closed' })).toEqual({
      name: entry.name,
    });
    expect(await reviewer!.json('/api/protected-names')).toMatchObject({ names: [] });
    expect(
      (await db.query("SELECT action, object FROM console_event WHERE action LIKE '%protect_name' ORDER BY event_id"))
        .rows,
    ).toEqual(['protect_name', 'unprotect_name'].map((action) => ({ action, object: `name ${entry.name}` })));
  });

  it.skipIf(noChromium)('have a place on the review desk, without barriers', async () => {
    const page = await browser.open('/review');
    await page.getByLabel('Name', { exact: true }).fill('Brambleford Lines');
    await page.getByRole('button', { name: 'Check the name' }).click();
    await page.getByText('It is near no protected name.').waitFor();
    await page.getByRole('button', { name: 'Protect the name' }).click();
    const dialog = page.getByRole('dialog', { name: 'Protect Brambleford Lines' });
    await dialog.getByLabel('Category').selectOption('shipping');
    await dialog.getByLabel('Country').fill('de');
    await dialog.getByLabel('Reason').fill('Copied twice');
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Protect it' }).click();
    await page.getByRole('cell', { name: 'Brambleford Lines' }).waitFor();
    expect(
      (await db.query('SELECT category, country, common FROM protected_name WHERE removed_at IS NULL')).rows,
    ).toEqual([{ category: 'shipping', country: 'DE', common: false }]);
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByLabel('Reason').fill('By mistake');
    await page.getByRole('button', { name: 'Remove the name' }).click();
    await page.getByText('Operators have added no name.').waitFor();
  });
});
