import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Json } from '../../../console/answers/json.ts';
import { projectFiles, readProjectFile } from '../../conventions/source-tree.ts';

/** True if what a server answers can be read as what a page expects. */
type Fits<Page, Answer> = [Json<Answer>] extends [Page] ? true : false;

// The compiler checks these: `npm run typecheck`.
describe('what a page reads of an answer', () => {
  it('differs where the answer may lack what the page expects', () => {
    expectTypeOf<Fits<{ rows: number }, { bytes: number }>>().toEqualTypeOf<false>();
    expectTypeOf<Fits<{ rows: number }, { rows: number | undefined }>>().toEqualTypeOf<false>();
    expectTypeOf<Fits<{ rows: number }, { rows?: number }>>().toEqualTypeOf<false>();
    expectTypeOf<Fits<{ at: string }, { at: Date | null }>>().toEqualTypeOf<false>();
    expectTypeOf<
      Fits<readonly { stale: { since: string } | null }[], readonly { stale: { since: Date | null } | null }[]>
    >().toEqualTypeOf<false>();
    expectTypeOf<Fits<{ state: 'due' | 'finished' }, { state: 'due' | 'running' }>>().toEqualTypeOf<false>();
    expectTypeOf<Fits<{ next: string | null }, { next: number | null }>>().toEqualTypeOf<false>();
  });

  it('is nothing where JSON cannot carry it, or its type is not known', () => {
    expectTypeOf<Fits<{ png: string }, { png: Buffer }>>().toEqualTypeOf<false>();
    expectTypeOf<Fits<{ rows: number }, { rows: bigint }>>().toEqualTypeOf<false>();
    expectTypeOf<Fits<{ rows: object }, { rows: Map<string, number> }>>().toEqualTypeOf<true>();
    expectTypeOf<Json<Map<string, number>>>().toHaveProperty('notInJson');
    expectTypeOf<Fits<{ rows: number }, { rows: ReturnType<typeof JSON.parse> }>>().toEqualTypeOf<false>();
    expectTypeOf<Fits<{ rows: number }, never>>().toEqualTypeOf<false>();
    expectTypeOf<Fits<{ detail: string }, { detail: unknown }>>().toEqualTypeOf<false>();
  });

  it('is text for an instant, and keeps what is read-only, optional or one of several', () => {
    expectTypeOf<Json<{ at: Date | null; readonly days: readonly string[] }>>().toEqualTypeOf<{
      at: string | null;
      readonly days: readonly string[];
    }>();
    expectTypeOf<Json<{ hint?: string }>>().toEqualTypeOf<{ hint?: string }>();
    expectTypeOf<Json<readonly [Date, number]>>().toEqualTypeOf<readonly [string, number]>();
    expectTypeOf<Json<{ kind: 'a'; at: Date } | { kind: 'b' }>>().toEqualTypeOf<
      { kind: 'a'; at: string } | { kind: 'b' }
    >();
  });
});

describe('pages', () => {
  const pages = projectFiles.filter((path) => /^console\/pages\/.*\.ts$/.test(path));

  /** The types, as they are written, that a page says an answer has. */
  const readTypesOf = (text: string): string[] =>
    [
      ...text.matchAll(
        /\b(?:useReading|useLive|getJson|sendJson|sendForm|postOnce)<([^()]+?)>\(|\bJSON\.parse\([^()]*\) as (.+?)[,;)]/g,
      ),
    ]
      .map(([, given, parsed]) => (given ?? parsed)!)
      .filter((type) => !/^(Value|Json<Value>)$/.test(type));

  /** Names that a page imports from the answers of the server. */
  const answersOf = (text: string): string[] =>
    [...text.matchAll(/^import type \{([^}]*)\} from '[./]+\/answers\/[a-z-]+\.ts';/gm)].flatMap(
      ([, names]) => names!.match(/\w+/g) ?? [],
    );

  it('read answers as the types that the server gives them', () => {
    const read = pages.flatMap((path) => {
      const text = readProjectFile(path);
      return readTypesOf(text).map((type) => ({ path, type, answers: answersOf(text) }));
    });
    expect(read.length).toBeGreaterThan(70);
    const wrong = read.filter(
      ({ type, answers }) =>
        !(type.match(/\b[A-Z]\w*/g) ?? []).some(
          (name) => name !== 'Json' && name !== 'Listed' && answers.includes(name),
        ),
    );
    expect(wrong.map(({ path, type }) => `${path} reads ${type}`)).toEqual([]);
  });
});
