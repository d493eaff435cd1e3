import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of the checkout. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Folders and files by name; in a linked work tree `.git` is a file. */
const notOurs = new Set(['node_modules', 'dist', 'var', 'coverage', '.git', '.env']);

/** Every file that belongs to the project, relative to the root; what .gitignore names is left out. */
export const projectFiles: readonly string[] = listFiles('').sort();

function listFiles(directory: string): string[] {
  return readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
    if (notOurs.has(entry.name)) return [];
    if (entry.isDirectory()) return listFiles(path);
    return entry.isFile() ? [path] : [];
  });
}

export function readProjectFile(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The TypeScript of the product: what the processes are made of, without bench and tests. */
export const productSources: readonly string[] = projectFiles.filter(
  (path) =>
    path === 'cli.ts' ||
    /^(clients|format|runtime|sql|pipelines|jobs|api|intake|console|evaluation|samples|cli)\/.*\.ts$/.test(path),
);

/** One import or re-export of a source. */
export interface Import {
  readonly from: string;
  /** As written: `./build.ts`, `node:fs`, `pg`. */
  readonly specifier: string;
  /** Nothing of it is left in the compiled file. */
  readonly typeOnly: boolean;
}

/** Every import of a source, also re-exports, bare and dynamic ones. */
export function importsOf(path: string): Import[] {
  const text = readProjectFile(path);
  const named = [...text.matchAll(/^\s*(?:import|export)\s+(type\s+)?([^'";]*?)\s*from\s+'([^']+)'/gm)].map(
    ([, type, names, specifier]) => ({
      from: path,
      specifier: specifier!,
      typeOnly: type !== undefined || onlyTypes(names!),
    }),
  );
  const others = [...text.matchAll(/^\s*import\s+'([^']+)'|\b(?:import|require)\(\s*'([^']+)'\s*\)/gm)].map(
    ([, bare, dynamic]) => ({ from: path, specifier: (bare ?? dynamic)!, typeOnly: false }),
  );
  return [...named, ...others];
}

/** `{ type A, type B }` */
function onlyTypes(names: string): boolean {
  const list = /^\{([^}]*)\}$/s.exec(names.trim())?.[1];
  return (
    list !== undefined &&
    list
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '')
      .every((name) => name.startsWith('type '))
  );
}

/**
 * The package of an import: `libphonenumber-js` for `libphonenumber-js/max`; undefined for our own files, Node's, and what pages
 * import by the path at which it is served.
 */
export function packageOf(specifier: string): string | undefined {
  if (/^(\.|\/|#|node:)/.test(specifier)) return undefined;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** The file of the project that a relative import leads to, or undefined for packages. */
export function targetOf({ from, specifier }: Import): string | undefined {
  return specifier.startsWith('.') ? new URL(specifier, `file:///${from}`).pathname.slice(1) : undefined;
}

/** Source text without comments, and with the strings emptied. */
export function codeOnly(text: string): string {
  return text.replace(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g,
    (piece) => (piece.startsWith('/') ? ' ' : "''"),
  );
}

/** The cells of every table row of a Markdown text, trimmed. */
export function tableRows(markdown: string): string[][] {
  const lines = markdown.split('\n').filter((line) => line.startsWith('|') && !/^\|[-:| ]+\|$/.test(line));
  return lines.map((line) =>
    line
      .replace(/^\||\|\s*$/g, '')
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  );
}
