import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyDelta,
  composeDeltas,
  deltaLineBytesMax,
  divideSteps,
  OperationCounter,
} from '../../../format/artefact/delta-lines.ts';
import { differenceOfRows } from '../../../pipelines/caches/artefact/row-difference.ts';
import { isServiceError } from '../../../runtime/errors.ts';

/** Rows by phone: the rest of the line. */
type Rows = ReadonlyMap<string, string>;

const seed = 20_261_121;
// Few phones, close together and of all lengths, so that histories meet.
const phone = fc
  .tuple(fc.constantFrom('+1202555', '+12025550', '+491', '+4915112345678'), fc.integer({ min: 0, max: 40 }))
  .map(([start, n]) => `${start}${n}`.padEnd(9, '0').slice(0, 16));
const tail = fc.oneof(
  fc.constantFrom('SPAM\t1', 'FRAUD\t12', 'NEUTRAL\t', 'Zahnärzte "Nord"'),
  fc.string({ unit: 'grapheme-ascii', maxLength: 30 }).map((text) => text.replace(/[\t\n]/g, ' ')),
);
const rows = fc.array(fc.tuple(phone, tail), { maxLength: 60 }).map((entries): Rows => new Map(entries));
const cuts = fc.array(fc.oneof(fc.integer({ min: 1, max: 90 }), fc.integer({ min: 300, max: 3000 })), {
  minLength: 1,
  maxLength: 5,
});

const textOf = (content: Rows) =>
  Buffer.from(
    [...content]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, rest]) => `${key}\t${rest}\n`)
      .join(''),
  );

/** The bytes in chunks of the given lengths, again and again: cut anywhere. */
async function* chunked(bytes: Buffer, lengths: readonly number[] = [64]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const length = lengths[turn % lengths.length]!;
    yield bytes.subarray(at, at + length);
    at += length;
  }
}

async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(Buffer.from(piece));
  return Buffer.concat(all);
}

const diff = (before: Buffer, after: Buffer) => differenceOfRows(before, after, false).text;
const apply = (content: Buffer, delta: Buffer, lengths?: readonly number[]) =>
  collect(applyDelta(chunked(content, lengths), chunked(delta, lengths)));
async function count(delta: Buffer, lengths?: readonly number[]) {
  const counter = new OperationCounter();
  await collect(counter.watch(chunked(delta, lengths)));
  const { added, changed, removed } = counter;
  return { added, changed, removed };
}
const compose = (first: Buffer, second: Buffer, lengths?: readonly number[]) =>
  collect(composeDeltas(chunked(first, lengths), chunked(second, lengths)));

describe('a delta', () => {
  it('names what was added, changed and removed, ascending by phone', async () => {
    const before = Buffer.from('+12025550100\tSPAM\t1\n+12025550101\tFRAUD\t7\n+12025550103\tSPAM\t2\n');
    const after = Buffer.from('+12025550100\tSPAM\t1\n+12025550101\tSPAM\t4\n+12025550102\tSPAM\t5\n');
    const delta = diff(before, after);
    expect(delta.toString()).toBe('~\t+12025550101\tSPAM\t4\n+\t+12025550102\tSPAM\t5\n-\t+12025550103\n');
    expect(await count(delta)).toEqual({ added: 1, changed: 1, removed: 1 });
    expect(await apply(before, delta)).toEqual(after);
  });

  it('is empty between two files that are the same, and all of a file from an empty one', async () => {
    const content = Buffer.from('+12025550100\tSPAM\t1\n');
    expect(diff(content, content)).toHaveLength(0);
    expect(diff(Buffer.alloc(0), content).toString()).toBe('+\t+12025550100\tSPAM\t1\n');
    expect(diff(content, Buffer.alloc(0)).toString()).toBe('-\t+12025550100\n');
    expect(await apply(content, Buffer.alloc(0))).toEqual(content);
  });

  it('gives exactly the target, however the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(rows, rows, cuts, async (before, after, lengths) => {
        const delta = diff(textOf(before), textOf(after));
        expect(await apply(textOf(before), delta, lengths)).toEqual(textOf(after));
        const had = [...after].filter(([key]) => before.has(key));
        expect(await count(delta, lengths)).toEqual({
          added: after.size - had.length,
          changed: had.filter(([key, rest]) => before.get(key) !== rest).length,
          removed: before.size - had.length,
        });
      }),
      { seed, numRuns: 400 },
    );
  });

  it('gives exactly the target over a random history: step by step, composed in any order, and from every version on the way', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(rows, { minLength: 2, maxLength: 7 }), cuts, async (history, lengths) => {
        const texts = history.map(textOf);
        const steps = texts.slice(1).map((text, at) => diff(texts[at]!, text));
        const target = texts.at(-1)!;
        for (let from = 0; from < steps.length; from++) {
          let content: Buffer = texts[from]!;
          for (const step of steps.slice(from)) content = await apply(content, step, lengths);
          expect(content).toEqual(target);
          let leftFirst = steps[from]!;
          for (const step of steps.slice(from + 1)) leftFirst = await compose(leftFirst, step, lengths);
          let rightFirst = steps.at(-1)!;
          for (const step of steps.slice(from, -1).reverse()) rightFirst = await compose(step, rightFirst, lengths);
          expect(leftFirst).toEqual(rightFirst);
          expect(await apply(texts[from]!, leftFirst, lengths)).toEqual(target);
        }
      }),
      { seed, numRuns: 150 },
    );
  });

  it('finds rows far apart and close together in large files', async () => {
    const many = new Map(
      Array.from({ length: 15_000 }, (_, n) => [`+1202${String(5_000_000 + n * 7)}`, `SPAM\t${n % 11}\tName ${n}`]),
    );
    for (const every of [1, 2, 9, 1000, 14_999]) {
      const after = new Map(
        [...many].flatMap(([key, rest], n): [string, string][] =>
          n % every !== 0
            ? [[key, rest]]
            : n % 3 === 0
              ? []
              : n % 3 === 1
                ? [[key, `${rest}!`]]
                : [
                    [key, rest],
                    [`${key.slice(0, -1)}${(Number(key.at(-1)) + 1) % 10}9`, 'new'],
                  ],
        ),
      );
      const delta = diff(textOf(many), textOf(after));
      expect((await apply(textOf(many), delta, [65_536])).equals(textOf(after))).toBe(true);
    }
  });
});

describe('a delta that does not fit', () => {
  const content = Buffer.from('+12025550100\tSPAM\t1\n+12025550102\tSPAM\t1\n');
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => 'nothing',
      (error: unknown) => (isServiceError(error, 'delta_invalid') ? error.problem : error),
    );

  it.each([
    ['adds a number that is there', '+\t+12025550102\tSPAM\t1\n', 'Line 1 adds a number that is there already.'],
    [
      'changes a number between two rows',
      '~\t+12025550101\tSPAM\t1\n',
      'Line 1 changes or removes a number that is not there.',
    ],
    [
      'changes a number behind the last row',
      '~\t+12025550103\tSPAM\t1\n',
      'Line 1 changes or removes a number that is not there.',
    ],
    [
      'removes a number before the first row',
      '-\t+12025550099\n',
      'Line 1 changes or removes a number that is not there.',
    ],
    [
      'removes a number twice',
      '-\t+12025550100\n-\t+12025550100\n',
      'Line 2 of the delta does not sort after the line before it.',
    ],
    [
      'is not in order',
      '-\t+12025550102\n-\t+12025550100\n',
      'Line 2 of the delta does not sort after the line before it.',
    ],
    ['has an operation that there is not', '*\t+12025550100\tSPAM\t1\n', 'Line 1 of the delta is not well formed.'],
    ['has a space for the tab', '- +12025550100\n', 'Line 1 of the delta is not well formed.'],
    ['removes a whole row', '-\t+12025550100\tSPAM\t1\n', 'Line 1 of the delta is not well formed.'],
    ['adds a phone without a row', '+\t+12025550101\n', 'Line 1 of the delta is not well formed.'],
    ['has a key of 4 digits', '+\t+1202\tHIGH\t1\n', 'Line 1 of the delta is not well formed.'],
    ['has a key of 16 digits', '+\t+1202555010000000\tSPAM\t1\n', 'Line 1 of the delta is not well formed.'],
    ['has a letter in a phone', '+\t+1202555010A\tSPAM\t1\n', 'Line 1 of the delta is not well formed.'],
    ['has an empty line', '\n', 'Line 1 of the delta is not well formed.'],
    ['stops within a line', '-\t+12025550100', 'The last line of the delta has no end.'],
  ])('and %s is refused', async (_what, delta, problem) => {
    expect(await refusal(apply(content, Buffer.from(delta)))).toBe(problem);
  });

  it('is taken with keys of 5 and of 15 digits', async () => {
    expect((await apply(Buffer.alloc(0), Buffer.from('+\t+12025\tx\n+\t+120255501000000\ty\n'))).toString()).toBe(
      '+12025\tx\n+120255501000000\ty\n',
    );
  });

  it('is refused with a line longer than the limit, and taken with one of the limit', async () => {
    const line = (bytes: number) => Buffer.from(`+\t+12025550101\t${'x'.repeat(bytes - 16)}\n`);
    expect(await refusal(apply(content, line(deltaLineBytesMax + 2), [deltaLineBytesMax + 1, 2]))).toBe(
      `A line of the delta is longer than ${deltaLineBytesMax} bytes.`,
    );
    expect((await apply(content, line(deltaLineBytesMax), [deltaLineBytesMax - 1, 1])).length).toBe(
      content.length + deltaLineBytesMax - 2,
    );
  });

  it.each([
    ['+\t+12025550101\ta\n', '+\t+12025550101\tb\n'],
    ['~\t+12025550101\ta\n', '+\t+12025550101\tb\n'],
    ['-\t+12025550101\n', '-\t+12025550101\n'],
    ['-\t+12025550101\n', '~\t+12025550101\tb\n'],
  ])('cannot be composed: %j and then %j', async (first, second) => {
    expect(await refusal(compose(Buffer.from(first), Buffer.from(second)))).toBe(
      'Line 1 of the second delta cannot follow line 1 of the first.',
    );
  });
});

describe('what is read of a stream', () => {
  const lines = (count: number, of: (phone: string) => string) =>
    Buffer.from(Array.from({ length: count }, (_, n) => `${of(`+1202555${1000 + n}`)}\n`).join(''));
  const [rowLines, added, removed] = [
    lines(99, (key) => `${key}\tSPAM\t1`),
    lines(99, (key) => `+\t${key}\tSPAM\t1`),
    lines(99, (key) => `-\t${key}`),
  ];
  // Longer than what is gathered before it is passed on.
  const [manyAdded, manyRemoved] = [lines(9000, (key) => `+\t${key}\tSPAM\t1`), lines(9000, (key) => `-\t${key}0`)];
  const wrong = Buffer.from('wrong\n');

  it.each<[string, (read: (bytes: Buffer) => AsyncGenerator<Buffer>) => AsyncIterable<unknown>]>([
    ['a composition, where the deltas do not follow each other', (read) => composeDeltas(read(added), read(added))],
    ['a composition, where the second delta is refused', (read) => composeDeltas(read(added), read(wrong))],
    [
      'a composition in a composition',
      (read) => composeDeltas(composeDeltas(read(manyAdded), read(manyRemoved)), read(wrong)),
    ],
    ['an application, where the delta does not fit', (read) => applyDelta(read(rowLines), read(added))],
    [
      'an application, where the rows are cut off',
      (read) => applyDelta(read(rowLines.subarray(0, -1)), read(lines(99, (key) => `~\t${key}\tFRAUD\t7`))),
    ],
    [
      'the steps of a delta, where a line is refused',
      (read) => divideSteps(read(Buffer.concat([added, removed, wrong, added]))),
    ],
    ['the steps of a delta, where no more are wanted', (read) => divideSteps(read(Buffer.concat([added, removed])))],
  ])('is closed with %s', async (what, work) => {
    let begun = 0;
    let open = 0;
    const read = async function* (bytes: Buffer) {
      begun++;
      open++;
      try {
        yield* chunked(bytes);
      } finally {
        open--;
      }
    };
    const takeOne = async () => {
      for await (const _piece of work(read)) if (what.includes('no more')) break;
    };
    if (what.includes('no more')) await takeOne();
    else await expect(takeOne()).rejects.toSatisfy((error) => isServiceError(error, 'delta_invalid'));
    expect(begun).toBeGreaterThan(0);
    expect(open).toBe(0);
  });
});
