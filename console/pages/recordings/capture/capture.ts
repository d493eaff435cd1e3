import type { CapturedAudio } from './capture-worklet.ts';
import { Problem } from '../../shell/request.ts';

/** A running microphone capture. */
export interface Capture {
  /** In Hz. */
  readonly sampleRate: number;
  /** Delivers the last samples, then releases the microphone. */
  stop(): Promise<void>;
}

/** Milliseconds for the worklet to deliver its last samples. */
const lastSamplesMs = 1000;

/** Switches off the browser's voice processing, which would change the audio that is judged. */
const asRecorded: MediaTrackConstraints = {
  echoCancellation: false,
  noiseSuppression: false,
  autoGainControl: false,
  channelCount: 1,
};

/**
 * Starts capturing the microphone: mono 16-bit samples at the rate of the device. When the signal fires the microphone is
 * released, immediately or as soon as the browser grants it.
 * @throws Problem if there is no microphone, or its use is not allowed; the reason of the signal
 */
export async function startCapture(onAudio: (audio: CapturedAudio) => void, signal: AbortSignal): Promise<Capture> {
  signal.throwIfAborted();
  if (navigator.mediaDevices === undefined) throw problemOf(new DOMException('', 'SecurityError'));
  const stream = await navigator.mediaDevices.getUserMedia({ audio: asRecorded }).catch((error: unknown) => {
    throw problemOf(error);
  });
  const context = new AudioContext();
  const release = () => {
    for (const track of stream.getTracks()) track.stop();
    if (context.state !== 'closed') void context.close();
  };
  signal.addEventListener('abort', release, { once: true });
  try {
    signal.throwIfAborted();
    await context.audioWorklet.addModule(new URL('./capture-worklet.js', import.meta.url).href);
    signal.throwIfAborted();
    const node = new AudioWorkletNode(context, 'capture', {
      numberOfInputs: 1,
      numberOfOutputs: 0,
      channelCount: 1,
      channelCountMode: 'explicit',
    });
    let ended = () => {};
    node.port.onmessage = ({ data }: MessageEvent<CapturedAudio | null>) => {
      if (data === null) ended();
      else if (!signal.aborted) onAudio(data);
    };
    context.createMediaStreamSource(stream).connect(node);
    await context.resume();
    signal.throwIfAborted();
    return {
      sampleRate: context.sampleRate,
      async stop() {
        await new Promise<void>((resolve) => {
          ended = resolve;
          setTimeout(resolve, lastSamplesMs);
          node.port.postMessage(null);
        });
        release();
      },
    };
  } catch (error) {
    release();
    throw signal.aborted ? error : problemOf(error);
  }
}

/** Why a microphone cannot be used, in words. */
function problemOf(error: unknown): Problem {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'NotAllowedError')
    return new Problem({
      status: 0,
      code: 'microphone_refused',
      detail: 'The browser does not let this page use the microphone.',
      hint: 'Allow it next to the address of the page, then try again.',
    });
  if (name === 'NotFoundError')
    return new Problem({
      status: 0,
      code: 'microphone_missing',
      detail: 'No microphone was found.',
      hint: 'Connect one, or choose a file.',
    });
  if (name === 'SecurityError')
    return new Problem({
      status: 0,
      code: 'microphone_unreachable',
      detail: 'Browsers give the microphone to pages of https, and of this machine, only.',
      hint: 'Open the console under its https address, or choose a file.',
    });
  return new Problem({
    status: 0,
    code: 'microphone_unreachable',
    detail: 'The microphone cannot be used.',
    hint: 'Close other programs that use it, or choose a file.',
  });
}
