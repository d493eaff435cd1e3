import { readdir, readFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { AudioStore } from '../../../pipelines/audio/store/audio-store.ts';
import { listBatches } from '../../../pipelines/audio/batches/batch.ts';
import { loadShippedRegistry } from '../../../pipelines/audio/models/registry.ts';
import { OpenModels } from '../../../pipelines/audio/scoring/open-models.ts';
import { scoreRecording } from '../../../pipelines/audio/scoring/score-recording.ts';
import { StreamClient } from '../../../pipelines/audio/streaming/stream-client.ts';
import type { ServerMessage } from '../../../pipelines/audio/streaming/stream-protocol.ts';
import { listVerifications } from '../../../pipelines/audio/batches/stored-verifications.ts';
import { pcm16, wideLimits } from '../../support/audio-file.ts';
import { until } from '../../support/service-process.ts';
import { scorerPids } from '../../support/scoring.ts';
import { speechLike } from '../../support/speech-like.ts';
import { useStreamingConsole, type StreamSocket } from '../support/streaming-console.ts';

const running = await useStreamingConsole({}, { streamIdleSecondsMax: 10, streamFrameBytesMax: 65_536 });
const { db } = running.database;
const voice = pcm16(speechLike({ sampleRate: 8000, seconds: 9 }));
const start = {
  type: 'start',
  model: 'phone',
  format: { encoding: 'pcm_s16le', sampleRate: 8000, channels: 1 },
  name: 'test call',
};
const opened = new OpenModels();
afterAll(() => opened.close());

async function begun(): Promise<StreamSocket> {
  const socket = await running.connect();
  socket.say(start);
  await socket.until('ready');
  return socket;
}

function sendInPieces(socket: StreamSocket, bytes: Buffer, pieceBytes = 3201): void {
  for (let at = 0; at < bytes.length; at += pieceBytes) socket.send(bytes.subarray(at, at + pieceBytes));
}

/** The verification of a stream, once it has an outcome. */
function verificationOf(stream: string) {
  return until(async () => {
    const batches = await listBatches(db, { limit: 100 });
    const batch = batches.find(({ key }) => key === `stream-${stream}`);
    const [item] =
      batch === undefined ? [] : await listVerifications(db, batch.batchId, { after: 0, limit: 1, windows: true });
    return item !== undefined && item.times.ended !== null ? { ...item, owner: batch!.owner } : undefined;
  }, `stream ${stream} is verified`);
}

const spooled = () => readdir(join(running.config.stateDir, 'streams'));

describe('a stream', () => {
  it('is answered with windows while it is sent, then with its verification, which is stored like any other', async () => {
    const { key, client } = await running.makeKey();
    const messages: ServerMessage[] = [];
    const stream = new StreamClient({
      url: running.url,
      key,
      signal: new AbortController().signal,
      onMessage: (message) => messages.push(message),
    });
    const ready = await stream.start({
      model: 'phone',
      format: { encoding: 'pcm_s16le', sampleRate: 8000, channels: 1 },
      name: 'call 7',
    });
    expect(ready).toMatchObject({
      model: 'phone/v8.2',
      limits: { secondsMax: 14_400, frameBytesMax: 65_536, idleSecondsMax: 10, speedMax: 8, burstSeconds: 30 },
    });
    expect(ready.thresholds.synthesis).toBeGreaterThan(0);
    for (let at = 0; at < voice.length; at += 1601) await stream.send(voice.subarray(at, at + 1601));
    await until(
      async () => messages.filter(({ type }) => type === 'window').length >= 3,
      'three windows came before the end',
    );
    const verification = await stream.end();

    const windows = messages.flatMap((message) => (message.type === 'window' ? [message] : []));
    expect(verification).toMatchObject({
      state: 'performed',
      mode: 'api',
      requestedModel: 'phone',
      model: 'phone/v8.2',
      attempts: 1,
      audio: { sampleRate: 8000, channels: 1, duration: 9 },
    });
    expect(verification.windows.map(({ start: from, end }) => [from, end])).toEqual([
      [0, 4],
      [2, 6],
      [4, 8],
      [5, 9],
    ]);
    expect(verification.windows).toEqual(
      verification.windows.map(({ start: from }) =>
        (({ type: _type, ...window }) => window)(windows.findLast((window) => window.start === from)!),
      ),
    );
    const stored = await verificationOf(ready.stream);
    expect(stored).toMatchObject({
      id: verification.id,
      owner: client,
      source: 'call 7',
      reused: false,
      audio: { sha256: verification.audio!.sha256 },
    });
    expect(await spooled()).toEqual([]);
  });

  it('has the scores that its stored file gets', async () => {
    const socket = await begun();
    sendInPieces(socket, voice, 777);
    socket.say({ type: 'end' });
    const { verification } = await socket.until('verification');
    expect(await socket.closed).toBe(1000);
    const file = new AudioStore(running.config.audioDir).pathOf(verification.audio!.sha256);
    const resolution = (await loadShippedRegistry()).resolve('phone');
    const scored = await scoreRecording({
      file,
      models: { phone: resolution.kind === 'model' ? resolution.model : null, digital: null },
      settings: { channels: 'apart' },
      limits: wideLimits,
      opened,
    });
    expect([
      verification.scores,
      verification.decision,
      verification.windows,
      verification.audio!.voiceDuration,
    ]).toEqual([scored.scores, scored.decision, scored.windows, scored.voiceSeconds]);
    expect(
      createHash('sha256')
        .update(await readFile(file))
        .digest('hex'),
    ).toBe(verification.audio!.sha256);
  });

  it('of two channels is scored by channel', async () => {
    const socket = await running.connect();
    socket.say({ ...start, format: { ...start.format, channels: 2 } });
    await socket.until('ready');
    sendInPieces(socket, pcm16(speechLike({ sampleRate: 8000, seconds: 5 }), new Float32Array(40_000)));
    socket.say({ type: 'end' });
    const { verification } = await socket.until('verification');
    expect(verification.windows.map(({ channel, label }) => [channel, label])).toEqual([
      [0, 'validVoice'],
      [0, 'validVoice'],
      [1, 'insufficientVoice'],
      [1, 'insufficientVoice'],
    ]);
    const channels = socket.messages.flatMap((message) => (message.type === 'window' ? [message.channel] : []));
    expect(new Set(channels)).toEqual(new Set([0, 1]));
  });

  it('of silence ends without a score, and with the reason', async () => {
    const socket = await begun();
    socket.send(Buffer.alloc(64_000));
    socket.say({ type: 'end' });
    expect((await socket.until('verification')).verification).toMatchObject({
      state: 'performedWithoutScore',
      reason: 'no_voice',
      scores: null,
    });
  });

  it('that was stored before is not stored twice: the result is the same', async () => {
    const ids = new Set<string>();
    for (let time = 0; time < 2; time++) {
      const socket = await begun();
      sendInPieces(socket, voice.subarray(0, 64_002));
      socket.say({ type: 'end' });
      ids.add((await socket.until('verification')).verification.audio!.sha256);
    }
    expect(ids.size).toBe(1);
  });

  it('sends its progress about once a second', async () => {
    const socket = await begun();
    sendInPieces(socket, voice);
    await socket.until('progress');
    socket.say({ type: 'end' });
    await socket.until('verification');
    const progress = socket.messages.flatMap((message) => (message.type === 'progress' ? [message] : []));
    expect(progress.at(-1)!.receivedSeconds).toBe(9);
    expect(progress.at(-1)!.voiceSeconds).toBeGreaterThan(4);
  });
});

describe('a connection that is lost', () => {
  it('ends the stream: what came is verified', async () => {
    const socket = await begun();
    const { stream } = await socket.until('ready');
    sendInPieces(socket, voice.subarray(0, 80_000));
    await socket.until('window');
    socket.socket.terminate();
    const verification = await verificationOf(stream);
    expect(verification).toMatchObject({ state: 'performed', reused: false });
    expect(verification.audio!.duration).toBeGreaterThan(3.9);
    await until(async () => (await spooled()).length === 0, 'the spool is empty');
  });

  it('by a close without an end is the same', async () => {
    const socket = await begun();
    sendInPieces(socket, voice);
    socket.socket.close(1000);
    expect(await socket.closed).toBe(1000);
    expect(await verificationOf((await socket.until('ready')).stream)).toMatchObject({
      state: 'performed',
      audio: { duration: 9 },
    });
  });

  it('before any audio leaves nothing', async () => {
    const socket = await begun();
    socket.socket.terminate();
    await until(async () => (await spooled()).length === 0, 'the spool is empty');
  });

  it('after messages that were sent in one go, without waiting for an answer, is the same', async () => {
    const socket = await running.connect();
    socket.say({ ...start, name: 'in one go' });
    sendInPieces(socket, voice);
    socket.socket.close();
    const batch = await until(
      async () =>
        (await listBatches(db, { limit: 100 })).find(({ name, state }) => name === 'in one go' && state === 'done'),
      'it is verified',
    );
    expect(await listVerifications(db, batch.batchId, { after: 0, limit: 1, windows: false })).toMatchObject([
      { state: 'performed', audio: { duration: 9 } },
    ]);
  });

  it('right after the end still has its verification stored', async () => {
    const socket = await begun();
    sendInPieces(socket, voice.subarray(0, 70_000));
    socket.say({ type: 'end' });
    socket.socket.close();
    expect(await verificationOf((await socket.until('ready')).stream)).toMatchObject({ state: 'performed' });
  });
});

describe('a process that scores', () => {
  it('may die: another one scores the stream from its beginning, and no window is sent twice', async () => {
    const socket = await begun();
    sendInPieces(socket, voice.subarray(0, 100_000));
    await socket.until('window');
    for (const pid of await streamScorerPids()) process.kill(pid, 'SIGKILL');
    sendInPieces(socket, voice.subarray(100_000));
    socket.say({ type: 'end' });
    const { verification } = await socket.until('verification');
    expect(verification).toMatchObject({ state: 'performed', audio: { duration: 9 } });
    const channels = socket.messages.flatMap((message) =>
      message.type === 'window' ? [`${message.start} ${message.label}`] : [],
    );
    expect(channels).toHaveLength(new Set(channels).size);
  });
});

async function streamScorerPids(): Promise<number[]> {
  const pids = await scorerPids();
  expect(pids.length).toBeGreaterThan(0);
  return pids;
}

describe('a message', () => {
  it.each([
    ['that is not JSON', 'hello', /not JSON/],
    ['without a type', { model: 'phone' }, /type/],
    ['of a type that is unknown', { type: 'stop' }, /type/],
    ['with a field that is unknown', { ...start, volume: 3 }, /volume/],
    ['with an encoding that is unknown', { ...start, format: { ...start.format, encoding: 'opus' } }, /encoding/],
    [
      'with a sample rate that is no number',
      { ...start, format: { ...start.format, sampleRate: '8000' } },
      /sampleRate/,
    ],
    ['without a format', { type: 'start' }, /format/],
    ['that ends what has not begun', { type: 'end' }, /before the message `start`/],
    ['with a name that cannot be stored', { ...start, name: 'a\u0000b' }, /cannot be stored/],
    ['with a model that cannot be stored', { ...start, model: 'phone\ud800' }, /cannot be stored/],
    ['with too long a text', { ...start, name: 'x'.repeat(5000) }, /4096/],
  ])('%s is refused', async (_what, message, problem) => {
    const socket = await running.connect();
    if (typeof message === 'string') socket.socket.send(message);
    else socket.say(message);
    const error = await socket.until('error');
    expect(error).toMatchObject({ code: 'stream_invalid', problem: expect.stringMatching(problem) as string });
    expect(await socket.closed).toBe(1008);
  });

  it('of audio before the start is refused', async () => {
    const socket = await running.connect();
    socket.send(voice.subarray(0, 100));
    expect(await socket.until('error')).toMatchObject({
      code: 'stream_invalid',
      problem: 'Audio came before the message `start`.',
    });
    expect(await socket.closed).toBe(1008);
  });

  it.each([
    ['a second start', (socket: StreamSocket) => socket.say(start)],
    ['nonsense', (socket: StreamSocket) => socket.socket.send('{')],
  ])('of %s within a stream ends it; what came is verified', async (_what, break_) => {
    const socket = await begun();
    sendInPieces(socket, voice);
    break_(socket);
    expect(await socket.until('error')).toMatchObject({ code: 'stream_invalid' });
    expect(await socket.closed).toBe(1008);
    expect(await verificationOf((await socket.until('ready')).stream)).toMatchObject({
      state: 'performed',
      audio: { duration: 9 },
    });
  });

  it('of audio after the end is refused; the stream is verified all the same', async () => {
    const socket = await begun();
    sendInPieces(socket, voice);
    socket.say({ type: 'end' });
    socket.send(voice.subarray(0, 100));
    expect(await socket.until('error')).toMatchObject({ code: 'stream_invalid' });
    expect(await verificationOf((await socket.until('ready')).stream)).toMatchObject({ audio: { duration: 9 } });
  });

  it('of the size of the limit is taken, and one byte more is not', async () => {
    const socket = await begun();
    socket.send(Buffer.alloc(65_536));
    socket.send(Buffer.alloc(65_537));
    expect(await socket.until('error')).toMatchObject({ code: 'stream_frame_too_large' });
    expect(await socket.closed).toBe(1009);
    expect(await verificationOf((await socket.until('ready')).stream)).toMatchObject({ audio: { duration: 4.096 } });
  });

  it('far beyond the limit cuts the connection off before it is read', async () => {
    const socket = await begun();
    socket.send(Buffer.alloc(65_536));
    socket.send(Buffer.alloc(10_000_000));
    expect(await socket.closed).toBeGreaterThan(1000);
    expect(await verificationOf((await socket.until('ready')).stream)).toMatchObject({ audio: { duration: 4.096 } });
  });
});

describe('the end', () => {
  it('without any audio says that there was none', async () => {
    const socket = await begun();
    socket.say({ type: 'end' });
    expect(await socket.until('error')).toMatchObject({
      code: 'recording_refused',
      problem: 'No complete sample was received.',
    });
    expect(await socket.closed).toBe(1008);
    expect(await spooled()).toEqual([]);
  });

  it('in the middle of a sample leaves its part out', async () => {
    const socket = await begun();
    socket.send(voice.subarray(0, 64_001));
    socket.say({ type: 'end' });
    expect((await socket.until('verification')).verification.audio).toMatchObject({ duration: 4 });
  });

  it.each(['pcm_mulaw', 'pcm_alaw'])('after an odd number of samples of %s makes a whole file', async (encoding) => {
    const socket = await running.connect();
    socket.say({ ...start, format: { encoding, sampleRate: 8000, channels: 1 } });
    await socket.until('ready');
    socket.send(Buffer.alloc(32_001, 0x55));
    socket.say({ type: 'end' });
    const { verification } = await socket.until('verification');
    expect(verification.audio).toMatchObject({ duration: 32_001 / 8000 });
    const file = await readFile(new AudioStore(running.config.audioDir).pathOf(verification.audio!.sha256));
    expect([file.length, file.readUInt32LE(4), file.readUInt32LE(54)]).toEqual([58 + 32_002, file.length - 8, 32_001]);
  });
});

describe('a start', () => {
  it.each([
    ['a model that nobody knows', { model: 'phone/v99' }, 'model_unknown'],
    ['a model that was removed', { model: 'phone/v5' }, 'model_removed'],
    ['a rate that is too low for the model', { model: 'digital' }, 'recording_refused'],
    ['a rate that no recording may have', { format: { ...start.format, sampleRate: 1_000_000 } }, 'recording_refused'],
    ['more channels than a recording may have', { format: { ...start.format, channels: 9 } }, 'recording_refused'],
  ])('with %s is refused', async (_what, changes, code) => {
    const socket = await running.connect();
    socket.say({ ...start, ...changes });
    expect(await socket.until('error')).toMatchObject({ code });
    expect(await socket.closed).toBe(1008);
    expect(await spooled()).toEqual([]);
  });

  it('that says nothing but the format takes the family by the rate', async () => {
    const socket = await running.connect();
    socket.say({ type: 'start', format: { ...start.format, sampleRate: 16_000 } });
    expect(await socket.until('ready')).toMatchObject({ model: 'digital/v3.3' });
    socket.send(voice.subarray(0, 50_000));
    socket.say({ type: 'end' });
    expect((await socket.until('verification')).verification).toMatchObject({
      requestedModel: 'auto',
      model: 'digital/v3.3',
    });
  });
});

describe('a stream that goes silent', () => {
  it('is ended after the idle time; what came is verified', async () => {
    const socket = await begun();
    sendInPieces(socket, voice);
    expect(await socket.until('error')).toMatchObject({ code: 'stream_idle' });
    expect(await socket.closed).toBe(1013);
    expect(await verificationOf((await socket.until('ready')).stream)).toMatchObject({
      state: 'performed',
      audio: { duration: 9 },
    });
  });
});

describe('a connection', () => {
  it.each([
    ['without key or session', async () => ({}), 401],
    [
      'with a key that opens nothing',
      async () => ({ Authorization: `Bearer ct_${'a'.repeat(12)}_${'A'.repeat(43)}` }),
      401,
    ],
    [
      'with a key without the scope',
      async () => ({ Authorization: `Bearer ${(await running.makeKey(['verifications:read'])).key}` }),
      403,
    ],
  ])('%s is refused', async (_what, headers, status) => {
    await expect(running.connect(await headers())).rejects.toThrow(String(status));
  });

  it('by plain HTTP is no stream', async () => {
    const { key } = await running.makeKey();
    expect((await fetch(`${running.url}/api/stream`, { headers: { Authorization: `Bearer ${key}` } })).status).toBe(
      404,
    );
  });
});

describe('the client', () => {
  it('says the error of the console', async () => {
    const stream = new StreamClient({
      url: running.url,
      key: (await running.makeKey(['caches:read'])).key,
      signal: new AbortController().signal,
    });
    await expect(
      stream.start({ format: { encoding: 'pcm_s16le', sampleRate: 8000, channels: 1 } }),
    ).rejects.toMatchObject({ code: 'forbidden' });
    const wrong = new StreamClient({
      url: running.url,
      key: (await running.makeKey()).key,
      signal: new AbortController().signal,
    });
    await expect(
      wrong.start({ model: 'phone/v5', format: { encoding: 'pcm_s16le', sampleRate: 8000, channels: 1 } }),
    ).rejects.toMatchObject({ code: 'model_removed' });
  });

  it('says that nobody is there', async () => {
    const stream = new StreamClient({
      url: 'http://127.0.0.1:9',
      key: undefined,
      signal: new AbortController().signal,
    });
    await expect(
      stream.start({ format: { encoding: 'pcm_s16le', sampleRate: 8000, channels: 1 } }),
    ).rejects.toMatchObject({ code: 'stream_lost' });
  });
});
