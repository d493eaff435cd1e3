/**
 * Claims: the triggers that mark changed ranges cost a bulk change at most 15 % of its time.
 *
 *   npm run build && node dist/bench/marks.js [rows=1000000] [rounds=5]
 *
 * The same statements with the triggers and without them, in turn, on a new cluster of PostgreSQL; each in a transaction that
 * is rolled back, with a CHECKPOINT and a VACUUM before it, so that every run begins with the same table.
 */
import { fillNumbers } from './night-data.ts';
import { printSideBySide, runSideBySide } from './side-by-side.ts';
import { openOwnDatabase } from './own-database.ts';

const rows = Number(process.argv[2] ?? 1_000_000);
const rounds = Number(process.argv[3] ?? 5);

const statements: Readonly<Record<string, string>> = {
  'UPDATE of a tenth, spread': "UPDATE phone_number SET display_name = 'Other' WHERE hashtext(phone) % 10 = 0",
  'UPDATE of a tenth, clustered':
    "UPDATE phone_number SET display_name = 'Other' WHERE phone >= '+15' AND phone < '+158'",
  'DELETE of a tenth, spread': 'DELETE FROM phone_number WHERE hashtext(phone) % 10 = 0',
  'INSERT of a tenth': `INSERT INTO phone_number (phone, country, reputation_level) SELECT '+44' || 7000000000 + i * 7, 'GB', 'SPAM' FROM generate_series(1, ${rows / 10}) AS i`,
};

const { client, close } = await openOwnDatabase();
try {
  await fillNumbers(client, rows);
  for (const [name, statement] of Object.entries(statements)) {
    console.log(`${name}, ${rows.toLocaleString('en-US')} rows in the table`);
    const contender = (triggers: 'ENABLE ALWAYS' | 'DISABLE') => async () => {
      await client.query('VACUUM phone_number');
      await client.query('CHECKPOINT');
      for (const event of ['insert', 'update', 'delete'])
        await client.query(`ALTER TABLE phone_number ${triggers} TRIGGER phone_number_mark_${event}`);
      await client.query('BEGIN');
    };
    const run = async () => void (await client.query(statement));
    const ended = (prepare: () => Promise<void>) => async () => {
      await client.query('ROLLBACK');
      await prepare();
    };
    await client.query('BEGIN');
    const contenders = [
      { name: 'with marks', prepare: ended(contender('ENABLE ALWAYS')), run },
      { name: 'without', prepare: ended(contender('DISABLE')), run },
    ];
    printSideBySide(await runSideBySide(contenders, rounds), 'without');
    await client.query('ROLLBACK');
  }
} finally {
  await close();
}
