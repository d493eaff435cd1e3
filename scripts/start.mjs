// npm start: the whole service, with the embedded database unless DATABASE_URL is given.
import { runCli, runScript } from './set-up.mjs';

await runScript(() => runCli(['start', ...process.argv.slice(2)]));
