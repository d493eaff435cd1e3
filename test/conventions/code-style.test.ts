import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../../runtime/errors.ts';
import { codeOnly, productSources, projectFiles, readProjectFile, root } from './source-tree.ts';

const typescript = projectFiles.filter((path) => path.endsWith('.ts'));

/** The files whose code, comments and strings left out, matches. */
function findInCode(paths: readonly string[], pattern: RegExp): string[] {
  return paths.flatMap((path) => (pattern.test(codeOnly(readProjectFile(path))) ? [path] : []));
}

describe('the code', () => {
  it('has no any', () => {
    expect(findInCode(typescript, /(?::|\bas|<|\||&|=>)\s*any\b|\bany\s*\[\]|,\s*any\s*>/)).toEqual([]);
  });

  it('switches no check of the compiler off', () => {
    const directive = new RegExp(['ts-ignore', 'ts-nocheck', 'ts-expect-error'].map((word) => `@${word}`).join('|'));
    expect(typescript.filter((path) => directive.test(readProjectFile(path)))).toEqual([]);
  });

  it('reads the environment in runtime/config.ts alone', () => {
    expect(findInCode(productSources, /process\s*\.\s*env\b|process\s*\[/)).toEqual(['runtime/config.ts']);
  });

  it('uses every error code', () => {
    const text = productSources
      .filter((path) => path !== 'runtime/errors.ts')
      .map(readProjectFile)
      .join('\n');
    const sqlText = projectFiles
      .filter((path) => path.endsWith('.sql'))
      .map(readProjectFile)
      .join('\n');
    expect(Object.keys(ERRORS).filter((code) => !text.includes(`'${code}'`) && !sqlText.includes(`'${code}'`))).toEqual(
      [],
    );
  });
});

describe('a comment', () => {
  it('has lines of at most 140 characters', () => {
    const written = typescript.filter((path) => path !== 'clients/typescript/service/api-documents.ts'); // generated
    const lines = written.flatMap((path) =>
      readProjectFile(path)
        .split('\n')
        .filter((line) => line.length > 140 && /^\s*(\/\/|\/?\*)/.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
    expect(lines).toEqual([]);
  });
});

describe('a file', () => {
  const code = projectFiles.filter((path) => /\.(ts|mjs|js)$/.test(path));

  it('has a name in kebab-case, and a statement one in snake_case', () => {
    expect(code.filter((path) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.config)?\.(ts|mjs)$/.test(basename(path)))).toEqual(
      [],
    );
    expect(
      projectFiles.filter((path) => path.endsWith('.sql') && !/^[a-z0-9]+(_[a-z0-9]+)*\.sql$/.test(basename(path))),
    ).toEqual([]);
  });

  it('is named for what it does', () => {
    expect(
      projectFiles.filter((path) =>
        path.split('/').some((part) => /^(utils?|helpers?|common|misc|lib)(\.|$)/i.test(part)),
      ),
    ).toEqual([]);
  });

  it('exists if a comment or a document names it', () => {
    const named = projectFiles
      .filter((path) => /\.(ts|mjs|sql|md|yaml)$/.test(path) && path !== 'CHANGELOG.md')
      .flatMap((path) =>
        [
          ...readProjectFile(path).matchAll(
            /(?<![\w/.-])(?:runtime|sql|pipelines|jobs|api|cli|scripts|test|bench|docs)\/[\w/.-]+\.(?:ts|sql|md|mjs)\b/g,
          ),
        ].map(([name]) => ({ path, name })),
      );
    expect(named.length).toBeGreaterThan(20);
    expect(
      named.filter(({ name }) => !existsSync(join(root, name))).map(({ path, name }) => `${path} names ${name}`),
    ).toEqual([]);
  });
});
