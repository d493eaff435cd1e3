import type { Json } from '../../answers/json.ts';
import type { ScoredWindow, Scores } from '../../answers/verification-answers.ts';
import { CaptureStream } from './capture/capture-stream.ts';
import { startCapture, type Capture } from './capture/capture.ts';
import { Notice, ProblemNotice } from '../shell/components.ts';
import { asProblem, type Problem } from '../shell/request.ts';
import { ScoreKey, ScorePicture } from './score-chart.ts';
import { asWords, formatScore, formatSeconds } from '../shell/text.ts';
import { html, useEffect, useRef, useState, type VNode } from '../shell/view.ts';
import { LabelKey, WindowLabels } from './waveform-labels.ts';

/** Results for the current recording so far. */
interface LiveRecording {
  readonly stage: 'asking' | 'recording' | 'ending';
  readonly model: string | null;
  readonly thresholds: Scores | null;
  readonly secondsMax: number | null;
  readonly windows: readonly Json<ScoredWindow>[];
  readonly receivedSeconds: number;
  readonly voiceSeconds: number;
}

const begun: LiveRecording = {
  stage: 'asking',
  model: null,
  thresholds: null,
  secondsMax: null,
  windows: [],
  receivedSeconds: 0,
  voiceSeconds: 0,
};

/** Minimum length of the picture's time axis, in seconds. */
const shownSecondsMin = 12;

/** The current recording. */
interface Take {
  readonly leaving: AbortController;
  capture: Capture | null;
  stream: CaptureStream | null;
}

const stopText: Readonly<Record<LiveRecording['stage'], string>> = {
  asking: 'Stop',
  recording: 'Stop and verify',
  ending: 'Ending …',
};

/** Records from the microphone and shows the scores of its windows meanwhile. */
export function Microphone({
  model,
  channels,
  onVerified,
}: {
  model: string;
  channels: 'apart' | 'mixed';
  onVerified: (id: string) => void;
}): VNode {
  const [recording, setRecording] = useState<LiveRecording | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [peak, setPeak] = useState(0);
  const current = useRef<Take | null>(null);
  const change = (changes: Partial<LiveRecording> | ((before: LiveRecording) => Partial<LiveRecording>)) =>
    setRecording((before) =>
      before === null ? before : { ...before, ...(typeof changes === 'function' ? changes(before) : changes) },
    );
  const give = () => {
    current.current?.leaving.abort();
    current.current?.stream?.leave();
    current.current = null;
  };
  const finish = () => {
    give();
    setRecording(null);
    setPeak(0);
  };
  const start = async () => {
    const take: Take = { leaving: new AbortController(), capture: null, stream: null };
    const refuse = (error: unknown) => {
      if (current.current !== take) return; // the page was left meanwhile
      setProblem(asProblem(error));
      finish();
    };
    current.current = take;
    setProblem(null);
    setRecording(begun);
    try {
      take.capture = await startCapture(({ samples, peak: loudest }) => {
        take.stream?.send(samples);
        setPeak(loudest);
      }, take.leaving.signal);
      const { sampleRate } = take.capture;
      take.stream = new CaptureStream(
        { model, channels, sampleRate, name: 'microphone' },
        {
          onReady: (facts) => change({ stage: 'recording', ...facts }),
          onWindow: (window) => change(({ windows }) => ({ windows: withWindow(windows, window) })),
          onProgress: (progress) =>
            change({ receivedSeconds: progress.receivedSeconds, voiceSeconds: progress.voiceSeconds }),
          onVerified: (id) => {
            finish();
            onVerified(id);
          },
          onProblem: refuse,
        },
      );
    } catch (error) {
      refuse(error);
    }
  };
  const stop = async () => {
    const take = current.current;
    if (recording?.stage !== 'recording' || take?.capture == null) return finish();
    change({ stage: 'ending' });
    await take.capture.stop();
    setPeak(0);
    take.stream?.end();
  };
  useEffect(() => give, []);
  return html`<div class="microphone">
    ${problem ? html`<${ProblemNotice} problem=${problem} />` : null}
    <div class="actions">
      ${recording === null ? html`<button type="button" class="primary" onClick=${() => void start()}>Record from the microphone</button>` : html`<button type="button" class="primary" disabled=${recording.stage === 'ending'} onClick=${() => void stop()}>${stopText[recording.stage]}</button>`}
      <label class="level"><span>Level</span><meter min="0" max="1" low="0.02" high="0.95" optimum="0.4" value=${peak}></meter></label>
    </div>
    ${recording === null ? html`<p class="hint">Scores appear while you speak: the first some seconds after the first words. What the browser does to voices in calls is switched off.</p>` : html`<${LiveScores} recording=${recording} />`}
  </div>`;
}

/** A repeated window replaces the earlier one: it was scored with more of the voice. */
function withWindow(windows: readonly Json<ScoredWindow>[], window: Json<ScoredWindow>): readonly Json<ScoredWindow>[] {
  const others = windows.filter(({ channel, start }) => channel !== window.channel || start !== window.start);
  return [...others, window].sort((a, b) => a.start - b.start);
}

function LiveScores({ recording }: { recording: LiveRecording }): VNode {
  const { stage, windows, thresholds, receivedSeconds, voiceSeconds, model, secondsMax } = recording;
  const shown = Math.max(shownSecondsMin, receivedSeconds, windows.at(-1)?.end ?? 0);
  const last = windows.at(-1);
  return html`<div class="live-scores">
    <p class="live-words">${stage === 'asking' ? 'Waiting for the microphone and the service …' : html`<strong>${formatSeconds(receivedSeconds)}</strong> heard, <strong>${formatSeconds(voiceSeconds)}</strong> of voice, by ${model}${secondsMax === null ? '' : `; ${formatSeconds(secondsMax)} at most`}.`}</p>
    <${ScorePicture} windows=${windows} thresholds=${thresholds} secondsMax=${shown} label="Scores of the windows so far" />
    <${WindowLabels} windows=${windows} secondsMax=${shown} />
    <${ScoreKey} thresholds=${thresholds} /><${LabelKey} windows=${windows} />
    <p class="live-words" role="status">${last === undefined ? 'No window is scored yet.' : `Last window, ${formatSeconds(last.start)} to ${formatSeconds(last.end)}: ${asWords(last.label)}${last.scores === null ? '' : `, synthesis ${formatScore(last.scores.synthesis)}, replay ${formatScore(last.scores.replay)}`}.`}</p>
    ${stage === 'ending' ? html`<${Notice}><p>The whole recording is being verified.</p></${Notice}>` : null}
  </div>`;
}
