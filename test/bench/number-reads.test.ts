import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { isLongRun } from '../support/run-size.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [numbers, requests, rounds] = ['20000', '2000', '3'];

it.runIf(isLongRun)(
  'a number is read in at most 0.6 of the processor time of a bare server that has the statement planned each time',
  async () => {
    const ended = await new Promise((resolve) => {
      const args = ['dist/bench/number-reads.js', numbers, requests, rounds];
      execFile(process.execPath, args, { cwd: root }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : error.code, stdout, stderr });
      });
    });
    expect(ended).toMatchObject({ code: 0 });
  },
  300_000,
);
