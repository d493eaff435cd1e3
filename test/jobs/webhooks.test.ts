import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startScheduler, type Scheduler } from '../../jobs/scheduler.ts';
import type { Queues } from '../../jobs/queues/backend.ts';
import { moveBrand } from '../../pipelines/branding/brand/settle.ts';
import { failNight } from '../../pipelines/caches/night/night-opening.ts';
import { listDeliveries, replaySince, type Delivery } from '../../pipelines/webhooks/delivery.ts';
import { addEndpoint, enableEndpoint, readEndpoint, rotateSecret } from '../../pipelines/webhooks/endpoint.ts';
import { loadConfig } from '../../runtime/config.ts';
import { inTransaction, queryRow } from '../../runtime/postgres.ts';
import { openVault } from '../../runtime/secrets/vault.ts';
import { ask, fresh, profile } from '../support/branding.ts';
import { runCli, runCliJson } from '../support/cli.ts';
import { startProcess, type ServiceProcess } from '../support/service-process.ts';
import { signaturesOf, startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { backends, openBackend, silent, until, wipe, type TestBackend } from './backends.ts';

describe.each(backends)('webhooks with queues in $kind', ({ kind, skipped }) => {
  describe.skipIf(skipped !== undefined)(skipped ?? 'are sent so that', () => {
    let backend: TestBackend;
    let env: Record<string, string>;
    let queues: Queues;
    let scheduler: Scheduler;
    let worker: ServiceProcess;
    let receiver: WebhookReceiver;
    let stateDir: string;

    const db = () => backend.database.db;
    const config = () => loadConfig(env);
    const startWorker = () => startProcess('jobs/worker-main.js', env);
    const vault = () => openVault({ stateDir });

    beforeAll(async () => {
      stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-webhooks-'));
      backend = await openBackend(kind);
      env = {
        ...backend.env,
        STATE_DIR: stateDir,
        NIGHT_SCHEDULE: '0 0 29 2 *',
        WEBHOOK_NETWORKS_ALLOWED: '127.0.0.1',
      };
      queues = await backend.openQueues();
      await openVault({ stateDir });
      const options = { config: config(), db: db(), queues, log: silent };
      scheduler = await startScheduler({ ...options, submit: () => Promise.reject(new Error('nothing is dropped')) });
      worker = startWorker();
    });
    afterAll(async () => {
      await scheduler.stop();
      await worker.end('SIGTERM');
      await queues.close();
      await backend.close();
      await rm(stateDir, { recursive: true, force: true });
    });
    beforeEach(async () => {
      receiver = await startReceiver();
    });
    afterEach(async () => {
      await receiver.close();
      await db().query('DELETE FROM webhook_endpoint');
      await db().query('DELETE FROM webhook_event');
    });

    const add = async (name: string, url: string, eventTypes: string[] = []) =>
      addEndpoint(
        { db: db(), vault: await vault() },
        { name, url, brand: null, eventTypes, actor: 'test', limits: config() },
      );
    /** A change that is announced. */
    const failANight = async () => {
      const { id } = (await queryRow<{ id: number }>(
        db(),
        "INSERT INTO night_run (night_date, trigger, requested_by) VALUES ('2026-01-01', 'operator', 'test') RETURNING run_id AS id",
      ))!;
      await failNight(db(), { runId: id, code: 'job_lost', reason: 'test' });
    };
    const deliveriesOf = (endpoint: string) => listDeliveries(db(), { endpoint, limit: 100 });
    const untilDelivery = async (endpoint: string, wanted: (delivery: Delivery) => boolean) =>
      (
        await until(
          () => deliveriesOf(endpoint),
          ([newest]) => newest !== undefined && wanted(newest),
        )
      )[0]!;
    const isDelivered = ({ state }: Delivery) => state === 'delivered';

    it('an event is delivered, signed by the secret of its endpoint, and by both during a rotation', async () => {
      const { secret } = await add('ops', `${receiver.url}/hooks`);
      await failANight();
      expect(await untilDelivery('ops', isDelivered)).toMatchObject({ attempts: 1, answerStatus: 204, failure: null });
      const [first] = receiver.received;
      expect(first).toMatchObject({ path: '/hooks', headers: { 'content-type': 'application/json' } });
      expect(JSON.parse(first!.body)).toMatchObject({ type: 'night.failed', data: { date: '2026-01-01' } });
      expect(signaturesOf(first!, secret)).toBe(1);

      const rotate = async (overlapSeconds: number) =>
        rotateSecret({ db: db(), vault: await vault() }, { name: 'ops', overlapSeconds });
      const secrets = [secret, await rotate(3600), await rotate(3600)];
      await failANight();
      await until(
        () => receiver.received.length,
        (count) => count === 2,
      );
      expect(secrets.map((each) => signaturesOf(receiver.received[1]!, each))).toEqual([0, 1, 1]);
      const last = await rotate(0);
      await failANight();
      await until(
        () => receiver.received.length,
        (count) => count === 3,
      );
      expect(receiver.received[2]!.headers['webhook-signature']).not.toContain(' ');
      expect(signaturesOf(receiver.received[2]!, last)).toBe(1);
    });

    it('a receiver that is away gets its message, with the same id, when it is back', async () => {
      const port = Number(new URL(receiver.url).port);
      await add('away', receiver.url);
      await receiver.close();
      await failANight();
      const waiting = await untilDelivery('away', ({ attempts }) => attempts >= 1);
      expect(waiting).toMatchObject({ state: 'pending', failure: 'connection_failed' });
      expect((await readEndpoint(db(), 'away')).failingSince).not.toBeNull();
      await wipe(backend); // what is due is in the database
      receiver = await startReceiver(port);
      await db().query("UPDATE webhook_delivery SET next_attempt_at = now() WHERE state = 'pending'"); // its wait is over
      const delivered = await untilDelivery('away', isDelivered);
      expect(delivered.attempts).toBeGreaterThanOrEqual(2);
      expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([delivered.messageId]);
      expect((await readEndpoint(db(), 'away')).failingSince).toBeNull();
    });

    it('an endpoint can be removed while an attempt at it is recorded', async () => {
      await add('leaving', receiver.url);
      const removal = await db().connect();
      try {
        receiver.answer = async (response) => {
          await removal.query('BEGIN');
          await removal.query("SET LOCAL deadlock_timeout = '10ms'"); // so that a deadlock would end the removal, not the worker
          await removal.query('SELECT FROM webhook_endpoint FOR UPDATE'); // what a removal does first
          response.writeHead(200).end();
        };
        await failANight();
        await until(
          async () =>
            (
              await db().query(
                "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%webhook_%'",
              )
            ).rowCount,
          (count) => count === 1,
        );
        await removal.query('DELETE FROM webhook_endpoint');
        await removal.query('COMMIT');
      } finally {
        removal.release();
      }
      expect((await db().query('SELECT FROM webhook_delivery')).rowCount).toBe(0);
    });

    it('a worker that is killed between the answer and its record leaves a delivery that is made again, with the same id', async () => {
      await add('killed', receiver.url);
      const lock = await db().connect();
      receiver.answer = async (response) => {
        if (receiver.received.length === 1) {
          await lock.query('BEGIN');
          await lock.query('SELECT FROM webhook_delivery FOR UPDATE');
        }
        response.writeHead(200).end();
      };
      await failANight();
      const blocked = await until(
        async () =>
          (
            await db().query<{ pid: number }>(
              "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%UPDATE webhook_delivery%'",
            )
          ).rows[0],
        (row) => row !== undefined,
      );
      await worker.end('SIGKILL');
      await db().query('SELECT pg_terminate_backend($1)', [blocked!.pid]); // the server would finish the statement of the dead
      await lock.query('COMMIT');
      lock.release();
      expect(await deliveriesOf('killed')).toMatchObject([{ state: 'pending', attempts: 0 }]);
      worker = startWorker();
      const delivered = await untilDelivery('killed', isDelivered);
      expect(delivered.attempts).toBe(1);
      const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
      expect(ids).toEqual([delivered.messageId, delivered.messageId]);
    });

    if (kind !== 'postgres') return; // the queue has no part in what follows

    it('an endpoint of one brand gets the events of that brand alone', async () => {
      const [ours, theirs] = [fresh(0), fresh(0)];
      await ask(db(), 'add_managed_brand', { handle: ours.handle, brand: profile });
      await addEndpoint(
        { db: db(), vault: await vault() },
        { name: 'ours', url: receiver.url, brand: ours.handle, eventTypes: [], actor: 'test', limits: config() },
      );
      await ask(db(), 'add_managed_brand', { handle: theirs.handle, brand: profile });
      await failANight();
      const { rows } = await db().query<{ brand_id: string }>('SELECT brand_id FROM brand WHERE handle = $1', [
        ours.handle,
      ]);
      const brand = { brandId: Number(rows[0]!.brand_id), handle: ours.handle, state: 'draft' as const };
      const cause = { actor: 'test', reason: 'test', operationId: null };
      await inTransaction(db(), (client) => moveBrand(client, brand, { action: 'withdraw', cause }));
      await untilDelivery('ours', isDelivered);
      const got = receiver.received.map(({ body }) => JSON.parse(body) as { type: string; data: { brand: string } });
      expect(got.map(({ type, data }) => [type, data.brand])).toEqual([['brand.withdrawn', ours.handle]]);
      expect(await deliveriesOf('ours')).toHaveLength(1);
    });

    it('an endpoint whose address is inside a private network gets nothing', async () => {
      await add('metadata', receiver.url);
      await db().query("UPDATE webhook_endpoint SET url = 'http://169.254.169.254/' WHERE name = 'metadata'");
      await failANight();
      expect(await untilDelivery('metadata', ({ attempts }) => attempts === 1)).toMatchObject({
        state: 'pending',
        failure: 'address_refused',
        answerStatus: null,
      });
    });

    it('a delivery that failed is replayed, alone or with all since an instant', async () => {
      const since = new Date();
      await failANight(); // before the endpoint is there
      await add('replayed', receiver.url);
      receiver.answer = (response) => void response.writeHead(410).end();
      await failANight();
      expect(await untilDelivery('replayed', ({ state }) => state === 'failed')).toMatchObject({ failure: 'gone' });
      expect(await readEndpoint(db(), 'replayed')).toMatchObject({ state: 'disabled', disabledBy: 'delivery' });
      const doctor = await runCli(env, 'doctor');
      expect(doctor.stdout).toContain('replayed was disabled because it failed');
      await expect(
        inTransaction(db(), (client) => replaySince(client, { endpoint: 'replayed', since, undelivered: true })),
      ).rejects.toMatchObject({ code: 'webhook_disabled' });

      receiver.answer = (response) => void response.writeHead(204).end();
      await inTransaction(db(), (client) => enableEndpoint(client, 'replayed'));
      const replay = (...words: string[]) =>
        runCliJson<{ deliveries: number }>(env, 'webhooks', 'replay', 'replayed', ...words);
      expect(await replay('--since', since.toISOString(), '--undelivered')).toMatchObject({ deliveries: 2 });
      await until(
        () => deliveriesOf('replayed'),
        (all) => all.length === 2 && all.every(isDelivered),
      );
      expect(await replay('--since', since.toISOString(), '--undelivered')).toMatchObject({ deliveries: 0 });
      const [newest] = await deliveriesOf('replayed');
      await replay('--delivery', String(newest!.deliveryId));
      await untilDelivery('replayed', ({ state, replays }) => state === 'delivered' && replays === 1);
      const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
      expect(ids).toHaveLength(4);
      expect(new Set(ids).size).toBe(2);
    });

    it('the commands add, test, show, disable and remove an endpoint', async () => {
      const run = (...words: string[]) => runCli(env, 'webhooks', ...words);
      const added = await runCliJson<{ secret: string }>(
        env,
        'webhooks',
        'add',
        'cli',
        receiver.url,
        '--event',
        'letter.*',
      );
      expect(added.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(await run('test', 'cli')).toMatchObject({ code: 0, stdout: 'cli answered 204.\n' });
      expect(signaturesOf(receiver.received[0]!, added.secret)).toBe(1);
      const shown = (await run('show', 'cli')).stdout;
      expect(shown).toContain('letter.*');
      expect(shown).not.toContain(added.secret);
      expect(await run('add', 'cli', receiver.url)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('webhook_exists') as string,
      });
      for (const [url, problem] of [
        ['http://10.0.0.1/', 'private network'],
        ['http://8.8.8.8/', 'no TLS'],
        ['ftp://example.com/', 'https'],
        ['https://user:pw@example.com/', 'login'],
      ])
        expect(await run('add', 'bad', url!), url).toMatchObject({
          code: 2,
          stderr: expect.stringContaining(problem!) as string,
        });
      expect((await run('disable', 'cli', '--reason', 'Moves')).code).toBe(0);
      expect((await run('list')).stdout).toContain('disabled');
      expect((await run('remove', 'cli')).code).toBe(0);
      expect((await run('list')).stdout).toBe('There are no endpoints.\n');
    });
  });
});
