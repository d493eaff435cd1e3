import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextBrandStep, numberMoves, type BrandStanding } from '../../../../pipelines/branding/brand/settle-plan.ts';
import {
  BRAND_TRANSITIONS,
  LETTER_TRANSITIONS,
  NUMBER_TRANSITIONS,
  transition,
  type BrandState,
  type LetterState,
} from '../../../../pipelines/branding/states.ts';

const pending = (letter: LetterState | null, needsDecision = false) => ({ letter, needsDecision });
const brand = (action: string) => ({ kind: 'brand', action });
const revision = (action: string) => ({ kind: 'revision', action });

describe('the next step of a brand', () => {
  it.each<[what: string, standing: BrandStanding, step: object | null]>([
    ['a draft without a letter waits', { state: 'draft', pending: pending(null), letterInForce: false }, null],
    [
      'a draft with a letter is submitted',
      { state: 'draft', pending: pending('approved'), letterInForce: true },
      brand('submit'),
    ],
    [
      'submitted with an approved letter: approved',
      { state: 'submitted', pending: pending('approved'), letterInForce: true },
      brand('approve'),
    ],
    [
      'submitted with an approved letter and a finding about itself: review',
      { state: 'submitted', pending: pending('approved', true), letterInForce: true },
      brand('review'),
    ],
    [
      'submitted with a letter in review: review',
      { state: 'submitted', pending: pending('in_review'), letterInForce: false },
      brand('review'),
    ],
    [
      'submitted with a rejected letter: rejected',
      { state: 'submitted', pending: pending('rejected'), letterInForce: false },
      brand('reject'),
    ],
    [
      'submitted with a withdrawn letter: rejected',
      { state: 'submitted', pending: pending('withdrawn'), letterInForce: false },
      brand('reject'),
    ],
    [
      'in review, its letter approved by a person: approved',
      { state: 'in_review', pending: pending('approved'), letterInForce: true },
      brand('approve'),
    ],
    [
      'in review, its letter rejected by a person: rejected',
      { state: 'in_review', pending: pending('rejected'), letterInForce: false },
      brand('reject'),
    ],
    [
      'in review for itself stays',
      { state: 'in_review', pending: pending('approved', true), letterInForce: true },
      null,
    ],
    [
      'in review, its approved letter ended meanwhile: waits',
      { state: 'in_review', pending: pending('expired'), letterInForce: false },
      null,
    ],
    ['rejected with nothing new stays', { state: 'rejected', pending: null, letterInForce: false }, null],
    [
      'rejected with a new letter is submitted',
      { state: 'rejected', pending: pending('approved'), letterInForce: true },
      brand('submit'),
    ],
    [
      'rejected with a new bad letter is submitted, and rejected then',
      { state: 'rejected', pending: pending('rejected'), letterInForce: false },
      brand('submit'),
    ],
    ['approved with a letter in force stays', { state: 'approved', pending: null, letterInForce: true }, null],
    [
      'approved without a letter in force expires',
      { state: 'approved', pending: null, letterInForce: false },
      brand('expire'),
    ],
    [
      'approved with an approved revision takes it',
      { state: 'approved', pending: pending('approved'), letterInForce: true },
      revision('approve'),
    ],
    [
      'approved with a rejected revision drops it',
      { state: 'approved', pending: pending('rejected'), letterInForce: true },
      revision('reject'),
    ],
    [
      'approved with a revision in review keeps what it has',
      { state: 'approved', pending: pending('in_review'), letterInForce: true },
      null,
    ],
    [
      'approved with a new name and no letter waits for a person',
      { state: 'approved', pending: pending(null, true), letterInForce: true },
      null,
    ],
    [
      'expired with a renewing letter takes the revision first',
      { state: 'expired', pending: pending('approved'), letterInForce: true },
      revision('approve'),
    ],
    [
      'expired with a letter in force is renewed',
      { state: 'expired', pending: null, letterInForce: true },
      brand('renew'),
    ],
    [
      'suspended with an approved revision takes it and stays suspended',
      { state: 'suspended', pending: pending('approved'), letterInForce: true },
      revision('approve'),
    ],
    ['suspended without a letter in force stays', { state: 'suspended', pending: null, letterInForce: false }, null],
    [
      'approved with a revision whose letter has ended waits',
      { state: 'approved', pending: pending('expired'), letterInForce: true },
      null,
    ],
    ['withdrawn stays whatever comes', { state: 'withdrawn', pending: pending('approved'), letterInForce: true }, null],
  ])('%s', (_what, standing, step) => {
    expect(nextBrandStep(standing)).toEqual(step);
  });

  it('is always allowed by the table, and comes to an end', () => {
    const standings = fc.record({
      state: fc.constantFrom(...BRAND_TRANSITIONS.states),
      pending: fc.option(
        fc.record({ letter: fc.option(fc.constantFrom(...LETTER_TRANSITIONS.states)), needsDecision: fc.boolean() }),
      ),
      letterInForce: fc.boolean(),
    });
    fc.assert(
      fc.property(standings, (first) => {
        let standing: BrandStanding = first;
        for (let steps = 0; steps <= 8; steps++) {
          const step = nextBrandStep(standing);
          if (step === null) return;
          const ends = step.kind === 'revision' || step.action === 'approve' || step.action === 'reject';
          const state: BrandState =
            step.kind === 'brand'
              ? transition(BRAND_TRANSITIONS, standing.state, { action: step.action, object: 'it' })
              : standing.state;
          standing = { ...standing, state, pending: ends ? null : standing.pending };
        }
        throw new Error(`no end from ${JSON.stringify(first)}`);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the moves of numbers', () => {
  it('leave only states that their action may leave', () => {
    for (const state of BRAND_TRANSITIONS.states) {
      for (const { action, from } of numberMoves(state))
        for (const left of from)
          expect(NUMBER_TRANSITIONS.actions[action].from, `${state}: ${action} from ${left}`).toContain(left);
    }
  });

  it('verify a number of an approved brand only if a letter in force covers it', () => {
    const verifying = BRAND_TRANSITIONS.states.flatMap((state) =>
      numberMoves(state)
        .filter(({ action }) => action === 'verify' || action === 'renew')
        .map(({ standing }) => ({ state, standing })),
    );
    expect(verifying).toEqual([
      { state: 'approved', standing: ['covered'] },
      { state: 'approved', standing: ['covered'] },
    ]);
  });
});
