import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { NEXT_STEPS, nextStepOf } from '../../../pipelines/audio/next-step.ts';
import { AUDIO_REASONS, type AudioReason } from '../../../pipelines/audio/reasons.ts';
import { DECISION_LABELS, UNDECIDED_REASONS } from '../../../pipelines/audio/verification.ts';

describe('the next step', () => {
  it.each(['queued', 'performing'] as const)('is open while it is %s', (state) => {
    expect(nextStepOf({ state, decision: null, reason: null })).toBeNull();
  });

  it.each(DECISION_LABELS)('is a pass only where the decision is authentic: %s', (label) => {
    const step = nextStepOf({ state: 'performed', decision: { label }, reason: null });
    expect(step === 'proceed').toBe(label === 'authentic');
  });

  it.each(Object.keys(AUDIO_REASONS) as AudioReason[])('is no pass without a score: %s', (reason) => {
    const { state } = AUDIO_REASONS[reason];
    expect(nextStepOf({ state, decision: null, reason })).toBe(
      state === 'performedWithoutScore' ? 'record_again' : 'submit_again',
    );
  });

  it('and the reasons of an open decision are in docs/audio.md, and no others', async () => {
    const text = await readFile('docs/audio.md', 'utf8');
    const tableAfter = (heading: string) =>
      [
        ...text
          .slice(text.indexOf(heading))
          .split('\n\n')
          .find((part) => part.startsWith('|'))!
          .matchAll(/^\| `(\w+)` \|/gm),
      ].map(([, name]) => name);
    expect(tableAfter('## What to do with a result')).toEqual(Object.keys(NEXT_STEPS));
    expect(tableAfter('An open decision has a reason')).toEqual(Object.keys(UNDECIDED_REASONS));
  });
});
