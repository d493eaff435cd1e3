import { describe, expect, it } from 'vitest';
import { readBrand } from '../../../pipelines/branding/brand-record.ts';
import { decideBrand, decideLetter } from '../../../pipelines/branding/person-actions.ts';
import { whyNotDecide } from '../../../pipelines/branding/two-pairs-of-eyes.ts';
import { namesOf, personOf, type EyesPolicy } from '../../../pipelines/person-name.ts';
import { ask, eyes, fresh, letterForReview, owner, profile, type AskOptions } from '../../support/branding.ts';
import { useTestDatabase } from '../../support/database.ts';

const { db } = await useTestDatabase();
const refused = { code: 'decided_by_requester' };

describe('the person behind an actor', () => {
  it.each([
    ['cli ada', 'ada'],
    ['console ada', 'ada'],
    ['console Ada', 'ada'],
    ['cli  ada ', 'ada'],
    ['cli CORP\\ada', 'ada'],
    ['cli CORP/ada', 'ada'],
    ['cli ada@corp.example', 'ada'],
    ['cli ａｄａ', 'ada'],
    ['nightly import', 'nightly import'],
    ['drop folder 0123456789abcdef', null],
  ])('of %j is %j', (actor, person) => expect(personOf(actor)).toBe(person));

  it('has the names that a setting gives to the same one, through any number of groups', () => {
    expect([...namesOf('ada', undefined)]).toEqual(['ada']);
    expect([...namesOf('ada', 'ada=root=a.lovelace,ben=bsmith')].sort()).toEqual(['a.lovelace', 'ada', 'root']);
    expect([...namesOf('root', 'ben = bsmith, Ada = root, bsmith = ada')].sort()).toEqual(['ada', 'ben', 'bsmith', 'root']);
    expect([...namesOf('eve', 'ada=root')]).toEqual(['eve']);
  });
});

/** A brand whose letter waits for a person. */
async function waitingLetter(options: AskOptions): Promise<{ handle: string; phones: string[]; letterId: number }> {
  const { handle, phones } = fresh(1);
  const result = await ask(db, 'add_managed_brand', { handle, brand: profile, numbers: phones }, { letter: letterForReview(phones), ...options });
  expect(result.outcome).toBe('in_review');
  return { handle, phones, letterId: result.letter!.letterId };
}

const decide = (letterId: number, actor: string, policy: EyesPolicy = eyes, approve = true) => decideLetter({ db, letterId, approve, actor, reason: 'looked at', eyes: policy });

describe('a letter', () => {
  it('is not decided by who handed it in, through no door and in no spelling, for or against', async () => {
    const { handle, letterId } = await waitingLetter({ requestedBy: 'cli ada' });
    for (const actor of ['cli ada', 'console ada', 'console Ada', 'cli CORP\\ada', 'cli ada@corp.example']) await expect(decide(letterId, actor)).rejects.toMatchObject(refused);
    await expect(decide(letterId, 'console ada', eyes, false)).rejects.toMatchObject(refused);
    expect(await readBrand(db, handle)).toMatchObject({ state: 'in_review', letters: [{ state: 'in_review', decidedBy: null }] });
    expect(await decide(letterId, 'console ben')).toBe('approved');
    await expect(decide(letterId, 'console ada')).rejects.toMatchObject({ code: 'transition_refused' }); // it is decided
  });

  it('is not decided under another name of the same person that the setting gives', async () => {
    const { letterId } = await waitingLetter({ requestedBy: 'cli root' });
    const policy: EyesPolicy = { twoPairsOfEyes: 'on', samePersons: 'ada=root' };
    await expect(decide(letterId, 'console ada', policy)).rejects.toMatchObject(refused);
    expect(await decide(letterId, 'console ben', policy)).toBe('approved');
  });

  it('that came through the drop folder is not decided by the account that owned the folder', async () => {
    const { letterId } = await waitingLetter({ requestedBy: 'drop folder 0123456789abcdef', person: 'ada' });
    await expect(decide(letterId, 'console ada')).rejects.toMatchObject(refused);
    expect(await decide(letterId, 'cli ben')).toBe('approved');
  });

  it('is not decided by who asked for the brand that it is for', async () => {
    const { handle, phones } = fresh(1);
    await ask(db, 'add_managed_brand', { handle, brand: profile, numbers: phones }, { requestedBy: 'cli ada' });
    const { letter } = await ask(db, 'update_managed_brand', { handle }, { letter: letterForReview(phones), requestedBy: 'console ben' });
    await expect(decide(letter!.letterId, 'console ada')).rejects.toMatchObject(refused);
    await expect(decide(letter!.letterId, 'console ben')).rejects.toMatchObject(refused);
    expect(await decide(letter!.letterId, 'console eve')).toBe('approved');
  });

  it('is not decided by a user of the console who acts for the owner of the brand', async () => {
    const { letterId } = await waitingLetter({ requestedBy: 'cli ada' });
    await db.query("WITH made AS (INSERT INTO console_user (name, role, password_hash) VALUES ('agnes', 'reviewer', '-') RETURNING user_id) INSERT INTO console_user_owner SELECT user_id, $1 FROM made", [owner]);
    await expect(decide(letterId, 'console agnes')).rejects.toMatchObject({ ...refused, problem: 'agnes acts for the owner of the brand.' });
    await expect(decide(letterId, 'cli agnes')).rejects.toMatchObject(refused);
    expect(await decide(letterId, 'console ben')).toBe('approved');
  });

  it('is decided by anybody where the setting is off', async () => {
    const { letterId } = await waitingLetter({ requestedBy: 'cli ada' });
    expect(await decide(letterId, 'cli ada', { twoPairsOfEyes: 'off', samePersons: undefined })).toBe('approved');
  });
});

describe('a brand', () => {
  const renamed = { displayName: 'Meridian Bank' };
  const decideIt = (handle: string, actor: string, approve = true) => decideBrand({ db, handle, approve, actor, reason: 'looked at', eyes });

  async function approvedBrand(): Promise<{ handle: string; phones: string[] }> {
    const { handle, phones, letterId } = await waitingLetter({ requestedBy: 'cli ada' });
    await decide(letterId, 'console ben');
    expect((await readBrand(db, handle)).state).toBe('approved');
    return { handle, phones };
  }

  it('is not decided by who handed in the revision that waits', async () => {
    const { handle } = await approvedBrand();
    await ask(db, 'update_managed_brand', { handle, changes: renamed }, { requestedBy: 'console ben' });
    await expect(decideIt(handle, 'cli ben')).rejects.toMatchObject(refused);
    await expect(decideIt(handle, 'cli ben', false)).rejects.toMatchObject(refused);
    // Who handed in what was approved before may.
    expect(await decideIt(handle, 'cli ada')).toBe('approved');
    expect((await readBrand(db, handle)).profile.displayName).toBe('Meridian Bank');
  });

  it('is not decided by who handed in an earlier part of what waits, after another person has added to it', async () => {
    const { handle } = await approvedBrand();
    await ask(db, 'update_managed_brand', { handle, changes: renamed }, { requestedBy: 'cli ada' });
    await ask(db, 'update_managed_brand', { handle, changes: { website: 'https://other.example' } }, { requestedBy: 'cli eve' });
    for (const actor of ['console ada', 'console eve']) await expect(decideIt(handle, actor)).rejects.toMatchObject(refused);
    expect(await decideIt(handle, 'console ben')).toBe('approved');
  });

  it('is not decided by who handed in the letter that came with the revision', async () => {
    const { handle, phones } = fresh(1);
    await ask(db, 'add_managed_brand', { handle, brand: { ...profile, ...renamed }, numbers: phones }, { requestedBy: 'cli ada' });
    const { letter } = await ask(db, 'add_phone_number', { handle, numbers: phones }, { letter: letterForReview(phones), requestedBy: 'cli eve' });
    await decide(letter!.letterId, 'console ben');
    const { brandId, state } = await readBrand(db, handle);
    expect(state).toBe('in_review');
    for (const actor of ['cli ada', 'cli eve']) expect(await whyNotDecide(db, { eyes, actor, of: { brandId, letterId: null } })).toContain('handed in');
    expect(await decideIt(handle, 'console ben')).toBe('approved');
  });
});
