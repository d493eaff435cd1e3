import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { childEnvironment } from '../../../runtime/config.ts';
import { sha256Of } from '../../../runtime/digest.ts';
import { until, useTestApi } from '../../api/support/running-api.ts';
import { runCli, runCliJson } from '../../support/cli.ts';
import { useTestDatabase } from '../../support/database.ts';
import { useMirror } from '../../support/mirror.ts';
import { inventedRows, PublishedHistory } from '../../support/segmented-artefacts.ts';

const database = await useTestDatabase();
const { url, key, get, store } = await useTestApi(database);
const mirror = await useMirror();
const directory = await mkdtemp(join(tmpdir(), 'caller-trust-trust-'));
afterAll(() => rm(directory, { recursive: true }));
const at = (name: string) => join(directory, name);
const [keyFile, passphraseFile] = [at('key'), at('passphrase')];
await writeFile(keyFile, key);
await writeFile(passphraseFile, 'correct horse battery\n');
const env = { DATABASE_URL: database.url, STATE_DIR: at('state') };
const client = { STATE_DIR: at('no-state') };
const history = new PublishedHistory({ db: database.db, store, artefact: { cache: 'spammer_phones', country: '' } });
const { stored } = await history.publish(inventedRows(500));
await history.publish(inventedRows(520));
await until(async () => (await get('/v1/caches/spammer_phones', {}, 'HEAD')).headers.get('x-cache-version') === '2');

const pullArgs = ['pull', url, '--dir', at('numbers'), '--cache', 'spammer_phones', '--key-file', keyFile];
let keyFiles: string[] = [];

describe('caller-trust trust', () => {
  it('says that nothing is signed, as pull does', async () => {
    expect(await runCli(env, 'trust', 'status')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('does not sign') as string,
    });
    const { stdout } = await runCli(
      client,
      'pull',
      url,
      '--dir',
      at('unsigned'),
      '--cache',
      'spammer_phones',
      '--key-file',
      keyFile,
    );
    expect(stdout).toContain('Not verified: the service signs nothing.');
  });

  it('refuses a threshold above the keys, and a short passphrase', async () => {
    const refused = await runCli(env, 'trust', 'init', '--out', at('root'), '--keys', '2', '--threshold', '3');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('threshold') as string });
    await writeFile(at('short'), 'elevenchars');
    const short = await runCli(env, 'trust', 'init', '--out', at('root'), '--passphrase-file', at('short'));
    expect(short).toMatchObject({ code: 2, stderr: expect.stringContaining('fewer than 12') as string });
  });

  it('begins to sign: writes the keys of the root, encrypted and for their owner alone, and the root', async () => {
    const made = await runCliJson<{ version: number; sha256: string; root: string; keyFiles: string[] }>(
      env,
      'trust',
      'init',
      '--out',
      at('root'),
      '--passphrase-file',
      passphraseFile,
    );
    ({ keyFiles } = made);
    expect(made).toMatchObject({ version: 1, root: join(at('root'), '1.root.json') });
    expect(sha256Of(await readFile(made.root))).toBe(made.sha256);
    expect(keyFiles).toHaveLength(3);
    for (const path of keyFiles) {
      expect(await readFile(path, 'utf8')).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----/);
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    }
    expect(await runCli(env, 'trust', 'init', '--out', at('other'))).toMatchObject({ code: 2 });
    const { stdout, code } = await runCli(env, 'trust', 'status');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/version 1, 2 of 3 keys[^]*timestamp/) as string]);
  });
});

describe('caller-trust pull', () => {
  it('trusts the first root that it sees and names its digest once, and that of --trust without a word', async () => {
    await until(async () => (await get('/v1/trust/timestamp.json')).status === 200);
    const digest = sha256Of(await readFile(join(at('root'), '1.root.json')));
    const first = await runCli(client, ...pullArgs);
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining(digest) as string]);
    const again = await runCli(client, ...pullArgs);
    expect(again.stdout).toMatch(/\nVerified: signed under version 1 of the root, valid until \S+Z\.\n$/);
    const given = await runCliJson<{ trust: { firstUse: boolean } }>(
      client,
      'pull',
      url,
      '--dir',
      at('given'),
      '--cache',
      'spammer_phones',
      '--key-file',
      keyFile,
      '--trust',
      join(at('root'), '1.root.json'),
    );
    expect(given.trust).toMatchObject({ firstUse: false, anchorSha256: digest });
    const wrong = await runCli(client, ...pullArgs, '--trust', keyFile);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('another root') as string });
  });
});

describe('caller-trust lookup', () => {
  it('verifies under a given root', async () => {
    const args = ['lookup', url, '+12025000003', '--cache', 'spammer_phones', '--key-file', keyFile];
    const { stdout } = await runCli(client, ...args, '--trust', join(at('root'), '1.root.json'));
    expect(stdout).toContain('Verified: signed under version 1 of the root');
    expect((await runCli(client, ...args)).stdout).toContain('Not verified');
  });
});

describe('caller-trust cache apply-delta', () => {
  it('takes a manifest that the signed metadata of a pull names, and no other', async () => {
    const manifest = Buffer.from(await (await get('/v1/caches/spammer_phones/manifest')).arrayBuffer());
    await writeFile(at('manifest.json'), manifest);
    await writeFile(at('changed.json'), manifest.toString().replace('"rows":520', '"rows":521'));
    await writeFile(
      at('old.tsv.gz'),
      await readFile(store.path({ cache: 'spammer_phones', country: '', sha256: stored.file.sha256 })),
    );
    await writeFile(
      at('delta.tsv.gz'),
      Buffer.from(await (await get('/v1/caches/spammer_phones/delta?from=1')).arrayBuffer()),
    );
    const apply = (...args: string[]) =>
      runCli(
        client,
        'cache',
        'apply-delta',
        at('old.tsv.gz'),
        at('delta.tsv.gz'),
        '--output',
        at('new.tsv.gz'),
        ...args,
      );
    const metadata = ['--metadata', join(at('numbers'), '.trust')];
    const taken = await apply('--manifest', at('manifest.json'), ...metadata);
    expect([taken.code, taken.stdout]).toEqual([
      0,
      expect.stringContaining('as the signed manifest promises') as string,
    ]);
    expect((await apply('--manifest', at('changed.json'), ...metadata)).stderr).toContain('trust_mixed');
    expect((await apply(...metadata)).code).toBe(2);
    expect((await apply('--manifest', at('manifest.json'), '--metadata', at('root'))).code).toBe(2);
  });
});

describe('docs/trust.md', () => {
  it('has a script that copies everything to a mirror of static files', async () => {
    const text = await readFile(join(import.meta.dirname, '../../../docs/trust.md'), 'utf8');
    const script = /## A mirror[^]*?```sh\n([^]*?)```/.exec(text)![1]!;
    const env = childEnvironment({ URL: url, KEY: key });
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: directory, env });
    const paths = await readdir(at('mirror'), { recursive: true, withFileTypes: true });
    const files = paths.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const state = await Promise.all(
      files.map(async (path): Promise<[string, Buffer]> => [path.slice(at('mirror').length), await readFile(path)]),
    );
    mirror.serve(new Map(state));
    const copied = await runCliJson<{ artefacts: { how: string; version: number }[] }>(
      client,
      'pull',
      mirror.url,
      '--dir',
      at('mirrored'),
      '--trust',
      join(at('root'), '1.root.json'),
      '--key-file',
      keyFile,
    );
    expect(copied.artefacts).toMatchObject([{ how: 'full', version: 2 }]);
  });
});

describe('the drills', () => {
  it('a lost master key: status names it, new online keys repair it, and pull continues', async () => {
    const other = { ...env, STATE_DIR: at('new-state') };
    const lost = await runCli(other, 'trust', 'status');
    expect([lost.code, lost.stdout]).toEqual([1, expect.stringContaining('another master key') as string]);
    const tooFew = await runCli(
      other,
      'trust',
      'rotate',
      '--key',
      keyFiles[0]!,
      '--out',
      at('next'),
      '--online',
      '--passphrase-file',
      passphraseFile,
    );
    expect(tooFew).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('1 keys of the present root were given; 2 must sign') as string,
    });
    const noPassphrase = await runCli(
      other,
      'trust',
      'rotate',
      '--key',
      ...keyFiles.slice(1),
      '--out',
      at('next'),
      '--online',
    );
    expect(noPassphrase).toMatchObject({ code: 2, stderr: expect.stringContaining('passphrase') as string });
    await runCliJson(
      other,
      'trust',
      'rotate',
      '--key',
      ...keyFiles.slice(1),
      '--out',
      at('next'),
      '--online',
      '--passphrase-file',
      passphraseFile,
    );
    expect((await runCli(other, 'trust', 'status')).code).toBe(0);
    await until(async () => (await get('/v1/trust/2.root.json')).status === 200);
    expect((await runCli(client, ...pullArgs)).stdout).toContain('signed under version 2 of the root');
  });

  it('new keys of the root, by two of the old ones', async () => {
    const rotate = (...args: string[]) => runCli({ ...env, STATE_DIR: at('new-state') }, 'trust', 'rotate', ...args);
    expect(
      (await rotate('--key', ...keyFiles, '--out', at('third'), '--new-keys', '2', '--passphrase-file', passphraseFile))
        .code,
    ).toBe(2);
    const made = await rotate(
      '--key',
      ...keyFiles,
      '--out',
      at('third'),
      '--new-keys',
      '2',
      '--threshold',
      '2',
      '--passphrase-file',
      passphraseFile,
    );
    expect([made.code, made.stdout]).toEqual([
      0,
      expect.stringMatching(/root +version 3[^]*root-key-[0-9a-f]{12}\.pem/) as string,
    ]);
    await until(async () => (await get('/v1/trust/3.root.json')).status === 200);
    expect((await runCli(client, ...pullArgs)).stdout).toContain('signed under version 3 of the root');
  });

  it('a root that ends within 30 days: status fails, and doctor says so without failing a probe', async () => {
    type Line = { thing: string; good: boolean; warns: boolean; detail: string };
    const signatures = async () => {
      const { stdout } = await runCli({ ...env, STATE_DIR: at('new-state') }, 'doctor', '--json');
      return (JSON.parse(stdout) as { findings: Line[] }).findings.find(({ thing }) => thing === 'signatures')!;
    };
    expect(await signatures()).toMatchObject({ good: true, warns: false, detail: expect.stringMatching(/timestamp/) });
    const soon = `${new Date(Date.now() + 29 * 86_400_000).toISOString().slice(0, 19)}Z`;
    await database.db.query(
      `UPDATE trust_document SET body = convert_to(regexp_replace(convert_from(body, 'UTF8'), '"expires":"[^"]+"', '"expires":"${soon}"'), 'UTF8')
       WHERE name = '3.root.json'`,
    );
    const detail = `The root metadata expires at ${soon}. Renew it with \`caller-trust trust rotate\`, which takes its keys.`;
    expect(await signatures()).toEqual({ thing: 'signatures', good: true, warns: true, detail });
    const status = await runCli({ ...env, STATE_DIR: at('new-state') }, 'trust', 'status');
    expect(status).toMatchObject({ code: 1, stdout: expect.stringContaining(detail) as string });
  });
});
