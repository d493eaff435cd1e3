import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { useTestDatabase } from '../../support/database.ts';
import { noise, sha256Of } from '../support/artefacts.ts';
import { openRaw, until, useTestApi, type RawConnection, type TestApi } from '../support/running-api.ts';

const MiB = 1024 * 1024;
const database = await useTestDatabase();
const paced = await useTestApi(database, {}, { apiReaderBytesPerSecondMin: 4 * MiB, apiReaderSeconds: 2 });
const oneBuffer = await useTestApi(
  database,
  {},
  { apiReadBuffersMax: 1, apiReadBufferBytes: 65_536, apiStalledSecondsMax: 2 },
);
const path = '/v1/caches/spammer_phones';

async function ask({ url, key }: TestApi): Promise<RawConnection> {
  const raw = await openRaw(url);
  raw.send(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  return raw;
}

async function outcomes({ api }: TestApi): Promise<Record<string, number>> {
  const text = await (await fetch(`${api.metricsUrl}/metrics`)).text();
  return Object.fromEntries(
    Array.from(text.matchAll(/^caller_trust_api_downloads_total\{outcome="(\w+)"\} (\d+)$/gm), ([, outcome, count]) => [
      outcome,
      Number(count),
    ]),
  );
}

it('cuts off a client that takes bytes, but too few, and counts it', async () => {
  await paced.publish({ cache: 'spammer_phones', gzip: randomBytes(48 * MiB) });
  const raw = await ask(paced);
  let closed = false;
  void raw.closed().then(() => (closed = true));
  while (!closed) {
    raw.socket.pause();
    await sleep(100);
    raw.socket.resume(); // some 64 KiB at a time: far fewer than 4 MiB a second, but never nothing
    if (!closed) await Promise.race([once(raw.socket, 'data'), sleep(100)]);
  }
  expect(raw.received().length).toBeLessThan(48 * MiB);
  await until(async () => (await outcomes(paced))['too_slow'] === 1);
});

it('does not cut off one that is fast, however long the period is in which it waits for others', async () => {
  const whole = await paced.get(path);
  expect((await whole.arrayBuffer()).byteLength).toBe(48 * MiB);
  expect((await outcomes(paced))['too_slow']).toBe(1);
});

it('sends many downloads through one buffer, also when the client that has it is gone or takes nothing', async () => {
  const bytes = noise(8 * MiB, 3);
  const { sha256 } = await oneBuffer.publish({ cache: 'spammer_phones', gzip: bytes });
  const stuck = await ask(oneBuffer);
  stuck.socket.once('data', () => stuck.socket.pause());
  await until(() => stuck.received().length > 0);
  const gone = await ask(oneBuffer);
  gone.socket.once('data', () => gone.socket.destroy());
  const digests = await Promise.all(
    Array.from({ length: 6 }, async () => sha256Of(Buffer.from(await (await oneBuffer.get(path)).arrayBuffer()))),
  );
  expect(new Set(digests)).toEqual(new Set([sha256]));
  stuck.socket.destroy();
  await until(async () =>
    /^caller_trust_api_downloads_in_progress 0$/m.test(
      await (await fetch(`${oneBuffer.api.metricsUrl}/metrics`)).text(),
    ),
  );
});
