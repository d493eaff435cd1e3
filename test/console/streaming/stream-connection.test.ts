import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { StreamConnection } from '../../../console/streaming/stream-connection.ts';
import { endSession } from '../../../console/access/sessions.ts';
import { addUser, changeRole } from '../../../console/access/users.ts';
import { listKeys, revokeKey } from '../../../pipelines/access/keys.ts';
import { listBatches } from '../../../pipelines/audio/batches/batch.ts';
import type { StreamWatcher } from '../../../pipelines/audio/streaming/live-stream.ts';
import type { OpenStream } from '../../../pipelines/audio/streaming/stream-service.ts';
import { listVerifications } from '../../../pipelines/audio/batches/stored-verifications.ts';
import { loadConfig } from '../../../runtime/config.ts';
import { createLog } from '../../../runtime/log.ts';
import { pcm16 } from '../../support/audio-file.ts';
import { until } from '../../support/service-process.ts';
import { speechLike } from '../../support/speech-like.ts';
import { passwordOf } from '../support/console-process.ts';
import { openStreamingConsole, StreamSocket, type StreamingConsole } from '../support/streaming-console.ts';
import { streamLimits } from '../../../pipelines/audio/streaming/stream-limits.ts';

const start = { type: 'start', model: 'phone/v1.1', format: { encoding: 'pcm_s16le', sampleRate: 8000, channels: 1 } };
const second = Buffer.alloc(16_000);
let running: StreamingConsole | undefined;

afterEach(async () => {
  await running?.close();
  running = undefined;
});

async function open(
  settings: Record<string, string>,
  limits: Partial<typeof streamLimits> = {},
): Promise<StreamingConsole> {
  running = await openStreamingConsole(settings, limits);
  return running;
}

async function begun(console: StreamingConsole, headers?: Record<string, string>): Promise<StreamSocket> {
  const socket = await console.connect(headers);
  socket.say(start);
  await socket.until('ready');
  return socket;
}

/** The verification of the only stream of a console, once it has an outcome. */
function verified({ database: { db } }: StreamingConsole) {
  return until(async () => {
    const [batch] = await listBatches(db, { state: 'done', limit: 1 });
    return batch && (await listVerifications(db, batch.batchId, { after: 0, limit: 1, windows: false }))[0];
  }, 'it is verified');
}

/** Seconds of audio that the only stream of a console was verified with. */
async function verifiedSeconds(console: StreamingConsole): Promise<number> {
  return (await verified(console)).audio!.duration!;
}

/** The cookie of a new user. */
async function cookieOf({ url, database: { db } }: StreamingConsole, role: 'viewer' | 'reviewer'): Promise<string> {
  const password = passwordOf(role);
  await addUser(db, { name: role, role, password });
  const answer = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: url },
    body: JSON.stringify({ name: role, password }),
  });
  expect(answer.status).toBeLessThan(300);
  return answer.headers.get('set-cookie')!.split(';')[0]!;
}

it('takes as many streams as it may in all, and refuses one more until one has ended', async () => {
  const console = await open({ STREAM_CONNECTIONS_MAX: '2' });
  const [first] = [await begun(console), await begun(console)];
  const third = await console.connect();
  third.say(start);
  expect(await third.until('error')).toMatchObject({
    code: 'streams_too_many',
    problem: '2 streams are open already.',
  });
  expect(await third.closed).toBe(1013);
  first.send(second);
  first.say({ type: 'end' });
  await first.until('verification');
  await begun(console);
});

it('takes as many streams of one client as it may, and others of another', async () => {
  const console = await open({ STREAM_CONNECTIONS_MAX: '4' });
  const headers = { Authorization: `Bearer ${(await console.makeKey()).key}` };
  await begun(console, headers);
  const next = await console.connect(headers);
  next.say(start);
  expect(await next.until('error')).toMatchObject({
    code: 'streams_too_many',
    problem: '1 streams of this sender are open already.',
  });
  await begun(console);
});

it('ends a stream at its longest, and verifies what came until then', async () => {
  const console = await open({ AUDIO_SECONDS_MAX: '2' });
  const socket = await begun(console);
  socket.send(second);
  socket.send(second);
  await sleep(100);
  expect(socket.messages.filter(({ type }) => type === 'error')).toEqual([]);
  socket.send(Buffer.alloc(2));
  expect(await socket.until('error')).toMatchObject({ code: 'stream_too_long' });
  expect(await socket.closed).toBe(1008);
  expect(await verifiedSeconds(console)).toBe(2);
});

it.each([
  ['pcm_s16le', 1, 19_956 / 2],
  ['pcm_mulaw', 1, 20_000 - 58 - 1],
  ['pcm_mulaw', 3, Math.floor((20_000 - 58 - 1) / 3)],
  ['pcm_f32le', 2, Math.floor((20_000 - 58) / 8)],
])(
  'ends a stream of %s with %i channels at the most bytes of a file too, and verifies what came until then',
  async (encoding, channels, frames) => {
    const console = await open({ AUDIO_BYTES_MAX: '20000' });
    const socket = await console.connect();
    socket.say({ ...start, format: { encoding, sampleRate: 8000, channels } });
    await socket.until('ready');
    socket.send(Buffer.alloc(20_002, encoding === 'pcm_mulaw' ? 0xff : 0));
    expect(await socket.until('error')).toMatchObject({ code: 'stream_too_long' });
    expect(await verified(console)).toMatchObject({
      state: 'performedWithoutScore',
      audio: { duration: frames / 8000 },
    });
    await until(
      async () => (await readdir(join(console.config.stateDir, 'streams'))).length === 0,
      'the spool is empty',
    );
  },
);

it('takes messages without a byte for no audio', async () => {
  const console = await open({}, { streamIdleSecondsMax: 1 });
  const socket = await begun(console);
  socket.send(second);
  const sending = setInterval(() => socket.send(Buffer.alloc(0)), 100);
  expect(await socket.until('error')).toMatchObject({ code: 'stream_idle' });
  clearInterval(sending);
  expect(await verifiedSeconds(console)).toBe(1);
});

it.each([
  ['key', async ({ database: { db } }: StreamingConsole) => void (await revokeKey(db, (await listKeys(db))[0]!.keyId))],
  ['session', async ({ database: { db } }: StreamingConsole, cookie: string) => endSession(db, cookie.split('=')[1]!)],
  ['role', async ({ database: { db } }: StreamingConsole) => void (await changeRole(db, 'reviewer', 'viewer'))],
])('ends a stream whose %s has ended, and verifies what came until then', async (what, end) => {
  const console = await open({});
  const cookie = what === 'key' ? '' : await cookieOf(console, 'reviewer');
  const socket = await begun(console, what === 'key' ? undefined : { Cookie: cookie, Origin: console.url });
  socket.send(second);
  await sleep(1200);
  expect(socket.messages.filter(({ type }) => type === 'error')).toEqual([]);
  await end(console, cookie);
  expect(await socket.until('error')).toMatchObject({ code: 'unauthenticated' });
  expect(await socket.closed).toBe(1008);
  expect(await verifiedSeconds(console)).toBe(1);
});

it('takes no stream of a page of another scheme', async () => {
  const console = await open({});
  await expect(
    console.connect({ Cookie: await cookieOf(console, 'reviewer'), Origin: console.url.replace('http:', 'https:') }),
  ).rejects.toThrow('403');
});

it('waits for the first message as long as it may', async () => {
  const console = await open({}, { streamStartSecondsMax: 1 });
  const since = performance.now();
  const socket = await console.connect();
  expect(await socket.until('error')).toMatchObject({ code: 'request_timeout' });
  expect(await socket.closed).toBe(1013);
  expect(performance.now() - since).toBeGreaterThan(850);
});

it('reads what comes faster than it may at the speed that is allowed, and loses nothing', async () => {
  const console = await open({}, { streamSpeedMax: 10, streamBurstSeconds: 2 });
  const socket = await begun(console);
  const since = performance.now();
  for (let sent = 0; sent < 12; sent++) socket.send(second);
  socket.say({ type: 'end' });
  const { verification } = await socket.until('verification');
  expect(verification.audio!.duration).toBe(12);
  const seconds = (performance.now() - since) / 1000;
  expect(seconds).toBeGreaterThan(0.95); // 2 s at once, the other 10 at ten a second
  expect(seconds).toBeLessThan(30);
});

it('stops reading while the scores are behind, and continues when they are not', async () => {
  const console = await open(
    { STREAM_CONNECTIONS_MAX: '10' },
    { streamBehindSecondsMax: 1, streamBurstSeconds: 3600, streamSpeedMax: 1000 },
  );
  const socket = await begun(console);
  const voice = pcm16(speechLike({ sampleRate: 8000, seconds: 120 }));
  for (let at = 0; at < voice.length; at += 16_000) socket.send(voice.subarray(at, at + 16_000));
  socket.say({ type: 'end' });
  const { verification } = await socket.until('verification');
  expect(verification).toMatchObject({ state: 'performed', audio: { duration: 120 } });
});

it('cuts a client off that does not read, and verifies what it sent', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const stream = {
    id: randomUUID(),
    model: { name: 'phone/v1.1', manifest: { thresholds: {} } },
    receivedSeconds: 0,
    voiceSeconds: 0,
    behindSeconds: 0,
  };
  let ended = 0;
  let watcher: StreamWatcher | undefined;
  // The service sends more than sockets buffer: a real one would need a day of audio for that.
  const begin = async (_start: unknown, _owner: unknown, given: StreamWatcher) => {
    watcher = given;
    return { ...stream, end: async () => void ended++ } as unknown as OpenStream;
  };
  const config = { ...loadConfig({}), streamUnsentBytesMax: 1024 };
  server.on(
    'connection',
    (socket) =>
      new StreamConnection({
        socket,
        service: { begin },
        owner: { owner: 'x', requestedBy: 'x', mode: 'api' },
        onBegin: async () => {},
        isStillAllowed: async () => true,
        config,
        log: createLog({ level: 'silent', process: 'test' }),
      }),
  );
  const socket = await StreamSocket.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {});
  socket.say(start);
  await socket.until('ready');
  socket.socket.pause();
  for (let sent = 0; sent < 200_000 && ended === 0; sent++) {
    watcher!.onWindow({
      channel: 0,
      start: sent,
      end: sent + 4,
      label: 'validVoice',
      scores: { synthesis: 0.123456789, replay: 0.123456789 },
    });
    if (sent % 1000 === 0) await sleep(1);
  }
  expect(ended).toBe(1);
  socket.socket.resume();
  expect(await socket.closed).toBe(1006);
  server.close();
});

it('verifies what came when it stops, and says so', async () => {
  const console = await open({});
  const socket = await begun(console);
  socket.send(second);
  socket.send(second);
  await sleep(200);
  const closing = console.close();
  running = undefined;
  expect(await socket.until('error')).toMatchObject({ code: 'interrupted' });
  expect(await socket.closed).toBe(1012);
  await closing;
});

it('takes streams of a page of the console, from users who may hand recordings in, and from no page elsewhere', async () => {
  const console = await open({});
  const cookies = { viewer: await cookieOf(console, 'viewer'), reviewer: await cookieOf(console, 'reviewer') };
  await expect(console.connect({ Cookie: cookies.viewer, Origin: console.url })).rejects.toThrow('403');
  await expect(console.connect({ Cookie: cookies.reviewer, Origin: 'https://elsewhere.example' })).rejects.toThrow(
    '403',
  );
  await expect(console.connect({ Cookie: cookies.reviewer })).rejects.toThrow('403');
  const socket = await begun(console, { Cookie: cookies.reviewer, Origin: console.url });
  socket.send(second);
  socket.say({ type: 'end' });
  expect((await socket.until('verification')).verification).toMatchObject({ mode: 'webDemo' });
  const [batch] = await listBatches(console.database.db, { limit: 1 });
  expect(batch).toMatchObject({ owner: 'console', requestedBy: 'console reviewer' });
  const { rows } = await console.database.db.query<{ actor: string; object: string }>(
    "SELECT actor, object FROM console_event WHERE action = 'stream_audio'",
  );
  expect(rows).toEqual([{ actor: 'reviewer', object: `stream ${(await socket.until('ready')).stream}` }]);
});
