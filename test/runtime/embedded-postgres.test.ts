import { expect, inject, it } from 'vitest';
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
