import { expect, it } from 'vitest';
import { latencyAt, measureStreams } from '../../bench/stream.ts';

/** Seconds from one window to the next. */
const hopSeconds = 2;

it(
  'streams in real time are scored as fast as they come, for a small part of a core each',
  { retry: 2, timeout: 300_000 },
  async () => {
    const { first, later, ofStream } = await measureStreams({ streams: 4, seconds: 14 });
    expect(first).toHaveLength(4);
    expect(latencyAt(later, 0.5) / (1000 * hopSeconds), 'the median latency, of a hop').toBeLessThan(0.5);
    expect(ofStream, 'processor time, of the time of the audio').toBeLessThan(0.1);
  },
);
