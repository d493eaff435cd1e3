// npm run evaluate: builds what is needed, then measures models on a test set.
import { runCli, runScript } from './set-up.mjs';

await runScript(() => runCli(['evaluate', ...process.argv.slice(2)]));
