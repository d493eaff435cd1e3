import { describe, expect, it } from 'vitest';
import { drawLabelReport } from '../../../evaluation/labels/label-picture.ts';
import { readScoringCard, renderScoringCard } from '../../../evaluation/labels/scoring-card.ts';
import { pointOfRule } from '../../../evaluation/labels/range-report.ts';
import { readProjectFile, root } from '../../conventions/source-tree.ts';
import { complaintRule } from '../../../pipelines/labels/complaint-rule.ts';
import { rangeRule } from '../../../pipelines/labels/range-scoring.ts';

describe('docs/scoring-card.md', () => {
  it('and its picture are what the stored figures give', async () => {
    const report = await readScoringCard(`${root}docs`);
    expect(readProjectFile('docs/scoring-card.md')).toBe(renderScoringCard(report));
    expect(readProjectFile('docs/scoring-card.svg')).toBe(drawLabelReport(report));
  });

  it('is of the rule that labels numbers: at least 0.30 reported again at a recall of 0.09, with half the labels of the rule before', async () => {
    const { rules } = await readScoringCard(`${root}docs`);
    const [ours, before] = [complaintRule.version, 'complaints/1'].map(
      (version) => rules.find(({ name }) => name === version)!.periods[0]!,
    );
    expect(ours!.againInWeek.value).toBeGreaterThanOrEqual(0.3);
    expect(ours!.recall.value).toBeGreaterThanOrEqual(0.09);
    expect(ours!.labels.value).toBeLessThanOrEqual(before!.labels.value / 2);
  });

  it('has ranges that cover at most 0.5 % of the numbers in service, and of each risk a lift above the one that is published', async () => {
    const { ranges } = await readScoringCard(`${root}docs`);
    expect(ranges).toHaveLength(3);
    for (const figures of ranges) {
      expect(pointOfRule(figures).covered).toBeLessThanOrEqual(0.005);
      expect(figures.risks.map(({ risk }) => risk)).toEqual(rangeRule.risks.map(({ risk }) => risk));
      for (const [at, { lift }] of rangeRule.risks.entries()) expect(figures.risks[at]!.lift).toBeGreaterThan(lift);
    }
  });

  it('cannot be made without figures, or of those of another rule', async () => {
    await expect(readScoringCard(`${root}sql`)).rejects.toMatchObject({ code: 'usage_invalid' });
  });
});
