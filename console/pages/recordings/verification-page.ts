import type { IdentityAnswer, LiveVerification, ScoredWindow } from '../../answers/verification-answers.ts';
import type { RecordingWaveform } from '../../answers/verification-answers.ts';
import {
  ActionButton,
  DialogButton,
  Facts,
  Field,
  LiveMark,
  Name,
  Notice,
  Page,
  ProblemNotice,
  Read,
  Section,
  State,
  Table,
  type Columns,
  When,
} from '../shell/components.ts';
import { useLive, useReading, type Reading } from '../shell/reading.ts';
import { mayDo, sendJson, asProblem, Problem, readProblem } from '../shell/request.ts';
import { Link, type PageProps } from '../shell/router.ts';
import { ScoreKey, ScorePicture, WaveformPicture, type Playing } from './score-chart.ts';
import { ScoreMeter } from './score-meter.ts';
import { asWords, formatBytes, formatCount, formatScore, formatSeconds, visible } from '../shell/text.ts';
import { ResultMeaning, VerificationResult } from './verification-result.ts';
import { html, useRef, useState, type VNode, useEffect } from '../shell/view.ts';
import { LabelKey, WindowLabels } from './waveform-labels.ts';
import type { Json } from '../../answers/json.ts';

/** Display names of the ways of submission. */
export const modeTitles = { api: 'API', webDemo: 'web demo' } as const;

/** A verification: its result, its scores over time, and its recording. */
export default function VerificationPage({ params }: PageProps): VNode {
  const path = `/api/verifications/${encodeURIComponent(params['id']!)}`;
  const reading = useLive<LiveVerification>(`${path}/live`);
  return html`<${Page} title="Verification" lead=${reading.value ? html`<${Name} text=${reading.value.verification.source} />` : null} actions=${reading.value?.verification.times.ended == null ? html`<${LiveMark} isLive=${reading.isLive} />` : null}>
    <${Read} reading=${reading} what="the verification" show=${(live: Json<LiveVerification>) => html`<div class="page">
      <${Section} title="Result"><${VerificationResult} live=${live} isBrief /></${Section}>
      ${live.verification.recording === null ? null : html`<${Recording} path=${path} verification=${live.verification} onDeleted=${reading.readAgain} />`}
      ${live.verification.scores === null ? null : html`<${Section} title="What the result says"><${ResultMeaning} verification=${live.verification} /></${Section}>`}
      <${Identities} identities=${live.verification.identities} />
      <${FactsSection} verification=${live.verification} />
      <${WindowTable} windows=${live.verification.windows} />
      <${RawJson} path=${path} verification=${live.verification} />
    </div>`} />
  </${Page}>`;
}

function FactsSection({ verification }: { verification: Json<LiveVerification['verification']> }): VNode {
  const { audio, recording, times } = verification;
  return html`<${Section} title="Facts"><${Facts} entries=${[
    ['State', html`<${State} name=${verification.state} />`],
    ['Recording', html`<${Name} text=${verification.source} />`],
    ['Mode', modeTitles[verification.mode]],
    [
      'Batch',
      html`<${Link} href=${`/batches/${verification.batch}`}>${visible(verification.batchName)}</${Link}>, line ${formatCount(verification.line)}`,
    ],
    ['Client', html`<${Name} text=${verification.owner} />`],
    ['Submitted by', html`<${Name} text=${verification.requestedBy} />`],
    ['Asked for', verification.requestedModel],
    ['Model', verification.model],
    ['Registry release', verification.release],
    ['Channels', verification.settings.channels === 'mixed' ? 'mixed into one' : 'scored apart'],
    ['Duration', audio?.duration == null ? null : formatSeconds(audio.duration)],
    ['Voice', audio?.voiceDuration == null ? null : formatSeconds(audio.voiceDuration)],
    ['Sample rate', audio?.sampleRate == null ? null : `${formatCount(audio.sampleRate)} Hz`],
    ['Channels of the file', audio?.channels ?? null],
    ['Format', recording?.format == null ? null : `${recording.format}, ${recording.codec}`],
    ['Size', recording?.bytes == null ? null : formatBytes(recording.bytes)],
    ['Unusual', verification.notes.map(asWords).join(', ')],
    [
      'Computed in',
      verification.reused
        ? 'not computed: the same audio had been scored before'
        : verification.computedMs === null
          ? null
          : formatSeconds(verification.computedMs / 1000),
    ],
    ['Attempts', verification.attempts],
    ['Submitted', html`<${When} at=${times.requested} />`],
    ['Started', times.started === null ? null : html`<${When} at=${times.started} />`],
    ['Ended', times.ended === null ? null : html`<${When} at=${times.ended} />`],
    ['SHA-256 of the file', audio === null ? null : html`<code>${audio.sha256}</code>`],
  ]} /></${Section}>`;
}

interface RecordingProps {
  readonly path: string;
  readonly verification: Json<LiveVerification['verification']>;
  readonly onDeleted: () => void;
}

/** The recording over time: waveform, scores and playback. */
function Recording({ path, verification, onDeleted }: RecordingProps): VNode {
  const { recording, windows } = verification;
  const isKept = recording!.deletedAt === null;
  const waveform = useReading<RecordingWaveform>(isKept && recording!.format !== null ? `${path}/waveform` : null);
  const [seconds, setSeconds] = useState<number | null>(null);
  const audio = useRef<HTMLAudioElement>(null);
  const seek = (to: number) => {
    if (audio.current !== null) audio.current.currentTime = to;
  };
  const playing = isKept ? { seconds, seek } : undefined;
  return html`<${Section} title="The recording over time" actions=${isKept && mayDo('operator') ? html`<${DeleteRecording} sha256=${verification.audio!.sha256} onDeleted=${onDeleted} />` : null}>
    ${isKept ? html`<${RecordingPlayer} key=${path} path=${path} verification=${verification} audio=${audio} onTime=${setSeconds} />` : html`<${Notice} kind="warn"><p>The audio was deleted on <${When} at=${recording!.deletedAt} />: ${visible(recording!.deletedWhy)} Its results stay.</p></${Notice}>`}
    <${Channels} waveform=${waveform} verification=${verification} playing=${playing} isDrawn=${isKept && recording!.format !== null} />
    ${windows.length === 0 ? null : html`<${ScoreKey} thresholds=${verification.decision?.thresholds ?? null} /><${LabelKey} windows=${windows} />`}
  </${Section}>`;
}

/** A picture for each channel; without a waveform, while it loads or if the audio is deleted, only the scores. */
function Channels({
  waveform: reading,
  verification,
  playing,
  isDrawn,
}: {
  waveform: Reading<Json<RecordingWaveform>>;
  verification: Json<LiveVerification['verification']>;
  playing: Playing | undefined;
  isDrawn: boolean;
}): VNode {
  const { windows, audio, decision, channelScores } = verification;
  const secondsMax = reading.value?.durationSeconds ?? audio?.duration ?? windows.at(-1)?.end ?? 1;
  const numbers = reading.value?.channels.map(({ channel }) => channel) ?? [
    ...new Set(windows.map(({ channel }) => channel)),
  ];
  const shown = numbers.length === 0 ? [null] : numbers;
  return html`<div aria-busy=${reading.isReading ? 'true' : 'false'}>
    ${reading.problem ? html`<${ProblemNotice} problem=${reading.problem} onAgain=${reading.readAgain} />` : null}
    ${shown.map((number) => {
      const own = windows.filter(({ channel }) => channel === number);
      const drawn = reading.value?.channels.find(({ channel }) => channel === number);
      const scored = channelScores.find(({ channel }) => channel === number);
      const name = shown.length === 1 ? '' : ` of channel ${number! + 1}`;
      return html`<div class="channel">
        ${shown.length > 1 ? html`<h3>Channel ${number! + 1}${scored === undefined ? null : html`<span class="hint"> ${scored.scores === null ? asWords(scored.reason ?? '') : `synthesis ${formatScore(scored.scores.synthesis)}, replay ${formatScore(scored.scores.replay)}`}, ${formatSeconds(scored.voiceSeconds)} of voice</span>`}</h3>` : null}
        ${drawn !== undefined ? html`<${WaveformPicture} waveform=${reading.value!} channel=${drawn} playing=${playing} label=${`Waveform${name}: ${describeVoice(drawn.voice)}`} />` : isDrawn && reading.problem === undefined ? html`<div class="picture-place" role="status">Drawing the waveform …</div>` : null}
        ${own.length === 0 ? null : html`<${ScorePicture} windows=${own} thresholds=${decision?.thresholds ?? null} secondsMax=${secondsMax} playing=${playing} shows=${reading.value ?? windows} label=${`Scores of ${own.length} windows${name}; the table below has them`} /><${WindowLabels} windows=${own} secondsMax=${secondsMax} />`}
        ${drawn === undefined ? null : html`<p class="hint">${describeVoice(drawn.voice)} Voice is shaded, with a bar below it.</p>`}
      </div>`;
    })}
  </div>`;
}

function describeVoice(voice: Json<RecordingWaveform>['channels'][number]['voice']): string {
  if (voice === null) return 'Its model is not here, so that nothing says where there is voice.';
  if (voice.length === 0) return 'No voice was found.';
  const seconds = voice.reduce((sum, [start, end]) => sum + end - start, 0);
  return `Voice in ${formatCount(voice.length)} ${voice.length === 1 ? 'stretch' : 'stretches'}, ${formatSeconds(seconds)} together.`;
}

function DeleteRecording({ sha256, onDeleted }: { sha256: string; onDeleted: () => void }): VNode {
  const [reason, setReason] = useState('');
  const act = (close: () => void) => async () => {
    await sendJson('DELETE', `/api/recordings/${sha256}`, { reason });
    close();
    onDeleted();
  };
  return html`<${DialogButton} label="Delete the recording" kind="danger" title="Delete the recording?">${(
    close: () => void,
  ) => html`
    <p>The audio is removed permanently, for every verification of the same file. Scores and reasons stay.</p>
    <${Field} label="Reason" hint="Kept with the recording.">${(ids: object) => html`<input value=${reason} maxlength="500" onInput=${({ currentTarget }: { currentTarget: HTMLInputElement }) => setReason(currentTarget.value)} ...${ids} />`}</${Field}>
    <div class="actions"><button type="button" onClick=${close}>Keep it</button><${ActionButton} kind="danger" disabled=${reason.trim() === ''} act=${act(close)}>Delete</${ActionButton}></div>`}</${DialogButton}>`;
}

const identityColumns: Columns<Json<IdentityAnswer>> = [
  ['When', ({ at }) => html`<${When} at=${at} />`],
  ['Person', ({ voiceprint, subject }) => html`<${Link} href=${`/voices/${voiceprint}`}>${visible(subject)}</${Link}>`],
  [
    'Identity, higher is the person',
    ({ score, threshold, reason }) =>
      score === null
        ? asWords(reason ?? 'no score')
        : html`<${ScoreMeter} name="identity" score=${score} threshold=${threshold} />`,
  ],
  ['Outcome', ({ label }) => (label === null ? '–' : html`<${State} name=${label} />`)],
];

function Identities({ identities }: { identities: readonly Json<IdentityAnswer>[] }): VNode {
  return html`<${Section} title="Identity">
    <${Table} caption="Comparisons with voiceprints" rows=${identities} keyOf=${({ id }: Json<IdentityAnswer>) => id} columns=${identityColumns}
      empty=${html`<p>The recording was not compared with a voiceprint, so it has no identity score. Voice Authentication compares recordings with enrolled persons.</p>`} />
  </${Section}>`;
}

const tableStep = 50;

const windowColumns: Columns<Json<ScoredWindow>> = [
  ['Channel', ({ channel }) => (channel === null ? 'mixed' : channel + 1)],
  ['From', ({ start }) => formatSeconds(start), 'number'],
  ['To', ({ end }) => formatSeconds(end), 'number'],
  ['Label', ({ label }) => html`<${State} name=${label} />`],
  ['Synthesis', ({ scores }) => formatScore(scores?.synthesis), 'number'],
  ['Replay', ({ scores }) => formatScore(scores?.replay), 'number'],
];

/** The windows as a table, the accessible form of the pictures. */
function WindowTable({ windows }: { windows: readonly Json<ScoredWindow>[] }): VNode | null {
  const [shown, setShown] = useState(tableStep);
  if (windows.length === 0) return null;
  return html`<${Section} title=${`Windows (${formatCount(windows.length)})`}>
    <${Table} caption="Windows with their labels and scores" rows=${windows.slice(0, shown)} keyOf=${({ channel, start }: Json<ScoredWindow>) => `${channel} ${start}`} columns=${windowColumns} />
    ${shown < windows.length ? html`<p><button type="button" onClick=${() => setShown(shown + 10 * tableStep)}>Show more windows</button></p>` : null}
  </${Section}>`;
}

/** Most windows in the text; the file has all. */
const rawWindowsMax = 20;

function RawJson({
  path,
  verification,
}: {
  path: string;
  verification: Json<LiveVerification['verification']>;
}): VNode {
  const { windows, ...rest } = verification;
  const left = windows.length - rawWindowsMax;
  return html`<${Section} title="Raw JSON" actions=${html`<a class="button" href=${path} download=${`verification-${verification.id}.json`}>Save as a file</a>`}>
    <details><summary>Show it${left > 0 ? ` without the last ${formatCount(left)} windows` : ''}</summary><pre tabindex="0">${visibleJson({ ...rest, windows: windows.slice(0, rawWindowsMax) })}</pre></details>
  </${Section}>`;
}

/** JSON with invisible characters escaped. */
function visibleJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(
    /[\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

interface PlayerProps {
  readonly path: string;
  readonly verification: Json<LiveVerification['verification']>;
  readonly audio: { current: HTMLAudioElement | null };
  readonly onTime: (seconds: number) => void;
}

/** Plays a recording: the original, or a conversion if browsers in general, or this one, cannot play it. */
function RecordingPlayer({ path, verification: { recording, times }, audio, onTime }: PlayerProps): VNode {
  const [isRefused, setRefused] = useState(false);
  const [isConverting, setConverting] = useState(false);
  const [failure, setFailure] = useState<Problem | 'unplayable' | null>(null);
  const play = () => void audio.current?.play().catch(() => {}); // the element reports failures to onError
  useEffect(() => {
    if (isRefused) play();
  }, [isRefused]);
  if (recording!.playback === null)
    return html`<p class="hint">${times.ended === null ? 'It can be heard when it has been opened.' : 'It could not be opened, so it cannot be heard or drawn here.'}</p>`;
  const isConverted = isRefused || recording!.playback === 'converted';
  const source = `${path}/${isConverted ? 'playback' : 'audio'}`;
  const fail = async () => {
    setConverting(false);
    if (!isConverted && isOfFormat(audio.current!.error)) setRefused(true);
    else setFailure(await readMediaProblem(source));
  };
  const again = () => {
    setFailure(null);
    audio.current!.load();
    play();
  };
  return html`<div class="player">
    <audio controls preload="none" src=${source} ref=${audio} aria-label="The recording" controlsList=${isConverted ? 'nodownload' : null} onPlay=${() => setConverting(isConverted && audio.current!.readyState === HTMLMediaElement.HAVE_NOTHING)} onLoadedMetadata=${() => setConverting(false)} onTimeUpdate=${({ currentTarget }: { currentTarget: HTMLAudioElement }) => onTime(currentTarget.currentTime)} onError=${fail}></audio>
    <p class="hint">${isConverted ? 'Converted for playback; the original is the download. ' : ''}Listening is recorded in the audit trail. <a href=${`${path}/audio`} download>Save the original</a><span role="status">${isConverting ? ' Converting …' : ''}</span></p>
    ${failure instanceof Problem ? html`<${ProblemNotice} problem=${failure} onAgain=${again} />` : null}
    ${failure === 'unplayable' ? html`<${Notice} kind="warn"><p>This browser cannot play ${recording!.codec} in ${recording!.format}. Save the original to hear it with another program.</p></${Notice}>` : null}
  </div>`;
}

/** True for a media error that is not a network error; browsers report a refused request in the same way. */
function isOfFormat(error: MediaError | null): boolean {
  return error?.code === MediaError.MEDIA_ERR_DECODE || error?.code === MediaError.MEDIA_ERR_SRC_NOT_SUPPORTED;
}

/** Media elements hide the server's error: requests the first byte of the source to read the problem. */
async function readMediaProblem(source: string): Promise<Problem | 'unplayable'> {
  try {
    const response = await fetch(source, { headers: { Range: 'bytes=0-0' }, credentials: 'same-origin' });
    return response.ok ? 'unplayable' : await readProblem(response);
  } catch (error) {
    return asProblem(error);
  }
}
