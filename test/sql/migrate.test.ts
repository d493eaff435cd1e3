import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256Of } from '../../runtime/digest.ts';
import type { PoolClient } from '../../runtime/postgres.ts';
import { dumpSchema } from '../../sql/dump-schema.ts';
import { listMigrations, migrate, requireMigrated } from '../../sql/migrate.ts';
import { quoteLiteral, sql, sqlDirectory, sqlWithLiterals } from '../../sql/sql.ts';
import { useTestDatabase } from '../support/database.ts';

const { db } = await useTestDatabase();

async function withClient<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
  const client = await db.connect();
  try {
    return await work(client);
  } finally {
    client.release(true);
  }
}

describe('migrate', () => {
  it('makes exactly the schema that sql/schema.sql shows', async () => {
    expect(await withClient(dumpSchema)).toBe(readFileSync(join(sqlDirectory, 'schema.sql'), 'utf8'));
  });

  it('applies nothing to a database that has every migration', async () => {
    expect(await withClient(migrate)).toEqual([]);
    await expect(withClient(requireMigrated)).resolves.toBeUndefined();
  });

  it('numbers its migrations without gaps', () => {
    expect(listMigrations().map(({ number }) => number)).toEqual(listMigrations().map((_, at) => at + 1));
  });

  it('refuses a database in which a migration was applied with another text', async () => {
    await db.query("UPDATE schema_migration SET sha256 = 'other' WHERE number = 2");
    await expect(withClient(migrate)).rejects.toMatchObject({ code: 'database_unsuitable', object: '0002_numbers' });
  });

  it('says which migrations a database lacks', async () => {
    await db.query('DELETE FROM schema_migration WHERE number = 4');
    await expect(withClient(requireMigrated)).rejects.toMatchObject({
      code: 'database_unsuitable',
      problem: expect.stringContaining('0004_nights') as string,
    });
  });

  it.each([2, 5, 9, 14, 17, 20, 25])('brings a filled database of migration %i to the newest schema', async (last) => {
    await db.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await db.query(sql('migrations/create_ledger'));
    for (const { number, name } of listMigrations().slice(0, last)) {
      await db.query(sql(`migrations/${name}`));
      await db.query('INSERT INTO schema_migration (number, name, sha256) VALUES ($1, $2, $3)', [
        number,
        name,
        sha256Of(sql(`migrations/${name}`)),
      ]);
    }
    await db.query(
      `INSERT INTO phone_number (phone, country, reputation_level, reputation_category, display_name)
       VALUES ('+12025550100', 'US', 'SPAM', 6, NULL), ('+12025550101', 'US', 'NEUTRAL', NULL, 'Name')`,
    );
    expect(await withClient(migrate)).toEqual(
      listMigrations()
        .slice(last)
        .map(({ name }) => name),
    );
    expect(await withClient(dumpSchema)).toBe(readFileSync(join(sqlDirectory, 'schema.sql'), 'utf8'));
    const { rows } = await db.query('SELECT phone, reputation_level, display_name FROM phone_number ORDER BY phone');
    expect(rows).toEqual([
      { phone: '+12025550100', reputation_level: 'SPAM', display_name: null },
      { phone: '+12025550101', reputation_level: 'NEUTRAL', display_name: 'Name' },
    ]);
  });

  it('is done once when several processes start at the same time', async () => {
    await db.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    const applied = await Promise.all([withClient(migrate), withClient(migrate), withClient(migrate)]);
    expect(applied.flat().sort()).toEqual(listMigrations().map(({ name }) => name));
  });
});

describe('the domain clean_text', () => {
  const refused = [
    '\t',
    '\n',
    '\r',
    '\u0001',
    '\u001f',
    '\u007f',
    '\u0085',
    '\u009f',
    '\\',
    '\u061c',
    '\u200e',
    '\u200f',
    '\u2028',
    '\u2029',
    '\u202a',
    '\u202e',
    '\u2066',
    '\u2069',
  ];
  it.each(refused.map((character) => [`U+${character.codePointAt(0)!.toString(16).padStart(4, '0')}`, character]))(
    'refuses %s',
    async (_name, character) => {
      await expect(db.query('SELECT $1::clean_text', [`a${character}b`])).rejects.toThrow('clean_text_characters');
    },
  );

  it('refuses the empty text and text that is not NFC, and takes letters of any script', async () => {
    await expect(db.query("SELECT ''::clean_text")).rejects.toThrow('clean_text_present');
    await expect(db.query('SELECT $1::clean_text', ['A\u030a'])).rejects.toThrow('clean_text_nfc');
    await expect(db.query('SELECT $1::clean_text', ['Åse & 東京 – "שלום" 😀'])).resolves.toMatchObject({ rowCount: 1 });
  });
});

describe('sqlWithLiterals', () => {
  it('quotes what it puts in, and refuses a statement whose place has no value', async () => {
    for (const value of ["it's", "a\\'; DROP TABLE x; --", '\\', 'plain']) {
      const { rows } = await db.query<{ value: string }>(`SELECT ${quoteLiteral(value)} AS value`);
      expect(rows[0]!.value).toBe(value);
    }
    expect(() => sqlWithLiterals('caches/copy_profile_phones', { country: 'US' })).toThrow(
      "needs a value for :'evaluatedAt'",
    );
  });
});
