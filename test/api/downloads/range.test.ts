import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decideRange, type RangeDecision } from '../../../api/downloads/range.ts';

const part = (start: number, length: number) => ({ start, length });

const cases: [header: string | undefined, size: number, expected: RangeDecision][] = [
  [undefined, 10, 'whole'],
  ['bytes=0-0', 10, part(0, 1)],
  ['bytes=0-9', 10, part(0, 10)],
  ['bytes=0-10', 10, part(0, 10)],
  ['bytes=3-5', 10, part(3, 3)],
  ['bytes=9-9', 10, part(9, 1)],
  ['bytes=9-', 10, part(9, 1)],
  ['bytes=0-', 10, part(0, 10)],
  ['bytes=10-', 10, 'unsatisfiable'],
  ['bytes=10-20', 10, 'unsatisfiable'],
  ['bytes=-1', 10, part(9, 1)],
  ['bytes=-10', 10, part(0, 10)],
  ['bytes=-11', 10, part(0, 10)],
  ['bytes=-0', 10, 'unsatisfiable'],
  ['bytes=0-', 0, 'unsatisfiable'],
  ['bytes=-5', 0, 'unsatisfiable'],
  ['bytes=3-99999999999999999999999999', 10, part(3, 7)],
  [`bytes=${'9'.repeat(400)}-`, 10, 'unsatisfiable'],
  [`bytes=-${'9'.repeat(400)}`, 10, part(0, 10)],
  ['BYTES=1-2', 10, part(1, 2)],
  ['bytes=1-2,', 10, part(1, 2)],
  ['bytes=, ,1-2 ,', 10, part(1, 2)],
  // not a range of bytes: ignored
  ['bytes=5-3', 10, 'whole'],
  ['bytes=', 10, 'whole'],
  ['bytes=-', 10, 'whole'],
  ['bytes=a-b', 10, 'whole'],
  ['bytes=1', 10, 'whole'],
  ['bytes=1-2-3', 10, 'whole'],
  ['bytes=--1', 10, 'whole'],
  ['bytes=+1-2', 10, 'whole'],
  ['bytes=1 - 2', 10, 'whole'],
  ['bytes=0x1-0x2', 10, 'whole'],
  ['bytes 1-2', 10, 'whole'],
  ['bytes =1-2', 10, 'whole'],
  ['lines=1-2', 10, 'whole'],
  ['1-2', 10, 'whole'],
  ['bytes=１-２', 10, 'whole'],
  ['', 10, 'whole'],
  // several: answered with the whole
  ['bytes=0-1,3-4', 10, 'whole'],
  ['bytes=0-1, bytes=3-4', 10, 'whole'],
  ['bytes=0-0,-1', 10, 'whole'],
  ['bytes=50-60,70-80', 10, 'whole'],
];

it.each(cases)('%s of %d bytes', (header, size, expected) => {
  expect(decideRange(header, size)).toEqual(expected);
});

it('answers any range that begins inside with exactly the bytes that exist', () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.nat(1000), fc.integer({ min: 1, max: 500 }), (first, last, size) => {
      const expected =
        last < first ? 'whole' : first >= size ? 'unsatisfiable' : part(first, Math.min(last, size - 1) - first + 1);
      expect(decideRange(`bytes=${first}-${last}`, size)).toEqual(expected);
    }),
  );
});

it('answers any suffix with the end of the file', () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.nat(500), (wanted, size) => {
      const length = Math.min(wanted, size);
      expect(decideRange(`bytes=-${wanted}`, size)).toEqual(
        length === 0 ? 'unsatisfiable' : part(size - length, length),
      );
    }),
  );
});

it('never fails, and never leaves the file, for any header', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^bytes=[0-9,\- ]{0,30}$/)), fc.nat(100), (header, size) => {
      const decision = decideRange(header, size);
      if (typeof decision === 'string') return;
      expect(decision.length).toBeGreaterThan(0);
      expect(decision.start + decision.length).toBeLessThanOrEqual(size);
    }),
  );
});

it('reads a hostile header in a time that grows with its length only', () => {
  const started = performance.now();
  for (const header of [
    `bytes=${', '.repeat(50_000)}x`,
    `bytes=1-2${' ,'.repeat(50_000)}x`,
    `bytes=${'1'.repeat(100_000)}`,
  ])
    decideRange(header, 10);
  expect(performance.now() - started).toBeLessThan(1000);
});
