import { resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { findBarriers, noChromium, useBrowser } from '../../support/browser.ts';
import { logIn, useConsole } from '../../support/console-process.ts';
import { enrolmentOf, formOf, readerA, readerAAgain } from '../../support/voice-form.ts';

const running = await useConsole();
const microphone = resolve('samples/recordings/synthesizer-espeak-de.wav');
const browser = await useBrowser(running, { fakeMicrophone: microphone });

/** A name that would break a page that does not take it as text. */
const oddName = '</textarea><script>alert(1)</script> \u202Ereversed';

let id: string;

beforeAll(async () => {
  const reviewer = await logIn(running, 'reviewer');
  const response = await reviewer.fetch('/api/voiceprints', {
    method: 'POST',
    body: await formOf(enrolmentOf('customer-1', { consentReference: oddName }), readerA),
  });
  id = ((await response.json()) as { id: string }).id;
});

async function chooseRecordings(page: Page, label: string, files: readonly string[]): Promise<void> {
  await page.getByLabel(label).setInputFiles(files.map((path) => resolve(path)));
}

// A machine without Chromium skips this; .ci/run installs it.
describe.skipIf(noChromium)('voice authentication in the browser', () => {
  it('enrols a voice from three files with consent, and says what is missing until then', async () => {
    const page = await browser.open('/voices', { role: 'reviewer' });
    await page.getByRole('button', { name: 'Enrol a voice' }).click();
    await page.getByText('3 more recordings are needed.').waitFor();
    await page.getByLabel('For the client').fill('acme-bank');
    await page.getByLabel('Person', { exact: true }).fill('customer-2');
    await page.getByLabel('Where it is kept').fill('form 2026-119');
    await page.getByLabel('Given on').fill('2026-05-02');
    await page.getByLabel(/The consent covers/).check();
    await chooseRecordings(page, 'Recordings of this person alone', readerA);
    await page.getByRole('button', { name: 'Enrol', exact: true }).click();
    await page.getByText('customer-2 is enrolled').waitFor();
    await page.getByRole('link', { name: 'Open the voiceprint' }).click();
    await page.getByRole('heading', { name: 'Voice of customer-2' }).waitFor();
    await page.getByText('3 recordings, ').waitFor();
  });

  it('marks the recording that cannot be used', async () => {
    const page = await browser.open('/voices?enrol=1', { role: 'reviewer' });
    await page.getByLabel('For the client').fill('acme-bank');
    await page.getByLabel('Person', { exact: true }).fill('customer-3');
    await page.getByLabel('Where it is kept').fill('form 2026-120');
    await page.getByLabel('Given on').fill('2026-05-02');
    await page.getByLabel(/The consent covers/).check();
    await chooseRecordings(page, 'Recordings of this person alone', [
      readerA[0]!,
      'samples/recordings/dial-tone.wav',
      readerA[1]!,
    ]);
    page.removeAllListeners('console'); // the browser itself reports the answer 400
    await page.getByRole('button', { name: 'Enrol', exact: true }).click();
    await page
      .getByRole('alert')
      .getByText(/recording 2 \(dial-tone\.wav\)/)
      .waitFor();
    expect(await page.getByRole('listitem').filter({ hasText: 'see the problem below' }).innerText()).toMatch(
      /^Recording 2: dial-tone\.wav/,
    );
  });

  it('records the microphone into a file that the service reads, and compares it', async () => {
    const page = await browser.open(`/voices/${id}`, { role: 'reviewer' });
    await page.getByRole('button', { name: 'Record from the microphone' }).click();
    await page
      .getByRole('timer')
      .getByText(/^[3-9]\./)
      .waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Recording 1: microphone.wav').waitFor();
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByText('Result: mismatch').waitFor();
    for (const [name, limits] of [
      ['Identity', /a match from 0\.\d{3} on, another voice below 0\.\d{3}/],
      ['Synthesis', /threshold 0\.\d{3}/],
      ['Replay', /threshold 0\.\d{3}/],
    ] as const)
      await page.locator('.meter').filter({ hasText: name }).getByText(limits).waitFor();
    await page
      .getByRole('region', { name: 'Comparisons, newest first' })
      .getByRole('cell', { name: 'mismatch' })
      .waitFor();
  });

  it('compares a file, and shows what scores mean where they disagree', async () => {
    const page = await browser.open(`/voices/${id}`, { role: 'reviewer' });
    await chooseRecordings(page, 'Recording to compare', [readerAAgain]);
    await page.getByLabel('Model of authenticity').selectOption('phone/v8');
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByText(/Models: voiceprint\/2, phone\/v8/).waitFor();
    await page.getByText('When the scores disagree').click();
    await page.getByText('is the picture of an attack').waitFor();
  });

  it('shows a viewer the voiceprint, and nothing to press that would be refused', async () => {
    const page = await browser.open(`/voices/${id}`, { role: 'viewer' });
    await page.getByRole('heading', { name: 'Voice of customer-1' }).waitFor();
    await page.getByText('</textarea><script>alert(1)</script> reversed').first().waitFor(); // as text, and in its own direction
    for (const name of ['Compare', 'Delete', 'Record from the microphone'])
      expect(await page.getByRole('button', { name }).count()).toBe(0);
  });

  it('is deleted by an operator, with a reason', async () => {
    const client = await logIn(running, 'reviewer');
    const { id: doomed } = (await (
      await client.fetch('/api/voiceprints', { method: 'POST', body: await formOf(enrolmentOf('customer-9'), readerA) })
    ).json()) as { id: string };
    const page = await browser.open(`/voices/${doomed}`);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByLabel('Reason').fill('Consent withdrawn');
    await page.getByRole('button', { name: 'Delete permanently' }).click();
    await page.getByText('It was deleted on').waitFor();
    expect(await page.getByRole('button', { name: 'Compare' }).count()).toBe(0);
    await page
      .getByRole('region', { name: 'History of the voiceprint' })
      .getByRole('cell', { name: 'Consent withdrawn' })
      .waitFor();
  });

  it.each([
    { width: 1280, dark: false },
    { width: 360, dark: true },
  ])(
    'has no barrier that axe finds, and scrolls in one direction alone, at $width px (dark: $dark)',
    async ({ width, dark }) => {
      for (const path of ['/voices', '/voices?enrol=1', `/voices/${id}`]) {
        const page = await browser.open(path, { width, dark });
        await page.getByRole('table').first().waitFor();
        if (path.includes('enrol'))
          await chooseRecordings(page, 'Recordings of this person alone', readerA.slice(0, 2));
        else if (path !== '/voices') await page.getByText('When the scores disagree').click();
        expect(await findBarriers(page)).toEqual([]);
        expect(
          await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
        ).toBeLessThanOrEqual(0);
      }
    },
  );
});
