import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ArtefactName } from '../../../pipelines/caches/definition.ts';
import type { PulledArtefact } from '../../../clients/typescript/files/pull.ts';
import { sha256Of } from '../../../runtime/digest.ts';
import { until as untilApi, useTestApi } from '../../api/support/running-api.ts';
import { runCli, runCliJson } from '../../support/cli.ts';
import { useTestDatabase } from '../../support/database.ts';
import { inventedRows, PublishedHistory } from '../../support/segmented-artefacts.ts';
import { killProcessesAfterEach, startProcess, until } from '../../support/service-process.ts';
import { useTroubledRoad } from '../../support/troubled-road.ts';

const database = await useTestDatabase();
const { url, key, get, store } = await useTestApi(database);
const road = await useTroubledRoad(url);
const directory = await mkdtemp(join(tmpdir(), 'caller-trust-client-'));
const keyFile = join(directory, 'key');
await writeFile(keyFile, `${key}\n`, { mode: 0o600 });
afterAll(() => rm(directory, { recursive: true }));
killProcessesAfterEach();
beforeEach(() => road.set({}));

// No database, no state: these commands are clients.
const env = { STATE_DIR: join(directory, 'no-state') };
const histories = new Map<string, PublishedHistory>();

async function publish(artefact: ArtefactName, plain: Buffer) {
  const name = `${artefact.cache}${artefact.country === '' ? '' : `?country=${artefact.country}`}`;
  const history = histories.get(name) ?? new PublishedHistory({ db: database.db, store, artefact });
  histories.set(name, history);
  const published = await history.publish(plain, { segmentRowsMax: 200 });
  await untilApi(
    async () =>
      (await get(`/v1/caches/${name}`, {}, 'HEAD')).headers.get('x-cache-version') === String(published.version),
  );
  return { ...published, plain };
}

const us = { cache: 'phones', country: 'US' } as const;
const spammers = { cache: 'spammer_phones', country: '' } as const;
const usRows = (count: number) =>
  inventedRows(count, (n) => (n % 3 === 0 ? 'NEUTRAL\t\tNorthwind Dental\tApotheke\t\t' : 'SPAM\t1\t\t\t\t'));

describe('caller-trust pull', () => {
  it('pulls what was asked for, and prints what it did and the bytes that it took', async () => {
    const first = await publish(us, usRows(900));
    const dir = join(directory, 'numbers');
    const full = await runCli(
      env,
      'pull',
      url,
      '--dir',
      dir,
      '--cache',
      'phones',
      '--country',
      'US',
      '--key-file',
      keyFile,
    );
    expect([full.code, full.stderr]).toEqual([0, '']);
    expect(full.stdout).toMatch(
      new RegExp(`^artefact +how +from +version +rows +bytes +of +seconds\nphones/US +full +- +${first.version} +900 `),
    );
    await publish(us, usRows(905));
    const { artefacts, bytesReceived } = await runCliJson<{ artefacts: PulledArtefact[]; bytesReceived: number }>(
      env,
      'pull',
      url,
      '--dir',
      dir,
      '--cache',
      'phones',
      '--key-file',
      keyFile,
      '--random-delay',
      '0',
    );
    expect(artefacts).toMatchObject([{ how: 'delta', from: first.version, rows: 905 }]);
    expect(bytesReceived).toBeGreaterThan(0);
    expect(gunzipSync(await readFile(join(dir, 'phones-US', 'rows.tsv.gz'))).equals(usRows(905))).toBe(true);
    expect(await readdir(directory)).not.toContain('no-state');
  });

  it.each([
    ['a URL that is none', ['ftp://caches.example', '--key-file', keyFile], 2, 'usage_invalid'],
    ['a country in lower case', [url, '--country', 'us', '--key-file', keyFile], 2, 'country_invalid'],
    ['a cache that there is not', [url, '--cache', 'numbers', '--key-file', keyFile], 2, 'cache_unknown'],
    ['a key file that is missing', [url, '--key-file', join(directory, 'none')], 2, 'usage_invalid'],
    ['no key', [url, '--cache', 'spammer_phones'], 1, 'unauthenticated'],
    [
      'a cache that was never built',
      [url, '--cache', 'branded_phones', '--key-file', keyFile],
      1,
      'artefact_not_found',
    ],
  ])('ends with an error for %s', async (_what, args, code, error) => {
    const result = await runCli(env, 'pull', ...args, '--dir', join(directory, 'errors'));
    expect([result.code, /\[(\w+)\]/.exec(result.stderr)?.[1]]).toEqual([code, error]);
  });

  it('killed in the middle of the first download it leaves nothing to readers, and the next run fetches only the rest', async () => {
    const published = await publish(
      spammers,
      inventedRows(40_000, () => `SPAM\t1\t${randomBytes(150).toString('hex')}`),
    );
    const dir = join(directory, 'killed');
    road.set({ bytesPerSecond: 1_000_000 });
    const child = startProcess('cli.js', env, {
      args: ['pull', road.url, '--dir', dir, '--cache', 'spammer_phones', '--key-file', keyFile],
    });
    const notes = join(dir, '.partial', 'spammer_phones.full.pieces');
    await until(
      async () => (await readFile(notes, 'utf8').catch(() => '')).split('\n').length > 3,
      'two pieces are there',
    );
    await child.end('SIGKILL');
    expect(await stat(join(dir, 'spammer_phones')).catch(() => 'nothing')).toBe('nothing');
    const pieces = (await readFile(notes, 'utf8')).split('\n').length - 2;
    road.set({});
    const { artefacts } = await runCliJson<{ artefacts: PulledArtefact[] }>(
      env,
      'pull',
      road.url,
      '--dir',
      dir,
      '--cache',
      'spammer_phones',
      '--key-file',
      keyFile,
    );
    expect(artefacts[0]).toMatchObject({ how: 'full', failure: null });
    expect(artefacts[0]!.bytesReceived).toBeLessThan(published.stored.file.bytes - (pieces - 1) * 1024 * 1024);
    expect(gunzipSync(await readFile(join(dir, 'spammer_phones', 'rows.tsv.gz'))).equals(published.plain)).toBe(true);
  });

  it('killed at any moment of an update it leaves the old pair or the new one', async () => {
    const dir = join(directory, 'killed-often');
    const args = ['pull', url, '--dir', dir, '--cache', 'spammer_phones', '--key-file', keyFile];
    const plains = new Map<string, Buffer>();
    let rows = 5000;
    for (const wait of [150, 220, 260, 300, 340, 380, 450]) {
      const { stored, plain } = await publish(spammers, inventedRows((rows += 7)));
      plains.set(stored.file.plainSha256, plain);
      const child = startProcess('cli.js', env, { args });
      await new Promise((resolve) => setTimeout(resolve, wait));
      await child.end('SIGKILL');
      const state = JSON.parse(
        await readFile(join(dir, 'spammer_phones', 'state.json'), 'utf8').catch(() => 'null'),
      ) as { bytes: number; manifest: { file: { plainSha256: string } } } | null;
      if (state === null) continue; // the first run was killed before it was done
      const bytes = await readFile(join(dir, 'spammer_phones', 'rows.tsv.gz'));
      expect(bytes).toHaveLength(state.bytes);
      expect(gunzipSync(bytes).equals(plains.get(state.manifest.file.plainSha256)!)).toBe(true);
    }
    const { artefacts } = await runCliJson<{ artefacts: PulledArtefact[] }>(env, ...args);
    expect(artefacts[0]!.failure).toBeNull();
    expect(gunzipSync(await readFile(join(dir, 'spammer_phones', 'rows.tsv.gz'))).equals(inventedRows(rows))).toBe(
      true,
    );
  });
});

describe('caller-trust lookup', () => {
  let listed: string;
  beforeAll(async () => {
    await publish(us, usRows(20_000));
    await publish(spammers, inventedRows(20));
    listed = '+12025000000';
  });

  it('reads one range of the file, and prints the row under the names of its columns', async () => {
    const whole = (await get('/v1/caches/phones?country=US', {}, 'HEAD')).headers.get('content-length');
    const found = await runCliJson<{
      row: Record<string, string>;
      listed: boolean;
      country: string;
      bytesReceived: number;
    }>(env, 'lookup', url, '+1 202-500-0000', '--key-file', keyFile);
    expect(found).toMatchObject({
      country: 'US',
      listed: true,
      row: {
        phone: listed,
        reputation_level: 'NEUTRAL',
        reputation_category: '',
        display_name: 'Northwind Dental',
        display_description: 'Apotheke',
        display_detail: '',
        display_image: '',
      },
    });
    expect(found.bytesReceived).toBeLessThan(Number(whole));
    const { stdout, code } = await runCli(env, 'lookup', url, '+12025000003', '--key-file', keyFile);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^phone +\+12025000003\nreputation_level +SPAM\nreputation_category +1\n\nphones\/US version \d+, [\d,]+ bytes received\.\nNot verified: the service signs nothing, or neither --trust nor --dir was given\.\n$/,
    );
  });

  it('keeps the index in the given folder, and then fetches only the range', async () => {
    const dir = join(directory, 'lookups');
    const args = ['lookup', url, listed, '--dir', dir, '--key-file', keyFile];
    const first = await runCliJson<{ bytesReceived: number }>(env, ...args);
    const second = await runCliJson<{ bytesReceived: number; row: { phone: string } }>(env, ...args);
    expect(second.row.phone).toBe(listed);
    expect(second.bytesReceived).toBeLessThan(first.bytesReceived / 3);
    await publish(us, usRows(20_001));
    expect(await runCliJson(env, ...args)).toMatchObject({ row: { phone: listed }, listed: true });
  });

  it('says that a number is not listed, with exit code 1', async () => {
    for (const [phone, where] of [
      ['+12025000001', []],
      ['+12129999999', []],
      ['+498912345678', ['--country', 'US']],
      ['+12025000001', ['--cache', 'spammer_phones']],
    ] as const) {
      const { code, stdout, stderr } = await runCli(env, 'lookup', url, phone, ...where, '--key-file', keyFile);
      expect([code, stderr]).toEqual([1, '']);
      expect(stdout).toContain(`${phone} is not listed.`);
    }
  });

  it('asks for a padded range, and with the filter first for nothing where that does not find the number', async () => {
    const look = (phone: string, ...more: string[]) =>
      runCli(env, 'lookup', url, phone, '--cache', 'spammer_phones', '--key-file', keyFile, ...more);
    for (const more of [['--pad', '65536'], ['--filter-first'], ['--filter-first', '--pad', '65536']])
      expect([(await look(listed, ...more)).code, (await look('+12129999999', ...more)).code]).toEqual([0, 1]);
    expect((await look(listed, '--pad', '1073741825')).stderr).toContain('[usage_invalid]');
    const profile = await runCli(env, 'lookup', url, listed, '--filter-first', '--key-file', keyFile);
    expect([profile.code, profile.stderr]).toEqual([1, expect.stringContaining('[artefact_not_found]')]);
    const inCopy = await runCli(env, 'lookup', directory, listed, '--pad', '10');
    expect([inCopy.code, /\[(\w+)\]/.exec(inCopy.stderr)?.[1]]).toEqual([2, 'usage_invalid']);
  });

  it.each([
    ['a text that is no number', ['12'], 2, 'phone_invalid'],
    ['a number of no country', ['+80012345678'], 2, 'country_required'],
    ['a country that was never built', ['+498912345678'], 1, 'artefact_not_found'],
  ])('ends with an error for %s', async (_what, args, code, error) => {
    const result = await runCli(env, 'lookup', url, ...args, '--key-file', keyFile);
    expect([result.code, /\[(\w+)\]/.exec(result.stderr)?.[1]]).toEqual([code, error]);
  });
});

describe('caller-trust cache check-filter', () => {
  const file = join(directory, 'spammers.filter');
  beforeAll(async () => {
    await publish(spammers, inventedRows(20));
    await writeFile(file, Buffer.from(await (await get('/v1/caches/spammer_phones/filter')).arrayBuffer()));
    await writeFile(join(directory, 'huge'), '');
    await truncate(join(directory, 'huge'), 4 * 1024 ** 3);
  });

  it('says which numbers the filter finds, and what that is worth', async () => {
    const { code, stdout } = await runCli(env, 'cache', 'check-filter', file, '+1 202-500-0000', '+12129999999');
    expect([code, stdout]).toEqual([
      0,
      'phone         found\n+12025000000  perhaps\n+12129999999  no\n\n20 numbers; one in 256 others is found too: look a number up before you act.\n',
    ]);
    expect((await runCli(env, 'cache', 'check-filter', file, '+12129999999')).code).toBe(1);
  });

  it.each([
    ['a file that is no filter', () => keyFile, 'filter_invalid'],
    ['a file of 4 GiB, and reads no more than a filter may have', () => join(directory, 'huge'), 'filter_invalid'],
    ['a file that is not there', () => join(directory, 'nowhere'), 'usage_invalid'],
    ['a directory', () => directory, 'usage_invalid'],
  ])('refuses %s', async (_what, path, error) => {
    const result = await runCli(env, 'cache', 'check-filter', path(), '+12129999999');
    expect([result.code, /\[(\w+)\]/.exec(result.stderr)?.[1]]).toEqual([error === 'usage_invalid' ? 2 : 1, error]);
  });
});

describe('caller-trust cache apply-delta', () => {
  let [old, fresh, delta, manifest]: string[] = [];
  let plain: Buffer;
  beforeAll(async () => {
    const canada = { cache: 'phones', country: 'CA' } as const;
    const first = await publish(canada, usRows(800));
    const second = await publish(canada, usRows(790));
    plain = second.plain;
    old = store.path({ ...canada, sha256: first.stored.file.sha256 });
    delta = store.path({ ...canada, sha256: second.deltas[0]!.sha256, kind: 'delta' });
    fresh = join(directory, 'fresh.tsv.gz');
    manifest = join(directory, 'manifest.json');
    await writeFile(manifest, await (await get('/v1/caches/phones/manifest?country=CA')).text());
  });

  it('makes the new file of the old one and a delta', async () => {
    const made = await runCliJson(
      env,
      'cache',
      'apply-delta',
      old!,
      delta!,
      '--output',
      fresh!,
      '--manifest',
      manifest!,
    );
    expect(made).toMatchObject({ checked: true, added: 0, changed: 0, removed: 10 });
    expect(gunzipSync(await readFile(fresh!)).equals(plain)).toBe(true);
    const { stdout } = await runCli(env, 'cache', 'apply-delta', old!, delta!, '--output', fresh!);
    expect(stdout).toMatch(/^SHA-256 of the rows +[0-9a-f]{64}\ndigest +not compared with anything$/m);
    expect(stdout).toContain(sha256Of(plain));
  });

  it('lets nothing appear where the delta is damaged or does not fit', async () => {
    const whole = await readFile(delta!);
    const flipped = join(directory, 'flipped.gz');
    const output = join(directory, 'nothing.tsv.gz');
    for (const at of [0, 5, 9, 15, whole.length - 10, whole.length - 1]) {
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 4;
      await writeFile(flipped, bytes);
      const result = await runCli(
        env,
        'cache',
        'apply-delta',
        old!,
        flipped,
        '--output',
        output,
        '--manifest',
        manifest!,
      );
      expect([at, result.code, /\[(\w+)\]/.exec(result.stderr)?.[1]]).toEqual([at, 1, 'delta_invalid']);
    }
    const promised = JSON.parse(await readFile(manifest!, 'utf8')) as { file: object };
    const others = join(directory, 'other-rows.json');
    await writeFile(others, JSON.stringify({ ...promised, file: { ...promised.file, plainSha256: '0'.repeat(64) } }));
    const words = ['cache', 'apply-delta', old!, delta!, '--output', output, '--manifest', others];
    const wrong = await runCli(env, ...words);
    expect(wrong.stderr).toContain('[delta_invalid]');
    const twice = await runCli(env, 'cache', 'apply-delta', fresh!, delta!, '--output', output);
    expect(twice.stderr).toContain('[delta_invalid]');
    const missing = await runCli(env, 'cache', 'apply-delta', join(directory, 'none.gz'), delta!, '--output', output);
    expect([missing.code, missing.stderr.includes('[usage_invalid]')]).toEqual([2, true]);
    expect((await readdir(directory)).filter((name) => name.startsWith('nothing'))).toEqual([]);
  });
});
