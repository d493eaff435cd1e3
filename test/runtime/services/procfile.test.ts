import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../runtime/config.ts';
import { isProcessAlive } from '../../../runtime/files/file-lock.mjs';
import { createLog } from '../../../runtime/log.ts';
import { processEnvironment, readProcfile, runProcfile } from '../../../runtime/services/procfile.ts';

const log = createLog({ level: 'silent', process: 'test' });
const database = {
  url: 'postgres://owner@h/d',
  apiUrl: 'postgres://reader@h/d',
  intakeUrl: 'postgres://submitter@h/d',
};
const config = loadConfig({ SHUTDOWN_GRACE_SECONDS: '0' });

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'caller-trust-processes-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** A program that appends its process id to a file of its name, then does what `body` says. */
async function program(name: string, body: string): Promise<string> {
  const path = join(directory, `${name}.mjs`);
  await writeFile(
    path,
    `import fs from 'node:fs';\nfs.appendFileSync(${JSON.stringify(join(directory, name))}, process.pid + '\\n');\n${body}\n`,
  );
  return `${name}: node ${path}`;
}

async function pids(name: string, count: number): Promise<number[]> {
  for (;;) {
    const text = await readFile(join(directory, name), 'utf8').catch(() => '');
    const found = text.trim().split('\n').filter(Boolean).map(Number);
    if (found.length >= count) return found;
    await sleep(20);
  }
}

const start = (procfile: string) => {
  const stop = new AbortController();
  const ended = runProcfile({ procfile, cwd: directory, config, database, log, signal: stop.signal, restartMs: 50 });
  return { ended, stop: () => stop.abort() };
};

describe('a Procfile', () => {
  it('is read line by line', () => {
    expect(readProcfile('# two\napi: node dist/api/main.js\n\nworker:  run it  --fast\n')).toEqual([
      { name: 'api', command: process.execPath, args: ['dist/api/main.js'] },
      { name: 'worker', command: 'run', args: ['it', '--fast'] },
    ]);
    expect(() => readProcfile('api node')).toThrow(expect.objectContaining({ code: 'setting_invalid' }));
  });

  it('gives the intake the login that submits, and no other', () => {
    const intake = processEnvironment('intake', { config, database });
    expect([intake.INTAKE_DATABASE_URL, intake.DATABASE_URL, intake.API_DATABASE_URL]).toEqual([
      database.intakeUrl,
      undefined,
      undefined,
    ]);
    const withoutLogin = processEnvironment('intake', { config, database: { ...database, intakeUrl: undefined } });
    expect([withoutLogin.INTAKE_DATABASE_URL, withoutLogin.DATABASE_URL]).toEqual([undefined, database.url]);
  });

  it('keeps the credentials that write from the API', () => {
    const api = processEnvironment('api', { config, database });
    expect([api.API_DATABASE_URL, api.DATABASE_URL, api.REDIS_URL]).toEqual([database.apiUrl, undefined, undefined]);
    const worker = processEnvironment('worker', { config, database });
    expect([worker.DATABASE_URL, worker.API_DATABASE_URL, worker.STATE_DIR]).toEqual([
      database.url,
      undefined,
      config.stateDir,
    ]);
    const withoutLogin = processEnvironment('api', { config, database: { ...database, apiUrl: undefined } });
    expect([withoutLogin.API_DATABASE_URL, withoutLogin.DATABASE_URL]).toEqual([undefined, database.url]);
  });
});

describe('the processes of a Procfile', () => {
  it('leave the intake out unless it is on', async () => {
    const run = start(
      [await program('intake', 'setInterval(() => {}, 1e6);'), await program('c', 'setInterval(() => {}, 1e6);')].join(
        '\n',
      ),
    );
    await pids('c', 1);
    run.stop();
    await run.ended;
    await expect(readFile(join(directory, 'intake'), 'utf8')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('start again after a kill, and stop with one signal', async () => {
    const run = start(
      [await program('a', 'setInterval(() => {}, 1e6);'), await program('b', 'setInterval(() => {}, 1e6);')].join('\n'),
    );
    const [first] = await pids('a', 1);
    process.kill(first!, 'SIGKILL');
    const [, second] = await pids('a', 2);
    const [other] = await pids('b', 1);
    expect(isProcessAlive(second!)).toBe(true);
    run.stop();
    await run.ended;
    expect([second, other].map((pid) => isProcessAlive(pid!))).toEqual([false, false]);
  });

  it('are killed with what they started when they do not heed SIGTERM', async () => {
    const deaf = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1e6);
      import('node:child_process').then(({ spawn }) => { const child = spawn('sleep', ['1000']); fs.appendFileSync(${JSON.stringify(join(directory, 'grandchild'))}, child.pid + '\\n'); });`;
    const run = start(await program('deaf', deaf));
    const [pid] = await pids('deaf', 1);
    const [grandchild] = await pids('grandchild', 1);
    run.stop();
    await run.ended;
    await expect
      .poll(() => [pid, grandchild].map((each) => isProcessAlive(each!)), { timeout: 60_000 })
      .toEqual([false, false]);
  }, 40_000);

  it('are all stopped when one dies three times within 30 seconds', async () => {
    const run = start(
      [await program('failing', 'process.exit(3);'), await program('well', 'setInterval(() => {}, 1e6);')].join('\n'),
    );
    await expect(run.ended).rejects.toMatchObject({ code: 'process_failed', object: 'failing' });
    expect(await pids('failing', 3)).toHaveLength(3);
    const [well] = await pids('well', 1);
    expect(isProcessAlive(well!)).toBe(false);
  });

  it('are reported when their program does not exist', async () => {
    await expect(start('lost: /no/such/program').ended).rejects.toMatchObject({ code: 'process_failed' });
  });
});
