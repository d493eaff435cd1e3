import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PulledArtefact } from '../../clients/typescript/files/pull.ts';
import { removeStateDirectory } from '../../runtime/services/embedded-postgres.ts';
import { runCli, runCliJson } from '../support/cli.ts';
import { startProcess, until, untilServing, type ServiceProcess } from '../support/service-process.ts';

/** A client's copies over several nights of the real service, on an embedded database. */
describe('a client', () => {
  let service: ServiceProcess;
  let env: Record<string, string>;
  let directory: string;
  let url: string;
  let key: string;
  let keyFile: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'caller-trust-walk-'));
    env = { STATE_DIR: directory, API_PORT: '0', METRICS_PORT: '0', CONSOLE_PORT: '0', POLL_MS: '100' };
    service = startProcess('cli.js', env, { args: ['start'] });
    ({ url } = await untilServing(directory, 'api'));
    ({ key } = await runCliJson<{ key: string }>(env, 'keys', 'create', 'walker'));
    keyFile = join(directory, 'client.key');
    await writeFile(keyFile, key);
  });

  afterAll(async () => {
    await service.end('SIGKILL').catch(() => {});
    await removeStateDirectory(directory);
  });

  /** Loads words about numbers 202-456-1000 and on, runs a night, and waits until its version of the US file is served. */
  async function night(words: Readonly<Record<number, string>>): Promise<void> {
    const file = join(directory, 'feed.csv');
    await writeFile(
      file,
      [
        'phone,level,category',
        ...Object.entries(words).map(([n, word]) => `+1202456${1000 + Number(n)},${word}`),
        '',
      ].join('\n'),
    );
    expect((await runCli(env, 'feed', 'load', 'reputation', file)).code).toBe(0);
    const { artefacts } = await runCliJson<{ artefacts: { cache: string; country: string; version: number }[] }>(
      env,
      'night',
      'run',
    );
    const version = artefacts.find(({ cache, country }) => cache === 'phones' && country === 'US')!.version;
    await until(
      async () => (await served('HEAD')).headers.get('x-cache-version') === String(version),
      `version ${version} is served`,
    );
  }

  const served = (method: string) =>
    fetch(`${url}/v1/caches/phones?country=US`, { method, headers: { authorization: `Bearer ${key}` } });

  async function pulled(): Promise<PulledArtefact> {
    const { artefacts } = await runCliJson<{ artefacts: PulledArtefact[] }>(
      {},
      'pull',
      url,
      '--dir',
      join(directory, 'copies'),
      '--cache',
      'phones',
      '--country',
      'US',
      '--key-file',
      keyFile,
    );
    const rows = gunzipSync(await readFile(join(directory, 'copies', 'phones-US', 'rows.tsv.gz')));
    expect(rows.equals(gunzipSync(Buffer.from(await (await served('GET')).arrayBuffer())))).toBe(true);
    return artefacts[0]!;
  }

  it('takes the whole file on the first night, and deltas on the next ones, also over two nights', async () => {
    await night(Object.fromEntries(Array.from({ length: 300 }, (_, n) => [n * 3, 'SPAM,1'])));
    expect(await pulled()).toMatchObject({ how: 'full', version: 1, rows: 300 });
    await night({ 3: 'FRAUD,7', 900: 'SPAM,6' });
    expect(await pulled()).toMatchObject({ how: 'delta', from: 1, version: 2, rows: 301 });
    expect(await pulled()).toMatchObject({ how: 'unchanged', bytesReceived: 0 });
    await night({ 3: 'SPAM,2', 6: 'FRAUD,9' });
    await night({ 3: 'FRAUD,8', 901: 'SPAM,6' });
    expect(await pulled()).toMatchObject({ how: 'delta', from: 2, version: 4, rows: 302, deltaRefused: null });
  });

  it('looks a number up in the file of the last night', async () => {
    expect(await runCliJson({}, 'lookup', url, '+12024561003', '--key-file', keyFile)).toMatchObject({
      listed: true,
      version: 4,
      row: { phone: '+12024561003', reputation_level: 'FRAUD', reputation_category: '8' },
    });
    const { code, stdout } = await runCli({}, 'lookup', url, '+12024561004', '--key-file', keyFile);
    expect([code, stdout.includes('+12024561004 is not listed.')]).toEqual([1, true]);
  });
});
