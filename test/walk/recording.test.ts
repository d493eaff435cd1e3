import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli, runCliJson } from '../support/cli.ts';
import { useTestDatabase } from '../support/database.ts';
import { type ServiceProcess, startWholeService, until, type WholeService } from '../support/service-process.ts';

const { url, apiUrl } = await useTestDatabase();
const owner = 'Walker Contact Centre';
const sample = (name: string) => join(import.meta.dirname, '../../samples/recordings', name);

interface Shown {
  readonly id: string;
  readonly batch: string;
  readonly state: string;
  readonly model: string;
  readonly scores: { readonly synthesis: number; readonly replay: number };
  readonly decision: { readonly label: string };
  readonly audio: { readonly sha256: string };
  readonly windows: readonly unknown[];
}

/** One recording through every process, from the drop folder to the API, and its audio out of the store again. */
describe('a recording', () => {
  let service: ServiceProcess;
  let env: Record<string, string>;
  let stateDir: string;
  let api: WholeService['api'];
  let key: string;

  beforeAll(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-recording-'));
    ({ service, env, api } = await startWholeService(stateDir, {
      DATABASE_URL: url,
      API_DATABASE_URL: apiUrl,
      LOG_LEVEL: 'debug',
    }));
    ({ key } = await runCliJson<{ key: string }>(env, 'keys', 'create', owner, '--scope', 'verifications:read'));
  });

  afterAll(async () => {
    await service.end('SIGTERM');
    await rm(stateDir, { recursive: true, force: true });
  });

  const get = async (path: string) =>
    (await fetch(`${api.url}${path}`, { headers: { Authorization: `Bearer ${key}` } })).json() as Promise<Shown>;

  it('from the drop folder is scored by the model of its rate, moved to done with its result, and shown to its owner', async () => {
    const drops = join(stateDir, 'drop');
    await mkdir(join(stateDir, 'calls'));
    await copyFile(sample('synthesizer-espeak-en.wav'), join(stateDir, 'calls', 'call.wav'));
    await writeFile(join(stateDir, 'calls', 'request.json'), JSON.stringify({ owner }));
    await mkdir(join(drops, 'recordings'), { recursive: true });
    await rename(join(stateDir, 'calls'), join(drops, 'recordings', 'calls'));
    const folder = join(drops, 'done', 'calls');
    const result = await until(
      async () =>
        JSON.parse(await readFile(join(folder, 'result.json'), 'utf8').catch(() => 'null')) as {
          outcome: string;
          verification: Shown;
        } | null,
      'the result is there',
    );
    expect(result).toMatchObject({
      outcome: 'done',
      verification: { state: 'performed', model: 'phone/v8.2', decision: { policy: 'thresholds/2' } },
    });
    expect((await readdir(folder)).sort()).toEqual(['call.wav', 'request.json', 'result.json', 'results.csv']);
    const shown = await get(`/v1/verifications/${result.verification.id}`);
    expect(shown).toMatchObject({
      state: 'performed',
      scoreDirection: 'higher-is-authentic',
      scores: result.verification.scores,
      mode: 'api',
      requestedModel: 'auto',
    });
    expect(shown.windows.length).toBeGreaterThan(0);
    expect(await get(`/v1/batches/${shown.batch}`)).toMatchObject({
      state: 'done',
      counts: { performed: 1, error: 0 },
    });
  });

  it('that is sent again is not scored again, and its audio can be deleted while its scores stay', async () => {
    const again = await runCliJson<{ items: (Shown & { reused: boolean })[] }>(
      env,
      'verify',
      sample('synthesizer-espeak-en.wav'),
      '--owner',
      owner,
      '--wait',
    );
    expect(again.items).toMatchObject([{ state: 'performed', reused: true }]);
    const { sha256 } = again.items[0]!.audio;
    expect(await readdir(join(stateDir, 'audio', sha256.slice(0, 2)))).toEqual([sha256]);
    expect(await runCli(env, 'recording', 'delete', sha256, '--reason', 'The walk is over.')).toMatchObject({
      code: 0,
    });
    expect(await readdir(join(stateDir, 'audio', sha256.slice(0, 2)))).toEqual([]);
    expect(await get(`/v1/verifications/${again.items[0]!.id}`)).toMatchObject({ scores: again.items[0]!.scores });
  });
});
