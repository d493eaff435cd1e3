import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { initTrust, makeRootKeys } from '../../pipelines/caches/signing/ceremony.ts';
import { refreshSignatures } from '../../pipelines/caches/signing/sign-publications.ts';
import { inTransaction } from '../../runtime/postgres.ts';
import { Vault } from '../../runtime/secrets/vault.ts';
import { until, useTestApi } from '../api/support/running-api.ts';
import { chromiumPath, noChromium } from '../console/support/browser.ts';
import { useTestDatabase } from '../support/database.ts';
import { inventedRows, PublishedHistory } from '../support/segmented-artefacts.ts';

const runFile = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const folder = await mkdtemp(join(tmpdir(), 'caller-trust-packages-'));
afterAll(() => rm(folder, { recursive: true }));
const home = join(folder, 'client');
const installed = join(home, 'node_modules', 'caller-trust-client');
const database = await useTestDatabase();
const { db } = database;
const sitePage = `<!doctype html><link rel="icon" href="data:,"><title>numbers</title><script type="module">
import * as library from '/client/clients/typescript/index.js';
globalThis.library = library;
</script>`;

/** A site of another origin than the API, whose page has the package; the folder is filled below. */
const site = await serveSite();
const { url, key, get, store } = await useTestApi(database, { API_ALLOWED_ORIGINS: site });
const history = new PublishedHistory({ db, store, artefact: { cache: 'spammer_phones', country: '' } });
const rows = inventedRows(3000);
const vault = new Vault(Buffer.alloc(32, 9));

async function publish(plain: Buffer): Promise<void> {
  const { version } = await history.publish(plain);
  await until(
    async () => (await get('/v1/caches/spammer_phones', {}, 'HEAD')).headers.get('x-cache-version') === String(version),
  );
}

await publish(rows);
await initTrust({ db, vault, now: new Date() }, { rootKeys: makeRootKeys(3), threshold: 2 });
await until(async () => (await get('/v1/trust/timestamp.json')).status === 200);

/** What the transaction that publishes does in a night. */
async function sign(): Promise<void> {
  const before = (await get('/v1/trust/timestamp.json')).headers.get('etag');
  await inTransaction(db, (client) => refreshSignatures(client, { vault, now: new Date() }));
  await until(async () => (await get('/v1/trust/timestamp.json')).headers.get('etag') !== before);
}

const phone = rows.toString().split('\t')[0]!;
const wantedRow = { phone, reputation_level: 'SPAM', reputation_category: '1' };

/** Makes the tarball of a package of the checkout. */
async function pack(directory: string): Promise<string> {
  const { stdout } = await runFile('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: directory });
  return join(folder, stdout.trim().split('\n').at(-1)!);
}

describe('the TypeScript client, installed from its tarball in an empty folder', async () => {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  // As its script `prepack` does, which npm leaves out where the tests are started by an npm that runs no scripts.
  await runFile(process.execPath, [compiler, '-p', join(root, 'clients/typescript')]);
  const tarball = await pack(join(root, 'clients/typescript'));
  await writeFile(join(folder, 'root.json'), Buffer.from(await (await get('/v1/trust/1.root.json')).arrayBuffer()));
  await runFile('npm', ['install', '--offline', '--no-audit', '--no-fund', '--prefix', home, tarball]);

  it('depends on nothing, and has its licence, its documentation and its declarations', async () => {
    const { stdout } = await runFile('npm', ['ls', '--all', '--parseable', '--prefix', home]);
    expect(stdout.trim().split('\n').length).toBe(2); // the folder, and the package
    for (const name of [
      'LICENSE',
      'README.md',
      'dist/clients/typescript/index.d.ts',
      'dist/clients/typescript/node.d.ts',
    ])
      expect((await readFile(join(installed, name))).length, name).toBeGreaterThan(200);
  });

  it('compiles against its declarations, and keeps a verified copy in Node', async () => {
    await writeFile(
      join(home, 'keep.ts'),
      `import { readFile } from 'node:fs/promises';
import { findInCopy, pull, readDocument, ServiceClient, type PulledArtefact, type Row } from 'caller-trust-client/node';

const [url, key, phone] = process.argv.slice(2) as [string, string, string];
const client = new ServiceClient({ url, key });
const wanted = { caches: ['spammer_phones'], countries: 'all' } as const;
const trustAnchor = await readFile('../root.json');
const pulled: PulledArtefact[] = await pull({ client, directory: 'numbers', wanted, parallel: 2, trustAnchor });
const artefact = { cache: 'spammer_phones', country: '' } as const;
const { row, isVerified }: { row: Row | null; isVerified: boolean } = await findInCopy({ directory: 'numbers', artefact, phone });
const { categories } = await readDocument(client, '/v1/reputation/categories');
console.log(JSON.stringify({ how: pulled.map(({ how }) => how), row, isVerified, first: categories[0]?.name }));
`,
    );
    await symlink(join(root, 'node_modules/@types'), join(home, 'node_modules/@types'));
    const options = ['--module', 'nodenext', '--target', 'es2023', '--strict', '--types', 'node', '--ignoreConfig'];
    await writeFile(join(home, 'package.json'), JSON.stringify({ type: 'module' }));
    await runFile(process.execPath, [compiler, ...options, 'keep.ts'], { cwd: home });
    const { stdout } = await runFile(process.execPath, ['keep.js', url, key, phone], { cwd: home });
    expect(JSON.parse(stdout)).toEqual({ how: ['full'], row: wantedRow, isVerified: true, first: 'general_spam' });
  });

  it.skipIf(noChromium)(
    'keeps a verified copy in a page of an allowed origin, takes a delta, and looks a number up',
    async () => {
      const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox', '--disable-gpu'] });
      try {
        const page = await browser.newPage();
        await page.goto(site);
        await page.waitForFunction('globalThis.library !== undefined');
        const begun = await page.evaluate(
          inPage(`
          const artefact = artefactOf('spammer_phones');
          const store = new MemoryStore();
          const anchor = new Uint8Array(await (await fetch('${url}/v1/trust/1.root.json')).arrayBuffer());
          const trust = await PublicationTrust.open({ client, store, anchor });
          const copy = (globalThis.copy = new MemoryCopy({ client, trust }, artefact));
          const how = await copy.update();
          const { row } = await lookUp({ client, trust, store, artefact, phone });
          return { how, found: copy.find(phone), absent: copy.find('+19999999999'), row, bytes: copy.rows.length };`),
        );
        expect(begun).toEqual({ how: 'full', found: wantedRow, absent: null, row: wantedRow, bytes: rows.length });
        const next = inventedRows(3040);
        await publish(next);
        await sign();
        const updated = await page.evaluate(
          inPage('return { how: await copy.update(), again: await copy.update(), bytes: copy.rows.length };'),
        );
        expect(updated).toEqual({ how: 'delta', again: 'unchanged', bytes: next.length });
        const refused = inPage(`
        const stranger = new ServiceClient({ url: '${url}', key: 'no key' });
        return stranger.getDocument('/v1/caches').then(() => 'read', ({ code }) => code);`);
        expect(await page.evaluate(refused)).toBe('unauthenticated');
        await page.goto(site.replace('127.0.0.1', 'localhost')); // the same page of an origin that is not allowed
        await page.waitForFunction('globalThis.library !== undefined');
        const stranger = inPage(`
        const retryPolicy = { triesMax: 1, firstWaitMs: 1, waitMsMax: 1, silenceMsMax: 5000, bytesPerSecondMin: 1 };
        const impatient = new ServiceClient({ url: '${url}', key: '${key}', retryPolicy });
        return impatient.getDocument('/v1/caches').then(() => 'read', ({ code }) => code);`);
        expect(await page.evaluate(stranger)).toBe('download_failed');
      } finally {
        await browser.close();
      }
    },
  );
});

describe('the command line, from the tarball of the project', async () => {
  await runFile('tar', ['-xzf', await pack(root), '-C', folder]);
  // What an installation brings with it: the packages that are not part of dist.
  await symlink(join(root, 'node_modules'), join(folder, 'package', 'node_modules'));
  const run = (...args: string[]) =>
    runFile(process.execPath, [join(folder, 'package/dist/cli.js'), ...args], {
      cwd: folder,
      env: { PATH: process.env['PATH'], CALLER_TRUST_KEY: key },
    });

  it('shows its help and version', async () => {
    expect((await run('--help')).stdout).toContain('pull [options] <url>');
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    expect((await run('--version')).stdout.trim()).toBe(version);
  });

  it('pulls a copy and finds a number in it', async () => {
    const pulled = await run('pull', url, '--dir', 'numbers', '--cache', 'spammer_phones', '--trust', 'root.json');
    expect(pulled.stdout).toContain('Verified: signed under version 1 of the root');
    const found = await run('lookup', 'numbers', phone, '--cache', 'spammer_phones', '--json');
    expect(JSON.parse(found.stdout)).toMatchObject({ listed: true, row: wantedRow, verified: true });
  });
});

/** A program for the page; a text, since what the tests are compiled to does not run there. */
function inPage(body: string): string {
  return `(async () => {
    const { artefactOf, lookUp, MemoryCopy, MemoryStore, PublicationTrust, ServiceClient } = globalThis.library;
    const client = new ServiceClient({ url: '${url}', key: '${key}' });
    const phone = '${phone}';
    ${body}
  })()`;
}

async function serveSite(): Promise<string> {
  const answer = async ({ url: path = '/' }: IncomingMessage, response: ServerResponse) => {
    const isFile = path.startsWith('/client/');
    response.writeHead(200, { 'Content-Type': isFile ? 'text/javascript' : 'text/html' });
    response.end(isFile ? await readFile(join(installed, 'dist', path.slice('/client/'.length))) : sitePage);
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
