import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, fresh, signedForm, letterForReview, owner, profile } from '../../support/branding.ts';
import { testMasterKey } from '../support/letters.ts';
import { logIn, useConsole, type ConsoleClient } from '../support/console-process.ts';

const running = await useConsole({ LETTER_MASTER_KEY: testMasterKey });
const { db } = running.database;
const { handle, phones } = fresh(2);
const waiting = fresh(1);

/** Everything that the console could have changed. */
async function standing(): Promise<object> {
  const { rows } = await db.query<object>(`
    SELECT (SELECT json_agg(json_build_array(handle, state, approved_revision, pending_revision) ORDER BY handle) FROM brand) AS brands,
      (SELECT json_agg(json_build_array(phone, state) ORDER BY phone) FROM brand_number) AS numbers,
      (SELECT json_agg(json_build_array(letter_id, state) ORDER BY letter_id) FROM letter) AS letters,
      (SELECT count(*) FROM document WHERE destroyed_at IS NULL) AS documents, (SELECT count(*) FROM branding_event) AS events,
      (SELECT count(*) FROM branding_operation) AS operations, (SELECT count(*) FROM night_run) AS nights`);
  return rows[0]!;
}

describe('while the audit trail takes nothing', () => {
  let operator: ConsoleClient;
  let [approved, undecided] = [0, 0];

  beforeAll(async () => {
    operator = await logIn(running, 'operator');
    approved = (
      await ask(db, 'add_managed_brand', { handle, brand: profile, numbers: phones }, { letter: signedForm(phones) })
    ).letter!.letterId;
    await ask(db, 'update_managed_brand', { handle, changes: { displayName: 'Northwind Smiles' } });
    undecided = (
      await ask(
        db,
        'add_managed_brand',
        { handle: waiting.handle, brand: profile, numbers: waiting.phones },
        { letter: letterForReview(waiting.phones) },
      )
    ).letter!.letterId;
    await db.query("ALTER TABLE console_event ADD CONSTRAINT takes_nothing CHECK (action = 'log_in') NOT VALID");
  });
  afterAll(async () => void (await db.query('ALTER TABLE console_event DROP CONSTRAINT takes_nothing')));

  const post = (path: string, body: object) => operator.fetch(path, { method: 'POST', body: JSON.stringify(body) });
  const reason = 'Ticket 4711';

  it('nothing is changed on brands, numbers and letters, and no request or night is taken', async () => {
    const before = await standing();
    const form = new FormData();
    for (const [name, value] of Object.entries({
      kind: 'update_managed_brand',
      owner,
      key: 'unrecorded',
      request: JSON.stringify({ handle, changes: { website: 'https://other.example/' } }),
    }))
      form.append(name, value);
    const answers = [
      await post(`/api/brands/${handle}/decision`, { approve: true, revision: 2, reason }),
      await post(`/api/brands/${handle}/suspend`, { reason }),
      await post(`/api/brands/${handle}/withdraw`, { reason }),
      await post(`/api/brands/${handle}/numbers/action`, { phone: phones[0], action: 'remove', reason }),
      await post(`/api/letters/${undecided}/decision`, { approve: true, reason }),
      await post(`/api/letters/${approved}/withdraw`, { reason }),
      await post(`/api/letters/${approved}/delete`, { reason }),
      await operator.fetch('/api/operations', { method: 'POST', body: form }),
      await operator.fetch('/api/nights', {
        method: 'POST',
        body: '{}',
        headers: { 'Idempotency-Key': '"unrecorded"' },
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 500));
    expect(await standing()).toEqual(before);
  });

  it('no queue is changed', async () => {
    expect((await post('/api/queues/nights/pause', {})).status).toBe(500);
    const { queues } = await operator.json<{ queues: { name: string; isPaused: boolean }[] }>('/api/queues');
    expect(queues.find(({ name }) => name === 'nights')).toMatchObject({ isPaused: false });
  });
});
