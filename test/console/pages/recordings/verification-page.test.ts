import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { AudioStore } from '../../../../pipelines/audio/store/audio-store.ts';
import { sampleRecording } from '../../../support/audio-file.ts';
import { until } from '../../../support/service-process.ts';
import { findBarriers, noChromium, useBrowser } from '../../support/browser.ts';
import { logIn, useConsole } from '../../support/console-process.ts';
import { handIn } from '../../support/handed-in.ts';

const running = await useConsole();
const browser = await useBrowser(running);
const reviewer = await logIn(running, 'reviewer');

interface Shown {
  audio: { sha256: string; duration: number };
}

const shown = (id: string) => reviewer.json<Shown>(`/api/verifications/${id}`);

/** Presses play, without a sound. */
async function play(page: Page): Promise<void> {
  await page.getByLabel('The recording', { exact: true }).waitFor();
  await page.evaluate(
    "(() => { const audio = document.querySelector('audio'); audio.muted = true; audio.play().catch(() => {}); })()",
  );
}

const isReady = (page: Page) =>
  until(() => page.evaluate<boolean>("document.querySelector('audio').readyState >= 2"), 'there is sound');
const secondsOf = (page: Page) => page.evaluate<number>("document.querySelector('audio').duration");

// A machine without Chromium skips this; .ci/run installs it.
describe.skipIf(noChromium)('the page of a recording that browsers do not play', async () => {
  running.start('jobs/worker-main.js');
  const ids = new Map<string, string>();
  for (const name of ['tone-gsm.wav', 'tone-ima.wav', 'tone-alac.m4a', 'tone-stereo-flac.ogg'])
    ids.set(name, await handIn(reviewer, Uint8Array.from(sampleRecording(name)), name));
  const open = (name: string, refusals: readonly number[] = []) =>
    browser.open(`/verifications/${ids.get(name)}`, { role: 'viewer', refusals });

  it.each([...ids.keys()])('plays it converted, in its length, and can be sought in: %s', async (name) => {
    const page = await open(name);
    await page.getByText('Converted for playback; the original is the download.').waitFor();
    await play(page);
    await isReady(page);
    expect(Math.abs((await secondsOf(page)) - (await shown(ids.get(name)!)).audio.duration)).toBeLessThan(0.1);
    await page.evaluate(
      "(() => { const audio = document.querySelector('audio'); audio.pause(); audio.currentTime = 0.75; })()",
    );
    await until(
      () =>
        page.evaluate<boolean>(
          "(() => { const { seeking, currentTime } = document.querySelector('audio'); return !seeking && currentTime === 0.75; })()",
        ),
      'it is at the place',
    );
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('has the original as its download', async () => {
    const page = await open('tone-gsm.wav');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Save the original' }).click(),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).equals(sampleRecording('tone-gsm.wav'))).toBe(true);
  });

  it('has no barrier that axe finds', async () => {
    const page = await open('tone-gsm.wav');
    await page.getByText('Converted for playback').waitFor();
    await until(() => page.evaluate("document.querySelector('[aria-busy=true]') === null"), 'everything is read');
    expect(await findBarriers(page)).toEqual([]);
  });

  it('is played converted where this browser refuses the original', async () => {
    const {
      audio: { sha256 },
    } = await shown(ids.get('tone-ima.wav')!);
    await running.database.db.query("UPDATE verification_result SET codec = 'pcm_s16le' WHERE audio_sha256 = $1", [
      sha256,
    ]); // as if all played it
    const page = await open('tone-ima.wav');
    await page.getByText('Listening is recorded').waitFor();
    expect(await page.getByText('Converted for playback').count()).toBe(0);
    await play(page);
    await page.getByText('Converted for playback').waitFor();
    await isReady(page);
  });

  it('says why it cannot be played', async () => {
    const id = await handIn(reviewer, Uint8Array.from(sampleRecording('tone-stereo.flac')), 'tone-stereo.flac');
    await rm(new AudioStore(join(running.stateDir, 'audio')).pathOf((await shown(id)).audio.sha256));
    const page = await browser.open(`/verifications/${id}`, { role: 'viewer', refusals: [404] });
    await play(page);
    await page
      .locator('.player')
      .getByRole('alert')
      .getByText('The stored audio is not in the audio directory of the console.')
      .waitFor();
  });
});
