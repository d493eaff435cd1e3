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
  return listTests(root).filter((name) => !needsProcess(join(root, name)));
}

/** The test files whose size is a choice (`run-size.ts`), relative to `root`: the long run (`npm run test:long`). */
export function listLongTests(root: string): string[] {
  return listTests(root).filter((name) => readFileSync(join(root, name), 'utf8').includes('support/run-size.ts'));
}

function listTests(root: string): string[] {
  return readdirSync(join(root, 'test'), { recursive: true })
    .map((name) => `test/${String(name)}`)
    .filter((name) => name.endsWith('.test.ts'))
    .sort();
}
