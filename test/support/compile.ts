import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Makes dist/ fit the sources before the tests: those that kill processes start compiled ones. */
export default async function compile(): Promise<void> {
  const script = fileURLToPath(new URL('../../scripts/build.mjs', import.meta.url));
  await promisify(execFile)(process.execPath, [script, '--no-install']);
}
