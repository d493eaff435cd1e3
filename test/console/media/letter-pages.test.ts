import { describe, expect, it } from 'vitest';
import {
  drawnBytesMax,
  drawnLettersMax,
  drawnSecondsMax,
  LetterPages,
  waitingLettersMax,
} from '../../../console/media/letter-pages.ts';
import { spread, turnedPicture } from '../../../console/pages/letters/letter-marks.ts';

/** Pages whose drawings are counted, each of `bytes` bytes. */
function counted(bytes = 10): { pages: LetterPages; drawn: number[]; clock: { now: number } } {
  const drawn: number[] = [];
  const clock = { now: 0 };
  const pages = new LetterPages(
    async (documentId) => {
      drawn.push(documentId);
      return [{ page: 1, png: new Uint8Array(bytes) }];
    },
    () => clock.now,
  );
  return { pages, drawn, clock };
}

describe('the pages of a letter', () => {
  it('are drawn once for all who ask for them within some minutes, and again after that', async () => {
    const { pages, drawn, clock } = counted();
    await Promise.all([pages.pagesOf(1), pages.pagesOf(1)]);
    clock.now = drawnSecondsMax * 1000;
    await pages.pagesOf(1);
    expect(drawn).toEqual([1]);
    clock.now += 1;
    await pages.pagesOf(1);
    expect(drawn).toEqual([1, 1]);
  });

  it('of the letter that nobody asked for longest make room for those of one too many', async () => {
    const { pages, drawn } = counted();
    for (let id = 1; id <= drawnLettersMax + 1; id++) await pages.pagesOf(id);
    await pages.pagesOf(2);
    expect(drawn.filter((id) => id === 2)).toHaveLength(1);
    await pages.pagesOf(1);
    expect(drawn.filter((id) => id === 1)).toHaveLength(2);
  });

  it('are not kept beyond their bytes', async () => {
    const { pages, drawn } = counted(drawnBytesMax / 2);
    for (const id of [1, 2, 1]) await pages.pagesOf(id);
    expect(drawn).toEqual([1, 2]);
    for (const id of [3, 2]) await pages.pagesOf(id);
    expect(drawn).toEqual([1, 2, 3, 2]);
  });

  it('are drawn again after they were forgotten, and after a failure', async () => {
    let calls = 0;
    const pages = new LetterPages(async () => {
      calls += 1;
      if (calls === 1) throw new Error('cannot be drawn');
      return [];
    });
    await expect(pages.pagesOf(1)).rejects.toThrow('cannot be drawn');
    expect(await pages.pagesOf(1)).toEqual([]);
    pages.forget(1);
    await pages.pagesOf(1);
    expect(calls).toBe(3);
  });

  it('are refused when too many letters wait for their turn', async () => {
    let go = () => {};
    const held = new Promise<void>((resolve) => (go = resolve));
    const pages = new LetterPages(async () => {
      await held;
      return [];
    });
    const asked = Array.from({ length: waitingLettersMax }, (_, at) => pages.pagesOf(at + 1));
    await expect(pages.pagesOf(99)).rejects.toMatchObject({ code: 'overloaded' });
    go();
    await Promise.all(asked);
    expect(await pages.pagesOf(99)).toEqual([]);
  });
});

describe('the picture of a page', () => {
  const page = { width: 800, height: 1000 };
  const middle = { inset: 'auto', left: '50%', top: '50%' };

  it('fills its frame where the page was read as it lies', () => {
    expect(turnedPicture({ ...page, turned: 0 })).toEqual({});
  });

  it.each([
    [90, { width: '125%', height: '80%' }],
    [271.4, { width: '125%', height: '80%' }],
    [180, { width: '100%', height: '100%' }],
    [-1.5, { width: '100%', height: '100%' }],
  ])(
    'that was turned by %d degrees has its own sides, and is turned about the middle of the frame',
    (turned, sides) => {
      expect(turnedPicture({ ...page, turned })).toEqual({
        ...middle,
        ...sides,
        transform: `translate(-50%, -50%) rotate(${turned}deg)`,
      });
    },
  );
});

describe('marks next to a page', () => {
  it('are where they want to be, and apart where that is too close', () => {
    expect(spread([10, 100, 105, 300], { gap: 27, height: 400 })).toEqual([10, 100, 127, 300]);
  });

  it('stay within the page', () => {
    expect(spread([370, 380, 390], { gap: 27, height: 400 })).toEqual([319, 346, 373]);
  });

  it('come closer where there are too many', () => {
    expect(spread([0, 0, 0, 0], { gap: 27, height: 40 })).toEqual([0, 10, 20, 30]);
  });
});
