import { expect, it } from 'vitest';
import { RandomNumbers } from '../../bench/random-numbers.ts';
import { compareDetectors, errorOf, sampledSpeech } from '../../bench/voice-activity.ts';

it(
  'on telephone audio both network detectors have fewer errors than energy/1, at 300 times real time',
  { retry: 2, timeout: 300_000 },
  async () => {
    const { totals, speed } = await compareDetectors({
      speech: await sampledSpeech(),
      songs: [],
      random: new RandomNumbers(1),
      scenes: 2,
      seconds: 10,
      codecs: ['mu-law', 'A-law'],
    });
    const errors = Object.fromEntries(totals.map(({ detector, score }) => [detector, errorOf(score)]));
    expect(errors['telephone/2']! / errors['energy/1']!).toBeLessThan(0.5);
    expect(errors['combined/1']! / errors['energy/1']!).toBeLessThan(0.8);
    expect(300 / speed['combined/1']).toBeLessThan(1);
  },
);
