import { expect, it } from 'vitest';
import { compareScorings } from '../../bench/scoring.ts';

it(
  'scoring what changed since the last night takes a part of the time of scoring all numbers',
  { retry: 2, timeout: 600_000 },
  async () => {
    const [changed, all] = await compareScorings({ complaints: 200_000, fresh: 1000, rounds: 3, numbers: 50_000 });
    expect(changed!.wallMs / all!.wallMs).toBeLessThan(0.7);
  },
);
