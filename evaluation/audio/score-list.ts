import type { ModelOutcomes } from './evaluated-set.ts';
import type { IndexRow } from './index-file.ts';
import { formatCsvField } from '../../pipelines/rows/csv-field.ts';

const header = [
  'path',
  'label',
  'channel',
  'speaker',
  'synthesizer',
  'codec',
  'model',
  'state',
  'synthesis',
  'replay',
  'reason',
] as const;

/** The score of each recording under each model as CSV, so that others can compute figures of their own. */
export function formatScores(rows: readonly IndexRow[], models: readonly ModelOutcomes[]): string {
  const lines = models.flatMap(({ model, outcomes }) =>
    rows.flatMap(({ path, label, channel, speaker, synthesizer, codec }, at) => {
      const outcome = outcomes[at];
      if (outcome === null || outcome === undefined) return [];
      const scores = outcome.state === 'performed' ? outcome.scores : { synthesis: null, replay: null };
      return [
        [
          path,
          label,
          channel,
          speaker,
          synthesizer,
          codec,
          model,
          outcome.state,
          scores.synthesis,
          scores.replay,
          outcome.state === 'performed' ? null : outcome.reason,
        ],
      ];
    }),
  );
  return [header, ...lines].map((fields) => `${fields.map(formatCsvField).join(',')}\n`).join('');
}
