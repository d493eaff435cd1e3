import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { acquireEmbeddedDatabase, removeStateDirectory } from '../../../runtime/services/embedded-postgres.ts';
import { connect } from '../../../runtime/postgres.ts';

it('runs a cluster with UTF-8 text in byte order, durable writes and no socket beyond loopback', async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-cluster-'));
  const cluster = await acquireEmbeddedDatabase(stateDir);
  const client = await connect({ url: cluster.url, applicationName: 'test' });
  const { rows } = await client.query<{ name: string; setting: string }>(
    "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'listen_addresses', 'server_encoding', 'unix_socket_directories')",
  );
  await client.end();
  await cluster.release();
  await removeStateDirectory(stateDir);
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

it('starts again, and stops, though other processes have the ids of all that were killed', async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-reused-'));
  const first = await acquireEmbeddedDatabase(stateDir);
  const pidFile = join(first.home, 'data', 'postmaster.pid');
  const killed = await readFile(pidFile, 'utf8');
  const { uid, gid } = await stat(pidFile);
  const other = spawn('sleep', ['600'], { uid, gid, stdio: 'ignore' }); // of the server's account: PostgreSQL refuses no other id
  try {
    process.kill(Number.parseInt(killed, 10), 'SIGKILL');
    await writeFile(join(first.home, 'lock'), `${other.pid} 1 token`);
    await writeFile(join(first.home, 'holders', `${other.pid}-1-token`), '');
    await writeFile(pidFile, killed.replace(/^\d+/, String(other.pid)));
    const second = await acquireEmbeddedDatabase(stateDir);
    const client = await connect({ url: second.url, applicationName: 'test' });
    expect((await client.query('SELECT 7 AS number')).rows).toEqual([{ number: 7 }]);
    await client.end();
    await second.release();
    await first.release();
    await expect(connect({ url: second.url, applicationName: 'test' })).rejects.toThrow();
  } finally {
    other.kill('SIGKILL');
    await once(other, 'exit');
    await removeStateDirectory(stateDir);
  }
});
