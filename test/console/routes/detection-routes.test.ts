import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { uploadsDirectory } from '../../../console/http/uploads.ts';
import { speechLikeWav } from '../../support/speech-like-wav.ts';
import { until } from '../../support/service-process.ts';
import { withoutRecordOf } from '../support/broken-trail.ts';
import { logIn, useConsole, type ConsoleClient } from '../support/console-process.ts';

const bytesMax = 200_000;
const running = await useConsole({ AUDIO_BYTES_MAX: String(bytesMax) });
const {
  database: { db },
} = running;
const uploads = uploadsDirectory(running.stateDir);
const [viewer, reviewer] = [await logIn(running, 'viewer'), await logIn(running, 'reviewer')];

const form = (file: Uint8Array | null, fields: Record<string, string> = {}, name = 'call.wav') => {
  const made = new FormData();
  for (const [field, value] of Object.entries({
    key: crypto.randomUUID(),
    model: 'auto',
    channels: 'apart',
    ...fields,
  }))
    made.set(field, value);
  if (file !== null) made.set('file', new Blob([file as Uint8Array<ArrayBuffer>]), name);
  return made;
};
const handIn = async (client: ConsoleClient, body: FormData) => {
  const response = await client.fetch('/api/detection', { method: 'POST', body });
  return {
    status: response.status,
    ...((await response.json()) as { verification: string; batch: string; repeated: boolean; code?: string }),
  };
};
const countBatches = async () =>
  (await db.query<{ count: number }>('SELECT count(*) FROM verification_batch')).rows[0]!.count;

describe('what can be asked for', () => {
  it('are the families with their defaults, and every model, also those that were removed', async () => {
    const facts = await viewer.json<{
      models: { model: string; state: string; isDefault: boolean; replacedBy: string | null; isUsable: boolean }[];
      workerConnected: boolean;
      limits: object;
    }>('/api/detection');
    expect(facts.limits).toEqual({ bytesMax, secondsMax: 14_400 });
    expect(facts.workerConnected).toBe(false);
    expect(
      facts.models
        .filter(({ isDefault }) => isDefault)
        .map(({ model }) => model)
        .sort(),
    ).toEqual(['digital/v3.3', 'phone/v8.2']);
    expect(facts.models.find(({ model }) => model === 'phone/v5')).toMatchObject({
      state: 'removed',
      replacedBy: 'phone/v6',
      isUsable: false,
    });
  });
});

describe('a recording from a page', () => {
  const voice = speechLikeWav(4);

  it('becomes a verification of the web demo, queued for a worker, and is recorded', async () => {
    const { verification, batch } = await handIn(
      reviewer,
      form(voice, { model: ' Phone/v1.1 ' }, '../secret/call\u202Egpj.wav'),
    );
    const detail = await reviewer.json<{ source: string }>(`/api/verifications/${verification}`);
    expect(detail).toMatchObject({
      state: 'queued',
      mode: 'webDemo',
      owner: 'console',
      requestedBy: 'console reviewer',
      requestedModel: 'phone/v1.1',
      model: 'phone/v1.1',
      batch,
      recording: { bytes: voice.length },
    });
    expect(detail.source).not.toMatch(/[\u202E]/);
    const { rows } = await db.query(
      "SELECT actor, object, detail FROM console_event WHERE action = 'hand_in_recording'",
    );
    expect(rows).toEqual([
      {
        actor: 'reviewer',
        object: `verification ${verification}`,
        detail: { model: 'phone/v1.1', channels: 'apart', bytes: voice.length },
      },
    ]);
  });

  it('may be raw audio of a form that is named', async () => {
    const leg = Buffer.alloc(900, 0x55);
    const { verification } = await handIn(reviewer, form(leg, { raw: 'alaw@8000' }));
    const detail = await reviewer.json<object>(`/api/verifications/${verification}`);
    expect(detail).toMatchObject({ state: 'queued', recording: { bytes: leg.length + 58 } });
    expect(await handIn(reviewer, form(leg, { raw: 'alaw' }))).toMatchObject({
      status: 400,
      code: 'audio_request_invalid',
    });
  });

  it('is the same verification under the same key, and a conflict with another content', async () => {
    const key = crypto.randomUUID();
    const first = await handIn(reviewer, form(voice, { key }));
    expect(await handIn(reviewer, form(voice, { key }))).toMatchObject({
      verification: first.verification,
      repeated: true,
    });
    expect(await handIn(reviewer, form(speechLikeWav(2), { key }))).toMatchObject({
      status: 409,
      code: 'idempotency_conflict',
    });
  });

  it('is not taken where it cannot be recorded, and taken under the same key afterwards', async () => {
    const key = crypto.randomUUID();
    await withoutRecordOf(db, 'hand_in_recording', async () =>
      expect((await handIn(reviewer, form(voice, { key }))).status).toBe(500),
    );
    expect(
      (
        await db.query('SELECT FROM verification JOIN verification_batch USING (batch_id) WHERE idempotency_key = $1', [
          `web-${key}`,
        ])
      ).rowCount,
    ).toBe(0);
    expect(await handIn(reviewer, form(voice, { key }))).toMatchObject({
      status: 200,
      verification: expect.any(String) as string,
    });
  });

  it('is for reviewers, and needs the token of the session', async () => {
    expect((await handIn(viewer, form(voice))).status).toBe(403);
    const response = await fetch(`${running.url}/api/detection`, {
      method: 'POST',
      body: form(voice),
      headers: { Cookie: reviewer.cookie, Origin: running.url },
    });
    expect(response.status).toBe(403);
  });

  it.each([
    ['a model that was removed', form(voice, { model: 'phone/v5' }), 410, 'model_removed'],
    ['a model that nobody knows', form(voice, { model: 'phone/v99' }), 404, 'model_unknown'],
    ['other channels', form(voice, { channels: 'left' }), 400, 'parameter_invalid'],
    ['a key that is none', form(voice, { key: 'a b' }), 400, 'parameter_invalid'],
    ['a field that is not of it', form(voice, { owner: 'bank' }), 400, 'parameter_invalid'],
    ['no file', form(null), 400, 'parameter_invalid'],
  ])('is refused with %s, and leaves nothing behind', async (_name, body, status, code) => {
    const before = await countBatches();
    expect(await handIn(reviewer, body)).toMatchObject({ status, code });
    expect(await countBatches()).toBe(before);
  });

  it('may be as large as the limit, and no byte larger', async () => {
    const full = Buffer.alloc(bytesMax);
    speechLikeWav(4).copy(full);
    expect((await handIn(reviewer, form(full))).status).toBe(200);
    expect(await handIn(reviewer, form(Buffer.concat([full, Buffer.alloc(1)])))).toMatchObject({
      status: 413,
      code: 'upload_too_large',
    });
    expect(await readdir(uploads)).toEqual([]);
  });

  it('without a byte ends in error with its reason', async () => {
    const { verification } = await handIn(reviewer, form(Buffer.alloc(0)));
    expect(await reviewer.json(`/api/verifications/${verification}`)).toMatchObject({
      state: 'error',
      why: { reason: 'file_empty' },
      recording: null,
    });
  });

  it('is scored by a worker, and followed to its end', async () => {
    const recording = await readFile(
      join(import.meta.dirname, '../../../samples/recordings/synthesizer-espeak-en.wav'),
    );
    const { verification } = await handIn(reviewer, form(recording));
    const response = await reviewer.fetch(`/api/verifications/${verification}/live`); // its first value is read before a worker is there
    const worker = running.start('jobs/worker-main.js');
    const text = await until(async () => response.text(), 'the live answer ends');
    const values = [...text.matchAll(/^event: value\ndata: (.*)$/gm)].map(
      ([, data]) =>
        JSON.parse(data!) as {
          verification: { state: string; decision: { label: string } | null };
          workerConnected: boolean | null;
        },
    );
    expect(values[0]).toMatchObject({ verification: { state: 'queued' }, workerConnected: false });
    expect(values.at(-1)).toMatchObject({
      verification: { state: 'performed', decision: { policy: 'thresholds/2' }, figures: { model: 'phone/v8.2' } },
      workerConnected: null,
    });
    expect(text.trimEnd().endsWith('event: end\ndata: {}')).toBe(true);
    await worker.end('SIGTERM');
  });
});
