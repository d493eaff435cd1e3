import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../runtime/package-root.ts';

/** A row of the tables in docs/errors.md: the code first, the advice last. */
const row = /^\| `([a-z_]+)` \|.*\| ([^|]+) \|$/gm;

let advice: ReadonlyMap<string, string> | undefined;

/** The advice of docs/errors.md for an error code, as plain text; null for other codes. */
export function adviceOn(code: string): string | null {
  advice ??= readAdvice();
  return advice.get(code) ?? null;
}

function readAdvice(): ReadonlyMap<string, string> {
  const path = join(packageRoot, 'docs', 'errors.md');
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''; // an installation may lack the documents
  return new Map([...text.matchAll(row)].map(([, code, words]) => [code!, plainText(words!)]));
}

/** Removes Markdown links and code marks. */
function plainText(markdown: string): string {
  return markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .trim();
}
