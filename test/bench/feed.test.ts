import { expect, it } from 'vitest';
import { compareFeeds } from '../../bench/feed.ts';
import { isLongRun } from '../support/run-size.ts';

it.runIf(isLongRun)(
  'a feed of labels is loaded in about the time of a bare COPY, and one that changes nothing in a part of it',
  { retry: 2, timeout: 600_000 },
  async () => {
    const [load, again, copy] = await compareFeeds(200_000, 3);
    expect(load.wallMs / copy.wallMs, 'load, of COPY').toBeLessThan(2.5);
    expect(again.wallMs / copy.wallMs, 'the same file again, of COPY').toBeLessThan(0.8);
  },
);
