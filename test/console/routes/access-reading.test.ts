import { beforeAll, describe, expect, it } from 'vitest';
import { enqueueJob } from '../../../jobs/queues/enqueue.ts';
import { storeDriftReport } from '../../../pipelines/audio/drift/drift-record.ts';
import { makeDriftReport } from '../../../pipelines/audio/drift/drift-report.ts';
import { fileDispute } from '../../../pipelines/labels/number-dispute.ts';
import { queryRow, queryRows } from '../../../runtime/postgres.ts';
import { testVault } from '../../support/branding.ts';
import { useFeedLoader } from '../../support/feeds.ts';
import { useConsoleServer } from '../support/console-server.ts';
import { handInLetter, testMasterKey } from '../support/letters.ts';
import { seedNights } from '../support/nights.ts';
import { seedBatch } from '../support/verifications.ts';
import { enrolmentOf, formOf, readerA } from '../support/voice-form.ts';

const server = await useConsoleServer({ LETTER_MASTER_KEY: testMasterKey });
const { db } = server;
const { load } = await useFeedLoader(db);
const reading = server.app.routeRules.filter(
  ({ method, url }) => method === 'GET' && !/^\/(pages|modules)\//.test(url),
);

/** What replaces the names in a path, by how the path begins; the first that fits counts. */
let seeded: readonly (readonly [begin: string, values: Readonly<Record<string, string | number>>])[];
let cookie: string;

/**
 * One of each kind: a night with artefacts, a batch with a verification, a voice, a brand with its letter and operation, a feed's
 * load, a dispute, a model with a drift report, a job.
 */
beforeAll(async () => {
  const { Cookie, 'X-CSRF-Token': token } = await server.session('operator');
  cookie = Cookie;
  const [run] = await seedNights(server);
  const {
    batch,
    ids: [verification],
  } = await seedBatch(server, [{ label: 'authentic' }]);
  const letter = await handInLetter(db, 'northwind', ['+12125550100', '+12125550101']);
  const { operationId: operation } = (await queryRow<{ operationId: number }>(
    db,
    'SELECT operation_id FROM branding_operation',
  ))!;
  const enrolled = await fetch(`${server.url}/api/voiceprints`, {
    method: 'POST',
    headers: { Cookie, Origin: server.url, 'X-CSRF-Token': token },
    body: await formOf(enrolmentOf('customer-1'), readerA),
  });
  const { id: voice } = (await enrolled.json()) as { id: string };
  const compared = (model: string) => ({
    model,
    manifestSha256: '0'.repeat(64),
    thresholds: { synthesis: 0.5, replay: null },
  });
  const drift = makeDriftReport(
    { old: compared('phone/v7'), new: compared('phone/v8'), batch: batch.id, settings: { channels: 'apart' } },
    [],
  );
  const { reportId } = await storeDriftReport(db, drift, { batchId: batch.batchId, madeBy: 'ada' });
  await enqueueJob(server.queues, 'open-night', { runId: run! });
  const { loadId } = await load('reputation', 'phone,level\n+12025550143,SPAM\n+12025550144,LOUD\n');
  const { disputeId } = await fileDispute(
    { db, vault: testVault },
    { request: { phone: '+12025550143', reason: 'Ours', contact: 'office@clinic.example' }, filedBy: 'cli ada' },
  );
  seeded = [
    ['/api/nights/', { run: run! }],
    ['/api/artefacts/', { cache: 'phones', country: 'US', from: 1 }],
    ['/api/batches/', { id: batch.id }],
    ['/api/verifications/', { id: verification! }],
    ['/api/voiceprints/', { id: voice }],
    ['/api/brands/', { handle: 'northwind' }],
    ['/api/letters/', { id: letter }],
    ['/api/review/letters/', { id: letter, page: 1 }],
    ['/api/operations/', { id: operation }],
    ['/api/feeds/loads/', { id: loadId }],
    ['/api/disputes/', { id: disputeId }],
    ['/api/models/', { family: 'phone', version: 'v8' }],
    ['/api/drift-reports/', { report: reportId }],
    ['/api/queues/', { queue: 'nights' }],
  ];
});

/** A path of the route with ids that are there. */
function pathOf(url: string): string {
  const [, values] = seeded.find(([begin]) => url.startsWith(begin)) ?? [];
  return url.replace('*', 'nights').replace(/:([a-zA-Z]+)/g, (_place, name: string) => {
    const value = values?.[name];
    if (value === undefined) throw new Error(`nothing is seeded for ${name} of ${url}`);
    return String(value);
  });
}

/** The status of an answer, whose body may never end. */
async function statusOf(path: string): Promise<number> {
  const left = new AbortController();
  const response = await fetch(`${server.url}${path}`, { headers: { Cookie: cookie }, signal: left.signal });
  left.abort();
  return response.status;
}

/** A digest of the rows of each table. */
async function digestOfTables(): Promise<Record<string, string>> {
  const tables = await queryRows<{ name: string }>(
    db,
    "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND tablename NOT IN ('console_session', 'console_event')",
  );
  const digests: Record<string, string> = {};
  for (const { name } of tables)
    digests[name] = (await queryRow<{ digest: string }>(
      db,
      `SELECT count(*) || ' ' || coalesce(md5(string_agg(t::text, ';' ORDER BY t::text)), '') AS digest FROM ${name} AS t`,
    ))!.digest;
  return digests;
}

describe('a request that only reads', () => {
  it('is answered for what is there, by every route, and changes nothing but the trail of what was looked at', async () => {
    const before = await digestOfTables();
    const answers: [string, number][] = [];
    for (const { url } of reading) answers.push([url, await statusOf(pathOf(url))]); // in turn: letters are drawn one at a time
    expect(answers.filter(([, status]) => status !== 200)).toEqual([['/api/stream', 403]]); // a stream says from which page it comes, though it begins as a GET
    expect(await digestOfTables()).toEqual(before);
  });
});
