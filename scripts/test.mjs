// npm test: sets up, runs the tests (--quick: those that need no process of their own; --long: those whose size is a choice, at
// their large sizes), and ends with the time by folder and one line of numbers. Other words go to vitest, such as --coverage.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { root, run, runScript, setUp } from './set-up.mjs';

const sets = ['quick', 'long'];
const directory = mkdtempSync(join(tmpdir(), 'caller-trust-results-'));
const file = join(directory, 'results.json');
await runScript(async () => {
  await setUp();
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const given = process.argv.slice(2);
  for (const set of sets) if (given.includes(`--${set}`)) process.env.TEST_SET = set;
  const forwarded = given.filter((word) => !sets.includes(word.slice(2)));
  process.exitCode = await run(process.execPath, [vitest, 'run', ...reporters, ...forwarded]);
});
const results = readResults(file);
rmSync(directory, { recursive: true, force: true });
printTimes(results);
const { passed, failed, skipped } = countTests(results);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);

/** The results of the run; undefined if it ended before it wrote them. */
function readResults(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Prints the seconds that the files of each folder took, most first. Several files run at a time. */
function printTimes(found) {
  const seconds = new Map();
  for (const { name, startTime, endTime } of found?.testResults ?? []) {
    const folder = relative(root, name)
      .split(/[\\/]/)
      .slice(0, 3)
      .filter((part) => !part.endsWith('.ts'))
      .join('/');
    seconds.set(folder, (seconds.get(folder) ?? 0) + (endTime - startTime) / 1000);
  }
  for (const [folder, sum] of [...seconds].sort(([, a], [, b]) => b - a))
    console.log(`${sum.toFixed(1).padStart(8)} s  ${folder}`);
}

/** A test file that failed before its first test counts as one failure; so does a run without results. */
function countTests(found) {
  if (found === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const brokenFiles = found.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  return {
    passed: found.numPassedTests,
    failed: found.numFailedTests + brokenFiles.length,
    skipped: found.numPendingTests + found.numTodoTests,
  };
}
