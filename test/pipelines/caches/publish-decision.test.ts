import { describe, expect, it } from 'vitest';
import { decidePublication, shrinksTooMuch, type BuildOutcome, type CurrentVersion, type PublishDecision } from '../../../pipelines/caches/publish-decision.ts';

const night = new Date('2026-01-02T01:00:00Z');
const before = new Date('2026-01-01T01:00:00Z');
const after = new Date('2026-01-03T01:00:00Z');
const current = (facts: Partial<CurrentVersion> = {}): CurrentVersion => ({ version: 7, rows: 100, plainSha256: 'old', asOf: before, ...facts });
const built = (rows: number, plainSha256 = 'new'): BuildOutcome => ({ state: 'built', rows, plainSha256 });

describe('decidePublication', () => {
  const cases: [string, BuildOutcome, CurrentVersion | null, boolean, Partial<PublishDecision>][] = [
    ['publishes version 1 where nothing was published', built(0), null, false, { action: 'publish', version: 1 }],
    ['publishes the next version of changed bytes', built(100), current(), false, { action: 'publish', version: 8 }],
    ['confirms unchanged bytes and publishes nothing', built(100, 'old'), current(), false, { action: 'confirm' }],
    ['lets exactly 20 % of the rows go', built(80), current(), false, { action: 'publish', version: 8 }],
    ['stops one row more than 20 %', built(79), current(), false, { action: 'keep', code: 'artefact_shrunk' }],
    ['stops the loss of every row', built(0), current(), false, { action: 'keep', code: 'artefact_shrunk' }],
    ['lets an operator accept the loss', built(0), current(), true, { action: 'publish', version: 8 }],
    ['keeps what a newer snapshot published', built(100), current({ asOf: after }), true, { action: 'keep', code: 'artefact_older' }],
    ['does not let an older snapshot confirm either', built(100, 'old'), current({ asOf: after }), false, { action: 'keep', code: 'artefact_older' }],
    ['keeps the old file of a failed build with its reason', { state: 'failed', code: 'copy_cut', reason: 'cut' }, current(), false, { action: 'keep', code: 'copy_cut', reason: 'cut' }],
    ['takes a build without outcome as lost', { state: 'lost' }, current(), false, { action: 'keep', code: 'build_lost' }],
    ['takes a lost first build as lost too', { state: 'lost' }, null, true, { action: 'keep', code: 'build_lost' }],
  ];
  it.each(cases)('%s', (_name, build, published, acceptShrink, expected) => {
    expect(decidePublication(build, published, { asOf: night, acceptShrink, shrinkPercentMax: 20, rowsLeft: 0 })).toMatchObject(expected);
  });

  it.each([
    [20, 64, 'publish'],
    [20, 63, 'keep'],
    [100, 0, 'publish'],
    [120, 0, 'publish'],
  ])('counts %i rows of 100 that left by decision as no loss: %i rows left %s', (rowsLeft, rows, action) => {
    expect(decidePublication(built(rows), current(), { asOf: night, acceptShrink: false, shrinkPercentMax: 20, rowsLeft })).toMatchObject({ action });
  });
});

describe('shrinksTooMuch', () => {
  it.each([
    [4, 5, 20, false],
    [3, 5, 20, true],
    [0, 0, 20, false],
    [5, 4, 0, false],
    [3, 4, 0, true],
    [0, 9, 100, false],
  ])('%i rows after %i with at most %i %% is %s', (rows, published, percent, expected) => {
    expect(shrinksTooMuch(rows, published, percent)).toBe(expected);
  });
});
