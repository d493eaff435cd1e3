import { openRecording } from '../decode/open-recording.ts';
import type { DecodeLimits } from '../decode/recording.ts';
import type { ResolvedModel } from '../models/registry.ts';
import { AudioRefusal } from '../reasons.ts';
import type { ScoredRecording, ScoringSettings } from '../verification.ts';
import type { OpenModels } from './open-models.ts';
import { RecordingScorer } from './recording-scorer.ts';

/** The models that a recording may be scored with. With both, its sample rate decides; with one, that one is taken. */
export interface ModelChoice {
  /** True if the rate decides also where one of the two is missing, because it cannot be used. */
  readonly byRate?: boolean | undefined;
  readonly phone: ResolvedModel | null;
  readonly digital: ResolvedModel | null;
}

/** Lowest rate, in Hz, that the family `digital` takes where the rate decides. */
export const digitalSampleRateMin = 16_000;

export interface ScoringRequest {
  readonly file: string;
  readonly models: ModelChoice;
  readonly settings: ScoringSettings;
  readonly limits: DecodeLimits;
  /** Where models stay open from one recording to the next. One recording at a time. */
  readonly opened: OpenModels;
}

/**
 * Scores one recording in this process. Memory does not grow with its length, but by the list of its windows. Blocks the event
 * loop while the graph runs.
 * @throws AudioRefusal if the recording cannot be scored
 * @throws ServiceError `model_invalid` if the model does not fit its manifest
 */
export async function scoreRecording({
  file,
  models,
  settings,
  limits,
  opened,
}: ScoringRequest): Promise<ScoredRecording> {
  const started = performance.now();
  const recording = await openRecording(file, limits);
  try {
    const chosen = chooseModel(models, recording.sampleRate);
    const model = await opened.open(chosen);
    model.batch.clear();
    const scorer = new RecordingScorer({
      ...model,
      sampleRate: recording.sampleRate,
      channels: recording.channels,
      settings,
    });
    for await (const block of recording.blocks()) await scorer.push(block);
    const { durationSeconds, ...outcome } = await scorer.finish();
    const audio = {
      format: recording.format,
      codec: recording.codec,
      sampleRate: recording.sampleRate,
      channels: recording.channels,
      durationSeconds,
    };
    return {
      ...outcome,
      model: chosen.name,
      audio,
      notes: [...recording.notes],
      computedMs: performance.now() - started,
    };
  } finally {
    await recording.close();
  }
}

/**
 * The model for a rate: with both families, `digital` from 16 kHz on.
 * @throws AudioRefusal `sample_rate_too_low` if the model needs a higher one, `scoring_failed` if the one of the rate cannot be used
 */
export function chooseModel({ phone, digital, byRate = false }: ModelChoice, sampleRate: number): ResolvedModel {
  const family = sampleRate >= digitalSampleRateMin ? 'digital' : 'phone';
  if (byRate && (family === 'digital' ? digital : phone) === null)
    throw new AudioRefusal(
      'scoring_failed',
      `At ${sampleRate} Hz it needs the default of ${family}, which cannot be used here.`,
    );
  const chosen = phone === null || (digital !== null && sampleRate >= digitalSampleRateMin) ? digital : phone;
  if (chosen === null) throw new Error('a recording is scored with one model at least');
  const { sampleRateMin } = chosen.manifest.input;
  if (sampleRate < sampleRateMin)
    throw new AudioRefusal(
      'sample_rate_too_low',
      `It has ${sampleRate} Hz; ${chosen.name} needs ${sampleRateMin} Hz at least.`,
    );
  return chosen;
}
