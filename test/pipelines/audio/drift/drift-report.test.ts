import { describe, expect, it } from 'vitest';
import {
  flipsListedMax,
  makeDriftReport,
  notComparedListedMax,
  pointsMax,
  type AnsweredRecording,
  type ModelAnswer,
} from '../../../../pipelines/audio/drift/drift-report.ts';

const thresholds = { synthesis: 0.5, replay: 0.5 };
const heading = {
  old: { model: 'phone/v7', manifestSha256: 'a'.repeat(64), thresholds },
  new: { model: 'phone/v8', manifestSha256: 'b'.repeat(64), thresholds },
  batch: '00000000-0000-4000-8000-000000000000',
  settings: { channels: 'apart' },
} as const;

const scored = (synthesis: number, replay: number | null = 0.9): ModelAnswer => ({
  kind: 'scored',
  label:
    synthesis >= 0.5
      ? replay === null || replay >= 0.5
        ? 'authentic'
        : 'replayed'
      : replay === null || replay >= 0.5
        ? 'synthesized'
        : 'synthesizedAndReplayed',
  scores: { synthesis, replay },
});

const recordings = (answers: readonly (readonly [ModelAnswer, ModelAnswer, number?])[]): AnsweredRecording[] =>
  answers.map(([old, now, items = 1], at) => ({
    audioSha256: `${at}`,
    line: at + 1,
    source: `${at}.wav`,
    items,
    old,
    new: now,
  }));

describe('a drift report', () => {
  it('counts items, recordings, and what was compared', () => {
    const report = makeDriftReport(
      heading,
      recordings([
        [scored(0.9), scored(0.8), 3],
        [scored(0.9), scored(0.1)],
        [scored(0.9), { kind: 'withoutScore', reason: 'no_voice' }],
        [
          { kind: 'failed', reason: 'recording_deleted' },
          { kind: 'failed', reason: 'recording_deleted' },
        ],
      ]),
    );
    expect(report.counts).toEqual({ items: 6, recordings: 4, compared: 2, notCompared: 2, flips: 1 });
  });

  it('lists flips with both labels and scores, the largest step first', () => {
    const { flips } = makeDriftReport(
      heading,
      recordings([
        [scored(0.6), scored(0.4)],
        [scored(0.2), scored(0.3)],
        [scored(0.99), scored(0.02)],
        [scored(0.9, 0.9), scored(0.9, 0.4)],
      ]),
    );
    expect(
      flips.map(({ line, old, new: now }) => [line, old.label, old.scores.synthesis, now.label, now.scores.synthesis]),
    ).toEqual([
      [3, 'authentic', 0.99, 'synthesized', 0.02],
      [4, 'authentic', 0.9, 'replayed', 0.9],
      [1, 'authentic', 0.6, 'synthesized', 0.4],
    ]);
  });

  it('gives the change of each class among what was compared', () => {
    const { classes, moves } = makeDriftReport(
      heading,
      recordings([
        [scored(0.9), scored(0.9)],
        [scored(0.9), scored(0.1)],
        [scored(0.1), scored(0.1)],
        [scored(0.1, 0.1), scored(0.1, 0.9)],
      ]),
    );
    expect(classes.map(({ label, old, new: now, change, compared }) => [label, old, now, change, compared])).toEqual([
      ['authentic', 2, 1, -0.25, 4],
      ['synthesized', 1, 3, 0.5, 4],
      ['replayed', 0, 0, 0, 4],
      ['synthesizedAndReplayed', 1, 0, -0.25, 4],
      ['undecided', 0, 0, 0, 4],
    ]);
    expect(moves).toEqual([
      { old: 'authentic', new: 'authentic', recordings: 1 },
      { old: 'authentic', new: 'synthesized', recordings: 1 },
      { old: 'synthesized', new: 'synthesized', recordings: 1 },
      { old: 'synthesizedAndReplayed', new: 'synthesized', recordings: 1 },
    ]);
  });

  it('compares a score only where both models have it', () => {
    const { shifts } = makeDriftReport(
      heading,
      recordings([
        [scored(0.9, null), scored(0.8, 0.7)],
        [scored(0.6, 0.5), scored(0.7, 0.9)],
      ]),
    );
    expect(shifts.map(({ score, compared, mean }) => [score, compared, mean])).toEqual([
      ['synthesis', 2, expect.closeTo(0, 12)],
      ['replay', 1, expect.closeTo(0.4, 12)],
    ]);
  });

  it('says of each recording that was not compared which model gave no score, and why', () => {
    const { notCompared, notComparedReasons } = makeDriftReport(
      heading,
      recordings([
        [scored(0.9), { kind: 'withoutScore', reason: 'insufficient_voice' }],
        [scored(0.4), { kind: 'withoutScore', reason: 'insufficient_voice' }],
        [{ kind: 'failed', reason: 'recording_deleted' }, scored(0.4)],
      ]),
    );
    expect(notComparedReasons).toEqual([
      { old: null, new: 'insufficient_voice', recordings: 2 },
      { old: 'recording_deleted', new: null, recordings: 1 },
    ]);
    expect(notCompared.map(({ line, old, new: now }) => [line, old, now])).toEqual([
      [1, null, 'insufficient_voice'],
      [2, null, 'insufficient_voice'],
      [3, 'recording_deleted', null],
    ]);
  });

  it('of no recording has no figure', () => {
    const report = makeDriftReport(heading, []);
    expect(report.counts).toEqual({ items: 0, recordings: 0, compared: 0, notCompared: 0, flips: 0 });
    expect(report.classes.every(({ change, interval, p }) => change === null && interval === null && p === null)).toBe(
      true,
    );
  });

  it.each([0, 1])('lists recordings of each kind up to the limit, and counts %i more', (more) => {
    const flips = makeDriftReport(
      heading,
      recordings(Array.from({ length: flipsListedMax + more }, () => [scored(0.9), scored(0.1)])),
    );
    expect([flips.flips.length, flips.counts.flips]).toEqual([flipsListedMax, flipsListedMax + more]);
    const others = makeDriftReport(
      heading,
      recordings(
        Array.from({ length: notComparedListedMax + more }, () => [
          scored(0.9),
          { kind: 'failed', reason: 'recording_deleted' },
        ]),
      ),
    );
    expect([others.notCompared.length, others.counts.notCompared, others.notComparedReasons]).toEqual([
      notComparedListedMax,
      notComparedListedMax + more,
      [{ old: null, new: 'recording_deleted', recordings: notComparedListedMax + more }],
    ]);
  });

  it.each([
    { others: pointsMax - 1, flips: 1 },
    { others: pointsMax, flips: 1 },
    { others: 5 * pointsMax, flips: 3 },
  ])('keeps points for its picture: every flip, and of $others others those there is room for', ({ others, flips }) => {
    const { points } = makeDriftReport(
      heading,
      recordings([
        ...Array.from({ length: others }, (_, at) => [scored(0.6 + (0.3 * at) / others), scored(0.7)] as const),
        ...Array.from({ length: flips }, () => [scored(0.9), scored(0.1)] as const),
      ]),
    );
    expect([points.length, points.filter(({ flip }) => flip).length]).toEqual([pointsMax, flips]);
    expect(points.at(-1)!.old.synthesis).toBeGreaterThan(0.89); // from the whole batch, not its beginning
  });
});
