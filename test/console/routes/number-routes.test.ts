import { beforeAll, describe, expect, it } from 'vitest';
import { fileDispute } from '../../../pipelines/labels/number-dispute.ts';
import { openVault } from '../../../runtime/secrets/vault.ts';
import { putNumbers } from '../../support/numbers.ts';
import { withoutRecordOf } from '../support/broken-trail.ts';
import { logIn, useConsole, type ConsoleClient } from '../support/console-process.ts';
import { testMasterKey } from '../support/letters.ts';

const running = await useConsole({ LETTER_MASTER_KEY: testMasterKey });
const { db } = running.database;
const [first, second, third] = ['+12025550143', '+12025550144', '+12025550145'] as const;

describe('the numbers of the console', () => {
  let viewer: ConsoleClient;
  let reviewer: ConsoleClient;
  const disputes: number[] = [];
  const post = <Answer>(client: ConsoleClient, path: string, body: object) =>
    client.json<Answer & { code?: string }>(path, { method: 'POST', body: JSON.stringify(body) });
  const events = async () =>
    (
      await db.query<{ action: string; object: string; detail: object; actor: string }>(
        `SELECT action, object, detail, actor FROM console_event WHERE action NOT LIKE 'log_%' ORDER BY event_id`,
      )
    ).rows;

  beforeAll(async () => {
    await putNumbers(
      db,
      [first, second, third].map((phone) => ({ phone, level: 'SPAM' as const, category: 6 })),
    );
    [viewer, reviewer] = await Promise.all([logIn(running, 'viewer'), logIn(running, 'reviewer')]);
    const vault = await openVault({ letterMasterKey: testMasterKey, stateDir: running.stateDir });
    for (const [phone, filedBy] of [
      [second, 'cli ada'],
      [third, 'cli reviewer'],
    ] as const) {
      disputes.push(
        (
          await fileDispute(
            { db, vault },
            { request: { phone, reason: 'Ours since May', contact: 'office@clinic.example' }, filedBy },
          )
        ).disputeId,
      );
    }
  });

  it('are looked up in any international form, with the history of their label', async () => {
    expect(await post(viewer, '/api/numbers/look-up', { phone: '+1 202 555 0143' })).toMatchObject({
      phone: first,
      reputation: { level: 'SPAM', category: { id: 6, name: 'telemarketer' } },
      since: expect.any(String),
      changes: [{ from: { level: 'NEUTRAL' }, to: { level: 'SPAM', category: 6 }, cause: expect.any(String) }],
      disputes: [],
    });
    expect(await post(viewer, '/api/numbers/look-up', { phone: '12' })).toMatchObject({ code: 'phone_invalid' });
    expect(await post(viewer, '/api/numbers/look-up', { phone: '+12025550199' })).toMatchObject({
      code: 'phone_unknown',
    });
  });

  it('are cleared by reviewers, for a reason, with a record that names no number', async () => {
    expect(await post(viewer, '/api/numbers/clear', { phone: first, reason: 'x' })).toMatchObject({
      code: 'forbidden',
    });
    expect(await post(reviewer, '/api/numbers/clear', { phone: first, reason: ' ' })).toMatchObject({
      code: 'reason_required',
    });
    await withoutRecordOf(db, 'clear_number', async () =>
      expect(await post(reviewer, '/api/numbers/clear', { phone: first, reason: 'A hospital' })).toMatchObject({
        code: 'internal',
      }),
    );
    expect(await post(viewer, '/api/numbers/look-up', { phone: first })).toMatchObject({
      reputation: { level: 'SPAM' },
    });
    expect(await post(reviewer, '/api/numbers/clear', { phone: first, reason: 'A hospital' })).toMatchObject({
      reputation: { level: 'NEUTRAL', source: 'redress' },
      redress: [{ reason: 'A hospital', clearedBy: 'console reviewer' }],
      changes: [{ why: 'console reviewer: A hospital' }, {}],
    });
    expect(await events()).toEqual([
      { action: 'clear_number', object: expect.stringMatching(/^clearing \d+$/), detail: {}, actor: 'reviewer' },
    ]);
  });

  it('have disputes that reviewers read, with a record of each look at a contact', async () => {
    expect((await viewer.fetch('/api/disputes')).status).toBe(403);
    expect(await reviewer.json('/api/disputes?state=open&limit=1')).toMatchObject({
      disputes: [{ disputeId: disputes[0], phone: second, reason: 'Ours since May', hasContact: true }],
      next: String(disputes[0]),
    });
    expect(await viewer.json('/api/review/counts')).toMatchObject({ disputes: 2 });
    expect(JSON.stringify(await reviewer.json(`/api/disputes/${disputes[0]}`))).not.toContain('clinic');
    expect(await reviewer.json(`/api/disputes/${disputes[0]}/contact`)).toEqual({ contact: 'office@clinic.example' });
    expect((await events()).at(-1)).toMatchObject({ action: 'view_dispute_contact', object: `dispute ${disputes[0]}` });
    expect((await reviewer.fetch('/api/disputes/99')).status).toBe(404);
  });

  it('have disputes that another person decides than who filed them', async () => {
    const decide = (disputeId: number, body: object, client = reviewer) =>
      post(client, `/api/disputes/${disputeId}/decision`, body);
    expect(await decide(disputes[0]!, { clear: true, reason: 'x' }, viewer)).toMatchObject({ code: 'forbidden' });
    expect(await decide(disputes[1]!, { clear: true, reason: 'x' })).toMatchObject({ code: 'decided_by_requester' });
    expect(await decide(disputes[0]!, { clear: true, reason: 'Seen the contract' })).toMatchObject({
      state: 'cleared',
      decision: { by: 'console reviewer', reason: 'Seen the contract' },
    });
    expect(await decide(disputes[0]!, { clear: false, reason: 'x' })).toMatchObject({ code: 'dispute_decided' });
    expect((await events()).at(-1)).toMatchObject({
      action: 'decide_dispute',
      object: `dispute ${disputes[0]}`,
      detail: { clear: true },
    });
    expect(await post(viewer, '/api/numbers/look-up', { phone: second })).toMatchObject({
      reputation: { level: 'NEUTRAL' },
      disputes: [{ state: 'cleared' }],
      changes: [{ cause: 'a dispute was decided for the number' }, {}],
    });
  });
});
