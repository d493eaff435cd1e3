import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { PulledArtefact } from '../../clients/typescript/files/pull.ts';
import type { NightReport } from '../../pipelines/caches/night/night-report.ts';
import { removeStateDirectory } from '../../runtime/services/embedded-postgres.ts';
import { refusedWith, runCli, runCliJson } from '../support/cli.ts';
import { outcomes } from '../support/night.ts';
import { type ServiceProcess, startWholeService, until, type WholeService } from '../support/service-process.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

/** The first hour of one person with a new installation: from an empty directory to a file that a client downloads. */
describe('a newcomer', () => {
  let directory: string;
  let service: ServiceProcess;
  let env: Record<string, string>;
  let api: WholeService['api'];
  let key: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'caller-trust-walk-'));
    const hour = (new Date().getUTCHours() + 12) % 24; // the missed tick is made up for at once, and the next is far
    ({ service, env, api } = await startWholeService(directory, { NIGHT_SCHEDULE: `0 ${hour} * * *` }));
  });

  afterAll(async () => {
    await service.end('SIGKILL').catch(() => {});
    await removeStateDirectory(directory);
  });

  const fileOf = ({ artefacts }: NightReport, name: string) =>
    artefacts.find(({ cache, country }) => name === (country === '' ? cache : `${cache}/${country}`));

  /** Loads a list of the first numbers from 202-456-0000 on, of which every third is FRAUD. */
  async function load(numbers: number): Promise<void> {
    const path = join(directory, `list-of-${numbers}.csv`);
    const rows = Array.from(
      { length: numbers },
      (_, n) => `+1202456${String(n).padStart(4, '0')},${n % 3 === 0 ? 'FRAUD,7' : 'SPAM,6'}`,
    );
    await writeFile(path, `phone,level,category\n${rows.join('\n')}\n`);
    expect(await runCliJson(env, 'feed', 'load', 'reputation', path)).toMatchObject({
      state: 'done',
      rowsAccepted: numbers,
      rowsRejected: 0,
    });
  }

  /** The rows of the US file and of the spammers that a client has after it has pulled. */
  async function pulled(): Promise<(number | null)[]> {
    const copies = join(directory, 'copies');
    const wanted = ['--cache', 'phones', 'spammer_phones', '--country', 'US'];
    const { artefacts } = await runCliJson<{ artefacts: PulledArtefact[] }>(
      { CALLER_TRUST_KEY: key },
      'pull',
      api.url,
      '--dir',
      copies,
      ...wanted,
    );
    return artefacts.map(({ rows }) => rows);
  }

  it('has an empty night at once, and is told what lets one person decide', async () => {
    const report = await until(async () => {
      const found = JSON.parse((await runCli(env, 'night', 'report', '--json')).stdout || '{}') as Partial<NightReport>;
      return found.artefacts === undefined ? undefined : (found as NightReport);
    }, 'the first night is published');
    expect(report).toMatchObject({ outcome: 'ok', night: { trigger: 'schedule' } });
    expect(fileOf(report, 'spammer_phones')).toMatchObject({ outcome: 'published', version: 1, rows: 0 });
    expect(service.log()).toMatch(/who submits something does not decide it.*TWO_PAIRS_OF_EYES=off.*console users add/);
  });

  it('loads a list, runs a night, and a client downloads the files', async () => {
    await load(1500);
    const report = await runCliJson<NightReport>(env, 'night', 'run');
    expect(outcomes(report)).toMatchObject({ 'phones/US': 'published', spammer_phones: 'published' });
    ({ key } = await runCliJson<{ key: string }>(env, 'keys', 'create', 'first-client'));
    await until(async () => (await pulled()).join() === '1500,1500', 'the client has both files');
    const answer = await fetch(`${api.url}/v1/caches/spammer_phones`, { headers: { Authorization: `Bearer ${key}` } });
    const lines = gunzipSync(Buffer.from(await answer.arrayBuffer()))
      .toString()
      .split('\n');
    expect([lines.length, ...lines.slice(0, 2)]).toEqual([1501, '+12024560000\tFRAUD\t7', '+12024560001\tSPAM\t6']);
  });

  it('has the next large load held, with every file of its labels, and publishes it alone by the setting that the refusal names', async () => {
    await load(3000);
    const held = await runCli(env, 'night', 'run', '--json');
    expect(held.code).toBe(1);
    const report = JSON.parse(held.stdout) as NightReport;
    for (const name of ['phones/US', 'spammer_phones'])
      expect(fileOf(report, name)).toMatchObject({
        outcome: 'failed',
        failure: { code: 'artefact_held' },
        gates: [{ gate: 'growth' }, { gate: 'label_rise' }],
      });
    expect(await pulled()).toEqual([1500, 1500]);

    const release = ['night', 'release', '--reason', 'The list is twice as long now'];
    const refused = await runCli(env, ...release);
    expect(refused).toMatchObject(refusedWith('decided_by_requester'));
    const setting = /set (TWO_PAIRS_OF_EYES)=(off)/.exec(refused.stderr)!;
    await runCliJson({ ...env, [setting[1]!]: setting[2]! }, ...release);
    expect(await runCli(env, 'night', 'run', '--only', 'phones/US')).toMatchObject({ code: 1 });
    expect(outcomes(await runCliJson<NightReport>(env, 'night', 'run'))).toMatchObject({
      'phones/US': 'published',
      spammer_phones: 'published',
    });
    await until(async () => (await pulled()).join() === '3000,3000', 'the client has both new files');
  });
});
