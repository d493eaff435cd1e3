import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  readNightBasis,
  recomputeComplaintLabels,
  replayLabels,
  type NightBasis,
} from '../../../pipelines/labels/night-labels.ts';
import { clearNumber } from '../../../pipelines/labels/number-record.ts';
import { scoreComplaints } from '../../../pipelines/labels/scoring.ts';
import { queryRows, type PoolClient } from '../../../runtime/postgres.ts';
import { complaintFile, severalStates } from '../../support/complaints.ts';
import { useTestDatabase } from '../../support/database.ts';
import { useFeedLoader } from '../../support/feeds.ts';
import { runWholeNight, useStore } from '../../support/night.ts';
import { putNumbers } from '../../support/numbers.ts';
import { eyes } from '../../support/branding.ts';

const { db, url } = await useTestDatabase();
const { load } = await useFeedLoader(db);
const store = await useStore();

const phones = ['+12025550141', '+12025550142', '+12025550143'] as const;
const dayOf = (day: number) => new Date(Date.UTC(2021, 5, 1 + day));

/** What can happen between two nights, and a night. `late` writes in a transaction that commits after the next night has its snapshot. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant('feed' as const),
    phone: fc.constantFrom(...phones),
    word: fc.constantFrom('NEUTRAL,', 'SPAM,6', 'FRAUD,7'),
  }),
  fc.record({
    kind: fc.constant('complaints' as const),
    phone: fc.constantFrom(...phones),
    day: fc.integer({ min: 0, max: 60 }),
    states: fc.integer({ min: 1, max: 8 }),
  }),
  fc.record({ kind: fc.constant('clear' as const), phone: fc.constantFrom(...phones) }),
  fc.record({
    kind: fc.constant('late' as const),
    phone: fc.constantFrom(...phones),
    level: fc.constantFrom('NEUTRAL' as const, 'SPAM' as const),
  }),
  fc.record({ kind: fc.constant('night' as const), day: fc.integer({ min: 0, max: 120 }) }),
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

interface Seen {
  readonly snapshot: string;
  readonly labels: unknown[];
  /** The last scoring, and what it made of the complaints; null before the first. */
  readonly scoring: NightBasis['scoring'];
  readonly complaintLabels: unknown[];
}

/** Takes a snapshot as a night does, with the labels that it sees. */
async function takeSnapshot(client: PoolClient): Promise<Seen> {
  await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const [row] = await queryRows<{ snapshot: string }>(client, 'SELECT pg_current_snapshot()::text AS snapshot');
  const labels = await queryRows(
    client,
    `SELECT phone, reputation_level AS level, reputation_category AS category, reputation_source AS source FROM phone_number WHERE reputation_level <> 'NEUTRAL' ORDER BY phone`,
  );
  const complaintLabels = await queryRows(
    client,
    `SELECT phone, level, category FROM complaint_score WHERE level <> 'NEUTRAL' ORDER BY phone`,
  );
  const [scoring] = await queryRows<{ evaluatedAt: Date; ruleVersion: string; saw: string }>(
    client,
    'SELECT evaluated_at AS "evaluatedAt", rule_version AS "ruleVersion", transactions AS saw FROM scoring_run ORDER BY scoring_id DESC LIMIT 1',
  );
  await client.query('COMMIT');
  return { snapshot: row!.snapshot, labels, scoring: scoring ?? null, complaintLabels };
}

/** Plays a history and returns what each of its nights saw. */
async function play(steps: readonly Step[], late: PoolClient, reader: PoolClient): Promise<Seen[]> {
  const nights: Seen[] = [];
  let isOpen = false;
  const end = async () => {
    if (isOpen) await late.query('COMMIT');
    isOpen = false;
  };
  for (const each of steps) {
    if (each.kind !== 'night') await end(); // its rows are locked
    if (each.kind === 'feed') await load('reputation', `${each.phone},${each.word}\n`);
    if (each.kind === 'complaints')
      await load(
        'complaints',
        complaintFile(
          severalStates(dayOf(each.day).toISOString().slice(0, 10))
            .slice(0, each.states)
            .map((row) => ({ ...row, phone: each.phone.slice(2) })),
        ),
      );
    if (each.kind === 'clear')
      await clearNumber({ db, eyes, phone: each.phone, reason: 'x', actor: 'ada' }).catch(() => {}); // one that is not known
    if (each.kind === 'late') {
      await late.query('BEGIN');
      await putNumbers(late, [{ phone: each.phone, level: each.level, category: each.level === 'SPAM' ? 1 : null }]);
      isOpen = true;
    }
    if (each.kind === 'night') {
      if (!isOpen) await scoreComplaints(db, dayOf(each.day)); // a scoring would wait for the row
      nights.push(await takeSnapshot(reader));
    }
  }
  await end();
  return nights;
}

it('replays the labels that any night has seen, and computes those of its complaints again, whatever was committed after it', async () => {
  const [late, reader] = [await db.connect(), await db.connect()];
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        const nights = await play(steps, late, reader);
        for (const { snapshot, labels, scoring, complaintLabels } of nights) {
          expect(await replayLabels(db, snapshot)).toEqual(labels);
          if (scoring !== null) expect(await recomputeComplaintLabels(db, scoring)).toEqual(complaintLabels);
        }
      }),
      { numRuns: 25 },
    );
  } finally {
    late.release();
    reader.release();
  }
});

it('finds the snapshot of a night and the scoring before it', async () => {
  await db.query('TRUNCATE phone_number, feed_load, redress, complaint_score CASCADE');
  await load('reputation', `${phones[0]},SPAM,6\n`);
  const evaluatedAt = new Date('2021-07-08T00:00:00Z');
  const { night } = await runWholeNight({
    db,
    url,
    store,
    prepare: async () => void (await scoreComplaints(db, evaluatedAt)),
  });
  await load('reputation', `${phones[0]},NEUTRAL\n${phones[1]},FRAUD,7\n`);
  await scoreComplaints(db, new Date('2021-07-09T00:00:00Z'));
  const basis = await readNightBasis(db, night.runId);
  expect(basis).toMatchObject({ scoring: { evaluatedAt, ruleVersion: expect.stringMatching(/^complaints\//) } });
  expect(await replayLabels(db, basis.snapshot)).toContainEqual({
    phone: phones[0],
    level: 'SPAM',
    category: 6,
    source: 'feed',
  });
  expect((await replayLabels(db, basis.snapshot)).map(({ phone }) => phone)).not.toContain(phones[1]);
});

it('computes no labels again by a rule that this version does not have', async () => {
  await expect(
    recomputeComplaintLabels(db, { evaluatedAt: new Date(), ruleVersion: 'complaints/0', saw: '1:1:' }),
  ).rejects.toMatchObject({ code: 'scoring_rule_differs' });
});

it('refuses a night that is not there, and one of another cluster', async () => {
  await expect(readNightBasis(db, 999)).rejects.toMatchObject({ code: 'night_unknown' });
  await db.query(`UPDATE night_run SET cluster = 'another'`);
  const [row] = await queryRows<{ runId: number }>(db, 'SELECT run_id FROM night_run LIMIT 1');
  await expect(readNightBasis(db, row!.runId)).rejects.toMatchObject({ code: 'snapshot_gone' });
});
