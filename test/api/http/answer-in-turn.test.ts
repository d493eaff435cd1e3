import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { waitingRequestsMax } from '../../../api/http/answer-in-turn.ts';
import { useTestDatabase } from '../../support/database.ts';
import { killProcessesAfterEach, startProcess, until } from '../../support/service-process.ts';

const { apiUrl } = await useTestDatabase();
killProcessesAfterEach();
const MiB = 1024 * 1024;
const document = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'; // of some 100 KB
const probe = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

/** Starts the process of the API. */
async function startApi(): Promise<{ pid: number; port: number; url: string }> {
  const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-turn-'));
  onTestFinished(() => rm(stateDir, { recursive: true }));
  const api = startProcess('api/main.js', {
    API_DATABASE_URL: apiUrl,
    STATE_DIR: stateDir,
    API_KEY_SECRET: 'a secret of the tests, long enough to be one',
    API_PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'info',
    API_REQUESTS_PER_MINUTE_MAX: '1000000',
  });
  const url = await until(async () => /"url":"(http:[^"]+)"/.exec(api.log())?.[1], 'the API');
  await until(async () => (await fetch(`${url}/healthz`)).ok, 'an answer');
  return { pid: api.pid, url, port: Number(new URL(url).port) };
}

async function memoryOf(pid: number): Promise<number> {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))!;
  return Number(kilobytes) * 1024;
}

/** The bytes that a connection receives for one write, until it is closed or silent for a while. */
function exchange(socket: Socket, text: string): Promise<string> {
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1'))).on('error', () => {});
  socket.write(text);
  return new Promise((resolve) => {
    socket.setTimeout(500, () => socket.destroy()).once('close', () => resolve(received));
  });
}

it('answers as many requests of one packet as may wait, and closes a connection with one more', async () => {
  const { port } = await startApi();
  const count = (text: string) => text.split('HTTP/1.1 200 OK').length - 1;
  const limit = waitingRequestsMax + 1; // one is being answered
  expect(count(await exchange(connect(port), probe.repeat(limit)))).toBe(limit);
  expect(count(await exchange(connect(port), probe.repeat(limit + 1)))).toBeLessThan(limit);
});

it('keeps the memory of clients that ask and do not read within bounds, however often they come', async () => {
  const { pid, port, url } = await startApi();
  const before = await memoryOf(pid);
  let peak = before;
  const watch = setInterval(() => void memoryOf(pid).then((now) => (peak = Math.max(peak, now))), 20);
  for (let wave = 0; wave < 3; wave++) {
    const sockets = Array.from({ length: 80 }, () => connect(port).pause());
    for (const socket of sockets) socket.on('error', () => {}).write(document.repeat(1500)); // 64 KB, one read of the server
    for (let asked = 0; asked < 10; asked++) expect((await fetch(`${url}/healthz`)).status).toBe(200);
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  }
  clearInterval(watch);
  expect(peak - before).toBeLessThan(100 * MiB); // 24 MiB; 740 MiB when all that had arrived was answered at once
});
