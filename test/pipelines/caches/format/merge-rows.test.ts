import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyDelta } from '../../../../format/artefact/delta-lines.ts';
import { mergeRows } from '../../../../pipelines/caches/format/merge-rows.ts';

const phone = fc.integer({ min: 10_000_000, max: 10_000_400 }).map((number) => `+${number}`);
const table = fc.dictionary(phone, fc.constantFrom('SPAM\t1', 'SPAM\t2', 'NEUTRAL\t\tA name'), { maxKeys: 60 });
const rowsOf = (rows: Record<string, string>) =>
  Buffer.from(
    Object.keys(rows)
      .sort()
      .map((key) => `${key}\t${rows[key]}\n`)
      .join(''),
  );

describe('rows that are merged', () => {
  it('are those of the changed keys instead of the old ones, with the delta that leads there', async () => {
    await fc.assert(
      fc.asyncProperty(table, table, fc.uniqueArray(phone, { maxLength: 40 }), async (before, after, chosen) => {
        const keys = [...chosen].sort();
        const now: Record<string, string> = {};
        const expected = { ...before };
        for (const key of keys) {
          delete expected[key];
          if (after[key] !== undefined) now[key] = expected[key] = after[key];
        }
        const merged = mergeRows(rowsOf(before), keys, rowsOf(now));
        expect(merged.plain.toString()).toBe(rowsOf(expected).toString());
        const replaced = Object.fromEntries(keys.flatMap((key) => (key in before ? [[key, before[key]!]] : [])));
        expect(merged.replaced.toString()).toBe(rowsOf(replaced).toString());
        const made: Uint8Array[] = [];
        for await (const rows of applyDelta([rowsOf(before)], [merged.delta])) made.push(rows);
        expect(Buffer.concat(made).toString()).toBe(rowsOf(expected).toString());
        const lines = keys.filter((key) => before[key] !== now[key]).length;
        expect(merged.delta.toString().split('\n').length - 1).toBe(lines);
      }),
      { seed: 5, numRuns: 300 },
    );
  });

  it('distinguishes a key from a longer one that begins with it', () => {
    const before = Buffer.from('+12345678\tSPAM\t1\n+123456780\tSPAM\t2\n+12345679\tSPAM\t3\n');
    expect(mergeRows(before, ['+12345678'], Buffer.alloc(0)).delta.toString()).toBe('-\t+12345678\n');
    const changed = mergeRows(before, ['+1234567', '+123456780'], Buffer.from('+123456780\tFRAUD\t7\n'));
    expect(changed.delta.toString()).toBe('~\t+123456780\tFRAUD\t7\n');
  });

  it('refuses a row of another key', () => {
    const row = Buffer.from('+12345670\tSPAM\t1\n');
    expect(() => mergeRows(row, ['+12345671'], row)).toThrow('A row was read that was not asked for');
  });
});
