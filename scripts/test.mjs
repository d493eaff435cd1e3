// npm test: sets up, runs the tests with coverage (--no-coverage: without), and ends with one line of numbers.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run, runScript, setUp } from './set-up.mjs';

const directory = mkdtempSync(join(tmpdir(), 'caller-trust-results-'));
const file = join(directory, 'results.json');
await runScript(async () => {
  await setUp();
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const given = process.argv.slice(2);
  const coverage = given.includes('--no-coverage') ? [] : ['--coverage'];
  process.exitCode = await run(process.execPath, [
    vitest,
    'run',
    ...coverage,
    ...reporters,
    ...given.filter((word) => word !== '--no-coverage'),
  ]);
});
const { passed, failed, skipped } = readResults(file);
rmSync(directory, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);

/** Counts of the run. A test file that failed before its first test counts as one failure; so does a run without results. */
function readResults(file) {
  let results;
  try {
    results = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const brokenFiles = results.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  return {
    passed: results.numPassedTests,
    failed: results.numFailedTests + brokenFiles.length,
    skipped: results.numPendingTests + results.numTodoTests,
  };
}
