import { expect, it } from 'vitest';
import { measureScale } from '../../bench/scale.ts';

it(
  'with four times the rows a night takes no more processor time a row, and no more memory',
  { retry: 2, timeout: 600_000 },
  async () => {
    const [small, large] = [await measureScale(50_000), await measureScale(200_000)];
    const cpuOfRow = ({ firstNight, rows }: typeof small) =>
      (firstNight.cpuSeconds + firstNight.serverCpuSeconds) / rows;
    expect(cpuOfRow(large) / cpuOfRow(small)).toBeLessThan(1.3);
    expect(large.nightPeakMiB / small.nightPeakMiB).toBeLessThan(1.5);
  },
);
