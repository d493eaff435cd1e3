import { beforeAll, describe, expect, it } from 'vitest';
import { fileDispute, readDispute } from '../../../../pipelines/labels/number-dispute.ts';
import { openVault } from '../../../../runtime/secrets/vault.ts';
import { putNumbers } from '../../../support/numbers.ts';
import { findBarriers, noChromium, useBrowser } from '../../support/browser.ts';
import { useConsole } from '../../support/console-process.ts';
import { testMasterKey } from '../../support/letters.ts';

const running = await useConsole({ LETTER_MASTER_KEY: testMasterKey });
const browser = await useBrowser(running);
const { db } = running.database;
const [phone, disputed] = ['+12025550143', '+12025550144'] as const;

// A machine without Chromium skips this; .ci/run installs it.
describe.skipIf(noChromium)('the pages of numbers', () => {
  let disputeId = 0;

  beforeAll(async () => {
    await putNumbers(
      db,
      [phone, disputed].map((each) => ({ phone: each, level: 'SPAM' as const, category: 6 })),
    );
    const vault = await openVault({ letterMasterKey: testMasterKey, stateDir: running.stateDir });
    ({ disputeId } = await fileDispute(
      { db, vault },
      { request: { phone: disputed, reason: 'Ours since May', contact: 'office@clinic.example' }, filedBy: 'cli ada' },
    ));
  });

  const lookUp = async (options: Parameters<typeof browser.open>[1], number: string = phone) => {
    const page = await browser.open('/numbers', options);
    await page.getByLabel('Number').fill(number);
    await page.getByRole('button', { name: 'Look up' }).click();
    return page;
  };

  it('show why a number is labelled, and keep the number out of the address', async () => {
    const page = await lookUp({ role: 'viewer' });
    await page.getByRole('heading', { name: phone }).waitFor();
    await page.getByText('6 telemarketer').waitFor();
    expect(await page.getByRole('table', { name: 'Changes of the label' }).getByRole('row').count()).toBe(2);
    expect(await page.getByRole('button', { name: 'Clear the number' }).count()).toBe(0);
    expect(page.url()).not.toMatch(/202/);
  });

  it('say that nothing is known of a number', async () => {
    const page = await lookUp({ role: 'viewer', refusals: [404] }, '+12025550199');
    await page.getByText('Nothing is known of this number.').waitFor();
  });

  it.each([
    ['wide', 1280, false],
    ['narrow', 360, true],
  ])('have no barriers, %s', async (_name, width, dark) => {
    const page = await lookUp({ role: 'reviewer', width, dark });
    await page.getByRole('heading', { name: phone }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    for (const path of ['/disputes', `/disputes/${disputeId}`]) {
      const other = await browser.open(path, { role: 'reviewer', width, dark });
      await other.getByText(disputed).first().waitFor();
      expect(await findBarriers(other)).toEqual([]);
    }
  });

  it('clear a number for a reason', async () => {
    const page = await lookUp({ role: 'reviewer' });
    await page.getByRole('button', { name: 'Clear the number' }).click();
    await page.getByLabel('Reason').fill('A hospital');
    await page.getByRole('button', { name: 'Clear it' }).click();
    await page.getByText('console reviewer: A hospital', { exact: true }).waitFor();
  });

  it('lead to a dispute, show its contact when asked, and take the decision', async () => {
    const page = await browser.open('/review', { role: 'reviewer' });
    await page.getByRole('link', { name: '1 dispute waits' }).click();
    await page.getByRole('link', { name: `Dispute ${disputeId}` }).click();
    await page.getByRole('button', { name: 'Show the contact' }).click();
    await page.getByText('office@clinic.example').waitFor();
    expect(await page.getByRole('button', { name: 'Uphold the label' }).isDisabled()).toBe(true);
    await page.getByLabel('Reason').fill('The reports go on');
    await page.getByRole('button', { name: 'Uphold the label' }).click();
    await page.getByText('The reports go on').waitFor();
    expect(await readDispute(db, disputeId)).toMatchObject({ state: 'upheld', decision: { by: 'console reviewer' } });
  });
});
