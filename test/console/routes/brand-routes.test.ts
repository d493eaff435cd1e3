import { beforeAll, describe, expect, it } from 'vitest';
import { ask, fresh, signedForm, owner, profile } from '../../support/branding.ts';
import { testMasterKey } from '../support/letters.ts';
import { logIn, useConsole, type ConsoleClient } from '../support/console-process.ts';

const running = await useConsole({ LETTER_MASTER_KEY: testMasterKey });
const { db } = running.database;
const contact = { name: 'Jane Sample', email: 'jane@northwind.example' };

describe('brands in the console', () => {
  let viewer: ConsoleClient;
  let reviewer: ConsoleClient;
  const { handle, phones } = fresh(3);

  beforeAll(async () => {
    [viewer, reviewer] = await Promise.all([logIn(running, 'viewer'), logIn(running, 'reviewer')]);
    await ask(
      db,
      'add_managed_brand',
      { handle, brand: { ...profile, contact, taxId: '12-3456789' }, numbers: phones },
      { letter: signedForm(phones) },
    );
    for (const other of ['acorn', 'acorn-two', 'birch'])
      await ask(db, 'add_managed_brand', { handle: other, brand: profile });
  });

  const post = (client: ConsoleClient, path: string, body: object) =>
    client.json<{ code?: string; state?: string }>(path, { method: 'POST', body: JSON.stringify(body) });

  it('are found by their handle', async () => {
    expect(await post(viewer, '/api/find', { text: 'acorn-two' })).toEqual({ href: '/brands/acorn-two' });
    expect(await post(viewer, '/api/find', { text: 'acorn-three' })).toEqual({ href: null });
  });

  it('are listed by handle, page by page, and by what a handle begins with', async () => {
    const first = await viewer.json<{ brands: { handle: string }[]; next: string }>('/api/brands?prefix=acorn&limit=1');
    expect(first).toMatchObject({ brands: [{ handle: 'acorn' }], next: 'acorn' });
    expect(await viewer.json(`/api/brands?prefix=acorn&after=${first.next}`)).toMatchObject({
      brands: [{ handle: 'acorn-two' }],
      next: null,
    });
    expect(await viewer.json('/api/brands?state=approved')).toMatchObject({ brands: [{ handle, verifiedNumbers: 3 }] });
    expect(await viewer.json(`/api/brands?owner=${encodeURIComponent('Nobody')}`)).toEqual({ brands: [], next: null });
  });

  it('show their private fields to reviewers who ask for them, which is recorded', async () => {
    const shown = await viewer.fetch(`/api/brands/${handle}`);
    const text = await shown.text();
    expect(text).not.toMatch(/Jane Sample|12-3456789/);
    expect(JSON.parse(text)).toMatchObject({ profile: { hasPrivate: true }, can: { suspend: true, decide: false } });
    expect(await post(viewer, `/api/brands/${handle}/private`, {})).toMatchObject({ code: 'forbidden' });
    expect(await post(reviewer, `/api/brands/${handle}/private`, {})).toMatchObject({
      profile: { contact, taxId: '12-3456789' },
    });
    expect(await actionsOn(`brand ${handle}`)).toContainEqual({ actor: 'reviewer', action: 'view_private_fields' });
  });

  it('are suspended and resumed by reviewers, for a reason, and the trails say who', async () => {
    expect(await post(viewer, `/api/brands/${handle}/suspend`, { reason: 'why' })).toMatchObject({ code: 'forbidden' });
    expect(await post(reviewer, `/api/brands/${handle}/suspend`, { reason: '  ' })).toMatchObject({
      code: 'reason_required',
    });
    expect(await post(reviewer, `/api/brands/${handle}/suspend`, { reason: 'Complaints, ticket 7' })).toMatchObject({
      state: 'suspended',
    });
    expect(await post(reviewer, `/api/brands/${handle}/suspend`, { reason: 'again' })).toMatchObject({
      code: 'transition_refused',
    });
    const { events } = await viewer.json<{ events: object[] }>(`/api/brands/${handle}/history?limit=1`);
    expect(events).toMatchObject([
      { action: 'suspend', after: 'suspended', actor: 'console reviewer', reason: 'Complaints, ticket 7' },
    ]);
    expect(await post(reviewer, `/api/brands/${handle}/resume`, { reason: 'Settled' })).toMatchObject({
      state: 'approved',
    });
    expect(await actionsOn(`brand ${handle}`)).toEqual(
      expect.arrayContaining([
        { actor: 'reviewer', action: 'suspend_brand' },
        { actor: 'reviewer', action: 'resume_brand' },
      ]),
    );
  });

  it('have numbers by state, page by page, that reviewers change one by one', async () => {
    const page = await viewer.json<{ numbers: { phone: string }[]; next: string }>(
      `/api/brands/${handle}/numbers?state=verified&limit=2`,
    );
    expect(page.numbers.map(({ phone }) => phone)).toEqual(phones.slice(0, 2));
    expect(page.next).toMatch(/^[1-9]\d*$/);
    expect(phones).not.toContain(`+${page.next}`); // addresses are kept in logs and histories
    expect(await viewer.json(`/api/brands/${handle}/numbers?after=${page.next}`)).toMatchObject({
      numbers: [{ phone: phones[2] }],
      next: null,
    });
    expect(await viewer.json(`/api/brands/acorn/numbers?after=${page.next}`)).toEqual({ numbers: [], next: null });
    const change = (phone: string, action: string) =>
      post(reviewer, `/api/brands/${handle}/numbers/action`, { phone, action, reason: 'Moved' });
    expect(await change(phones[0]!, 'suspend')).toMatchObject({ state: 'suspended' });
    expect(await change('+12125559999', 'suspend')).toMatchObject({ code: 'phone_unknown' });
    expect(await change('nonsense', 'suspend')).toMatchObject({ code: 'phone_invalid' });
    const { rows } = await db.query<{ detail: unknown }>(
      "SELECT detail FROM console_event WHERE action = 'change_number'",
    );
    expect(JSON.stringify(rows)).not.toContain(phones[0]);
  });

  it('with a pending revision are decided by a reviewer', async () => {
    await ask(db, 'update_managed_brand', { handle, changes: { displayName: 'Northwind Smiles' } });
    expect(await viewer.json(`/api/brands/${handle}`)).toMatchObject({
      profile: { displayName: 'Northwind Dental' },
      pendingProfile: { displayName: 'Northwind Smiles' },
      can: { decide: true },
    });
    expect(await reviewer.json('/api/review/brands')).toMatchObject({
      brands: [{ handle, owner, approvedDisplayName: 'Northwind Dental', pendingDisplayName: 'Northwind Smiles' }],
    });
    expect(await viewer.json('/api/review/counts')).toEqual({ letters: 0, brands: 1, disputes: 0 });
    const decide = (revision?: number) =>
      post(reviewer, `/api/brands/${handle}/decision`, { approve: true, revision, reason: 'Seen in the register' });
    const { pendingRevision: seen } = await viewer.json<{ pendingRevision: number }>(`/api/brands/${handle}`);
    await ask(db, 'update_managed_brand', { handle, changes: { displayName: 'Northwind Grins' } }); // while the page of that one is open
    expect(await decide()).toMatchObject({ code: 'parameter_invalid' });
    expect(await decide(seen)).toMatchObject({
      code: 'transition_refused',
      detail: `Revision ${seen + 1} waits for a decision, in place of revision ${seen}.`,
      hint: expect.stringContaining('Load the page again') as string,
    });
    expect(await viewer.json(`/api/brands/${handle}`)).toMatchObject({
      profile: { displayName: 'Northwind Dental' },
      pendingRevision: seen + 1,
    });
    expect(await decide(seen + 1)).toMatchObject({ state: 'approved' });
    expect(await viewer.json(`/api/brands/${handle}`)).toMatchObject({
      profile: { displayName: 'Northwind Grins' },
      pendingProfile: null,
      can: { decide: false },
    });
    expect(await decide(seen + 1)).toMatchObject({
      code: 'transition_refused',
      detail: `Revision ${seen + 1} does not wait for a decision any more.`,
    });
  });

  it('that are unknown, and values that cannot be, are answered with typed errors', async () => {
    expect((await viewer.fetch('/api/brands/nothing-here')).status).toBe(404);
    for (const path of [
      '/api/brands/No',
      '/api/brands?limit=0',
      '/api/brands?state=new',
      `/api/brands/${handle}/numbers?after=%2B12025550143`,
      `/api/brands/${handle}/history?before=1e3`,
      '/api/brands?order=owner',
      '/api/letters?before=99999999999999999',
      '/api/letters/x',
    ]) {
      expect([path, (await viewer.fetch(path)).status]).toEqual([path, 400]);
    }
    expect((await viewer.fetch('/api/letters/4711')).status).toBe(404);
    expect(
      (
        await reviewer.fetch(`/api/brands/${handle}/suspend`, {
          method: 'POST',
          body: '{"reason":"x"}',
          headers: { 'X-CSRF-Token': 'guessed' },
        })
      ).status,
    ).toBe(403);
  });

  it('have letters that are listed by brand, state and how soon they end', async () => {
    expect(await viewer.json(`/api/letters?brand=${handle}&state=approved`)).toMatchObject({
      letters: [{ handle, state: 'approved' }],
      next: null,
    });
    expect(await viewer.json('/api/letters?days=30')).toEqual({ letters: [], next: null });
    expect(await viewer.json('/api/letters?days=400')).toMatchObject({ letters: [{ handle }] });
  });
});

async function actionsOn(object: string): Promise<{ actor: string; action: string }[]> {
  return (
    await db.query<{ actor: string; action: string }>('SELECT actor, action FROM console_event WHERE object = $1', [
      object,
    ])
  ).rows;
}
