import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { createKey } from '../../pipelines/access/keys.ts';
import { loadKeySecret } from '../../pipelines/access/key-secret.ts';
import { listBatches } from '../../pipelines/audio/batches/batch.ts';
import { StreamClient } from '../../pipelines/audio/streaming/stream-client.ts';
import { listVerifications } from '../../pipelines/audio/batches/stored-verifications.ts';
import { useConsole } from '../console/support/console-process.ts';
import { pcm16 } from '../support/audio-file.ts';
import { until, untilServing } from '../support/service-process.ts';
import { speechLike } from '../support/speech-like.ts';

const running = await useConsole({ AUDIO_SCORERS: '1', POLL_MS: '50' });
const { db } = running.database;
const clients: StreamClient[] = [];
afterAll(() => clients.forEach((client) => client.close()));

const format = { encoding: 'pcm_s16le', sampleRate: 8000, channels: 1 } as const;
const voice = pcm16(speechLike({ sampleRate: 8000, seconds: 8 }));

/** A stream that has had a window and is still open. */
async function openStream(name: string): Promise<StreamClient> {
  const { key } = await createKey(db, {
    client: name,
    scopes: ['verifications:stream'],
    secret: await loadKeySecret({ stateDir: running.stateDir }),
  });
  await sleep(60); // a new key is known within POLL_MS
  let windows = 0;
  const client = new StreamClient({
    url: running.url,
    key,
    signal: new AbortController().signal,
    onMessage: ({ type }) => void (windows += type === 'window' ? 1 : 0),
  });
  clients.push(client);
  await client.start({ model: 'phone', format, name });
  for (let at = 0; at < voice.length; at += 1600) await client.send(voice.subarray(at, at + 1600));
  await until(async () => windows >= 2, 'two windows came');
  return client;
}

const spooled = () => readdir(join(running.stateDir, 'streams'));

it('a console that is killed loses no stream: the next one submits what came, and the workers score it', async () => {
  const streams = [await openStream('one'), await openStream('two')];
  expect((await spooled()).filter((name) => name.endsWith('.wav'))).toHaveLength(2);
  await running.process.end('SIGKILL');
  for (const stream of streams) await expect(stream.end()).rejects.toMatchObject({ code: 'stream_lost' });
  expect(await listBatches(db, { limit: 10 })).toEqual([]);

  running.start('jobs/worker-main.js');
  running.start('console/main.js');
  await untilServing(running.stateDir, 'console');
  const batches = await until(async () => {
    const done = await listBatches(db, { state: 'done', limit: 10 });
    return done.length === 2 && done;
  }, 'both streams are verified');
  expect(
    batches.map(({ name, owner, mode }) => ({ name, owner, mode })).sort((a, b) => a.name.localeCompare(b.name)),
  ).toEqual([
    { name: 'one', owner: 'one', mode: 'api' },
    { name: 'two', owner: 'two', mode: 'api' },
  ]);
  for (const { batchId } of batches) {
    const [item] = await listVerifications(db, batchId, { after: 0, limit: 1, windows: true });
    expect(item).toMatchObject({ state: 'performed', model: 'phone/v8.2', audio: { duration: 8 }, notes: [] });
  }
  await until(async () => (await spooled()).length === 0, 'the spool is empty');
});
