import { beforeAll, describe, expect, it } from 'vitest';
import { fresh } from '../../support/branding.ts';
import { handInLetter, testMasterKey } from '../support/letters.ts';
import { logIn, useConsole, type ConsoleClient } from '../support/console-process.ts';

const running = await useConsole({ LETTER_MASTER_KEY: testMasterKey });
const { db } = running.database;

interface Reviewed {
  readonly neighbours: { previous: number | null; next: number | null };
  readonly reading: {
    readonly findings: {
      code: string;
      severity: string;
      meaning: string;
      place: { page: number; box: { top: number } } | null;
    }[];
    readonly finds: {
      name: string;
      state: string;
      value: string;
      place: { page: number; box: { top: number } } | null;
    }[];
    readonly pages: { page: number; lines: object[] }[];
  };
}

describe('the review desk', () => {
  let viewer: ConsoleClient;
  let reviewer: ConsoleClient;
  let operator: ConsoleClient;
  let older: number;
  let newer: number;
  const first = fresh(3);

  beforeAll(async () => {
    [viewer, reviewer, operator] = await Promise.all([
      logIn(running, 'viewer'),
      logIn(running, 'reviewer'),
      logIn(running, 'operator'),
    ]);
    older = await handInLetter(db, first.handle, first.phones);
    const second = fresh(2);
    newer = await handInLetter(db, second.handle, second.phones);
  });

  const looks = async (letterId: number) =>
    (
      await db.query<{ action: string }>('SELECT action FROM console_event WHERE object = $1 ORDER BY event_id', [
        `letter ${letterId}`,
      ])
    ).rows.map(({ action }) => action);
  const decide = (client: ConsoleClient, letterId: number, body: object) =>
    client.json<{ state?: string; code?: string; detail?: string }>(`/api/letters/${letterId}/decision`, {
      method: 'POST',
      body: JSON.stringify(body),
    });

  it('has the letters that wait, oldest first, for reviewers', async () => {
    expect(await reviewer.json('/api/review/letters')).toMatchObject({
      letters: [{ letterId: older, requested: 3, findings: ['form_issued', 'signature_found'] }, { letterId: newer }],
      next: null,
    });
    expect(await reviewer.json('/api/review/letters?limit=1')).toMatchObject({
      letters: [{ letterId: older }],
      next: String(older),
    });
    expect((await viewer.fetch('/api/review/letters')).status).toBe(403);
    expect(await viewer.json('/api/review/counts')).toEqual({ letters: 2, brands: 0, disputes: 0 });
  });

  it('shows what was read from a letter with the place of each finding, and records the look', async () => {
    const { reading, neighbours } = await reviewer.json<Reviewed>(`/api/review/letters/${older}`);
    expect(reading.findings.map(({ code, severity }) => [code, severity])).toEqual([['form_issued', 'review']]);
    expect(reading.findings.filter(({ meaning }) => meaning === '')).toEqual([]);
    expect(reading.finds.filter(({ name }) => name === 'Requested number').map(({ state }) => state)).toEqual(
      Array.from({ length: 3 }, () => 'found'),
    );
    const name = reading.finds.find((find) => find.name === 'Legal name')!;
    expect(name).toMatchObject({ state: 'found', value: 'Northwind Dental LLC', place: { page: 1 } });
    expect(name.place!.box.top).toBeGreaterThan(0.05);
    expect(neighbours).toEqual({ previous: null, next: newer });
    expect(reading.pages).toMatchObject([{ page: 1 }]);
    expect(await looks(older)).toEqual(['view_letter']);
    expect((await viewer.fetch(`/api/review/letters/${older}`)).status).toBe(403);
    expect(JSON.stringify(await viewer.json(`/api/letters/${older}`))).not.toContain('Jane Sample');
  });

  it('draws its pages for reviewers, and records each look', async () => {
    const answer = await reviewer.fetch(`/api/review/letters/${newer}/pages/1`);
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(
      Buffer.from(await answer.arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    expect((await reviewer.fetch(`/api/review/letters/${newer}/pages/2`)).status).toBe(400);
    expect((await viewer.fetch(`/api/review/letters/${newer}/pages/1`)).status).toBe(403);
    expect(await looks(newer)).toEqual(['view_letter_page']);
  });

  it('hands the file out as an attachment that no browser runs', async () => {
    const answer = await reviewer.fetch(`/api/letters/${newer}/file`);
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="letter-${newer}.pdf"`);
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    expect((await answer.text()).startsWith('%PDF-')).toBe(true);
    expect(await looks(newer)).toEqual(['view_letter_page', 'save_letter']);
  });

  it('lists the numbers that were requested and which of them the letter has', async () => {
    expect(await viewer.json(`/api/letters/${older}/numbers?limit=2`)).toMatchObject({
      numbers: [{ phone: first.phones[0], authorized: true }, { phone: first.phones[1] }],
      next: '2',
    });
    expect(await viewer.json(`/api/letters/${older}/numbers?missing=1`)).toEqual({ numbers: [], next: null });
    expect(await viewer.json(`/api/letters/${older}`)).toMatchObject({ request: { requested: 3, authorized: 3 } });
  });

  it('lets one of two reviewers decide, and answers the other one with the decision', async () => {
    expect(await decide(viewer, older, { approve: true, reason: 'x' })).toMatchObject({ code: 'forbidden' });
    expect(await decide(reviewer, older, { approve: true, reason: ' ' })).toMatchObject({ code: 'reason_required' });
    const answers = await Promise.all([
      decide(reviewer, older, { approve: true, reason: 'The signature on file' }),
      decide(operator, older, { approve: true, reason: 'The signature on file' }),
    ]);
    expect(answers.map(({ state, code }) => state ?? code).sort()).toEqual(['approved', 'transition_refused']);
    expect(await viewer.json(`/api/letters/${older}`)).toMatchObject({
      state: 'approved',
      decidedBy: expect.stringMatching(/^console (reviewer|operator)$/),
      decisionReason: 'The signature on file',
    });
    expect(await viewer.json(`/api/brands/${first.handle}`)).toMatchObject({
      state: 'approved',
      numbers: { verified: 3 },
    });
  });

  it('says of a document that was destroyed that it is gone, also if its pages were drawn before', async () => {
    expect((await reviewer.fetch(`/api/review/letters/${older}/pages/1`)).status).toBe(200);
    const destroy = (client: ConsoleClient) =>
      client.fetch(`/api/letters/${older}/delete`, { method: 'POST', body: '{"reason":"Erasure asked for"}' });
    expect((await destroy(reviewer)).status).toBe(403);
    expect((await destroy(operator)).status).toBe(200);
    expect((await reviewer.fetch(`/api/review/letters/${older}/pages/1`)).status).toBe(410);
    expect((await reviewer.fetch(`/api/letters/${older}/file`)).status).toBe(410);
    expect(await reviewer.json(`/api/review/letters/${older}`)).toMatchObject({
      letter: { document: { destroyedAt: expect.any(String) } },
      reading: { finds: [], pages: [] },
    });
  });

  it('withdraws a letter for a reason', async () => {
    expect(
      await reviewer.json(`/api/letters/${newer}/withdraw`, {
        method: 'POST',
        body: '{"reason":"Revoked by the customer"}',
      }),
    ).toEqual({ letterId: newer, state: 'withdrawn' });
    expect(await reviewer.json('/api/review/letters')).toEqual({ letters: [], next: null });
  });
});
