import { describe, expect, it } from 'vitest';
import { freePort, nginxMissing, nginxOfDocs, startNginx } from '../support/nginx.ts';
import { startPassingProxy } from '../support/passing-proxy.ts';
import { until } from '../support/service-process.ts';
import { logIn, useConsole } from './support/console-process.ts';
import { StreamSocket } from './support/streaming-console.ts';

const viaNginx = async (upstream: string, port: number) => {
  const [beside, locations] = await nginxOfDocs('console.md', upstream);
  return startNginx({ beside: beside!, locations: locations!, port });
};
const viaPassing = (upstream: string, port: number) => startPassingProxy({ upstream, port });

for (const [name, start, missing] of [
  ['nginx as docs/console.md sets it up', viaNginx, nginxMissing],
  ['a proxy that passes everything on', viaPassing, false],
] as const)
  describe.skipIf(missing)(`behind ${name}`, async () => {
    if (missing) return;
    const consolePort = await freePort();
    const url = await start(`http://127.0.0.1:${consolePort}`, await freePort());
    await useConsole({ CONSOLE_ORIGIN: url, CONSOLE_PORT: String(consolePort) });
    await until(() => fetch(url).then(({ ok }) => ok, () => false), 'the proxy passes on'); // prettier-ignore
    const operator = await logIn({ url }, 'operator');

    it('a form with a file arrives', async () => {
      const form = new FormData();
      form.append('feed', 'directory');
      form.append('options', '{}');
      form.append('file', new Blob([`phone,display_name\n+13035550100,${'x'.repeat(20)}\n`]), 'names.csv');
      const answer = await operator.fetch('/api/feeds/loads', { method: 'POST', body: form });
      expect([answer.status, await answer.json()]).toMatchObject([200, { loadId: expect.any(Number) as number }]);
    });

    it('a live page gets its first event at once', async () => {
      const answer = await operator.fetch('/api/nights/live');
      const reader = answer.body!.getReader();
      expect(new TextDecoder().decode((await reader.read()).value)).toMatch(/^event: /);
      await reader.cancel();
    });

    it('audio streams in', async () => {
      const socket = await StreamSocket.open(url, { Cookie: operator.cookie, Origin: url });
      socket.say({ type: 'start', format: { encoding: 'pcm_s16le', sampleRate: 8000, channels: 1 } });
      await socket.until('ready');
      socket.send(new Uint8Array(16_000));
      socket.say({ type: 'end' });
      expect(await socket.until('verification')).toMatchObject({ verification: { state: 'performedWithoutScore' } });
    });
  });
