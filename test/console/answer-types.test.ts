import { describe, expect, it } from 'vitest';
import { projectFiles, readProjectFile } from '../conventions/source-tree.ts';

const pages = projectFiles.filter((path) => /^console\/pages\/[a-z-]+\.ts$/.test(path));
const answers = pages.filter((path) => path.endsWith('-types.ts'));
const compared = projectFiles
  .filter((path) => /^test\/console\/answer-types\/[a-z]+-answers\.ts$/.test(path))
  .map(readProjectFile)
  .join('\n');

/** The types that pages read answers as, by name, each with its declaration. */
const declarations = new Map(
  answers.flatMap((path) =>
    readProjectFile(path)
      .split(/^(?=export )/m)
      .flatMap((text) => {
        const name = /^export (?:interface|type) (\w+)/.exec(text)?.[1];
        return name === undefined ? [] : [[name, text] as const];
      }),
  ),
);

function namesIn(text: string): string[] {
  return (text.match(/\b[A-Z]\w*/g) ?? []).filter((name) => declarations.has(name));
}

/** Those that are compared, also as a part of another one. */
function comparedNames(): Set<string> {
  const names = new Set(namesIn(compared));
  for (const name of names) for (const part of namesIn(declarations.get(name)!)) names.add(part); // a Set goes on to what is added
  return names;
}

/** The types, as they are written, that a page says an answer has. */
function readTypesOf(path: string): string[] {
  const text = readProjectFile(path);
  return [
    ...text.matchAll(
      /\b(?:useReading|useLive|getJson|sendJson|sendForm|postOnce)<([^()]+?)>\(|\bJSON\.parse\([^()]*\) as (\w+)/g,
    ),
  ]
    .map(([, given, parsed]) => (given ?? parsed)!)
    .filter((type) => type !== 'Value');
}

// What the types say of each other, the compiler checks: test/console/answer-types/.
describe('the types of answers', () => {
  it('are found', () => {
    expect(declarations.size).toBeGreaterThan(60);
    expect(pages.flatMap(readTypesOf).length).toBeGreaterThan(40);
  });

  it('stand in the files of types, for each answer that a page reads', () => {
    expect(
      pages.flatMap((path) =>
        readTypesOf(path)
          .filter((type) => namesIn(type).length === 0)
          .map((type) => `${path} reads ${type}`),
      ),
    ).toEqual([]);
  });

  it('are compared with what the server answers', () => {
    const names = comparedNames();
    expect([...declarations.keys()].filter((name) => !names.has(name))).toEqual([]);
  });

  it('have no field that may be missing: nothing would find out that the server gives it no more', () => {
    expect(answers.filter((path) => /^\s*readonly \w+\?:/m.test(readProjectFile(path)))).toEqual([]);
  });
});
