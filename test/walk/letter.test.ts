import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleTrustRootPem, writeSampleLetters, type WrittenSamples } from '../../samples/letters/sample-letters.ts';
import type { BrandProfile } from '../../pipelines/branding/brand-profile.ts';
import type { LetterFormRequest } from '../../pipelines/branding/requests/letter-form.ts';
import type { OperationResult } from '../../pipelines/branding/operation-result.ts';
import { runCli, runCliJson } from '../support/cli.ts';
import { useTestDatabase } from '../support/database.ts';
import { writeSignedForm } from '../support/signed-form.ts';
import { type ServiceProcess, startWholeService, until, type WholeService } from '../support/service-process.ts';

const { db, url, apiUrl } = await useTestDatabase();
const owner = 'Walker Agency';

type Request = LetterFormRequest & { readonly brand: BrandProfile; readonly numbers: string[] };

/** One letter through every process, from the drop folder to the nightly file, and out of it again. */
describe('a letter', () => {
  let service: ServiceProcess;
  let env: Record<string, string>;
  let stateDir: string;
  let samples: WrittenSamples;
  let api: WholeService['api'];
  let key: string;

  beforeAll(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-letter-'));
    samples = await writeSampleLetters(join(stateDir, 'letters'), { seed: 11, asOf: new Date() });
    const trustRoots = join(stateDir, 'roots.pem');
    await writeFile(trustRoots, sampleTrustRootPem());
    ({ service, env, api } = await startWholeService(stateDir, {
      DATABASE_URL: url,
      API_DATABASE_URL: apiUrl,
      LETTER_TRUST_ROOTS: trustRoots,
      LOG_LEVEL: 'debug',
    }));
    ({ key } = await runCliJson<{ key: string }>(
      env,
      'keys',
      'create',
      owner,
      '--scope',
      'branding:read',
      'caches:read',
    ));
  });

  afterAll(async () => {
    await service.end('SIGTERM');
    await rm(stateDir, { recursive: true, force: true });
  });

  const get = (path: string) => fetch(`${api.url}${path}`, { headers: { Authorization: `Bearer ${key}` } });

  const requestOf = async (letter: string) =>
    JSON.parse(await readFile(letter.replace(/\.[a-z]+$/, '.json'), 'utf8')) as Request;

  /** Puts a request into the drop folder and waits for its result. */
  async function drop(
    name: string,
    request: object,
    letter: string,
  ): Promise<{ folder: string; result: OperationResult }> {
    const drops = join(stateDir, 'drop');
    await mkdir(join(drops, 'branding'), { recursive: true });
    await mkdir(join(stateDir, name));
    await writeFile(
      join(stateDir, name, 'request.json'),
      JSON.stringify({ operation: 'add_managed_brand', owner, ...request }),
    );
    await writeFile(join(stateDir, name, 'letter'), await readFile(letter));
    await rename(join(stateDir, name), join(drops, 'branding', name));
    const found = await until(async () => {
      const paths = await Promise.all(
        ['done', 'rejected'].map(async (end) =>
          (await readdir(join(drops, end), { recursive: true }).catch(() => [])).map((path) => join(drops, end, path)),
        ),
      );
      return paths.flat().find((path) => path.includes(name) && path.endsWith('result.json'));
    }, `${name} has a result`);
    return { folder: found, result: JSON.parse(await readFile(found, 'utf8')) as OperationResult };
  }

  /** The branded file that the API serves for the version that the last night left. */
  async function brandedRows(): Promise<Record<string, string>> {
    const { artefacts } = await runCliJson<{ artefacts: { cache: string; version: number }[] }>(env, 'night', 'report');
    const { version } = artefacts.find(({ cache }) => cache === 'branded_phones')!;
    const answer = await until(async () => {
      const response = await get('/v1/caches/branded_phones');
      return response.headers.get('x-cache-version') === String(version) && response;
    }, `version ${version} is served`);
    const lines = gunzipSync(Buffer.from(await answer.arrayBuffer()))
      .toString()
      .split('\n')
      .slice(0, -1);
    return Object.fromEntries(lines.map((line) => line.split('\t') as [string, string]));
  }

  const publish = () => runCliJson<{ lapsed: unknown[] }>(env, 'night', 'run', '--only', 'branded_phones');

  it('on the issued form comes back signed through the drop folder, is approved by the rules, and its numbers are in the next night’s file', async () => {
    const request = await requestOf(samples.signed);
    const letter = await writeSignedForm({
      env,
      directory: stateDir,
      name: 'issued',
      request,
      organization: request.brand.legalName,
      owner,
    });
    const { folder, result } = await drop('signed', { handle: 'signed', ...request }, letter);
    expect(folder).toContain(join('drop', 'done'));
    expect(result).toMatchObject({ outcome: 'approved' });
    await publish();
    expect(await brandedRows()).toEqual(
      Object.fromEntries(request.numbers.map((phone) => [phone, request.brand.displayName])),
    );
  });

  it('is shown to its owner with states and findings, and without its text', async () => {
    const brand = (await (await get('/v1/brands/signed')).json()) as { state: string };
    expect(brand).toMatchObject({ handle: 'signed', state: 'approved' });
    const text = await (await get('/v1/brands/signed/letters')).text();
    expect(JSON.parse(text)).toMatchObject({
      letters: [
        {
          state: 'approved',
          findings: expect.arrayContaining([expect.objectContaining({ code: 'form_signed', severity: 'pass' })]),
        },
      ],
    });
    const {
      letters: [letter],
    } = await runCliJson<{ letters: { letterId: number }[] }>(env, 'brand', 'show', 'signed');
    const shown = await runCliJson<{ reading: { reading: { signatures: { signerName: string }[] } } }>(
      env,
      'letter',
      'show',
      String(letter!.letterId),
      '--text',
    );
    const signer = (await requestOf(samples.signed)).signer.name;
    expect(shown.reading.reading.signatures).toMatchObject([{ signerName: signer }]);
    expect(text + service.log()).not.toContain(signer);
    const { key: other } = await runCliJson<{ key: string }>(
      env,
      'keys',
      'create',
      'Somebody Else',
      '--scope',
      'branding:read',
    );
    const answer = await until(async () => {
      const response = await fetch(`${api.url}/v1/brands/signed`, { headers: { Authorization: `Bearer ${other}` } });
      return response.status !== 401 && response;
    }, 'the other key is known');
    expect(answer.status).toBe(404);
  });

  it('that is forged is moved to rejected, and nothing of it is published', async () => {
    const { folder, result } = await drop(
      'forged',
      { handle: 'forged', ...(await requestOf(samples.forged)) },
      samples.forged,
    );
    expect(folder).toContain(join('drop', 'rejected'));
    expect(result).toMatchObject({
      outcome: 'rejected',
      letter: {
        findings: expect.arrayContaining([expect.objectContaining({ code: 'letter_altered', severity: 'reject' })]),
      },
    });
    await publish();
    expect(Object.values(await brandedRows())).not.toContain((await requestOf(samples.forged)).brand.displayName);
  });

  it('that was scanned waits for a person, who sees its pages and decides', async () => {
    const { result } = await drop('scan', { handle: 'scan', ...(await requestOf(samples.scan)) }, samples.scan);
    expect(result).toMatchObject({ outcome: 'in_review' });
    const letterId = String(result.letter!.letterId);
    await runCliJson(env, 'letter', 'show', letterId, '--pages', join(stateDir, 'pages'));
    const [page] = await readdir(join(stateDir, 'pages'));
    expect((await readFile(join(stateDir, 'pages', page!))).subarray(1, 4).toString()).toBe('PNG');
    expect((await runCli(env, 'letter', 'decide', letterId, '--approve')).code).toBe(2);
    // The account that put the folder in is the one that runs this test.
    const decide = ['letter', 'decide', letterId, '--approve', '--reason', 'compared with the signature on file'];
    expect((await runCli(env, ...decide)).stderr).toContain('[decided_by_requester]');
    const alone = { ...env, TWO_PAIRS_OF_EYES: 'off' };
    await runCliJson(alone, ...decide);
    const { numbers, brand } = await requestOf(samples.scan);
    // Its display name is a DBA, which is decided besides the letter.
    await runCliJson(alone, 'brand', 'decide', 'scan', '--approve', '--reason', 'found in the register of trade names');
    await publish();
    expect(await brandedRows()).toMatchObject(Object.fromEntries(numbers.map((phone) => [phone, brand.displayName])));
  });

  it('takes its numbers out of the next night when its brand is suspended', async () => {
    await runCliJson(env, 'brand', 'suspend', 'scan', '--reason', 'complaint of the business');
    await publish();
    expect(Object.values(await brandedRows())).not.toContain((await requestOf(samples.scan)).brand.displayName);
    await runCliJson({ ...env, TWO_PAIRS_OF_EYES: 'off' }, 'brand', 'resume', 'scan', '--reason', 'settled'); // the account that put the folder in
  });

  it('that has ended takes its numbers out of the next night, whose report says so', async () => {
    await publish();
    const { numbers } = await requestOf(samples.signed);
    expect(Object.keys(await brandedRows())).toEqual(expect.arrayContaining([...numbers]));
    await db.query(
      "UPDATE letter SET valid_until = now() + interval '1 second' FROM brand WHERE brand.brand_id = letter.brand_id AND handle = 'signed'",
    );
    await db.query(
      "UPDATE branded_number SET live_until = (SELECT valid_until FROM letter JOIN brand USING (brand_id) WHERE handle = 'signed') WHERE brand_handle = 'signed'",
    );
    expect(await runCliJson(env, 'letter', 'list', '--expiring')).toMatchObject([{ handle: 'signed' }]);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect((await publish()).lapsed).toEqual([
      { brand: 'signed', validUntil: expect.any(String), numbers: numbers.length },
    ]);
    expect(Object.keys(await brandedRows()).filter((phone) => numbers.includes(phone))).toEqual([]);
    expect(await runCliJson(env, 'brand', 'show', 'signed')).toMatchObject({
      state: 'expired',
      numbers: { expired: numbers.length },
    });
  });
});
