import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PoolClient } from '../../runtime/postgres.ts';
import { dumpSchema } from '../../sql/dump-schema.ts';
import { listMigrations, migrate, requireMigrated, type Migration } from '../../sql/migrate.ts';
import { quoteLiteral, sqlDirectory, sqlWithLiterals } from '../../sql/sql.ts';
import { createTestDatabase, useTestDatabase, type TestDatabase } from '../support/database.ts';

const { db } = await useTestDatabase();

/** A migration that a later version could bring. */
const added = (text: string, isCompatible = false): readonly Migration[] => [
  ...listMigrations(),
  {
    number: listMigrations().length + 1,
    name: '9999_added',
    text: `-- Compatible with older workers: ${isCompatible ? 'yes' : 'no'} (made up).\n${text}`,
  },
];

describe('migrate', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  async function withClient<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const client = await database.db.connect();
    try {
      return await work(client);
    } finally {
      client.release(true);
    }
  }

  it('makes exactly the schema that sql/schema.sql shows', async () => {
    expect(await withClient(dumpSchema)).toBe(readFileSync(join(sqlDirectory, 'schema.sql'), 'utf8'));
  });

  it('applies nothing to a database that has every migration', async () => {
    expect(await withClient(migrate)).toEqual([]);
    await expect(requireMigrated(database.db)).resolves.toBeUndefined();
  });

  it('applies the migration that a filled database lacks, once, and keeps its rows', async () => {
    await database.db.query(
      "INSERT INTO phone_number (phone, country, reputation_level, reputation_category) VALUES ('+12025550100', 'US', 'SPAM', 6)",
    );
    const known = added('ALTER TABLE phone_number ADD COLUMN grade integer NOT NULL DEFAULT 7;');
    await expect(requireMigrated(database.db, known)).rejects.toMatchObject({
      code: 'database_unsuitable',
      problem: 'The database lacks 9999_added.',
    });
    expect(await withClient((client) => migrate(client, known))).toEqual(['9999_added']);
    expect(await withClient((client) => migrate(client, known))).toEqual([]);
    const { rows } = await database.db.query('SELECT phone, reputation_level, grade FROM phone_number');
    expect(rows).toEqual([{ phone: '+12025550100', reputation_level: 'SPAM', grade: 7 }]);
  });

  it('leaves nothing of a migration that fails half-way', async () => {
    const known = added('CREATE TABLE half (); SELECT 1 / 0;');
    await expect(withClient((client) => migrate(client, known))).rejects.toThrow('division by zero');
    const { rows } = await database.db.query("SELECT to_regclass('half') AS half");
    expect(rows).toEqual([{ half: null }]);
    await expect(requireMigrated(database.db, known)).rejects.toMatchObject({ code: 'database_unsuitable' });
  });

  it('refuses a database with a later migration that is incompatible, and no other', async () => {
    await withClient((client) => migrate(client, added('', true)));
    expect(await withClient(migrate)).toEqual([]);
    await expect(requireMigrated(database.db)).resolves.toBeUndefined();
    await database.db.query("DELETE FROM schema_migration WHERE name = '9999_added'");
    await withClient((client) => migrate(client, added('')));
    const refusal = { code: 'database_too_new', object: '9999_added' };
    await expect(withClient(migrate)).rejects.toMatchObject(refusal);
    await expect(requireMigrated(database.db)).rejects.toMatchObject(refusal);
  });

  it('refuses a database in which a migration was applied with another text', async () => {
    await database.db.query("UPDATE schema_migration SET sha256 = 'other' WHERE number = 1");
    await expect(withClient(migrate)).rejects.toMatchObject({ code: 'database_unsuitable', object: '0001_baseline' });
  });

  it('is done once when several processes start at the same time', async () => {
    await database.db.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await expect(requireMigrated(database.db)).rejects.toMatchObject({
      code: 'database_unsuitable',
      problem: expect.stringContaining('0001_baseline') as string,
    });
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
    expect(() => sqlWithLiterals('access/grant_queue_use', {})).toThrow("needs a value for :'schema'");
  });
});
