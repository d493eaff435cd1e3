import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AUDIO_REASONS } from '../../pipelines/audio/reasons.ts';
import { REJECTS } from '../../pipelines/rows/reject.ts';
import { SETTINGS } from '../../runtime/config.ts';
import { ERRORS } from '../../runtime/errors.ts';
import { projectFiles, readProjectFile, root, tableRows } from './source-tree.ts';

const documents = projectFiles.filter((path) => path.endsWith('.md'));

/** Text outside code blocks. */
function proseOf(path: string): string {
  return readProjectFile(path).replace(/^```[\s\S]*?^```/gm, '');
}

const codeIn = (cell: string | undefined): string | undefined => /^`([^`]+)`/.exec(cell ?? '')?.[1];

describe('docs/configuration.md', () => {
  const rows = tableRows(readProjectFile('docs/configuration.md')).filter(([first]) => /^`[A-Z_]+`$/.test(first ?? ''));
  const settings = Object.values(SETTINGS).map(({ env, schema, meaning }) => ({
    env,
    meaning,
    ...describeSchema(schema),
  }));

  it('has one row for each setting, and none for a setting that does not exist', () => {
    expect(rows.map(([variable]) => codeIn(variable)).sort()).toEqual(settings.map(({ env }) => env).sort());
  });

  it('gives the true default of each', () => {
    const documented = Object.fromEntries(
      rows.map(([variable, byDefault]) => [codeIn(variable), codeIn(byDefault) ?? byDefault]),
    );
    expect(documented).toEqual(Object.fromEntries(settings.map(({ env, byDefault }) => [env, byDefault])));
  });

  it('gives the true limits of each', () => {
    const documented = Object.fromEntries(rows.map(([variable, , limits]) => [codeIn(variable), limits]));
    expect(documented).toEqual(Object.fromEntries(settings.map(({ env, limits }) => [env, limits])));
  });

  it('gives the meaning of each in the words of the code', () => {
    const documented = Object.fromEntries(rows.map(([variable, , , meaning]) => [codeIn(variable), meaning]));
    expect(documented).toEqual(Object.fromEntries(settings.map(({ env, meaning }) => [env, meaning])));
  });

  /** The changelog names the settings that were removed, under that heading. */
  const withoutRemovals = (path: string) =>
    path === 'CHANGELOG.md' ? proseOf(path).replace(/^### Removed\n.*?(?=^##)/gms, '') : proseOf(path);

  it('and the changelog lists no setting as removed that exists', () => {
    const removed =
      proseOf('CHANGELOG.md')
        .match(/^### Removed\n.*?(?=^##)/gms)
        ?.join('') ?? '';
    expect(settings.filter(({ env }) => removed.includes(`\`${env}\``))).toEqual([]);
  });

  it('and the other documents name no setting that does not exist', () => {
    const known = new Set<string>(settings.map(({ env }) => env));
    const named = documents.flatMap((path) =>
      [...withoutRemovals(path).matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)].map(([, name]) => ({
        path,
        name: name!,
      })),
    );
    const inExample = [...readProjectFile('.env.example').matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => ({
      path: '.env.example',
      name: name!,
    }));
    const notSettings = new Set([
      'DELAY_SECONDS_MAX',
      'CI_REQUIRE_REDIS',
      'CHROMIUM_PATH',
      'TEST_SEED',
      'TEST_SIZE_FACTOR',
      'LC_ALL',
      'DATABASE_PASSWORD',
      'API_DATABASE_PASSWORD',
      'INTAKE_DATABASE_PASSWORD',
    ]);
    expect([...named, ...inExample].filter(({ name }) => !known.has(name) && !notSettings.has(name))).toEqual([]);
  });

  /** Default and limits in the words of the table. */
  function describeSchema(schema: z.ZodType): { byDefault: string; limits: string } {
    const json = z.toJSONSchema(schema) as {
      type?: string;
      default?: unknown;
      minimum?: number;
      maximum?: number;
      minLength?: number;
      pattern?: string;
      enum?: string[];
    };
    return { byDefault: json.default === undefined ? 'absent' : String(json.default), limits: describeLimits(json) };
  }

  function describeLimits({
    type,
    minimum,
    maximum,
    minLength,
    pattern,
    enum: words,
  }: {
    type?: string;
    minimum?: number;
    maximum?: number;
    minLength?: number;
    pattern?: string;
    enum?: string[];
  }): string {
    if (type === 'integer')
      return maximum === Number.MAX_SAFE_INTEGER ? `${minimum} or more` : `${minimum} to ${maximum}`;
    if (words !== undefined) return words.map((word) => `\`${word}\``).join(', ');
    if (pattern !== undefined) return `\`${pattern}\``;
    return minLength === undefined || minLength === 1 ? 'text' : `${minLength} characters or more`;
  }
});

describe('docs/operations/install.md', () => {
  it('says of each process of the Procfile what it needs', () => {
    const commands = tableRows(readProjectFile('docs/operations/install.md')).map((cells) => codeIn(cells[1]));
    const processes = [...readProjectFile('Procfile').matchAll(/^[a-z-]+: (.+)$/gm)].map(([, command]) => command!);
    expect(processes.filter((command) => !commands.includes(command))).toEqual([]);
  });
});

describe('docs/errors.md', () => {
  const rows = tableRows(readProjectFile('docs/errors.md'));

  it('has one row for each error code with its true facts, and none for a code that does not exist', () => {
    const documented = rows
      .filter((cells) => cells.length === 6 && codeIn(cells[0]) !== undefined)
      .map(([code, http, retry, exit, meaning]) => [
        codeIn(code),
        { http: Number(http), retry: retry === 'yes', exit: Number(exit), meaning },
      ]);
    expect(Object.fromEntries(documented)).toEqual(ERRORS);
    expect(documented.length).toBe(Object.keys(ERRORS).length);
  });

  it('says of each error what to do', () => {
    expect(rows.filter((cells) => cells.length === 6 && (cells[5] ?? '').length < 10)).toEqual([]);
  });

  it('has one row for each reason to refuse a feed row, and none for one that does not exist', () => {
    const documented = rows
      .filter((cells) => cells.length === 3 && codeIn(cells[0]) !== undefined)
      .map(([code, meaning]) => [codeIn(code), meaning]);
    expect(Object.fromEntries(documented)).toEqual(REJECTS);
    expect(documented.length).toBe(Object.keys(REJECTS).length);
  });
});

describe('docs/audio.md', () => {
  const rows = tableRows(readProjectFile('docs/audio.md')).filter(
    (cells) => cells.length === 5 && codeIn(cells[0]) !== undefined,
  );

  it('has one row for each reason why a recording has no score, and none for one that does not exist', () => {
    const documented = rows.map(([reason, state, retry, meaning]) => [
      codeIn(reason),
      { state: codeIn(state), retry: retry === 'yes', meaning },
    ]);
    expect(Object.fromEntries(documented)).toEqual(AUDIO_REASONS);
    expect(documented.length).toBe(Object.keys(AUDIO_REASONS).length);
  });

  it('says of each what to do', () => {
    expect(rows.filter((cells) => (cells[4] ?? '').length < 10)).toEqual([]);
  });
});

describe('a document', () => {
  it('links to files and headings that exist', () => {
    const broken = documents.flatMap((path) =>
      [...proseOf(path).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)]
        .map(([, link]) => link!)
        .filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(path, link))
        .map((link) => `${path} links to ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('is linked from the README or from a document that is', () => {
    const linked = new Set(['README.md']);
    for (const path of linked) {
      for (const [, link] of proseOf(path).matchAll(/\]\(([^)#\s]+\.md)(?:#[^)]*)?\)/g)) {
        const target = join(dirname(path), link!);
        if (documents.includes(target)) linked.add(target);
      }
    }
    const partOfCard = /^models\/[^/]+\/about\.md$/; // its text is in the card
    expect(documents.filter((path) => !linked.has(path) && !partOfCard.test(path))).toEqual([]);
  });

  it('names no bench that the long tests do not run', () => {
    const named = documents
      .filter((path) => path.startsWith('docs/'))
      .flatMap((path) => [...readProjectFile(path).matchAll(/\bbench\/([\w-]+)\.[jt]s\b/g)].map(([, name]) => name!));
    expect(named).toContain('night');
    expect(named.filter((name) => !existsSync(join(root, `test/bench/${name}.test.ts`)))).toEqual([]);
  });

  it('does not call anything easy', () => {
    expect(
      documents.filter((path) =>
        /\b(simply|easy|easily|obviously)\b|\bjust\b(?! (?:under|over|before|after)\b)/i.test(proseOf(path)),
      ),
    ).toEqual([]);
  });

  function leadsSomewhere(from: string, link: string): boolean {
    const [file, anchor] = link.split('#', 2);
    const target = file === '' ? from : join(dirname(from), file!);
    if (!existsSync(join(root, target))) return false;
    return anchor === undefined || anchorsOf(target).includes(anchor);
  }

  /** Anchors of the headings as GitHub makes them. */
  function anchorsOf(path: string): string[] {
    const headings = [...proseOf(path).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!);
    return headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    );
  }
});
