import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NumberProofStatus, StartedProofs } from '../../../pipelines/branding/proof/number-proof.ts';
import { ask, fresh, profile } from '../../support/branding.ts';
import { runCli, runCliJson } from '../../support/cli.ts';
import { useTestDatabase } from '../../support/database.ts';

const { db, url } = await useTestDatabase();
const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-proof-'));
const callsFile = join(stateDir, 'number-calls.jsonl');
const env = { DATABASE_URL: url, STATE_DIR: stateDir, NUMBER_CALLS_FILE: callsFile };
afterAll(() => rm(stateDir, { recursive: true, force: true }));

describe('number prove', () => {
  const { handle, phones } = fresh(2);
  const [first, second] = phones as [string, string];
  /** The calls of the file by number: two that are placed at the same time have no order. */
  const calls = async () =>
    (await readFile(callsFile, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { phone: string; code: string; language: string })
      .sort((a, b) => a.phone.localeCompare(b.phone));

  beforeAll(async () => void (await ask(db, 'add_managed_brand', { handle, brand: profile, numbers: phones })));

  it('starts nothing where no caller is set', async () => {
    const { code, stderr } = await runCli({ ...env, NUMBER_CALLS_FILE: '' }, 'number', 'prove', 'start', handle);
    expect([code, stderr]).toEqual([1, expect.stringContaining('[number_calls_off]')]);
  });

  it('start hands the calls to the dialler and returns when it has them; again it calls nobody', async () => {
    expect(
      await runCliJson<StartedProofs>(env, 'number', 'prove', 'start', handle, '--language', 'de-AT'),
    ).toMatchObject({ started: [{ called: [first] }, { called: [second] }], skipped: [] });
    expect(await calls()).toMatchObject([{ phone: first, language: 'de-AT' }, { phone: second }]);
    expect((await stat(callsFile)).mode & 0o777).toBe(0o600);
    expect(await runCliJson<StartedProofs>(env, 'number', 'prove', 'start', handle)).toMatchObject({
      started: [],
      skipped: [{ why: 'open' }, { why: 'open' }],
    });
    expect(await calls()).toHaveLength(2);
  });

  it('confirm takes the code of a number, and refuses another one', async () => {
    const code = (await calls())[0]!.code;
    expect((await runCli(env, 'number', 'prove', 'confirm', handle, second, code)).stderr).toContain(
      '[proof_code_wrong]',
    );
    expect(await runCliJson(env, 'number', 'prove', 'confirm', handle, first, code)).toMatchObject({
      phone: first,
      proven: true,
      numbers: 1,
    });
  });

  it('status says what is proven and what is pending', async () => {
    expect(await runCliJson<NumberProofStatus[]>(env, 'number', 'prove', 'status', handle)).toMatchObject([
      { phone: first, provenUntil: expect.any(String) as string, pending: null },
      { phone: second, provenUntil: null, pending: { call: { triesLeft: 4 } } },
    ]);
    expect((await runCli(env, 'number', 'prove', 'status', handle)).stdout).toContain('tries left: 4');
  });
});
