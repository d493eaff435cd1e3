import type { EvaluationReport } from '../../evaluation/audio/evaluation-report.ts';
import { readStoredEvaluation } from '../../evaluation/audio/stored-evaluation.ts';
import type { RegistryEntry } from '../../pipelines/audio/models/registry.ts';
import type { ScoreName } from '../../pipelines/audio/verification.ts';

/** How often a score of a model errs, on the recordings of its card; shares between 0 and 1. */
export interface ScoreFigures {
  readonly score: ScoreName;
  /** The rate at which both kinds of error are as frequent, with its interval of 95 %. */
  readonly equalError: {
    readonly rate: number;
    readonly interval: { readonly low: number; readonly high: number } | null;
  };
  /** At the model's threshold: authentic recordings that are refused, and attacks that pass; null where it was measured without. */
  readonly atThreshold: { readonly threshold: number; readonly miss: number; readonly falseAlarm: number } | null;
  readonly bonafide: number;
  readonly attacks: number;
}

/** What the card of a model says of its errors. */
export interface ModelFigures {
  readonly model: string;
  readonly recordings: number;
  readonly evaluatedAt: string;
  readonly scores: readonly ScoreFigures[];
}

const evaluations = new Map<string, Promise<EvaluationReport | undefined>>();

/** Shipped files do not change while a process runs. */
function readOnce(directory: string): Promise<EvaluationReport | undefined> {
  const reading = evaluations.get(directory) ?? readStoredEvaluation(directory);
  evaluations.set(directory, reading);
  reading.catch(() => evaluations.delete(directory));
  return reading;
}

/** The error rates of a model's card, or null for one without a card. */
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
