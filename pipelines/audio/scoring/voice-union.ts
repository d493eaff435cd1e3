import { voiceFramesPerSecond } from '../voice-activity/voice-activity.ts';
import { SlidingSamples } from '../signal/sliding-samples.ts';

/** Seconds in which there is voice on any channel, from the frames of each, which arrive at their own pace. Keeps what is not known of all channels yet. */
export class VoiceUnion {
  private readonly channels: SlidingSamples<Uint8Array>[];
  private done = 0;
  private voiced = 0;

  constructor(channels: number) {
    this.channels = Array.from(
      { length: channels },
      () => new SlidingSamples<Uint8Array>((length) => new Uint8Array(length)),
    );
  }

  get seconds(): number {
    return this.voiced / voiceFramesPerSecond;
  }

  /** The next frames of a channel, 1 for voice. */
  add(channel: number, frames: Uint8Array): void {
    this.channels[channel]!.append(frames);
    const known = Math.min(...this.channels.map(({ length }) => length));
    if (known === this.done) return;
    const views = this.channels.map((each) => each.view(this.done, known));
    for (let at = 0; at < known - this.done; at++) if (views.some((view) => view[at] === 1)) this.voiced++;
    this.done = known;
    for (const each of this.channels) each.dropBefore(known);
  }
}
