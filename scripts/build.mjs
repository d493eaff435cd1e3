// npm run build: packages, then dist. With --tolerant only dist, also from sources with type errors, for the tests.
import { build, runScript, setUp } from './set-up.mjs';

await runScript(() => (process.argv.includes('--tolerant') ? build({ tolerant: true }) : setUp()));
