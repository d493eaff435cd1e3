import { openRecording } from '../decode/open-recording.ts';
import type { DecodeLimits, Recording } from '../decode/recording.ts';
import type { ResolvedModel } from '../models/registry.ts';
import { AudioRefusal, type AudioReason } from '../reasons.ts';
import type { ChannelScores, ScoredRecording, ScoredWindow, ScoringSettings } from '../verification.ts';
import { ChannelWindows, type CutWindow } from './channel-windows.ts';
import { calibrate, decide, lowestScores } from './decision.ts';
import { meanLogits, type Logits } from './logits.ts';
import { mixChannels } from './mixed-channels.ts';
import type { OpenModel, OpenModels } from './open-models.ts';
import { VoiceUnion } from './voice-union.ts';

/** The models that a recording may be scored with. With both, its sample rate decides; with one, that one is taken. */
export interface ModelChoice {
  /** True if the rate decides also where one of the two is missing, because it cannot be used. */
  readonly byRate?: boolean | undefined;
  readonly phone: ResolvedModel | null;
  readonly digital: ResolvedModel | null;
}

/** Lowest rate, in Hz, that the family `digital` takes where the rate decides. */
export const digitalSampleRateMin = 16_000;

/** Most windows of one recording, over all of its channels: 27 hours of a call's two sides at one window each 2 s. Each takes some 200 bytes of the result. */
export const windowsMax = 100_000;

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
export async function scoreRecording({ file, models, settings, limits, opened }: ScoringRequest): Promise<ScoredRecording> {
  const started = performance.now();
  const recording = await openRecording(file, limits);
  try {
    const chosen = chooseModel(models, recording.sampleRate);
    const model = await opened.open(chosen);
    const { channels, seconds, voiceSeconds } = await scoreChannels(recording, model, settings);
    const audio = { format: recording.format, codec: recording.codec, sampleRate: recording.sampleRate, channels: recording.channels, durationSeconds: seconds };
    return { ...outcomeOf({ channels, model, settings }), model: chosen.name, audio, voiceSeconds, notes: [...recording.notes], computedMs: performance.now() - started };
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
  if (byRate && (family === 'digital' ? digital : phone) === null) throw new AudioRefusal('scoring_failed', `At ${sampleRate} Hz it needs the default of ${family}, which cannot be used here.`);
  const chosen = phone === null || (digital !== null && sampleRate >= digitalSampleRateMin) ? digital : phone;
  if (chosen === null) throw new Error('a recording is scored with one model at least');
  const { sampleRateMin } = chosen.manifest.input;
  if (sampleRate < sampleRateMin) throw new AudioRefusal('sample_rate_too_low', `It has ${sampleRate} Hz; ${chosen.name} needs ${sampleRateMin} Hz at least.`);
  return chosen;
}

/** A channel while it is scored. */
interface Channel {
  /** Null where the channels were mixed. */
  readonly number: number | null;
  readonly cutter: ChannelWindows;
  readonly windows: OpenWindow[];
}

/** A window whose logits may still be on their way. */
interface OpenWindow extends Omit<CutWindow, 'samples'> {
  logits: Logits | null;
}

interface ScoredChannels {
  readonly channels: readonly Channel[];
  readonly seconds: number;
  readonly voiceSeconds: number;
}

async function scoreChannels(recording: Recording, model: OpenModel, settings: ScoringSettings): Promise<ScoredChannels> {
  const numbers = settings.channels === 'mixed' ? [null] : Array.from({ length: recording.channels }, (_none, number) => number);
  const channels = numbers.map((number): Channel => ({ number, windows: [], cutter: new ChannelWindows({ manifest: model.manifest, sampleRate: recording.sampleRate, detector: model.detector() }) }));
  const union = new VoiceUnion(channels.length);
  const count = { windows: 0, samples: 0 };
  model.batch.clear();

  const gather = async (channel: Channel, cut: AsyncGenerator<CutWindow>) => {
    for await (const { samples, ...facts } of cut) {
      if (++count.windows > windowsMax) throw new AudioRefusal('recording_too_long', `It has more than ${windowsMax} windows.`);
      const window: OpenWindow = { ...facts, logits: null };
      channel.windows.push(window);
      if (window.label === 'validVoice') await model.batch.add(samples, (logits) => void (window.logits = logits));
    }
  };
  for await (const block of recording.blocks()) {
    count.samples += block[0]!.length;
    for (const [place, channel] of channels.entries()) {
      await gather(channel, channel.cutter.push(channel.number === null ? mixChannels(block) : block[channel.number]!, (voiced) => union.add(place, voiced)));
    }
  }
  if (count.samples === 0) throw new AudioRefusal('audio_damaged', 'It holds no sample.');
  for (const [place, channel] of channels.entries()) await gather(channel, channel.cutter.finish((voiced) => union.add(place, voiced)));
  await model.batch.flush();
  return { channels, seconds: count.samples / recording.sampleRate, voiceSeconds: union.seconds };
}

interface Ended {
  readonly channels: readonly Channel[];
  readonly model: OpenModel;
  readonly settings: ScoringSettings;
}

type Outcome = Pick<ScoredRecording, 'state' | 'scores' | 'decision' | 'reason' | 'channelScores' | 'windows'>;

function outcomeOf({ channels, model: { manifest }, settings }: Ended): Outcome {
  const windows = channels.flatMap((channel) => channel.windows.map((window) => showWindow(window, channel.number, manifest.calibration)));
  const scored = channels.map((channel) => scoreChannel(channel, manifest.calibration));
  const channelScores = settings.channels === 'mixed' ? [] : scored.map((each, channel) => ({ channel, ...each }));
  const given = scored.flatMap(({ scores }) => scores ?? []);
  if (given.length === 0) {
    return { state: 'performedWithoutScore', scores: null, decision: null, reason: reasonOfAll(scored.flatMap(({ reason }) => reason ?? [])), channelScores, windows };
  }
  const scores = lowestScores(given);
  return { state: 'performed', scores, decision: decide(scores, manifest.thresholds), reason: null, channelScores, windows };
}

function showWindow({ start, end, label, logits }: OpenWindow, channel: number | null, calibration: OpenModel['manifest']['calibration']): ScoredWindow {
  return { channel, start, end, label, scores: logits === null ? null : calibrate(logits, calibration) };
}

function scoreChannel({ windows, cutter }: Channel, calibration: OpenModel['manifest']['calibration']): Omit<ChannelScores, 'channel'> {
  const logits = meanLogits(windows.flatMap((window) => window.logits ?? []));
  const voiceSeconds = cutter.voiceSeconds;
  if (logits !== null) return { voiceSeconds, scores: calibrate(logits, calibration), reason: null };
  return { voiceSeconds, scores: null, reason: reasonOf(windows, voiceSeconds) };
}

/** Why a channel has no score: the nearest that it came to one. */
export function reasonOf(windows: readonly Pick<ScoredWindow, 'label'>[], voiceSeconds: number): AudioReason {
  if (windows.some(({ label }) => label === 'excessiveNoise')) return 'excessive_noise';
  return voiceSeconds > 0 ? 'insufficient_voice' : 'no_voice';
}

const nearness = ['excessive_noise', 'insufficient_voice', 'no_voice'] as const satisfies readonly AudioReason[];

/** Why a recording has no score: the nearest that one of its channels came to one. */
export function reasonOfAll(reasons: readonly AudioReason[]): AudioReason {
  return nearness.find((reason) => reasons.includes(reason)) ?? 'no_voice';
}

