// npm run demo: from a sample feed to a downloaded cache, in a state directory of its own.
import { runCli, runScript } from './set-up.mjs';

await runScript(() => runCli(['demo', ...process.argv.slice(2)]));
