import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { useFolder } from '../../../support/recording-batch.ts';
import { speechLikeWav } from '../../../support/speech-like-wav.ts';
import { findBarriers, noChromium, useBrowser } from '../../support/browser.ts';
import { useConsole } from '../../support/console-process.ts';

const folder = await useFolder('microphone');
const microphone = join(folder, 'microphone.wav');
await writeFile(microphone, speechLikeWav(30, { rate: 48_000 }));
const samples = join(import.meta.dirname, '../../../../samples/recordings');

/** Holds every question for the microphone until it is allowed, and notes what was given. */
const slowPermission = `
  const give = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  const asked = [];
  globalThis.microphones = [];
  globalThis.allowMicrophones = () => asked.splice(0).forEach((allow) => allow());
  navigator.mediaDevices.getUserMedia = async (wanted) => {
    await new Promise((allow) => asked.push(allow));
    const stream = await give(wanted);
    microphones.push(...stream.getTracks());
    return stream;
  };`;

const running = await useConsole();
const browser = await useBrowser(running, { fakeMicrophone: microphone });

// A machine without Chromium skips this; .ci/run installs it.
describe.skipIf(noChromium)('AI Voice Detection', () => {
  it('says that no worker runs, takes a file all the same, and shows the result when a worker has come', async () => {
    const page = await browser.open('/detect', { role: 'reviewer' });
    await page.getByText('No worker runs.').waitFor();
    expect(await page.getByRole('button', { name: 'Verify' }).isDisabled()).toBe(true);
    await page.getByLabel('File of the recording').setInputFiles(join(samples, 'synthesizer-espeak-en.wav'));
    await page.getByText('synthesizer-espeak-en.wav, ').waitFor();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('The recording waits for its turn.').waitFor();
    running.start('jobs/worker-main.js');
    await page.getByText('The voice looks made by a machine.').waitFor();
    await page.getByText(/^The model gives \d\u00A0% that the voice is not synthesized/).waitFor();
    await page.getByRole('link', { name: 'Everything about it' }).click();
    await page.getByRole('heading', { name: 'The recording over time' }).waitFor();
  });

  it('takes a dropped file, with a pinned model, and says what to do where there is no voice', async () => {
    const page = await browser.open('/detect', { role: 'reviewer' });
    await page.getByLabel('Model').selectOption('phone/v7');
    await page.getByText('This version, whatever the default is; release 2026.03.r1p0.').waitFor();
    expect(await page.getByRole('option', { name: 'phone/v5 (removed; phone/v6 takes its place)' }).isDisabled()).toBe(
      true,
    );
    const silence = Array.from(speechLikeWav(3, { loudness: 0 }));
    const dropped = await page.evaluateHandle(
      `(() => { const data = new DataTransfer(); data.items.add(new File([new Uint8Array(${JSON.stringify(silence)})], 'silence.wav')); return data; })()`,
    );
    await page.locator('label.drop').dispatchEvent('drop', { dataTransfer: dropped });
    await page.getByText('silence.wav, 46.9 KiB').waitFor();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('No voice was found in the recording.').waitFor();
    await page.getByText('Submit a recording with at least 1.5 s of voice within a few seconds').waitFor();
  });

  it('scores the microphone while it is recorded, then the whole', async () => {
    const page = await browser.open('/detect', { role: 'reviewer' });
    await page.getByLabel('The microphone, scored while you speak').check();
    await page.getByLabel('Model').selectOption('phone');
    await page.getByRole('button', { name: 'Record from the microphone' }).click();
    await page.getByText(/^Last window, .*: valid voice, synthesis 0\.\d{3}, replay [01]\.\d{3}\.$/).waitFor();
    await page.getByText(/ heard, .* of voice, by phone\/v8/).waitFor();
    const chart = await page.locator('.picture canvas').elementHandle();
    const heard = await page.locator('.live-words strong').first().textContent();
    await expect.poll(() => page.locator('.live-words strong').first().textContent()).not.toBe(heard);
    expect(await chart!.evaluate((canvas) => canvas.isConnected)).toBe(true); // updated by what came meanwhile, not made again
    await page.getByRole('button', { name: 'Stop and verify' }).click();
    await page.getByText('microphone, by phone/v8').waitFor();
    await page
      .getByText(/^The model gives/)
      .first()
      .waitFor();
    expect(page.url()).toMatch(/verification=[0-9a-f-]{36}/);
    await page.getByRole('button', { name: 'Record from the microphone' }).waitFor();
  });

  it.each(['/detect', '/voices?enrol=1'])(
    'gives the microphone back that comes after asking was stopped, or the page was left: %s',
    async (path) => {
      const page = await browser.open(path, { role: 'reviewer' });
      await page.evaluate(slowPermission);
      const [record, stop] = [
        page.getByRole('button', { name: 'Record from the microphone' }),
        page.getByRole('button', { name: 'Stop' }),
      ];
      if (path === '/detect') await page.getByLabel('The microphone, scored while you speak').check();
      await record.click();
      await stop.click();
      await record.click();
      await stop.waitFor();
      await page.getByRole('link', { name: 'Verifications' }).first().click();
      await page.getByRole('heading', { name: 'Verifications', level: 1 }).waitFor();
      await page.evaluate('allowMicrophones()');
      await vi.waitFor(
        async () =>
          expect(await page.evaluate('microphones.map(({ readyState }) => readyState)')).toEqual(['ended', 'ended']),
        5000,
      );
    },
  );

  it('releases the microphone at once when the page is left during a recording', async () => {
    const page = await browser.open('/detect', { role: 'reviewer' });
    await page.evaluate(slowPermission);
    await page.getByLabel('The microphone, scored while you speak').check();
    await page.getByRole('button', { name: 'Record from the microphone' }).click();
    await page.evaluate('allowMicrophones()');
    await page.getByText(/^Last window/).waitFor();
    await page.getByLabel('A file', { exact: true }).check();
    await vi.waitFor(
      async () => expect(await page.evaluate('microphones.map(({ readyState }) => readyState)')).toEqual(['ended']),
      2000,
    );
  });

  it.each([
    { width: 1280, dark: false },
    { width: 360, dark: true },
  ])(
    'has no barrier that axe finds, and scrolls in one direction alone, at $width px (dark: $dark)',
    async ({ width, dark }) => {
      const page = await browser.open('/detect', { width, dark });
      await page.getByRole('button', { name: 'Verify' }).waitFor();
      const look = async () => {
        expect(await findBarriers(page)).toEqual([]);
        expect(
          await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
        ).toBeLessThanOrEqual(0);
      };
      await look();
      await page.getByLabel('The microphone, scored while you speak').check();
      await page.getByRole('button', { name: 'Record from the microphone' }).click();
      await page.getByText(/^Last window/).waitFor();
      await look();
    },
  );

  it('is not offered to a viewer', async () => {
    const page = await browser.open('/', { role: 'viewer' });
    await page.getByRole('link', { name: 'Verifications' }).first().waitFor();
    expect(await page.getByRole('link', { name: 'AI Voice Detection' }).count()).toBe(0);
  });
});
