import { openRecording } from '../decode/open-recording.ts';
import type { DecodeLimits } from '../decode/recording.ts';
import { chooseModel, type ModelChoice } from '../models/named-model.ts';
import type { ScoredRecording, ScoringSettings } from '../verification.ts';
import type { OpenModels } from './open-models.ts';
import { RecordingScorer } from './recording-scorer.ts';

export interface RecordingRequest {
  readonly file: string;
  readonly models: ModelChoice;
  readonly settings: ScoringSettings;
  readonly limits: DecodeLimits;
  /** Models that stay open between recordings. One recording at a time. */
  readonly opened: OpenModels;
}

/**
 * Scores one recording in this process. Only the list of windows grows with its length. Blocks the event
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
}: RecordingRequest): Promise<ScoredRecording> {
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
