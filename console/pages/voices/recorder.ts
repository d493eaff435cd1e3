import { startCapture, type Capture } from '../recordings/capture/capture.ts';
import { ProblemNotice } from '../shell/components.ts';
import { asProblem, type Problem } from '../shell/request.ts';
import { formatSeconds } from '../shell/text.ts';
import { html, useEffect, useRef, useState, type VNode } from '../shell/view.ts';

/** Longest recording, in seconds; it then stops. */
const recordingSecondsMax = 120;

type Stage =
  | { readonly name: 'ready' }
  | { readonly name: 'asking' }
  | { readonly name: 'recording'; readonly seconds: number; readonly level: number }
  | { readonly name: 'failed'; readonly problem: Problem };

/** The current recording. */
interface Take {
  readonly leaving: AbortController;
  readonly pieces: Int16Array[];
  samples: number;
  capture: Capture | null;
  isEnding: boolean;
}

const buttonText: Readonly<Record<Stage['name'], string>> = {
  ready: 'Record from the microphone',
  failed: 'Record from the microphone',
  asking: 'Stop asking for the microphone',
  recording: 'Stop',
};

/** Records the microphone into a WAV file, without the browser's voice processing. */
export function Recorder({
  disabled = false,
  onRecorded,
}: {
  disabled?: boolean;
  onRecorded: (recording: File) => void;
}): VNode {
  const [stage, setStage] = useState<Stage>({ name: 'ready' });
  const current = useRef<Take | null>(null);
  const give = () => {
    current.current?.leaving.abort();
    current.current = null;
  };
  useEffect(() => give, []);
  const start = async () => {
    const take: Take = { leaving: new AbortController(), pieces: [], samples: 0, capture: null, isEnding: false };
    current.current = take;
    setStage({ name: 'asking' });
    try {
      take.capture = await startCapture(({ samples, peak }) => {
        take.pieces.push(new Int16Array(samples));
        take.samples += samples.byteLength / Int16Array.BYTES_PER_ELEMENT;
        if (current.current !== take || take.capture === null) return;
        const seconds = take.samples / take.capture.sampleRate;
        setStage({ name: 'recording', seconds, level: levelOf(peak) });
        if (seconds >= recordingSecondsMax) void stop();
      }, take.leaving.signal);
    } catch (error) {
      if (current.current === take) setStage({ name: 'failed', problem: asProblem(error) });
    }
  };
  const stop = async () => {
    const take = current.current;
    if (take?.capture == null) {
      give();
      return setStage({ name: 'ready' });
    }
    if (take.isEnding) return;
    take.isEnding = true;
    await take.capture.stop();
    if (current.current !== take) return; // the page was left
    current.current = null;
    setStage({ name: 'ready' });
    onRecorded(new File([writeWav(take.pieces, take.capture.sampleRate)], 'microphone.wav', { type: 'audio/wav' }));
  };
  const isBusy = stage.name === 'recording' || stage.name === 'asking';
  const isRecording = stage.name === 'recording';
  return html`<div class="recorder">
    <button type="button" class=${isRecording ? 'danger' : ''} disabled=${disabled && !isBusy} onClick=${() => void (isBusy ? stop() : start())}>${buttonText[stage.name]}</button>
    <span class="recorder-time" role="timer">${isRecording ? formatSeconds(stage.seconds) : ''}</span>
    <span class="recorder-level" aria-hidden="true"><span style=${{ width: `${isRecording ? Math.round(100 * stage.level) : 0}%` }}></span></span>
    ${stage.name === 'failed' ? html`<${ProblemNotice} problem=${stage.problem} />` : null}
  </div>`;
}

/** The peak level of a chunk, from 0 (-60 dBFS and below) to 1. */
function levelOf(peak: number): number {
  return Math.max(0, Math.min(1, 1 + (20 * Math.log10(peak + 1e-6)) / 60));
}

const headerBytes = 44;

/** A mono 16-bit WAV file (RFC 2361, the WAVE format of 1991). */
function writeWav(pieces: readonly Int16Array[], sampleRate: number): Uint8Array<ArrayBuffer> {
  const samples = pieces.reduce((sum, { length }) => sum + length, 0);
  const file = new Uint8Array(headerBytes + 2 * samples);
  const view = new DataView(file.buffer);
  const text = (at: number, word: string) =>
    file.set(
      [...word].map((letter) => letter.charCodeAt(0)),
      at,
    );
  text(0, 'RIFF');
  view.setUint32(4, file.length - 8, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true); // PCM
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, 2 * sampleRate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, 2 * samples, true);
  let at = headerBytes;
  for (const piece of pieces) {
    for (const sample of piece) {
      view.setInt16(at, sample, true);
      at += 2;
    }
  }
  return file;
}
