/** The global scope of an audio worklet (Web Audio API, section 1.32), which the DOM types lack. */
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;

/** Samples of one message: 43 ms at 48 kHz. */
const messageSamples = 2048;

/** A message to the page: 16-bit samples and their peak. */
export interface CapturedAudio {
  readonly samples: ArrayBuffer;
  /** Between 0 and 1. */
  readonly peak: number;
}

/**
 * Sends the first input channel to the page as 16-bit samples, little-endian on all supported platforms. Any message to it flushes
 * the remaining samples and ends it.
 */
class Capture extends AudioWorkletProcessor {
  private held = new Int16Array(messageSamples);
  private count = 0;
  private peak = 0;
  private isOver = false;

  constructor() {
    super();
    this.port.onmessage = () => {
      this.isOver = true;
      this.send();
      this.port.postMessage(null);
    };
  }

  process([input]: readonly (readonly Float32Array[])[]): boolean {
    if (this.isOver) return false;
    for (const sample of input?.[0] ?? []) {
      const bounded = Math.max(-1, Math.min(1, sample));
      this.peak = Math.max(this.peak, Math.abs(bounded));
      this.held[this.count++] = Math.max(-32_768, Math.min(32_767, Math.round(bounded * 32_768)));
      if (this.count === messageSamples) this.send();
    }
    return true;
  }

  private send(): void {
    const samples = this.held.buffer.slice(0, this.count * 2);
    this.port.postMessage({ samples, peak: this.peak } satisfies CapturedAudio, [samples]);
    [this.count, this.peak] = [0, 0];
  }
}

registerProcessor('capture', Capture);
