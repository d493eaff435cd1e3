import type { EvaluationReport } from '../../evaluation/audio/evaluation-report.ts';
import { readStoredEvaluation } from '../../evaluation/audio/stored-evaluation.ts';
import type { RegistryEntry } from '../../pipelines/audio/models/registry.ts';
import type { ScoreName } from '../../pipelines/audio/verification.ts';

/** Error rates of a score, from the evaluation in the model's card; fractions from 0 to 1. */
export interface ScoreFigures {
  readonly score: ScoreName;
  /** The equal error rate, with its 95 % interval. */
  readonly equalError: {
    readonly rate: number;
    readonly interval: { readonly low: number; readonly high: number } | null;
  };
  /** At the model's threshold: rejected authentic recordings, and accepted attacks; null if measured without a threshold. */
  readonly atThreshold: { readonly threshold: number; readonly miss: number; readonly falseAlarm: number } | null;
  readonly bonafide: number;
  readonly attacks: number;
}

/** The error rates in a model's card. */
export interface ModelFigures {
  readonly model: string;
  readonly recordings: number;
  readonly evaluatedAt: string;
  readonly scores: readonly ScoreFigures[];
}

const evaluations = new Map<string, Promise<EvaluationReport | undefined>>();

/** Cached: shipped files do not change while the process runs. */
function readOnce(directory: string): Promise<EvaluationReport | undefined> {
  const reading = evaluations.get(directory) ?? readStoredEvaluation(directory);
  evaluations.set(directory, reading);
  reading.catch(() => evaluations.delete(directory));
  return reading;
}

/** The error rates of a model, or null without a card. */
export async function readModelFigures(
  entry: Pick<RegistryEntry, 'model' | 'family' | 'directory'> | undefined,
): Promise<ModelFigures | null> {
  const evaluation = entry?.directory == null ? undefined : await readOnce(entry.directory);
  const sections = evaluation?.sections.filter(({ model }) => model === entry!.model) ?? [];
  const section = sections.find(({ channel }) => channel === entry!.family) ?? sections[0];
  if (evaluation === undefined || section === undefined) return null;
  return {
    model: section.model,
    recordings: evaluation.index.recordings,
    evaluatedAt: evaluation.evaluatedAt,
    scores: section.scores.map(({ score, equalError, atThreshold, bonafide, attacks }) => ({
      score,
      equalError,
      atThreshold,
      bonafide,
      attacks,
    })),
  };
}
