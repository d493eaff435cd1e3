import { expect, it } from 'vitest';
import { compareNights } from '../../bench/night.ts';

it(
  'a night costs little more than the COPY of its rows, whatever has changed, and what it publishes is small',
  { retry: 2, timeout: 600_000 },
  async () => {
    const { nights, firstOfPigz, firstOfGzip, sizeOfGzip } = await compareNights(150_000, 3);
    for (const [name, { ofCopy, peakMiB, lookUpKiB }] of Object.entries(nights)) {
      expect(ofCopy, `${name}: time, of COPY`).toBeLessThan(2.5);
      expect(peakMiB, `${name}: memory, MiB`).toBeLessThan(160);
      expect(lookUpKiB, `${name}: a look-up, KiB`).toBeLessThan(64);
    }
    expect(firstOfPigz, 'a first build, of COPY and pigz').toBeLessThan(2);
    expect(firstOfGzip, 'a first build, of COPY and gzip').toBeLessThan(1.7);
    expect(sizeOfGzip, 'its size, of gzip').toBeLessThan(1.05);
    for (const [name, most] of [
      ['0.1 % spread', 0.002],
      ['1 % spread', 0.015],
      ['10 % spread', 0.13],
    ] as const) {
      expect(nights[name].deltaOfFile, `${name}: the delta, of the file`).toBeLessThan(most);
      expect(nights[name].deltaOfFile, `${name}: the delta, of the file`).toBeGreaterThan(0);
    }
  },
);
