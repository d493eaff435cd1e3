import { beforeAll, describe, expect, it } from 'vitest';
import { SUBMITTED_FILES } from '../../../pipelines/branding/submitted-file.ts';
import { fresh, owner, profile } from '../../support/branding.ts';
import { letterFile } from '../../support/letter-file.ts';
import { carryOut, testMasterKey } from '../support/letters.ts';
import { logIn, useConsole, type ConsoleClient } from '../support/console-process.ts';

const running = await useConsole({ LETTER_MASTER_KEY: testMasterKey });
const { db } = running.database;

interface Answer {
  readonly operationId?: number;
  readonly repeated?: boolean;
  readonly code?: string;
  readonly detail?: string;
}

describe('requests for branding in the console', () => {
  let reviewer: ConsoleClient;
  let viewer: ConsoleClient;
  const { handle, phones } = fresh(3);

  beforeAll(async () => {
    [viewer, reviewer] = await Promise.all([logIn(running, 'viewer'), logIn(running, 'reviewer')]);
  });

  function send(
    fields: Record<string, string>,
    files: Record<string, Uint8Array | string> = {},
    client = reviewer,
  ): Promise<Answer> {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    for (const [name, content] of Object.entries(files))
      form.append(name, new Blob([typeof content === 'string' ? content : new Uint8Array(content)]), `${name}.bin`);
    return client.json<Answer>('/api/operations', { method: 'POST', body: form });
  }

  const add = { kind: 'add_managed_brand', owner, key: 'first', request: JSON.stringify({ handle, brand: profile }) };

  it('are taken once under one key, and refused when another one comes under it', async () => {
    const first = await send(add);
    expect(first).toMatchObject({ repeated: false });
    expect(await send(add)).toEqual({ operationId: first.operationId, repeated: true });
    expect(
      await send({ ...add, request: JSON.stringify({ handle, brand: { ...profile, displayName: 'Another' } }) }),
    ).toMatchObject({ code: 'idempotency_conflict' });
    const { rows } = await db.query("SELECT FROM console_event WHERE action = 'request_branding'");
    expect(rows).toHaveLength(1);
    await carryOut(db, first.operationId!);
    expect(await viewer.json(`/api/operations/${first.operationId}`)).toMatchObject({
      state: 'done',
      requestedBy: 'console reviewer',
      result: { outcome: 'accepted', brand: { handle } },
    });
  });

  it('are submitted by reviewers alone', async () => {
    expect(await send({ ...add, key: 'viewer' }, {}, viewer)).toMatchObject({ code: 'forbidden' });
  });

  it('name each field that is wrong', async () => {
    const answer = await send({
      ...add,
      key: 'wrong',
      request: JSON.stringify({ handle: 'other', brand: { ...profile, displayName: '1234', country: 'XX' } }),
    });
    expect(answer.code).toBe('brand_request_invalid');
    expect(answer.detail).toMatch(/brand\.displayName: has no letter.*; .*brand\.country: /);
    expect(await send({ ...add, key: 'owner', owner: '' })).toMatchObject({
      code: 'brand_request_invalid',
      detail: expect.stringContaining('owner: is missing'),
    });
    expect(await send({ ...add, key: 'json', request: 'not json' })).toMatchObject({ code: 'brand_request_invalid' });
    expect(
      await send({
        ...add,
        key: 'unknown',
        kind: 'update_managed_brand',
        owner: '',
        request: JSON.stringify({ handle: 'not-there' }),
      }),
    ).toMatchObject({ code: 'brand_unknown' });
  });

  it('take a letter and a CSV within their limits, and no other file', async () => {
    expect(
      await send({ ...add, key: 'large' }, { letter: new Uint8Array(SUBMITTED_FILES.letter.bytesMax + 1) }),
    ).toMatchObject({ code: 'letter_file_invalid' });
    expect(
      await send({ ...add, key: 'larger' }, { letter: new Uint8Array(SUBMITTED_FILES.numbers.bytesMax + 2) }),
    ).toMatchObject({ code: 'upload_too_large' });
    expect(await send({ ...add, key: 'other' }, { picture: 'x' })).toMatchObject({ code: 'parameter_invalid' });
    expect((await reviewer.fetch('/api/operations', { method: 'POST', body: '{}' })).status).toBe(400);
  });

  it('with a CSV say which rows were refused and why, also as a file', async () => {
    const csv = [
      'phone,note',
      ...phones.map((phone) => `${phone},main line`),
      `${phones[0]},again`,
      '"nonsense, quoted",x',
      '',
    ].join('\n');
    const { operationId } = await send(
      { kind: 'add_phone_number', key: 'csv', request: JSON.stringify({ handle }) },
      {
        numbers: csv,
        letter: letterFile(phones, {
          signature: 'J. Sample',
          attachment: `The attached CSV lists them from ${phones[0]} to ${phones[2]}, 3 numbers.`,
        }),
      },
    );
    const live = await viewer.fetch(`/api/operations/${operationId}/live`);
    const [result, events] = await Promise.all([carryOut(db, operationId!), live.text()]);
    expect(result.numbers).toMatchObject({ given: 5, accepted: 3, rejected: 2 });
    expect(events.match(/^event: (\w+)$/gm)).toEqual(['event: value', 'event: value', 'event: end']);
    expect(events).toContain('"state":"queued"');
    const refused = await viewer.json<{ rows: object[]; next: string | null }>(
      `/api/operations/${operationId}/rows?refused=1&limit=1`,
    );
    expect(refused).toMatchObject({ rows: [{ line: 5, phone: phones[0], outcome: 'number_repeated' }], next: '5' });
    const file = await viewer.fetch(`/api/operations/${operationId}/rejects.csv`);
    expect(file.headers.get('content-disposition')).toBe(`attachment; filename="operation-${operationId}-rejects.csv"`);
    expect((await file.text()).split('\r\n')).toEqual([
      'line,phone,code,reason',
      expect.stringMatching(`^5,\\${phones[0]},number_repeated,`),
      expect.stringMatching(/^6,,phone_invalid,/),
      '',
    ]);
    const { rows } = await db.query("SELECT actor, object FROM console_event WHERE action = 'save_rejects'");
    expect(rows).toEqual([{ actor: 'viewer', object: `operation ${operationId}` }]);
  });

  it('are listed newest first, by brand, owner and what they came to', async () => {
    expect(await viewer.json(`/api/operations?handle=${handle}&limit=1`)).toMatchObject({
      operations: [{ kind: 'add_phone_number', handle, hasLetter: true, numbers: 5 }],
      next: expect.any(String),
    });
    expect(await viewer.json('/api/operations?standing=accepted')).toMatchObject({
      operations: [{ kind: 'add_managed_brand', owner }],
      next: null,
    });
    expect(await viewer.json(`/api/operations?owner=${encodeURIComponent('Somebody Else')}`)).toEqual({
      operations: [],
      next: null,
    });
    expect((await viewer.fetch('/api/operations/4711')).status).toBe(404);
    expect((await viewer.fetch('/api/operations/4711/live')).status).toBe(404);
  });
});
