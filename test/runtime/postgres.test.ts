import { expect, test } from 'vitest';
import { queryRow, queryRows, type Queryable } from '../../runtime/postgres.ts';

const answering = (...rows: Record<string, unknown>[]) => ({ query: async () => ({ rows }) }) as unknown as Queryable;

test('columns are in camelCase, and what is inside of JSON values stays as it is', async () => {
  const db = answering({ batch_id: 7, settings: { sample_rate: 8000 } });
  expect(await queryRows(db, '')).toEqual([{ batchId: 7, settings: { sample_rate: 8000 } }]);
});

test('columns with a dot make the objects of a record, in the order of the columns', async () => {
  const row = { id: 1, 'file.plain_bytes': 9, 'file.index.sha256': 'ab', state: 'done', 'file.bytes': 5 };
  expect(JSON.stringify(await queryRow(answering(row), ''))).toBe(
    '{"id":1,"file":{"plainBytes":9,"index":{"sha256":"ab"},"bytes":5},"state":"done"}',
  );
});

test('an object is null where the column of its name is false or NULL, whatever its columns hold', async () => {
  const row = (present: boolean | null) => ({ failure: present, 'failure.code': 'internal', 'failure.at.line': 3 });
  expect(await queryRows(answering(row(true), row(false), row(null)), '')).toEqual([
    { failure: { code: 'internal', at: { line: 3 } } },
    { failure: null },
    { failure: null },
  ]);
});

test('an object inside of an absent one is absent with it', async () => {
  const row = { published: false, 'published.index': true, 'published.index.sha256': 'ab' };
  expect(await queryRow(answering(row), '')).toEqual({ published: null });
});

test('a column of truth values without others of its name stays one', async () => {
  expect(await queryRow(answering({ forced: false, 'forced_by.name': 'Pat' }), '')).toEqual({
    forced: false,
    forcedBy: { name: 'Pat' },
  });
});
