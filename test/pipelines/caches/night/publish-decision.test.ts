import { describe, expect, it } from 'vitest';
import { formatArtefact, type CacheName } from '../../../../pipelines/caches/definition.ts';
import type { LabelMoves } from '../../../../pipelines/caches/artefact/row-difference.ts';
import { judgeBuild, shrinksTooMuch } from '../../../../pipelines/caches/night/night-gates.ts';
import {
  decidePublication,
  holdTogether,
  isReleased,
  type BuildOutcome,
  type CurrentVersion,
  type PublishDecision,
} from '../../../../pipelines/caches/night/publish-decision.ts';
import { loadConfig } from '../../../../runtime/config.ts';

const night = new Date('2026-01-02T01:00:00Z');
const before = new Date('2026-01-01T01:00:00Z');
const after = new Date('2026-01-03T01:00:00Z');
const current = (facts: Partial<CurrentVersion> = {}): CurrentVersion => ({
  version: 7,
  rows: 100,
  levels: {},
  plainSha256: 'old',
  asOf: before,
  ...facts,
});
const built = (rows: number, plainSha256 = 'new'): BuildOutcome => ({
  state: 'built',
  rows,
  plainSha256,
  levels: {},
  moves: null,
});
const limits = { ...loadConfig({}), gateRowsMin: 10 };

describe('decidePublication', () => {
  const cases: [string, BuildOutcome, CurrentVersion | null, boolean, Partial<PublishDecision>][] = [
    ['publishes version 1 where nothing was published', built(0), null, false, { action: 'publish', version: 1 }],
    ['publishes the next version of changed bytes', built(100), current(), false, { action: 'publish', version: 8 }],
    ['confirms unchanged bytes and publishes nothing', built(100, 'old'), current(), false, { action: 'confirm' }],
    ['lets exactly 20 % of the rows go', built(80), current(), false, { action: 'publish', version: 8 }],
    ['stops one row more than 20 %', built(79), current(), false, { action: 'keep', code: 'artefact_shrunk' }],
    ['stops the loss of every row', built(0), current(), false, { action: 'keep', code: 'artefact_shrunk' }],
    ['lets an operator accept the loss', built(0), current(), true, { action: 'publish', version: 8 }],
    [
      'keeps what a newer snapshot published',
      built(100),
      current({ asOf: after }),
      true,
      { action: 'keep', code: 'artefact_older' },
    ],
    [
      'does not let an older snapshot confirm either',
      built(100, 'old'),
      current({ asOf: after }),
      false,
      { action: 'keep', code: 'artefact_older' },
    ],
    [
      'keeps the old file of a failed build with its reason',
      { state: 'failed', code: 'copy_cut', reason: 'cut' },
      current(),
      false,
      { action: 'keep', code: 'copy_cut', reason: 'cut' },
    ],
    [
      'takes a build without outcome as lost',
      { state: 'lost' },
      current(),
      false,
      { action: 'keep', code: 'build_lost' },
    ],
    ['takes a lost first build as lost too', { state: 'lost' }, null, true, { action: 'keep', code: 'build_lost' }],
  ];
  it.each(cases)('%s', (_name, build, published, acceptShrink, expected) => {
    expect(
      decidePublication(build, published, { asOf: night, acceptShrink, limits, released: null, rowsLeft: 0 }),
    ).toMatchObject(expected);
  });

  it.each([
    [20, 64, 'publish'],
    [20, 63, 'keep'],
    [100, 0, 'publish'],
    [120, 0, 'publish'],
  ])('counts %i rows of 100 that were removed by decision as no loss: %i rows left %s', (rowsLeft, rows, action) => {
    expect(
      decidePublication(built(rows), current(), { asOf: night, acceptShrink: false, limits, released: null, rowsLeft }),
    ).toMatchObject({ action });
  });
});

describe('a gate before publishing', () => {
  const labelled = { rows: 1000, levels: { NEUTRAL: 800, SPAM: 150, FRAUD: 50 } };
  const none = { rises: 0, falls: 0, flips: 0, recategorized: 0 };
  const judge = (change: {
    rows?: number;
    levels?: CurrentVersion['levels'];
    moves?: Partial<typeof none> | null;
    rowsLeft?: number;
  }) => {
    const moves = change.moves === null ? null : { ...none, ...change.moves };
    return judgeBuild({ ...labelled, rowsLeft: 0, ...change, moves }, labelled, limits).map(({ gate }) => gate);
  };

  it.each([
    ['growth', { rows: 1500 }, { rows: 1501 }, 'growth'],
    ['loss', { rows: 800 }, { rows: 799 }, 'shrink'],
    ['labels that rise', { moves: { rises: 50 } }, { moves: { rises: 51 } }, 'label_rise'],
    ['labels that fall', { moves: { falls: 40 } }, { moves: { falls: 41 } }, 'label_fall'],
    ['labels that flip', { moves: { flips: 20 } }, { moves: { flips: 21 } }, 'label_flip'],
    ['the share of a level', { levels: { SPAM: 110, FRAUD: 90 } }, { levels: { SPAM: 109, FRAUD: 91 } }, 'level_share'],
  ])('of %s passes the limit and holds one past it', (_name, at, past, gate) => {
    expect(judge(at)).toEqual([]);
    expect(judge(past)).toEqual([gate]);
  });

  it('holds nothing for a few rows, but for lost ones', () => {
    const few = { rows: 12, levels: { SPAM: 4 } };
    const judgeFew = (rows: number, levels: CurrentVersion['levels'], rises: number) =>
      judgeBuild({ rows, levels, rowsLeft: 0, moves: { ...none, rises } }, few, limits).map(({ gate }) => gate);
    expect(judgeFew(21, { SPAM: 8, FRAUD: 5 }, 9)).toEqual([]);
    expect(judgeFew(22, { SPAM: 14 }, 10)).toEqual(['growth', 'label_rise']);
    expect(judgeFew(2, {}, 0)).toEqual(['shrink']);
  });

  it('says what was seen and the limit', () => {
    expect(judgeBuild({ ...labelled, rowsLeft: 0, moves: { ...none, rises: 150 } }, labelled, limits)).toEqual([
      {
        gate: 'label_rise',
        figure: 75,
        limit: 25,
        reason: '150 numbers get a label, more than 25 % of the 200 labels that are published.',
      },
    ]);
  });

  it.each<[string, { rows: number; levels: CurrentVersion['levels'] }]>([
    ['no row', { rows: 0, levels: {} }],
    ['no label', { rows: 1000, levels: { NEUTRAL: 1000 } }],
  ])('compares with nothing where %s is published', (_name, published) => {
    const first = { rows: 1500, levels: { SPAM: 100, FRAUD: 900 }, rowsLeft: 0 };
    for (const moves of [null, { rises: 1000, falls: 1000, flips: 1000, recategorized: 0 }])
      expect(judgeBuild({ ...first, moves }, published, limits)).toEqual([]);
  });

  it('compares with the rows that are published, also while none of them has a label', () => {
    const neutral = { rows: 1000, levels: { NEUTRAL: 1000 } };
    const gates = judgeBuild({ rows: 1501, levels: { SPAM: 1501 }, rowsLeft: 0, moves: null }, neutral, limits);
    expect(gates.map(({ gate }) => gate)).toEqual(['growth']);
  });

  it('does not know of moves that were not counted', () => {
    expect(judge({ moves: null })).toEqual([]);
  });
});

describe('a release', () => {
  const breach = (gate: 'label_rise' | 'growth', figure: number) => ({ gate, figure, limit: 50, reason: '' });

  it.each([
    ['the same figure', [breach('label_rise', 80)], true],
    ['a fifth more', [breach('label_rise', 96)], true],
    ['more than that', [breach('label_rise', 96.01)], false],
    ['another gate', [breach('growth', 51)], false],
    ['another gate with it', [breach('label_rise', 80), breach('growth', 51)], false],
  ])('lets %s through: %#', (_name, gates, expected) => {
    expect(isReleased(gates, [breach('label_rise', 80)])).toBe(expected);
    expect(isReleased(gates, null)).toBe(false);
  });

  it('publishes the next build that is like the held one, and not one that is worse', () => {
    const decide = (rows: number, released: Parameters<typeof isReleased>[1]) =>
      decidePublication(built(rows), current(), { asOf: night, acceptShrink: false, limits, rowsLeft: 0, released });
    const first = decide(60, null);
    expect(first).toMatchObject({ action: 'keep', code: 'artefact_shrunk', gates: [{ gate: 'shrink', figure: 40 }] });
    const released = first.action === 'keep' ? first.gates! : [];
    expect(decide(55, released)).toMatchObject({ action: 'publish' });
    expect(decide(51, released)).toMatchObject({ action: 'keep' });
  });
});

describe('files of one night', () => {
  const held: PublishDecision = { action: 'keep', code: 'artefact_shrunk', reason: '', gates: [] };
  const failed: PublishDecision = { action: 'keep', code: 'copy_cut', reason: '' };
  const none = { rises: 0, falls: 0, flips: 0, recategorized: 0 };
  const moved = { ...none, falls: 1 };
  const artefact = (name: string) => ({ cache: name.split('/')[0] as CacheName, country: name.split('/')[1] ?? '' });
  const file = (name: string, decision: PublishDecision, moves: LabelMoves | null) => ({
    ...artefact(name),
    decision,
    moves,
  });
  const publish = (name: string, moves: LabelMoves | null = moved) =>
    file(name, { action: 'publish', version: 2 }, moves);
  const keep = (name: string, moves: LabelMoves | null = moved) => file(name, held, moves);
  const hold = (files: Parameters<typeof holdTogether>[0], notBuilt: string[] = []) =>
    holdTogether(files, notBuilt.map(artefact))
      .filter(({ decision }) => decision.action === 'publish')
      .map(formatArtefact);

  it.each<[string, Parameters<typeof holdTogether>[0], string[]]>([
    [
      'all countries, and of the other countries whose labels change, stay when those of one country do',
      [keep('phones/US'), publish('phones/CA'), publish('phones/DE', none), publish('spammer_phones')],
      ['phones/DE'],
    ],
    [
      'each country stay when those of all countries do',
      [publish('phones/US'), publish('phones/DE', none), keep('spammer_phones')],
      ['phones/DE'],
    ],
    [
      'all countries do not stay with a country whose labels are the same',
      [keep('phones/US', none), publish('phones/CA'), publish('spammer_phones')],
      ['phones/CA', 'spammer_phones'],
    ],
    [
      'another category of the same level stay too',
      [publish('phones/US', { ...none, recategorized: 1 }), keep('spammer_phones', { ...none, recategorized: 1 })],
      [],
    ],
    ['unknown changes stay too', [publish('phones/US', null), keep('spammer_phones')], []],
    ['a failed build hold nothing', [file('phones/US', failed, null), publish('spammer_phones')], ['spammer_phones']],
  ])('with the labels of %s', (_name, files, published) => expect(hold(files)).toEqual(published));

  it('without labels hold nothing and stay with nothing', () => {
    expect(hold([keep('branded_phones', null), keep('spam_ranges', null), publish('spammer_phones')])).toEqual([
      'spammer_phones',
    ]);
    expect(hold([keep('spammer_phones'), publish('branded_phones', null), publish('spam_ranges', null)])).toEqual([
      'branded_phones',
      'spam_ranges',
    ]);
  });

  it('stay when their labels change and a file of the same numbers is not built', () => {
    expect(hold([publish('phones/US')], ['spammer_phones'])).toEqual([]);
    expect(hold([publish('spammer_phones')], ['phones/US'])).toEqual([]);
    expect(hold([publish('phones/US', none)], ['spammer_phones'])).toEqual(['phones/US']);
    expect(hold([publish('phones/US')], ['phones/CA', 'branded_phones', 'spam_ranges'])).toEqual(['phones/US']);
  });

  it('that are confirmed or have failed keep that outcome', () => {
    const files = [
      keep('spammer_phones'),
      file('phones/US', { action: 'confirm' }, none),
      file('phones/CA', failed, null),
    ];
    expect(holdTogether(files, [])).toEqual(files);
  });

  it('say with which others they stay, and what builds these', () => {
    const reason = (files: Parameters<typeof holdTogether>[0], notBuilt: string[]) => {
      const decision = holdTogether(files, notBuilt.map(artefact))[0]!.decision;
      return decision.action === 'keep' ? [decision.code, decision.reason] : [];
    };
    expect(reason([publish('phones/US'), keep('spammer_phones')], [])).toEqual([
      'artefact_held',
      'Held with spammer_phones, so that a number has the same level in every file.',
    ]);
    expect(
      reason([publish('spammer_phones'), keep('phones/US')], ['phones/CA', 'phones/DE', 'phones/FR', 'phones/GB']),
    ).toEqual([
      'artefact_held',
      'Held with phones/CA, phones/DE, phones/FR and 1 more, which this night does not build. Run a night of all files, so that a number has the same level in every file.',
    ]);
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
