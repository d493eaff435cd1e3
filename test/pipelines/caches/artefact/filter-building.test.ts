import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filterBytesMax, NumberFilter } from '../../../../format/artefact/number-filter.ts';
import { buildFilter } from '../../../../pipelines/caches/artefact/filter-building.ts';
import { packageRoot } from '../../../../runtime/package-root.ts';
import { Seeded } from '../../../../runtime/seeded.ts';

const phones = { keyType: 'phone', bits: 8 } as const;

/** Different numbers, as integers. */
function numbers(count: number, seed = 1): Float64Array {
  const random = new Seeded(seed);
  const drawn = new Set<number>();
  while (drawn.size < count) drawn.add(12_010_000_000 + Math.floor(random.next() * 7_989_999_999));
  return Float64Array.from(drawn);
}

/** The share of numbers elsewhere in the plan that are found. */
function countFound(filter: NumberFilter, probes: number): number {
  let found = 0;
  for (let at = 0; at < probes; at++) if (filter.hasKey(440_000_000_000 + 7 * at)) found++;
  return found;
}

describe.each([8, 16] as const)('a filter with fingerprints of %d bits', (bits) => {
  it.each([0, 1, 2, 3, 10, 1000, 100_000])('finds each of its %d keys', (count) => {
    const keys = numbers(count);
    const filter = new NumberFilter(buildFilter(keys, { keyType: 'phone', bits }));
    expect(keys.filter((key) => !filter.hasKey(key))).toHaveLength(0);
    expect(filter.facts).toMatchObject({ keys: count, bits, keyType: 'phone' });
  });

  it('finds other numbers at its stated rate, within five standard deviations', () => {
    const filter = new NumberFilter(buildFilter(numbers(20_000), { keyType: 'phone', bits }));
    const probes = bits === 8 ? 200_000 : 4_000_000;
    const expected = probes * filter.falsePositiveRate;
    expect(filter.falsePositiveRate).toBe(2 ** -bits);
    expect(Math.abs(countFound(filter, probes) - expected)).toBeLessThan(5 * Math.sqrt(expected));
  });
});

describe('a filter', () => {
  it('finds nothing without keys', () => {
    expect(countFound(new NumberFilter(buildFilter(numbers(0), phones)), 1000)).toBe(0);
  });

  it('takes at most 12 bits a number from 1,000 numbers on, and 15 % more than the information bound at 100,000', () => {
    const bitsOf = (count: number) => (8 * buildFilter(numbers(count), phones).length) / count;
    expect(bitsOf(1000)).toBeLessThan(12);
    expect(bitsOf(100_000)).toBeLessThan(8 * 1.15);
  });

  it('holds dense ranges of numbers, as of one exchange', () => {
    const keys = Float64Array.from({ length: 50_000 }, (_, at) => 12_125_500_000 + at);
    const filter = new NumberFilter(buildFilter(keys, phones));
    expect(keys.every((key) => filter.hasKey(key))).toBe(true);
    expect(filter.facts.keys).toBe(50_000);
  });

  it('has the same bytes whatever the order of its keys', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 10_000_000, max: 999_999_999_999_999 }), { maxLength: 300 }),
        (keys) => {
          const bytes = buildFilter(Float64Array.from(keys), phones);
          expect(buildFilter(Float64Array.from(keys.reverse()), phones)).toEqual(bytes);
          const filter = new NumberFilter(bytes);
          expect(keys.every((key) => filter.has(`+${key}`))).toBe(true);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('refuses a key that occurs twice', () => {
    expect(() => buildFilter(Float64Array.of(1, 3, 2, 3), phones)).toThrow(
      expect.objectContaining({ code: 'rows_differ' }),
    );
  });

  it('refuses more keys than it holds', () => {
    expect(() => buildFilter(new Float64Array(2 ** 24 + 1), phones)).toThrow(
      expect.objectContaining({ code: 'filter_not_made' }),
    );
  });

  it('of ranges finds every number of a range', () => {
    const filter = new NumberFilter(buildFilter(Float64Array.of(12_125_550), { keyType: 'prefix', bits: 16 }));
    expect(filter.has('+12125550000') && filter.has('+12125550999')).toBe(true);
    expect(filter.has('+12125551000') || filter.has('+1212555099')).toBe(false);
  });

  it.each(['12125550100', '+0212555010', '+1212555', '+1212555010012345', '+1212555010a', ''])(
    'refuses to look for %j, which is no number',
    (text) => {
      const filter = new NumberFilter(buildFilter(numbers(10), phones));
      expect(() => filter.has(text)).toThrow(expect.objectContaining({ code: 'phone_invalid' }));
    },
  );
});

const whole = Buffer.from(buildFilter(numbers(1000), phones));
const withUint32 = (at: number, value: number) => {
  const bytes = Buffer.from(whole);
  bytes.writeUInt32LE(value, at);
  return bytes;
};
const withByte = (at: number, value: number) => {
  const bytes = Buffer.from(whole);
  bytes[at] = value;
  return bytes;
};

/** A filter of 10 keys in 65,536 segments of one slot. */
const manySegments = (count: number) => {
  const bytes = Buffer.alloc(28 + count + 3);
  whole.copy(bytes, 0, 0, 28);
  [0, 1, count, 10].forEach((value, at) => bytes.writeUInt32LE(value, 12 + 4 * at));
  return bytes;
};

const hostile: [string, Buffer][] = [
  ['no byte', Buffer.alloc(0)],
  ['a header that ends early', whole.subarray(0, 27)],
  ['another beginning', withByte(0, 0x63)],
  ['another format', withByte(8, 2)],
  ['three slots a key', withByte(9, 3)],
  ['fingerprints of 9 bits', withByte(10, 9)],
  ['keys of an unknown kind', withByte(11, 2)],
  ['segments without slots', withUint32(16, 0)],
  ['segments of 33 slots', withUint32(16, 33)],
  ['segments of 2^17 slots', withUint32(16, 2 ** 17)],
  ['4 billion slots', withUint32(16, 2 ** 31)],
  ['4 billion segments', withUint32(20, 0xffffffff)],
  ['no segment', withUint32(20, 0)],
  ['more keys than slots', withUint32(24, 1281)],
  ['no keys and some slots', withUint32(24, 0)],
  ['a byte too few', whole.subarray(0, -1)],
  ['a byte too many', Buffer.concat([whole, Buffer.alloc(1)])],
  ['65,537 segments', manySegments(65_537)],
  ['more bytes than are read', Buffer.alloc(filterBytesMax + 1)],
];

describe('a file with', () => {
  it.each(hostile)('%s is no filter', (_what, bytes) => {
    expect(() => new NumberFilter(bytes)).toThrow(expect.objectContaining({ code: 'filter_invalid' }));
  });

  it('65,536 segments is one', () => {
    expect(new NumberFilter(manySegments(65_536)).has('+12125550100')).toEqual(expect.any(Boolean));
  });
});

/** Asks the client in Python what is in a filter; for bytes that are none, the code of its error. */
function inPython(cases: readonly { bytes: Buffer; probes: readonly string[] }[]): unknown[] {
  const program = `
import base64, json, sys
sys.path.insert(0, sys.argv[1])
from caller_trust import ClientError, NumberFilter
def answer(case):
    try:
        filter = NumberFilter(base64.b64decode(case["bytes"]))
        return {"keys": filter.keys, "keyType": filter.key_type, "found": [phone in filter for phone in case["probes"]]}
    except ClientError as error:
        return error.code
print(json.dumps([answer(case) for case in json.load(sys.stdin)]))
`;
  const { stdout, stderr, status } = spawnSync('python3', ['-c', program, join(packageRoot, 'clients/python')], {
    input: JSON.stringify(cases.map(({ bytes, probes }) => ({ bytes: bytes.toString('base64'), probes }))),
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString()) as unknown[];
}

describe('the reader in Python', () => {
  it('finds what the reader in TypeScript finds', () => {
    const cases = ([0, 1, 2, 10, 1000, 20_000] as const).flatMap((count) =>
      ([8, 16] as const).flatMap((bits) =>
        (['phone', 'prefix'] as const).map((keyType) => {
          const keys = numbers(count, count + bits).map((key) => (keyType === 'phone' ? key : Math.floor(key / 1000)));
          const bytes = Buffer.from(buildFilter(Float64Array.from(new Set(keys)), { keyType, bits }));
          const own = [...keys].slice(0, 200).map((key) => `+${keyType === 'phone' ? key : key * 1000 + 7}`);
          return { bytes, probes: [...own, ...Array.from({ length: 2000 }, (_, at) => `+4989${1_000_000 + 31 * at}`)] };
        }),
      ),
    );
    expect(inPython(cases)).toEqual(
      cases.map(({ bytes, probes }) => {
        const filter = new NumberFilter(bytes);
        const { keys, keyType } = filter.facts;
        return { keys, keyType, found: probes.map((phone) => filter.has(phone)) };
      }),
    );
  });

  it('refuses the same files', () => {
    const cases = hostile.filter(([, { length }]) => length < 1e6).map(([, bytes]) => ({ bytes, probes: [] }));
    expect(inPython(cases)).toEqual(cases.map(() => 'filter_invalid'));
  });
});
