// node scripts/console-pictures.mjs: draws the pages of the console for docs/console.md, from what the demo leaves. Needs Chromium.
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { root, runScript, setUp } from './set-up.mjs';

const run = promisify(execFile);
const cli = join(root, 'dist', 'cli.js');
const pictures = join(root, 'docs', 'pictures', 'console');
const recordings = join(root, 'samples', 'recordings');
const chromiumPath = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (path) => path !== undefined && existsSync(path),
);

await runScript(async () => {
  if (chromiumPath === undefined) throw new Error('there is no Chromium; CHROMIUM_PATH names it');
  await setUp();
  const directory = await mkdtemp(join(tmpdir(), 'caller-trust-pictures-'));
  const env = {
    ...process.env,
    STATE_DIR: directory,
    API_PORT: '0',
    METRICS_PORT: '0',
    CONSOLE_PORT: '0',
    NIGHT_SCHEDULE: '0 0 29 2 *', // no night but those that are asked for
    LOG_LEVEL: 'warn',
  };
  const command = async (...args) =>
    JSON.parse(
      (await run(process.execPath, [cli, ...args, '--json'], { env, maxBuffer: 2 ** 26 }).catch((error) => error))
        .stdout,
    );
  await run(process.execPath, [cli, 'demo', '--keep'], { env, maxBuffer: 2 ** 26 });
  env.STATE_DIR = join(directory, 'demo', 'state');
  const service = spawn(process.execPath, [cli, 'start'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    const url = await consoleUrl(env.STATE_DIR);
    const { name, password } = await command('console', 'users', 'add', 'ada', '--role', 'operator', '--generate');
    const seeds = await seed(command, join(directory, 'demo', 'letters'));
    await drawAll({ url, name, password, seeds });
  } finally {
    service.kill('SIGTERM');
    await new Promise((resolve) => service.once('exit', resolve));
    await rm(directory, { recursive: true, force: true });
  }
});

async function consoleUrl(stateDir) {
  for (;;) {
    const text = await readFile(join(stateDir, 'console.json'), 'utf8').catch(() => undefined);
    if (text !== undefined) return JSON.parse(text).url;
    await sleep(200);
  }
}

/** Creates the voice again that the demo has deleted, hands a letter in that waits for a person, and returns the ids for the pictures. */
async function seed(command, letters) {
  const reader = (each) => join(recordings, each);
  const voice = await command(
    'voice',
    'enrol',
    reader('reader-a-1.wav'),
    reader('reader-a-2.wav'),
    reader('reader-a-3.flac'),
    '--subject',
    'reader-a',
    '--owner',
    'demo',
    '--consent',
    'CC BY 4.0 recording, samples/README.md',
    '--consent-at',
    '2026-01-01',
  );
  await command('voice', 'verify', voice.id, reader('reader-a-4.opus'));
  const [brand] = await command('brand', 'list', '--state', 'approved');
  const batch = (await command('batch', 'list')).find(({ items }) => items > 1);
  const results = await command('batch', 'results', batch.id);
  const { handle } = (await command('letter', 'list')).find((each) => each.handle.startsWith('varnholt'));
  const numbers = join(letters, 'numbers.csv');
  await writeFile(numbers, 'phone\n+12065550128\n+13035550110\n');
  await command('brand', 'update', handle, '--letter', join(letters, 'scanned-letter.pdf'), '--numbers', numbers);
  const [letter] = await command('letter', 'list', '--state', 'in_review');
  return {
    voice: voice.id,
    brand: brand.handle,
    batch: batch.id,
    letter: letter.letterId,
    verification: results.items.find(({ source }) => source === 'call-two-sides.wav').id,
  };
}

/** A picture each: its name, the page, and the size of the window. */
function pages({ voice, brand, batch, letter, verification }) {
  return [
    ['overview', '/'],
    ['verifications', '/verifications'],
    ['verification', `/verifications/${verification}`],
    ['verification-dark-narrow', `/verifications/${verification}`, { width: 360, height: 800, dark: true }],
    ['batch', `/batches/${batch}`],
    ['detect', '/detect'],
    ['voices', '/voices'],
    ['voice', `/voices/${voice}`],
    ['models', '/models'],
    ['nights', '/nights'],
    ['night', '/nights/1'],
    ['artefact', '/artefacts/phones/US'],
    ['brand', `/brands/${brand}`, { height: 1500 }], // down to the form of a letter
    ['review', '/review'],
    ['review-letter', `/review/letters/${letter}`],
    ['queues', '/queues'],
    ['audit', '/audit'],
  ];
}

async function drawAll({ url, name, password, seeds }) {
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox', '--disable-gpu'] });
  await mkdir(pictures, { recursive: true });
  try {
    const first = await browser.newContext({ baseURL: url });
    await first.request.post('/api/session', { data: { name, password }, headers: { Origin: url } });
    const storageState = await first.storageState();
    for (const [picture, path, { width = 1280, height = 900, dark = false } = {}] of pages(seeds)) {
      const context = await browser.newContext({
        storageState,
        baseURL: url,
        viewport: { width, height },
        colorScheme: dark ? 'dark' : 'light',
        timezoneId: 'UTC',
        reducedMotion: 'reduce',
      });
      const page = await context.newPage();
      await page.goto(path);
      await page
        .locator('.loading')
        .first()
        .waitFor({ state: 'detached' })
        .catch(() => {});
      await sleep(2500); // pictures and charts of the page
      await page.screenshot({ path: join(pictures, `${picture}.png`) });
      console.error(`drawn: ${picture}`);
      await context.close();
    }
  } finally {
    await browser.close();
  }
}
