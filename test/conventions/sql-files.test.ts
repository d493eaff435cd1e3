import { describe, expect, it } from 'vitest';
import { listMigrations } from '../../sql/migrate.ts';
import { productSources, projectFiles, readProjectFile } from './source-tree.ts';

const migration = /^sql\/migrations\/\d{4}_/;
const statements = projectFiles.filter(
  (path) => path.endsWith('.sql') && path !== 'sql/schema.sql' && !migration.test(path),
);

/** The comment at the top of a file. */
function headerOf(path: string): string {
  const lines = readProjectFile(path).split('\n');
  return lines
    .slice(
      0,
      lines.findIndex((line) => !line.startsWith('--')),
    )
    .join('\n');
}

describe('a statement', () => {
  it('says its purpose, its parameters and its rows, in this order', () => {
    expect(
      statements.filter((path) => !/^-- Purpose: \S[\s\S]*^-- Parameters: \S[\s\S]*^-- Rows: \S/m.test(headerOf(path))),
    ).toEqual([]);
  });

  it('is named by the code that runs it', () => {
    const text = productSources.map(readProjectFile).join('\n');
    const unnamed = statements.filter((path) => !text.includes(`'${path.slice('sql/'.length, -'.sql'.length)}'`));
    expect(unnamed).toEqual([]);
  });

  it('exists if the code names it', () => {
    const named = productSources.flatMap((path) =>
      [...readProjectFile(path).matchAll(/\b(?:sql|sqlWithLiterals|prepared)\('([\w/]+)'/g)].map(
        ([, name]) => `sql/${name}.sql`,
      ),
    );
    expect(named.filter((path) => !projectFiles.includes(path))).toEqual([]);
  });

  it('uses every numbered parameter that its header describes, and no other', () => {
    const wrong = statements.filter((path) => {
      const header = headerOf(path);
      const numbers = (text: string) =>
        [...new Set([...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))].sort((a, b) => a - b);
      return (
        JSON.stringify(numbers(header)) !==
        JSON.stringify(
          numbers(
            readProjectFile(path)
              .slice(header.length)
              .replace(/^\s*--.*$/gm, ''),
          ),
        )
      );
    });
    expect(wrong).toEqual([]);
  });
});

describe('a migration', () => {
  it('says in its first line whether older workers can continue with its schema', () => {
    const migrations = projectFiles.filter((path) => migration.test(path));
    expect(
      migrations.filter((path) => !/^-- Compatible with older workers: (yes|no)\b/.test(readProjectFile(path))),
    ).toEqual([]);
  });

  it('has the number after the one before it', () => {
    expect(listMigrations().map(({ number }) => number)).toEqual(listMigrations().map((_, at) => at + 1));
  });
});
