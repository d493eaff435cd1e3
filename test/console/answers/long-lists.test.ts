import { beforeAll, describe, expect, it } from 'vitest';
import { readVoiceHistory } from '../../../console/answers/voice-answers.ts';
import { sql } from '../../../sql/sql.ts';
import { useTestDatabase } from '../../support/database.ts';

const { db } = await useTestDatabase();
const rows = 20_000;

/** Blocks of 8 KiB that the database looks at for a statement, and the rows that it gives. */
async function measure(name: Parameters<typeof sql>[0], values: unknown[]): Promise<{ rows: number; blocks: number }> {
  interface Plan {
    'Actual Rows': number;
    'Shared Hit Blocks': number;
    'Shared Read Blocks': number;
  }
  const {
    rows: [answer],
  } = await db.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql(name)}`,
    values,
  );
  const [{ Plan: plan }] = answer!['QUERY PLAN'];
  return { rows: plan['Actual Rows'], blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] };
}

describe(`lists of the console, of ${rows} entries`, () => {
  beforeAll(async () => {
    await db.query(`
      INSERT INTO branding_operation (owner, idempotency_key, kind, request, request_sha256, requested_by, state, finished_at, result)
      SELECT CASE WHEN n % 5000 = 0 THEN 'Rare' ELSE 'Common' END, n::text, 'update_managed_brand', jsonb_build_object('handle', 'brand-' || n / 10), repeat('a', 64), 'test', 'done', now(),
        jsonb_build_object('outcome', CASE WHEN n % 5000 = 1 THEN 'rejected' ELSE 'approved' END)
      FROM generate_series(1, ${rows}) AS n`);
    await db.query(
      `INSERT INTO console_event (actor, action) SELECT CASE WHEN n % 5000 = 0 THEN 'rare' ELSE 'ada' END, 'log_in' FROM generate_series(1, ${rows}) AS n`,
    );
    await db.query(`
      WITH added AS (
        INSERT INTO brand (handle, owner, state, approved_revision, pending_revision) SELECT 'brand-' || n, 'Common', 'approved', 1, CASE WHEN n % 5000 = 0 THEN 1 END FROM generate_series(1, ${rows}) AS n
        RETURNING brand_id
      )
      INSERT INTO brand_revision (brand_id, revision, profile, display_name, needs_decision, operation_id) SELECT brand_id, 1, '{}', 'Name', false, 1 FROM added`);
    await db.query('VACUUM ANALYZE branding_operation, console_event, brand, brand_revision');
  });

  it.each([
    ['requests of an owner', 'console/list_operations', [null, ['Rare'], null, null, 50], 4],
    ['requests of nobody', 'console/list_operations', [null, ['Nobody'], null, null, 50], 0],
    ['requests for a brand', 'console/list_operations', [null, null, null, 'brand-77', 50], 10],
    ['requests that were rejected', 'console/list_operations', [null, null, 'rejected', null, 50], 4],
    ['requests that wait', 'console/list_operations', [null, null, 'queued', null, 50], 0],
    ['actions of one user', 'console/list_events', [null, 'rare', 50], 4],
    ['brands that wait', 'console/list_waiting_brands', ['', 50], 4],
    ['the count of what waits', 'console/count_waiting', [], 1],
  ] as const)('read %s without the others', async (_what, name, values, found) => {
    const { rows: given, blocks } = await measure(name, [...values]);
    expect(given).toBe(found);
    expect(blocks).toBeLessThan(50);
  });
});

describe('the history of a voiceprint', () => {
  it('has the newest comparisons, everything else, and a count of the rest', async () => {
    const {
      rows: [added],
    } = await db.query<{ voiceprint_id: number; public_id: string }>(`
      INSERT INTO voiceprint (owner, subject, model, model_sha256, recordings, voice_seconds, consent_reference, consent_at, consent_recorded_by, sealed_embedding, wrapped_key, master_key_id)
      VALUES ('Common', 'customer-1', 'voiceprint/1', repeat('a', 64), 3, 30, 'form 1', now(), 'test', 'x', 'x', 'k') RETURNING voiceprint_id, public_id`);
    await db.query(
      `INSERT INTO voiceprint_event (voiceprint_id, action, actor, reason) SELECT $1, CASE n WHEN 0 THEN 'enrolled' WHEN 71 THEN 'deleted' ELSE 'verified' END, 'test', 'number ' || n FROM generate_series(0, 71) AS n ORDER BY n`,
      [added!.voiceprint_id],
    );
    const { events, eventsLeftOut } = await readVoiceHistory(db, added!.public_id);
    expect(events.map(({ reason }) => reason)).toEqual([
      ...Array.from({ length: 51 }, (_, at) => `number ${71 - at}`),
      'number 0',
    ]);
    expect([events[0]!.action, events.at(-1)!.action, eventsLeftOut]).toEqual(['deleted', 'enrolled', 20]);
    expect(await readVoiceHistory(db, '00000000-0000-4000-8000-000000000000')).toEqual({
      events: [],
      eventsLeftOut: 0,
    });
  });
});
