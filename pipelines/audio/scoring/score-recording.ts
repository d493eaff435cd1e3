import { openRecording } from '../decode/open-recording.ts';
import { isOfTelephone, type DecodeLimits, type DetectedNote } from '../decode/recording.ts';
import { chooseModel, type ModelChoice } from '../models/named-model.ts';
import type { ScoredRecording, ScoringSettings } from '../verification.ts';
import type { OpenModels } from './open-models.ts';
import { RecordingScorer } from './recording-scorer.ts';

interface RecordingRequest {
  readonly file: string;
  readonly models: ModelChoice;
  readonly settings: ScoringSettings;
  readonly limits: DecodeLimits;
  /** Models that stay open between recordings. One recording at a time. */
  readonly opened: OpenModels;
}

/**
 * Scores one recording in this process; where its band decides and speech of a telephone is detected at a higher rate, it begins again
 * with the model of the phone family. Only the list of windows grows with its length. Blocks the event
 * loop while the graph runs.
 * @throws AudioRefusal if the recording cannot be scored
 * @throws ServiceError `model_invalid` if the model does not fit its manifest
 */
export async function scoreRecording(request: RecordingRequest): Promise<ScoredRecording> {
  const started = performance.now();
  const scored = (await scoreAs(request, false)) ?? (await scoreAs(request, true));
  if (scored === null) throw new Error('speech of a telephone has one model');
  return { ...scored, computedMs: performance.now() - started };
}

/** The scores by the model of the band; null as soon as speech of a telephone is detected for which another model is meant. */
async function scoreAs(
  { file, models, settings, limits, opened }: RecordingRequest,
  isTelephone: boolean,
): Promise<Omit<ScoredRecording, 'computedMs'> | null> {
  const recording = await openRecording(file, limits);
  try {
    const chosen = chooseModel(models, { ...recording, isTelephone });
    const model = await opened.open(chosen);
    model.batch.clear();
    const scorer = new RecordingScorer({
      ...model,
      sampleRate: recording.sampleRate,
      channels: recording.channels,
      settings,
    });
    const isOfOther = (detected: readonly DetectedNote[]) =>
      isOfTelephone(detected) &&
      chooseModel(models, { sampleRate: recording.sampleRate, isTelephone: true }).name !== chosen.name;
    let wasHeard = false;
    for await (const block of recording.blocks()) {
      await scorer.push(block);
      if (wasHeard || !scorer.isHeard) continue;
      if (isOfOther(scorer.detected)) return null;
      wasHeard = true;
    }
    const { durationSeconds, ...outcome } = await scorer.finish();
    if (isOfOther(scorer.detected)) return null;
    const audio = {
      format: recording.format,
      codec: recording.codec,
      sampleRate: recording.sampleRate,
      channels: recording.channels,
      durationSeconds,
    };
    return { ...outcome, model: chosen.name, audio, notes: [...recording.notes, ...scorer.detected] };
  } finally {
    await recording.close();
  }
}
