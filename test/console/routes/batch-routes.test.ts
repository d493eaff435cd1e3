import { describe, expect, it } from 'vitest';
import { AudioRefusal } from '../../../pipelines/audio/reasons.ts';
import { logIn, useConsole, type ConsoleClient } from '../support/console-process.ts';
import { withoutRecordOf } from '../support/broken-trail.ts';
import { seedBatch } from '../support/verifications.ts';

const running = await useConsole();
const {
  database: { db },
} = running;
const [viewer, reviewer, operator] = [
  await logIn(running, 'viewer'),
  await logIn(running, 'reviewer'),
  await logIn(running, 'operator'),
];

const done = await seedBatch(
  running,
  [
    { label: 'authentic' },
    { withoutScore: 'no_voice' },
    { refusal: new AudioRefusal('time_exceeded') },
    { refusal: new AudioRefusal('audio_damaged') },
  ],
  { name: 'Monday' },
);
const waiting = await seedBatch(
  running,
  [{ label: 'synthesized', source: '=cmd|"quoted", name.wav' }, 'queued', 'queued'],
  { name: 'Tuesday', owner: 'bank' },
);

interface ListedBatch {
  id: string;
  name: string;
  state: string;
  items: number;
  open: number;
}

const list = (query: string) =>
  viewer.json<{ batches: ListedBatch[]; next: string | null; code?: string }>(`/api/batches?${query}`);

/** The events of a live answer that ends, or the first one of another. */
async function readLive(
  client: ConsoleClient,
  path: string,
): Promise<{ events: { event: string; value: Record<string, unknown> }[] }> {
  const response = await client.fetch(path);
  let text = '';
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += part.value;
    if (text.includes('\n\n')) break;
  }
  await reader.cancel();
  const events = text
    .split('\n\n')
    .filter((each) => each.startsWith('event'))
    .map((each) => ({
      event: /^event: (.*)$/m.exec(each)![1]!,
      value: JSON.parse(/^data: (.*)$/m.exec(each)![1]!) as Record<string, unknown>,
    }));
  return { events };
}

describe('the list of batches', () => {
  it('has those of all clients, the newest first, with how many items wait', async () => {
    const { batches, next } = await list('');
    expect(batches.map(({ name, state, items, open }) => [name, state, items, open])).toEqual([
      ['Tuesday', 'performing', 3, 2],
      ['Monday', 'done', 4, 0],
    ]);
    expect(next).toBeNull();
  });

  it('is narrowed by state, and read in pages', async () => {
    expect((await list('state=done')).batches.map(({ id }) => id)).toEqual([done.batch.id]);
    const page = await list('limit=1');
    expect([page.batches[0]!.id, (await list(`limit=1&before=${page.next}`)).batches[0]!.id]).toEqual([
      waiting.batch.id,
      done.batch.id,
    ]);
  });

  it.each(['state=lost', 'limit=0', 'before=x', 'owner=bank'])('refuses %s', async (query) => {
    expect((await list(query)).code).toBe('parameter_invalid');
  });
});

describe('a batch', () => {
  it('is followed with its counts and reasons, and whether somebody performs it', async () => {
    const { events } = await readLive(viewer, `/api/batches/${waiting.batch.id}/live`);
    expect(events[0]).toMatchObject({
      event: 'value',
      value: {
        batch: { name: 'Tuesday', state: 'performing' },
        counts: { performed: 1, queued: 2 },
        reasons: [],
        workerConnected: false,
      },
    });
    const { events: ended } = await readLive(viewer, `/api/batches/${done.batch.id}/live`);
    expect(ended[0]!.value).toMatchObject({
      batch: { state: 'done' },
      counts: { performed: 1, performedWithoutScore: 1, error: 2 },
      workerConnected: null,
      reasons: expect.arrayContaining([
        { reason: 'time_exceeded', meaning: 'Scoring took longer than the limit.', retryHelps: true, items: 1 },
      ]) as unknown,
    });
  });

  it('has its items in pages, all or those in a state', async () => {
    const items = async (query: string) =>
      await viewer.json<{ items: { line: number; why: { reason: string } | null }[]; next: string | null }>(
        `/api/batches/${done.batch.id}/items?${query}`,
      );
    expect((await items('state=error')).items.map(({ line, why }) => [line, why?.reason])).toEqual([
      [3, 'time_exceeded'],
      [4, 'audio_damaged'],
    ]);
    const page = await items('limit=3');
    expect([page.items.length, page.next]).toEqual([3, '3']);
    expect((await items('limit=3&after=3')).items.map(({ line }) => line)).toEqual([4]);
  });

  it('is saved as CSV, as the command line prints it, and a name that a client chose is no formula', async () => {
    const response = await viewer.fetch(`/api/batches/${waiting.batch.id}/results.csv?state=performed`);
    expect([response.headers.get('content-type'), response.headers.get('content-disposition')]).toEqual([
      'text/csv; charset=utf-8',
      `attachment; filename="results-${waiting.batch.id}.csv"`,
    ]);
    const lines = (await response.text()).split('\n');
    expect(lines[0]).toMatch(/^line,source,state,synthesis,replay,decision,next_step,reason,/);
    expect(lines[1]).toMatch(/^1,"'=cmd\|""quoted"", name\.wav",performed,0\.1,0\.8,synthesized,/);
    expect(lines).toHaveLength(3);
    const { rows } = await db.query("SELECT actor, object, detail FROM console_event WHERE action = 'save_results'");
    expect(rows).toEqual([{ actor: 'viewer', object: `batch ${waiting.batch.id}`, detail: { state: 'performed' } }]);
  });

  it('of another id is unknown', async () => {
    for (const id of ['x', '00000000-0000-4000-8000-000000000000']) {
      for (const path of ['live', 'items', 'results.csv'])
        expect(await viewer.json(`/api/batches/${id}/${path}`)).toMatchObject({ status: 404, code: 'batch_unknown' });
      for (const path of ['retry', 'cancel'])
        expect(await operator.json(`/api/batches/${id}/${path}`, { method: 'POST', body: '{}' })).toMatchObject({
          status: 404,
          code: 'batch_unknown',
        });
    }
  });
});

describe('what is done to a batch', () => {
  const post = (client: ConsoleClient, id: string, what: string, body = {}) =>
    client.fetch(`/api/batches/${id}/${what}`, { method: 'POST', body: JSON.stringify(body) });
  const eventsOf = async (action: string) =>
    (await db.query<object>('SELECT actor, object, detail FROM console_event WHERE action = $1', [action])).rows;

  it('is for reviewers, and cancelling for operators', async () => {
    expect([
      (await post(viewer, done.batch.id, 'retry')).status,
      (await post(reviewer, waiting.batch.id, 'cancel')).status,
    ]).toEqual([403, 403]);
  });

  it('is not done where it cannot be recorded', async () => {
    await withoutRecordOf(db, 'retry_batch', async () =>
      expect((await post(reviewer, done.batch.id, 'retry')).status).toBe(500),
    );
    await withoutRecordOf(db, 'cancel_batch', async () =>
      expect((await post(operator, waiting.batch.id, 'cancel')).status).toBe(500),
    );
    expect((await list('')).batches.map(({ state }) => state)).toEqual(['performing', 'done']);
  });

  it('queues again what failed for causes in the service, and it is recorded', async () => {
    expect(await (await post(reviewer, done.batch.id, 'retry')).json()).toMatchObject({ retried: 1, state: 'queued' });
    expect(await eventsOf('retry_batch')).toEqual([
      { actor: 'reviewer', object: `batch ${done.batch.id}`, detail: { retried: 1, all: false } },
    ]);
    expect(await (await post(reviewer, done.batch.id, 'retry')).json()).toMatchObject({ code: 'batch_ended' });
  });

  it('cancels what waits, after which everything that is in error can be tried again', async () => {
    expect(await (await post(operator, done.batch.id, 'cancel')).json()).toMatchObject({ cancelled: 1 });
    expect(await eventsOf('cancel_batch')).toEqual([
      { actor: 'operator', object: `batch ${done.batch.id}`, detail: { cancelled: 1 } },
    ]);
    expect(await (await post(operator, done.batch.id, 'cancel')).json()).toMatchObject({
      status: 409,
      code: 'batch_ended',
    });
    expect(await (await post(reviewer, done.batch.id, 'retry', { all: true })).json()).toMatchObject({ retried: 2 });
    expect(await (await post(reviewer, done.batch.id, 'retry', { everything: true })).json()).toMatchObject({
      code: 'parameter_invalid',
    });
  });
});
