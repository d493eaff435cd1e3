import { describe, expect, it } from 'vitest';
import { LETTER_REFUSALS } from '../../pipelines/branding/letter-reading.ts';
import { readLetterFile, type ChildReport } from '../../pipelines/branding/reading/letter-reader.ts';
import { letterLimits } from '../pipelines/branding/reading/letter-limits.ts';
import { hostileLetters } from './hostile-letters.ts';

const memoryBytesMax = {
  'structure-child': letterLimits.letterStructureMemoryBytesMax,
  'ocr-child': letterLimits.letterOcrMemoryBytesMax,
} as const;
const secondsMax = {
  'structure-child': letterLimits.letterStructureSecondsMax,
  'ocr-child': letterLimits.letterOcrSecondsMax,
} as const;

describe.concurrent('a hostile letter', () => {
  it.each(hostileLetters)('$name: $outcome', async ({ bytes, outcome }) => {
    const reports: ChildReport[] = [];
    const result = await readLetterFile({
      bytes: bytes(),
      limits: letterLimits,
      onChild: (report) => reports.push(report),
    });
    const ended = result.kind === 'read' ? 'read' : result.code;
    expect(outcome === 'any' ? Object.keys({ read: '', ...LETTER_REFUSALS }) : [outcome]).toContain(ended);
    for (const { child, peakBytes, seconds } of reports) {
      expect(peakBytes).toBeLessThanOrEqual(memoryBytesMax[child]);
      expect(seconds).toBeLessThan(secondsMax[child] + 1);
    }
  });
});
