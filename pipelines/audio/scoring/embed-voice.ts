import { openRecording } from '../decode/open-recording.ts';
import type { DecodeLimits, Recording } from '../decode/recording.ts';
import { Resampler } from '../signal/resample.ts';
import { AudioRefusal } from '../reasons.ts';
import type { AudioFacts } from '../verification.ts';
import { voiceFramesPerSecond, type VoiceDetector } from '../voice-activity/voice-activity.ts';
import { embedSamples, voicedSecondsUsedMax } from '../voiceprint/recording-embedding.ts';
import { mixChannels } from '../signal/mixed-channels.ts';
import type { OpenModels } from './open-models.ts';
import { SlidingSamples } from '../signal/sliding-samples.ts';

/** The embedding of a voice, the seconds of voice behind it, and the facts of the audio. */
export interface EmbeddedVoice {
  readonly embedding: Float32Array;
  readonly voiceSeconds: number;
  readonly audio: AudioFacts;
}

/** A recording whose voice is embedded. */
export interface VoiceFile {
  readonly file: string;
  /** Directory of the voiceprint model. */
  readonly directory: string;
}

interface EmbeddingRequest extends VoiceFile {
  readonly limits: DecodeLimits;
  readonly opened: OpenModels;
}

/**
 * Embeds the voice of a recording, whose channels are mixed. It is read until there is as much voice as is used.
 * @throws AudioRefusal if it cannot be read, has too low a rate, or no voice
 * @throws ServiceError `model_invalid` if the model does not fit its manifest
 */
export async function embedVoice({ file, directory, limits, opened }: EmbeddingRequest): Promise<EmbeddedVoice> {
  const recording = await openRecording(file, limits);
  try {
    const model = await opened.openVoiceprint(directory);
    const { sampleRate, sampleRateMin } = model.manifest.input;
    if (recording.sampleRate < sampleRateMin)
      throw new AudioRefusal(
        'sample_rate_too_low',
        `It has ${recording.sampleRate} Hz; ${model.manifest.model} needs ${sampleRateMin} Hz at least.`,
      );
    const { voice, seconds } = await readVoice(recording, sampleRate, model.detector());
    if (voice.length === 0) throw new AudioRefusal('no_voice');
    const { format, codec, channels } = recording;
    return {
      embedding: await embedSamples(voice, model),
      voiceSeconds: voice.length / sampleRate,
      audio: { format, codec, channels, sampleRate: recording.sampleRate, durationSeconds: seconds },
    };
  } finally {
    await recording.close();
  }
}

/** The concatenated samples of voice at the model's rate, up to `voicedSecondsUsedMax`. */
async function readVoice(
  recording: Recording,
  rate: number,
  detector: VoiceDetector,
): Promise<{ voice: Float32Array; seconds: number }> {
  const collector = new VoiceCollector(rate);
  const resampler = new Resampler(recording.sampleRate, rate);
  let read = 0;
  for await (const block of recording.blocks()) {
    read += block[0]!.length;
    const samples = resampler.push(mixChannels(block));
    collector.add(samples, (await detector.push(samples)).voiced);
    if (collector.isFull)
      return { voice: collector.voice, seconds: recording.durationSeconds ?? read / recording.sampleRate };
  }
  const rest = resampler.end();
  collector.add(rest, (await detector.push(rest)).voiced);
  collector.add(new Float32Array(0), (await detector.finish()).voiced);
  return { voice: collector.voice, seconds: read / recording.sampleRate };
}

/** Collects the samples of voiced frames; those of undecided frames are kept until they are decided. */
export class VoiceCollector {
  private readonly frameSamples: number;
  private readonly waiting = new SlidingSamples<Float32Array>(Float32Array);
  private readonly gathered = new SlidingSamples<Float32Array>(Float32Array);
  private readonly samplesMax: number;
  private frames = 0;

  constructor(rate: number) {
    this.frameSamples = rate / voiceFramesPerSecond;
    this.samplesMax = voicedSecondsUsedMax * rate;
  }

  get isFull(): boolean {
    return this.gathered.length + this.frameSamples > this.samplesMax;
  }

  get voice(): Float32Array {
    return this.gathered.view(0, this.gathered.length);
  }

  add(samples: Float32Array, voiced: Uint8Array): void {
    this.waiting.append(samples);
    for (const isVoice of voiced) {
      const from = this.frames++ * this.frameSamples;
      if (isVoice === 1 && !this.isFull) this.gathered.append(this.waiting.view(from, from + this.frameSamples));
    }
    this.waiting.dropBefore(this.frames * this.frameSamples);
  }
}
