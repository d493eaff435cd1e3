import { expect, it } from 'vitest';
import { openReaderDatabase } from '../../../api/http/reader-database.ts';
import { numberSchema } from '../../../api/reads/number-schemas.ts';
import { problemSchema } from '../../../api/documents/schemas.ts';
import { clearNumber } from '../../../pipelines/labels/number-record.ts';
import { protectNumbers, unprotectNumbers } from '../../../pipelines/labels/protected-number.ts';
import { scoreComplaints } from '../../../pipelines/labels/scoring.ts';
import { queryRow, queryRows } from '../../../runtime/postgres.ts';
import { prepared } from '../../../sql/sql.ts';
import { complaintFile, severalStates } from '../../support/complaints.ts';
import { useTestDatabase } from '../../support/database.ts';
import { useFeedLoader } from '../../support/feeds.ts';
import { addBrand } from '../support/brands.ts';
import { useTestApi } from '../support/running-api.ts';
import { eyes } from '../../support/branding.ts';

const database = await useTestDatabase();
const { db } = database;
const { load } = await useFeedLoader(db);
const { url, makeKey, key: cachesKey } = await useTestApi(database);

const [reported, labelled, branded, pending] = [
  '+12025550143',
  '+12025550144',
  '+12025550145',
  '+12025550146',
] as const;
const evaluatedAt = new Date('2021-07-08T00:00:00Z');
await load(
  'complaints',
  complaintFile([
    ...severalStates('2021-07-06'),
    ...severalStates('2021-07-06')
      .slice(0, 1)
      .map((row) => ({ ...row, phone: '2025550144' })),
  ]),
);
await load('reputation', `${labelled},SPAM,6\n`);
await load('directory', `phone,display_name\n${branded},Northwind\n`);
await scoreComplaints(db, evaluatedAt);
const brandId = await addBrand(db, { handle: 'northwind', owner: 'Northwind Agency' });
await addBrand(db, { handle: 'northwind-two', owner: 'Northwind Agency' });
for (const [phone, state] of [
  [branded, 'verified'],
  [pending, 'in_review'],
] as const)
  await db.query('INSERT INTO brand_number (brand_id, phone, country, state) VALUES ($1, $2, $3, $4)', [
    brandId,
    phone,
    'US',
    state,
  ]);

const tablesOfNumbers = [
  'phone_number',
  'complaint_score',
  'label_event',
  'branded_number',
  'spam_range',
  'redress',
  'brand_number',
];

const carrier = await makeKey(['numbers:read']);
const bound = await makeKey(['numbers:read', 'branding:read'], undefined, 'Northwind Agency', 'northwind');
const ask = (phone: string, key = carrier.key, headers: Record<string, string> = {}) =>
  fetch(`${url}/v1/numbers/${phone}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
const answerOf = async (phone: string, key = carrier.key) =>
  numberSchema.strict().parse(await (await ask(encodeURIComponent(phone), key)).json());
const codeOf = async (response: Response) => ({
  status: response.status,
  code: problemSchema.parse(await response.json()).code,
});

it('says why and since when a number is labelled by complaints', async () => {
  const answer = await answerOf(reported);
  const {
    rows: [event],
  } = await db.query<{ at: Date }>('SELECT at FROM label_event WHERE phone = $1', [reported]);
  expect(answer).toMatchObject({
    phone: reported,
    country: 'US',
    known: true,
    level: 'SPAM',
    source: 'complaints',
    since: event!.at.toISOString(),
    feed: null,
    cleared: null,
    rangeRisk: null,
    display: null,
    complaints: {
      level: 'SPAM',
      category: answer.category,
      lastReportedAt: '2021-07-06T07:00:00.000Z',
      evaluatedAt: evaluatedAt.toISOString(),
    },
  });
  expect(answer.complaints!.ruleVersion).toMatch(/^complaints\/\d+$/);
});

it('says what a feed has said, with complaints that do not decide', async () => {
  expect(await answerOf(labelled)).toMatchObject({
    level: 'SPAM',
    category: 6,
    source: 'feed',
    feed: { level: 'SPAM', category: 6, submittedAt: expect.any(String) },
    complaints: { level: 'NEUTRAL' },
  });
});

it('says when a number was cleared, and that a clearing has effect', async () => {
  await load('reputation', '+12025550147,FRAUD,7\n');
  const { clearedAt } = await clearNumber({ db, eyes, phone: '+12025550147', reason: 'A secret reason', actor: 'ada' });
  const answer = await answerOf('+12025550147');
  expect(answer).toMatchObject({
    level: 'NEUTRAL',
    source: 'clearing',
    feed: { level: 'FRAUD' },
    cleared: { at: clearedAt.toISOString(), inEffect: true },
  });
  expect(JSON.stringify(answer)).not.toMatch(/secret|ada/);
});

it('answers for a number that nothing is known about: it has no label', async () => {
  expect(await answerOf('+12025550199')).toMatchObject({
    known: false,
    level: 'NEUTRAL',
    category: null,
    since: null,
    source: null,
    feed: null,
    complaints: null,
    cleared: null,
    display: null,
  });
});

it('says that its block is at risk, and that a number that was cleared or is never labelled is exempt', async () => {
  await db.query(
    `INSERT INTO spam_range (prefix, country, risk, lift, numbers_reported, since, until, rule_version) VALUES ('+12025560', 'US', 'HIGH', 40, 4, '2026-11-01', '2026-11-15', 'ranges/1')`,
  );
  const range = {
    prefix: '+12025560',
    risk: 'HIGH',
    lift: 40,
    numbersReported: 4,
    since: '2026-11-01',
    until: '2026-11-15',
  };
  expect((await answerOf('+12025560199')).rangeRisk).toEqual({ ...range, exempt: null });
  await load('reputation', '+12025560147,FRAUD,7\n');
  await clearNumber({ db, eyes, phone: '+12025560147', reason: 'x', actor: 'ada' });
  expect((await answerOf('+12025560147')).rangeRisk).toEqual({ ...range, exempt: 'cleared' });
  const protection = { db, eyes, numbers: '+1202556014*', reason: 'x', actor: 'ada' };
  await protectNumbers(protection);
  expect((await answerOf('+12025560148')).rangeRisk).toEqual({ ...range, exempt: 'protected' });
  await unprotectNumbers(protection);
  expect((await answerOf('+12025560148')).rangeRisk).toEqual({ ...range, exempt: null });
});

it('takes a number in E.164 alone, its plus sign percent-encoded or not, and repeats none that is wrong', async () => {
  expect((await ask(reported)).status).toBe(200);
  for (const wrong of [
    '12025550143',
    '+1%20202%20555%200143',
    '+1202555014',
    '+19995550143',
    'x',
    '%2B1202555014x',
    '+44%20(0)2079460958',
    `+${'1'.repeat(60)}`,
  ]) {
    const response = await ask(wrong);
    const { detail: body } = problemSchema.parse(await response.clone().json());
    expect(await codeOf(response), wrong).toEqual({ status: 400, code: 'phone_invalid' });
    expect(body).not.toMatch(/\d{7}/);
  }
  expect(await codeOf(await ask(`${reported}?country=US`))).toEqual({ status: 400, code: 'parameter_unknown' });
});

it('is planned once a connection, by its indexes also while the tables are small', async () => {
  await db.query(`VACUUM ${tablesOfNumbers.join(', ')}`); // without it the planner takes a small table for one of ten pages
  const reader = await openReaderDatabase({ url: database.apiUrl });
  try {
    const plan = await reader.readForRequest(async (session) => {
      for (let times = 0; times < 6; times++) await queryRow(session, prepared('api/read_number'), [reported, null]);
      const explained = `EXPLAIN EXECUTE "api/read_number"('${reported}', NULL)`;
      return (await queryRows<{ 'QUERY PLAN': string }>(session, explained)).map((row) => row['QUERY PLAN']).join('\n');
    });
    expect(plan).toContain('$1'); // not planned for this number
    expect(plan.match(/(?<=Seq Scan on )\w+/g)?.filter((table) => tablesOfNumbers.includes(table)) ?? []).toEqual([]);
  } finally {
    await reader.close();
  }
});

it('answers 304 to its ETag, which differs when the label does', async () => {
  const first = await ask(labelled);
  expect(first.headers.get('cache-control')).toBe('private, no-cache');
  expect(first.headers.get('vary')).toBe('Authorization');
  const etag = first.headers.get('etag')!;
  expect((await ask(labelled, carrier.key, { 'if-none-match': etag })).status).toBe(304);
  await load('reputation', `${labelled},FRAUD,7\n`);
  expect((await ask(labelled, carrier.key, { 'if-none-match': etag })).status).toBe(200);
});

it('needs the scope numbers:read', async () => {
  expect(await codeOf(await ask(reported, cachesKey))).toEqual({ status: 403, code: 'forbidden' });
  expect((await fetch(`${url}/v1/numbers/${reported}`)).status).toBe(401);
});

it('shows a key that is bound to a brand the verified numbers of that brand, and no other', async () => {
  expect(await answerOf(branded, bound.key)).toMatchObject({
    level: 'NEUTRAL',
    display: { name: 'Northwind', branded: false },
  });
  for (const other of [reported, pending, '+12025550199'])
    expect(await codeOf(await ask(other, bound.key)), other).toEqual({ status: 404, code: 'phone_unknown' });
});

it('shows such a key that brand alone among the brands of its client', async () => {
  const get = async (path: string) => fetch(`${url}${path}`, { headers: { authorization: `Bearer ${bound.key}` } });
  expect(
    ((await (await get('/v1/brands')).json()) as { brands: { handle: string }[] }).brands.map(({ handle }) => handle),
  ).toEqual(['northwind']);
  expect((await get('/v1/brands/northwind')).status).toBe(200);
  expect(await codeOf(await get('/v1/brands/northwind-two'))).toEqual({ status: 404, code: 'brand_unknown' });
});

it('binds keys to brands of their client only, and with scopes that brands have', async () => {
  await expect(makeKey(['numbers:read'], undefined, 'Somebody', 'northwind')).rejects.toMatchObject({
    code: 'brand_unknown',
  });
  await expect(
    makeKey(['numbers:read', 'caches:read'], undefined, 'Northwind Agency', 'northwind'),
  ).rejects.toMatchObject({ code: 'usage_invalid' });
});
