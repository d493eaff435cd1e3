import { METHODS } from 'node:http';
import { expect, it } from 'vitest';
import {
  brandDetailSchema,
  brandListSchema,
  brandNumberListSchema,
  letterListSchema,
  letterSchema,
} from '../../../api/reads/branding-schemas.ts';
import { formatCursor } from '../../../api/documents/cursor.ts';
import { problemSchema } from '../../../api/documents/schemas.ts';
import { useTestDatabase } from '../../support/database.ts';
import { addBrand, addLetter, addNumbers, phoneOf, publishNumbers, ruleVersion, secrets } from '../support/brands.ts';
import { openRaw, useTestApi } from '../support/running-api.ts';

const database = await useTestDatabase();
const { db } = database;
const { url, makeKey, key: cachesKey } = await useTestApi(database);

const northwind = await makeKey(['branding:read'], undefined, 'Northwind Agency');
const contoso = await makeKey(['branding:read'], undefined, 'Contoso Voice');
const nobody = await makeKey(['branding:read'], undefined, 'Nobody');
const ask = (path: string, key = northwind.key, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${url}${path}`, { method, headers: { authorization: `Bearer ${key}`, ...headers } });
const problemOf = async (response: Response) => {
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  const body = problemSchema.parse(await response.json());
  expect(body.status).toBe(response.status);
  return body;
};

const dental = await addBrand(db, {
  handle: 'northwind-dental',
  owner: northwind.client,
  pending: 'Northwind Smiles',
  profile: { dba: 'Northwind', logo: 'https://northwind.example/logo.png', relationship: 'agency' },
});
await addBrand(db, { handle: 'alpine-bank', owner: northwind.client, state: 'in_review', displayName: 'Alpine Bank' });
await addBrand(db, { handle: 'withdrawn-one', owner: northwind.client, state: 'withdrawn', pending: 'Never decided' });
const foreign = await addBrand(db, { handle: 'contoso-taxi', owner: contoso.client, displayName: 'Contoso Taxi' });
const findings = [
  { code: 'names_brand', severity: 'pass', message: 'The letter names the brand.', page: 1, line: 3 },
  { code: 'signed', severity: 'review', message: 'No signature was found. Sign the letter.', page: null, line: null },
];
const first = await addLetter(db, {
  brandId: dental,
  owner: northwind.client,
  state: 'rejected',
  validUntil: null,
  findings,
});
const second = await addLetter(db, {
  brandId: dental,
  owner: northwind.client,
  decidedBy: 'Pat Reviewer',
  validUntil: '2027-02-01T00:00:00Z',
  phones: [phoneOf(1), phoneOf(2), phoneOf(3)],
});
const third = await addLetter(db, {
  brandId: dental,
  owner: northwind.client,
  state: 'expiring',
  validUntil: '2027-01-01T00:00:00Z',
  phones: [phoneOf(1), phoneOf(4)],
});
const waiting = await addLetter(db, {
  brandId: dental,
  owner: northwind.client,
  state: 'in_review',
  decidedBy: null,
  validUntil: null,
  phones: [phoneOf(5)],
});
const foreignLetter = await addLetter(db, { brandId: foreign, owner: contoso.client });
await addNumbers(db, dental, { from: 1, to: 3 });
await addNumbers(db, dental, { from: 4, to: 4, state: 'suspended' });
await addNumbers(db, dental, { from: 5, to: 6, state: 'in_review' });
await addNumbers(db, foreign, { from: 10, to: 12 });
await publishNumbers(db, dental);

const dentalBrand = {
  handle: 'northwind-dental',
  state: 'approved',
  displayName: 'Northwind Dental',
  legalName: 'Northwind Dental LLC',
  dba: 'Northwind',
  website: 'https://northwind.example',
  country: 'US',
  callReasons: ['Appointments'],
  logo: 'https://northwind.example/logo.png',
  logoSha256: null,
  relationship: 'agency',
  pendingRevision: { revision: 2, displayName: 'Northwind Smiles' },
  createdAt: '2026-01-31T12:00:00.000Z',
  approvedAt: '2026-02-01T00:00:00.000Z',
  links: {
    self: '/v1/brands/northwind-dental',
    numbers: '/v1/brands/northwind-dental/numbers',
    letters: '/v1/brands/northwind-dental/letters',
  },
};

it('lists the brands of the client by handle, and those of no other', async () => {
  const { brands, next } = brandListSchema.strict().parse(await (await ask('/v1/brands')).json());
  expect(brands.map(({ handle }) => handle)).toEqual(['alpine-bank', 'northwind-dental', 'withdrawn-one']);
  expect(brands[1]).toEqual({ ...dentalBrand, changedAt: expect.any(String) });
  expect(brands[0]).toMatchObject({
    state: 'in_review',
    displayName: 'Alpine Bank',
    dba: null,
    pendingRevision: null,
    approvedAt: null,
  });
  expect(brands[2]).toMatchObject({ state: 'withdrawn', pendingRevision: null });
  expect(next).toBeNull();
  expect(
    brandListSchema.parse(await (await ask('/v1/brands', contoso.key)).json()).brands.map(({ handle }) => handle),
  ).toEqual(['contoso-taxi']);
  expect(await (await ask('/v1/brands', nobody.key)).json()).toEqual({ brands: [], next: null });
});

it('lists the brands in one state', async () => {
  const { brands } = brandListSchema.parse(await (await ask('/v1/brands?state=approved')).json());
  expect(brands.map(({ handle }) => handle)).toEqual(['northwind-dental']);
  expect(await (await ask('/v1/brands?state=draft')).json()).toEqual({ brands: [], next: null });
});

it('shows a brand with the counts of its numbers and letters', async () => {
  const brand = brandDetailSchema.strict().parse(await (await ask('/v1/brands/northwind-dental')).json());
  expect(brand).toEqual({
    ...dentalBrand,
    changedAt: expect.any(String),
    numbers: {
      total: 6,
      states: {
        submitted: 0,
        in_review: 2,
        verified: 3,
        unsuccessful: 0,
        permanently_rejected: 0,
        suspended: 1,
        expired: 0,
        removed: 0,
      },
    },
    letters: {
      total: 4,
      states: { submitted: 0, in_review: 1, approved: 1, rejected: 1, expiring: 1, expired: 0, withdrawn: 0 },
      inForceUntil: '2027-02-01T00:00:00.000Z',
      newest: {
        letterId: waiting,
        state: 'in_review',
        links: { self: `/v1/brands/northwind-dental/letters/${waiting}` },
      },
    },
  });
  const empty = brandDetailSchema.parse(await (await ask('/v1/brands/alpine-bank')).json());
  expect(empty).toMatchObject({ numbers: { total: 0 }, letters: { total: 0, inForceUntil: null, newest: null } });
});

it('lists the numbers of a brand with the end of the last letter that names each', async () => {
  const { numbers, next } = brandNumberListSchema
    .strict()
    .parse(await (await ask('/v1/brands/northwind-dental/numbers')).json());
  expect(next).toBeNull();
  expect(numbers.map(({ phone, state, liveUntil }) => [phone, state, liveUntil])).toEqual([
    [phoneOf(1), 'verified', '2027-02-01T00:00:00.000Z'],
    [phoneOf(2), 'verified', '2027-02-01T00:00:00.000Z'],
    [phoneOf(3), 'verified', '2027-02-01T00:00:00.000Z'],
    [phoneOf(4), 'suspended', null],
    [phoneOf(5), 'in_review', null],
    [phoneOf(6), 'in_review', null],
  ]);
  expect(numbers[0]).toEqual({
    phone: phoneOf(1),
    country: 'US',
    state: 'verified',
    callReason: null,
    submittedAt: expect.any(String),
    changedAt: expect.any(String),
    verifiedAt: '2026-03-01T00:00:00.000Z',
    liveUntil: '2027-02-01T00:00:00.000Z',
  });
  const verified = brandNumberListSchema.parse(
    await (await ask('/v1/brands/northwind-dental/numbers?state=suspended')).json(),
  );
  expect(verified.numbers.map(({ phone }) => phone)).toEqual([phoneOf(4)]);
});

it('gives no end to a number while its brand is suspended, since it is not published', async () => {
  const brandId = await addBrand(db, { handle: 'suspended-one', owner: nobody.client, state: 'suspended' });
  await addNumbers(db, brandId, { from: 20, to: 20 });
  await addLetter(db, { brandId, owner: nobody.client, phones: [phoneOf(20)] });
  const read = async () =>
    brandNumberListSchema.parse(await (await ask('/v1/brands/suspended-one/numbers', nobody.key)).json()).numbers[0]
      ?.liveUntil;
  expect(await read()).toBeNull();
  await db.query("UPDATE brand SET state = 'approved' WHERE brand_id = $1", [brandId]);
  await publishNumbers(db, brandId);
  expect(await read()).toBe('2027-03-01T00:00:00.000Z');
});

it('lists the letters of a brand, newest first, with their findings', async () => {
  const { letters, next } = letterListSchema
    .strict()
    .parse(await (await ask('/v1/brands/northwind-dental/letters')).json());
  expect(letters.map(({ letterId }) => letterId)).toEqual([waiting, third, second, first]);
  expect(next).toBeNull();
  expect(letters[3]).toEqual({
    letterId: first,
    state: 'rejected',
    submittedAt: '2026-03-01T07:00:00.000Z',
    ruleVersion,
    signedOn: '2026-02-28',
    validFrom: null,
    validUntil: null,
    decidedAt: '2026-03-01T08:00:00.000Z',
    decidedBy: 'rules',
    decisionReason: 'Every rule passed.',
    format: 'pdf',
    pages: 2,
    numbers: 0,
    findings,
    links: { self: `/v1/brands/northwind-dental/letters/${first}`, brand: '/v1/brands/northwind-dental' },
  });
  expect(letters[2]).toMatchObject({
    state: 'approved',
    decidedBy: 'person',
    decisionReason: 'Checked by telephone.',
    numbers: 3,
    findings: [],
  });
  expect(letters[0]).toMatchObject({
    state: 'in_review',
    decidedBy: null,
    decidedAt: null,
    decisionReason: null,
    validUntil: null,
  });
  expect(letterSchema.strict().parse(await (await ask(`/v1/brands/northwind-dental/letters/${first}`)).json())).toEqual(
    letters[3],
  );
});

it("shows nothing of a letter's text, of a contact, a tax id or who decided", async () => {
  for (const path of [
    '/v1/brands',
    '/v1/brands/northwind-dental',
    '/v1/brands/northwind-dental/numbers',
    '/v1/brands/northwind-dental/letters',
    `/v1/brands/northwind-dental/letters/${second}`,
  ]) {
    const text = await (await ask(path)).text();
    for (const secret of [...Object.values(secrets), 'Pat Reviewer', 'sealed', 'contact', 'taxId', 'document'])
      expect(text, path).not.toContain(secret);
  }
});

it('answers a brand of another client exactly as one that does not exist', async () => {
  const bodies = new Set<string>();
  for (const handle of [
    'contoso-taxi',
    'no-such-brand',
    'Northwind-Dental',
    'x',
    '%00',
    'a%20b',
    '-',
    'x'.repeat(64),
    '%2e%2e%2f',
    '+15550000001',
  ]) {
    for (const rest of ['', '/numbers', '/letters', `/letters/${foreignLetter}`, '/numbers?state=verified&limit=5']) {
      const response = await ask(`/v1/brands/${handle}${rest}`);
      const { requestId: _requestId, ...body } = await problemOf(response);
      bodies.add(JSON.stringify(body));
      for (const name of ['etag', 'link', 'x-rows']) expect(response.headers.get(name)).toBeNull();
    }
  }
  expect([...bodies]).toEqual([
    JSON.stringify({
      type: 'urn:caller-trust:error:brand_unknown',
      title: 'No brand has this handle.',
      status: 404,
      code: 'brand_unknown',
      detail: 'No brand has this handle.',
    }),
  ]);
  expect((await ask('/v1/brands/contoso-taxi', contoso.key)).status).toBe(200);
});

it.each([
  String(foreignLetter),
  '0',
  `0${first}`,
  '-1',
  '1e3',
  '999999999999999',
  '9999999999999999',
  'abc',
  '%00',
  '1%0A',
])('does not find the letter %s in a brand that has it not', async (id) => {
  const response = await ask(`/v1/brands/northwind-dental/letters/${id}`);
  expect(await problemOf(response)).toMatchObject({ status: 404, code: 'letter_unknown' });
});

const parameterCases: [path: string, code: string, named: string][] = [
  ['/v1/brands?limit=0', 'parameter_invalid', 'limit'],
  ['/v1/brands?limit=501', 'parameter_invalid', 'limit'],
  ['/v1/brands?limit=', 'parameter_invalid', 'limit'],
  ['/v1/brands?limit=-1', 'parameter_invalid', 'limit'],
  ['/v1/brands?limit=1.0', 'parameter_invalid', 'limit'],
  ['/v1/brands?limit=1e2', 'parameter_invalid', 'limit'],
  ['/v1/brands?limit=0x10', 'parameter_invalid', 'limit'],
  ['/v1/brands?limit=%205', 'parameter_invalid', 'limit'],
  ['/v1/brands?limit=05', 'parameter_invalid', 'limit'],
  ['/v1/brands?limit=99999999999999999999', 'parameter_invalid', 'limit'],
  ['/v1/brands?limit=5&limit=5', 'parameter_invalid', 'limit'],
  ['/v1/brands?state=live', 'parameter_invalid', 'state'],
  ['/v1/brands?state=', 'parameter_invalid', 'state'],
  ['/v1/brands?state=APPROVED', 'parameter_invalid', 'state'],
  ['/v1/brands?state=verified', 'parameter_invalid', 'state'],
  ['/v1/brands?state=approved&state=draft', 'parameter_invalid', 'state'],
  ['/v1/brands?cursor=', 'parameter_invalid', 'cursor'],
  ['/v1/brands?cursor=abc', 'parameter_invalid', 'cursor'],
  ['/v1/brands?cursor=%00', 'parameter_invalid', 'cursor'],
  [`/v1/brands?cursor=${'A'.repeat(257)}`, 'parameter_invalid', 'cursor'],
  ['/v1/brands?cursor=a&cursor=b', 'parameter_invalid', 'cursor'],
  ['/v1/brands?Limit=5', 'parameter_unknown', 'limit, cursor'],
  ['/v1/brands?page=2', 'parameter_unknown', 'state'],
  ['/v1/brands?limit=501&owner=x', 'parameter_unknown', 'limit'],
  ['/v1/brands?country=US', 'parameter_unknown', 'state'],
  ['/v1/brands/northwind-dental?limit=5', 'parameter_unknown', 'no parameters'],
  ['/v1/brands/northwind-dental/numbers?state=approved', 'parameter_invalid', 'state'],
  ['/v1/brands/northwind-dental/numbers?limit=501', 'parameter_invalid', 'limit'],
  ['/v1/brands/northwind-dental/numbers?phone=%2B15550000001', 'parameter_unknown', 'limit'],
  ['/v1/brands/northwind-dental/letters?state=approved', 'parameter_unknown', 'limit'],
  ['/v1/brands/northwind-dental/letters?limit=0', 'parameter_invalid', 'limit'],
  ['/v1/brands/northwind-dental/letters/1?x', 'parameter_unknown', 'no parameters'],
  ['/v1/brands/no-such-brand/numbers?limit=0', 'parameter_invalid', 'limit'],
];

it.each(parameterCases)('refuses %s with %s', async (path, code, named) => {
  const response = await ask(path);
  expect(response.status).toBe(400);
  const body = await problemOf(response);
  expect(body).toMatchObject({ code });
  expect(body.detail).toContain(named);
});

it('takes every limit from 1 to 500', async () => {
  for (const limit of [1, 2, 499, 500]) expect((await ask(`/v1/brands?limit=${limit}`)).status).toBe(200);
});

it('refuses a cursor that was made for another list, another brand, another filter or another client', async () => {
  const cursorOf = async (path: string, key = northwind.key) =>
    new URL(((await (await ask(path, key)).json()) as { next: string }).next, url).searchParams.get('cursor') ?? '';
  const brands = await cursorOf('/v1/brands?limit=1');
  const numbers = await cursorOf('/v1/brands/northwind-dental/numbers?limit=1');
  const letters = await cursorOf('/v1/brands/northwind-dental/letters?limit=1');
  const forged = [
    formatCursor({ list: 'brands', of: [northwind.client, null] }, "x' OR true --"),
    formatCursor({ list: 'brands', of: [northwind.client, null] }, 'x\0'),
    formatCursor({ list: 'numbers', of: [northwind.client, 'northwind-dental', null] }, 'abc'),
    formatCursor({ list: 'letters', of: [northwind.client, 'northwind-dental'] }, '-1'),
    formatCursor({ list: 'letters', of: [northwind.client, 'northwind-dental'] }, '9999999999999999'),
  ];
  const refused: [path: string, key: string][] = [
    [`/v1/brands/northwind-dental/numbers?cursor=${brands}`, northwind.key],
    [`/v1/brands/northwind-dental/letters?cursor=${numbers}`, northwind.key],
    [`/v1/brands?cursor=${letters}`, northwind.key],
    [`/v1/brands?state=approved&cursor=${brands}`, northwind.key],
    [`/v1/brands/northwind-dental/numbers?state=verified&cursor=${numbers}`, northwind.key],
    [`/v1/brands/alpine-bank/numbers?cursor=${numbers}`, northwind.key],
    [`/v1/brands?cursor=${brands}`, contoso.key],
    [`/v1/brands?cursor=${brands}=`, northwind.key],
    [`/v1/brands?cursor=${brands.slice(0, -1)}`, northwind.key],
    ...forged.map((cursor, at): [string, string] => [
      `/v1/brands${['', '', '/northwind-dental/numbers', '/northwind-dental/letters', '/northwind-dental/letters'][at]}?cursor=${cursor}`,
      northwind.key,
    ]),
  ];
  for (const [path, key] of refused)
    expect(await problemOf(await ask(path, key)), path).toMatchObject({
      status: 400,
      code: 'parameter_invalid',
      detail: expect.stringContaining('cursor'),
    });
  expect((await ask(`/v1/brands?limit=7&cursor=${brands}`)).status).toBe(200);
});

it('repeats nothing of the request in a problem', async () => {
  const phone = '%2B15550000001';
  for (const path of [
    `/v1/brands/${phone}`,
    `/v1/brands?state=${phone}`,
    `/v1/brands?limit=${phone}`,
    `/v1/brands?cursor=${phone}`,
    `/v1/brands?${phone}=1`,
    `/v1/brands/northwind-dental/numbers/${phone}`,
    `/v1/brands/northwind-dental/letters/${phone}`,
  ]) {
    expect(await (await ask(path)).text(), path).not.toMatch(/5550000001/);
  }
});

/** Follows `next` to the end, and makes sure that body and header agree. */
async function follow<Row>(
  path: string,
  name: string,
  between: (page: number) => Promise<void> = async () => {},
): Promise<Row[][]> {
  const pages: Row[][] = [];
  for (let next: string | null = path; next !== null;) {
    const response = await ask(next);
    expect(response.status).toBe(200);
    const body = (await response.json()) as { next: string | null } & Record<string, Row[]>;
    expect(response.headers.get('link')).toBe(body.next === null ? null : `<${body.next}>; rel="next"`);
    pages.push(body[name] ?? []);
    next = body.next;
    await between(pages.length);
  }
  return pages;
}

it('pages over 1,250 numbers while others are added before and after each place, without a gap or a repetition', async () => {
  const brandId = await addBrand(db, { handle: 'many-numbers', owner: northwind.client });
  await addNumbers(db, brandId, { from: 1002, to: 3500, step: 2 });
  const pages = await follow<{ phone: string }>(
    '/v1/brands/many-numbers/numbers?limit=100',
    'numbers',
    async (page) => {
      await addNumbers(db, brandId, { from: 1001 + 200 * page, to: 1001 + 200 * page }); // after the place of the next page: it will be seen
      await addNumbers(db, brandId, { from: 900 + page, to: 900 + page }); // before it: it will not
    },
  );
  const seen = pages.flat().map(({ phone }) => phone);
  expect(
    pages
      .map(({ length }) => length)
      .slice(0, -1)
      .every((length) => length === 100),
  ).toBe(true);
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen).toEqual([...seen].sort());
  const there = new Set(seen);
  expect(Array.from({ length: 1250 }, (_, n) => phoneOf(1002 + 2 * n)).filter((phone) => !there.has(phone))).toEqual(
    [],
  );
  expect(seen.length).toBe(1250 + 12);
  expect(seen.some((phone) => phone < phoneOf(1000))).toBe(false);
  expect((await follow('/v1/brands/many-numbers/numbers?limit=500', 'numbers')).map((rows) => rows.length)).toEqual([
    500, 500, 276,
  ]);
  expect(await follow('/v1/brands/many-numbers/numbers', 'numbers')).toHaveLength(13);
  const verified = await follow<{ state: string }>(
    '/v1/brands/many-numbers/numbers?state=verified&limit=500',
    'numbers',
  );
  expect(verified.flat()).toHaveLength(1276);
});

it('gives no next page where the rows end with the page', async () => {
  const brandId = await addBrand(db, { handle: 'five-numbers', owner: northwind.client });
  await addNumbers(db, brandId, { from: 5001, to: 5005 });
  expect((await follow('/v1/brands/five-numbers/numbers?limit=5', 'numbers')).map((rows) => rows.length)).toEqual([5]);
  expect((await follow('/v1/brands/five-numbers/numbers?limit=4', 'numbers')).map((rows) => rows.length)).toEqual([
    4, 1,
  ]);
  expect((await follow('/v1/brands/five-numbers/numbers?limit=1', 'numbers')).map((rows) => rows.length)).toEqual([
    1, 1, 1, 1, 1,
  ]);
});

it('pages over brands and over letters while others are added', async () => {
  const owner = await makeKey(['branding:read'], undefined, 'Paging');
  for (let n = 0; n < 7; n++)
    await addBrand(db, { handle: `paged-${n}`, owner: owner.client, state: n % 2 === 0 ? 'approved' : 'draft' });
  const handles: string[] = [];
  for (let next: string | null = '/v1/brands?state=approved&limit=2'; next !== null;) {
    const body = brandListSchema.parse(await (await ask(next, owner.key)).json());
    handles.push(...body.brands.map(({ handle }) => handle));
    next = body.next;
    if (handles.length === 2) await addBrand(db, { handle: 'paged-00', owner: owner.client });
  }
  expect(handles).toEqual(['paged-0', 'paged-2', 'paged-4', 'paged-6']);
  const pages = await follow<{ letterId: number }>(
    '/v1/brands/northwind-dental/letters?limit=1',
    'letters',
    async (page) => {
      if (page === 1) await addLetter(db, { brandId: dental, owner: northwind.client });
    },
  );
  expect(pages.flat().map(({ letterId }) => letterId)).toEqual([waiting, third, second, first]);
});

it('answers 304 to the ETag of a body, a new body when a row changes, and 412 where the client insists on another', async () => {
  const path = '/v1/brands/five-numbers/numbers';
  const response = await ask(path);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('private, no-cache');
  expect(response.headers.get('vary')).toBe('Authorization');
  const etag = response.headers.get('etag') ?? '';
  expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
  for (const method of ['GET', 'HEAD']) {
    const known = await ask(path, northwind.key, { 'if-none-match': etag }, method);
    expect([known.status, known.headers.get('etag'), await known.text()]).toEqual([304, etag, '']);
  }
  expect(await problemOf(await ask(path, northwind.key, { 'if-match': '"x"' }))).toMatchObject({
    status: 412,
    code: 'precondition_failed',
  });
  await db.query("UPDATE brand_number SET state = 'suspended' WHERE phone = $1", [phoneOf(5001)]);
  const changed = await ask(path, northwind.key, { 'if-none-match': etag });
  expect(changed.status).toBe(200);
  expect(changed.headers.get('etag')).not.toBe(etag);
});

const everyPath = [
  '/v1/brands',
  '/v1/brands/northwind-dental',
  '/v1/brands/northwind-dental/numbers?limit=1',
  '/v1/brands/northwind-dental/letters',
  `/v1/brands/northwind-dental/letters/${first}`,
];

it('gives HEAD the headers of GET and no body', async () => {
  for (const path of everyPath) {
    const [get, head] = [await ask(path), await ask(path, northwind.key, {}, 'HEAD')];
    const body = await get.text();
    expect([head.status, await head.text()]).toEqual([200, '']);
    for (const name of ['etag', 'content-type', 'content-length', 'link', 'cache-control'])
      expect(head.headers.get(name), `${path} ${name}`).toBe(get.headers.get(name));
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(body)));
  }
});

it('answers every other method with 405 and Allow', async () => {
  for (const path of everyPath) {
    for (const method of METHODS.filter((each) => !['GET', 'HEAD', 'CONNECT'].includes(each))) {
      const raw = await openRaw(url);
      raw.send(
        `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${northwind.key}\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`,
      );
      const text = (await raw.closed()).toString('latin1');
      expect(text, `${method} ${path}`).toMatch(/^HTTP\/1\.1 405 [^]*\r\nAllow: GET, HEAD\r\n/i);
    }
  }
});

it('asks for a key with branding:read before it looks at anything else', async () => {
  for (const path of [
    ...everyPath,
    '/v1/brands?x=1',
    '/v1/brands/no-such-brand',
    '/v1/brands/no-such-brand/letters/1?x',
  ]) {
    const without = await fetch(`${url}${path}`);
    expect([without.status, (await problemOf(without)).code]).toEqual([401, 'unauthenticated']);
    const response = await ask(path, cachesKey);
    const body = await problemOf(response);
    expect([response.status, body.code]).toEqual([403, 'forbidden']);
    expect(body.detail).toContain('branding:read');
  }
});

it.each([
  '/v1/brands/northwind-dental/',
  '/v1/brands/northwind-dental/numbers/1',
  '/v1/brands/northwind-dental/documents',
  '/v1/brands/northwind-dental/letters/1/text',
  '/V1/brands',
])('has no route %s', async (path) => {
  expect(await problemOf(await ask(path))).toMatchObject({ status: 404, code: 'route_unknown' });
});
