import { chmod, mkdtemp, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { acquireEmbeddedDatabase, removeStateDirectory } from '../../runtime/embedded-postgres.ts';
import { connect } from '../../runtime/postgres.ts';

it('runs a cluster with UTF-8 text in byte order, durable writes and no socket beyond loopback', async () => {
  const client = await connect({ url: inject('databaseUrl').replace(/[^/]+$/, 'postgres'), applicationName: 'test' });
  const { rows } = await client.query<{ name: string; setting: string }>(
    "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'listen_addresses', 'server_encoding', 'unix_socket_directories')",
  );
  await client.end();
  expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
    fsync: 'on',
    listen_addresses: '127.0.0.1',
    server_encoding: 'UTF8',
    unix_socket_directories: '',
  });
});

it('goes with its state directory when that is moved or renamed', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'caller-trust-moved-'));
  await chmod(parent, 0o755); // else the cluster of root lies elsewhere
  const first = await acquireEmbeddedDatabase(join(parent, 'first'));
  const before = await connect({ url: first.url, applicationName: 'test' });
  await before.query('CREATE TABLE kept AS SELECT 7 AS number');
  await before.end();
  await first.release();
  await rename(join(parent, 'first'), join(parent, 'second'));
  const second = await acquireEmbeddedDatabase(join(parent, 'second'));
  try {
    expect(second.home).toBe(join(parent, 'second', 'postgres'));
    const after = await connect({ url: second.url, applicationName: 'test' });
    expect((await after.query('SELECT number FROM kept')).rows).toEqual([{ number: 7 }]);
    await after.end();
  } finally {
    await second.release();
    await removeStateDirectory(parent);
  }
});
