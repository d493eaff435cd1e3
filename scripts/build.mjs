// npm run build: packages, then dist. With --no-install dist alone.
import { build, runScript, setUp } from './set-up.mjs';

await runScript(() => (process.argv.includes('--no-install') ? build() : setUp()));
