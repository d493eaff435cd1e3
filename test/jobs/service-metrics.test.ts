import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Queues } from '../../jobs/queues/backend.ts';
import { measureService } from '../../jobs/service-metrics.ts';
import { initTrust, makeRootKeys } from '../../pipelines/caches/signing/ceremony.ts';
import { openMetrics } from '../../runtime/metrics/prometheus.ts';
import { withPoolClient } from '../../runtime/postgres.ts';
import { openVault } from '../../runtime/secrets/vault.ts';
import { backends, openBackend, silent, type TestBackend } from './backends.ts';
import type { VersionFacts } from '../../pipelines/caches/artefact-facts.ts';

describe.each(backends)('the metrics of the service, with the queues in $kind', ({ kind, skipped }) => {
  describe.skipIf(skipped !== undefined)(skipped ?? 'read at each scrape', () => {
    let backend: TestBackend;
    let queues: Queues;
    let scrape: () => Promise<string[]>;

    beforeAll(async () => {
      backend = await openBackend(kind, { LETTER_MASTER_KEY: 'ab'.repeat(32), FEED_INTERVAL_HOURS: 'directory=24' });
      queues = await backend.openQueues();
      const metrics = openMetrics('scheduler');
      const { db } = backend.database;
      measureService({ metrics, config: backend.config, db, queues, log: silent });
      scrape = async () =>
        (await metrics.text()).split('\n').filter((line) => line.startsWith('caller_trust_') && !line.includes('node'));
    });
    afterAll(async () => {
      await queues.close();
      await backend.close();
    });

    const valueOf = (samples: readonly string[], series: string) => {
      const line = samples.find((sample) => sample.startsWith(`${series} `));
      return line === undefined ? undefined : Number(line.slice(series.length + 1));
    };

    it('of a new service have no night, no file and no signature, and all parts can be read', async () => {
      const samples = await scrape();
      const parts = ['nights', 'caches', 'label_changes', 'work', 'feeds', 'signatures', 'webhooks', 'queues'];
      for (const part of parts) expect(valueOf(samples, `caller_trust_service_reads{part="${part}"}`), part).toBe(1);
      expect(valueOf(samples, 'caller_trust_nights_open')).toBe(0);
      expect(valueOf(samples, 'caller_trust_night_open_age_seconds')).toBe(0);
      expect(samples.filter((line) => /_(night_outcome|night_stage|cache|labels|signature)/.test(line))).toEqual([]);
      expect(valueOf(samples, 'caller_trust_decisions_waiting{kind="letter"}')).toBe(0);
      expect(valueOf(samples, 'caller_trust_webhook_endpoints{state="failing"}')).toBe(0);
      expect(valueOf(samples, 'caller_trust_feed_late{feed="directory",source=""}')).toBe(1); // a setting expects it
      expect(valueOf(samples, 'caller_trust_queue_jobs{queue="nights",state="waiting"}')).toBe(0);
      expect(valueOf(samples, 'caller_trust_queue_waiting_age_seconds{queue="nights"}')).toBe(0);
    });

    it('have nights by stage and outcome, files, labels, feeds, work, signatures and queues', async () => {
      const { db } = backend.database;
      await fill(backend);
      await initTrust(
        { db, vault: await openVault(backend.config), now: new Date() },
        { rootKeys: makeRootKeys(2), threshold: 1 },
      );
      await queues.add({ queue: 'nights', name: 'open-night', id: 'night-7', payload: { runId: 7 }, priority: 5 });
      await queues.pause('feeds');
      await queues.add({ queue: 'feeds', name: 'load-feed', id: 'feed-1', payload: { loadId: 1 } });
      await new Promise((resolve) => setTimeout(resolve, 30));
      const samples = await scrape();
      const expected: Record<string, number> = {
        'caller_trust_night_outcome{outcome="ok"}': 0,
        'caller_trust_night_outcome{outcome="partial"}': 1,
        'caller_trust_night_outcome{outcome="failed"}': 0,
        'caller_trust_night_stage_seconds{stage="wait"}': 60,
        'caller_trust_night_stage_seconds{stage="prepare"}': 120,
        'caller_trust_night_stage_seconds{stage="build"}': 300,
        'caller_trust_night_stage_seconds{stage="publish"}': 15,
        'caller_trust_night_files{outcome="published"}': 2,
        'caller_trust_night_files{outcome="unchanged"}': 3,
        'caller_trust_night_files{outcome="failed"}': 1,
        caller_trust_nights_open: 1,
        'caller_trust_cache_files{cache="spammer_phones",status="fresh"}': 1,
        'caller_trust_cache_files{cache="spammer_phones",status="stale"}': 0,
        'caller_trust_cache_rows{cache="spammer_phones"}': 30,
        'caller_trust_cache_bytes{cache="spammer_phones"}': 900,
        'caller_trust_labels{level="SPAM"}': 20,
        'caller_trust_labels{level="FRAUD"}': 10,
        'caller_trust_label_changes{kind="rise"}': 2,
        'caller_trust_label_changes{kind="fall"}': 0,
        'caller_trust_label_changes{kind="flip"}': 1,
        'caller_trust_feed_rows{feed="complaints",source="ftc"}': 10,
        'caller_trust_feed_loads{state="held"}': 1,
        'caller_trust_feed_loads{state="failed"}': 1,
        'caller_trust_decisions_waiting{kind="held_load"}': 1,
        'caller_trust_decisions_waiting{kind="dispute"}': 1,
        'caller_trust_webhook_deliveries{state="pending"}': 1,
        'caller_trust_webhook_deliveries{state="failed"}': 1,
        'caller_trust_webhook_endpoints{state="enabled"}': 2,
        'caller_trust_webhook_endpoints{state="failing"}': 1,
        'caller_trust_webhook_endpoints{state="given_up"}': 1,
        'caller_trust_queue_jobs{queue="nights",state="waiting"}': 1,
        'caller_trust_queue_paused{queue="feeds"}': 1,
        'caller_trust_queue_workers{queue="nights"}': 0,
      };
      for (const [series, value] of Object.entries(expected)) expect(valueOf(samples, series), series).toBe(value);
      const about = (series: string, value: number, margin = 60) => {
        expect(valueOf(samples, series), series).toBeGreaterThanOrEqual(value);
        expect(valueOf(samples, series), series).toBeLessThan(value + margin);
      };
      about('caller_trust_night_open_age_seconds', 600);
      about('caller_trust_cache_age_seconds{cache="spammer_phones"}', 3600);
      about('caller_trust_feed_age_seconds{feed="complaints",source="ftc"}', 7200);
      about('caller_trust_decision_waiting_age_seconds{kind="dispute"}', 86_400);
      about('caller_trust_webhook_pending_age_seconds', 300);
      about('caller_trust_queue_waiting_age_seconds{queue="nights"}', 0.02);
      const now = Date.now() / 1000;
      about('caller_trust_night_finished_timestamp_seconds{outcome="ok"}', now - 7200 - 60, 120);
      about('caller_trust_signature_expiry_timestamp_seconds{role="root"}', now + 364 * 86_400, 2 * 86_400);
      about('caller_trust_signature_expiry_timestamp_seconds{role="targets"}', now + 29 * 86_400, 2 * 86_400);
      about('caller_trust_signature_expiry_timestamp_seconds{role="snapshot"}', now + 13 * 86_400, 2 * 86_400);
      about('caller_trust_signature_expiry_timestamp_seconds{role="timestamp"}', now + 47 * 3600, 7200);
    });

    it('lack a part whose statement takes too long, say so, and have the others', async () => {
      const samples = await withPoolClient(backend.database.db, async (client) => {
        await client.query('BEGIN; LOCK TABLE letter IN ACCESS EXCLUSIVE MODE');
        try {
          return await scrape();
        } finally {
          await client.query('ROLLBACK');
        }
      });
      expect(valueOf(samples, 'caller_trust_service_reads{part="work"}')).toBe(0);
      expect(samples.filter((line) => line.startsWith('caller_trust_decisions_waiting'))).toEqual([]);
      expect(valueOf(samples, 'caller_trust_service_reads{part="nights"}')).toBe(1);
      expect(valueOf(samples, 'caller_trust_nights_open')).toBe(1);
      expect(valueOf(samples, 'caller_trust_service_read_seconds{part="work"}')).toBeGreaterThan(1.9);
      expect(valueOf(await scrape(), 'caller_trust_service_reads{part="work"}')).toBe(1);
    });
  });
});

/** Two finished nights of all caches and one of a single cache, an open one, a published file, changes of labels, loads, a dispute. */
const publishedFacts: VersionFacts = {
  rows: 30,
  levels: { SPAM: 20, FRAUD: 10 },
  categoriesVersion: 1,
  file: { sha256: 'a'.repeat(64), bytes: 900, plainBytes: 9000, plainSha256: 'b'.repeat(64) },
  index: {
    sha256: 'c'.repeat(64),
    bytes: 0,
    segments: 0,
    blockBytesMax: 0,
    directory: { offset: 0, bytes: 0, sha256: 'd'.repeat(64) },
  },
  filter: null,
  deltas: [],
};

async function fill({ database: { db } }: TestBackend): Promise<void> {
  await db.query(`
    INSERT INTO night_run (night_date, trigger, only_cache, state, outcome, generation, requested_by, requested_at, opened_at, as_of, finished_at, report)
    VALUES
      (current_date - 1, 'schedule', NULL, 'finished', 'ok', 1, 't', now() - interval '3 hours', now() - interval '3 hours',
        now() - interval '3 hours', now() - interval '2 hours', '{"counts": {"published": 9, "unchanged": 9, "failed": 0}}'),
      (current_date, 'schedule', NULL, 'finished', 'partial', 2, 't', now() - interval '1 hour', now() - interval '59 minutes',
        now() - interval '57 minutes', now() - interval '51 minutes 45 seconds', '{"counts": {"published": 2, "unchanged": 3, "failed": 1}}'),
      (current_date, 'operator', 'phones', 'finished', 'failed', 1, 't', now(), now(), now(), now(), '{"counts": {}}'),
      (current_date, 'operator', NULL, 'due', NULL, 0, 't', now() - interval '10 minutes', NULL, NULL, NULL, NULL)`);
  await db.query(`
    INSERT INTO build (run_id, generation, cache, country, state, facts, started_at, built_at)
    SELECT run_id, g, 'spammer_phones', '', 'built', '{}', as_of, as_of + g * interval '150 seconds'
    FROM night_run, generate_series(1, 2) AS g WHERE outcome = 'partial'`);
  await db.query(
    `
    WITH v AS (
      INSERT INTO artefact_version (cache, country, version, build_id, as_of, built_at, facts)
      SELECT 'spammer_phones', '', 1, min(build_id), now(), now(), $1
      FROM build RETURNING 1)
    INSERT INTO publication (cache, country, version, status, confirmed_as_of) SELECT 'spammer_phones', '', 1, 'fresh', now() - interval '1 hour' FROM v`,
    [JSON.stringify(publishedFacts)],
  );
  await db.query(`
    INSERT INTO label_event (phone, at, level_before, level, cause)
    VALUES ('+12025550101', now(), 'NEUTRAL', 'SPAM', 'complaints'), ('+12025550102', now(), 'NEUTRAL', 'FRAUD', 'complaints'),
      ('+12025550103', now(), 'SPAM', 'FRAUD', 'complaints'), ('+12025550104', now() - interval '25 hours', 'SPAM', 'NEUTRAL', 'complaints')`);
  await db.query(`
    INSERT INTO feed_load (feed, source, file_name, file_sha256, file_bytes, submitted_by, state, requested_at, rows_given, rows_accepted, rows_rejected, rows_changed, failure_code, failure_reason, gates)
    VALUES ('complaints', 'ftc', 'f', repeat('a', 64), 1, 't', 'done', now() - interval '2 hours', 10, 10, 0, 10, NULL, NULL, '[]'),
      ('complaints', 'ftc', 'f', repeat('b', 64), 1, 't', 'held', now(), 10, 10, 0, NULL, NULL, NULL, '[{}]'),
      ('complaints', 'ftc', 'f', repeat('c', 64), 1, 't', 'failed', now(), NULL, NULL, NULL, NULL, 'internal', 'r', '[]')`);
  await db.query(`
    INSERT INTO number_dispute (phone, reason, filed_by, filed_at, idempotency_key, request_sha256, level)
    VALUES ('+12025550101', 'r', 't', now() - interval '1 day', 'k', repeat('a', 64), 'SPAM')`);
  // Last: nothing of the above is announced.
  await db.query(`
    INSERT INTO webhook_endpoint (name, url, created_by, failing_since) VALUES ('a', 'https://a', 't', now() - interval '2 hours'), ('b', 'https://b', 't', NULL), ('c', 'https://c', 't', now());
    INSERT INTO webhook_event (message_id, type, occurred_at, data) VALUES ('m', 'night.failed', now(), '{}');
    UPDATE webhook_delivery AS d SET created_at = now() - interval '5 minutes', state = CASE name WHEN 'a' THEN 'pending' ELSE 'failed' END,
      next_attempt_at = CASE name WHEN 'a' THEN now() END, last_attempt_at = CASE name WHEN 'b' THEN now() ELSE now() - interval '25 hours' END
    FROM webhook_endpoint AS e WHERE e.endpoint_id = d.endpoint_id;
    UPDATE webhook_endpoint SET state = 'disabled', disabled_at = now(), disabled_by = 'delivery' WHERE name = 'b'`);
}
