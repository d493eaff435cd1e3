// npm start: the whole service, with the embedded database unless DATABASE_URL is given.
import { join } from 'node:path';
import { root, run, runScript, setUp } from './set-up.mjs';

const parent = process.ppid;

/** Milliseconds between two checks whether npm is still running. */
const lookMs = 1000;

await runScript(async () => {
  await setUp();
  if (isAbandoned()) return;
  stopOnceAbandoned();
  process.exitCode = await run(process.execPath, [join(root, 'dist', 'cli.js'), 'start', ...process.argv.slice(2)]);
});

/** True once the shell in which npm runs this script has ended: npm passes SIGTERM on to that shell, and the shell does not pass it on. */
function isAbandoned() {
  return process.env.npm_lifecycle_event === 'start' && process.ppid !== parent;
}

/**
 * Stops the service as SIGTERM does when npm has ended. At the second check only: a signal to all processes, such as Ctrl-C in
 * a terminal, arrives here too, and a second one would end the service at once.
 */
function stopOnceAbandoned() {
  let looks = 0;
  const watch = setInterval(() => {
    if (isAbandoned() && ++looks === 2) process.kill(process.pid, 'SIGTERM');
  }, lookMs);
  watch.unref();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => clearInterval(watch));
}
