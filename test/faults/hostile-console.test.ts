import { expect, it, vi } from 'vitest';
import { logIn, useConsole } from '../console/support/console-process.ts';
import { useConsoleServer } from '../console/support/console-server.ts';
import { attack, type Door, type Operation } from '../support/hostile-requests.ts';
import { freePort } from '../support/nginx.ts';
import { inPortions, sizes } from '../support/run-size.ts';

vi.setConfig({ testTimeout: 300_000 + sizes.doorRequests * 10 });

const { app } = await useConsoleServer(); // has the list of routes
const port = await freePort();
const origin = `http://127.0.0.1:${port}`; // behind a proxy it goes by the addresses of X-Forwarded-For
const running = await useConsole({ LOG_LEVEL: 'error', CONSOLE_ORIGIN: origin, CONSOLE_PORT: String(port) });

/** Fields of the forms of the console, each with a value that some form takes. */
const fields = {
  reason: 'why',
  approve: true,
  revision: 1,
  name: 'Northwind',
  owner: 'Northwind Agency',
  phone: '+12025550123',
  handle: 'northwind',
  numbers: ['+12025550123'],
  decision: 'release',
  model: 'phone',
  state: 'done',
  text: 'letter 1',
  all: false,
  url: 'https://hooks.example.com/',
  scopes: ['caches:read'],
};

it(`${sizes.doorRequests} odd and damaged requests to the console are answered without a 5xx, within the limit of memory`, async () => {
  const { cookie, csrfToken } = await logIn(running, 'operator');
  const { host } = new URL(origin);
  const operations = app.routeRules
    .filter(({ method, url }) => method !== 'HEAD' && !/session|\/live$|\*/.test(url)) // it would end its own session, or wait
    .map(({ method, url }): Operation => {
      const path = url.replace(/:(\w+)/g, (_all, name: string) => (name === 'handle' ? 'northwind' : '1'));
      return { method, path, body: method === 'GET' ? undefined : JSON.stringify(fields) };
    });
  expect(operations.length).toBeGreaterThan(60);
  let sender = 0;
  const door: Door = {
    url: running.url,
    service: running.process,
    headers: () => ({
      Host: host,
      Origin: origin,
      Cookie: cookie,
      'X-CSRF-Token': csrfToken,
      'X-Forwarded-For': `10.${sender >> 16}.${(sender >> 8) & 255}.${sender++ & 255}`, // requests of an address are counted
    }),
    spoiled: 'X-CSRF-Token',
    operations,
    limits: ['overloaded'],
  };
  await inPortions('requests to the console', { size: sizes.doorRequests, portion: 20_000 }, (part) =>
    attack(door, part),
  );
  expect((await fetch(running.url)).status).toBe(200);
});
