import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runCliProcess } from '../support/cli.ts';

const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-demo-'));
afterAll(() => rm(stateDir, { recursive: true, force: true }));

it('runs a whole night on sample feeds twice in a row, prints what it made, and leaves nothing running', async () => {
  for (const round of [1, 2]) {
    const { code, stdout, stderr } = await runCliProcess({ STATE_DIR: stateDir }, 'demo');
    expect({ round, code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('artefacts were downloaded and checked') as string,
    });
    expect(stdout).toMatch(/^phones\/US +1 +[\d,]+ +[\d,]+ +[\d,]+ +[0-9a-f]{12}\.\.\. +ok$/m);
  }
  expect(execFileSync('ps', ['-eo', 'args']).toString()).not.toContain(stateDir);
  expect((await readdir(join(stateDir, 'demo'))).sort()).toEqual([
    'copies',
    'downloads',
    'feeds',
    'letters',
    'pid',
    'service.log',
  ]);
});
