// npm run build: packages, then dist. With --no-install dist alone.
import { build, runScript } from './set-up.mjs';

await runScript(() => build({ install: !process.argv.includes('--no-install') }));
