import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AudioStore } from '../../../pipelines/audio/store/audio-store.ts';
import { sampleRecording, wavFile } from '../../support/audio-file.ts';
import { scorerPids } from '../../support/scoring.ts';
import { until } from '../../support/service-process.ts';
import { withoutRecordOf } from '../support/broken-trail.ts';
import { logIn, useConsole } from '../support/console-process.ts';
import { handIn } from '../support/handed-in.ts';
import { seedBatch } from '../support/verifications.ts';

const running = await useConsole();
const {
  database: { db },
  stateDir,
} = running;
const [viewer, reviewer, operator] = [
  await logIn(running, 'viewer'),
  await logIn(running, 'reviewer'),
  await logIn(running, 'operator'),
];
const store = new AudioStore(join(stateDir, 'audio'));
const seeded = await seedBatch(running, [{ label: 'authentic' }]);
const waiting = await seedBatch(running, ['queued'], { owner: 'bank' });

interface Shown {
  audio: { sha256: string; duration: number };
  recording: { format: string; codec: string; playback: string };
  code: string;
}

const shown = (id: string) => viewer.json<Shown>(`/api/verifications/${id}`);

/** What the console has written to files and connections so far. */
async function writtenBytes(): Promise<number> {
  return Number(/^wchar: (\d+)$/m.exec(await readFile(`/proc/${running.process.pid}/io`, 'utf8'))![1]);
}

// Without /proc nothing says what the processes do.
describe.skipIf(process.platform !== 'linux')('a listener who leaves while a recording is converted', () => {
  it('ends the conversion', async () => {
    const long = Buffer.concat(Array.from({ length: 10_000 }, () => sampleRecording('tone-no-header.mp3'))); // 320 MB of samples
    await writeFile(store.pathOf(seeded.digests[0]!), long);
    const writtenBefore = await writtenBytes();
    const leaving = new AbortController();
    const answer = viewer.fetch(`/api/verifications/${seeded.ids[0]}/playback`, { signal: leaving.signal });
    await until(async () => (await writtenBytes()) > writtenBefore + 1e7, 'samples are written');
    expect(await scorerPids(running.process.pid)).toHaveLength(1);
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await until(async () => (await scorerPids(running.process.pid)).length === 0, 'nothing is converted any more');
  });
});

describe('the playback of a recording', async () => {
  running.start('jobs/worker-main.js');
  const gsm = await handIn(reviewer, Uint8Array.from(sampleRecording('tone-gsm.wav')), 'tone-gsm.wav');
  const alac = await handIn(reviewer, Uint8Array.from(sampleRecording('tone-alac.m4a')), 'tone-alac.m4a');
  const playback = (id: string, range?: string, headers: Record<string, string> = {}) =>
    viewer.fetch(`/api/verifications/${id}/playback`, {
      headers: { ...(range === undefined ? {} : { Range: range }), ...headers },
    });

  it('is that of the original or of a converted one, once it was opened', async () => {
    const mp3 = await handIn(reviewer, Uint8Array.from(sampleRecording('tone.mp3')), 'tone.mp3');
    const text = await handIn(reviewer, Uint8Array.from(Buffer.from('no audio')), 'text.wav');
    expect(
      await Promise.all(
        [gsm, alac, mp3, text, waiting.ids[0]!].map(async (id) => (await shown(id)).recording.playback),
      ),
    ).toEqual(['converted', 'converted', 'original', null, null]);
  });

  it('is not played if that cannot be recorded', async () => {
    await withoutRecordOf(db, 'listen_to_recording', async () => {
      for (let request = 0; request < 2; request++) expect((await playback(gsm)).status).toBe(500);
    });
  });

  it.each([
    ['GSM', gsm, 8000, 1],
    ['ALAC', alac, 16_000, 1],
  ])(
    'is a WAV file of 16 bits at the rate and with the channels of the recording: %s',
    async (_codec, id, sampleRate, channels) => {
      const answer = await playback(id);
      expect([answer.status, answer.headers.get('content-type'), answer.headers.get('accept-ranges')]).toEqual([
        200,
        'audio/wav',
        'bytes',
      ]);
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect(answer.headers.get('content-length')).toBe(String(bytes.length));
      expect(
        bytes.subarray(0, 44).equals(wavFile({ sampleRate, channels, data: bytes.subarray(44) }).subarray(0, 44)),
      ).toBe(true);
      expect(Math.abs((bytes.length - 44) / 2 / channels / sampleRate - (await shown(id)).audio.duration)).toBeLessThan(
        0.1,
      );
    },
  );

  it('is sent in the part that is asked for', async () => {
    const whole = await playback(gsm);
    const bytes = Buffer.from(await whole.arrayBuffer());
    const part = await playback(gsm, 'bytes=1000-1999');
    expect([part.status, part.headers.get('content-range'), part.headers.get('content-length')]).toEqual([
      206,
      `bytes 1000-1999/${bytes.length}`,
      '1000',
    ]);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(1000, 2000));
    expect((await playback(gsm, 'bytes=0-9', { 'If-Range': whole.headers.get('etag')! })).status).toBe(206);
    expect((await playback(gsm, 'bytes=0-9', { 'If-Range': `"${(await shown(gsm)).audio.sha256}"` })).status).toBe(200); // the tag of the original
    const beyond = await playback(gsm, `bytes=${bytes.length}-`);
    expect([beyond.status, beyond.headers.get('content-range'), ((await beyond.json()) as Shown).code]).toEqual([
      416,
      `bytes */${bytes.length}`,
      'range_not_satisfiable',
    ]);
  });

  it('is listened to once in the audit trail, with the original', async () => {
    expect(Buffer.from(await (await viewer.fetch(`/api/verifications/${gsm}/audio`)).arrayBuffer())).toEqual(
      sampleRecording('tone-gsm.wav'),
    );
    const { sha256 } = (await shown(gsm)).audio;
    const { rows } = await db.query(
      "SELECT actor, object, detail FROM console_event WHERE action = 'listen_to_recording' AND object = $1",
      [`recording ${sha256}`],
    );
    expect(rows).toEqual([{ actor: 'viewer', object: `recording ${sha256}`, detail: { verification: gsm } }]);
  });

  it('is refused for one that was not opened yet, and for one that cannot be read', async () => {
    expect((await viewer.json<Shown>(`/api/verifications/${waiting.ids[0]}/playback`)).code).toBe('recording_refused');
    const {
      audio: { sha256 },
    } = await shown(seeded.ids[0]!);
    await writeFile(store.pathOf(sha256), 'no audio');
    expect(await viewer.json<Shown>(`/api/verifications/${seeded.ids[0]}/playback`)).toMatchObject({
      code: 'recording_refused',
      detail: expect.stringContaining('[format_unknown]') as string,
    });
    await rm(store.pathOf(sha256));
    expect((await viewer.json<Shown>(`/api/verifications/${seeded.ids[0]}/playback`)).code).toBe('recording_unknown');
  });

  it('ends with the recording', async () => {
    const {
      audio: { sha256 },
    } = await shown(gsm);
    expect((await playback(gsm)).status).toBe(200);
    expect(
      (
        await operator.fetch(`/api/recordings/${sha256}`, {
          method: 'DELETE',
          body: JSON.stringify({ reason: 'Request of the caller' }),
        })
      ).status,
    ).toBe(200);
    expect((await viewer.json<Shown>(`/api/verifications/${gsm}/playback`)).code).toBe('recording_unknown');
  });
});
