import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { withdrawBrand } from '../../../pipelines/branding/brand/person-actions.ts';
import { ask, fresh, owner, profile, signedForm, signer } from '../../support/branding.ts';
import { withoutRecordOf } from '../support/broken-trail.ts';
import { logIn, useConsole, type ConsoleClient } from '../support/console-process.ts';
import { testMasterKey } from '../support/letters.ts';

const running = await useConsole({ LETTER_MASTER_KEY: testMasterKey });
const { db } = running.database;

describe('the form of a letter in the console', () => {
  let viewer: ConsoleClient;
  let reviewer: ConsoleClient;
  const { handle, phones } = fresh(4);
  const [verified, waiting] = [phones.slice(0, 2), phones.slice(2)];

  beforeAll(async () => {
    [viewer, reviewer] = await Promise.all([logIn(running, 'viewer'), logIn(running, 'reviewer')]);
    await ask(db, 'add_managed_brand', { handle, brand: profile, numbers: verified }, { letter: signedForm(verified) });
    await ask(db, 'add_phone_number', { handle, numbers: waiting });
  });

  const issue = (client: ConsoleClient, body: object, brand: string = handle) =>
    client.fetch(`/api/brands/${brand}/letter-form`, { method: 'POST', body: JSON.stringify(body) });
  const refusal = async (body: object, brand?: string) =>
    ((await (await issue(reviewer, body, brand)).json()) as { code: string }).code;
  const forms = async () =>
    (
      await db.query<{
        form_id: number;
        owner: string;
        sha256: string;
        language: string;
        issued_by: string;
        content: { phones: string[]; signerName: string };
      }>('SELECT * FROM issued_form WHERE issued_by <> $1 ORDER BY form_id', ['test'])
    ).rows;
  const events = async () =>
    (
      await db.query<{ actor: string; object: string; detail: object }>(
        "SELECT actor, object, detail FROM console_event WHERE action = 'issue_letter_form' ORDER BY event_id",
      )
    ).rows;

  it('is sent as a PDF for the numbers that no letter in force names, and recorded', async () => {
    const answer = await issue(reviewer, { signer, language: 'de' });
    expect(answer.headers.get('content-type')).toBe('application/pdf');
    const bytes = Buffer.from(await answer.arrayBuffer());
    const [form] = await forms();
    expect(form).toMatchObject({
      owner,
      language: 'de',
      issued_by: 'console reviewer',
      sha256: createHash('sha256').update(bytes).digest('hex'),
      content: { phones: waiting, signerName: signer.name },
    });
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="${handle}-form-${form!.form_id}.pdf"`,
    );
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await events()).toEqual([
      { actor: 'reviewer', object: `brand ${handle}`, detail: { form: form!.form_id, language: 'de', numbers: 2 } },
    ]);
  });

  it('is issued for numbers that are named, in English unless another language is asked for', async () => {
    expect((await issue(reviewer, { signer, numbers: [verified[0], '+1 212 555 9901'] })).status).toBe(200);
    expect((await forms()).at(-1)).toMatchObject({
      language: 'en',
      content: { phones: [verified[0]!, '+12125559901'].toSorted() },
    });
  });

  it('is issued for more waiting numbers than a request can name', async () => {
    const many = {
      handle: fresh(0).handle,
      phones: Array.from({ length: 1001 }, (_, at) => `+1313555${String(at).padStart(4, '0')}`),
    };
    await ask(
      db,
      'add_managed_brand',
      { handle: many.handle, brand: profile },
      { numbersFile: many.phones.join('\n') },
    );
    expect((await issue(reviewer, { signer }, many.handle)).status).toBe(200);
    expect((await forms()).at(-1)!.content.phones).toEqual(many.phones);
  });

  it('is refused without a signer, for what is no number, in no language of the form, for a brand that is not there or has ended, and to viewers', async () => {
    const before = (await forms()).length;
    expect(await refusal({})).toBe('parameter_invalid');
    expect(await refusal({ signer: { ...signer, title: ' ' } })).toBe('parameter_invalid');
    expect(await refusal({ signer, language: 'nl' })).toBe('parameter_invalid');
    expect(await refusal({ signer, numbers: ['nonsense'] })).toBe('brand_request_invalid');
    expect(await refusal({ signer: { ...signer, name: '山田太郎' } })).toBe('form_text_unsupported');
    expect(await refusal({ signer }, 'not-there')).toBe('brand_unknown');
    const ended = fresh(1);
    await ask(db, 'add_managed_brand', { handle: ended.handle, brand: profile, numbers: ended.phones });
    await withdrawBrand({ db, handle: ended.handle, reason: 'Closed', actor: 'test' });
    expect(await refusal({ signer }, ended.handle)).toBe('brand_withdrawn');
    expect((await issue(viewer, { signer })).status).toBe(403);
    expect(
      (
        await reviewer.fetch(`/api/brands/${handle}/letter-form`, {
          method: 'POST',
          body: JSON.stringify({ signer }),
          headers: { 'X-CSRF-Token': 'another' },
        })
      ).status,
    ).toBe(403);
    expect((await forms()).length).toBe(before);
  });

  it('is not issued where the trail takes no record of it', async () => {
    const before = (await forms()).length;
    await withoutRecordOf(db, 'issue_letter_form', async () =>
      expect((await issue(reviewer, { signer })).status).toBe(500),
    );
    expect((await forms()).length).toBe(before);
  });
});
