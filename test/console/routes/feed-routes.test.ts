import { beforeAll, describe, expect, it } from 'vitest';
import { runFeedLoad } from '../../../pipelines/feeds/feed-load.ts';
import { loadGateLimits } from '../../../pipelines/feeds/load-gates.ts';
import { loadConfig } from '../../../runtime/config.ts';
import { logIn, useConsole, type ConsoleClient } from '../support/console-process.ts';

const running = await useConsole({ FEED_PLAIN_BYTES_MAX: '160000' });
const {
  database: { db },
  stateDir,
} = running;
const config = { ...loadConfig({ STATE_DIR: stateDir }), gates: { ...loadGateLimits, rowsMin: 1 } };

interface Answer {
  readonly loadId: number;
  readonly code?: string;
  readonly state?: string;
}

describe('feeds in the console', () => {
  let [viewer, operator]: ConsoleClient[] = [];

  beforeAll(async () => {
    [viewer, operator] = await Promise.all([logIn(running, 'viewer'), logIn(running, 'operator')]);
  });

  function send(
    content: string,
    {
      feed = 'reputation',
      options = '{}',
      client = operator!,
    }: { feed?: string; options?: string; client?: ConsoleClient } = {},
  ): Promise<Answer> {
    const form = new FormData();
    form.append('feed', feed);
    form.append('options', options);
    form.append('file', new Blob([content]), 'levels.csv');
    return client.json<Answer>('/api/feeds/loads', { method: 'POST', body: form });
  }
  const run = (loadId: number) => runFeedLoad({ db, feedDir: config.feedDir, loadId, limits: config });
  const decide = (loadId: number, decision: string, client = operator!, reason = 'why') =>
    client.json<Answer>(`/api/feeds/loads/${loadId}/decision`, {
      method: 'POST',
      body: JSON.stringify({ decision, reason }),
    });
  const list = (rows: number, level = 'SPAM') =>
    Array.from({ length: rows }, (_, at) => `+1202555${1000 + at},${level}\n`).join('');

  it('are submitted by operators alone, recorded, and shown with their refused rows', async () => {
    expect(await send(list(1), { client: viewer! })).toMatchObject({ code: 'forbidden' });
    const { loadId } = await send(`${list(2)}x,SPAM\n`, { options: '{"source":"list"}' });
    await run(loadId);
    expect(await viewer!.json(`/api/feeds/loads/${loadId}`)).toMatchObject({
      state: 'done',
      source: 'list',
      fileName: 'levels.csv',
      submittedBy: 'console operator',
      rowsGiven: 3,
      rowsRejected: 1,
    });
    expect(await viewer!.json(`/api/feeds/loads/${loadId}/rejects`)).toMatchObject({
      rejects: [{ line: 3, code: 'phone_invalid', excerpt: 'x,SPAM,' }],
      next: null,
    });
    const { rows } = await db.query("SELECT actor, object, detail FROM console_event WHERE action = 'load_feed'");
    expect(rows).toEqual([{ actor: 'operator', object: `load ${loadId}`, detail: { feed: 'reputation' } }]);
  });

  it('are refused with what is wrong: feed, options, size', async () => {
    expect(await send(list(1), { feed: 'votes' })).toMatchObject({ code: 'feed_unknown' });
    expect(await send(list(1), { options: '{"dates":"mdy"}' })).toMatchObject({ code: 'feed_option_invalid' });
    expect(await send(list(1), { options: 'x' })).toMatchObject({ code: 'feed_option_invalid' });
    expect(await send('x'.repeat(20_001))).toMatchObject({ code: 'upload_too_large' });
  });

  it('that are held are decided by operators alone, with a reason, once', async () => {
    for (let times = 0; times < 7; times++) await run((await send(list(100))).loadId);
    const [first, second] = [(await send(list(3))).loadId, (await send(list(4))).loadId];
    expect(await run(first)).toMatchObject({ state: 'held' });
    expect(await run(second)).toMatchObject({ state: 'held' });
    expect(await viewer!.json('/api/feeds/loads?state=held')).toMatchObject({
      loads: [{ loadId: second, gates: [{ gate: 'volume' }] }, { loadId: first }],
    });
    expect(await decide(first, 'release', viewer!)).toMatchObject({ code: 'forbidden' });
    expect(await decide(first, 'release', operator!, ' ')).toMatchObject({ code: 'reason_required' });
    expect(await decide(first, 'release')).toMatchObject({
      status: 403,
      code: 'decided_by_requester',
      detail: 'operator submitted the load.',
    });
    await db.query("UPDATE feed_load SET submitted_by = 'cli ben' WHERE load_id = ANY ($1)", [[first, second]]);
    expect(await decide(first, 'release')).toMatchObject({ state: 'queued' });
    expect(await run(first)).toMatchObject({
      state: 'done',
      decision: { kind: 'release', by: 'console operator', reason: 'why' },
    });
    expect(await decide(second, 'discard')).toMatchObject({ state: 'discarded' });
    expect(await decide(second, 'release')).toMatchObject({ code: 'feed_not_held' });
    const { rows } = await db.query(
      "SELECT object, detail ->> 'decision' AS decision FROM console_event WHERE action = 'decide_load' ORDER BY at",
    );
    expect(rows).toEqual([
      { object: `load ${first}`, decision: 'release' },
      { object: `load ${second}`, decision: 'discard' },
    ]);
  });

  it('have an arrival for each source', async () => {
    expect(await viewer!.json('/api/feeds')).toMatchObject({
      arrivals: [
        { feed: 'reputation', source: '', late: false },
        { feed: 'reputation', source: 'list', expectedHours: null },
      ],
    });
  });
});
