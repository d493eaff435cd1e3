import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lastWindow, windowAt, windowsOf } from '../../../../pipelines/audio/signal/windows.ts';

const cut = { window: 40, hop: 20 };

describe('the windows of a recording', () => {
  it.each([
    [1, [[0, 1]]],
    [39, [[0, 39]]],
    [40, [[0, 40]]],
    [
      41,
      [
        [0, 40],
        [1, 41],
      ],
    ],
    [
      60,
      [
        [0, 40],
        [20, 60],
      ],
    ],
    [
      61,
      [
        [0, 40],
        [20, 60],
        [21, 61],
      ],
    ],
    [
      80,
      [
        [0, 40],
        [20, 60],
        [40, 80],
      ],
    ],
    [
      95,
      [
        [0, 40],
        [20, 60],
        [40, 80],
        [55, 95],
      ],
    ],
  ])('of %i samples are %j', (samples, expected) => {
    expect(windowsOf(samples, cut).map(({ from, to }) => [from, to])).toEqual(expected);
  });

  it('cover it, are all of the length or the whole, and come out alike while it arrives', () => {
    const sizes = fc.record({
      samples: fc.integer({ min: 1, max: 5000 }),
      window: fc.integer({ min: 1, max: 700 }),
      share: fc.integer({ min: 1, max: 16 }),
    });
    fc.assert(
      fc.property(sizes, ({ samples, window, share }) => {
        const given = { window, hop: Math.max(1, Math.ceil(window / share)) };
        const windows = windowsOf(samples, given);
        expect(windows[0]!.from).toBe(0);
        expect(windows.at(-1)!.to).toBe(samples);
        for (const { from, to } of windows) expect(to - from).toBe(Math.min(window, samples));
        for (const [place, { from }] of windows.slice(1).entries())
          expect(from - windows[place]!.from).toBeLessThanOrEqual(given.hop);
        const arriving = Array.from({ length: windows.length - 1 }, (_none, place) => windowAt(place, samples, given));
        expect([...arriving, lastWindow(samples, given)]).toEqual(windows);
        expect(windowAt(windows.length - 1, samples, given)).toBeUndefined();
      }),
    );
  });
});
