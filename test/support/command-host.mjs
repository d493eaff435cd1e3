// A process that runs commands of dist/cli.js one after the other, each with the environment, the arguments, the output and the exit
// code of a process of its own: starting one takes 0.2 to 0.4 s of processor time, and most commands take a tenth of it.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const cli = new URL('../../dist/cli.js', import.meta.url).href;
const endSecondsMax = 30;
for (const stream of [process.stdout, process.stderr]) stream.write(''); // opened by their first use

process.on('disconnect', () => process.exit(0));
process.on('message', ({ args, env, mark }) => void runCommand(args, env, mark));

async function runCommand(args, env, mark) {
  const before = keepingAlive();
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.argv[0], 'dist/cli.js', ...args];
  process.exitCode = undefined;
  await import(`${cli}?run=${randomUUID()}`); // evaluates the program again, and none of the modules that it shares
  const code = process.exitCode ?? 0;
  process.exitCode = undefined;
  const left = await untilNothingIsLeft(before);
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
  process.stdout.removeAllListeners('error');
  process.stdout.write(mark);
  process.stderr.write(mark);
  process.send({ code, left, bytes: process.memoryUsage.rss() });
}

/** What is open besides what was open before the command, when nothing more closes: its own process would not have ended. */
async function untilNothingIsLeft(before) {
  for (const until = Date.now() + endSecondsMax * 1000; ;) {
    const left = keepingAlive();
    for (const name of before) if (left.includes(name)) left.splice(left.indexOf(name), 1);
    if (left.length === 0 || Date.now() > until) return left;
    await sleep(2, undefined, { ref: false });
  }
}

function keepingAlive() {
  return process.getActiveResourcesInfo().filter((name) => name !== 'Immediate');
}
