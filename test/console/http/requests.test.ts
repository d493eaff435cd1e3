import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { formsMax, sweepUploads, uploadsDirectory } from '../../../console/http/uploads.ts';
import { useFolder } from '../../support/recording-batch.ts';
import { useConsoleServer } from '../support/console-server.ts';
import { logIn, passwordOf, useConsole } from '../support/console-process.ts';

const server = await useConsoleServer();
const running = await useConsole();

let session: { readonly Cookie: string; readonly 'X-CSRF-Token': string };

beforeAll(async () => {
  session = await server.session('operator');
});

afterEach(() => {
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

async function post(url: string, payload: string | Buffer, type: string): Promise<{ status: number; code: string }> {
  const response = await server.send({ method: 'POST', url, payload, headers: { ...session, 'Content-Type': type } });
  return { status: response.statusCode, code: (response.json() as { code: string }).code };
}

const formBody = (fields: readonly (readonly [head: string, value: string])[]) =>
  `${fields.map(([head, value]) => `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`).join('')}--x--\r\n`;
const formType = 'multipart/form-data; boundary=x';

describe('a body', () => {
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'application/octet-stream',
    'nonsense',
  ])('of the type %s is refused in words', async (type) => {
    expect(await post('/api/session', '{"name":"ada","password":"x"}', type)).toEqual({
      status: 400,
      code: 'request_invalid',
    });
  });

  it.each([
    ['broken JSON', '{"name":'],
    ['a prototype of JSON', '{"__proto__":{"polluted":true},"name":"ada","password":"x"}'],
    ['a constructor of JSON', '{"constructor":{"prototype":{"polluted":true}},"name":"ada","password":"x"}'],
  ])('of %s is refused in words', async (_what, body) => {
    expect(await post('/api/session', body, 'application/json')).toMatchObject({ status: 400 });
  });

  it('is taken at 1 MiB, and refused one byte past it', async () => {
    const bodyOf = (bytes: number) => `{"name":"ada","password":"${'x'.repeat(bytes - 28)}"}`;
    expect(bodyOf(1024 * 1024)).toHaveLength(1024 * 1024);
    expect(await post('/api/session', bodyOf(1024 * 1024), 'application/json')).toEqual({
      status: 400,
      code: 'parameter_invalid',
    });
    expect(await post('/api/session', bodyOf(1024 * 1024 + 1), 'application/json')).toEqual({
      status: 413,
      code: 'upload_too_large',
    });
  });
});

describe('a form', () => {
  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'with a field named %s is refused, and changes no prototype',
    async (name) => {
      expect(
        await post('/api/voiceprints', formBody([[`name="${name}"`, '{"polluted":true}']]), formType),
      ).toMatchObject({ status: 400 });
      expect(
        await post('/api/voiceprints', formBody([[`name="${name}"; filename="a.wav"`, 'RIFF']]), formType),
      ).toMatchObject({ status: 400 });
    },
  );

  it('is taken with 40 fields of 64 KiB, and refused with one more, or one that is longer', async () => {
    const fields = (count: number, bytes: number) =>
      formBody(Array.from({ length: count }, (_, at) => [`name="field${at}"`, 'x'.repeat(bytes)] as const));
    expect(await post('/api/voiceprints', fields(40, 1), formType)).toEqual({ status: 400, code: 'parameter_invalid' });
    expect(await post('/api/voiceprints', fields(41, 1), formType)).toEqual({ status: 413, code: 'upload_too_large' });
    expect(await post('/api/voiceprints', fields(1, 64 * 1024), formType)).toEqual({
      status: 400,
      code: 'parameter_invalid',
    });
    expect(await post('/api/voiceprints', fields(1, 64 * 1024 + 1), formType)).toEqual({
      status: 413,
      code: 'upload_too_large',
    });
  });

  it('that is broken, cut off or no form is refused in words, and leaves nothing behind', async () => {
    expect(
      await post('/api/voiceprints', formBody([['name="a"; filename="a.wav"', 'RIFF']]).slice(0, -12), formType),
    ).toMatchObject({ status: 400 });
    expect(await post('/api/voiceprints', 'x', 'multipart/form-data')).toMatchObject({ status: 400 });
    expect(await post('/api/voiceprints', '{}', 'application/json')).toEqual({ status: 400, code: 'request_invalid' });
    expect(await readdir(server.app.uploads.directory)).toEqual([]);
  });

  it('is received with a limited number of others; some wait, and one more is refused', async () => {
    const open: Socket[] = [];
    const begin = () => {
      const socket = connect(Number(server.host.split(':')[1]), '127.0.0.1', () =>
        socket.write(
          `POST /api/voiceprints HTTP/1.1\r\nHost: ${server.host}\r\nOrigin: ${server.url}\r\nCookie: ${session.Cookie}\r\nX-CSRF-Token: ${session['X-CSRF-Token']}\r\nContent-Type: ${formType}\r\nContent-Length: 1000\r\n\r\n--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n`,
        ),
      );
      open.push(socket.on('error', () => {}));
    };
    const whole = formBody([['name="owner"', 'a']]);
    for (let form = 0; form < formsMax.receiving + formsMax.waiting; form++) begin();
    await vi.waitFor(async () => expect(await readdir(server.app.uploads.directory)).toHaveLength(open.length), 10_000);
    expect(await post('/api/voiceprints', whole, formType)).toEqual({ status: 503, code: 'overloaded' });
    for (const socket of open) socket.destroy();
    await vi.waitFor(async () => expect(await readdir(server.app.uploads.directory)).toEqual([]), 10_000);
    expect(await post('/api/voiceprints', whole, formType)).toEqual({ status: 400, code: 'parameter_invalid' });
  });

  it('has no file whose name is a path: what is kept of it is the last part, without what cannot be seen', async () => {
    const response = await server.send({
      method: 'POST',
      url: '/api/voiceprints',
      headers: { ...session, 'Content-Type': formType },
      payload: formBody([
        ...Object.entries({
          owner: 'a',
          subject: 'b',
          consentReference: 'c',
          consentAt: '2026-01-01',
          consentCovers: 'yes',
        }).map(([name, value]) => [`name="${name}"`, value] as const),
        ...['../../etc/passwd', 'C:\\\\calls\\\\a\u202E.wav', 'ok.wav'].map(
          (name, at) => [`name="recording"; filename="${name}"`, at === 0 ? '' : `RIFF${at}`] as const,
        ),
      ]),
    });
    expect(response.json()).toMatchObject({
      code: 'voiceprint_refused',
      detail: expect.stringContaining('recording 1 (passwd)') as string,
    });
  });
});

describe('folders of uploads', async () => {
  const stateDir = await useFolder('state');

  it('of a process that is gone are removed when a console starts; others stay', async () => {
    const directory = uploadsDirectory(stateDir);
    await mkdir(directory);
    const gone = await mkdtemp(join(directory, 'caller-trust-upload-4194303-'));
    const [ours, strange] = [
      await mkdtemp(join(directory, `caller-trust-upload-${process.pid}-`)),
      join(directory, 'caller-trust-upload-x-1'),
    ];
    await mkdir(strange);
    await writeFile(join(gone, '0'), 'a recording');
    await sweepUploads(stateDir);
    expect((await readdir(directory)).sort()).toEqual([ours, strange].map((path) => path.split('/').at(-1)!).sort());
  });
});

describe('an id or a word that there cannot be', () => {
  it.each([
    '/api/events?before=9223372036854775808',
    '/api/events?before=-1',
    '/api/events?actor=%00',
    '/api/events?actor=a&actor=b',
    '/api/events?__proto__=1',
    '/api/drift-reports/9223372036854775807',
    '/api/models/phone/v8%00',
    '/api/voiceprints?owner=%00',
    '/api/no-such',
    '/%c0%ae',
    '/api/drift-reports/..%2F..%2Fetc%2Fpasswd',
  ])('is refused in words: %s', async (url) => {
    const response = await server.send({ method: 'GET', url, headers: session });
    expect(response.statusCode).toBeGreaterThanOrEqual(400);
    expect(response.statusCode).toBeLessThan(500);
    expect(response.json()).toMatchObject({
      code: expect.stringMatching(
        /^(parameter_invalid|route_unknown|request_invalid|drift_report_unknown|model_unknown)$/,
      ) as string,
    });
    expect(response.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'/);
  });
});

describe('an address', () => {
  it('is answered 1,200 times in a minute, logged in or not, and not once more', async () => {
    const ask = (remoteAddress: string) => server.send({ method: 'GET', url: '/api/no-such', remoteAddress });
    for (let round = 0; round < 12; round++)
      expect(
        new Set(
          (await Promise.all(Array.from({ length: 100 }, () => ask('10.7.7.7')))).map(({ statusCode }) => statusCode),
        ),
      ).toEqual(new Set([404]));
    const refused = await ask('10.7.7.7');
    expect({
      status: refused.statusCode,
      wait: refused.headers['retry-after'],
      code: (refused.json() as { code: string }).code,
    }).toEqual({ status: 429, wait: '5', code: 'rate_limited' });
    expect((await ask('10.7.7.8')).statusCode).toBe(404);
  });

  it('loads files of pages as often as it likes: they are not counted', async () => {
    const load = (url: string) => server.send({ method: 'GET', url, remoteAddress: '10.7.7.9' });
    const styles = /"(\/pages\/[^"]+console\.css)"/.exec((await load('/')).body)![1]!;
    for (let round = 0; round < 13; round++)
      expect(
        new Set(
          (await Promise.all(Array.from({ length: 100 }, (_, at) => load(at === 0 ? '/' : styles)))).map(
            ({ statusCode }) => statusCode,
          ),
        ),
      ).toEqual(new Set([200]));
    expect((await load('/api/session')).statusCode).toBe(200);
  });
});

describe('what the console logs', () => {
  it('holds no password, no token, no name of a person and no number', async () => {
    const client = await logIn(running, 'operator');
    await fetch(`${running.url}/api/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: running.url },
      body: JSON.stringify({ name: '+15551230000', password: 'my secret pass phrase' }),
    });
    await client.fetch('/api/events?actor=%2B15551230000');
    await client.fetch('/api/voiceprints?owner=%2B15551230000&before=99999999999999999999');
    await client.fetch('/api/voiceprints', { method: 'POST', body: '{"phone":"+15551230000"' });
    await new Promise<void>((resolve) => {
      const socket = connect(Number(new URL(running.url).port), '127.0.0.1', () =>
        socket.end('GET / HTTP/1.1\r\nbroken +15551230000\r\n\r\n'),
      );
      socket.resume().once('close', () => resolve());
    });
    const log = running.process.log();
    for (const secret of [
      passwordOf('operator'),
      'my secret',
      '5551230000',
      client.cookie.split('=')[1]!,
      client.csrfToken,
    ])
      expect(log).not.toContain(secret);
    expect(
      log
        .trim()
        .split('\n')
        .every((line) => 'level' in (JSON.parse(line) as object)),
    ).toBe(true);
  });
});
