import { describe, expect, it } from 'vitest';
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
const textOf = (contentSha256: string) => ({ contentSha256, plainSha256: null });
const current = (facts: Partial<CurrentVersion> = {}): CurrentVersion => ({
  version: 7,
  rows: 100,
  levels: {},
  text: textOf('old'),
  asOf: before,
  ...facts,
});
const built = (rows: number, content = 'new'): BuildOutcome => ({
  state: 'built',
  rows,
  text: textOf(content),
  levels: {},
  moves: null,
  basisLost: false,
});
const limits = { ...loadConfig({}), gateRowsMin: 10 };

describe('decidePublication', () => {
  const cases: [string, BuildOutcome, CurrentVersion | null, boolean, Partial<PublishDecision>][] = [
    ['publishes version 1 where nothing was published', built(0), null, false, { action: 'publish', version: 1 }],
    ['publishes the next version of changed bytes', built(100), current(), false, { action: 'publish', version: 8 }],
    ['confirms unchanged bytes and publishes nothing', built(100, 'old'), current(), false, { action: 'confirm' }],
    [
      'publishes unchanged rows where a file of the published version is lost',
      { ...built(100, 'old'), basisLost: true } as BuildOutcome,
      current(),
      false,
      { action: 'publish', version: 8 },
    ],
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
  const none = { rises: 0, falls: 0, flips: 0 };
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
  const publish: PublishDecision = { action: 'publish', version: 2 };
  const keep = (gate: 'label_rise' | 'growth'): PublishDecision => ({
    action: 'keep',
    code: 'artefact_held',
    reason: '',
    gates: [{ gate, figure: 1, limit: 1, reason: '' }],
  });
  const hold = (decisions: Record<string, PublishDecision>) => {
    const named = Object.entries(decisions).map(([name, decision]) => ({
      cache: name.split('/')[0]!,
      country: name.split('/')[1] ?? '',
      decision,
    }));
    return Object.fromEntries(
      holdTogether(named).map(({ cache, country, decision }) => [
        country === '' ? cache : `${cache}/${country}`,
        decision.action,
      ]),
    );
  };

  it('with the labels of all countries stay when the labels of one country are held; other countries do not', () => {
    expect(
      hold({ 'phones/US': keep('label_rise'), 'phones/CA': publish, spammer_phones: publish, branded_phones: publish }),
    ).toEqual({ 'phones/US': 'keep', 'phones/CA': 'publish', spammer_phones: 'keep', branded_phones: 'publish' });
  });

  it('with labels all stay when those of all countries are held', () => {
    expect(
      hold({
        'phones/US': publish,
        'phones/CA': { action: 'confirm' },
        spammer_phones: keep('label_rise'),
        branded_phones: publish,
      }),
    ).toEqual({ 'phones/US': 'keep', 'phones/CA': 'confirm', spammer_phones: 'keep', branded_phones: 'publish' });
  });

  it('stay alone when rows hold them', () => {
    expect(hold({ 'phones/US': keep('growth'), spammer_phones: publish })).toEqual({
      'phones/US': 'keep',
      spammer_phones: 'publish',
    });
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
