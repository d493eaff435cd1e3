import { expect, it } from 'vitest';
import { compareTriggers } from '../../bench/label-history.ts';

it(
  'a bulk statement takes little longer with the triggers that protect numbers and write the history of labels',
  { retry: 2, timeout: 600_000 },
  async () => {
    const ratios = await compareTriggers(100_000, 5);
    expect(ratios['UPDATE of names']).toBeLessThan(1.5);
    expect(ratios['INSERT of numbers without a label']).toBeLessThan(1.7);
    expect(ratios['INSERT of labelled numbers, each with its event']).toBeLessThan(3);
  },
);
