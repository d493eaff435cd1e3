import type { EvaluationReport } from '../../evaluation/audio/evaluation-report.ts';
import { readStoredEvaluation } from '../../evaluation/audio/stored-evaluation.ts';
import { readUnseenSystems, type UnseenSystems } from '../../evaluation/audio/unseen-systems.ts';
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
  /** What the synthesis score is worth on synthesizers that the model never saw, by length. */
  readonly unseen: readonly UnseenSystems[];
}

interface CardFigures {
  readonly evaluation: EvaluationReport | undefined;
  readonly unseen: readonly UnseenSystems[];
}

const known = new Map<string, Promise<CardFigures>>();

/** Cached: shipped files do not change while the process runs. */
function readOnce(directory: string): Promise<CardFigures> {
  const reading = known.get(directory) ?? readCardFigures(directory);
  known.set(directory, reading);
  reading.catch(() => known.delete(directory));
  return reading;
}

async function readCardFigures(directory: string): Promise<CardFigures> {
  const [evaluation, unseen] = await Promise.all([readStoredEvaluation(directory), readUnseenSystems(directory)]);
  return { evaluation, unseen };
}

/** The error rates of a model, or null without a card. */
export async function readModelFigures(
  entry: Pick<RegistryEntry, 'model' | 'family' | 'directory'> | undefined,
): Promise<ModelFigures | null> {
  const { evaluation, unseen } =
    entry?.directory == null ? { evaluation: undefined, unseen: [] } : await readOnce(entry.directory);
  const sections = evaluation?.sections.filter(({ model }) => model === entry!.model) ?? [];
  const section = sections.find(({ channel }) => channel === entry!.family) ?? sections[0];
  if (evaluation === undefined || section === undefined) return null;
  return {
    model: section.model,
    recordings: evaluation.index.recordings,
    evaluatedAt: evaluation.evaluatedAt,
    unseen,
    scores: section.scores.map(({ score, equalError, atThreshold, bonafide, attacks }) => ({
      score,
      equalError,
      atThreshold,
      bonafide,
      attacks,
    })),
  };
}
