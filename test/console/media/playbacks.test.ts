import { createHash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import type { ConvertedRecording } from '../../../console/media/converted-recording.ts';
import { playbackDirectory, playbackLimits, Playbacks, type PlaybackLimits } from '../../../console/media/playbacks.ts';
import { AudioStore } from '../../../pipelines/audio/store/audio-store.ts';
import { openScoringPool } from '../../../pipelines/audio/scorers/scoring-pool.ts';
import { createLog } from '../../../runtime/log.ts';
import { pcm16, readWhole, RecordingFolder, sampleRecording, sampleRecordingPath } from '../../support/audio-file.ts';
import { configIn, tinyRecording, useFolder } from '../../support/recording-batch.ts';
import { speechLikeWav } from '../../support/speech-like-wav.ts';

const config = configIn(await useFolder('playbacks'));
const log = createLog({ level: 'silent', process: 'test' });
const scoring = openScoringPool({ config, log });
const stopping: AbortController[] = [];
const folder = new RecordingFolder();
afterAll(async () => {
  for (const each of stopping) each.abort();
  folder.remove();
  await scoring.close();
});

function playbacksWith(limits: Partial<PlaybackLimits> = {}): Playbacks {
  const stop = new AbortController();
  stopping.push(stop);
  return new Playbacks({ config, scoring, log, signal: stop.signal }, { ...playbackLimits, ...limits });
}

async function stored(bytes: Buffer): Promise<string> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const path = new AudioStore(config.audioDir).pathOf(sha256);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes);
  return sha256;
}

const whole = (recording: ConvertedRecording) => buffer(recording.read({ start: 0, end: recording.bytes - 1 }));

/** Hears a recording, and leaves. */
async function heard(playbacks: Playbacks, sha256: string): Promise<Buffer> {
  const listener = new AbortController();
  try {
    return await whole(await playbacks.read(sha256, listener.signal));
  } finally {
    listener.abort();
  }
}

/** Bytes of a tiny recording, which is a WAV file of 44 bytes and its samples already. */
const tinyBytes = tinyRecording(0).length;

describe('a converted recording', () => {
  it.each(['tone-gsm.wav', 'tone-ima.wav', 'tone-alac.m4a', 'tone-stereo-flac.ogg'])(
    'is a WAV file of the samples that the decoder makes: %s',
    async (name) => {
      const bytes = await heard(playbacksWith(), await stored(sampleRecording(name)));
      const expected = await readWhole(sampleRecordingPath(name));
      const { codec, sampleRate, channels, samples, notes } = await readWhole(folder.write('converted.wav', bytes));
      expect([codec, sampleRate, channels, notes]).toEqual(['pcm_s16le', expected.sampleRate, expected.channels, []]);
      expect(pcm16(...samples).equals(pcm16(...expected.samples))).toBe(true);
    },
  );

  it('is read from any place', async () => {
    const playbacks = playbacksWith();
    const listener = new AbortController();
    const recording = await playbacks.read(await stored(sampleRecording('tone-gsm.wav')), listener.signal);
    const bytes = await whole(recording);
    for (const [start, end] of [
      [0, 0],
      [43, 44],
      [1000, 9999],
      [recording.bytes - 1, recording.bytes - 1],
    ] as const)
      expect((await buffer(recording.read({ start, end }))).equals(bytes.subarray(start, end + 1))).toBe(true);
    listener.abort();
  });

  it('has no name in its folder', async () => {
    const playbacks = playbacksWith();
    const listener = new AbortController();
    await playbacks.read(await stored(sampleRecording('tone-ima.wav')), listener.signal);
    expect(await readdir(playbackDirectory(config.stateDir))).toEqual([]);
    listener.abort();
  });

  it('is made once for all who listen', async () => {
    const playbacks = playbacksWith();
    const sha256 = await stored(speechLikeWav(3));
    const [first, second] = [new AbortController(), new AbortController()];
    const [one, other] = await Promise.all([
      playbacks.read(sha256, first.signal),
      playbacks.read(sha256, second.signal),
    ]);
    expect(one).toBe(other);
    first.abort();
    expect((await whole(other)).length).toBe(other.bytes);
    second.abort();
  });

  it('is read to its end by who listens when it was deleted, and made again for later requests', async () => {
    const playbacks = playbacksWith();
    const sha256 = await stored(speechLikeWav(4));
    const listener = new AbortController();
    const recording = await playbacks.read(sha256, listener.signal);
    playbacks.forget(sha256);
    expect((await whole(recording)).length).toBe(recording.bytes);
    const later = new AbortController();
    expect(await playbacks.read(sha256, later.signal)).not.toBe(recording);
    listener.abort();
    later.abort();
    await expect(whole(recording)).rejects.toThrow(); // its file is given back
  });

  it('is not made for who has left', async () => {
    const sha256 = await stored(speechLikeWav(5));
    const left = new AbortController();
    const read = playbacksWith().read(sha256, left.signal);
    left.abort(new Error('left'));
    await expect(read).rejects.toThrow();
  });
});

describe('a recording that cannot be converted', () => {
  it('is refused with its reason, or said not to be here', async () => {
    const playbacks = playbacksWith();
    await expect(heard(playbacks, await stored(Buffer.from('No audio at all.')))).rejects.toMatchObject({
      code: 'recording_refused',
      problem: expect.stringContaining('[format_unknown]') as string,
    });
    await expect(heard(playbacks, '0'.repeat(64))).rejects.toMatchObject({ code: 'recording_unknown' });
  });

  it('is one that would be larger than it may be, by a byte', async () => {
    const sha256 = await stored(tinyRecording(1));
    expect((await heard(playbacksWith({ recordingBytesMax: tinyBytes }), sha256)).length).toBe(tinyBytes);
    await expect(heard(playbacksWith({ recordingBytesMax: tinyBytes - 1 }), sha256)).rejects.toMatchObject({
      code: 'recording_refused',
      problem: expect.stringContaining('[recording_too_long]') as string,
    });
  });
});

describe('the room for converted recordings', () => {
  it('is made by removing unused ones', async () => {
    const playbacks = playbacksWith({ diskBytesMax: 2 * tinyBytes });
    for (let number = 10; number < 15; number++)
      expect((await heard(playbacks, await stored(tinyRecording(number)))).length).toBe(tinyBytes);
  });

  it('is not taken from those in use, down to the last byte', async () => {
    const listener = new AbortController();
    const [one, other] = [await stored(tinyRecording(20)), await stored(tinyRecording(21))];
    const playbacks = playbacksWith({ diskBytesMax: 2 * tinyBytes - 1 });
    await playbacks.read(one, listener.signal);
    await expect(heard(playbacks, other)).rejects.toMatchObject({ code: 'overloaded' });
    listener.abort();
    expect((await heard(playbacks, other)).length).toBe(tinyBytes); // a refusal takes no room
  });

  it('has turns: one more than may wait is refused', async () => {
    const playbacks = playbacksWith({ runningMax: 1, waitingMax: 1 });
    const digests = await Promise.all([30, 31, 32].map((number) => stored(tinyRecording(number))));
    const outcomes = await Promise.allSettled(digests.map((sha256) => heard(playbacks, sha256)));
    expect(outcomes).toMatchObject([
      { status: 'fulfilled' },
      { status: 'fulfilled' },
      { status: 'rejected', reason: { code: 'overloaded' } },
    ]);
  });
});
