/**
 * Claim: the history of labels takes at most 10 % of a statement that changes no label. The server itself says how long its triggers
 * take (EXPLAIN ANALYZE), so that other work on the machine does not decide; each statement is rolled back.
 *
 *   npm run build && node dist/bench/label-history.js [rows=1000000] [rounds=3]
 */
import type { Client } from 'pg';
import { queryRow } from '../runtime/postgres.ts';
import { openOwnDatabase } from './own-database.ts';
import { median } from './side-by-side.ts';

const rows = Number(process.argv[2] ?? 1_000_000);
const rounds = Number(process.argv[3] ?? 3);

/** Numbers in an order that no index has. */
const numbers = `SELECT '+1202' || lpad(((n * 7919::bigint) % 10000000)::text, 7, '0') AS phone, n FROM generate_series(1, ${rows}) AS n`;

/** What is measured: a statement, and what makes its table ready. */
const statements = {
  'insert NEUTRAL directory numbers': {
    before: '',
    statement: `INSERT INTO phone_number (phone, country, display_name) SELECT phone, 'US', 'Shop ' || n FROM (${numbers}) AS given`,
  },
  'change the names of numbers, one in ten labelled': {
    before: `INSERT INTO phone_number (phone, country, reputation_level, display_name) SELECT phone, 'US', CASE WHEN n % 10 = 0 THEN 'SPAM' ELSE 'NEUTRAL' END, 'Shop' FROM (${numbers}) AS given`,
    statement: `UPDATE phone_number SET display_name = 'Store'`,
  },
  'insert SPAM numbers of a feed (every row is an event)': {
    before: '',
    statement: `INSERT INTO phone_number (phone, country, reputation_level, reputation_category, reputation_source) SELECT phone, 'US', 'SPAM', 6, 'feed' FROM (${numbers}) AS given`,
  },
};

const { client, close } = await openOwnDatabase();
try {
  for (const [name, { before, statement }] of Object.entries(statements))
    await measure(client, { name, before, statement });
} finally {
  await close();
}

interface Explained {
  readonly 'Execution Time': number;
  readonly Triggers: readonly { readonly 'Trigger Name': string; readonly Time: number }[];
}

async function measure(
  client: Client,
  { name, before, statement }: { name: string; before: string; statement: string },
): Promise<void> {
  const seconds: { all: number[]; history: number[] } = { all: [], history: [] };
  let events = 0;
  for (let round = 0; round < rounds; round++) {
    await client.query('BEGIN');
    if (before !== '') await client.query(before);
    const known = await countEvents(client);
    const explained = await queryRow<{ 'QUERY PLAN': readonly [Explained] }>(
      client,
      `EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`,
    );
    const [{ Triggers: triggers, 'Execution Time': allMs }] = explained!['QUERY PLAN'];
    seconds.all.push(allMs / 1000);
    seconds.history.push(
      triggers
        .filter((trigger) => trigger['Trigger Name'].startsWith('phone_number_label_'))
        .reduce((sum, trigger) => sum + trigger.Time, 0) / 1000,
    );
    events = (await countEvents(client)) - known;
    await client.query('ROLLBACK');
    await client.query('VACUUM phone_number, label_event, change_mark');
  }
  const [all, history] = [median(seconds.all), median(seconds.history)];
  console.log(
    `${name}: ${history.toFixed(2)} s of ${all.toFixed(2)} s write ${events} events (${((history / all) * 100).toFixed(1)} %)`,
  );
}

async function countEvents(client: Client): Promise<number> {
  return (await queryRow<{ events: number }>(client, 'SELECT count(*) AS events FROM label_event'))!.events;
}
