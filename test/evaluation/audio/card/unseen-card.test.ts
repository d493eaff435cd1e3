import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderUnseen } from '../../../../evaluation/audio/card/unseen-card.ts';
import { readUnseenEvaluation } from '../../../../evaluation/audio/unseen-evaluation.ts';
import { readManifest } from '../../../../pipelines/audio/models/manifest.ts';
import { shippedModelsDirectory } from '../../../../pipelines/audio/models/shipped-models.ts';

const percent = (share: number) => (share * 100).toFixed(1);
const names = readdirSync(shippedModelsDirectory).filter((name) => /^(phone|digital)-v/.test(name));

describe.each(names)('the card of %s', (name) => {
  const directory = join(shippedModelsDirectory, name);

  it('begins with the figures on what was left out, before those of the development set', async () => {
    const unseen = (await readUnseenEvaluation(directory))!;
    const card = await readFile(join(directory, 'card.md'), 'utf8');
    expect(unseen.model.replace('/', '-')).toBe(name);
    const head = card.slice(0, card.indexOf('## Error rates on the development set'));
    for (const score of ['synthesis', 'replay'] as const)
      for (const { equalError, likelihoodRatioCost, families } of Object.values(unseen[score])) {
        expect(head).toContain(`${percent(equalError.rate)} (`);
        expect(head).toContain(likelihoodRatioCost.toFixed(3));
        if (score === 'synthesis')
          for (const [family, figures] of Object.entries(families))
            expect(head).toContain(`| ${family} | ${figures.recordings} | ${percent(figures.equalError)} |`);
      }
  });

  it('calls it better only where the interval of the difference is below 0', async () => {
    const unseen = (await readUnseenEvaluation(directory))!;
    const text = renderUnseen(unseen, 'combined/1').join('\n');
    const differences = [...Object.values(unseen.synthesis), ...Object.values(unseen.replay)].flatMap(
      ({ difference }) => difference ?? [],
    );
    const better = differences.filter(({ interval }) => interval !== null && interval.high < 0);
    expect(text.match(/\), better/g)?.length ?? 0).toBe(better.length);
  });

  it('says which calibration lengths without a condition of their own are judged by', async () => {
    const [unseen, { conditions }] = [(await readUnseenEvaluation(directory))!, await readManifest(directory)];
    const text = renderUnseen(unseen, 'combined/1').join('\n');
    expect(unseen.conditioned).toEqual(conditions?.synthesis?.length === 1 ? ['3 s'] : undefined);
    expect(text.includes('are those fitted at 3 s, at every length')).toBe(/(v8\.2|v3\.[23])$/.test(name));
  });

  it('has the threshold of its manifest, and who is called synthesized over each line, where lines chose it', async () => {
    const [unseen, { conditions }] = [(await readUnseenEvaluation(directory))!, await readManifest(directory)];
    const text = renderUnseen(unseen, 'combined/1').join('\n');
    expect(unseen.threshold !== undefined).toBe(/(v8\.2|v3\.3)$/.test(name));
    expect(text.includes('### By the codec of a line')).toBe(unseen.threshold !== undefined);
    if (unseen.threshold === undefined) return;
    expect(conditions!.synthesis![0]!.attackBelow).toBe(unseen.threshold.attackBelow);
    for (const [line, share] of Object.entries(unseen.threshold.falseAlarm))
      expect(text).toContain(`| ${line} | ${unseen.threshold.judgedOn} | ${percent(share)} |`);
  });

  it('has the error rates that the conditions of its manifest state', async () => {
    const [unseen, { conditions }] = [(await readUnseenEvaluation(directory))!, await readManifest(directory)];
    const stated = Object.entries(conditions ?? {}) as [
      'synthesis' | 'replay',
      NonNullable<typeof conditions>['replay'],
    ][];
    for (const [score, all] of stated)
      for (const [at, { falseAlarm, falseAcceptance, authenticFrom }] of all!.entries()) {
        const { genuineDecisions, acceptance } = Object.values(unseen[score])[at]!;
        const overLines = score === 'synthesis' ? Object.values(unseen.threshold?.falseAlarm ?? {}) : [];
        expect(falseAlarm).toBe(Math.max(genuineDecisions.attack, ...overLines));
        expect(falseAcceptance).toBe(acceptance.isStated ? acceptance.worstFamily : null);
        expect(authenticFrom !== null).toBe(acceptance.isStated);
      }
    expect(stated.length).toBe(/(v8\.[12]|v3\.[123])$/.test(name) ? 2 : 0);
  });
});
