import { createServer } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { connectRedis, findHazards } from '../../runtime/redis.ts';
import { startRedis, whyNoRedis } from '../support/redis.ts';

const connect = (url: string) => connectRedis({ url, name: 'test', commandRetriesMax: 1, onError: () => {} });
const safe = { version: '7.2.4', role: 'master', appendOnly: 'yes', evictionPolicy: 'noeviction' };

describe('what makes a Redis unsafe', () => {
  it.each([
    [{}, []],
    [{ version: '6.2.0' }, []],
    [{ version: '6.0.20' }, ['its version is 6.0.20, and 6.2 or later is needed']],
    [{ version: undefined }, ['its version is unknown, and 6.2 or later is needed']],
    [{ role: 'slave' }, ['it is a replica, which takes no jobs']],
    [{ appendOnly: 'no' }, ['appendonly is no']],
    [{ evictionPolicy: 'allkeys-lru' }, ['maxmemory-policy is allkeys-lru']],
    [
      { appendOnly: undefined, evictionPolicy: undefined },
      ['appendonly could not be read', 'maxmemory-policy could not be read'],
    ],
  ])('%j', (facts, problems) => {
    expect(findHazards({ ...safe, ...facts }).map(({ problem }) => problem)).toEqual(problems);
  });
});

describe('a Redis that cannot be reached', () => {
  it('is reported at once when nothing listens', async () => {
    await expect(connect('redis://127.0.0.1:1')).rejects.toMatchObject({
      code: 'redis_unavailable',
      problem: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('is reported within some seconds when it accepts and says nothing', async () => {
    const mute = createServer().listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const { port } = mute.address() as { port: number };
    await expect(connect(`redis://127.0.0.1:${port}`)).rejects.toMatchObject({ code: 'redis_unavailable' });
    mute.close();
  }, 15_000);

  it('is a setting that is not valid when the URL is not one of Redis', async () => {
    await expect(connect('localhost:6379')).rejects.toMatchObject({ code: 'setting_invalid' });
  });
});

const reason = whyNoRedis();
describe.skipIf(reason !== undefined)(reason ?? 'a running Redis', () => {
  it('is taken with its append-only file on and nothing evicted', async () => {
    const redis = await startRedis();
    const client = await connect(redis.url);
    expect(await client.ping()).toBe('PONG');
    client.disconnect();
    await redis.stop();
  });

  it.each([
    [{ appendonly: 'no' }, 'Run `CONFIG SET appendonly yes`, then CONFIG REWRITE'],
    [{ 'maxmemory-policy': 'allkeys-lru' }, 'Run `CONFIG SET maxmemory-policy noeviction`, then CONFIG REWRITE'],
    [
      { appendonly: 'no', 'maxmemory-policy': 'volatile-ttl' },
      'Run `CONFIG SET appendonly yes` and `CONFIG SET maxmemory-policy noeviction`',
    ],
  ])('is refused with %j, and the hint has the cure', async (settings, hint) => {
    const redis = await startRedis(settings);
    await expect(connect(redis.url)).rejects.toMatchObject({
      code: 'redis_unsafe',
      hint: expect.stringContaining(hint),
    });
    await redis.stop();
  });

  it('is judged by INFO where CONFIG is forbidden, and refused where both are unavailable', async () => {
    const redis = await startRedis();
    const admin = await connect(redis.url);
    await admin.call('ACL', 'SETUSER', 'managed', 'on', '>secret', '~*', '+@all', '-config');
    await admin.call('ACL', 'SETUSER', 'blind', 'on', '>secret', '~*', '+@all', '-config', '-info');
    const managed = await connect(redis.url.replace('redis://', 'redis://managed:secret@'));
    managed.disconnect();
    await expect(connect(redis.url.replace('redis://', 'redis://blind:secret@'))).rejects.toMatchObject({
      code: 'redis_unavailable',
    });
    admin.disconnect();
    await redis.stop();
  });

  it('is reported without its password when that is wrong', async () => {
    const redis = await startRedis({ requirepass: 'right' });
    const error = await connect(redis.url.replace('redis://', 'redis://:wrong@')).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: 'redis_unavailable' });
    expect(String(error)).not.toContain('wrong@');
    await redis.stop();
  });
});
