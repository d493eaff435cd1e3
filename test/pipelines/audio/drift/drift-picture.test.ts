import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { drawDrift } from '../../../../pipelines/audio/drift/drift-picture.ts';
import {
  makeDriftReport,
  type AnsweredRecording,
  type DriftReport,
} from '../../../../pipelines/audio/drift/drift-report.ts';
import type { Scores } from '../../../../pipelines/audio/verification.ts';

const heading = (thresholds: Scores) => ({
  old: { model: 'phone/v7', manifestSha256: 'a'.repeat(64), thresholds },
  new: { model: 'phone/v8', manifestSha256: 'b'.repeat(64), thresholds },
  batch: '00000000-0000-4000-8000-000000000000',
  settings: { channels: 'apart' } as const,
});

const recording = (old: Scores, now: Scores, at: number): AnsweredRecording => {
  const answer = (scores: Scores) =>
    ({ kind: 'scored', label: scores.synthesis! < 0.5 ? 'synthesized' : 'authentic', scores }) as const;
  return { audioSha256: `${at}`, line: at + 1, source: 'a.wav', items: 1, old: answer(old), new: answer(now) };
};

const report = makeDriftReport(heading({ synthesis: 0.5, replay: 0.4 }), [
  recording({ synthesis: 0.9, replay: 0.9 }, { synthesis: 0.8, replay: 0.9 }, 0),
  recording({ synthesis: 0.9, replay: 0.9 }, { synthesis: 0.2, replay: 0.9 }, 1),
  recording({ synthesis: 0, replay: 1 }, { synthesis: 0, replay: 1 }, 2),
]);

describe('the picture of a drift report', () => {
  const picture = drawDrift(report);

  it('names both models, the batch and the counts', () => {
    expect(picture).toContain('phone/v7 → phone/v8');
    expect(picture).toContain(
      'Batch 00000000-0000-4000-8000-000000000000: 3 recordings compared, 1 with another decision, 0 not compared.',
    );
  });

  it('has a circle for each recording that kept its decision, and a diamond for each that did not, in both panels', () => {
    expect(picture.match(/<circle [^>]*r="2.6"/g)?.length).toBe(4);
    expect(picture.match(/<path d="M[\d. ]+l5 5/g)?.length).toBe(2 + 1); // one in the legend
  });

  it('keeps every point within its panel, also of scores of 0 and 1', () => {
    const places = [...picture.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)" r="2.6"/g)].map(
      ([, x, y]) => [Number(x), Number(y)] as const,
    );
    expect(places.every(([x, y]) => x >= 72 && x <= 940 && y >= 96 && y <= 476)).toBe(true);
  });

  it('is the same for the same report, and a report that went through JSON gives it too', () => {
    expect(drawDrift(JSON.parse(JSON.stringify(report)) as typeof report)).toBe(picture);
  });

  it('is XML whatever the models are called', () => {
    const odd = drawDrift({ ...report, old: { ...report.old, model: 'a<b>&"c"' } });
    expect(odd).toContain('a&lt;b&gt;&amp;&quot;c&quot;');
    expect(odd).not.toContain('a<b>');
  });

  it('says so where one model has no such score', () => {
    const without = makeDriftReport(heading({ synthesis: 0.5, replay: null }), [
      recording({ synthesis: 0.9, replay: null }, { synthesis: 0.8, replay: null }, 0),
    ]);
    expect(drawDrift(without)).toContain('One of the models has no such score.');
  });

  it('of nothing compared is a picture still', () => {
    expect(drawDrift(makeDriftReport(heading({ synthesis: 0.5, replay: 0.5 }), []))).toContain('0 recordings compared');
  });
});

/** After a change of the drawing: `npx vitest run -u` on this file. */
describe('the picture of docs/model-drift.md', () => {
  const pictures = join(import.meta.dirname, '../../../../docs/pictures');

  it('is drawn from the report next to it', async () => {
    const report = JSON.parse(await readFile(join(pictures, 'model-drift.json'), 'utf8')) as DriftReport;
    expect(report.points.length).toBe(report.counts.compared);
    await expect(drawDrift(report)).toMatchFileSnapshot(join(pictures, 'model-drift.svg'));
  });
});
