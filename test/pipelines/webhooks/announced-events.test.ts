import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { decideBrand } from '../../../pipelines/branding/brand/person-actions.ts';
import { moveBrand } from '../../../pipelines/branding/brand/settle.ts';
import { BRAND_TRANSITIONS, LETTER_TRANSITIONS, NUMBER_TRANSITIONS } from '../../../pipelines/branding/states.ts';
import { failNight } from '../../../pipelines/caches/night/night-opening.ts';
import { decideHeldLoad } from '../../../pipelines/feeds/load-record.ts';
import { decideDispute, fileDispute } from '../../../pipelines/labels/number-dispute.ts';
import { listDueDeliveries, pruneWebhookEvents } from '../../../pipelines/webhooks/delivery.ts';
import { addEndpoint } from '../../../pipelines/webhooks/endpoint.ts';
import { WEBHOOK_EVENTS } from '../../../pipelines/webhooks/event-types.ts';
import { inTransaction } from '../../../runtime/postgres.ts';
import {
  ask,
  eyes,
  fresh,
  goodLetter,
  letterForReview,
  profile,
  signedForm,
  testVault,
} from '../../support/branding.ts';
import { useTestDatabase } from '../../support/database.ts';
import { putNumbers } from '../../support/numbers.ts';

const { db } = await useTestDatabase();

interface EventRow {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The events of a brand, or all, in their order, and none of before. */
async function takeEvents(): Promise<EventRow[]> {
  const { rows } = await db.query<EventRow>('SELECT type, data FROM webhook_event ORDER BY event_id');
  await db.query('DELETE FROM webhook_event');
  return rows;
}

afterEach(async () => {
  await db.query('DELETE FROM webhook_endpoint');
  await db.query('DELETE FROM webhook_event');
});

const limits = { webhookNetworksAllowed: undefined } as const;
const addressed = (name: string, given: { brand?: string; eventTypes?: string[] } = {}) =>
  addEndpoint(
    { db, vault: testVault },
    { name, url: 'https://hooks.example', brand: null, eventTypes: [], actor: 'test', limits, ...given },
  );

describe('branding announces', () => {
  it('each state in which a letter, a brand and its numbers come to rest, as ids, states and counts', async () => {
    const { handle, phones } = fresh(3);
    const { operationId } = await ask(
      db,
      'add_managed_brand',
      { handle, brand: profile, numbers: phones },
      { letter: signedForm(phones) },
    );
    const events = await takeEvents();
    expect(events.map(({ type }) => type).sort()).toEqual([
      'brand.approved',
      'brand.draft',
      'letter.approved',
      'number.submitted',
      'number.verified',
    ]);
    expect(events.find(({ type }) => type === 'number.verified')!.data).toEqual({
      brand: handle,
      state: 'verified',
      before: 'submitted',
      count: 3,
      operation: operationId,
      sequence: expect.any(Number) as number,
    });
    expect(events.find(({ type }) => type === 'letter.approved')!.data).toMatchObject({
      brand: handle,
      letter: expect.any(Number) as number,
      before: 'submitted',
      validUntil: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
    });
    const sent = JSON.stringify(events);
    for (const secret of [...phones, profile.legalName, profile.displayName]) expect(sent).not.toContain(secret);
  });

  it('a letter that waits for a person', async () => {
    const { handle, phones } = fresh(1);
    await ask(
      db,
      'add_managed_brand',
      { handle, brand: profile, numbers: phones },
      { letter: letterForReview(phones) },
    );
    expect((await takeEvents()).map(({ type }) => type)).toEqual(
      expect.arrayContaining(['letter.in_review', 'brand.in_review', 'number.in_review']),
    );
  });

  it('a change of an approved brand that waits, and how it was decided, but no change of one that never was', async () => {
    const { handle, phones } = fresh(1);
    await ask(db, 'add_managed_brand', { handle, brand: profile });
    const draft = { displayName: `${profile.displayName} 1` };
    await ask(db, 'update_managed_brand', { handle, changes: draft });
    await ask(db, 'update_managed_brand', { handle, changes: { displayName: profile.displayName } });
    await ask(db, 'update_managed_brand', { handle, numbers: phones }, { letter: signedForm(phones) });
    expect((await takeEvents()).map(({ type }) => type).filter((type) => type.startsWith('revision.'))).toEqual([]);

    const by = { actor: 'ann', reason: 'looked at', eyes };
    const rename = async (displayName: string) => {
      const { operationId } = await ask(db, 'update_managed_brand', { handle, changes: { displayName } });
      return operationId;
    };
    const operation = await rename('Dental Northwind');
    const revision = expect.any(Number) as number;
    const sequence = expect.any(Number) as number;
    expect(await takeEvents()).toEqual([
      { type: 'revision.pending', data: { brand: handle, revision, state: 'pending', operation, sequence } },
    ]);
    await decideBrand({ db, handle, approve: true, ...by });
    const [approved, ...none] = await takeEvents();
    expect(approved).toMatchObject({ type: 'revision.approved', data: { brand: handle, state: 'approved' } });
    expect(none).toEqual([]);
    await rename('Northwind Smiles');
    const [pending] = await takeEvents();
    await decideBrand({ db, handle, approve: false, ...by });
    const [rejected] = await takeEvents();
    expect(rejected).toMatchObject({ type: 'revision.rejected', data: { revision: pending!.data['revision'] } });
    expect(pending!.data['revision']).toBe((approved!.data['revision'] as number) + 1);

    // rules approve it in the transaction that proposes it
    await ask(db, 'update_managed_brand', { handle }, { letter: signedForm(phones) });
    expect((await takeEvents()).map(({ type }) => type).filter((type) => type.startsWith('revision.'))).toEqual([
      'revision.approved',
    ]);
  });

  it('a change in its transaction: rolled back with it, and there with it', async () => {
    const { handle, phones } = fresh(1);
    await ask(db, 'add_managed_brand', { handle, brand: profile, numbers: phones }, { letter: goodLetter(phones) });
    const { rows } = await db.query<{ brand_id: number; state: 'in_review' }>(
      'SELECT brand_id, state FROM brand WHERE handle = $1',
      [handle],
    );
    const brand = { brandId: Number(rows[0]!.brand_id), handle, state: rows[0]!.state };
    await addressed('ops');
    await takeEvents();
    const withdraw = (fails: boolean) =>
      inTransaction(db, async (client) => {
        const cause = { actor: 'test', reason: 'test', operationId: null };
        await moveBrand(client, brand, { action: 'withdraw', cause });
        expect((await client.query('SELECT FROM webhook_delivery')).rowCount).toBe(1);
        if (fails) throw new Error('rolled back');
      });
    await expect(withdraw(true)).rejects.toThrow('rolled back');
    expect((await db.query('SELECT FROM webhook_event')).rowCount).toBe(0);
    expect(await listDueDeliveries(db)).toEqual([]);
    await withdraw(false);
    expect(await listDueDeliveries(db)).toHaveLength(1);
    expect((await takeEvents()).map(({ type }) => type)).toEqual(['brand.withdrawn']);
  });

  it('a type for each state of the tables, except those that no transaction ends in', () => {
    const announced = [BRAND_TRANSITIONS, LETTER_TRANSITIONS, NUMBER_TRANSITIONS].flatMap(({ kind, states }) =>
      states.filter((state) => kind === 'number' || state !== 'submitted').map((state) => `${kind}.${state}`),
    );
    const others =
      'batch.done batch.cancelled revision.pending revision.approved revision.rejected dispute.open dispute.cleared dispute.upheld ' +
      'load.held load.released load.discarded night.published night.held night.failed webhook.test';
    expect(Object.keys(WEBHOOK_EVENTS).sort()).toEqual([...announced, ...others.split(' ')].sort());
  });
});

describe('a dispute announces', () => {
  it('that it is open and how it was decided, to the brand that has the number verified, without the number', async () => {
    const { handle, phones } = fresh(1);
    await ask(db, 'add_managed_brand', { handle, brand: profile, numbers: phones }, { letter: signedForm(phones) });
    const others = '+12025550177';
    await putNumbers(db, [...phones, others].map((phone) => ({ phone, level: 'SPAM' as const, category: 6 }))); // prettier-ignore
    await addressed('ours', { brand: handle, eventTypes: ['dispute.*'] });
    await takeEvents();
    const dispute = async (phone: string, clear: boolean) => {
      const request = { phone, reason: 'Ours since May', contact: 'office@clinic.example' };
      const { disputeId } = await fileDispute({ db, vault: testVault }, { request, filedBy: 'intake Clinic' });
      await decideDispute({ db, disputeId, clear, reason: 'looked at', actor: 'ann', eyes });
      return disputeId;
    };
    const ids = [await dispute(phones[0]!, true), await dispute(others, false)];
    expect((await db.query('SELECT FROM webhook_delivery')).rowCount).toBe(2); // those of its own number
    const events = await takeEvents();
    const of = (at: number, brand: string | null, state: string, before: string | null) => ({
      type: `dispute.${state}`,
      data: { dispute: ids[at], brand, state, before },
    });
    expect(events).toEqual([
      of(0, handle, 'open', null),
      of(0, handle, 'cleared', 'open'),
      of(1, null, 'open', null),
      of(1, null, 'upheld', 'open'),
    ]);
  });

  it('what a role files that can only submit work', async () => {
    const phone = '+12025550178';
    await putNumbers(db, [{ phone, level: 'FRAUD', category: 7 }]);
    await inTransaction(db, async (client) => {
      await client.query('SET LOCAL ROLE caller_trust_submitter');
      await client.query(
        `INSERT INTO number_dispute (phone, reason, filed_by, idempotency_key, request_sha256, level, category)
         VALUES ($1, 'r', 'intake Clinic', 'k', repeat('0', 64), 'FRAUD', 7)`,
        [phone],
      );
    });
    expect((await takeEvents()).map(({ type }) => type)).toEqual(['dispute.open']);
  });
});

describe('a feed announces', () => {
  it('that its gates hold it, and what an operator decides, once', async () => {
    const hold = async () => {
      const { rows } = await db.query<{ load_id: string }>(
        `INSERT INTO feed_load (feed, source, file_name, file_sha256, file_bytes, submitted_by)
         VALUES ('reputation', 'example', 'f', repeat('0', 64), 1, 'test') RETURNING load_id`,
      );
      const loadId = Number(rows[0]!.load_id);
      await db.query(
        `UPDATE feed_load SET state = 'held', finished_at = clock_timestamp(), rows_given = 9, rows_accepted = 8, rows_rejected = 1,
           gates = '[{"gate": "volume", "reason": "few"}, {"gate": "rejects"}]' WHERE load_id = $1`,
        [loadId],
      );
      return loadId;
    };
    const [first, second] = [await hold(), await hold()];
    const decide = (loadId: number, decision: 'release' | 'discard') =>
      decideHeldLoad({ db, eyes, loadId, decision, reason: 'looked at', actor: 'ann' });
    await decide(first, 'release');
    await db.query("UPDATE feed_load SET state = 'done', rows_changed = 8 WHERE load_id = $1", [first]);
    await decide(second, 'discard');
    const of = (load: number, state: string) => ({
      type: `load.${state}`,
      data: { load, feed: 'reputation', source: 'example', state, rows: 9, gates: ['volume', 'rejects'] },
    });
    expect(await takeEvents()).toEqual([
      of(first, 'held'),
      of(second, 'held'),
      of(first, 'released'),
      of(second, 'discarded'),
    ]);
  });
});

describe('a batch announces', () => {
  const batchOf = async (states: readonly string[]) => {
    const { rows } = await db.query<{ batch_id: string; public_id: string }>(
      `INSERT INTO verification_batch (owner, idempotency_key, request_sha256, name, mode, requested_model, release, settings, settings_sha256, state, items, requested_by)
       VALUES ('test', $1, repeat('0', 64), 'b', 'api', 'auto', 'r', '{}', repeat('0', 64), 'performing', $2, 'test') RETURNING batch_id, public_id`,
      [randomUUID(), states.length],
    );
    const { batch_id: id, public_id: publicId } = rows[0]!;
    await db.query(
      `INSERT INTO verification (batch_id, line, source, requested_model, state, reason, ended_at)
       SELECT $1, n, 's', 'auto', s, 'batch_cancelled', now() FROM unnest($2::text[]) WITH ORDINALITY AS g (s, n)`,
      [id, states],
    );
    return { id, publicId };
  };

  it('its end with counts, once for each time that it ends', async () => {
    const { id, publicId } = await batchOf(['error', 'error']);
    const end = "UPDATE verification_batch SET state = 'done', ended_at = clock_timestamp() WHERE batch_id = $1";
    await db.query(end, [id]);
    await db.query(end, [id]);
    const counts = { items: 2, performed: 0, performedWithoutScore: 0, error: 2 };
    const done = { type: 'batch.done', data: { batch: publicId, state: 'done', mode: 'api', ...counts } };
    expect(await takeEvents()).toEqual([done]);
    await db.query(
      "UPDATE verification_batch SET state = 'queued', ended_at = NULL, generation = generation + 1 WHERE batch_id = $1",
      [id],
    );
    await db.query(end, [id]);
    expect(await takeEvents()).toEqual([done]);
  });
});

describe('a role that can only submit work', () => {
  it('announces a batch that it ends, and can write no event itself', async () => {
    await addressed('ops');
    const { rows } = await db.query<{ batch_id: string }>(
      `INSERT INTO verification_batch (owner, idempotency_key, request_sha256, name, mode, requested_model, release, settings, settings_sha256, state, requested_by)
       VALUES ('test', 'known', repeat('0', 64), 'b', 'api', 'auto', 'r', '{}', repeat('0', 64), 'queued', 'test') RETURNING batch_id`,
    );
    await inTransaction(db, async (client) => {
      await client.query('SET LOCAL ROLE caller_trust_submitter');
      await client.query("UPDATE verification_batch SET state = 'done', ended_at = now() WHERE batch_id = $1", [
        rows[0]!.batch_id,
      ]);
    });
    expect(await listDueDeliveries(db)).toHaveLength(1);
    const forged = inTransaction(db, async (client) => {
      await client.query('SET LOCAL ROLE caller_trust_submitter');
      await client.query(
        "INSERT INTO webhook_event (message_id, type, occurred_at, data) VALUES ('m', 'night.failed', now(), '{}')",
      );
    });
    await expect(forged).rejects.toThrow('permission denied');
  });
});

describe('a night announces', () => {
  const endNight = async (builds: readonly (readonly [state: string, code: string | null])[]) => {
    const { rows } = await db.query<{ run_id: string }>(
      "INSERT INTO night_run (night_date, trigger, requested_by, state, generation) VALUES ('2026-01-01', 'operator', 'test', 'running', 1) RETURNING run_id",
    );
    const runId = Number(rows[0]!.run_id);
    for (const [at, [state, code]] of builds.entries())
      await db.query(
        `INSERT INTO build (run_id, generation, cache, country, facts, state, failure_code) VALUES ($1, 1, 'phones', $2, '{}', $3, $4)`,
        [runId, ['US', 'CA', 'GB'][at], state, code],
      );
    await db.query(
      "UPDATE night_run SET state = 'finished', outcome = 'ok', finished_at = clock_timestamp(), report = '{}' WHERE run_id = $1",
      [runId],
    );
    const [event] = await takeEvents();
    return { type: event!.type, ...event!.data };
  };

  it('its end by the worst of its files', async () => {
    const published = ['published', null] as const;
    expect(await endNight([published, ['unchanged', null]])).toMatchObject({
      type: 'night.published',
      date: '2026-01-01',
      published: 1,
      unchanged: 1,
      held: 0,
      failed: 0,
    });
    expect(await endNight([published, ['failed', 'artefact_held']])).toMatchObject({ type: 'night.held', held: 1 });
    expect(
      await endNight([
        ['failed', 'copy_cut'],
        ['failed', 'artefact_shrunk'],
      ]),
    ).toMatchObject({ type: 'night.failed', held: 1, failed: 1 });
  });

  it('that it could not be opened', async () => {
    const { rows } = await db.query<{ run_id: string }>(
      "INSERT INTO night_run (night_date, trigger, requested_by) VALUES ('2026-01-02', 'operator', 'test') RETURNING run_id",
    );
    const runId = Number(rows[0]!.run_id);
    await failNight(db, { runId, code: 'job_lost', reason: 'lost' });
    expect(await takeEvents()).toMatchObject([{ type: 'night.failed', data: { run: runId, code: 'job_lost' } }]);
  });
});

describe('an event', () => {
  it('goes to the endpoints whose types and brand it has, and to no disabled one', async () => {
    const [ours, theirs] = [fresh(1), fresh(1)];
    for (const { handle } of [ours, theirs]) await ask(db, 'add_managed_brand', { handle, brand: profile });
    await addressed('all');
    await addressed('ours', { brand: ours.handle });
    await addressed('numbers', { eventTypes: ['number.*', 'night.failed'] });
    await addressed('off');
    await db.query(
      "UPDATE webhook_endpoint SET state = 'disabled', disabled_at = now(), disabled_by = 'test' WHERE name = 'off'",
    );
    await takeEvents();
    for (const { handle, phones } of [ours, theirs]) await ask(db, 'add_phone_number', { handle, numbers: phones });
    const { rows } = await db.query<{ name: string; brands: string[] }>(
      `SELECT e.name, array_agg(v.data ->> 'brand' ORDER BY v.event_id) AS brands
       FROM webhook_delivery AS d JOIN webhook_endpoint AS e USING (endpoint_id) JOIN webhook_event AS v USING (event_id)
       GROUP BY e.name ORDER BY e.name`,
    );
    const both = [ours.handle, theirs.handle];
    expect(rows).toEqual([
      { name: 'all', brands: both },
      { name: 'numbers', brands: both },
      { name: 'ours', brands: [ours.handle] },
    ]);
  });

  it('is deleted with its deliveries after the retention, and not before', async () => {
    await addressed('all');
    await failNight(db, {
      runId: Number(
        (
          await db.query<{ run_id: string }>(
            "INSERT INTO night_run (night_date, trigger, requested_by) VALUES ('2026-01-03', 'operator', 'test') RETURNING run_id",
          )
        ).rows[0]!.run_id,
      ),
      code: 'job_lost',
      reason: 'lost',
    });
    const dayMs = 86_400_000;
    const pruneAt = (days: number) =>
      pruneWebhookEvents(db, { retentionDays: 30, at: new Date(Date.now() + days * dayMs) });
    expect(await pruneAt(29)).toBe(0);
    expect((await db.query('SELECT FROM webhook_delivery')).rowCount).toBe(1);
    expect(await pruneAt(31)).toBe(1);
    expect((await db.query('SELECT FROM webhook_delivery')).rowCount).toBe(0);
  });
});
