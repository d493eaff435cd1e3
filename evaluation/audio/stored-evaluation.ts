import { join } from 'node:path';
import { z } from 'zod';
import { SCORE_NAMES } from '../../pipelines/audio/verification.ts';
import { evaluationSchema, type EvaluationReport } from './evaluation-report.ts';
import { readModelFile } from '../../pipelines/audio/models/model-file.ts';

/** Name of the file next to a model's manifest that holds its evaluation. */
export const evaluationFileName = 'evaluation.json';

const rate = z.number().min(0).max(1);
const interval = z.object({ low: z.number(), high: z.number() }).nullable();

/** What of a stored evaluation is looked at before it is believed; the rest is as `makeReport` made it. */
const form = z.looseObject({
  schema: z.literal(evaluationSchema),
  models: z.array(z.looseObject({ model: z.string(), weightsSha256: z.string() })).min(1),
  sections: z.array(
    z.looseObject({
      model: z.string(),
      channel: z.string(),
      scores: z.array(z.looseObject({ score: z.enum(SCORE_NAMES), equalError: z.looseObject({ rate, interval }) })),
    }),
  ),
});

/**
 * The evaluation that is kept in a model's directory, or undefined if there is none. @throws z.ZodError if the file holds something
 * else
 */
export async function readStoredEvaluation(directory: string): Promise<EvaluationReport | undefined> {
  return (await readModelFile(join(directory, evaluationFileName), form)) as unknown as EvaluationReport | undefined;
}

/** Digits of a stored figure: more than any interval resolves. */
const digits = 6;

/** An evaluation as it is stored: figures rounded, so that the file does not change where nothing did. */
export function formatEvaluation(report: EvaluationReport): string {
  return `${JSON.stringify(report, (_key, value: unknown) => (typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(digits)) : value), 1)}\n`;
}
