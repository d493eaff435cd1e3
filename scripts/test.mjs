// npm test: sets up, runs the tests (--quick: those that need no process of their own; --long: those whose size is a choice, at
// their large sizes), and ends with the time by folder and one line of numbers. --report prints what earlier long runs
// counted. Other arguments go to vitest, such as --coverage.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { root, run, runScript, setUp } from './set-up.mjs';

const sets = ['quick', 'long'];
if (process.argv.includes('--report')) {
  printReport(join(root, 'var', 'long-run.jsonl'));
  process.exit(0);
}
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
const { passed, failed, skipped } = countTests(results, process.exitCode);
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

/**
 * A test file that failed before its first test counts as one failure; so does a run without results, and one that failed without
 * a failed test, by an error outside of tests or by what it has left behind (test/support/run-watch.ts).
 */
function countTests(found, exitCode) {
  if (found === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const brokenFiles = found.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const failed = found.numFailedTests + brokenFiles.length;
  return {
    passed: found.numPassedTests,
    failed: exitCode === 0 ? failed : Math.max(failed, 1),
    skipped: found.numPendingTests + found.numTodoTests,
  };
}

/** Prints what the portions of the long runs counted (test/support/run-size.ts), a row of a table for each test. */
function printReport(path) {
  const records = existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
    : [];
  console.log('| Test | Done | Figures | First failing seed |\n|---|---|---|---|');
  for (const name of new Set(records.map((record) => record.name))) {
    const portions = new Map();
    for (const record of records) if (record.name === name) portions.set(record.seed, record); // the last one of a seed counts
    const passed = [...portions.values()].filter(({ outcome }) => outcome === 'passed');
    const done = passed.reduce((sum, { size }) => sum + size, 0);
    const failed = [...portions.values()].filter(({ outcome }) => outcome === 'failed').map((record) => record.seed);
    console.log(
      `| ${name} | ${done} | ${summarizeFigures(passed)} | ${failed.length > 0 ? Math.min(...failed) : 'none'} |`,
    );
  }
}

function summarizeFigures(portions) {
  const names = [...new Set(portions.flatMap(({ figures }) => Object.keys(figures)))];
  return names
    .map((name) => {
      const values = portions.flatMap(({ figures }) => figures[name] ?? []).sort((a, b) => a - b);
      const isList = portions.some(({ figures }) => Array.isArray(figures[name]));
      if (!isList) return `${name} ${values.reduce((sum, value) => sum + value, 0)}`;
      return `${name} ${values[values.length >> 1]?.toFixed(1)} (median), ${values.at(-1)?.toFixed(1)} (most)`;
    })
    .join('; ');
}
