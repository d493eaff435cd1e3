import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { isLongRun } from '../support/run-size.ts';

it.runIf(isLongRun && process.platform === 'linux')(
  'an item of a batch costs PostgreSQL at most 0.6 of the plain statements for its rows',
  async () => {
    const args = ['dist/bench/batch.js', '--items', '500', '--rounds', '3', '--most', '0.6'];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toMatch(/x0\.\d\d$/m);
  },
  600_000,
);
