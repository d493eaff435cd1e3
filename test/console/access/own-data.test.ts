import { beforeAll, describe, expect, it } from 'vitest';
import { addUser, changeRole } from '../../../console/access/users.ts';
import type { RouteRule } from '../../../console/server.ts';
import { readBrand } from '../../../pipelines/branding/brand/brand-record.ts';
import { ask, fresh, letterForReview, owner, profile, signer } from '../../support/branding.ts';
import { useConsoleServer } from '../support/console-server.ts';

const server = await useConsoleServer();
const { db } = server;
const password = 'a pass phrase that is long';

interface Data {
  readonly handle: string;
  readonly phone: string;
  readonly brandId: number;
  readonly letterId: number;
  readonly operationId: number;
}

/** A brand of an owner with its letter, number and request. */
async function dataOf(of: string): Promise<Data> {
  const { handle, phones } = fresh(1);
  const { letter, operationId } = await ask(
    db,
    'add_managed_brand',
    { handle, brand: { ...profile, taxId: '00-1234567' }, numbers: phones },
    { owner: of, letter: letterForReview(phones) },
  );
  return {
    handle,
    phone: phones[0]!,
    letterId: letter!.letterId,
    operationId,
    brandId: (await readBrand(db, handle)).brandId,
  };
}

const stranger = 'Another Agency';
const rules = server.app.routeRules.filter(({ access, method }) => access !== 'nobody' && method !== 'HEAD');
let own: Data;
let other: Data;
let agency: Record<string, string>;

beforeAll(async () => {
  own = await dataOf(owner);
  other = await dataOf(stranger);
  agency = await server.session('agency');
});

const get = (url: string) => server.send({ method: 'GET', url, headers: agency });
const post = (url: string, payload: object) => server.send({ method: 'POST', url, payload, headers: agency });

/** A form as the pages send it. */
function sendForm(fields: Record<string, string>) {
  const boundary = 'form-of-the-test';
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return server.send({
    method: 'POST',
    url: '/api/operations',
    payload: `${parts.join('')}--${boundary}--\r\n`,
    headers: { ...agency, 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  });
}

/** Nothing of the other owner is in a text: no handle, number, or name. */
function hasNothingOfOthers(text: string): void {
  for (const secret of [other.handle, other.phone, stranger]) expect(text).not.toContain(secret);
}

/** Every route that an agency may use: what it is given of its own, and what becomes of the ids of others. A new route needs a row here. */
const checks: Record<string, () => Promise<void>> = {
  'DELETE /api/session': async () => {
    const headers = await server.session('agency');
    expect((await server.send({ method: 'DELETE', url: '/api/session', headers })).statusCode).toBe(200);
  },
  'GET /api/brands': async () => {
    const answer = await get('/api/brands');
    expect(answer.json()).toMatchObject({ brands: [{ handle: own.handle, owner }] });
    hasNothingOfOthers(answer.body);
    expect((await get(`/api/brands?owner=${encodeURIComponent(stranger)}`)).json()).toMatchObject({ brands: [] });
  },
  'GET /api/brands/:handle': async () => {
    expect((await get(`/api/brands/${own.handle}`)).json()).toMatchObject({
      handle: own.handle,
      can: { decide: false, suspend: false, resume: false, withdraw: false },
      letters: [{ decidedBy: null }],
    });
    await isUnknown(`/api/brands/${other.handle}`, '/api/brands/not-there', other.handle);
  },
  'GET /api/brands/:handle/numbers': async () => {
    expect((await get(`/api/brands/${own.handle}/numbers`)).json()).toMatchObject({
      numbers: [{ phone: own.phone, proof: { provenUntil: null, pending: null } }],
    });
    await isUnknown(`/api/brands/${other.handle}/numbers`, '/api/brands/not-there/numbers', other.handle);
  },
  'GET /api/letters': async () => {
    const answer = await get('/api/letters');
    expect(answer.json()).toMatchObject({ letters: [{ letterId: own.letterId }] });
    hasNothingOfOthers(answer.body);
    expect((await get(`/api/letters?brand=${other.handle}`)).json()).toMatchObject({ letters: [] });
  },
  'GET /api/letters/:id': async () => {
    expect((await get(`/api/letters/${own.letterId}`)).json()).toMatchObject({ letterId: own.letterId });
    await isUnknown(`/api/letters/${other.letterId}`, '/api/letters/999999', String(other.letterId));
  },
  'GET /api/letters/:id/numbers': async () => {
    expect((await get(`/api/letters/${own.letterId}/numbers`)).json()).toMatchObject({
      numbers: [{ phone: own.phone }],
    });
    await isUnknown(`/api/letters/${other.letterId}/numbers`, '/api/letters/999999/numbers', String(other.letterId));
  },
  'GET /api/operations': async () => {
    const answer = await get('/api/operations');
    expect(answer.body).toContain(own.handle);
    hasNothingOfOthers(answer.body);
    expect((await get(`/api/operations?owner=${encodeURIComponent(stranger)}`)).json()).toMatchObject({
      operations: [],
    });
    expect((await get(`/api/operations?handle=${other.handle}`)).json()).toMatchObject({ operations: [] });
  },
  'POST /api/operations': async () => {
    const request = (handle: string) => JSON.stringify({ handle, brand: profile });
    const added = fresh(0).handle;
    const answer = await sendForm({ kind: 'add_managed_brand', key: 'own', request: request(added) });
    expect([answer.statusCode, answer.json()]).toMatchObject([200, { repeated: false }]);
    expect(
      (await get(`/api/operations/${(answer.json() as { operationId: number }).operationId}`)).json(),
    ).toMatchObject({ owner, requestedBy: 'console agency' });
    expect(
      (await sendForm({ kind: 'add_managed_brand', key: 'k2', owner: stranger, request: request('theirs') })).json(),
    ).toMatchObject({ status: 403, code: 'forbidden' });
    for (const [kind, more] of [
      ['update_managed_brand', {}],
      ['add_phone_number', { numbers: [other.phone] }],
    ] as const) {
      expect(
        (await sendForm({ kind, key: `k-${kind}`, request: JSON.stringify({ handle: other.handle, ...more }) })).json(),
      ).toMatchObject({ status: 404, code: 'brand_unknown' });
      expect(
        (
          await sendForm({
            kind,
            key: `k-${kind}`,
            owner: stranger,
            request: JSON.stringify({ handle: other.handle, ...more }),
          })
        ).json(),
      ).toMatchObject({ status: 403 });
    }
  },
  'GET /api/operations/:id': async () => {
    expect((await get(`/api/operations/${own.operationId}`)).json()).toMatchObject({ operationId: own.operationId });
    await isUnknown(`/api/operations/${other.operationId}`, '/api/operations/999999', String(other.operationId));
  },
  'GET /api/operations/:id/live': async () => {
    expect((await get(`/api/operations/${own.operationId}/live`)).body).toContain(own.handle);
    await isUnknown(
      `/api/operations/${other.operationId}/live`,
      '/api/operations/999999/live',
      String(other.operationId),
    );
  },
  'GET /api/operations/:id/rows': async () => {
    expect((await get(`/api/operations/${own.operationId}/rows`)).json()).toMatchObject({
      rows: [{ phone: own.phone }],
    });
    await isUnknown(
      `/api/operations/${other.operationId}/rows`,
      '/api/operations/999999/rows',
      String(other.operationId),
    );
  },
  'GET /api/operations/:id/rejects.csv': async () => {
    expect((await get(`/api/operations/${own.operationId}/rejects.csv`)).statusCode).toBe(200);
    await isUnknown(
      `/api/operations/${other.operationId}/rejects.csv`,
      '/api/operations/999999/rejects.csv',
      String(other.operationId),
    );
  },
  'POST /api/brands/:handle/letter-form': async () => {
    const answer = await post(`/api/brands/${own.handle}/letter-form`, { signer });
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/pdf']);
    expect((await post(`/api/brands/${other.handle}/letter-form`, { signer })).json()).toMatchObject({
      status: 404,
      code: 'brand_unknown',
    });
  },
  'GET /api/brands/:handle/letter-forms': async () => {
    const answer = await get(`/api/brands/${own.handle}/letter-forms`);
    expect([answer.statusCode, answer.json()]).toMatchObject([200, { next: null }]);
    hasNothingOfOthers(answer.body);
    await isUnknown(`/api/brands/${other.handle}/letter-forms`, '/api/brands/not-there/letter-forms', other.handle);
  },
  'POST /api/brands/:handle/letter-forms/revocation': async () => {
    const revoke = (handle: string, form: number) =>
      post(`/api/brands/${handle}/letter-forms/revocation`, { form, reason: 'a test' });
    expect((await post(`/api/brands/${own.handle}/letter-form`, { signer })).statusCode).toBe(200);
    const { forms } = (await get(`/api/brands/${own.handle}/letter-forms`)).json<{ forms: { formId: number }[] }>();
    const { formId } = forms[0]!;
    expect((await revoke(other.handle, formId)).json()).toMatchObject({ status: 404, code: 'brand_unknown' });
    expect((await revoke(own.handle, 999_999)).json()).toMatchObject({ status: 404, code: 'form_unknown' });
    expect((await revoke(own.handle, formId)).json()).toMatchObject({ formId });
  },
  'POST /api/brands/:handle/proofs': async () => {
    expect((await post(`/api/brands/${own.handle}/proofs`, {})).json()).toMatchObject({ code: 'number_calls_off' }); // it passes, up to a setting
    expect((await post(`/api/brands/${other.handle}/proofs`, {})).json()).toMatchObject({
      status: 404,
      code: 'brand_unknown',
    });
  },
  'POST /api/brands/:handle/proofs/confirm': async () => {
    expect(
      (await post(`/api/brands/${own.handle}/proofs/confirm`, { phone: own.phone, code: '12345678' })).json(),
    ).toMatchObject({ code: 'proof_unknown' });
    expect(
      (await post(`/api/brands/${other.handle}/proofs/confirm`, { phone: other.phone, code: '12345678' })).json(),
    ).toMatchObject({ status: 404, code: 'brand_unknown' });
  },
};

/** An id of another owner is answered as one of nothing, word by word. */
async function isUnknown(url: string, ofNothing: string, id: string): Promise<void> {
  const [answer, nothing] = [await get(url), await get(ofNothing)];
  expect([answer.statusCode, nothing.statusCode], url).toEqual([404, 404]);
  const plain = (body: string) =>
    body
      .replaceAll(id, 'ID')
      .replaceAll(/not-there|999999/g, 'ID')
      .replace(/"requestId":"[^"]*"/, '');
  expect(plain(answer.body)).toBe(plain(nothing.body));
}

/** A path of the route with the ids of some data. */
function pathOf({ url }: RouteRule, { handle, letterId }: Data): string {
  return url
    .replace(/:handle\b/, handle)
    .replace(/:id\b/, String(letterId))
    .replace(/:[a-zA-Z]+/g, '1')
    .replace('*', 'x');
}

describe('a user of an agency', () => {
  it('is refused by every route but those for agencies, also for its own brands', async () => {
    const others = rules.filter(({ forAgencies }) => !forAgencies);
    expect(others.length).toBeGreaterThan(50);
    const passed: string[] = [];
    for (const [at, rule] of others.entries()) {
      const body = rule.method === 'GET' ? {} : { payload: 'x', headers: { 'Content-Type': 'application/x-unknown' } };
      const answer = await server.send({
        method: rule.method as 'GET',
        url: pathOf(rule, own),
        remoteAddress: `10.1.${Math.floor(at / 100)}.1`,
        ...body,
        headers: { ...('headers' in body ? body.headers : {}), ...agency },
      });
      if (answer.statusCode !== 403) passed.push(`${rule.method} ${rule.url}: ${answer.statusCode}`);
      hasNothingOfOthers(answer.body);
    }
    expect(passed).toEqual([]);
  });

  it('has a check for every route that it may use', () => {
    expect(
      rules
        .filter(({ forAgencies }) => forAgencies)
        .map(({ method, url }) => `${method} ${url}`)
        .sort(),
    ).toEqual(Object.keys(checks).sort());
  });

  it.each(Object.keys(checks))('is given by %s what is its own, and of others as little as of nothing', (route) =>
    checks[route]!(),
  );

  it('cannot stream audio, and the refusal names its role', async () => {
    const stream = await server.send({
      method: 'GET',
      url: '/api/stream',
      headers: {
        ...agency,
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      },
    });
    expect(stream.statusCode).toBe(403);
    expect((await get('/api/session')).json()).toMatchObject({
      user: { name: 'agency', role: 'agency', owners: [owner] },
    });
  });

  it('sees the brands of each owner that it acts for, from the next request on', async () => {
    await changeRole(db, 'agency', 'agency', [owner, stranger]);
    expect((await get('/api/brands?prefix=brand-')).body).toContain(other.handle);
    await changeRole(db, 'agency', 'agency', [owner]);
    hasNothingOfOthers((await get('/api/brands')).body);
  });

  it('acts for an owner at least', async () => {
    await expect(addUser(db, { name: 'agnes', role: 'agency', password })).rejects.toMatchObject({
      code: 'console_user_invalid',
    });
    await expect(addUser(db, { name: 'agnes', role: 'agency', password, owners: [' '] })).rejects.toMatchObject({
      code: 'console_user_invalid',
    });
    expect(await addUser(db, { name: 'agnes', role: 'agency', password, owners: [owner, ` ${owner} `] })).toEqual({
      name: 'agnes',
      role: 'agency',
      owners: [owner],
    });
    await expect(changeRole(db, 'viewer', 'agency')).rejects.toMatchObject({ code: 'console_user_invalid' });
    expect(await changeRole(db, 'agnes', 'reviewer')).toMatchObject({ role: 'reviewer', owners: [owner] });
  });
});

describe('a reviewer', () => {
  const verdict = { approve: true, reason: 'looked at' };

  it('who acts for the owner sees why not to decide, and is refused', async () => {
    await db.query("INSERT INTO console_user_owner SELECT user_id, $1 FROM console_user WHERE name = 'reviewer'", [
      owner,
    ]);
    const headers = await server.session('reviewer');
    expect((await server.send({ method: 'GET', url: `/api/brands/${own.handle}`, headers })).json()).toMatchObject({
      whyNotDecide: 'reviewer acts for the owner of the brand. Another person decides it.',
    });
    expect((await server.send({ method: 'GET', url: `/api/brands/${other.handle}`, headers })).json()).toMatchObject({
      whyNotDecide: null,
    });
    expect(
      (
        await server.send({ method: 'POST', url: `/api/letters/${own.letterId}/decision`, payload: verdict, headers })
      ).json(),
    ).toMatchObject({ status: 403, code: 'decided_by_requester' });
    expect(
      (
        await server.send({ method: 'POST', url: `/api/letters/${other.letterId}/decision`, payload: verdict, headers })
      ).json(),
    ).toMatchObject({ state: 'approved' });
  });
});
