import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makeSampleLetters } from '../../samples/letters/sample-letters.ts';
import { openQueues } from '../../jobs/queues/backend.ts';
import { requestBranding } from '../../jobs/queues/branding-producer.ts';
import { letterRuleVersion } from '../../pipelines/branding/letter/rules/letter-rules.ts';
import { readOperation } from '../../pipelines/branding/operation.ts';
import { openVault } from '../../runtime/secrets/vault.ts';
import { loadConfig } from '../../runtime/config.ts';
import { useTestDatabase } from '../support/database.ts';
import { silentLog } from '../support/night.ts';
import { killProcessesAfterEach, startProcess, until } from '../support/service-process.ts';

const { db, url } = await useTestDatabase();
const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-kill-branding-'));
killProcessesAfterEach();
afterAll(() => rm(stateDir, { recursive: true, force: true }));

const samples = (await makeSampleLetters({ seed: 7, count: 12, asOf: new Date(), scans: true })).filter(
  ({ scanned, forgery, request }) => scanned && forgery === null && request.csv === null,
);

const startWorker = () =>
  startProcess('jobs/worker-main.js', {
    DATABASE_URL: url,
    STATE_DIR: stateDir,
    JOB_LOCK_SECONDS: '2',
    SHUTDOWN_GRACE_SECONDS: '0',
  });

/** Processes of a worker that read a letter now. */
function readersOf(worker: number): number[] {
  const lines = execFileSync('ps', ['-eo', 'ppid,pid,args']).toString().split('\n');
  return lines
    .filter((line) => line.trim().startsWith(`${worker} `) && /branding\/reading\/(text|ocr)-child/.test(line))
    .map((line) => Number(line.trim().split(/\s+/)[1]));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it.each(['SIGKILL', 'SIGTERM'] as const)(
  'a request whose worker ends by %s while its letter is read is performed once by the next worker',
  async (signal) => {
    const sample = samples[signal === 'SIGKILL' ? 0 : 1]!;
    const { legalName, dba, displayName, country, address, phones } = sample.request;
    const queues = await openQueues(loadConfig({}), url, silentLog);
    try {
      const worker = startWorker();
      const vault = await openVault({ stateDir });
      const handle = `killed-${signal.toLowerCase()}`;
      const { operationId } = await requestBranding(
        { db, vault, queues, log: silentLog },
        {
          kind: 'add_managed_brand',
          owner: 'Test',
          key: handle,
          requestedBy: 'test',
          letter: sample.bytes,
          request: { handle, brand: { legalName, dba, displayName, country, address }, numbers: [...phones] },
        },
      );
      const reading = await until(async () => {
        const found = readersOf(worker.pid);
        return found.length > 0 && found;
      }, 'the letter is being read');
      await worker.end(signal);
      expect((await readOperation(db, operationId)).state).toBe('queued');
      expect((await db.query('SELECT count(*) FROM brand WHERE handle = $1', [handle])).rows).toEqual([{ count: 0 }]);
      await until(async () => !reading.some(isRunning), 'the reading process of the ended worker is gone');
      startWorker();
      const operation = await until(async () => {
        const read = await readOperation(db, operationId);
        return read.state !== 'queued' && read;
      }, 'the request is performed');
      expect(operation).toMatchObject({
        state: 'done',
        result: { brand: { handle }, letter: { ruleVersion: letterRuleVersion } },
      });
      const {
        rows: [count],
      } = await db.query('SELECT count(*) AS letters FROM letter WHERE operation_id = $1', [operationId]);
      expect(count).toEqual({ letters: 1 });
    } finally {
      await queues.close();
    }
  },
);
