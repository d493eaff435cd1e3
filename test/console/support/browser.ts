import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, afterEach, expect } from 'vitest';
import type { Role } from '../../../console/access/roles.ts';
import { passwordOf, type TestConsole } from './console-process.ts';

/** Where Debian, and CHROMIUM_PATH, have the browser. */
const chromiumPaths = [
  process.env['CHROMIUM_PATH'],
  '/usr/bin/chromium-headless-shell', // a browser without windows takes a quarter less processor time
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** The browser of this machine, or undefined; with CI_REQUIRE_CHROMIUM=1 its absence is an error. */
export const chromiumPath = chromiumPaths.find((path) => path !== undefined && existsSync(path));
if (chromiumPath === undefined && process.env['CI_REQUIRE_CHROMIUM'] === '1')
  throw new Error('there is no Chromium: apt-get install chromium-headless-shell');

/** Why browser tests do not run here, for `describe.skipIf`. */
export const noChromium = chromiumPath === undefined;

/** What a page does not show by then, it does not show: beside other work a page may take half a minute to load. */
const pageSecondsMax = 120;

const axeSource = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What a browser of a test file can do. */
interface TestBrowser {
  /**
   * A page of a new window in which the user of a role is logged in, at a path. Messages of its console fail the test, but for
   * answers of a status that it asks for.
   */
  open(
    path: string,
    options?: {
      role?: Role;
      width?: number;
      height?: number;
      dark?: boolean;
      timezone?: string;
      refusals?: readonly number[];
    },
  ): Promise<Page>;
}

/** The browser of the files that one process runs; it ends with the process. */
let shared: Promise<Browser> | undefined;

function launch(args: readonly string[]): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', ...args],
  });
}

/** A Chromium for a file. `fakeMicrophone`: a WAV file that the browser takes for the microphone, and permission to use it. */
export async function useBrowser(
  console: TestConsole,
  { fakeMicrophone }: { fakeMicrophone?: string } = {},
): Promise<TestBrowser> {
  if (chromiumPath === undefined) return { open: async () => Promise.reject(new Error('there is no Chromium')) };
  const browser =
    fakeMicrophone === undefined
      ? await (shared ??= launch([]))
      : await launch([
          '--use-fake-device-for-media-stream',
          '--use-fake-ui-for-media-stream',
          `--use-file-for-fake-audio-capture=${fakeMicrophone}%noloop`,
        ]);
  const contexts: BrowserContext[] = [];
  let messages: string[] = [];
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    const said = messages;
    messages = [];
    expect(said, 'messages of the page').toEqual([]);
  });
  if (fakeMicrophone !== undefined) afterAll(() => browser.close());
  return {
    async open(
      path,
      { role = 'operator', width = 1280, height = 900, dark = false, timezone = 'UTC', refusals = [] } = {},
    ) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: dark ? 'dark' : 'light',
        timezoneId: timezone,
        baseURL: console.url,
        permissions: fakeMicrophone === undefined ? [] : ['microphone'],
      });
      context.setDefaultTimeout(pageSecondsMax * 1000);
      contexts.push(context);
      const page = await context.newPage();
      page.on('console', (message) => {
        const status = Number(
          /^Failed to load resource: the server responded with a status of (\d+)/.exec(message.text())?.[1],
        );
        if (['error', 'warning'].includes(message.type()) && !refusals.includes(status))
          messages.push(`${message.type()}: ${message.text()}`);
      });
      page.on('pageerror', (error) => messages.push(`thrown: ${error.message}`));
      await context.request.post('/api/session', {
        data: { name: role, password: passwordOf(role) },
        headers: { Origin: console.url },
      });
      await page.goto(path);
      return page;
    },
  };
}

/** What can differ between two sizes and schemes of the same page. */
const rulesOfLooks = [
  'color-contrast',
  'target-size',
  'scrollable-region-focusable',
  'focus-order-semantics',
  'link-in-text-block',
  'landmark-one-main',
  'page-has-heading-one',
  'aria-hidden-focus',
];

/** Narrower pages are asked for {@link rulesOfLooks} alone: their other rules are those of the wide page. */
const narrowPixelsMax = 600;

/** Rules of WCAG 2.2 A and AA, and of good practice, that a page breaks, by axe, with the elements. */
export async function findBarriers(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(axeSource, 'utf8')); // evaluated by the debugger, which no policy of the page stops
  const isNarrow = page.viewportSize()!.width <= narrowPixelsMax;
  const runOnly = isNarrow
    ? { type: 'rule', values: rulesOfLooks }
    : { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] };
  const found = await page.evaluate(
    async (options) => {
      const { axe, document } = globalThis as unknown as {
        document: unknown;
        axe: {
          run(
            context: unknown,
            options: object,
          ): Promise<{
            violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
          }>;
        };
      };
      return (await axe.run(document, options)).violations;
    },
    { runOnly, resultTypes: ['violations'] },
  );
  return found.map(
    ({ id, impact, nodes }) =>
      `${impact}: ${id}: ${nodes.map(({ html, failureSummary }) => `${html} (${failureSummary.replaceAll('\n', ' ')})`).join(' | ')}`,
  );
}
