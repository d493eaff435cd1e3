import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Queues } from '../../jobs/queues/backend.ts';
import { enqueueJob, enqueueNightFlow } from '../../jobs/queues/enqueue.ts';
import { nightHandlers } from '../../jobs/night.ts';
import { reconcile } from '../../jobs/reconcile.ts';
import { openArtefactStore } from '../../pipelines/caches/store/open-artefact-store.ts';
import { queryRow } from '../../runtime/postgres.ts';
import { backends, openBackend, silent, until, wipe, type TestBackend } from './backends.ts';
import { startWorkerProcess } from './worker-process.ts';

describe.each(backends)('the reconciler with queues in $kind', ({ kind, skipped }) => {
  describe.skipIf(skipped !== undefined)(skipped ?? 'puts right', () => {
    let backend: TestBackend;
    let queues: Queues;

    const look = () => reconcile({ db: backend.database.db, queues, log: silent });
    const insert = async (statement: string, values: unknown[] = []) =>
      (await queryRow<{ id: number }>(backend.database.db, statement, values))!.id;
    const addLoad = (state = 'queued') =>
      insert(
        `INSERT INTO feed_load (feed, file_name, file_sha256, file_bytes, submitted_by, state) VALUES ('directory', 'a.csv', repeat('0', 64), 1, 'test', $1) RETURNING load_id AS id`,
        [state],
      );
    const addOperation = () =>
      insert(
        `INSERT INTO branding_operation (owner, idempotency_key, kind, request, request_sha256, requested_by) VALUES ('test', gen_random_uuid()::text, 'add_phone_number', '{}', repeat('0', 64), 'test') RETURNING operation_id AS id`,
      );
    const addProof = () =>
      insert(`
        WITH b AS (INSERT INTO brand (handle, owner, state) VALUES (gen_random_uuid()::text, 'test', 'draft') RETURNING brand_id),
        p AS (INSERT INTO number_proof (brand_id, language, requested_by) SELECT brand_id, 'en', 'test' FROM b RETURNING proof_id),
        m AS (INSERT INTO number_proof_member (proof_id, phone) SELECT proof_id, '+12125550100' FROM p),
        c AS (INSERT INTO number_proof_call (proof_id, phone) SELECT proof_id, '+12125550100' FROM p)
        SELECT proof_id AS id FROM p`);
    const addNight = (state = 'due', generation = 0) =>
      insert(
        `INSERT INTO night_run (night_date, trigger, requested_by, state, generation) VALUES ('2026-01-01', 'operator', 'test', $1, $2) RETURNING run_id AS id`,
        [state, generation],
      );
    const addBuild = (runId: number, generation: number) =>
      insert(
        `INSERT INTO build (run_id, generation, cache, country) VALUES ($1, $2, 'spammer_phones', '') RETURNING build_id AS id`,
        [runId, generation],
      );

    beforeAll(async () => {
      backend = await openBackend(kind);
      queues = await backend.openQueues();
    });
    afterEach(async () => {
      await backend.database.db.query(
        'TRUNCATE feed_load, night_run, build, branding_operation, number_proof RESTART IDENTITY CASCADE',
      );
      await wipe(backend);
    });
    afterAll(async () => {
      await queues.close();
      await backend.close();
    });

    it('queues every due load and night again after the queues were emptied', async () => {
      const loads = [await addLoad(), await addLoad('running')];
      const night = await addNight();
      for (const loadId of loads) await enqueueJob(queues, 'load-feed', { loadId });
      await enqueueJob(queues, 'open-night', { runId: night });
      await wipe(backend);
      expect(await queues.state('nights', `night-${night}`)).toBe('missing');
      expect(await look()).toEqual({ enqueued: 3, lost: 0 });
      expect(await Promise.all(loads.map((id) => queues.state('feeds', `feed-${id}`)))).toEqual(['waiting', 'waiting']);
      expect(await queues.state('nights', `night-${night}`)).toBe('waiting');
    });

    it('leaves alone what has a living job, and what has ended', async () => {
      const loadId = await addLoad();
      await enqueueJob(queues, 'load-feed', { loadId });
      await addLoad('failed');
      const runId = await addNight('running', 2);
      const buildId = await addBuild(runId, 2);
      await enqueueNightFlow(queues, { runId, generation: 2, buildIds: [buildId] });
      expect(await look()).toEqual({ enqueued: 0, lost: 0 });
    });

    it('queues a running night again whose opening has ended and whose publication is gone', async () => {
      const runId = await addNight('running', 1);
      await addBuild(runId, 1);
      expect(await look()).toEqual({ enqueued: 1, lost: 0 });
      expect(await queues.state('nights', `night-${runId}`)).toBe('waiting');
    });

    it('leaves the builds of a night to the process that holds it open, which queues them again when they are gone', async () => {
      const { config, database } = backend;
      const store = openArtefactStore(config);
      const handlers = nightHandlers({ config, db: database.db, database, queues, store });
      const runId = await addNight();
      await enqueueJob(queues, 'open-night', { runId });
      const worker = await backend.startWorker({ 'open-night': handlers['open-night'] });
      const publication = `publish-${runId}-g1`;
      const isQueued = () =>
        until(
          () => queues.state('publications', publication),
          (state) => state === 'waiting-children',
        );
      try {
        await isQueued();
        expect(await queues.remove('publications', publication)).toBe(true);
        expect(await look()).toEqual({ enqueued: 0, lost: 0 });
        await isQueued();
        expect(await queues.counts()).toMatchObject({ builds: { waiting: 3 }, nights: { active: 1 } });
      } finally {
        await worker.stop();
      }
    });

    it('fails a load and a build whose job was given up after crashes, and queues one again that failed without a word in the database', async () => {
      const crashing = await addLoad('running');
      const runId = await addNight('running', 1);
      const buildId = await addBuild(runId, 1);
      await enqueueJob(queues, 'load-feed', { loadId: crashing });
      await enqueueNightFlow(queues, { runId, generation: 1, buildIds: [buildId] });
      for (let crash = 0; crash < 2; crash++) {
        const victim = await startWorkerProcess(backend.env, 'hold');
        await Promise.all([victim.line(`start ${crashing}`), victim.line(`start ${runId}-1-${buildId}`)]);
        await victim.end('SIGKILL');
      }
      const unrecorded = await addLoad();
      await enqueueJob(queues, 'load-feed', { loadId: unrecorded });
      const worker = await backend.startWorker(
        {
          'load-feed': () => Promise.reject(new Error('the database was away')),
          'build-artefact': async () => undefined,
        },
        { jobCrashesMax: 1 },
      );
      await until(
        () =>
          Promise.all([
            queues.state('feeds', `feed-${crashing}`),
            queues.state('builds', `build-${buildId}`),
            queues.state('feeds', `feed-${unrecorded}`),
          ]),
        (states) => states.every((state) => state === 'failed'),
      );
      await worker.stop();
      expect(await look()).toEqual({ enqueued: 1, lost: 2 });
      expect(await queues.state('feeds', `feed-${unrecorded}`)).toBe('waiting');
      expect(
        await queryRow(backend.database.db, 'SELECT state, failure_code FROM feed_load WHERE load_id = $1', [crashing]),
      ).toEqual({ state: 'failed', failureCode: 'job_lost' });
      expect(
        await queryRow(backend.database.db, 'SELECT state, failure_code FROM build WHERE build_id = $1', [buildId]),
      ).toEqual({ state: 'failed', failureCode: 'build_lost' });
    });

    it('queues the calls of a proof whose job is gone, until they are placed', async () => {
      const proofId = await addProof();
      expect(await look()).toEqual({ enqueued: 1, lost: 0 });
      expect(await queues.state('branding', `proof-${proofId}`)).toBe('waiting');
      expect(await look()).toEqual({ enqueued: 0, lost: 0 });
      await wipe(backend);
      await backend.database.db.query(
        "UPDATE number_proof_call SET code_hash = sha256('x'), expires_at = now() + interval '1 hour', placed_at = now()",
      );
      expect(await look()).toEqual({ enqueued: 0, lost: 0 });
    });

    it('queues a branding operation whose job is gone, and fails one whose job was given up after crashes', async () => {
      const [forgotten, crashing] = [await addOperation(), await addOperation()];
      await enqueueJob(queues, 'run-branding', { operationId: crashing });
      for (let crash = 0; crash < 2; crash++) {
        const victim = await startWorkerProcess(backend.env, 'hold');
        await victim.line(`start ${crashing}`);
        await victim.end('SIGKILL');
      }
      const worker = await backend.startWorker({ 'run-branding': async () => undefined }, { jobCrashesMax: 1 });
      await until(
        () => queues.state('branding', `branding-${crashing}`),
        (state) => state === 'failed',
      );
      await worker.stop();
      expect(await look()).toEqual({ enqueued: 1, lost: 1 });
      expect(await queues.state('branding', `branding-${forgotten}`)).toBe('waiting');
      const row = (operationId: number) =>
        queryRow(backend.database.db, 'SELECT state, failure_code FROM branding_operation WHERE operation_id = $1', [
          operationId,
        ]);
      expect([await row(crashing), await row(forgotten)]).toEqual([
        { state: 'failed', failureCode: 'job_lost' },
        { state: 'queued', failureCode: null },
      ]);
      expect(await look()).toEqual({ enqueued: 0, lost: 0 });
    });

    it('fails a night whose opening was given up after crashes', async () => {
      const runId = await addNight('running', 1);
      await enqueueJob(queues, 'open-night', { runId });
      for (let crash = 0; crash < 2; crash++) {
        const victim = await startWorkerProcess(backend.env, 'hold');
        await victim.line(`start ${runId}`);
        await victim.end('SIGKILL');
      }
      const worker = await backend.startWorker({ 'open-night': async () => undefined }, { jobCrashesMax: 1 });
      await until(
        () => queues.state('nights', `night-${runId}`),
        (state) => state === 'failed',
      );
      await worker.stop();
      expect(await look()).toEqual({ enqueued: 0, lost: 1 });
      expect(
        await queryRow(backend.database.db, 'SELECT state, outcome, failure_code FROM night_run WHERE run_id = $1', [
          runId,
        ]),
      ).toEqual({ state: 'finished', outcome: 'failed', failureCode: 'job_lost' });
      expect(await look()).toEqual({ enqueued: 0, lost: 0 });
    });
  });
});
