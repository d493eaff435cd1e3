import { describe, expect, it } from 'vitest';
import {
  decideDefault,
  type DefaultDecision,
  type DefaultFacts,
} from '../../../../pipelines/audio/drift/move-default.ts';

const good = { reportId: 3, fits: true, compared: 1 };

describe('a default', () => {
  it.each([
    {
      facts: { before: 'phone/v8', model: 'phone/v8', report: undefined, force: false },
      decision: { kind: 'unchanged' },
    },
    { facts: { before: 'phone/v8', model: 'phone/v8', report: good, force: true }, decision: { kind: 'unchanged' } },
    {
      facts: { before: 'phone/v8', model: 'phone/v7', report: good, force: false },
      decision: { kind: 'move', reportId: 3, forced: false },
    },
    {
      facts: { before: 'phone/v8', model: 'phone/v7', report: good, force: true },
      decision: { kind: 'move', reportId: 3, forced: false },
    },
    {
      facts: { before: 'phone/v8', model: 'phone/v7', report: undefined, force: false },
      decision: { kind: 'refused', problem: 'There is no drift report of phone/v8 and phone/v7 as they are now.' },
    },
    {
      facts: { before: 'phone/v8', model: 'phone/v7', report: undefined, force: true },
      decision: { kind: 'move', reportId: null, forced: true },
    },
    {
      facts: { before: 'phone/v8', model: 'phone/v7', report: { ...good, fits: false }, force: false },
      decision: { kind: 'refused', problem: 'Drift report 3 is not of phone/v8 and phone/v7 as they are now.' },
    },
    {
      facts: { before: 'phone/v8', model: 'phone/v7', report: { ...good, fits: false }, force: true },
      decision: { kind: 'move', reportId: null, forced: true },
    },
    {
      facts: { before: 'phone/v8', model: 'phone/v7', report: { ...good, compared: 0 }, force: false },
      decision: { kind: 'refused', problem: 'Drift report 3 compared no recording.' },
    },
    {
      facts: { before: null, model: 'phone/v7', report: undefined, force: false },
      decision: { kind: 'refused', problem: 'The family has no default that a report could compare it with.' },
    },
    {
      facts: { before: null, model: 'phone/v7', report: undefined, force: true },
      decision: { kind: 'move', reportId: null, forced: true },
    },
  ] satisfies { facts: DefaultFacts; decision: DefaultDecision }[])(
    'from $facts.before to $facts.model with report $facts.report, forced $facts.force: $decision.kind',
    ({ facts, decision }) => {
      expect(decideDefault(facts)).toEqual(decision);
    },
  );
});
