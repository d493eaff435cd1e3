import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { WEBHOOK_EVENTS } from '../../../pipelines/webhooks/event-types.ts';
import { formatSecret, signMessage } from '../../../pipelines/webhooks/message.ts';
import { DELIVERY_FAILURES } from '../../../pipelines/webhooks/send-message.ts';
import { readProjectFile, tableRows } from '../../conventions/source-tree.ts';

const text = readProjectFile('docs/webhooks.md');
const rows = tableRows(text).map((cells) => [/^`([^`]+)`/.exec(cells[0] ?? '')?.[1] ?? '', ...cells.slice(1)] as const);

describe('docs/webhooks.md', () => {
  it('has one row for each event, and none for one that does not exist', () => {
    const documented = rows.filter(
      ([type, meaning = '', more]) => /^[a-z]+\.[a-z_]+$/.test(type) && more === undefined && !meaning.startsWith('`'),
    );
    expect(Object.fromEntries(documented)).toEqual(WEBHOOK_EVENTS);
  });

  it('has one row for each failure of an attempt, with what to do', () => {
    const documented = rows.filter((cells) => cells.length === 3 && /^[a-z_]+$/.test(cells[0]));
    expect(Object.fromEntries(documented)).toEqual(DELIVERY_FAILURES);
    expect(documented.filter((cells) => (cells[2] ?? '').length < 10)).toEqual([]);
  });
});

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-webhooks-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

type Verify = (secret: string, headers: Readonly<Record<string, string>>, body: string, now: number) => unknown;

function exampleIn(language: string): string {
  return new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'm').exec(text)?.[1] ?? '';
}

/** Calls the Python example, which gets a case in JSON and gives the message, or says why it refuses it. */
const pythonCaller = `
import sys
case = json.loads(sys.argv[1])
try:
    print(json.dumps(verify(case["secret"], case["headers"], case["body"].encode(), case["now"])))
except ValueError as error:
    sys.exit(str(error))
`;

const verifyWith: Readonly<Record<'typescript' | 'python', () => Promise<Verify>>> = {
  async typescript() {
    const path = join(directory, 'verify.ts');
    await writeFile(path, exampleIn('typescript'));
    return ((await import(path)) as { verify: Verify }).verify;
  },
  async python() {
    const path = join(directory, 'verify.py');
    await writeFile(path, `${exampleIn('python')}${pythonCaller}`);
    return (secret, headers, body, now) =>
      JSON.parse(
        execFileSync('python3', [path, JSON.stringify({ secret, headers, body, now })], { stdio: 'pipe' }).toString(),
      );
  },
};

it('the message that the document shows is signed with the secret that it shows', async () => {
  const [, head = '', body = ''] = /^```\nPOST [^\n]*\n([^]*?)\n\n(\{[^\n]*\})\n```$/m.exec(text) ?? [];
  const headers = Object.fromEntries(head.split('\n').map((line) => line.split(': ') as [string, string]));
  const [secret] = /whsec_[A-Za-z0-9+/=]+/.exec(text)!;
  const verify = await verifyWith.python();
  expect(verify(secret, headers, body, Number(headers['webhook-timestamp']))).toMatchObject({ data: { letter: 7 } });
});

describe.each(['typescript', 'python'] as const)('the example in %s', (language) => {
  const at = new Date('2026-11-24T12:00:00Z');
  const seconds = at.getTime() / 1000;
  const secrets = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const data = { brand: 'acme', state: 'approved', note: 'Grüße' };
  const message = signMessage({ messageId: 'msg_1', type: 'letter.approved', occurredAt: at, data }, secrets, at);
  const valid = {
    secret: formatSecret(secrets[1]!),
    headers: Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [name.toLowerCase(), value])),
    body: message.body,
    now: seconds + 300,
  };

  it('takes a message of either live secret, and refuses one that was changed, is old or was signed by others', async () => {
    const verify = await verifyWith[language]();
    const run = (changes: Partial<typeof valid>) => {
      const { secret, headers, body, now } = { ...valid, ...changes };
      return verify(secret, headers, body, now);
    };
    for (const secret of secrets) expect(run({ secret: formatSecret(secret) })).toEqual(JSON.parse(message.body));
    expect(() => run({ body: message.body.replace('acme', 'acne') })).toThrow('no signature is of this secret');
    expect(() => run({ secret: formatSecret(Buffer.alloc(32, 3)) })).toThrow('no signature is of this secret');
    expect(() => run({ headers: { ...valid.headers, 'webhook-id': 'msg_2' } })).toThrow('no signature');
    expect(() => run({ now: seconds + 301 })).toThrow('the timestamp is too');
    expect(() => run({ now: seconds - 301 })).toThrow('the timestamp is too');
  });
});
