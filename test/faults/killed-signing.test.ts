import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openQueues } from '../../jobs/queues/backend.ts';
import { enqueueJob } from '../../jobs/queues/enqueue.ts';
import { reconcile } from '../../jobs/reconcile.ts';
import { readNight } from '../../pipelines/caches/night/night-report.ts';
import { everything, requestNight } from '../../pipelines/caches/night/night-request.ts';
import { listPublications } from '../../pipelines/caches/publications.ts';
import { initTrust, makeRootKeys } from '../../pipelines/caches/signing/ceremony.ts';
import { readPresentSet } from '../../pipelines/caches/signing/sign-publications.ts';
import { ArtefactDirectory } from '../../pipelines/caches/store/artefact-directory.ts';
import { parseMetadata } from '../../format/trust/metadata.ts';
import { formatTarget } from '../../format/trust/targets.ts';
import { acceptSnapshot, acceptTargets, acceptTimestamp } from '../../format/trust/trusted-set.ts';
import { loadConfig } from '../../runtime/config.ts';
import { openVault } from '../../runtime/secrets/vault.ts';
import { sql } from '../../sql/sql.ts';
import { useTestDatabase } from '../support/database.ts';
import { startFreezingProxy } from '../support/freezing-proxy.ts';
import { runWholeNight, silentLog } from '../support/night.ts';
import { manyNumbers, putNumbers } from '../support/numbers.ts';
import { killProcessesAfterEach, startProcess, until } from '../support/service-process.ts';

const { db, url } = await useTestDatabase();
const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-killed-signing-'));
afterAll(() => rm(stateDir, { recursive: true, force: true }));
const store = new ArtefactDirectory(join(stateDir, 'artefacts'));
const queues = await openQueues(loadConfig({}), url, silentLog);
afterAll(() => queues.close());
killProcessesAfterEach();

await putNumbers(db, manyNumbers(300));
await runWholeNight({ db, url, store });
await initTrust(
  { db, vault: await openVault({ stateDir }), now: new Date() },
  { rootKeys: makeRootKeys(1), threshold: 1 },
);

/** The version of the targets, after it is shown that they and all above them fit together and are what is published. */
async function signedVersion(): Promise<number> {
  const [present, publications] = [await readPresentSet(db), await listPublications(db)];
  const basis = { root: parseMetadata('root', present.root!).signed, now: new Date() };
  const { signed: timestamp } = await acceptTimestamp(basis, present.timestamp!, undefined);
  const { signed: snapshot } = await acceptSnapshot(basis, { bytes: present.snapshot!, timestamp }, undefined);
  const { targets, version } = (await acceptTargets(basis, { bytes: present.targets!, snapshot })).signed;
  expect(publications.length).toBeGreaterThan(2);
  for (const { cache, country, published } of publications) {
    const digestOf = (kind: 'rows' | 'manifest') => targets[formatTarget({ cache, country, kind })]!.hashes.sha256;
    expect(digestOf('rows')).toBe(published!.file.sha256);
    const stored = await db.query('SELECT FROM trust_document WHERE sha256 = $1 AND superseded_at IS NULL', [
      digestOf('manifest'),
    ]);
    expect(stored.rowCount).toBe(1);
  }
  return version;
}

/** Each night has a number more. */
let nights = 10;

const startWorker = (databaseUrl: string, settings: Record<string, string> = {}) =>
  startProcess('jobs/worker-main.js', {
    ...settings,
    DATABASE_URL: databaseUrl,
    STATE_DIR: stateDir,
    JOB_LOCK_SECONDS: '1',
    SHUTDOWN_GRACE_SECONDS: '1',
  });

async function startNight(): Promise<number> {
  const runId = (await requestNight(db, {
    nightDate: '2026-01-02',
    trigger: 'operator',
    scope: everything,
    acceptShrink: false,
    evaluatedAt: null,
    requestedBy: 'test',
  }))!;
  await enqueueJob(queues, 'open-night', { runId });
  return runId;
}

async function untilFinished(runId: number): Promise<void> {
  await until(async () => {
    await reconcile({ db, queues, log: silentLog });
    return (await readNight(db, { runId })).state === 'finished';
  }, 'the night is finished');
}

it.each(['signing/lock_trust', 'signing/list_signing_keys', 'signing/store_documents', 'nights/finish_night_run'])(
  'a worker that is killed at %s leaves the set of before, which fits together, and the night is signed by another',
  async (statement) => {
    const before = await signedVersion();
    await putNumbers(db, [
      {
        phone: `+121255501${String(nights++).padStart(2, '0')}`,
        name: statement.slice(0, 20),
        level: 'SPAM',
        category: 6,
      },
    ]);
    const proxy = await startFreezingProxy(url, () => {});
    proxy.freezeAt(sql(statement).split('\n')[0]!);
    const doomed = startWorker(proxy.url);
    const runId = await startNight();
    await until(async () => proxy.isFrozen(), 'the worker is in the middle of publishing');
    await doomed.end('SIGKILL');
    await proxy.close();
    expect(await signedVersion()).toBe(before);
    startWorker(url);
    await untilFinished(runId);
    expect(await signedVersion()).toBeGreaterThan(before);
  },
);

it('a worker that cannot open the keys publishes nothing, and the night ends with the reason', async () => {
  const before = await signedVersion();
  await putNumbers(db, [{ phone: '+12125550177', level: 'SPAM', category: 6 }]);
  startWorker(url, { LETTER_MASTER_KEY: 'ab'.repeat(32) });
  const runId = await startNight();
  await untilFinished(runId);
  const { rows } = await db.query('SELECT outcome, failure_code FROM night_run WHERE run_id = $1', [runId]);
  expect(rows).toEqual([{ outcome: 'failed', failure_code: 'trust_key_missing' }]);
  const targets = parseMetadata('targets', (await readPresentSet(db)).targets!).signed;
  expect(targets.version).toBe(before);
  for (const { cache, country, published } of await listPublications(db))
    expect(targets.targets[formatTarget({ cache, country, kind: 'rows' })]!.hashes.sha256).toBe(published!.file.sha256);
});
