// A worker in a process of its own, which a test can kill. Settings come from the environment, the behaviour of the
// handlers from the first word: `work MS` finishes after MS milliseconds, `hold` only ends by its signal, `block FILE`
// blocks the event loop until FILE exists. Each step is a line on standard output.
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startWorker } from '../../jobs/worker.ts';
import { loadConfig } from '../../runtime/config.ts';
import { createLog } from '../../runtime/log.ts';
import { stopSignal, untilAborted } from '../../runtime/processes/shutdown.ts';

const [mode, argument = '0'] = process.argv.slice(2);
const config = loadConfig();
const log = createLog({ level: config.logLevel, process: 'test-worker' });
const say = (...words: string[]) => process.stdout.write(`${words.join(' ')}\n`);

async function handle(payload: object, { signal }: { readonly signal: AbortSignal }): Promise<string> {
  const name = Object.values(payload).join('-');
  say('start', name);
  if (mode === 'work') await sleep(Number(argument), undefined, { signal });
  if (mode === 'hold') await sleep(2 ** 30, undefined, { signal });
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (mode === 'block' && !existsSync(argument)) Atomics.wait(never, 0, 0, 50);
  say('end', name);
  return name;
}

const stopping = stopSignal(log);
const handlers = {
  'load-feed': handle,
  'run-branding': handle,
  'open-night': handle,
  'build-artefact': handle,
  'publish-night': handle,
};
const worker = await startWorker({ config, databaseUrl: config.databaseUrl!, log, handlers });
say('ready');
await untilAborted(stopping);
await worker.stop();
say('stopped');
process.exit(0);
