import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readBrand } from '../../../pipelines/branding/brand/brand-record.ts';
import {
  changeNumber,
  decideBrand,
  decideLetterByPerson,
  resumeBrand,
  suspendBrand,
  withdrawBrand,
  withdrawLetter,
} from '../../../pipelines/branding/brand/person-actions.ts';
import { releaseHeldFiles } from '../../../pipelines/caches/night/night-release.ts';
import { everything } from '../../../pipelines/caches/night/night-request.ts';
import { decideDispute, fileDispute } from '../../../pipelines/labels/number-dispute.ts';
import { decideHeldLoad } from '../../../pipelines/feeds/load-record.ts';
import { clearNumber } from '../../../pipelines/labels/number-record.ts';
import { protectNumbers, unprotectNumbers } from '../../../pipelines/labels/protected-number.ts';
import {
  describeEyes,
  namesOf,
  personOf,
  whyNotDecide,
  type EyesPolicy,
} from '../../../pipelines/access/two-pairs-of-eyes.ts';
import {
  ask,
  eyes,
  fresh,
  letterForReview,
  owner,
  profile,
  testVault,
  type AskOptions,
} from '../../support/branding.ts';
import { useTestDatabase } from '../../support/database.ts';
import { putNumbers } from '../../support/numbers.ts';

const { db } = await useTestDatabase();
const refused = { code: 'decided_by_requester' };

beforeAll(async () => {
  await db.query(
    "WITH made AS (INSERT INTO console_user (name, role, password_hash) VALUES ('agnes', 'reviewer', '-') RETURNING user_id) INSERT INTO console_user_owner SELECT user_id, $1 FROM made",
    [owner],
  );
});

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
    ['intake Acme Centre', null],
  ])('of %j is %j', (actor, person) => expect(personOf(actor)).toBe(person));

  it('has the names that a setting gives to the same one, through any number of groups', () => {
    expect([...namesOf('ada', undefined)]).toEqual(['ada']);
    expect([...namesOf('ada', 'ada=root=a.lovelace,ben=bsmith')].sort()).toEqual(['a.lovelace', 'ada', 'root']);
    expect([...namesOf('root', 'ben = bsmith, Ada = root, bsmith = ada')].sort()).toEqual([
      'ada',
      'ben',
      'bsmith',
      'root',
    ]);
    expect([...namesOf('eve', 'ada=root')]).toEqual(['eve']);
  });
});

describe('an installation of one person', () => {
  const addDecider = (name: string, role = 'reviewer') =>
    db.query("INSERT INTO console_user (name, role, password_hash) VALUES ($1, $2, '-')", [name, role]);
  const rule = async (policy: EyesPolicy = eyes) => {
    const said = await describeEyes(db, policy);
    return typeof said === 'string' ? said : `WARNING ${said.warning}`;
  };
  const release = async (actor: string) => {
    const { rows } = await db.query<{ load_id: number }>(
      "INSERT INTO feed_load (feed, file_name, file_sha256, file_bytes, submitted_by, state, gates) VALUES ('reputation', 'levels.tsv', repeat('0', 64), 1, 'cli ada', 'held', '[{}]') RETURNING load_id",
    );
    return decideHeldLoad({ db, loadId: rows[0]!.load_id, decision: 'release', reason: 'right', actor, eyes });
  };
  const setting = 'set TWO_PAIRS_OF_EYES=off';
  const command = '`caller-trust console users add NAME --role operator --generate`';

  beforeEach(async () => {
    await db.query("UPDATE console_user SET role = 'viewer' WHERE name = 'agnes'");
    await db.query("DELETE FROM console_user WHERE name <> 'agnes'");
  });

  it('is told at the start what the rule asks for, until a second person may decide', async () => {
    for (const users of [[], ['ada']]) {
      for (const name of users) await addDecider(name);
      expect(await rule()).toMatch(/^WARNING who submits something does not decide it/);
      expect(await rule()).toContain(setting);
      expect(await rule()).toContain(command);
    }
    await addDecider('root', 'operator');
    expect(await rule()).toBe('who submits something does not decide it; 2 persons may decide in the console');
    expect(await rule({ ...eyes, samePersons: 'ada=root' })).toContain('one person alone may decide in the console');
    expect(await rule({ ...eyes, twoPairsOfEyes: 'off' })).toContain('may decide it too');
  });

  it('is refused with the setting and the command that help; among several persons another one decides', async () => {
    await addDecider('ada');
    await expect(release('cli ada')).rejects.toMatchObject({
      ...refused,
      problem: 'ada submitted the load.',
      hint: expect.stringMatching(
        /^Another person decides it\. In an installation of one person set TWO_PAIRS_OF_EYES=off,.*users add/,
      ) as string,
    });
    await addDecider('ben');
    await expect(release('cli ada')).rejects.toMatchObject({ ...refused, hint: 'Another person decides it.' });
  });

  it('reads no command in the console, where the rule says why', async () => {
    const { handle } = await waitingLetter({ requestedBy: 'cli ada' });
    const { brandId } = await readBrand(db, handle);
    const whyNot = await whyNotDecide(db, { eyes, actor: 'console ada', of: { kind: 'brand', brandId } });
    expect(whyNot).toMatch(
      /^ada submitted the request\. Another person decides it\. In an installation of one person,/,
    );
    expect(whyNot).not.toMatch(/[`_]/);
  });
});

/** A brand whose letter waits for a person. */
async function waitingLetter(options: AskOptions): Promise<{ handle: string; phones: string[]; letterId: number }> {
  const { handle, phones } = fresh(1);
  const result = await ask(
    db,
    'add_managed_brand',
    { handle, brand: profile, numbers: phones },
    { letter: letterForReview(phones), ...options },
  );
  expect(result.outcome).toBe('in_review');
  return { handle, phones, letterId: result.letter!.letterId };
}

const decide = (letterId: number, actor: string, policy: EyesPolicy = eyes, approve = true) =>
  decideLetterByPerson({ db, letterId, approve, actor, reason: 'looked at', eyes: policy });

describe('a letter', () => {
  it('is not decided by who handed it in, through no door and in no spelling, for or against', async () => {
    const { handle, letterId } = await waitingLetter({ requestedBy: 'cli ada' });
    for (const actor of ['cli ada', 'console ada', 'console Ada', 'cli CORP\\ada', 'cli ada@corp.example'])
      await expect(decide(letterId, actor)).rejects.toMatchObject(refused);
    await expect(decide(letterId, 'console ada', eyes, false)).rejects.toMatchObject(refused);
    expect(await readBrand(db, handle)).toMatchObject({
      state: 'in_review',
      letters: [{ state: 'in_review', decidedBy: null }],
    });
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
    const { letter } = await ask(
      db,
      'update_managed_brand',
      { handle },
      { letter: letterForReview(phones), requestedBy: 'console ben' },
    );
    await expect(decide(letter!.letterId, 'console ada')).rejects.toMatchObject(refused);
    await expect(decide(letter!.letterId, 'console ben')).rejects.toMatchObject(refused);
    expect(await decide(letter!.letterId, 'console eve')).toBe('approved');
  });

  it('is not decided by a user of the console who acts for the owner of the brand', async () => {
    const { letterId } = await waitingLetter({ requestedBy: 'cli ada' });
    await expect(decide(letterId, 'console agnes')).rejects.toMatchObject({
      ...refused,
      problem: 'agnes acts for the owner of the brand.',
    });
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
  const decideIt = (handle: string, actor: string, approve = true) =>
    decideBrand({ db, handle, approve, actor, reason: 'looked at', eyes });

  async function approvedBrand(): Promise<{ handle: string; phones: string[] }> {
    const { handle, phones, letterId } = await waitingLetter({ requestedBy: 'cli ada' });
    await decide(letterId, 'console ben');
    expect((await readBrand(db, handle)).state).toBe('approved');
    return { handle, phones };
  }

  it('is not decided by who submitted the revision that waits', async () => {
    const { handle } = await approvedBrand();
    await ask(db, 'update_managed_brand', { handle, changes: renamed }, { requestedBy: 'console ben' });
    await expect(decideIt(handle, 'cli ben')).rejects.toMatchObject(refused);
    await expect(decideIt(handle, 'cli ben', false)).rejects.toMatchObject(refused);
    // Who submitted what was approved before may.
    expect(await decideIt(handle, 'cli ada')).toBe('approved');
    expect((await readBrand(db, handle)).profile.displayName).toBe('Meridian Bank');
  });

  it('is not decided by who submitted an earlier part of what waits, after another person has added to it', async () => {
    const { handle } = await approvedBrand();
    await ask(db, 'update_managed_brand', { handle, changes: renamed }, { requestedBy: 'cli ada' });
    await ask(
      db,
      'update_managed_brand',
      { handle, changes: { website: 'https://other.example' } },
      { requestedBy: 'cli eve' },
    );
    for (const actor of ['console ada', 'console eve'])
      await expect(decideIt(handle, actor)).rejects.toMatchObject(refused);
    expect(await decideIt(handle, 'console ben')).toBe('approved');
  });

  it('is not decided by who submitted the letter that came with the revision', async () => {
    const { handle, phones } = fresh(1);
    await ask(
      db,
      'add_managed_brand',
      { handle, brand: { ...profile, ...renamed }, numbers: phones },
      { requestedBy: 'cli ada' },
    );
    const { letter } = await ask(
      db,
      'add_phone_number',
      { handle, numbers: phones },
      { letter: letterForReview(phones), requestedBy: 'cli eve' },
    );
    await decide(letter!.letterId, 'console ben');
    const { brandId, state } = await readBrand(db, handle);
    expect(state).toBe('in_review');
    for (const actor of ['cli ada', 'cli eve'])
      expect(await whyNotDecide(db, { eyes, actor, of: { kind: 'brand', brandId } })).toContain('submitted');
    expect(await decideIt(handle, 'console ben')).toBe('approved');
  });
});

describe('each decision', () => {
  const by = (actor: string) => ({ db, eyes, actor, reason: 'looked at' });
  let brand: Awaited<ReturnType<typeof waitingLetter>>;
  let phone: string;
  let disputeId: number;
  let loadId: number;

  /**
   * Everything was submitted by ada for the owner that agnes acts for, and approved by ben; the label of the brand's number was
   * disputed by eve.
   */
  beforeEach(async () => {
    brand = await waitingLetter({ requestedBy: 'cli ada' });
    phone = brand.phones[0]!;
    await decide(brand.letterId, 'console ben');
    await putNumbers(db, [{ phone, level: 'SPAM', category: 6 }]);
    ({ disputeId } = await fileDispute(
      { db, vault: testVault },
      { request: { phone, reason: 'Ours' }, filedBy: 'cli eve' },
    ));
    await db.query('TRUNCATE feed_load, publication, night_run CASCADE');
    const insertLoad =
      "INSERT INTO feed_load (feed, file_name, file_sha256, file_bytes, submitted_by, state, finished_at, gates) VALUES ('reputation', 'levels.tsv', repeat('0', 64), 1, $1, $2, now(), '[{}]') RETURNING load_id";
    loadId = (await db.query<{ load_id: number }>(insertLoad, ['cli ada', 'held'])).rows[0]!.load_id;
    await db.query(insertLoad, ['cli eve', 'done']);
    await db.query(
      "INSERT INTO publication (cache, country, status, stale_code) VALUES ('phones', 'US', 'stale', 'artefact_held')",
    );
    await db.query(`WITH run AS (INSERT INTO night_run (night_date, trigger, requested_by, state, outcome) VALUES (current_date, 'schedule', 'schedule', 'finished', 'partial') RETURNING run_id)
      INSERT INTO build (run_id, generation, cache, country, state, failure_code) SELECT run_id, 1, 'phones', 'US', 'failed', 'artefact_held' FROM run`);
  });

  const suspended = () => suspendBrand({ ...by('cli ada'), handle: brand.handle });
  const suspendedNumber = () => changeNumber({ ...by('cli ada'), handle: brand.handle, phone, action: 'suspend' });
  const prefix = () => `${phone.slice(0, 11)}*`;

  it.each<
    [
      string,
      { before?: () => Promise<unknown>; act: (actor: string) => Promise<unknown>; barred: Record<string, string> },
    ]
  >([
    [
      'to resume a brand',
      {
        before: suspended,
        act: (actor) => resumeBrand({ ...by(actor), handle: brand.handle }),
        barred: { 'console ada': 'submitted the request', 'cli agnes': 'acts for the owner of the brand' },
      },
    ],
    [
      'to resume a number',
      {
        before: suspendedNumber,
        act: (actor) => changeNumber({ ...by(actor), handle: brand.handle, phone, action: 'resume' }),
        barred: { 'console ada': 'submitted', 'cli agnes': 'acts for' },
      },
    ],
    [
      'to clear a number',
      {
        act: (actor) => clearNumber({ ...by(actor), phone }),
        barred: {
          'console eve': 'filed a dispute of the label',
          'cli agnes': 'acts for the owner of a brand with that number',
        },
      },
    ],
    [
      'to clear a number whose dispute was upheld',
      {
        before: () => decideDispute({ ...by('cli ben'), disputeId, clear: false }),
        act: (actor) => clearNumber({ ...by(actor), phone }),
        barred: { 'console eve': 'filed a dispute of the label' },
      },
    ],
    [
      'to protect a number',
      {
        act: (actor) => protectNumbers({ ...by(actor), numbers: phone }),
        barred: { 'cli eve': 'filed a dispute', 'console agnes': 'acts for' },
      },
    ],
    [
      'to protect a prefix',
      {
        act: (actor) => protectNumbers({ ...by(actor), numbers: prefix() }),
        barred: { 'cli eve': 'filed a dispute', 'console agnes': 'acts for' },
      },
    ],
    [
      'to clear by a dispute',
      {
        act: (actor) => decideDispute({ ...by(actor), disputeId, clear: true }),
        barred: { 'console eve': 'filed a dispute', 'console agnes': 'acts for' },
      },
    ],
    [
      'to uphold a label',
      {
        act: (actor) => decideDispute({ ...by(actor), disputeId, clear: false }),
        barred: { 'console eve': 'filed a dispute', 'console agnes': 'acts for' },
      },
    ],
    [
      'to release a load',
      {
        act: (actor) => decideHeldLoad({ ...by(actor), loadId, decision: 'release' }),
        barred: { 'console ada': 'submitted the load' },
      },
    ],
    [
      'to release held files',
      {
        act: (actor) => releaseHeldFiles(db, { ...by(actor), scope: everything }),
        barred: { 'console eve': 'submitted a load of the held files' },
      },
    ],
  ])('%s takes another person', async (_name, { before, act, barred }) => {
    await before?.();
    for (const [actor, words] of Object.entries(barred))
      await expect(act(actor), actor).rejects.toMatchObject({
        ...refused,
        problem: expect.stringContaining(words) as string,
      });
    await act('console ben');
  });

  it.each<[string, { before?: () => Promise<unknown>; act: (actor: string) => Promise<unknown> }]>([
    ['to suspend a brand', { act: (actor) => suspendBrand({ ...by(actor), handle: brand.handle }) }],
    ['to withdraw a brand', { act: (actor) => withdrawBrand({ ...by(actor), handle: brand.handle }) }],
    ['to withdraw a letter', { act: (actor) => withdrawLetter({ ...by(actor), letterId: brand.letterId }) }],
    ...(['suspend', 'remove', 'reject'] as const).map(
      (action) =>
        [
          `to ${action} a number`,
          { act: (actor: string) => changeNumber({ ...by(actor), handle: brand.handle, phone, action }) },
        ] as [string, { act: (actor: string) => Promise<unknown> }],
    ),
    ['to discard a load', { act: (actor) => decideHeldLoad({ ...by(actor), loadId, decision: 'discard' }) }],
    [
      'to end a protection',
      {
        before: () => protectNumbers({ ...by('cli ben'), numbers: prefix() }),
        act: (actor) => unprotectNumbers({ ...by(actor), numbers: prefix() }),
      },
    ],
  ])('%s takes something from the public, and nobody else', async (_name, { before, act }) => {
    await before?.();
    await expect(act('cli ada')).resolves.toBeDefined();
  });

  it('to release held files is free for who submitted what readers have already', async () => {
    await db.query('UPDATE publication SET confirmed_as_of = now()');
    expect(await releaseHeldFiles(db, { ...by('cli eve'), scope: everything })).toHaveLength(1);
  });
});
