import { describe, expect, it } from 'vitest';
import { listEvents, readBrand } from '../../../../pipelines/branding/brand/brand-record.ts';
import {
  confirmCode,
  failProof,
  listNumberProofs,
  placeProofCalls,
  proofLimits,
  startProofs,
  type ProofLimits,
  type StartedProofs,
} from '../../../../pipelines/branding/proof/number-proof.ts';
import { changeNumber } from '../../../../pipelines/branding/brand/person-actions.ts';
import { makeCode } from '../../../../pipelines/branding/proof/proof-code.ts';
import { readProvenPhones } from '../../../../pipelines/branding/brand/proven-numbers.ts';
import type { ApprovalPolicy } from '../../../../pipelines/branding/decision/letter-form-rules.ts';
import { eyes, ask, fresh, goodLetter, profile, signedForm, type AskOptions } from '../../../support/branding.ts';
import { HeardCalls } from '../../../support/code-caller.ts';
import { useTestDatabase } from '../../../support/database.ts';

const { db } = await useTestDatabase();
const secret = 's'.repeat(32);
const byDefault = { numberBlockCalls: 3, callsPerDayMax: 2, proofsOpenMax: 4 };

interface Brand {
  readonly handle: string;
  readonly phones: readonly string[];
  readonly brandId: number;
  readonly caller: HeardCalls;
}

async function brandWith(phones: readonly string[], handle = fresh(0).handle): Promise<Brand> {
  await ask(db, 'add_managed_brand', { handle, brand: profile }, { numbersFile: ['phone', ...phones].join('\n') });
  return { handle, phones, brandId: (await readBrand(db, handle)).brandId, caller: new HeardCalls() };
}

const withSome = (numbers: number) => brandWith(fresh(numbers).phones);
const start = ({ handle }: Brand, phones: readonly string[] | null = null, limits: Partial<ProofLimits> = {}) =>
  startProofs({ db, handle, phones, language: 'en', actor: 'cli ada', limits: { ...byDefault, ...limits } });
const place = ({ caller }: Brand, proofId: number) => placeProofCalls({ db, caller, secret, proofId });
const confirm = ({ handle }: Brand, phone: string, code: string) =>
  confirmCode({ db, handle, phone, code, actor: 'cli ada', secret, policy: 'form+numbers' });
const wrong = (code: string) => String((Number(code) + 1) % 10 ** 8).padStart(8, '0');
const proven = async ({ brandId, phones }: Brand) => [...(await readProvenPhones(db, brandId, phones))];
const pass = async (interval: string) =>
  void (await db.query(
    `UPDATE number_proof_call SET expires_at = expires_at - $1::interval, requested_at = requested_at - $1::interval`,
    [interval],
  ));

/** Starts the proofs of a brand and places their calls. */
async function called(
  brand: Brand,
  phones: readonly string[] | null = null,
  limits: Partial<ProofLimits> = {},
): Promise<StartedProofs> {
  const result = await start(brand, phones, limits);
  for (const { proofId } of result.started) await place(brand, proofId);
  return result;
}

describe('the proof of a number', () => {
  it('is the code that a call to it gave out, and is in the trail with who gave it back', async () => {
    const brand = await withSome(2);
    const [phone, other] = brand.phones as [string, string];
    const { started } = await called(brand);
    expect(started).toMatchObject([
      { numbers: 1, called: [phone] },
      { numbers: 1, called: [other] },
    ]);
    expect(brand.caller.calls).toMatchObject([
      { phone, code: expect.stringMatching(/^\d{8}$/), language: 'en' },
      { phone: other },
    ]);
    expect(await proven(brand)).toEqual([]);
    expect(await confirm(brand, phone, ` ${brand.caller.codeOf(phone).replace(/(....)/, '$1-')} `)).toMatchObject({
      proven: true,
      numbers: 1,
    });
    expect(await proven(brand)).toEqual([phone]);
    await expect(confirm(brand, other, brand.caller.codeOf(phone))).rejects.toMatchObject({ code: 'proof_code_wrong' });
    const events = (await listEvents(db, brand.brandId, { after: 0, limit: 100 })).filter(({ action }) =>
      action.startsWith('prove'),
    );
    expect(events).toMatchObject([
      { action: 'prove_start', phone },
      { action: 'prove_start', phone: other },
      { action: 'prove', phone, actor: 'cli ada', before: 'submitted', after: 'submitted' },
    ]);
  });

  it('stores no code, and the same code under a hash of its own for each call', async () => {
    const brand = await withSome(1);
    await called(brand);
    const { rows } = await db.query(
      'SELECT c.*, p.* FROM number_proof_call AS c JOIN number_proof AS p USING (proof_id) WHERE p.brand_id = $1',
      [brand.brandId],
    );
    expect(JSON.stringify(rows)).not.toContain(brand.caller.codeOf(brand.phones[0]!));
    expect(new Set(Array.from({ length: 1000 }, makeCode)).size).toBeGreaterThan(990);
  });

  it('is for numbers that the brand has', async () => {
    const [brand, other] = [await withSome(2), await withSome(1)];
    await expect(start(brand, other.phones)).rejects.toMatchObject({ code: 'phone_unknown' });
    await changeNumber({
      db,
      eyes,
      handle: brand.handle,
      phone: brand.phones[0]!,
      action: 'remove',
      actor: 'test',
      reason: 'x',
    });
    expect(await start(brand)).toMatchObject({
      started: [{ called: [brand.phones[1]] }],
      skipped: [{ phone: brand.phones[0], why: 'not_held' }],
    });
  });

  it('ends without a call if the number leaves the brand before it', async () => {
    const brand = await withSome(1);
    const {
      started: [proof],
    } = await start(brand);
    await changeNumber({
      db,
      eyes,
      handle: brand.handle,
      phone: brand.phones[0]!,
      action: 'remove',
      actor: 'test',
      reason: 'x',
    });
    expect(await place(brand, proof!.proofId)).toBe(0);
    expect(brand.caller.calls).toEqual([]);
  });

  it('is renewed only if it is asked for by name', async () => {
    const brand = await withSome(1);
    await called(brand);
    await confirm(brand, brand.phones[0]!, brand.caller.codeOf(brand.phones[0]!));
    expect(await start(brand)).toMatchObject({ started: [], skipped: [{ why: 'proven' }] });
    expect((await start(brand, brand.phones)).started).toHaveLength(1);
  });

  it('shows its state', async () => {
    const brand = await withSome(1);
    const look = async () => (await listNumberProofs(db, brand.brandId, {}))[0];
    expect(await look()).toMatchObject({ provenUntil: null, pending: null });
    const {
      started: [proof],
    } = await start(brand);
    expect(await look()).toMatchObject({ pending: { call: { placedAt: null, expiresAt: null } } });
    await place(brand, proof!.proofId);
    await expect(confirm(brand, brand.phones[0]!, wrong(brand.caller.codeOf(brand.phones[0]!)))).rejects.toMatchObject({
      code: 'proof_code_wrong',
      problem: 'The code is wrong; 4 tries are left.',
    });
    expect(await look()).toMatchObject({
      provenUntil: null,
      pending: { call: { placedAt: expect.any(Date), triesLeft: 4, confirmed: false } },
    });
  });
});

describe('the limits of proofs', () => {
  it('take the last try of a code, and fail the proof with a wrong one at it', async () => {
    const [lucky, unlucky] = [await withSome(1), await withSome(1)];
    for (const brand of [lucky, unlucky]) {
      await called(brand);
      for (let at = 1; at < proofLimits.codeTriesMax; at++)
        await expect(
          confirm(brand, brand.phones[0]!, wrong(brand.caller.codeOf(brand.phones[0]!))),
        ).rejects.toMatchObject({ code: 'proof_code_wrong' });
    }
    expect(await confirm(lucky, lucky.phones[0]!, lucky.caller.codeOf(lucky.phones[0]!))).toMatchObject({
      proven: true,
    });
    const code = unlucky.caller.codeOf(unlucky.phones[0]!);
    await expect(confirm(unlucky, unlucky.phones[0]!, wrong(code))).rejects.toMatchObject({
      code: 'proof_code_wrong',
      problem: expect.stringContaining('no try is left'),
    });
    await expect(confirm(unlucky, unlucky.phones[0]!, code)).rejects.toMatchObject({ code: 'proof_unknown' });
    expect(await proven(unlucky)).toEqual([]);
  });

  it('count the tries of many at a time: no more are taken than there are', async () => {
    const brand = await withSome(1);
    await called(brand);
    const code = brand.caller.codeOf(brand.phones[0]!);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        confirm(brand, brand.phones[0]!, wrong(code)).catch((error: { code: string }) => error.code),
      ),
    );
    expect(answers.filter((answer) => answer === 'proof_code_wrong')).toHaveLength(proofLimits.codeTriesMax);
    await expect(confirm(brand, brand.phones[0]!, code)).rejects.toMatchObject({ code: 'proof_unknown' });
  });

  it('take a code before its time is over, and not after', async () => {
    const [early, late] = [await withSome(1), await withSome(1)];
    await called(late);
    await pass('29 minutes');
    await called(early);
    await pass('61 seconds');
    expect(await confirm(early, early.phones[0]!, early.caller.codeOf(early.phones[0]!))).toMatchObject({
      proven: true,
    });
    await expect(confirm(late, late.phones[0]!, late.caller.codeOf(late.phones[0]!))).rejects.toMatchObject({
      code: 'proof_unknown',
    });
    expect((await listEvents(db, late.brandId, { after: 0, limit: 100 })).at(-1)).toMatchObject({
      action: 'prove_fail',
      reason: 'The code has expired.',
    });
  });

  it('limit the calls to a number in a day, whichever brand asks', async () => {
    const { phones } = fresh(1);
    const first = await brandWith(phones);
    await called(first);
    await pass('31 minutes'); // the code has expired
    await called(first);
    await pass('31 minutes');
    await expect(start(first)).rejects.toMatchObject({
      code: 'proof_limit_reached',
      problem: expect.stringContaining('2 times in 24 hours'),
    });
    await changeNumber({
      db,
      eyes,
      handle: first.handle,
      phone: phones[0]!,
      action: 'remove',
      actor: 'test',
      reason: 'x',
    });
    const second = await brandWith(phones);
    await expect(start(second)).rejects.toMatchObject({ code: 'proof_limit_reached' });
    await pass('23 hours');
    expect((await start(second)).started).toHaveLength(1);
  });

  it('limit the open proofs of a brand, and one more is not started', async () => {
    const brand = await withSome(5);
    const { started, skipped } = await called(brand);
    expect([started.length, skipped]).toEqual([4, [{ phone: brand.phones[4], why: 'proofs_open' }]]);
    await expect(start(brand, [brand.phones[4]!])).rejects.toMatchObject({
      code: 'proof_limit_reached',
      problem: expect.stringContaining('4 open proofs'),
    });
    await confirm(brand, brand.phones[0]!, brand.caller.codeOf(brand.phones[0]!));
    expect((await start(brand, [brand.phones[4]!])).started).toHaveLength(1);
  });

  it('hold when many ask at a time', async () => {
    const brand = await withSome(6);
    await Promise.all(brand.phones.map((phone) => start(brand, [phone]).catch(() => undefined)));
    const open = (await listNumberProofs(db, brand.brandId, {})).filter(({ pending }) => pending !== null);
    expect(open).toHaveLength(4);
  });
});

describe('the proof of a block', () => {
  let at = 0;
  const block = (numbers: number) =>
    Array.from({ length: numbers }, (_, offset) => `+1646${String(5_000_000 + (at + offset))}`).concat([]);
  const withBlock = async (numbers = 100) => {
    const phones = block(numbers);
    at += 1000;
    return brandWith(phones);
  };

  it('calls some of its numbers, and proves all of them with the last code', async () => {
    const brand = await withBlock();
    const { started } = await called(brand);
    expect(started).toMatchObject([{ numbers: 100 }]);
    const [first, second, third] = started[0]!.called as [string, string, string];
    const others = brand.phones.filter((phone) => !started[0]!.called.includes(phone));
    await expect(confirm(brand, others[0]!, brand.caller.codeOf(first))).rejects.toMatchObject({
      code: 'proof_unknown',
    });
    expect(await confirm(brand, first, brand.caller.codeOf(first))).toEqual({ proven: false });
    expect(await confirm(brand, first, brand.caller.codeOf(first))).toEqual({ proven: false }); // again
    expect(await confirm(brand, second, brand.caller.codeOf(second))).toEqual({ proven: false });
    expect(await proven(brand)).toEqual([]);
    expect(await confirm(brand, third, brand.caller.codeOf(third))).toMatchObject({ proven: true, numbers: 100 });
    expect(await proven(brand)).toHaveLength(100);
  });

  it('is drawn once: what was not proven is proven one by one from then on, also with another brand', async () => {
    const brand = await withBlock();
    const {
      started: [first],
    } = await called(brand);
    for (let tries = 0; tries < 3; tries++)
      await confirm(brand, first!.called[0]!, wrong(brand.caller.codeOf(first!.called[0]!))).catch(() => {});
    const again = await start(brand, brand.phones, { proofsOpenMax: 200 });
    expect(again.started.every(({ numbers, called: phones }) => numbers === 1 && phones.length === 1)).toBe(true);
    const other = await withBlock();
    await called(other); // drawn, and left by moving the numbers to another brand
    for (const phone of other.phones)
      await db.query("UPDATE brand_number SET state = 'removed' WHERE brand_id = $1 AND phone = $2", [
        other.brandId,
        phone,
      ]);
    const heir = await brandWith(other.phones);
    expect((await start(heir, null, { proofsOpenMax: 200 })).started).toHaveLength(100);
  });

  it('is drawn again after a fault of the caller', async () => {
    const brand = await withBlock();
    const {
      started: [first],
    } = await start(brand);
    await failProof(db, first!.proofId, {
      code: 'caller_failed',
      reason: 'The caller did not take a call.',
      actor: 'worker',
    });
    expect((await start(brand)).started).toMatchObject([{ numbers: 100 }]);
  });
});

describe('a letter that waits for the proof of its numbers', () => {
  const waiting = async (
    policy: 'signature+numbers' | 'form+numbers',
    letter: (phones: readonly string[]) => AskOptions['letter'],
  ): Promise<Brand & { letterId: number }> => {
    const { handle, phones } = fresh(2);
    const result = await ask(
      db,
      'add_managed_brand',
      { handle, brand: profile, numbers: phones },
      { letter: letter(phones)!, policy },
    );
    expect(result.outcome).toBe('in_review');
    return {
      handle,
      phones,
      brandId: (await readBrand(db, handle)).brandId,
      caller: new HeardCalls(),
      letterId: result.letter!.letterId,
    };
  };
  const proveAll = async (brand: Brand, policy: ApprovalPolicy) => {
    await called(brand);
    const answers = [];
    for (const phone of brand.phones)
      answers.push(
        await confirmCode({
          db,
          handle: brand.handle,
          phone,
          code: brand.caller.codeOf(phone),
          actor: 'cli ada',
          secret,
          policy,
        }),
      );
    return answers;
  };

  it.each(['signature+numbers', 'form+numbers'] as const)(
    'on the issued form is approved by rules with the last of them under %s',
    async (policy) => {
      const brand = await waiting(policy, signedForm);
      expect(await proveAll(brand, policy)).toMatchObject([{ letters: [] }, { letters: [brand.letterId] }]);
      expect(await readBrand(db, brand.handle)).toMatchObject({
        state: 'approved',
        numbers: { verified: 2 },
        letters: [{ state: 'approved' }],
      });
    },
  );

  it('is not approved under a policy that asks for more than was let pass', async () => {
    const brand = await waiting('form+numbers', (phones) => signedForm(phones, { signature: { chain: 'untrusted' } }));
    expect(await proveAll(brand, 'signature+numbers')).toMatchObject([{ letters: [] }, { letters: [] }]);
    expect(await readBrand(db, brand.handle)).toMatchObject({ state: 'in_review' });
  });

  it('that is a free one still waits for a person', async () => {
    for (const policy of ['signature+numbers', 'form+numbers'] as const) {
      const brand = await waiting(policy, goodLetter);
      expect(await proveAll(brand, policy)).toMatchObject([{ letters: [] }, { letters: [] }]);
      expect(await readBrand(db, brand.handle)).toMatchObject({
        state: 'in_review',
        letters: [{ state: 'in_review' }],
      });
    }
  });
});

describe('the calls of a proof', () => {
  it('are placed once, however often the job runs', async () => {
    const brand = await withSome(1);
    const {
      started: [proof],
    } = await start(brand);
    expect(await place(brand, proof!.proofId)).toBe(1);
    expect(await place(brand, proof!.proofId)).toBe(0);
    await Promise.all([place(brand, proof!.proofId), place(brand, proof!.proofId)]);
    expect(brand.caller.calls).toHaveLength(1);
    expect(await start(brand)).toMatchObject({ started: [], skipped: [{ why: 'open' }] });
  });

  it('are placed once by two workers at a time', async () => {
    const brand = await withSome(1);
    const {
      started: [proof],
    } = await start(brand);
    expect((await Promise.all([place(brand, proof!.proofId), place(brand, proof!.proofId)])).sort()).toEqual([0, 1]);
  });

  it('are placed again after a kill before the caller took them, with the code that counts', async () => {
    const brand = await withSome(1);
    const {
      started: [proof],
    } = await start(brand);
    brand.caller.before = () => {
      throw new Error('killed');
    };
    await expect(place(brand, proof!.proofId)).rejects.toThrow('killed');
    brand.caller.before = () => {};
    expect(await place(brand, proof!.proofId)).toBe(1);
    expect(await confirm(brand, brand.phones[0]!, brand.caller.codeOf(brand.phones[0]!))).toMatchObject({
      proven: true,
    });
  });

  it('are not placed again after a kill once the caller took them, and their code counts', async () => {
    const brand = await withSome(1);
    const {
      started: [proof],
    } = await start(brand);
    brand.caller.after = () => {
      throw new Error('killed');
    };
    await expect(place(brand, proof!.proofId)).rejects.toThrow('killed');
    brand.caller.after = () => {};
    expect(await place(brand, proof!.proofId)).toBe(0);
    expect(brand.caller.calls).toHaveLength(1);
    expect(await confirm(brand, brand.phones[0]!, brand.caller.codeOf(brand.phones[0]!))).toMatchObject({
      proven: true,
    });
  });
});
