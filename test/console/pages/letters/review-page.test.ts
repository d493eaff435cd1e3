import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { deleteLetterDocument, withdrawLetter } from '../../../../pipelines/branding/brand/person-actions.ts';
import { fresh } from '../../../support/branding.ts';
import { until } from '../../../support/service-process.ts';
import { findBarriers, noChromium, useBrowser } from '../../support/browser.ts';
import { handInLetter, testMasterKey } from '../../support/letters.ts';
import { useConsole } from '../../support/console-process.ts';

const running = await useConsole({ LETTER_MASTER_KEY: testMasterKey });
const browser = await useBrowser(running);
const { db } = running.database;

// A machine without Chromium skips this; .ci/run installs it.
describe.skipIf(noChromium)('the pages of the review desk', () => {
  const letters: number[] = [];

  beforeAll(async () => {
    for (let at = 0; at < 5; at++) {
      const { handle, phones } = fresh(3);
      letters.push(await handInLetter(db, handle, phones));
    }
  });

  const open = async (letterId: number, options: Parameters<typeof browser.open>[1] = {}): Promise<Page> => {
    const page = await browser.open(`/review/letters/${letterId}`, { role: 'reviewer', ...options });
    await until(
      () => page.evaluate("document.querySelector('.sheet-picture img')?.naturalWidth > 0"),
      'the page of the letter is drawn',
    );
    return page;
  };

  const find = (page: Page) => page.getByRole('button', { name: /found Legal name/ });
  const isPressed = async (page: Page, name: RegExp) => page.getByRole('button', { name, pressed: true }).count();

  it('light the mark of a find on the page, and the find of a mark, by mouse and keyboard', async () => {
    const page = await open(letters[0]!);
    await find(page).click();
    expect(await isPressed(page, /^Mark \d+: .*Legal name/)).toBe(1);
    const [box, mark] = [
      (await page.getByRole('region', { name: 'Pages of the letter' }).boundingBox())!,
      (await page.locator('.letter-mark.active').boundingBox())!,
    ];
    expect(mark.y).toBeGreaterThan(box.y);
    expect(mark.y + mark.height).toBeLessThan(box.y + box.height);
    await page.getByRole('button', { name: /^Mark 1:/ }).focus();
    await page.keyboard.press('Tab');
    expect(await isPressed(page, /^Mark 2:/)).toBe(1);
    expect(await isPressed(page, /^Mark 2 /)).toBeGreaterThan(0); // next to the page
    await page.getByRole('button', { name: 'Larger' }).click();
    await page.getByText('125 %').waitFor();
  });

  it('put the marks around the words that were found, and over no other line', async () => {
    const page = await open(letters[0]!);
    await find(page).click();
    const [picture, mark] = [
      (await page.locator('.sheet-picture').boundingBox())!,
      (await page.locator('.letter-mark.active').boundingBox())!,
    ];
    // Lines are 22 points under one another from 740 of 792 points on, beginning 72 of 612 points from the left; the legal name is
    // behind its label in the second.
    expect((mark.y + mark.height / 2 - picture.y) / picture.height).toBeCloseTo((792 - 740 + 22 - 4) / 792, 2);
    expect(mark.height / picture.height).toBeLessThan(14 / 792);
    expect((mark.x - picture.x) / picture.width).toBeGreaterThan(100 / 612);
  });

  it('are decided by keys: a approves and r rejects with a reason, n and j open the next letter, k the one before', async () => {
    const page = await browser.open(`/review/letters/${letters[0]}`, { role: 'reviewer' });
    await page.getByRole('button', { name: 'Approve the letter' }).waitFor();
    const shown = async (at: number) => {
      await page.getByRole('heading', { name: `Review letter ${letters[at]}` }).waitFor();
      await page.getByRole('button', { name: 'Approve the letter' }).waitFor();
    };
    await page.keyboard.press('n');
    await shown(1);
    await page.keyboard.press('k');
    await shown(0);
    await page.keyboard.press('r');
    await page.getByText('Why do you reject?', { exact: false }).waitFor();
    await page.keyboard.type('a reason with n, k and a');
    expect(await page.getByLabel('Reason').inputValue()).toBe('a reason with n, k and a');
    await page.getByLabel('Reason').fill('');
    await page.keyboard.press('Control+Enter'); // without a reason nothing is decided
    await page.getByRole('heading', { name: 'Decision' }).click();
    await page.keyboard.press('j');
    await shown(1);
    expect((await db.query("SELECT 1 FROM letter WHERE state = 'in_review'")).rows).toHaveLength(letters.length);
    await page.goto(page.url().replace(/\d+$/, String(letters.at(-1))));
    await page.getByRole('button', { name: 'Approve the letter' }).waitFor();
    await page.keyboard.press('a');
    await page.keyboard.type('Called the signer back');
    await page.keyboard.press('Control+Enter');
    await page.getByText('by console reviewer: Called the signer back').waitFor();
  });

  it('take the decision with its reason, and lead to the next letter', async () => {
    const page = await open(letters[0]!);
    const approve = page.getByRole('button', { name: 'Approve the letter' });
    expect(await approve.isDisabled()).toBe(true);
    const place = (await approve.boundingBox())!;
    expect(place.y + place.height).toBeLessThanOrEqual(900); // on the first screen, however many checks passed
    await page.getByLabel('Reason').fill('Called the signer back');
    await page.getByRole('button', { name: 'Approve the letter' }).click();
    await page.getByText('Decided', { exact: false }).first().waitFor();
    await page.getByRole('link', { name: 'Next letter: Northwind Dental' }).waitFor();
    await until(
      () => page.evaluate("document.activeElement?.textContent.startsWith('Next letter')"),
      'the way to the next letter has the focus',
    );
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Review letter ${letters[1]}` }).waitFor();
    expect(
      (await db.query('SELECT state, decided_by, decision_reason FROM letter WHERE letter_id = $1', [letters[0]])).rows,
    ).toEqual([{ state: 'approved', decided_by: 'console reviewer', decision_reason: 'Called the signer back' }]);
  });

  it('show the slower one of two reviewers who decided', async () => {
    const [faster, slower] = [await open(letters[1]!), await open(letters[1]!, { role: 'operator', refusals: [409] })];
    await slower.getByLabel('Reason').fill('It looks right');
    await faster.getByLabel('Reason').fill('The signature is another one');
    await faster.getByRole('button', { name: 'Reject the letter' }).click();
    await faster.getByText('by console reviewer: The signature is another one').waitFor();
    await slower.getByRole('button', { name: 'Approve the letter' }).click();
    await slower.getByText('transition_refused').waitFor();
    await slower.getByText('by console reviewer: The signature is another one').waitFor();
  });

  it('say of a destroyed document that it is gone', async () => {
    const decider = { db, letterId: letters[3]!, actor: 'test', reason: 'Erasure asked for' };
    await withdrawLetter(decider);
    await deleteLetterDocument(decider);
    const page = await browser.open(`/review/letters/${letters[3]}`, { role: 'reviewer' });
    await page.getByText('The document was destroyed').waitFor();
    expect(await page.getByRole('link', { name: 'Save the file as it came' }).count()).toBe(0);
  });

  it.each([
    { width: 1280, dark: false },
    { width: 360, dark: true },
  ])(
    'have no barrier that axe finds, and scroll in one direction alone, at $width px (dark: $dark)',
    async ({ width, dark }) => {
      const desk = await browser.open('/review', { role: 'reviewer', width, dark });
      await desk.getByRole('link', { name: `Letter ${letters[2]}` }).waitFor();
      const letter = await open(letters[2]!, { width, dark });
      await find(letter).click();
      for (const page of [desk, letter]) {
        expect(await findBarriers(page)).toEqual([]);
        expect(
          await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
        ).toBe(true);
      }
    },
  );
});
