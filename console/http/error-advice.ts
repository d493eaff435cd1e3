import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sqlDirectory } from '../../sql/sql.ts';

/** A row of the tables in docs/errors.md: the code first, what to do last. */
const row = /^\| `([a-z_]+)` \|.*\| ([^|]+) \|$/gm;

let advice: ReadonlyMap<string, string> | undefined;

/** What to do about an error of the closed list, as docs/errors.md says it, in plain text; null for a code that it does not have. */
export function adviceOn(code: string): string | null {
  advice ??= readAdvice();
  return advice.get(code) ?? null;
}

function readAdvice(): ReadonlyMap<string, string> {
  const path = join(dirname(sqlDirectory), 'docs', 'errors.md');
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''; // an installation may leave the documents out
  return new Map([...text.matchAll(row)].map(([, code, words]) => [code!, plainText(words!)]));
}

/** `[name](target)` as its name, and code without its marks. */
function plainText(markdown: string): string {
  return markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .trim();
}
