import { describe, expect, it } from 'vitest';
import { parseInstant } from '../../cli/options.ts';

describe('an instant', () => {
  it.each([
    ['2026-02-28', '2026-02-28T00:00:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['2026-05-01T12:30:00Z', '2026-05-01T12:30:00.000Z'],
    ['2026-05-01T12:30+02:00', '2026-05-01T10:30:00.000Z'],
  ])('%s is %s', (text, instant) => {
    expect(parseInstant(text).toISOString()).toBe(instant);
  });

  it.each([
    '2026-02-30',
    '2026-02-29',
    '2026-04-31T10:00:00Z',
    '2026-13-01',
    '2026-05-01 or so',
    '2026-05-01T25:00:00Z',
    '26-05-01',
    '',
  ])('%j is refused', (text) => {
    expect(() => parseInstant(text)).toThrow('YYYY-MM-DD');
  });
});
