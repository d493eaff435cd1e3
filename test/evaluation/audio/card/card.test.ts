import { existsSync, readdirSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { reportOf } from '../../../../evaluation/audio/card/card.ts';
import { renderCardFiles, writeCard } from '../../../../evaluation/audio/card/card-files.ts';
import type { EvaluationReport } from '../../../../evaluation/audio/evaluation-report.ts';
import { evaluationFileName } from '../../../../evaluation/audio/stored-evaluation.ts';
import { shippedModelsDirectory } from '../../../../pipelines/audio/models/shipped-models.ts';

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-card-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Rows of the tables under a heading, as cells. */
function tablesUnder(card: string, heading: string): string[][] {
  const part = card.split(/^(?=##+ )/m).find((each) => each.startsWith(`${heading}\n`));
  return (part ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
    .map((line) => line.slice(2, -2).split(' | '));
}

const percent = (share: number) => (share * 100).toFixed(1);
const rateOf = ({ rate, interval }: { rate: number; interval: { low: number; high: number } | null }) =>
  interval === null
    ? `${percent(rate)} (no interval)`
    : `${percent(rate)} (${percent(interval.low)} to ${percent(interval.high)})`;

/** Every number of a card's tables against the stored evaluation, which is read again here. */
function expectFiguresOf(card: string, report: EvaluationReport): void {
  const [, ...errors] = tablesUnder(card, '## Error rates on the development set');
  const scores = report.sections.flatMap(({ channel, scores: of }) => of.map((figures) => ({ channel, ...figures })));
  expect(errors).toEqual(
    scores.map((s) => [
      s.channel,
      s.score,
      String(s.bonafide),
      String(s.attacks),
      String(s.speakers),
      String(s.synthesizers),
      rateOf(s.equalError),
      s.nuisance === null ? 'not defined' : rateOf(s.nuisance),
      s.minimumCost.toFixed(3),
      s.actualCost.toFixed(3),
      s.minimumTandemCost?.toFixed(3) ?? 'not defined',
      s.likelihoodRatioCost.toFixed(3),
      s.minimumLikelihoodRatioCost.toFixed(3),
    ]),
  );
  for (const { channel, score, groups } of scores) {
    const [, ...rows] = tablesUnder(card, `### ${channel}, ${score}, by part`);
    expect(rows.map(([, name, ...figures]) => [name?.replace(' (held out)', ''), ...figures])).toEqual(
      groups.map((group) => [
        group.name,
        String(group.bonafide),
        String(group.attacks),
        rateOf(group.equalError),
        group.minimumCost.toFixed(3),
      ]),
    );
  }
  const differences = tablesUnder(card, '### Against the version before').slice(1);
  expect(
    differences.map(([from, channel, score, before, now, difference]) => [
      from,
      channel,
      score,
      before,
      now,
      difference,
    ]),
  ).toEqual(
    report.comparisons.map((c) => [
      c.from,
      c.channel,
      c.score,
      percent(c.fromRate),
      percent(c.toRate),
      percent(c.difference),
    ]),
  );
  const bins = tablesUnder(card, '## Calibration').filter(([range]) => /^\d\.\d to/.test(range ?? ''));
  expect(bins.map(([, bonafide, attacks]) => [bonafide, attacks])).toEqual(
    scores.flatMap(({ calibration }) => calibration.map((bin) => [String(bin.bonafide), String(bin.attacks)])),
  );
  const outcomes = tablesUnder(card, '## Recordings without a score').filter(([label]) =>
    ['bonafide', 'synthetic', 'replay'].includes(label ?? ''),
  );
  const counted = report.sections
    .flatMap(({ outcomes: of }) => of)
    .filter((each) => each.performed + each.performedWithoutScore + each.error > 0);
  expect(outcomes).toEqual(
    counted.map((each) => [each.label, String(each.performed), String(each.performedWithoutScore), String(each.error)]),
  );
  // Each replay figure says what kind of replay that is.
  for (const part of card.split(/^(?=##+ )/m))
    if (/^\| (\S+ \| )*replay \|/m.test(part) || /, replay[,:]/.test(part))
      expect(part).toContain('Replay is simulated');
}

const evaluated = readdirSync(shippedModelsDirectory).filter((name) =>
  existsSync(join(shippedModelsDirectory, name, evaluationFileName)),
);

describe.each(evaluated.length === 0 ? ['(none)'] : evaluated)('the card of %s', (name) => {
  it('is what its evaluation, its manifest and its text give, with every figure of the evaluation', async () => {
    if (name === '(none)') return expect(evaluated).toEqual([]); // before the first evaluation of the shipped weights
    const home = join(shippedModelsDirectory, name);
    const files = await renderCardFiles(home);
    for (const [file, text] of Object.entries(files)) expect(await readFile(join(home, file), 'utf8'), file).toBe(text);
    expectFiguresOf(files['card.md'], JSON.parse(files[evaluationFileName]) as EvaluationReport);
  });
});

const rate = (value: number) => ({ rate: value, interval: { low: value / 2, high: value * 1.5 } });

/** A report with every kind of figure in it. */
function reportFor(model: string, weightsSha256: string): EvaluationReport {
  const scores = (['synthesis', 'replay'] as const).map((score, at) => ({
    score,
    bonafide: 100 + at,
    attacks: 50 + at,
    speakers: 12,
    synthesizers: 3,
    equalError: rate(0.1 + at / 100),
    minimumCost: 0.3,
    actualCost: 0.4,
    minimumTandemCost: at === 0 ? null : 0.25,
    likelihoodRatioCost: 0.5,
    minimumLikelihoodRatioCost: 0.4,
    calibrationError: 0.05,
    nuisance: at === 0 ? rate(0.48) : null,
    calibration: Array.from({ length: 10 }, (_none, bin) => ({
      from: bin / 10,
      to: (bin + 1) / 10,
      bonafide: bin,
      attacks: 9 - bin,
      meanScore: bin === 0 ? null : bin / 10,
      authenticShare: bin === 0 ? null : bin / 10,
    })),
    atThreshold: { threshold: 0.5, miss: 0.1, falseAlarm: 0.2 },
    groups: [
      {
        by: 'codec' as const,
        name: 'a | b',
        bonafide: 20,
        attacks: 10,
        equalError: { rate: 0.2, interval: null },
        minimumCost: 0.5,
      },
    ],
    curve: [
      [1, 0],
      [0.1, 0.1],
      [0, 1],
    ] as [number, number][],
  }));
  const section = {
    channel: 'phone',
    outcomes: [{ label: 'bonafide' as const, performed: 100, performedWithoutScore: 5, error: 1 }],
    reasons: [{ state: 'error' as const, reason: 'audio_damaged' as const, count: 1 }],
    scores,
  };
  const comparison = {
    channel: 'phone',
    score: 'synthesis' as const,
    bonafide: 100,
    attacks: 50,
    fromRate: 0.2,
    toRate: 0.1,
    difference: -0.1,
    interval: { low: -0.15, high: -0.05 },
  };
  return {
    schema: 'evaluation/1',
    index: { name: 'a set', note: 'Made for a test.', sha256: 'c'.repeat(64), recordings: 156 },
    evaluatedAt: '2026-11-21T12:00:00.000Z',
    bootstrap: { resamples: 1000, seed: 1 },
    costs: { missCost: 1, falseAlarmCost: 10, attackPrior: 0.05 },
    models: [
      { model: 'phone/v0', manifestSha256: 'd'.repeat(64), weightsSha256: 'e'.repeat(64) },
      { model, manifestSha256: 'd'.repeat(64), weightsSha256 },
    ],
    sections: [
      { model: 'phone/v0', ...section, scores: [] },
      { model, ...section },
    ],
    comparisons: [
      { from: 'phone/v0', to: model, ...comparison },
      { from: model, to: 'phone/v99', ...comparison },
    ],
  };
}

it('keeps of a report what is of the model, and how it differs from the one before', () => {
  const report = reportOf(reportFor('phone/v1.1', 'f'.repeat(64)), 'phone/v1.1');
  expect(report.sections.map(({ model }) => model)).toEqual(['phone/v1.1']);
  expect(report.comparisons.map(({ from, to }) => [from, to])).toEqual([['phone/v0', 'phone/v1.1']]);
  expect(report.models.map(({ model }) => model)).toEqual(['phone/v0', 'phone/v1.1']);
  expect(() => reportOf(report, 'phone/v7')).toThrow(RangeError);
});

it('writes a card whose figures are those of the report, and refuses one of other weights', async () => {
  const home = join(directory, 'phone-v1.1');
  await cp(join(shippedModelsDirectory, 'phone-v1.1'), home, { recursive: true });
  await writeFile(join(home, 'about.md'), 'Why it is as it is.\n');
  const { sha256 } = JSON.parse(await readFile(join(home, 'manifest.json'), 'utf8')) as { sha256: string };
  const report = reportFor('phone/v1.1', sha256);
  await writeCard(home, { model: { name: 'phone/v1.1' }, report });
  const card = await readFile(join(home, 'card.md'), 'utf8');
  expectFiguresOf(
    card.replaceAll('a \\| b', 'a | b').replaceAll('| a | b |', '| a¦b |'),
    JSON.parse(JSON.stringify(reportOf(report, 'phone/v1.1')).replaceAll('a | b', 'a¦b')) as EvaluationReport,
  );
  expect(card).toContain('Why it is as it is.');
  expect(card).toContain('Made for a test.');
  expect(card).toContain('better than phone/v0 by 10.0 points');
  expect(card).toContain('At the threshold 0.5: 10.0 % of authentic recordings refused, 20.0 % of attacks accepted.');
  expect(card).toContain('What it must not be used for');
  expect(await readFile(join(home, 'det.svg'), 'utf8')).toContain('phone/v1.1 replay');
  await writeFile(join(home, evaluationFileName), JSON.stringify(reportFor('phone/v1.1', '0'.repeat(64))));
  await expect(renderCardFiles(home)).rejects.toMatchObject({ code: 'model_invalid' });
});
