import { readdir } from 'node:fs/promises';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { listEvents } from '../../../console/access/audit.ts';
import { uploadsDirectory } from '../../../console/http/uploads.ts';
import { logIn, useConsole, type ConsoleClient } from '../support/console-process.ts';
import { withoutRecordOf } from '../support/broken-trail.ts';
import { enrolmentOf, formOf, readerA, readerAAgain, readerB } from '../support/voice-form.ts';

const running = await useConsole({ AUDIO_BYTES_MAX: String(1024 * 1024) });
const { db } = running.database;

let [viewer, reviewer, operator]: ConsoleClient[] = [];
let id: string;

const enrol = async (client: ConsoleClient, fields: Record<string, string>, files: readonly string[]) => {
  const response = await client.fetch('/api/voiceprints', { method: 'POST', body: await formOf(fields, files) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const compare = async (client: ConsoleClient, files: readonly string[], fields: Record<string, string> = {}) => {
  const response = await client.fetch(`/api/voiceprints/${id}/comparisons`, {
    method: 'POST',
    body: await formOf(fields, files),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const destroy = async (client: ConsoleClient, body: object) =>
  client.fetch(`/api/voiceprints/${id}`, { method: 'DELETE', body: JSON.stringify(body) });

beforeAll(async () => {
  [viewer, reviewer, operator] = [
    await logIn(running, 'viewer'),
    await logIn(running, 'reviewer'),
    await logIn(running, 'operator'),
  ];
  const { status, body } = await enrol(reviewer!, enrolmentOf('customer-1'), readerA);
  expect({ status, body }).toMatchObject({
    status: 201,
    body: { subject: 'customer-1', owner: 'acme-bank', recordings: 3 },
  });
  id = body['id'] as string;
});

describe('enrolling', () => {
  it('is kept with consent and who entered it, and never shows the voice', async () => {
    const shown = await viewer!.json(`/api/voiceprints/${id}`);
    expect(shown).toMatchObject({
      consent: { reference: 'form 2026-118', at: '2026-05-02T00:00:00.000Z', recordedBy: 'console reviewer' },
      events: [{ action: 'enrolled', actor: 'console reviewer' }],
    });
    expect(JSON.stringify(shown)).not.toMatch(/embedding|centroid|wrapped|sealed/);
    expect((await listEvents(db, { limit: 10 })).find(({ action }) => action === 'enrol_voice')).toMatchObject({
      actor: 'reviewer',
      object: `voiceprint ${id}`,
      detail: { owner: 'acme-bank', recordings: 3 },
    });
  });

  it('keeps no recording', async () => {
    expect(await readdir(uploadsDirectory(running.stateDir))).toEqual([]);
  });

  it('says by number which recording cannot be used', async () => {
    const { status, body } = await enrol(reviewer!, enrolmentOf('customer-2'), [
      readerA[0]!,
      'samples/recordings/dial-tone.wav',
      readerA[1]!,
    ]);
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { code: 'voiceprint_refused', detail: expect.stringContaining('recording 2 (dial-tone.wav)') as string },
    });
    expect(
      await enrol(reviewer!, enrolmentOf('customer-2'), [
        'samples/recordings/not-a-recording.wav',
        readerA[0]!,
        readerA[1]!,
      ]),
    ).toMatchObject({
      status: 400,
      body: {
        code: 'voiceprint_refused',
        detail: expect.stringContaining('recording 1 (not-a-recording.wav)') as string,
      },
    });
    expect(await enrol(reviewer!, enrolmentOf('customer-2'), [readerA[0]!, readerA[0]!, readerA[1]!])).toMatchObject({
      body: {
        code: 'voiceprint_refused',
        detail: 'recording 2 (reader-a-1.wav) is the same recording as recording 1 (reader-a-1.wav).',
      },
    });
  });

  it('takes three recordings to twenty', async () => {
    expect(await enrol(reviewer!, enrolmentOf('customer-2'), readerA.slice(0, 2))).toMatchObject({
      status: 400,
      body: { code: 'voiceprint_refused', detail: '2 of at least 3 recordings were given.' },
    });
    expect(await enrol(reviewer!, enrolmentOf('customer-2'), Array<string>(21).fill(readerA[0]!))).toMatchObject({
      status: 400,
      body: { code: 'voiceprint_refused' },
    });
    expect(await enrol(reviewer!, enrolmentOf('customer-2'), Array<string>(22).fill(readerA[0]!))).toMatchObject({
      status: 413,
      body: { code: 'upload_too_large' },
    });
  });

  it.each([
    ['without the word that consent was given', { consentCovers: '' }, 'parameter_invalid'],
    ['without where the consent is kept', { consentReference: ' ' }, 'consent_required'],
    ['with a consent of the future', { consentAt: '2999-01-01' }, 'consent_required'],
    ['with a day that there is none', { consentAt: '2026-02-30' }, 'parameter_invalid'],
    ['without a person', { subject: '' }, 'usage_invalid'],
    ['for a person who has a voiceprint', { subject: 'customer-1' }, 'voiceprint_exists'],
  ])('is refused %s, before a recording is opened', async (_how, changes, code) => {
    expect((await enrol(reviewer!, enrolmentOf('customer-2', changes), readerA)).body).toMatchObject({ code });
  });

  it('is refused to viewers', async () => {
    expect(await enrol(viewer!, enrolmentOf('customer-2'), readerA)).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
  });
});

describe('comparing', () => {
  it('answers identity, synthesis and replay together, with thresholds and what to do', async () => {
    const { status, body } = await compare(reviewer!, [readerAAgain], { model: 'phone' });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        voiceprint: id,
        model: 'phone/v8.2',
        voiceModel: 'voiceprint/2',
        scoreDirection: 'higher-is-authentic',
        identity: expect.any(Number) as number,
        identityThreshold: expect.any(Number) as number,
        scores: { synthesis: expect.any(Number) as number, replay: expect.any(Number) as number },
        thresholds: { synthesis: expect.any(Number) as number, replay: expect.any(Number) as number },
        label: expect.stringMatching(/^(match|copySuspected|mismatch|undecided)$/) as string,
        advice: expect.stringMatching(/\.$/) as string,
      },
    });
    const { comparisons } = await viewer!.json<{ comparisons: object[] }>(`/api/voiceprints/${id}/comparisons`);
    expect(comparisons[0]).toMatchObject({
      verificationId: body['verificationId'],
      verifiedBy: 'console reviewer',
      identity: body['identity'],
      decision: { label: body['label'] },
    });
  });

  it('distinguishes another voice, and a recording without one', async () => {
    expect((await compare(reviewer!, [readerB])).body).toMatchObject({ label: 'mismatch' });
    expect((await compare(reviewer!, ['samples/recordings/dial-tone.wav'])).body).toMatchObject({
      label: 'undecided',
      identity: null,
      identityReason: expect.any(String) as string,
    });
  });

  it('lists earlier ones by pages', async () => {
    const first = await viewer!.json<{ comparisons: { verificationId: string }[]; next: string }>(
      `/api/voiceprints/${id}/comparisons?limit=2`,
    );
    const second = await viewer!.json<{ comparisons: { verificationId: string }[]; next: null }>(
      `/api/voiceprints/${id}/comparisons?limit=2&before=${first.next}`,
    );
    expect(first.comparisons).toHaveLength(2);
    expect(second).toMatchObject({ comparisons: [{ verificationId: expect.any(String) as string }], next: null });
  });

  it('is refused with a model that was removed, without a recording, and for a voiceprint that there is none', async () => {
    expect(await compare(reviewer!, [readerB], { model: 'phone/v5' })).toMatchObject({
      status: 410,
      body: { code: 'model_removed', hint: 'phone/v6 takes its place.' },
    });
    expect(await compare(reviewer!, [])).toMatchObject({ status: 400, body: { code: 'recording_refused' } });
    expect(await viewer!.json('/api/voiceprints/00000000-0000-4000-8000-000000000000')).toMatchObject({
      code: 'voiceprint_unknown',
      status: 404,
    });
    expect(await viewer!.json('/api/voiceprints/1')).toMatchObject({ code: 'parameter_invalid', status: 400 });
  });
});

describe('an upload', () => {
  it('of several recordings is refused if they are larger together than one may be', async () => {
    const form = await formOf(enrolmentOf('customer-8'));
    for (const name of ['a', 'b', 'c']) form.append('recording', new File([new Uint8Array(400_000)], `${name}.wav`));
    const response = await reviewer!.fetch('/api/voiceprints', { method: 'POST', body: form });
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status: 413,
      body: { code: 'upload_too_large', detail: 'The files are larger than 1048576 bytes together.' },
    });
  });

  it('is taken at AUDIO_BYTES_MAX, and refused one byte past it', async () => {
    const send = async (bytes: number) => {
      const form = new FormData();
      form.append('recording', new File([new Uint8Array(bytes)], 'big.wav'));
      return (await (
        await reviewer!.fetch(`/api/voiceprints/${id}/comparisons`, { method: 'POST', body: form })
      ).json()) as { code?: string };
    };
    expect(await send(1024 * 1024)).toMatchObject({ label: 'undecided' });
    expect(await send(1024 * 1024 + 1)).toMatchObject({ code: 'upload_too_large' });
  });

  it('leaves no folder behind when the browser breaks off', async () => {
    const left = new AbortController();
    const endless = new ReadableStream({
      start: (controller) =>
        controller.enqueue(
          new TextEncoder().encode(
            '--x\r\nContent-Disposition: form-data; name="recording"; filename="a.wav"\r\n\r\nRIFF',
          ),
        ),
    });
    const sent = fetch(`${running.url}/api/voiceprints/${id}/comparisons`, {
      method: 'POST',
      body: endless,
      duplex: 'half',
      signal: left.signal,
      headers: {
        Cookie: reviewer!.cookie,
        Origin: running.url,
        'X-CSRF-Token': reviewer!.csrfToken,
        'Content-Type': 'multipart/form-data; boundary=x',
      },
    } as RequestInit);
    const folders = () => readdir(uploadsDirectory(running.stateDir));
    await vi.waitFor(async () => expect(await folders()).toHaveLength(1), 10_000);
    left.abort();
    await expect(sent).rejects.toThrow();
    await vi.waitFor(async () => expect(await folders()).toEqual([]), 10_000);
    expect((await compare(reviewer!, [])).status).toBe(400); // its turn was given back
  });
});

describe('the list', () => {
  it('is filtered by owner, has pages, and shows deleted ones on demand', async () => {
    expect(await viewer!.json('/api/voiceprints?owner=acme-bank&limit=1')).toMatchObject({
      voiceprints: [{ id }],
      next: null,
    });
    expect(await viewer!.json('/api/voiceprints?owner=other')).toEqual({ voiceprints: [], next: null });
    expect(await viewer!.json('/api/voiceprints?limit=1000')).toMatchObject({ code: 'parameter_invalid' });
  });
});

describe('deleting', () => {
  it('is for operators, with a reason', async () => {
    expect((await destroy(reviewer!, { reason: 'x' })).status).toBe(403);
    await withoutRecordOf(db, 'delete_voiceprint', async () =>
      expect((await destroy(operator!, { reason: 'x' })).status).toBe(500),
    );
    expect(await viewer!.json(`/api/voiceprints/${id}`)).toMatchObject({ deletedAt: null });
    expect(await (await destroy(operator!, { reason: ' ' })).json()).toMatchObject({ code: 'reason_required' });
    expect(await (await destroy(operator!, { reason: 'Consent withdrawn' })).json()).toMatchObject({
      id,
      deletedAt: expect.any(String) as string,
    });
    expect(await viewer!.json(`/api/voiceprints/${id}`)).toMatchObject({
      deletedWhy: 'Consent withdrawn',
      events: [
        { action: 'deleted', actor: 'console operator', reason: 'Consent withdrawn' },
        { action: 'verified' },
        { action: 'verified' },
        { action: 'verified' },
        { action: 'verified' },
        { action: 'enrolled' },
      ],
    });
    expect(await (await destroy(operator!, { reason: 'again' })).json()).toMatchObject({
      code: 'voiceprint_unknown',
      status: 404,
    });
    expect((await compare(reviewer!, [readerB])).body).toMatchObject({ code: 'voiceprint_unknown' });
    expect((await listEvents(db, { limit: 5 })).map(({ action }) => action)).toContain('delete_voiceprint');
  });
});
