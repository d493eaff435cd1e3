import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { PoolRequest } from '../../pipelines/audio/scorers/scoring-pool.ts';
import { spectrogramGraph, spectrogramPart } from '../support/onnx-file.ts';
import { makeTestModel, scorerPids, slowGraph, useScoringPool, useTestDirectory } from '../support/scoring.ts';
import { until } from '../support/service-process.ts';
import { speechLike, writeWav } from '../support/speech-like.ts';

const directory = await useTestDirectory();
const quick = await makeTestModel(directory, { graph: spectrogramGraph(), manifest: spectrogramPart });
const slow = await makeTestModel(directory, { graph: slowGraph(), manifest: {} });
const lengthy = await makeTestModel(directory, { graph: slowGraph({ size: 512, rounds: 300 }), manifest: {} });
const file = await writeWav(join(directory, 'voice.wav'), [speechLike({ sampleRate: 8000, seconds: 5 })], 8000);
const request = (phone: typeof quick): PoolRequest => ({
  file,
  model: { phone, digital: null },
  settings: { channels: 'apart' },
});

/** The processes that the tests look for are in /proc. */
const isLinux = process.platform === 'linux';
/** False once the process has ended and its parent, which is this process, has taken note of that. */
const isKnown = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
const aMoment = () => new Promise((resolve) => setTimeout(resolve, 2000));

describe.skipIf(!isLinux)('a scoring process that dies (needs /proc)', () => {
  const { pool, logged } = useScoringPool({ audioScorers: 1 });

  it.each(['SIGKILL', 'SIGSEGV', 'SIGABRT'] as const)(
    'by %s in the middle of a recording costs that recording only',
    async (signal) => {
      const before = await pool.score(request(quick));
      const [pid] = await scorerPids();
      const results = Promise.allSettled([
        pool.score(request(slow)),
        pool.score(request(quick)),
        pool.score(request(quick)),
      ]);
      await aMoment();
      process.kill(pid!, signal);
      const [lost, ...others] = await results;
      expect(lost).toMatchObject({
        status: 'rejected',
        reason: { name: 'AudioRefusal', reason: 'scorer_crashed', detail: expect.stringContaining(signal) as string },
      });
      expect(others).toMatchObject(others.map(() => ({ status: 'fulfilled', value: { scores: before.scores } })));
      expect(logged.at(-1)?.message).toBe('a scoring process was lost');
      expect(await scorerPids()).toHaveLength(1);
    },
  );

  it('between two recordings costs none', async () => {
    await pool.score(request(quick));
    const [pid] = await scorerPids();
    process.kill(pid!, 'SIGKILL');
    await until(async () => !isKnown(pid!), 'the process is gone, and its parent has noticed');
    expect((await pool.score(request(quick))).state).toBe('performed');
  });
});

describe.skipIf(!isLinux)('a scoring process (needs /proc)', () => {
  const { pool } = useScoringPool({ audioScorers: 1 });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'continues after %s, which terminals and service managers send to the whole group',
    async (signal) => {
      const before = await pool.score(request(quick));
      const [pid] = await scorerPids();
      const scoring = pool.score(request(lengthy));
      process.kill(pid!, signal);
      expect((await scoring).state).toBe('performed');
      expect((await pool.score(request(quick))).scores).toEqual(before.scores);
      expect(await scorerPids()).toEqual([pid]);
    },
  );
});

describe.skipIf(!isLinux)('the parent of a scoring process (needs /proc)', () => {
  const parents = new Set<ReturnType<typeof spawn>>();
  afterAll(() => parents.forEach((parent) => parent.kill('SIGKILL')));

  /** Scores in a process of its own, which is idle or in the middle of it when it says `ready`. */
  async function startParent(model: typeof quick, isIdle: boolean): Promise<ReturnType<typeof spawn>> {
    const script = `
      import { loadConfig, openScoringPool } from './dist/test/faults/scoring-pool-program.js';
      const pool = openScoringPool({ config: { ...loadConfig({}), audioScorers: 1 }, log: { warn() {}, error() {} } });
      const scoring = pool.score(${JSON.stringify(request(model))});
      ${isIdle ? 'await scoring;' : 'await new Promise((resolve) => setTimeout(resolve, 3000));'}
      console.log('ready');
      setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: join(import.meta.dirname, '../..'),
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {},
    });
    parents.add(parent);
    await once(parent.stdout!, 'data');
    return parent;
  }

  it.each([
    ['while it waits', quick, true],
    ['in the middle of a recording', slow, false],
  ])('takes it along when it is killed %s', async (_name, model, isIdle) => {
    const parent = await startParent(model, isIdle);
    const pids = await until(async () => {
      const found = await scorerPids(parent.pid);
      return found.length > 0 && found;
    }, 'the scoring process runs');
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    await until(async () => !pids.some(isRunning), 'the scoring process is gone');
    expect(pids).toHaveLength(1);
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
