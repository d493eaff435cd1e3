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
    for (let at = 0; at < 4; at++) {
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

  const finding = (page: Page) => page.getByRole('button', { name: /for a person letter_signed/ });
  const isPressed = async (page: Page, name: RegExp) => page.getByRole('button', { name, pressed: true }).count();

  it('light the mark of a finding on the page, and the finding of a mark, by mouse and keyboard', async () => {
    const page = await open(letters[0]!);
    await finding(page).click();
    expect(await isPressed(page, /^Mark \d+: .*letter_signed/)).toBe(1);
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

  it('put the marks where the text was read', async () => {
    const page = await open(letters[0]!);
    const [picture, mark] = [
      (await page.locator('.sheet-picture').boundingBox())!,
      (await page.locator('.letter-mark.review').boundingBox())!,
    ];
    // Lines are 22 points under one another from 740 of 792 points on, beginning 72 of 612 points from the left; the signature is
    // the eighth.
    expect((mark.y + mark.height / 2 - picture.y) / picture.height).toBeCloseTo((792 - 740 + 7 * 22 - 4) / 792, 2);
    expect((mark.x - picture.x) / picture.width).toBeCloseTo(72 / 612, 1);
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
      await finding(letter).click();
      for (const page of [desk, letter]) {
        expect(await findBarriers(page)).toEqual([]);
        expect(
          await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
        ).toBe(true);
      }
    },
  );
});
