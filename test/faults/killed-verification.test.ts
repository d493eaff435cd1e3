import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openQueues } from '../../jobs/queues/backend.ts';
import { requestVerification } from '../../jobs/queues/verification-producer.ts';
import { countStates, hasEnded, readBatch } from '../../pipelines/audio/batches/batch.ts';
import { listVerifications } from '../../pipelines/audio/batches/stored-verifications.ts';
import { loadConfig } from '../../runtime/config.ts';
import { runCliProcess } from '../support/cli.ts';
import { useTestDatabase } from '../support/database.ts';
import { silentLog } from '../support/night.ts';
import { configIn, submissionOf, testModel, tinyRecording, useFolder } from '../support/recording-batch.ts';
import { speechLike, writeWav } from '../support/speech-like.ts';
import { killProcessesAfterEach, startProcess, until } from '../support/service-process.ts';

const { db, url } = await useTestDatabase();
const folder = await useFolder('killed-verification');
const config = configIn(folder);
killProcessesAfterEach();

const env = { DATABASE_URL: url, STATE_DIR: config.stateDir };
const startWorker = () =>
  startProcess('jobs/worker-main.js', {
    ...env,
    JOB_LOCK_SECONDS: '2',
    SHUTDOWN_GRACE_SECONDS: '1',
    LOG_LEVEL: 'warn',
  });

/** Scoring processes of a worker. */
function scorersOf(pid: number): string[] {
  return execFileSync('ps', ['-eo', 'ppid,pid,args'])
    .toString()
    .split('\n')
    .filter((line) => line.trim().startsWith(`${pid} `) && line.includes('scorer'));
}

it.each(['SIGKILL', 'SIGTERM'] as const)(
  'a batch whose worker ends by %s in the middle is completed by the next one, each item once',
  async (signal) => {
    const items = 400; // a scorer takes some 10 ms for each: more than are done before the signal arrives
    const voice = speechLike({ sampleRate: 8000, seconds: 3, pitch: signal === 'SIGKILL' ? 100 : 230 });
    const voices: { path: string; source: string }[] = [];
    for (let at = 0; at < items; at++) {
      voice[0] = at / items; // no two are the same
      const path = join(folder, `${signal}-${at}.wav`);
      voices.push({ path: await writeWav(path, [voice], 8000), source: String(at) });
    }
    const queues = await openQueues(loadConfig({}), url, silentLog);
    try {
      const { batch } = await requestVerification({ db, config, queues, log: silentLog }, submissionOf(voices));
      const first = startWorker();
      await until(async () => (await countStates(db, batch.batchId)).performed >= 3, 'some items are scored', 150);
      const scorers = scorersOf(first.pid).map((line) => line.trim().split(/\s+/)[1]!);
      expect(scorers.length).toBeGreaterThan(0);
      await first.end(signal);
      const left = await countStates(db, batch.batchId);
      expect(left.performed).toBeLessThan(items);
      if (signal === 'SIGTERM') expect(left.performing).toBe(0);
      await until(
        async () => scorers.every((pid) => !isRunning(Number(pid))),
        'the scoring processes of the ended worker are gone',
      );
      startWorker();
      await until(async () => hasEnded(await readBatch(db, batch.id)), 'the batch has ended', 150);
      expect(await countStates(db, batch.batchId)).toEqual({
        queued: 0,
        performing: 0,
        performed: items,
        performedWithoutScore: 0,
        error: 0,
      });
      const records = await listVerifications(db, batch.batchId, { after: 0, limit: items, windows: false });
      expect(records.every(({ attempts }) => attempts === 1 || (signal === 'SIGKILL' && attempts === 2))).toBe(true);
      const {
        rows: [count],
      } = await db.query(
        'SELECT count(*) AS results, count(DISTINCT verification_result.audio_sha256) AS recordings FROM verification_result JOIN verification USING (result_id) WHERE batch_id = $1',
        [batch.batchId],
      );
      expect(count).toEqual({ results: items, recordings: items });
    } finally {
      await queues.close();
    }
  },
  400_000,
);

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

it('a command that is killed while it hands recordings in is completed by the same command, each recording once', async () => {
  const calls = join(folder, 'calls');
  await mkdir(calls);
  const count = 1500;
  for (let at = 0; at < count; at++)
    await writeFile(join(calls, `${String(at).padStart(5, '0')}.wav`), tinyRecording(at));
  const args = ['verify', calls, '--model', testModel, '--key', 'killed-command'];
  for (const killedAt of [1, 501]) {
    const child = spawn(process.execPath, ['dist/cli.js', ...args], {
      env: { ...process.env, ...env },
      stdio: 'ignore',
    });
    const exit = once(child, 'exit');
    await until(
      async () => {
        const {
          rows: [row],
        } = await db.query<{ items: number }>(
          `SELECT items FROM verification_batch WHERE idempotency_key = 'killed-command'`,
        );
        return row !== undefined && row.items >= killedAt;
      },
      `${killedAt} recordings are taken`,
      120,
    );
    child.kill('SIGKILL');
    await exit;
  }
  const {
    rows: [open],
  } = await db.query<{ state: string; items: number }>(
    `SELECT state, items FROM verification_batch WHERE idempotency_key = 'killed-command'`,
  );
  expect(open).toMatchObject({ state: 'open' });
  expect(open!.items).toBeLessThan(count);
  const end = await runCliProcess(env, ...args, '--json');
  expect(end.stderr).toBe('');
  const { batch } = JSON.parse(end.stdout) as { batch: { id: string } };
  expect(await readBatch(db, batch.id)).toMatchObject({ state: 'queued', items: count });
  const {
    rows: [lines],
  } = await db.query(
    `SELECT count(*) AS items, count(DISTINCT source) AS sources, count(DISTINCT audio_sha256) AS recordings, max(line) AS last FROM verification JOIN verification_batch USING (batch_id) WHERE verification_batch.public_id = $1`,
    [batch.id],
  );
  expect(lines).toEqual({ items: count, sources: count, recordings: count, last: count });
}, 400_000);
