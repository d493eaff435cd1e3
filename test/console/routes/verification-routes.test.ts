import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AudioRefusal } from '../../../pipelines/audio/reasons.ts';
import { withoutRecordOf } from '../support/broken-trail.ts';
import { logIn, useConsole } from '../support/console-process.ts';
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

const first = await seedBatch(running, [
  { label: 'authentic' },
  { label: 'replayed' },
  { withoutScore: 'no_voice' },
  { refusal: new AudioRefusal('audio_damaged') },
]);
const demo = await seedBatch(running, [{ label: 'synthesized' }], {
  mode: 'webDemo',
  owner: 'console',
  model: 'phone/v1.1',
});
const waiting = await seedBatch(running, ['queued'], { owner: 'bank' });
await db.query("UPDATE verification_batch SET requested_at = '2026-03-01T10:00:00Z' WHERE batch_id = $1", [
  first.batch.batchId,
]);

interface Listed {
  verifications: {
    id: string;
    line: number;
    state: string;
    mode: string;
    model: string | null;
    decision: { label: string } | null;
    why: { reason: string; meaning: string } | null;
    scores: object | null;
    identity: { score: number } | null;
  }[];
  next: string | null;
  code?: string;
}

const list = (query: string) => viewer.json<Listed>(`/api/verifications?${query}`);
const idsOf = async (query: string) => (await list(query)).verifications.map(({ id }) => id);
const [authentic, replayed, silent, damaged] = first.ids as [string, string, string, string];

describe('a search for an id', () => {
  it('leads to the verification or the batch that has it', async () => {
    const find = (text: string) => viewer.json('/api/find', { method: 'POST', body: JSON.stringify({ text }) });
    expect(await find(` ${authentic.toUpperCase()} `)).toEqual({ href: `/verifications/${authentic}` });
    expect(await find(first.batch.id)).toEqual({ href: `/batches/${first.batch.id}` });
    expect(await find('00000000-0000-4000-8000-000000000000')).toEqual({ href: null });
  });
});

describe('the list of verifications', () => {
  it('has those of all clients, the newest first', async () => {
    expect(await idsOf('')).toEqual([waiting.ids[0], demo.ids[0], damaged, silent, replayed, authentic]);
  });

  it.each([
    ['state=performed', [demo.ids[0], replayed, authentic]],
    ['state=queued', [waiting.ids[0]]],
    ['state=error', [damaged]],
    ['label=replayed', [replayed]],
    ['label=synthesized&mode=webDemo', [demo.ids[0]]],
    ['label=authentic&mode=webDemo', []],
    ['mode=webDemo', [demo.ids[0]]],
    ['mode=api&state=performed', [replayed, authentic]],
    ['model=phone/V1.1&label=authentic', [authentic]],
    ['model=digital/v3', []],
    [`batch=${first.batch.id}`, [damaged, silent, replayed, authentic]],
    [`batch=${first.batch.id}&mode=webDemo`, []],
    ['from=2026-03-01&to=2026-03-01', [damaged, silent, replayed, authentic]],
    ['from=2026-03-01T10:00:01Z&to=2026-03-01', []],
    ['from=2026-03-02&mode=webDemo', [demo.ids[0]]],
    ['to=2026-02-28', []],
    ['from=2100-01-01', []],
  ])('narrowed to %s has what fits', async (query, ids) => {
    expect(await idsOf(query)).toEqual(ids);
  });

  it.each([
    ['', [waiting.ids[0], demo.ids[0], damaged, silent, replayed, authentic]],
    ['mode=webDemo', [demo.ids[0]]],
    [`batch=${first.batch.id}`, [damaged, silent, replayed, authentic]],
  ])('is read in pages without a gap, narrowed to "%s"', async (filter, ids) => {
    const seen: string[] = [];
    for (let before = ''; ;) {
      const page = await list(`${filter}&limit=1${before === '' ? '' : `&before=${before}`}`);
      seen.push(...page.verifications.map(({ id }) => id));
      if (page.next === null) break;
      before = page.next;
    }
    expect(seen).toEqual(ids);
  });

  it('says why there is no score, in words, and follows what happens to an item', async () => {
    const { verifications } = await list('state=error');
    expect(verifications[0]).toMatchObject({
      scores: null,
      decision: null,
      why: {
        reason: 'audio_damaged',
        meaning: 'The audio data contradict themselves, or hold no sample.',
        retryHelps: false,
      },
    });
  });

  it.each([
    'state=good',
    'label=fake',
    'mode=web',
    'limit=0',
    'limit=201',
    'before=1',
    'before=0.0',
    'from=yesterday',
    'model=a%20b',
    'color=red',
  ])('refuses %s with a typed error', async (query) => {
    const response = await viewer.fetch(`/api/verifications?${query}`);
    expect([response.status, ((await response.json()) as Listed).code]).toEqual([400, 'parameter_invalid']);
  });

  it('knows no batch of another name', async () => {
    expect((await list('batch=nonsense')).code).toBe('batch_unknown');
  });
});

describe('a verification', () => {
  it('has its facts, windows, and the error rates of the card of its model', async () => {
    const detail = await viewer.json(`/api/verifications/${replayed}`);
    expect(detail).toMatchObject({
      id: replayed,
      state: 'performed',
      mode: 'api',
      model: 'phone/v1.1',
      batch: first.batch.id,
      owner: 'Test',
      decision: { label: 'replayed', thresholds: { synthesis: 0.5, replay: 0.4 } },
      recording: { format: 'wav', codec: 'pcm_s16le', deletedAt: null },
      identities: [],
    });
    expect(detail['windows']).toHaveLength(2);
    expect(detail).toMatchObject({
      figures: {
        model: 'phone/v1.1',
        scores: [{ score: 'synthesis', atThreshold: { miss: expect.any(Number) as number } }, { score: 'replay' }],
      },
    });
  });

  it('has the identity scores of comparisons of the same audio', async () => {
    const print = await db.query<{ voiceprint_id: number; public_id: string }>(
      "INSERT INTO voiceprint (owner, subject, model, model_sha256, recordings, voice_seconds, consent_reference, consent_at, consent_recorded_by, sealed_embedding, wrapped_key, master_key_id) VALUES ('bank', 'customer 7', 'voiceprint/1', 'x', 3, 12, 'ticket', now(), 'test', '', '', 'k') RETURNING voiceprint_id, public_id",
    );
    await db.query(
      "INSERT INTO voice_verification (voiceprint_id, audio_sha256, identity, decision, verified_by) VALUES ($1, $2, 0.93, $3, 'test')",
      [print.rows[0]!.voiceprint_id, first.digests[0], { label: 'match', identityThreshold: 0.6 }],
    );
    expect(await viewer.json(`/api/verifications/${authentic}`)).toMatchObject({
      identities: [
        { voiceprint: print.rows[0]!.public_id, subject: 'customer 7', score: 0.93, threshold: 0.6, label: 'match' },
      ],
    });
    expect((await list('label=authentic')).verifications[0]).toMatchObject({
      identity: { score: 0.93, threshold: 0.6 },
    });
  });

  it.each(['1', 'nonsense', '00000000-0000-4000-8000-000000000000', '%00'])('of the id %s is unknown', async (id) => {
    for (const path of ['', '/live', '/waveform', '/audio', '/playback']) {
      const response = await viewer.fetch(`/api/verifications/${id}${path}`);
      expect([response.status, ((await response.json()) as Listed).code]).toEqual([404, 'verification_unknown']);
    }
  });
});

describe('the recording of a verification', () => {
  const audio = (range?: string, headers: Record<string, string> = {}) =>
    viewer.fetch(`/api/verifications/${authentic}/audio`, {
      headers: { ...(range === undefined ? {} : { Range: range }), ...headers },
    });
  const size = 44 + 5 * 8000 * 2;

  it('is drawn by a child process, with the voice that its model detects', async () => {
    const waveform = await viewer.json<{
      durationSeconds: number;
      bucketSeconds: number;
      channels: { channel: number; lows: number[]; highs: number[]; voice: [number, number][] }[];
    }>(`/api/verifications/${authentic}/waveform`);
    expect(waveform.durationSeconds).toBe(5);
    const [channel] = waveform.channels;
    expect(channel!.lows.length).toBe(Math.ceil(5 / waveform.bucketSeconds));
    expect(channel!.highs).toHaveLength(channel!.lows.length);
    expect(channel!.voice.length).toBeGreaterThan(0);
    for (const [start, end] of channel!.voice) expect([start >= 0, start < end, end <= 5]).toEqual([true, true, true]);
  });

  it('is not played where that cannot be recorded', async () => {
    await withoutRecordOf(db, 'listen_to_recording', async () => {
      for (let request = 0; request < 2; request++) expect((await audio()).status).toBe(500);
    });
  });

  it('is sent whole, and in the part that is asked for', async () => {
    const whole = await audio();
    expect([
      whole.status,
      whole.headers.get('content-type'),
      whole.headers.get('accept-ranges'),
      whole.headers.get('content-length'),
    ]).toEqual([200, 'audio/wav', 'bytes', String(size)]);
    const bytes = Buffer.from(await whole.arrayBuffer());
    const part = await audio('bytes=10-19');
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 10-19/${size}`]);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(10, 20));
    const tail = await audio('bytes=-4');
    expect(Buffer.from(await tail.arrayBuffer())).toEqual(bytes.subarray(-4));
    expect((await audio('bytes=10-19', { 'If-Range': '"other"' })).status).toBe(200);
  });

  it('has no part beyond its end', async () => {
    const response = await audio(`bytes=${size}-`);
    expect([response.status, response.headers.get('content-range'), ((await response.json()) as Listed).code]).toEqual([
      416,
      `bytes */${size}`,
      'range_not_satisfiable',
    ]);
  });

  it('is listened to once in the audit trail, however many parts a browser asks for', async () => {
    const { rows } = await db.query<{ actor: string; object: string; detail: object }>(
      "SELECT actor, object, detail FROM console_event WHERE action = 'listen_to_recording'",
    );
    expect(rows).toEqual([
      { actor: 'viewer', object: `recording ${first.digests[0]}`, detail: { verification: authentic } },
    ]);
  });

  it('is not played before it was opened', async () => {
    expect((await viewer.json<Listed>(`/api/verifications/${waiting.ids[0]}/audio`)).code).toBe('recording_refused');
  });

  it('is deleted by an operator with a reason, and is gone for everybody', async () => {
    const path = `/api/recordings/${first.digests[1]}`;
    const remove = (client: typeof operator, reason: string) =>
      client.fetch(path, { method: 'DELETE', body: JSON.stringify({ reason }) });
    expect((await remove(viewer, 'x')).status).toBe(403);
    expect((await remove(reviewer, 'x')).status).toBe(403);
    expect(await (await remove(operator, ' ')).json()).toMatchObject({ code: 'audio_request_invalid' });
    await withoutRecordOf(db, 'delete_recording', async () => expect((await remove(operator, 'x')).status).toBe(500));
    expect((await viewer.fetch(`/api/verifications/${replayed}/audio`)).status).toBe(200);
    expect(await (await remove(operator, 'Request of the caller')).json()).toMatchObject({ deleted: true });
    expect(await (await remove(operator, 'again')).json()).toMatchObject({
      deleted: false,
      reason: 'Request of the caller',
    });
    for (const what of ['audio', 'playback', 'waveform'])
      expect((await viewer.json<Listed>(`/api/verifications/${replayed}/${what}`)).code).toBe('recording_unknown');
    expect(await viewer.json(`/api/verifications/${replayed}`)).toMatchObject({
      state: 'performed',
      recording: { deletedWhy: 'Request of the caller' },
    });
    const { rows } = await db.query(
      "SELECT actor, object, detail FROM console_event WHERE action = 'delete_recording'",
    );
    expect(rows).toEqual([
      { actor: 'operator', object: `recording ${first.digests[1]}`, detail: { reason: 'Request of the caller' } },
    ]);
    expect(
      (await operator.json<Listed>('/api/recordings/nonsense', { method: 'DELETE', body: '{"reason":"x"}' })).code,
    ).toBe('parameter_invalid');
    expect(
      (await operator.json<Listed>(`/api/recordings/${'0'.repeat(64)}`, { method: 'DELETE', body: '{"reason":"x"}' }))
        .code,
    ).toBe('recording_unknown');
  });

  it('whose file is not in the directory of the console is an error that says so', async () => {
    await rm(join(stateDir, 'audio', first.digests[2]!.slice(0, 2), first.digests[2]!));
    for (const what of ['audio', 'playback', 'waveform'])
      expect(await viewer.json(`/api/verifications/${silent}/${what}`)).toMatchObject({
        code: 'recording_unknown',
        detail: expect.stringContaining('not in the audio directory') as string,
      });
  });
});
