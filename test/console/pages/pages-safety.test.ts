import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { submitBatch } from '../../../pipelines/audio/batches/batch-intake.ts';
import { storeVoiceprint } from '../../../pipelines/audio/voices/voiceprint-store.ts';
import { Vault } from '../../../runtime/secrets/vault.ts';
import { recordEvent } from '../../../console/access/audit.ts';
import { addProtectedName } from '../../../pipelines/branding/names/protected-name-record.ts';
import { fileDispute } from '../../../pipelines/labels/number-dispute.ts';
import { ask, profile } from '../../support/branding.ts';
import { putNumbers } from '../../support/numbers.ts';
import { configIn, submissionOf, useFolder, writeVoice } from '../../support/recording-batch.ts';
import { noChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console-process.ts';
import { useConsoleServer } from '../support/console-server.ts';

const server = await useConsoleServer();
const running = await useConsole();
const browser = await useBrowser(running);
const folder = await useFolder('pages-safety');
const { db } = running.database;

/** What would run, end its element, or turn the text around where it is not taken as text. */
const script = '<script>alert(1)</script></textarea><img src=x onerror=alert(2)>';
/** What turns a text around, and what the database takes as well. */
const turning = '\u202Ecba\u2066';
const hidden = '\u200Bcba';
/** What is left of either. */
const shown = `${script}cba`;

let paths: readonly string[];

beforeAll(async () => {
  const config = configIn(folder);
  const path = await writeVoice(join(folder, 'a.wav'));
  const { batch } = await submitBatch(
    { db, config },
    submissionOf([{ path, source: `${script}${hidden}.wav` }], { name: `${script}${hidden}` }),
  );
  const vault = new Vault(Buffer.alloc(32, 7));
  const voice = await storeVoiceprint(
    { db, vault },
    {
      owner: `${script}${hidden}`,
      subject: `${script}${hidden}`,
      model: 'voiceprint/1',
      modelSha256: '0'.repeat(64),
      recordings: 3,
      voiceSeconds: 10,
      consent: { reference: `${script}${hidden}`, at: new Date('2026-01-01'), recordedBy: `${script}${hidden}` },
      embedding: new Float32Array(4),
    },
  );
  await ask(
    db,
    'add_managed_brand',
    { handle: 'odd', brand: { ...profile, legalName: `Odd ${script}` } },
    { owner: `Owner ${script}` },
  );
  await putNumbers(db, [{ phone: '+12025550143', level: 'SPAM', category: 6 }]);
  const { disputeId } = await fileDispute(
    { db, vault },
    { request: { phone: '+12025550143', reason: `${script}${hidden}` }, filedBy: `${script}${hidden}` },
  );
  await addProtectedName({
    db,
    name: `Odd ${script}`,
    category: 'bank',
    country: null,
    common: false,
    reason: `${script}${hidden}`,
    actor: `${script}${hidden}`,
  });
  const load = await db.query<{ load_id: number }>(
    `INSERT INTO feed_load (feed, file_name, file_sha256, file_bytes, submitted_by, state, failure_code, failure_reason) VALUES ('reputation', $1, repeat('0', 64), 1, $1, 'failed', 'feed_unreadable', $1) RETURNING load_id`,
    [script],
  );
  const loadId = load.rows[0]!.load_id;
  await db.query(
    "INSERT INTO feed_reject (load_id, line_number, code, reason, excerpt) VALUES ($1, 1, 'phone_invalid', $2, $2)",
    [loadId, script],
  );
  await recordEvent(db, { actor: `${script}${turning}`, action: 'change_role', object: `user ${script}${turning}` });
  paths = [
    '/voices',
    `/voices/${voice.id}`,
    '/batches',
    `/batches/${batch.id}`,
    '/verifications',
    '/brands',
    '/brands/odd',
    '/operations',
    '/review',
    '/letters',
    '/audit',
    '/feeds',
    `/feeds/${loadId}`,
    '/disputes',
    `/disputes/${disputeId}`,
  ];
});

const pages = server.app.routeRules.filter(({ method, url }) => method === 'GET' && !/[:*]/.test(url));

describe('an answer', () => {
  it('has the content policy, for every file and every user', async () => {
    const session = await server.session('operator');
    const wrong: string[] = [];
    for (const { url } of pages.filter(({ url: path }) => !/live|events$|stream$/.test(path))) {
      for (const headers of [session, { Cookie: undefined }]) {
        const { headers: got } = await server.send({ method: 'GET', url, headers, remoteAddress: '10.5.5.5' });
        const policy = String(got['content-security-policy']);
        const isStrict =
          policy.startsWith("default-src 'none'") &&
          /(script-src 'self'|sandbox)/.test(policy) &&
          !/script-src[^;]*unsafe|https?:|\*/.test(policy) &&
          policy.includes("frame-ancestors 'none'");
        if (
          !isStrict ||
          got['x-content-type-options'] !== 'nosniff' ||
          got['x-frame-options'] !== 'DENY' ||
          got['referrer-policy'] !== 'no-referrer' ||
          got['cross-origin-resource-policy'] !== 'same-origin'
        )
          wrong.push(`${url}: ${policy}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('of the API is kept by no cache', async () => {
    const session = await server.session('operator');
    for (const url of ['/api/session', '/api/voiceprints', '/api/events', '/api/no-such'])
      expect((await server.send({ method: 'GET', url, headers: session })).headers['cache-control']).toBe('no-store');
  });
});

describe('a file of the pages', () => {
  const files = pages.filter(({ url }) => /^\/pages\/.*\.\w+$/.test(url)).map(({ url }) => url);

  it('loads nothing from elsewhere', async () => {
    expect(files.map((path) => path.split('/').at(-1))).toEqual([
      'capture-worklet.js',
      'console.css',
      'icon.svg',
      'main.js',
    ]);
    const session = await server.session('operator');
    const loads =
      /(?:\b(?:src|href|action)\s*=\s*["']?|url\(\s*["']?|@import\s+["']?|\bimport\s*\(?\s*["'`]|\bfrom\s*["'`]|\b(?:fetch|EventSource|WebSocket|Worker|addModule)\(\s*["'`])(?:https?:|wss?:)?\/\/[^\s"'`)]+/g;
    const found: string[] = [];
    for (const url of files) {
      const { payload } = await server.send({ method: 'GET', url, headers: session, remoteAddress: '10.5.5.6' });
      found.push(...[...payload.matchAll(loads)].map(([load]) => `${url}: ${load}`));
    }
    expect(found).toEqual([]);
  });

  it('that is a document has no script and no style of its own', async () => {
    const session = await server.session('operator');
    for (const url of ['/', '/voices', '/queues', '/no/such/page']) {
      const { payload, statusCode } = await server.send({ method: 'GET', url, headers: session });
      expect(statusCode, url).toBe(200);
      expect(
        [
          ...payload.matchAll(
            /<script(?![^>]*\bsrc=)(?![^>]*type="?application\/json)[^>]*>|<style|\sstyle=|\son[a-z]+=|javascript:|<base href="(?!\/)|<iframe/gi,
          ),
        ].map(([text]) => `${url}: ${text}`),
      ).toEqual([]);
    }
  });
});

// A machine without Chromium skips this; .ci/run installs it.
describe.skipIf(noChromium)('a page that shows names from outside', () => {
  it('shows them as text, without what cannot be seen, and runs nothing of them', async () => {
    const seen: string[] = [];
    for (const path of paths) {
      const page = await browser.open(path, { role: 'operator' });
      const asked: string[] = [];
      page.on('dialog', (dialog) => void asked.push(dialog.message()));
      page.on('request', (request) => {
        if (!request.url().startsWith(running.url) && !/^(data|blob):/.test(request.url())) asked.push(request.url());
      });
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('load');
      await expect.poll(() => page.locator('.loading').count(), { timeout: 60_000 }).toBe(0);
      const text = await textOf(page);
      if (text.includes(shown) || text.includes(script)) seen.push(path);
      expect(text, path).not.toMatch(/[\u200B-\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/);
      expect(
        await page.evaluate(
          "document.querySelectorAll('#console script, #console img[onerror], #console [onerror]').length",
        ),
        path,
      ).toBe(0);
      expect(asked, path).toEqual([]);
      await page.context().close();
    }
    expect(seen).toEqual(
      expect.arrayContaining([
        '/voices',
        paths[1],
        '/batches',
        '/audit',
        '/brands/odd',
        '/review',
        '/feeds',
        ...paths.filter((path) => /^\/(feeds|disputes)\//.test(path)),
      ]),
    );
  });

  it('has a title of the window without them', async () => {
    const page = await browser.open(paths[1]!);
    await page.getByRole('heading', { name: 'Voice of' }).waitFor();
    expect(await page.title()).toBe(`Voice of ${shown} · Caller Trust`);
  });

  it('runs nothing that was written into it', async () => {
    const page = await browser.open('/voices');
    page.removeAllListeners('console'); // the browser says what it refuses
    await page.evaluate(
      "(() => { const script = document.createElement('script'); script.textContent = 'window.ran = true'; document.body.append(script); const image = document.createElement('div'); image.innerHTML = '<img src=x onerror=\"window.ran = true\">'; document.body.append(image); })()",
    );
    await page.waitForTimeout(300);
    expect(await page.evaluate('window.ran === undefined')).toBe(true);
  });
});

/** The text of the page, values of fields with it. */
async function textOf(page: Page): Promise<string> {
  return (await page.evaluate(
    "document.body.innerText + ' ' + [...document.querySelectorAll('input, textarea, select')].map(({ value }) => value).join(' ')",
  )) as string;
}
