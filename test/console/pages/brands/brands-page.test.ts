import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { FORM_LANGUAGES } from '../../../../pipelines/branding/form/letter-form-texts.ts';
import { ask, fresh, signedForm, profile, signer } from '../../../support/branding.ts';
import { letterFile } from '../../../support/letter-file.ts';
import { until } from '../../../support/service-process.ts';
import { findBarriers, noChromium, useBrowser } from '../../support/browser.ts';
import { testMasterKey } from '../../support/letters.ts';
import { useConsole } from '../../support/console-process.ts';

const running = await useConsole({ LETTER_MASTER_KEY: testMasterKey });
const browser = await useBrowser(running);
const { db } = running.database;

// A machine without Chromium skips this; .ci/run installs it.
describe.skipIf(noChromium)('the pages of brands', () => {
  const seeded = fresh(3);

  beforeAll(async () => {
    await ask(
      db,
      'add_managed_brand',
      { handle: seeded.handle, brand: { ...profile, taxId: '12-3456789' }, numbers: seeded.phones },
      { letter: signedForm(seeded.phones) },
    );
    await ask(db, 'update_managed_brand', { handle: seeded.handle, changes: { displayName: 'Northwind Smiles' } });
  });

  it('submit a brand with letter and CSV, and follow the request until it has ended, with its refused rows as a file', async () => {
    running.start('jobs/worker-main.js');
    const { handle, phones } = fresh(2);
    const page = await browser.open('/brands', { role: 'reviewer', refusals: [400] });
    await page.getByRole('link', { name: 'Add Managed Brand' }).click();
    await page.getByLabel('Owner').fill('Pages Agency');
    await page.getByLabel('Handle').fill(handle);
    await page.getByLabel('Display name').fill('12345');
    await page.getByLabel('Legal name').fill('Northwind Dental LLC');
    await page.getByLabel('Country').fill('US');
    const attachment = `The attached CSV lists them from ${phones[0]} to ${phones[1]}, 2 numbers.`;
    await page
      .getByLabel('Letter of authorization')
      .setInputFiles({ name: 'letter.pdf', mimeType: 'application/pdf', buffer: letterFile(phones, { attachment }) });
    await page
      .getByLabel('Numbers as CSV')
      .setInputFiles({
        name: 'numbers.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(['phone', ...phones, 'nonsense', ''].join('\n')),
      });
    await page.getByRole('button', { name: 'Add Managed Brand' }).click();
    await page.getByText('has no letter: it may not be digits and signs only', { exact: true }).waitFor(); // at its field
    await page.getByLabel('Display name').fill('Northwind Dental');
    await page.getByRole('button', { name: 'Add Managed Brand' }).click();
    await page.getByText('In review: a person decides.').first().waitFor();
    await page.getByRole('cell', { name: 'phone_invalid' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download the refused rows as CSV' }).click(),
    ]);
    expect(await readFile(await download.path(), 'utf8')).toMatch(/^line,phone,code,reason\r\n4,,phone_invalid,/);
    await page.getByRole('link', { name: handle }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Northwind Dental' }).waitFor();
    await page.getByRole('cell', { name: phones[0]! }).first().waitFor();
  });

  it('update a brand with what was changed alone', async () => {
    const { handle, phones } = fresh(1);
    await ask(
      db,
      'add_managed_brand',
      { handle, brand: { ...profile, taxId: '12-3456789' }, numbers: phones },
      { letter: signedForm(phones) },
    );
    const page = await browser.open(`/brands/${handle}/update`, { role: 'reviewer' });
    await page.getByRole('button', { name: 'Update Managed Brand' }).click();
    await page.getByText('Nothing was changed').waitFor();
    await page.getByRole('button', { name: 'Show and change them' }).click();
    await page.getByLabel('Tax id').fill('98-7654321');
    await page.getByLabel('Website').fill('https://new.northwind.example');
    await page.getByRole('button', { name: 'Update Managed Brand' }).click();
    await page.getByRole('heading', { name: /^Request \d+/ }).waitFor();
    const { rows } = await db.query<{ request: unknown }>(
      "SELECT request FROM branding_operation WHERE request ->> 'handle' = $1 AND kind = 'update_managed_brand'",
      [handle],
    );
    expect(rows).toMatchObject([
      { request: { changes: { taxId: '98-7654321', website: 'https://new.northwind.example' } } },
    ]);
    expect(Object.keys((rows[0]!.request as { changes: object }).changes)).toHaveLength(2);
  });

  it('show the pending revision next to the approved one, and take the decision about it', async () => {
    const page = await browser.open('/review', { role: 'reviewer' });
    await page.getByRole('link', { name: seeded.handle }).click();
    await page.getByRole('row', { name: 'Display name Northwind Dental Northwind Smiles changed' }).waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true);
    await page.getByLabel('Reason', { exact: true }).fill('Seen in the register');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('heading', { level: 1, name: 'Northwind Smiles' }).waitFor();
    await page.getByRole('cell', { name: 'Seen in the register' }).first().waitFor();
  });

  it('suspend a brand and one of its numbers for a reason that is asked for', async () => {
    const page = await browser.open(`/brands/${seeded.handle}`, { role: 'reviewer' });
    await page.getByRole('button', { name: `Change ${seeded.phones[0]}` }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('Sold to another company');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter'); // the button that does it, by the keyboard
    await page.getByRole('row', { name: seeded.phones[0]! }).getByText('suspended').first().waitFor();
    await page.getByRole('button', { name: 'Suspend', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('Complaints, ticket 7');
    await page.getByRole('button', { name: 'Suspend the brand' }).click();
    await page.getByText('Its numbers are out of the next night until it is resumed.').waitFor();
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
    await page.getByRole('cell', { name: 'Complaints, ticket 7' }).first().waitFor();
    expect((await db.query('SELECT state FROM brand WHERE handle = $1', [seeded.handle])).rows).toEqual([
      { state: 'suspended' },
    ]);
  });

  it('issue the form of a letter, and save it', async () => {
    const { handle, phones } = fresh(2);
    await ask(db, 'add_managed_brand', { handle, brand: profile, numbers: phones });
    const page = await browser.open(`/brands/${handle}`, { role: 'reviewer', refusals: [400] });
    await page.getByRole('button', { name: 'Issue letter of authorization' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Issue and save' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Name of the signer').fill('山田太郎');
    await dialog.getByLabel('Title of the signer').fill(signer.title);
    expect(
      await dialog
        .getByLabel('Language')
        .getByRole('option')
        .evaluateAll((options) => options.map((option) => option.getAttribute('value'))),
    ).toEqual(FORM_LANGUAGES);
    await dialog.getByLabel('Language').selectOption('German');
    await dialog.getByRole('button', { name: 'Issue and save' }).click();
    await dialog.getByText('form_text_unsupported').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByLabel('Name of the signer').fill(signer.name);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Issue and save' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(new RegExp(`^${handle}-form-\\d+\\.pdf$`));
    const digest = createHash('sha256')
      .update(await readFile(await download.path()))
      .digest('hex');
    expect(
      (
        await db.query('SELECT language, content -> $2 AS phones FROM issued_form WHERE sha256 = $1', [
          digest,
          'phones',
        ])
      ).rows,
    ).toEqual([{ language: 'de', phones }]);
    await page.getByText(`Saved as ${download.suggestedFilename()}.`, { exact: false }).waitFor();
    const other = await browser.open(`/brands/${handle}`, { role: 'viewer' });
    await other.getByRole('heading', { name: 'Letters' }).waitFor();
    expect(await other.getByRole('button', { name: 'Issue letter of authorization' }).count()).toBe(0);
  });

  it('show private fields on demand, and to reviewers alone', async () => {
    const page = await browser.open(`/brands/${seeded.handle}`, { role: 'reviewer' });
    await page.getByRole('button', { name: 'Show contact and tax id' }).click();
    await page.getByRole('row', { name: 'Tax id 12-3456789' }).waitFor();
    const other = await browser.open(`/brands/${seeded.handle}`, { role: 'viewer' });
    await other.getByText('Contact and tax id are shown to reviewers.').waitFor();
    for (const name of ['Suspend', 'Resume', 'Withdraw', 'Add numbers', 'Show contact and tax id'])
      expect(await other.getByRole('button', { name, exact: true }).count()).toBe(0);
  });

  it.each([
    { width: 1280, dark: false },
    { width: 360, dark: true },
  ])(
    'have no barrier that axe finds, and scroll in one direction alone, at $width px (dark: $dark)',
    async ({ width, dark }) => {
      const { rows } = await db.query<{ operation_id: number; letter_id: number }>(
        "SELECT o.operation_id, l.letter_id FROM branding_operation AS o JOIN letter AS l USING (operation_id) WHERE o.state = 'done' ORDER BY operation_id DESC LIMIT 1",
      );
      const paths = [
        '/brands',
        `/brands/${seeded.handle}`,
        '/new-brand',
        `/brands/${seeded.handle}/update`,
        '/letters',
        `/letters/${rows[0]!.letter_id}`,
        '/operations',
        `/operations/${rows[0]!.operation_id}`,
      ];
      for (const path of paths) {
        const page = await browser.open(path, { width, dark });
        await until(
          async () =>
            (await page.getByText(/^Reading /).count()) === 0 &&
            (await page.getByRole('heading', { level: 1 }).count()) === 1,
          `${path} is shown`,
        );
        expect([path, await findBarriers(page)]).toEqual([path, []]);
        expect([
          path,
          await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
        ]).toEqual([path, true]);
        await page.context().close();
      }
    },
  );
});
