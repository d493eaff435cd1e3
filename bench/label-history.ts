import type { Client } from 'pg';
import { fillNumbers } from './night-data.ts';
import { openOwnDatabase } from './own-database.ts';
import { isMain } from './program.ts';
import { median } from './side-by-side.ts';

/**
 * Claim: a bulk statement that changes no label takes at most 1.05 of the time of the same without our triggers, which protect
 * numbers and write the history of labels.
 *
 *   npm run build && node dist/bench/label-history.js [rows=1000000] [rounds=5]
 *
 * A tenth of the numbers, spread over the table. Each statement runs with the triggers and without, in turn, and is rolled back.
 */
const tenth = 'mod(abs(hashtext(phone)::bigint) / 7, 10) = 0';
const columns = 'phone, country, reputation_level, reputation_category, reputation_source';

/** Numbers to be inserted: those that may have a label. */
const takeTenth = `CREATE TEMPORARY TABLE given ON COMMIT DROP AS SELECT * FROM phone_number WHERE ${tenth};
  DELETE FROM given WHERE phone IN (SELECT protected_among((SELECT array_agg(phone) FROM given)));
  DELETE FROM phone_number WHERE ${tenth}`;

/** The statements, and what goes before each in its transaction. */
const statements = {
  'UPDATE of names': { statement: `UPDATE phone_number SET display_name = 'Store' WHERE ${tenth}` },
  'INSERT of numbers without a label': {
    before: takeTenth,
    statement: "INSERT INTO phone_number (phone, country, display_name) SELECT phone, country, 'Store' FROM given",
  },
  'INSERT of labelled numbers, each with its event': {
    before: takeTenth,
    statement: `INSERT INTO phone_number (${columns}) SELECT phone, country, 'SPAM', 6, 'feed' FROM given`,
  },
} as const;

type StatementName = keyof typeof statements;

/** The time of each statement as a multiple of the same without triggers: the median of the rounds. */
export async function compareTriggers(rows: number, rounds: number): Promise<Record<StatementName, number>> {
  const { client, close } = await openOwnDatabase();
  try {
    await fillNumbers(client, rows);
    const ratios: Partial<Record<StatementName, number>> = {};
    for (const [name, statement] of Object.entries(statements) as [StatementName, Measurable][]) {
      const found: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const withTriggers = await secondsOf(client, statement, true);
        found.push(withTriggers / (await secondsOf(client, statement, false)));
      }
      ratios[name] = median(found);
    }
    return ratios as Record<StatementName, number>;
  } finally {
    await close();
  }
}

interface Measurable {
  readonly before?: string;
  readonly statement: string;
}

async function secondsOf(client: Client, { before, statement }: Measurable, withTriggers: boolean): Promise<number> {
  await client.query('BEGIN');
  await client.query('ALTER TABLE phone_number DISABLE TRIGGER USER');
  if (before !== undefined) await client.query(before);
  if (withTriggers) await client.query('ALTER TABLE phone_number ENABLE TRIGGER USER');
  const startedAt = performance.now();
  await client.query(statement);
  const seconds = (performance.now() - startedAt) / 1000;
  await client.query('ROLLBACK');
  await client.query('VACUUM phone_number, label_event');
  return seconds;
}

if (isMain(import.meta.url)) {
  const ratios = await compareTriggers(Number(process.argv[2] ?? 1_000_000), Number(process.argv[3] ?? 5));
  for (const [name, ratio] of Object.entries(ratios))
    console.log(`${name}: x${ratio.toFixed(2)} of the same without triggers`);
}
