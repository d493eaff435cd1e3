import { describe, expect, it } from 'vitest';
import type { Activation } from '../../../../pipelines/audio/models/manifest.ts';
import { meanLogits, outputColumns, readLogits } from '../../../../pipelines/audio/scoring/logits.ts';
import type { ScoreName } from '../../../../pipelines/audio/verification.ts';

const output = (
  activation: Activation,
  polarity: 'higher-is-authentic' | 'higher-is-spoof',
  layout: ScoreName[] = ['synthesis'],
) => ({ output: { name: 'output', layout, activation, polarity } });

describe('the logits of an output', () => {
  it.each([
    ['logit', 'higher-is-authentic', [1.5], 1.5],
    ['logit', 'higher-is-spoof', [1.5], -1.5],
    ['probability', 'higher-is-authentic', [0.5], 0],
    ['probability', 'higher-is-authentic', [0.8], Math.log(4)],
    ['probability', 'higher-is-spoof', [0.8], -Math.log(4)],
    ['softmax-pair', 'higher-is-authentic', [0.2, 0.8], Math.log(4)],
    ['softmax-pair', 'higher-is-spoof', [0.2, 0.8], -Math.log(4)],
    ['logit-pair', 'higher-is-authentic', [-1, 2], 3],
    ['logit-pair', 'higher-is-spoof', [-1, 2], -3],
  ] as const)('as %s, %s: %j is %d', (activation, polarity, row, logit) => {
    expect(readLogits(row, output(activation, polarity)).synthesis).toBeCloseTo(logit, 12);
  });

  it.each([
    ['logit', [1e30], 1000],
    ['logit-pair', [-1e30, 1e30], 1000],
    ['probability', [1], -Math.log(1e-7)],
    ['probability', [0], Math.log(1e-7)],
    ['probability', [1.0000001], -Math.log(1e-7)],
    ['softmax-pair', [0, 1], -Math.log(1e-7)],
    ['softmax-pair', [1, 0], Math.log(1e-7)],
  ] as const)('stay finite at the ends: %s of %j is %d', (activation, row, logit) => {
    expect(readLogits(row, output(activation, 'higher-is-authentic')).synthesis).toBeCloseTo(logit, 6);
  });

  it.each([
    ['logit', [NaN]],
    ['logit', [Infinity]],
    ['probability', [-Infinity]],
    ['softmax-pair', [0.5, NaN]],
    ['logit-pair', [NaN, 0]],
  ] as const)('are none where a number is not finite: %s of %j', (activation, row) => {
    expect(() => readLogits(row, output(activation, 'higher-is-authentic'))).toThrowError(
      expect.objectContaining({ code: 'model_invalid' }) as Error,
    );
  });

  it('are read by the layout', () => {
    expect(readLogits([3, 4], output('logit', 'higher-is-authentic', ['replay', 'synthesis']))).toEqual({
      replay: 3,
      synthesis: 4,
    });
    expect(readLogits([0, 1, 0, 5], output('logit-pair', 'higher-is-authentic', ['synthesis', 'replay']))).toEqual({
      synthesis: 1,
      replay: 5,
    });
    expect([
      outputColumns(output('logit', 'higher-is-spoof', ['synthesis', 'replay'])),
      outputColumns(output('softmax-pair', 'higher-is-spoof', ['synthesis', 'replay'])),
    ]).toEqual([2, 4]);
  });

  it('of several windows are their mean, and of none there are none', () => {
    expect(
      meanLogits([
        { synthesis: 1, replay: -2 },
        { synthesis: 4, replay: 0 },
      ]),
    ).toEqual({ synthesis: 2.5, replay: -1 });
    expect(meanLogits([])).toBeNull();
  });
});
