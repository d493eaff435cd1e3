import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  BrandingEvent,
  BrandNumber,
  BrandRecord,
  BrandSummary,
  LetterRecord,
} from '../../../pipelines/branding/brand/brand-record.ts';
import type { Operation, OperationRow } from '../../../pipelines/branding/operation.ts';
import { refusedWith, runCli, runCliJson } from '../../support/cli.ts';
import { useTestDatabase } from '../../support/database.ts';
import { letterFile } from '../../support/letter-file.ts';
import { startProcess, until, type ServiceProcess } from '../../support/service-process.ts';
import { writeSignedForm, writeTrustRoots } from '../../support/signed-form.ts';

const { db, url } = await useTestDatabase();
const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-branding-'));
const env = {
  DATABASE_URL: url,
  STATE_DIR: stateDir,
  LETTER_TRUST_ROOTS: await writeTrustRoots(stateDir),
  TWO_PAIRS_OF_EYES: 'off',
}; // one account runs every command
/** Runs the requests of the commands, from the second part on; those of `brand add` bring a worker of their own. */
let worker: ServiceProcess | undefined;
afterAll(async () => {
  await worker?.end('SIGTERM');
  await rm(stateDir, { recursive: true, force: true });
});

type AnsweredOperation = Operation & { repeated: boolean; refused: OperationRow[] };

const phone = (at: number) => `+1212555${String(at).padStart(4, '0')}`;
const file = async (name: string, content: string | Uint8Array) => {
  const path = join(stateDir, name);
  await writeFile(path, content);
  return path;
};
const identity = [
  '--owner',
  'northwind-agency',
  '--legal-name',
  'Northwind Dental LLC',
  '--display-name',
  'Northwind Dental',
  '--country',
  'US',
];
const json = <Result>(...args: string[]) => runCliJson<Result>(env, ...args);
const cli = (...args: string[]) => runCli(env, ...args);
/** A command that prints an operation and ends with 1, because it was rejected or failed. */
const rejected = async (...args: string[]): Promise<AnsweredOperation> => {
  const { code, stdout, stderr } = await cli(...args, '--json');
  expect(code, stderr).toBe(1); // a worker in the process of the command logs the failure of a job there
  return JSON.parse(stdout) as AnsweredOperation;
};
const actor = expect.stringMatching(/^cli \S/) as string;

describe('brand add', () => {
  it('makes a draft of a brand without a letter, and prints the key for a retry', async () => {
    const added = await json<AnsweredOperation>('brand', 'add', ...identity, '--handle', 'draft');
    expect(added).toMatchObject({
      kind: 'add_managed_brand',
      state: 'done',
      requestedBy: actor,
      key: expect.stringMatching(/^cli-/) as string,
      result: { outcome: 'accepted', brand: { handle: 'draft', state: 'draft' } },
    });
    const again = await json<AnsweredOperation>('brand', 'add', ...identity, '--handle', 'draft', '--key', added.key);
    expect(again).toMatchObject({ operationId: added.operationId, repeated: true });
    expect(await cli('brand', 'add', ...identity, '--handle', 'drafted', '--key', added.key)).toMatchObject(
      refusedWith('idempotency_conflict'),
    );
    const taken = await rejected('brand', 'add', ...identity, '--handle', 'draft');
    expect(taken).toMatchObject({ state: 'failed', failure: { code: 'brand_handle_taken' } });
  });

  it('takes the request from a file or from standard input, and shows contact and tax id only to those who ask', async () => {
    const request = {
      handle: 'private',
      brand: {
        legalName: 'Example Harbor LLC',
        displayName: 'Example Harbor',
        country: 'US',
        taxId: '00-1234567',
        contact: { name: 'Jane Sample', email: 'jane@harbor.example' },
      },
    };
    const { code, stdout } = await withInput(JSON.stringify(request), 'brand', 'add', '-', '--owner', 'harbor');
    expect(code).toBe(0);
    expect(stdout).toMatch(/outcome\s+accepted/);
    const shown = [
      stdout,
      (await cli('brand', 'show', 'private')).stdout,
      JSON.stringify(await json('brand', 'show', 'private')),
      (await cli('operation', 'show', operationIn(stdout))).stdout,
    ].join('\n');
    expect(shown).not.toMatch(/jane|1234567/i);
    expect(await json('brand', 'show', 'private', '--private')).toMatchObject({
      profile: { taxId: '00-1234567', contact: { name: 'Jane Sample', email: 'jane@harbor.example' } },
    });
    expect((await cli('brand', 'show', 'private', '--private')).stdout).toMatch(
      /contact\s+Jane Sample, jane@harbor\.example/,
    );
    const path = await file('request.json', `\uFEFF${JSON.stringify({ ...request, handle: 'from-file' })}`);
    expect(await json('brand', 'add', path, '--owner', 'harbor', '--display-name', 'Harbor Example')).toMatchObject({
      result: { brand: { handle: 'from-file' } },
    });
    expect(await json('brand', 'show', 'from-file')).toMatchObject({
      profile: { displayName: 'Harbor Example', legalName: 'Example Harbor LLC' },
    });
  });

  it('refuses a request that is not valid as a mistake in its use, without quoting it', async () => {
    const unknown = await cli(
      'brand',
      'add',
      await file(
        'wrong.json',
        '{"brand": {"legalName": "A", "displayName": "A", "country": "US", "colour": "secret person"}}',
      ),
      '--owner',
      'harbor',
    );
    expect(unknown).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/colour[\s\S]*\[brand_request_invalid\]/) as string,
    });
    const noObject = await cli(
      'brand',
      'add',
      await file('wrong.json', '{"brand": "secret person"}'),
      '--owner',
      'harbor',
    );
    expect(noObject).toMatchObject({ code: 2, stderr: expect.stringContaining('[brand_request_invalid]') as string });
    expect(unknown.stderr + noObject.stderr).not.toContain('secret person');
    expect(await cli('brand', 'add', ...identity.slice(2))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--owner') as string,
    });
  });

  it('returns when the operation is queued if asked to, and shows its outcome later', async () => {
    const queued = await json<{ operationId: number; state: string; key: string }>(
      'brand',
      'add',
      ...identity,
      '--handle',
      'later',
      '--no-wait',
    );
    expect(queued.state).toBe('queued');
    expect(await json('operation', 'show', String(queued.operationId))).toMatchObject({
      state: 'queued',
      result: null,
    });
    const waited = await json<AnsweredOperation>('brand', 'add', ...identity, '--handle', 'later', '--key', queued.key);
    expect(waited).toMatchObject({
      operationId: queued.operationId,
      repeated: true,
      state: 'done',
      result: { outcome: 'accepted' },
    });
  });
});

describe('a brand with a letter', () => {
  const handle = 'northwind';
  let letterId: number;
  let letter: string;

  beforeAll(async () => {
    const started = (worker = startProcess('jobs/worker-main.js', env));
    await until(async () => started.log().includes('"the worker runs"'), 'a worker runs');
    const csv = await file(
      'numbers.csv',
      `phone,branch\n${phone(101)},north\n12,south\n${phone(102)},south\n${phone(101)},north\n`,
    );
    const brand = {
      legalName: 'Northwind Dental LLC',
      displayName: 'Northwind Dental',
      country: 'US',
      address: '12 Harbour Road, Springfield',
    };
    letter = await writeSignedForm({
      env,
      directory: stateDir,
      name: 'good',
      request: { brand, signer: { name: 'Jane Sample', title: 'Director' } },
      organization: brand.legalName,
      owner: 'northwind-agency',
      numbers: await file('form-numbers.csv', `phone\n${phone(101)}\n${phone(102)}\n`),
    });
    const { code, stdout, stderr } = await cli(
      'brand',
      'add',
      ...identity,
      '--handle',
      handle,
      '--address',
      brand.address,
      '--letter',
      letter,
      '--numbers',
      csv,
    );
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/outcome\s+approved/);
    expect(stdout).toMatch(/numbers given\s+4\naccepted\s+2\nknown\s+0\nrejected\s+2\ntheir states\s+verified 2/);
    expect(stdout).toMatch(/^3 .*phone_invalid/m);
    expect(stdout).toMatch(/^5 .*number_repeated/m);
    [{ letterId }] = await json<[LetterRecord]>('letter', 'list', '--brand', handle);
  });

  it('is approved, and shown with its letters and numbers', async () => {
    const [brand, text] = await Promise.all([json<BrandRecord>('brand', 'show', handle), cli('brand', 'show', handle)]);
    expect(brand).toMatchObject({
      state: 'approved',
      owner: 'northwind-agency',
      numbers: { verified: 2 },
      letters: [{ letterId, state: 'approved', numbers: 2 }],
    });
    expect(text.stdout).toMatch(/display name\s+Northwind Dental/);
    const [all, second, suspended, brands] = await Promise.all([
      json<BrandNumber[]>('brand', 'numbers', handle),
      json<BrandNumber[]>('brand', 'numbers', handle, '--after', phone(101), '--limit', '1'),
      json<BrandNumber[]>('brand', 'numbers', handle, '--state', 'suspended'),
      json<BrandSummary[]>('brand', 'list', '--owner', 'northwind-agency', '--state', 'approved'),
    ]);
    expect([all, second, suspended]).toMatchObject([
      [
        { phone: phone(101), state: 'verified' },
        { phone: phone(102), state: 'verified' },
      ],
      [{ phone: phone(102) }],
      [],
    ]);
    expect(brands).toMatchObject([{ handle, verifiedNumbers: 2 }]);
    expect(await cli('brand', 'list', '--state', 'lost')).toMatchObject({ code: 2 });
  });

  it('does not verify a known number again, and takes none that another brand has or that is none', async () => {
    const known = await json<AnsweredOperation>('number', 'add', handle, phone(102));
    expect(known).toMatchObject({
      owner: 'northwind-agency',
      result: { numbers: { given: 1, accepted: 0, known: 1, rejected: 0 } },
      refused: [],
    });
    await json('brand', 'add', ...identity, '--handle', 'rival');
    const other = await rejected('number', 'add', 'rival', phone(101), '17');
    expect(other.result).toMatchObject({ outcome: 'rejected', numbers: { given: 2, accepted: 0, rejected: 2 } });
    expect(other.refused.map(({ line, outcome }) => [line, outcome])).toEqual([
      [1, 'number_of_other_brand'],
      [2, 'phone_invalid'],
    ]);
    expect(
      await json<OperationRow[]>('operation', 'rows', String(other.operationId), '--refused', '--after', '1'),
    ).toMatchObject([{ line: 2, outcome: 'phone_invalid' }]);
    expect((await cli('operation', 'rows', String(known.operationId), '--refused')).stdout).toBe(
      'The operation has no refused row.\n',
    );
    expect(await cli('number', 'add', handle)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('numbers: are missing') as string,
    });
    expect(await cli('number', 'add', 'nobody', phone(1))).toMatchObject(refusedWith('brand_unknown'));
    const foreign = await rejected('number', 'add', handle, phone(1), '--owner', 'somebody-else');
    expect(foreign).toMatchObject({ state: 'failed', failure: { code: 'brand_unknown' } });
    expect(await cli('operation', 'show', '999999')).toMatchObject(refusedWith('operation_unknown'));
    expect(await cli('operation', 'rows', '999999')).toMatchObject(refusedWith('operation_unknown'));
  });

  it('shows its letter, and the text of it only to those who ask', async () => {
    const id = String(letterId);
    const [plain, plainJson, text, textJson] = await Promise.all([
      cli('letter', 'show', id),
      json('letter', 'show', id),
      cli('letter', 'show', id, '--text'),
      json('letter', 'show', id, '--text'),
    ]);
    expect(plain.stdout).toMatch(/state\s+approved[\s\S]*form_signed/);
    expect(plain.stdout).toMatch(/certificate of\s+Jane Sample[\s\S]*certificate\s+leads to a trusted root/);
    expect(plain.stdout + JSON.stringify(plainJson)).not.toMatch(/Harbour Road/);
    expect(text.stdout).toMatch(/Legal name\s+found/);
    expect(textJson).toMatchObject({ reading: { reading: { format: 'pdf', pages: [{ page: 1 }] } } });
    const [soon, later] = await Promise.all([
      json<LetterRecord[]>('letter', 'list', '--expiring'),
      json<LetterRecord[]>('letter', 'list', '--expiring', '--days', '400'),
    ]);
    expect([soon, later]).toMatchObject([[], [{ letterId }]]);
    expect(await cli('letter', 'show', '999999')).toMatchObject(refusedWith('letter_unknown'));
  });

  it('gives the document back as it came, and its pages, to new files that only their owner reads', async () => {
    const saved = join(stateDir, 'saved.pdf');
    const pages = join(stateDir, 'pages');
    const { files } = await json<{ files: string[] }>(
      'letter',
      'show',
      String(letterId),
      '--save',
      saved,
      '--pages',
      pages,
    );
    expect(files).toEqual([saved, join(pages, `letter-${letterId}-page-1.png`)]);
    expect(await readFile(saved)).toEqual(await readFile(letter));
    expect((await readFile(files[1]!)).subarray(1, 4).toString()).toBe('PNG');
    for (const path of files) expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await cli('letter', 'show', String(letterId), '--save', saved)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is there already') as string,
    });
    await symlink(join(stateDir, 'nowhere.pdf'), join(stateDir, 'dangling.pdf'));
    expect((await cli('letter', 'show', String(letterId), '--save', join(stateDir, 'dangling.pdf'))).code).toBe(2);
    expect(await readdir(stateDir)).not.toContain('nowhere.pdf');
  });
});

describe('the decisions of a person', () => {
  const handle = 'reviewed';
  let letterId: string;
  const because = ['--reason', 'ticket 4711'];

  it('begin with a letter that leaves a question, which is no failure', async () => {
    const letter = await file('review.pdf', letterFile([phone(201), phone(202)], { signature: 'J. Sample' }));
    const added = await json<AnsweredOperation>(
      'brand',
      'add',
      await file('two.json', JSON.stringify({ numbers: [phone(201), phone(202)] })),
      ...identity,
      '--handle',
      handle,
      '--letter',
      letter,
    );
    expect(added.result).toMatchObject({
      outcome: 'in_review',
      brand: { state: 'in_review' },
      numbers: { states: { in_review: 2 } },
    });
    letterId = String(added.result!.letter!.letterId);
    expect(await json('letter', 'list', '--state', 'in_review')).toMatchObject([{ handle }]);
  });

  it('name one verdict and a reason', async () => {
    const [both, none, noReason, blank] = await Promise.all([
      cli('letter', 'decide', letterId, '--approve', '--reject', ...because),
      cli('brand', 'decide', handle, ...because),
      cli('letter', 'decide', letterId, '--approve'),
      cli('letter', 'decide', letterId, '--approve', '--reason', ' '),
    ]);
    for (const refused of [both, none])
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('[usage_invalid]') as string });
    expect(noReason).toMatchObject({ code: 2, stderr: expect.stringContaining('--reason') as string });
    expect(blank).toMatchObject({ code: 2, stderr: expect.stringContaining('[reason_required]') as string });
  });

  it('are not those of the account that submitted the request', async () => {
    const refused = await runCli(
      { ...env, TWO_PAIRS_OF_EYES: 'on' },
      'letter',
      'decide',
      letterId,
      '--approve',
      ...because,
    );
    expect(refused).toMatchObject(refusedWith('decided_by_requester'));
    expect(await json('letter', 'show', letterId)).toMatchObject({ state: 'in_review' });
  });

  it('follow the tables of states, and a refused one names both states', async () => {
    const steps: [string[], string][] = [
      [['brand', 'decide', handle, '--approve'], 'transition_refused'], // its letter waits
      [['brand', 'decide', handle, '--approve', '--revision', '2'], 'transition_refused'], // another one waits
      [['letter', 'delete', letterId], 'transition_refused'],
      [['brand', 'suspend', handle], 'transition_refused'],
      [['letter', 'decide', letterId, '--approve'], 'approved'],
      [['letter', 'decide', letterId, '--reject'], 'transition_refused'],
      [['brand', 'decide', handle, '--reject'], 'transition_refused'],
      [['brand', 'resume', handle], 'transition_refused'],
      [['brand', 'suspend', handle], 'suspended'],
      [['brand', 'resume', handle], 'approved'],
      [['number', 'resume', handle, phone(201)], 'transition_refused'],
      [['number', 'suspend', handle, phone(201)], 'suspended'],
      [['number', 'resume', handle, phone(201)], 'verified'],
      [['number', 'remove', handle, phone(201)], 'removed'],
      [['number', 'remove', handle, phone(201)], 'transition_refused'],
      [['number', 'reject', handle, phone(202)], 'permanently_rejected'],
      [['number', 'suspend', handle, phone(299)], 'phone_unknown'],
      [['letter', 'withdraw', letterId], 'withdrawn'],
      [['letter', 'withdraw', letterId], 'transition_refused'],
      [['brand', 'withdraw', handle], 'withdrawn'],
      [['brand', 'withdraw', handle], 'transition_refused'],
      [['letter', 'delete', letterId], 'deleted'],
      [['letter', 'delete', letterId], 'document_destroyed'],
      [['letter', 'show', letterId, '--save', join(stateDir, 'gone.pdf')], 'document_destroyed'],
    ];
    for (const [args, expected] of steps) {
      const { code, stdout, stderr } = await cli(...args, ...(args.includes('--save') ? [] : because));
      const what = `${args.join(' ')}: ${stdout}${stderr}`;
      if (/_refused|_unknown|_destroyed/.test(expected))
        expect([code, stderr], what).toEqual([1, expect.stringContaining(`[${expected}]`)]);
      else expect([code, stdout], what).toEqual([0, expect.stringMatching(new RegExp(`\\b${expected}\\b`))]);
      if (expected === 'transition_refused')
        expect(stderr, what).toMatch(/ is \w+, and | waits for a (person|decision)/);
    }
    expect((await cli('letter', 'show', letterId, '--text')).stdout).toMatch(
      /deleted\s+20[\s\S]*Nothing is kept of its pages/,
    );
    expect(await cli('number', 'suspend', handle, '12', ...because)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('phone_invalid') as string,
    });
  });

  it('are in the history with who, when, why, before and after', async () => {
    const events = await json<BrandingEvent[]>('brand', 'history', handle);
    const ofPersons = events
      .filter(({ reason }) => reason === 'ticket 4711')
      .map(({ subject, action, before, after }) => [subject, action, before, after]);
    expect(ofPersons).toEqual([
      ['letter', 'approve', 'in_review', 'approved'],
      ['brand', 'approve', 'in_review', 'approved'],
      ['brand', 'suspend', 'approved', 'suspended'],
      ['brand', 'resume', 'suspended', 'approved'],
      ['number', 'suspend', 'verified', 'suspended'],
      ['number', 'resume', 'suspended', 'verified'],
      ['number', 'remove', 'verified', 'removed'],
      ['number', 'reject', 'verified', 'permanently_rejected'],
      ['letter', 'withdraw', 'approved', 'withdrawn'],
      ['brand', 'expire', 'approved', 'expired'],
      ['brand', 'withdraw', 'expired', 'withdrawn'],
      ['letter', 'delete_document', 'withdrawn', 'withdrawn'],
    ]);
    for (const { reason, actor: who, at } of events)
      if (reason === 'ticket 4711') expect([who, Date.parse(String(at))]).toEqual([actor, expect.any(Number)]);
    const page = await json<BrandingEvent[]>(
      'brand',
      'history',
      handle,
      '--after',
      String(events[1]!.eventId),
      '--limit',
      '2',
    );
    expect(page).toEqual(events.slice(2, 4));
    expect((await cli('brand', 'history', handle)).stdout).toMatch(
      /letter \d+\s+withdraw\s+approved\s+withdrawn .* cli .* ticket 4711/,
    );
  });

  it('cannot be taken out of the history, not by its owner in the database either', async () => {
    for (const statement of [
      "UPDATE branding_event SET reason = 'x'",
      'DELETE FROM branding_event',
      'TRUNCATE branding_event',
    ]) {
      await expect(db.query(statement), statement).rejects.toThrow(/only ever added/);
    }
  });
});

describe('a CSV of numbers', () => {
  const lines = (count: number) =>
    Array.from({ length: count }, (_, at) => `+1212${String(2_000_000 + at)}`).join('\n');

  it('has at most 100,000 rows, and accounts for each', async () => {
    const reasons = await file('many.json', JSON.stringify({ brand: { callReasons: ['Delivery'] } }));
    await json('brand', 'add', reasons, ...identity, '--handle', 'many');
    const full = await json<AnsweredOperation>(
      'number',
      'add',
      'many',
      '--file',
      await file('full.csv', lines(100_000)),
      '--call-reason',
      'Delivery',
    );
    expect(full.result!.numbers).toMatchObject({
      given: 100_000,
      accepted: 100_000,
      known: 0,
      rejected: 0,
      states: { submitted: 100_000 },
    });
    const over = await rejected('number', 'add', 'many', '--file', await file('over.csv', lines(100_001)));
    expect(over).toMatchObject({
      state: 'failed',
      failure: { code: 'numbers_file_invalid', reason: expect.stringContaining('100000') as string },
    });
    expect(await json<BrandNumber[]>('brand', 'numbers', 'many', '--limit', '1')).toMatchObject([
      { callReason: 'Delivery', state: 'submitted' },
    ]);
    expect((await json<BrandNumber[]>('brand', 'numbers', 'many')).length).toBe(100_000);
  });

  it('gives every refused row, however many there are', async () => {
    await json('brand', 'add', ...identity, '--handle', 'refusing');
    const wrong = await rejected(
      'number',
      'add',
      'refusing',
      '--file',
      await file('wrong.csv', `phone\n${'12\n'.repeat(6000)}`),
    );
    expect(wrong.result!.numbers).toMatchObject({ given: 6000, rejected: 6000 });
    expect(wrong.result!.numbers!.rejects.length).toBe(100);
    expect(wrong.refused.map(({ line }) => line)).toEqual(Array.from({ length: 6000 }, (_, at) => at + 2));
  });
});

describe('brand update', () => {
  it('changes fields, and refuses a file that names another brand', async () => {
    await json('brand', 'add', ...identity, '--handle', 'changing', '--website', 'https://old.example/');
    const updated = await json<AnsweredOperation>(
      'brand',
      'update',
      'changing',
      await file('changes.json', '{"changes": {"relationship": "agency"}}'),
      '--website',
      '',
      '--dba',
      'Northwind Smiles',
    );
    expect(updated).toMatchObject({ kind: 'update_managed_brand', result: { outcome: 'accepted' } });
    expect(await json('brand', 'show', 'changing')).toMatchObject({
      profile: { relationship: 'agency', website: null, dba: 'Northwind Smiles' },
    });
    expect(await cli('brand', 'update', 'changing', await file('other.json', '{"handle": "draft"}'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('another handle') as string,
    });
    expect(await cli('brand', 'update', 'nobody', '--website', '')).toMatchObject(refusedWith('brand_unknown'));
  });
});

function operationIn(stdout: string): string {
  return /^operation\s+(\d+)/m.exec(stdout)![1]!;
}

async function withInput(input: string, ...args: string[]): Promise<{ code: number | null; stdout: string }> {
  const child = spawn(process.execPath, ['dist/cli.js', ...args], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env } as NodeJS.ProcessEnv,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout: Buffer.concat(chunks).toString() };
}

describe('brand protect', () => {
  it('adds, checks, lists and removes a name, with who and why', async () => {
    expect(
      await json(
        'brand',
        'protect',
        'add',
        'Thornquill Savings',
        '--category',
        'bank',
        '--country',
        'GB',
        '--reason',
        'Ticket 1',
      ),
    ).toEqual({ name: 'Thornquill Savings', protected: true });
    expect(await cli('brand', 'protect', 'add', 'thornquill savings', '--reason', 'Ticket 2')).toMatchObject(
      refusedWith('protected_name_exists'),
    );
    expect(await json('brand', 'protect', 'check', 'Thornqui11 Savings Support')).toMatchObject({
      near: { name: 'Thornquill Savings', category: 'bank', how: 'look_alike' },
    });
    expect((await cli('brand', 'protect', 'check', 'PayPa1')).stdout).toContain(
      'PayPa1 is near PayPal (payment): it looks like that name.',
    );
    await json('brand', 'protect', 'remove', 'Thornquill Savings', '--reason', 'Ticket 3');
    expect(await json('brand', 'protect', 'list')).toEqual([]);
    expect((await cli('brand', 'protect', 'list', '--all')).stdout).toMatch(
      /Thornquill Savings\s+bank\s+GB.*Ticket 3.*Ticket 1/,
    );
  });
});

describe('a form in the hands of a forger', () => {
  const brand = {
    legalName: 'Skellbrook Harbor Systems Inc',
    displayName: 'Skellbrook Harbor',
    dba: null as string | null,
    country: 'US',
  };
  const forged = async (
    name: string,
    {
      organization = brand.legalName,
      dba = null,
      numbers = '',
    }: { organization?: string; dba?: string | null; numbers?: string } = {},
  ) =>
    writeSignedForm({
      env,
      directory: stateDir,
      name,
      request: {
        brand: { ...brand, dba },
        signer: { name: 'Jane Sample', title: 'Director' },
        numbers: numbers === '' ? [phone(801)] : [],
      },
      organization,
      owner: 'forger',
      ...(numbers === '' ? {} : { numbers }),
    });
  const handIn = async (handle: string, letter: string, more: object = {}, ...words: string[]) => {
    const request = await file(
      `${handle}.json`,
      JSON.stringify({
        handle,
        brand: { ...brand, ...more },
        ...(words.length === 0 ? { numbers: [phone(801)] } : {}),
      }),
    );
    const { stdout } = await cli('brand', 'add', request, '--owner', 'forger', '--letter', letter, ...words, '--json');
    const { result } = JSON.parse(stdout) as AnsweredOperation;
    return [
      result?.outcome,
      ...(result?.letter?.findings ?? [])
        .filter(({ severity }) => severity === 'review' || severity === 'reject')
        .map(({ code }) => code),
    ];
  };

  it('is not approved with a certificate of a company that the request calls the DBA, or of one that has the name in its own', async () => {
    expect(
      await handIn('forged-dba', await forged('dba', { dba: 'Zed', organization: 'Zed LLC' }), { dba: 'Zed' }),
    ).toEqual(['in_review', 'form_signer_fits']);
    const numbers = await file('friends.csv', `phone\n${phone(802)}\n`);
    expect(
      await handIn(
        'forged-friends',
        await forged('friends', { organization: 'Friends of Skellbrook Harbor Systems Inc', numbers }),
        {},
        '--numbers',
        numbers,
      ),
    ).toEqual(['in_review', 'form_signer_fits']);
  });

  it('is not approved with another list of numbers than the one whose digest it has', async () => {
    const issued = await file('issued.csv', `phone\n${phone(811)}\n${phone(812)}\n`);
    const changed = await file('changed.csv', `phone\n${phone(811)}\n${phone(813)}\n`);
    expect(await handIn('forged-list', await forged('list', { numbers: issued }), {}, '--numbers', changed)).toEqual([
      'in_review',
      'form_fits_request',
      'form_fits_request',
    ]);
  });

  it('is approved for one brand and for no second one', async () => {
    const numbers = await file('once.csv', `phone\n${phone(821)}\n`);
    const letter = await forged('once', { numbers });
    expect(await handIn('honest-once', letter, {}, '--numbers', numbers)).toEqual(['approved']);
    expect((await handIn('forged-twice', letter, {}, '--numbers', numbers))[0]).not.toBe('approved');
    expect((await handIn('forged-name', letter, { displayName: 'Skellbrook' }, '--numbers', numbers))[0]).not.toBe(
      'approved',
    );
  });
});
