import fc from 'fast-check';
import type { Trial } from '../../../evaluation/audio/statistics/error-curve.ts';

/** Trials of the scores of authentic recordings and of attacks, numbered in this order. */
export function trialsOf(authentic: readonly number[], attacks: readonly number[]): Trial[] {
  const trials = [
    ...authentic.map((score) => ({ score, authentic: true })),
    ...attacks.map((score) => ({ score, authentic: false })),
  ];
  return trials.map((trial, item) => ({ ...trial, item }));
}

const scores = fc.array(fc.integer({ min: -8, max: 8 }), { minLength: 1, maxLength: 25 });

/** Trials of both classes, with ties. */
export const randomTrials = fc.tuple(scores, scores).map(([authentic, attacks]) => trialsOf(authentic, attacks));
