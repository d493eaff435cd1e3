import { createHash, randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ArtefactChecks } from '../../../console/answers/artefact-checks.ts';
import { ArtefactDirectory } from '../../../pipelines/caches/store/artefact-directory.ts';
import { loadConfig } from '../../../runtime/config.ts';
import { silentLog } from '../../support/night.ts';
import { until } from '../../support/service-process.ts';
import { logIn, useConsole, type ConsoleClient } from '../support/console-process.ts';
import { daysAgo, seedNights } from '../support/nights.ts';

const running = await useConsole();
const {
  database: { db },
} = running;
const runs = await seedNights(running);
const [viewer, reviewer, operator] = [
  await logIn(running, 'viewer'),
  await logIn(running, 'reviewer'),
  await logIn(running, 'operator'),
];

interface History {
  days: string[];
  rows: {
    cache: string;
    country: string;
    cells: ({ state: string; runId: number; nights: number; failureCode: string | null } | null)[];
  }[];
  nights: { runId: number }[];
  next: string | null;
}

const stateOn = ({ days, rows }: History, name: string, day: string): string | undefined =>
  rows.find(({ cache, country }) => `${cache}/${country}` === name)?.cells[days.indexOf(day)]?.state;

/** The events of the audit trail with an action, newest first. */
async function eventsOf(action: string): Promise<{ actor: string; object: string; detail: Record<string, unknown> }[]> {
  return (
    await db.query<{ actor: string; object: string; detail: Record<string, unknown> }>(
      'SELECT actor, object, detail FROM console_event WHERE action = $1 ORDER BY event_id DESC',
      [action],
    )
  ).rows;
}

/** Asks for a night as the dialog of the pages does, under a key of its own unless one is given. */
function askForNight(client: ConsoleClient, choice: object, key: string = randomUUID()): Promise<Response> {
  return client.fetch('/api/nights', {
    method: 'POST',
    body: JSON.stringify(choice),
    headers: { 'Idempotency-Key': `"${key}"` },
  });
}

describe('a search', () => {
  it.each([
    [daysAgo(1), `/nights/${runs[2]}`],
    [daysAgo(9), null],
    ['2026-02-30', null],
    ['Night  7', '/nights/7'],
    ['letter 4', '/letters/4'],
    ['Phone/V8', '/models/phone/v8'],
    ['phones/us', '/artefacts/phones/US'],
    ['phones', null],
    ['spammer_phones', '/artefacts/spammer_phones/-'],
    ["'; DROP TABLE brand", null],
    ['', null],
  ])('for %j leads to %j', async (text, href) => {
    expect(await viewer.json('/api/find', { method: 'POST', body: JSON.stringify({ text }) })).toEqual({ href });
  });
});

describe('the history of nights', () => {
  it('has 30 days, the newest first, and of each artefact and day what the latest night made of it', async () => {
    const history = await viewer.json<History>('/api/nights');
    expect([history.days.length, history.days[0], history.days[29]]).toEqual([30, daysAgo(0), daysAgo(29)]);
    expect([3, 2, 1, 0].map((days) => stateOn(history, 'phones/US', daysAgo(days)))).toEqual([
      'published',
      'published',
      'unchanged',
      'unchanged',
    ]);
    expect([3, 2, 1, 0].map((days) => stateOn(history, 'phones/CA', daysAgo(days)))).toEqual([
      'published',
      'unchanged',
      'stale',
      undefined,
    ]);
    expect(history.nights.map(({ runId }) => runId)).toEqual([...runs].reverse());
    expect(history.next).toBeNull();
  });

  it('counts several nights of a day, and goes back by a day', async () => {
    const {
      rows: [added],
    } = await db.query<{ run_id: number }>(
      `INSERT INTO night_run (night_date, trigger, requested_by, state, outcome, finished_at, failure_code, failure_reason, only_cache, only_country) VALUES ($1, 'operator', 'test', 'finished', 'failed', now(), 'database_unavailable', 'The test says so.', 'phones', 'US') RETURNING run_id`,
      [daysAgo(3)],
    );
    const {
      rows: [older],
    } = await db.query<{ run_id: number }>(
      `INSERT INTO night_run (night_date, trigger, requested_by) VALUES ($1, 'operator', 'test') RETURNING run_id`,
      [daysAgo(40)],
    );
    const history = await viewer.json<History>('/api/nights');
    const cell = history.rows.find(({ country }) => country === 'US')!.cells[history.days.indexOf(daysAgo(3))];
    expect(cell).toMatchObject({
      runId: added!.run_id,
      nights: 2,
      state: 'stale',
      failureCode: 'database_unavailable',
    });
    expect(history.next).toBe(daysAgo(29));
    const before = await viewer.json<History>(`/api/nights?before=${history.next}`);
    expect([before.days[0], stateOn(before, 'phones/US', daysAgo(40))]).toEqual([daysAgo(30), 'running']);
    await db.query('DELETE FROM night_run WHERE run_id = ANY($1)', [[added!.run_id, older!.run_id]]);
  });
});

describe('a night', () => {
  it('lists each build, with why one failed and what to do about it', async () => {
    const shown = await viewer.json<{
      night: { outcome: string };
      builds: {
        cache: string;
        country: string;
        rows: number;
        rowsBefore: number;
        version: number;
        failure: { code: string; advice: string } | null;
      }[];
      others: unknown[];
    }>(`/api/nights/${runs[2]!}`);
    expect(shown.night.outcome).toBe('partial');
    expect(shown.builds.find(({ country }) => country === 'CA')).toMatchObject({
      rows: 130,
      rowsBefore: 400,
      version: 1,
      failure: { code: 'artefact_shrunk', advice: expect.stringContaining('Find out why rows are missing.') as string },
    });
    expect(shown.others).toEqual([]);
  });

  it('has the trace that its report names, and null where it was not traced', async () => {
    const path = `/api/nights/${runs[1]!}`;
    expect((await viewer.json<{ traceId: string | null }>(path)).traceId).toBeNull();
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    await db.query(
      "UPDATE night_run SET report = jsonb_set(report, '{traceId}', to_jsonb($2::text)) WHERE run_id = $1",
      [runs[1], traceId],
    );
    expect((await viewer.json<{ traceId: string | null }>(path)).traceId).toBe(traceId);
  });

  it('has the length and size of the whole nights up to it, and an artefact those of its builds', async () => {
    const { days } = await viewer.json<{ days: { day: string; runId: number; rows: number; bytes: number }[] }>(
      `/api/nights/${runs[1]!}/trend`,
    );
    expect(days.map(({ day, runId }) => [day, runId])).toEqual([
      [daysAgo(3), runs[0]],
      [daysAgo(2), runs[1]],
    ]);
    expect(days[1]!.rows - days[0]!.rows).toBe(66); // 60 numbers, 6 of them also spam
    for (const { bytes } of days) expect(bytes).toBeGreaterThan(0);
    const builds = await viewer.json<{ days: { day: string; seconds: number; rows: number; bytes: number }[] }>(
      '/api/artefacts/phones/US/builds',
    );
    expect(builds.days.map(({ day, rows }) => [day, rows])).toEqual([
      [daysAgo(3), 900],
      [daysAgo(2), 960],
      [daysAgo(1), 960],
      [daysAgo(0), 960],
    ]);
    for (const { seconds, bytes } of builds.days) expect([seconds > 0, bytes > 0]).toEqual([true, true]);
  });

  it('is sent once and ended where it is finished, for a page that follows it', async () => {
    const text = await (await viewer.fetch(`/api/nights/${runs[0]!}/live`)).text();
    expect(text.match(/^event: \w+$/gm)).toEqual(['event: value', 'event: end']);
  });

  it.each([
    '/api/nights/99999',
    '/api/nights/x',
    '/api/nights/9007199254740993',
    '/api/nights?before=yesterday',
    '/api/nights?limit=3',
  ])('that cannot be is refused with a code: %s', async (path) => {
    const { status, code } = await viewer.json<{ status: number; code: string }>(path);
    expect([
      [404, 'night_unknown'],
      [400, 'parameter_invalid'],
    ]).toContainEqual([status, code]);
  });

  it('is run by operators alone, with a token, and is in the audit trail', async () => {
    const choice = { only: 'phones/CA', acceptShrink: true };
    expect((await askForNight(reviewer, choice)).status).toBe(403);
    expect(
      (
        await operator.fetch('/api/nights', {
          method: 'POST',
          body: JSON.stringify(choice),
          headers: { 'X-CSRF-Token': 'x' },
        })
      ).status,
    ).toBe(403);
    expect(await (await askForNight(operator, { only: 'letters' })).json()).toMatchObject({ code: 'cache_unknown' });
    const { runId } = (await (await askForNight(operator, choice)).json()) as { runId: number };
    const { rows } = await db.query(
      'SELECT requested_by, only_cache, only_country, accept_shrink, night_date FROM night_run WHERE run_id = $1',
      [runId],
    );
    expect(rows).toEqual([
      {
        requested_by: 'console operator',
        only_cache: 'phones',
        only_country: 'CA',
        accept_shrink: true,
        night_date: daysAgo(0),
      },
    ]);
    expect((await eventsOf('run_night'))[0]).toEqual({
      actor: 'operator',
      object: `night ${runId}`,
      detail: { only: 'phones/CA', acceptShrink: true },
    });
  });

  it('is run once for one idempotency key, however it is written, and recorded once; another choice under the key is refused', async () => {
    const key = randomUUID();
    const [before, recorded] = [
      (await db.query('SELECT FROM night_run')).rows.length,
      (await eventsOf('run_night')).length,
    ];
    const answers = await Promise.all(
      [{}, { acceptShrink: false }, { only: null, acceptShrink: false }].map(
        async (choice) =>
          (await askForNight(operator, choice, key)).json() as Promise<{ runId: number; repeated: boolean }>,
      ),
    );
    expect(new Set(answers.map(({ runId }) => runId)).size).toBe(1);
    expect(answers.map(({ repeated }) => repeated).sort()).toEqual([false, true, true]);
    const other = await askForNight(operator, { acceptShrink: true }, key);
    expect([other.status, await other.json()]).toEqual([
      409,
      expect.objectContaining({
        code: 'idempotency_conflict',
        hint: expect.stringContaining(`Its night is ${answers[0]!.runId}.`) as string,
      }),
    ]);
    expect([(await db.query('SELECT FROM night_run')).rows.length, (await eventsOf('run_night')).length]).toEqual([
      before + 1,
      recorded + 1,
    ]);
  });

  it.each([undefined, '', '""', 'without-quotes', '"a b"', '"with \\" in it"', `"${'x'.repeat(129)}"`])(
    'is not run without an idempotency key in quotes: %j',
    async (header) => {
      const response = await operator.fetch('/api/nights', {
        method: 'POST',
        body: '{}',
        headers: header === undefined ? {} : { 'Idempotency-Key': header },
      });
      expect([response.status, await response.json()]).toEqual([
        400,
        expect.objectContaining({
          code: 'parameter_invalid',
          detail: expect.stringContaining('idempotency-key') as string,
        }),
      ]);
    },
  );

  it('is asked for, and answered with its run, also while it cannot be queued', async () => {
    await db.query('ALTER TABLE caller_trust_queue.job ADD CONSTRAINT takes_nothing CHECK (false) NOT VALID');
    try {
      const { runId } = (await (await askForNight(operator, { only: 'phones/US' })).json()) as { runId: number };
      expect((await db.query('SELECT run_id, only_country FROM night_run ORDER BY run_id DESC LIMIT 1')).rows).toEqual([
        { run_id: runId, only_country: 'US' },
      ]);
      expect(running.process.log()).toContain('the night could not be queued yet');
    } finally {
      await db.query('ALTER TABLE caller_trust_queue.job DROP CONSTRAINT takes_nothing');
    }
  });
});

describe('artefacts', () => {
  it('are listed with what readers are given', async () => {
    const { artefacts } = await viewer.json<{
      artefacts: {
        cache: string;
        country: string;
        status: string;
        version: number;
        rows: number;
        stale: { advice: string } | null;
      }[];
    }>('/api/artefacts');
    expect(
      artefacts.map(({ cache, country, status, version, rows }) => [cache, country, status, version, rows]),
    ).toEqual([
      ['branded_phones', '', 'fresh', 1, 1],
      ['phones', 'CA', 'stale', 1, 400],
      ['phones', 'US', 'fresh', 2, 960],
      ['spam_ranges', '', 'fresh', 1, 0],
      ['spammer_phones', '', 'fresh', 2, 136],
    ]);
  });

  it('have versions with sizes and deltas, by parts', async () => {
    const first = await viewer.json<{
      versions: { version: number; rows: number; delta: { added: number } | null }[];
      next: string;
    }>('/api/artefacts/phones/US/versions?limit=1');
    expect(first).toMatchObject({
      versions: [{ version: 2, rows: 960, delta: { added: 60, changed: 0, removed: 0 } }],
      next: '2',
    });
    expect(await viewer.json(`/api/artefacts/phones/US/versions?limit=1&before=${first.next}`)).toMatchObject({
      versions: [{ version: 1, rows: 900, delta: null }],
      next: null,
    });
  });

  it('are downloaded byte for byte, with a digest and a name, and that is recorded', async () => {
    const { manifest } = await viewer.json<{
      manifest: { file: { sha256: string }; deltas: { from: number; bytes: number; sha256: string }[] };
    }>('/api/artefacts/phones/US');
    const response = await viewer.fetch('/api/artefacts/phones/US/file');
    const bytes = Buffer.from(await response.arrayBuffer());
    const digest = createHash('sha256').update(bytes).digest();
    expect(digest.toString('hex')).toBe(manifest.file.sha256);
    expect(
      Object.fromEntries(
        ['content-type', 'content-disposition', 'content-length', 'content-encoding', 'repr-digest'].map((name) => [
          name,
          response.headers.get(name),
        ]),
      ),
    ).toEqual({
      'content-type': 'application/gzip',
      'content-disposition': 'attachment; filename="phones-US-v2.tsv.gz"',
      'content-length': String(bytes.length),
      'content-encoding': null,
      'repr-digest': `sha-256=:${digest.toString('base64')}:`,
    });
    const delta = await viewer.fetch('/api/artefacts/phones/US/deltas/1');
    expect(
      gunzipSync(Buffer.from(await delta.arrayBuffer()))
        .toString()
        .split('\n').length,
    ).toBe(61);
    expect((await eventsOf('download_artefact')).slice(0, 2)).toEqual([
      { actor: 'viewer', object: 'phones/US', detail: { version: 2, from: 1 } },
      { actor: 'viewer', object: 'phones/US', detail: { version: 2 } },
    ]);
  });

  it.each([
    ['/api/artefacts/phones/-', 'country_invalid'],
    ['/api/artefacts/phones/ZZ', 'artefact_not_found'],
    ['/api/artefacts/phones/ZZ/file', 'artefact_not_found'],
    ['/api/artefacts/spammer_phones/US', 'country_invalid'],
    ['/api/artefacts/letters/-', 'cache_unknown'],
    ['/api/artefacts/phones/US/deltas/9', 'delta_gone'],
    ['/api/artefacts/phones/US/deltas/x', 'parameter_invalid'],
    ['/api/artefacts/phones/%00', 'parameter_invalid'],
    ['/api/artefacts/phones/US/versions?limit=1000', 'parameter_invalid'],
  ])('that cannot be are refused with a code: %s', async (path, code) => {
    expect((await viewer.json(path))['code']).toBe(code);
  });

  it('are verified one check at a time', async () => {
    const checks = new ArtefactChecks({
      db,
      store: new ArtefactDirectory(join(running.stateDir, 'artefacts')),
      config: loadConfig(running.env),
      log: silentLog,
      signal: new AbortController().signal,
    });
    const first = checks.start('current');
    await expect(checks.start({ cache: 'phones', country: 'US' })).rejects.toMatchObject({ code: 'overloaded' });
    expect((await first).versions).toBe(5);
    await until(async () => checks.latest('current')?.state === 'finished', 'the check has ended');
    expect((await checks.start({ cache: 'phones', country: 'US' })).versions).toBe(2);
    await until(
      async () => checks.latest({ cache: 'phones', country: 'US' })?.state === 'finished',
      'the check has ended',
    );
  });

  it('are verified in the background by operators, and a file that was changed or lost is found', async () => {
    expect((await viewer.json('/api/artefacts/phones/US/check', { method: 'POST' }))['code']).toBe('forbidden');
    const check = async (path: string) => {
      expect((await operator.fetch(path, { method: 'POST' })).status).toBe(202);
      return until(async () => {
        const text = await (await viewer.fetch(`${path}/live`)).text(); // ends when the check has
        const { check: latest } = JSON.parse(
          text
            .match(/^data: (\{"check".*)$/gm)!
            .at(-1)!
            .slice('data: '.length),
        ) as { check: { state: string; verdicts: { version: number; verdict: string }[] } };
        return latest.state === 'running' ? undefined : latest;
      }, 'the check has ended');
    };
    expect(await check('/api/artefacts/phones/US/check')).toMatchObject({
      state: 'finished',
      verdicts: [
        { version: 2, verdict: 'ok' },
        { version: 1, verdict: 'ok' },
      ],
    });
    const { rows } = await db.query<{ version: number; file_sha256: string }>(
      `SELECT version, facts #>> '{file,sha256}' AS file_sha256 FROM artefact_version WHERE cache = 'phones' AND country = 'US' ORDER BY version`,
    );
    const pathOf = (sha256: string) => join(running.stateDir, 'artefacts', 'phones', 'US', `${sha256}.tsv.gz`);
    await rm(pathOf(rows[0]!.file_sha256));
    await writeFile(pathOf(rows[1]!.file_sha256), 'not what was published');
    expect(await check('/api/artefacts/phones/US/check')).toMatchObject({
      verdicts: [
        { version: 2, verdict: 'damaged' },
        { version: 1, verdict: 'missing' },
      ],
    });
    expect(((await check('/api/artefacts/check')) as unknown as { versions: number }).versions).toBe(5);
    expect((await eventsOf('verify_artefacts')).map(({ object }) => object)).toEqual([
      'current versions',
      'phones/US',
      'phones/US',
    ]);
  });
});
