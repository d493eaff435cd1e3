import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useTestDatabase } from '../support/database.ts';
import { freePort, nginxMissing, nginxOfDocs, startNginx } from '../support/nginx.ts';
import { startPassingProxy } from '../support/passing-proxy.ts';
import { until } from '../support/service-process.ts';
import { digestField, IntakeClient, useTestIntake } from './support/running-intake.ts';

const intake = await useTestIntake(await useTestDatabase());
const { key } = await intake.client(['batches:write']);
const file = new Uint8Array(randomBytes(300_000));
const digest = { 'repr-digest': digestField(file) };

/** Far less than the minute for which a proxy waits that takes an interim answer for the answer. */
const secondsMax = 10;

const viaNginx = async () => {
  const [locations] = await nginxOfDocs('intake.md', intake.url);
  return startNginx({ locations: locations!, port: await freePort() });
};
const viaPassing = async () => startPassingProxy({ upstream: intake.url, port: await freePort() });

for (const [name, start, missing] of [
  ['nginx as docs/intake.md sets it up', viaNginx, nginxMissing],
  ['a proxy that passes everything on', viaPassing, false],
  ['nothing', async () => intake.url, false],
] as const)
  describe.skipIf(missing)(`behind ${name}`, { timeout: secondsMax * 1000 }, async () => {
    if (missing) return;
    const url = await start();
    const isReady = () => fetch(`${url}/healthz`).catch(() => undefined);
    await until(async () => (await isReady())?.ok === true, 'the proxy passes on');
    const client = new IntakeClient(url, key);

    it('a file arrives with one POST, with and without the fields of resumable uploads', async () => {
      for (const fields of [{}, { 'upload-complete': '?1' }] as Record<string, string>[]) {
        const answer = await client.send('recording', file, fields);
        expect(answer.status).toBe(201);
        expect(await answer.json()).toMatchObject({ bytes: file.length, complete: true });
        expect((await client.fetch(answer.headers.get('location')!, { method: 'DELETE' })).status).toBe(204);
      }
    });

    it('an upload arrives in pieces, and continues after a break', async () => {
      const path = await client.open('recording', file.length, digest);
      expect((await client.patch(path, file.slice(0, 100_000), { offset: 0, complete: false })).status).toBe(204);
      const cut = request(`${url}${path}`, {
        method: 'PATCH',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/partial-upload',
          'content-length': '200000',
          'upload-offset': '100000',
          'upload-complete': '?1',
        },
      });
      cut.on('error', () => {}); // it is broken off
      cut.write(file.slice(100_000, 150_000));
      const stored = join(intake.config.intakeDir, path.split('/').at(-1)!);
      await until(async () => (await readFile(stored)).length > 100_000, 'a part has arrived');
      cut.destroy();
      const offset = await client.offset(path);
      expect(offset).toBeGreaterThan(100_000);
      expect((await client.patch(path, file.slice(offset), { offset, complete: true })).status).toBe(200);
      await client.fetch(path, { method: 'DELETE' });
    });
  });

it('every request gets one answer: a client of HTTP/1.0, and each of several that are sent at once on a connection', async () => {
  const { hostname, port } = new URL(intake.url);
  const ask = async (...texts: string[]) => {
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.write(texts.join(''));
    await once(socket, 'close');
    return [
      ...Buffer.concat(chunks)
        .toString('latin1')
        .matchAll(/HTTP\/1\.1 (\d{3}) /g),
    ].map(([, status]) => status);
  };
  const post = (version: string, connection: string) =>
    `POST /v1/uploads?for=recording HTTP/${version}\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nUpload-Complete: ?1\r\n` +
    `Repr-Digest: ${digestField(new Uint8Array(1))}\r\nContent-Length: 1\r\nConnection: ${connection}\r\n\r\n\0`;
  const health = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
  expect(await ask(post('1.0', 'close'))).toEqual(['201']);
  expect(await ask(health, post('1.1', 'keep-alive'), health, post('1.1', 'close'))).toEqual([
    '200',
    '201',
    '200',
    '201',
  ]);
});
