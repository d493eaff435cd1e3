import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** What starts a process: a database, a server of Redis, a browser, a compiled program, a scorer, a reader of letters. */
const startsProcess =
  /useTestDatabase|inject\('(databaseUrl|apiDatabaseUrl)'\)|node:child_process|node:worker_threads|playwright|acquireEmbeddedDatabase|startRedis|openModels|readLetterFile|renderLetterPages|readPdf|tesseract|ScorerProcess|ScoringPool|openRecording|\bGraph\b/;

/**
 * The test files that need no process of their own, neither they nor what they share with other tests, relative to `root`.
 * They are the quick run (`npm run test:quick`): found by reading, so that a new test file is in it without a list.
 */
export function listQuickTests(root: string): string[] {
  const seen = new Map<string, boolean>();
  const needsProcess = (file: string): boolean => {
    const known = seen.get(file);
    if (known !== undefined) return known;
    seen.set(file, false); // for circles
    const text = readFileSync(file, 'utf8');
    const shared = [...text.matchAll(/from '(\.{1,2}\/[^']+)'/g)]
      .map(([, specifier]) => resolve(dirname(file), specifier!))
      .filter((path) => path.startsWith(join(root, 'test')) && existsSync(path));
    const needs = startsProcess.test(text) || shared.some(needsProcess);
    seen.set(file, needs);
    return needs;
  };
  return listUsualTests(root).filter((name) => !needsProcess(join(root, name)));
}

/** The test files of the usual run, relative to `root`: all but those of benches. */
export function listUsualTests(root: string): string[] {
  return listTests(root).filter((name) => !isBench(name));
}

/** The test files whose size is a choice (`run-size.ts`), and those of benches: the long run (`npm run test:long`). */
export function listLongTests(root: string): string[] {
  return listTests(root).filter(
    (name) => isBench(name) || readFileSync(join(root, name), 'utf8').includes('support/run-size.ts'),
  );
}

/** Tests that run a bench at a small size. They compare times, so they have three tries. */
const isBench = (name: string): boolean => name.startsWith('test/bench/');

function listTests(root: string): string[] {
  return readdirSync(join(root, 'test'), { recursive: true })
    .map((name) => `test/${String(name)}`)
    .filter((name) => name.endsWith('.test.ts'))
    .sort();
}
