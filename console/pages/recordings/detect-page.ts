import type { DetectionFacts, SubmittedRecording } from '../../answers/detection-answers.ts';
import type { LiveVerification } from '../../answers/verification-answers.ts';
import { Field, Notice, Page, ProblemNotice, Read, Section, ChoiceField } from '../shell/components.ts';
import { Microphone } from './detect-microphone.ts';
import { useLive, useReading } from '../shell/reading.ts';
import { asProblem, csrfToken, Problem, readProblem } from '../shell/request.ts';
import { goTo, Link, usePlace, withQuery } from '../shell/router.ts';
import { formatBytes, visible } from '../shell/text.ts';
import { NoWorkerNotice, VerificationResult } from './verification-result.ts';
import { html, useEffect, useRef, useState, type VNode } from '../shell/view.ts';
import type { Json } from '../../answers/json.ts';

const channelChoices = [
  ['apart', 'apart'],
  ['mixed', 'mixed'],
] as const;
type Channels = (typeof channelChoices)[number][0];

/** The demo AI Voice Detection: submits a recording and shows the results in words. */
export default function DetectPage(): VNode {
  const place = usePlace();
  const facts = useReading<DetectionFacts>('/api/detection');
  const [model, setModel] = useState('auto');
  const [channels, setChannels] = useState<Channels>('apart');
  const [way, setWay] = useState<'file' | 'microphone'>('file');
  const shown = place.query.get('verification');
  const show = (id: string) => goTo(withQuery(place, { verification: id }), { replace: true });
  return html`<${Page} title="AI Voice Detection" lead="Was the voice made by a machine, or played back by a loudspeaker? Submit a recording, or speak.">
    <${Read} reading=${facts} what="the models" show=${(known: Json<DetectionFacts>) => html`<div class="page">
      ${known.workerConnected ? null : html`<${NoWorkerNotice} />`}
      <${Section} title="Recording">
        <fieldset class="ways"><legend class="unseen">Where the recording comes from</legend>
          ${(['file', 'microphone'] as const).map((each) => html`<label class="check"><input type="radio" name="way" value=${each} checked=${way === each} onChange=${() => setWay(each)} /> ${each === 'file' ? 'A file' : 'The microphone, scored while you speak'}</label>`)}
        </fieldset>
        <div class="detect-fields">
          <${ModelField} known=${known} model=${model} onModel=${setModel} />
          <${ChoiceField} label="Channels" hint=${channels === 'apart' ? 'The two sides of a call are scored on their own.' : 'All channels are mixed into one.'} value=${channels} choices=${channelChoices} onChoose=${setChannels} />
        </div>
        ${way === 'file' ? html`<${FileForm} known=${known} model=${model} channels=${channels} onSubmitted=${show} />` : html`<${Microphone} model=${model} channels=${channels} onVerified=${show} />`}
      </${Section}>
      ${shown === null ? null : html`<${Result} key=${shown} id=${shown} known=${known} />`}
    </div>`} />
  </${Page}>`;
}

/** The families with their defaults, then every model; removed ones name their replacement. */
function ModelField({
  known: { families, models },
  model,
  onModel,
}: {
  known: Json<DetectionFacts>;
  model: string;
  onModel: (model: string) => void;
}): VNode {
  const defaultOf = (family: string) =>
    models.find((each) => each.family === family && each.isDefault)?.model ?? 'none';
  const chosen = models.find((each) => each.model === model);
  const hint =
    model === 'auto'
      ? 'The recording decides: phone below 16 kHz, and for speech of a telephone at a higher rate.'
      : chosen === undefined
        ? `The default of the family: ${defaultOf(model)}.`
        : `This version, whatever the default is${chosen.release === null ? '' : `; release ${chosen.release}`}.`;
  return html`<${Field} label="Model" hint=${hint}>${(
    ids: object,
  ) => html`<select value=${model} onChange=${({ currentTarget }: { currentTarget: HTMLSelectElement }) => onModel(currentTarget.value)} ...${ids}>
    <option value="auto">auto: the band decides</option>
    ${families.map((family) => html`<option value=${family}>${family}: now ${defaultOf(family)}</option>`)}
    ${families.map((family) => html`<optgroup label=${`${family}, one version`}>${models.filter((each) => each.family === family).map(({ model: name, state, isDefault, replacedBy, isUsable }) => html`<option value=${name} disabled=${state === 'removed' || !isUsable}>${name}${isDefault ? ' (default)' : ''}${state === 'removed' ? ` (removed; ${replacedBy ?? 'nothing'} takes its place)` : isUsable ? '' : ' (its weights are not here)'}</option>`)}</optgroup>`)}
  </select>`}</${Field}>`;
}

interface FileFormProps {
  readonly known: Json<DetectionFacts>;
  readonly model: string;
  readonly channels: Channels;
  readonly onSubmitted: (verification: string) => void;
}

function FileForm({ known: { limits }, model, channels, onSubmitted }: FileFormProps): VNode {
  const [file, setFile] = useState<File | null>(null);
  const [sent, setSent] = useState<number | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isOver, setOver] = useState(false);
  const stopping = useRef<AbortController | null>(null);
  const key = useRef(crypto.randomUUID()); // reused for a retry after a lost connection
  useEffect(() => void (key.current = crypto.randomUUID()), [file, model, channels]);
  useEffect(() => () => stopping.current?.abort(), []);
  const choose = (chosen: File | undefined) => {
    setProblem(null);
    if (chosen !== undefined) setFile(chosen);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    choose(event.dataTransfer?.files[0]);
  };
  const over = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (file === null || sent !== null) return;
    stopping.current = new AbortController();
    setProblem(null);
    setSent(0);
    try {
      const { verification } = await submitRecording(
        { file, model, channels, key: key.current },
        setSent,
        stopping.current.signal,
      );
      key.current = crypto.randomUUID();
      onSubmitted(verification);
    } catch (error) {
      setProblem(asProblem(error));
    }
    setSent(null);
  };
  const isTooLarge = file !== null && file.size > limits.bytesMax;
  return html`<form class="file-form" onSubmit=${submit}>
    <label class=${`drop ${isOver ? 'over' : ''}`} onDragOver=${over} onDragLeave=${() => setOver(false)} onDrop=${drop}>
      <span><strong>Drop a recording here</strong>, or choose it. WAV, FLAC, MP3, Ogg or M4A, up to ${formatBytes(limits.bytesMax)}.</span>
      <input type="file" accept="audio/*,.wav,.flac,.mp3,.ogg,.opus,.m4a" aria-label="File of the recording" onChange=${({ currentTarget }: { currentTarget: HTMLInputElement }) => choose(currentTarget.files?.[0])} />
      <span class="chosen">${file === null ? 'Nothing is chosen.' : `${visible(file.name)}, ${formatBytes(file.size)}`}</span>
    </label>
    ${isTooLarge ? html`<${Notice} kind="bad"><p>The file is larger than ${formatBytes(limits.bytesMax)}. Choose a shorter recording, or submit it with <code>caller-trust verify</code> after AUDIO_BYTES_MAX was raised.</p></${Notice}>` : null}
    ${problem ? html`<${ProblemNotice} problem=${problem} />` : null}
    <div class="actions">
      <button class="primary" disabled=${file === null || sent !== null || isTooLarge}>${sent === null ? 'Verify' : 'Sending …'}</button>
      <span class="sending">${sent === null ? null : html`<progress max="1" value=${sent} aria-label="Sent"></progress> ${Math.round(sent * 100)} % <button type="button" onClick=${() => stopping.current?.abort()}>Stop</button>`}</span>
    </div>
  </form>`;
}

function Result({ id, known }: { id: string; known: Json<DetectionFacts> }): VNode {
  const reading = useLive<LiveVerification>(`/api/verifications/${encodeURIComponent(id)}/live`);
  const model = reading.value?.verification.model;
  const voiceSecondsMin = known.models.find((each) => each.model === model)?.voiceSecondsMin ?? null;
  return html`<${Section} title="Result" actions=${html`<${Link} class="button" href=${`/verifications/${id}`}>Everything about it</${Link}>`}>
    <${Read} reading=${reading} what="the result" show=${(live: Json<LiveVerification>) => html`
      <p class="hint">${visible(live.verification.source)}${live.verification.model === null ? '' : `, by ${live.verification.model}`}</p>
      <${VerificationResult} live=${live} voiceSecondsMin=${voiceSecondsMin} />`} />
  </${Section}>`;
}

/** The request for a recording. */
interface DetectionRequest {
  readonly file: File;
  readonly model: string;
  readonly channels: 'apart' | 'mixed';
  /** Repeated requests with the same key give the same verification. */
  readonly key: string;
}

/**
 * Submits a recording and reports upload progress, which `fetch` does not support.
 * @throws Problem
 */
function submitRecording(
  { file, model, channels, key }: DetectionRequest,
  onSent: (share: number) => void,
  signal: AbortSignal,
): Promise<Json<SubmittedRecording>> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ key, model, channels })) form.set(name, value);
  form.set('file', file);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', '/api/detection');
    request.setRequestHeader('X-CSRF-Token', csrfToken());
    request.upload.addEventListener('progress', ({ loaded, total }) => onSent(total === 0 ? 0 : loaded / total));
    request.addEventListener('load', () => {
      if (request.status === 200) return resolve(JSON.parse(request.responseText) as Json<SubmittedRecording>);
      void readProblem(new Response(request.responseText, { status: request.status })).then(reject);
    });
    request.addEventListener('error', () =>
      reject(
        new Problem({
          status: 0,
          code: 'unreachable',
          detail: 'The recording could not be sent to its end.',
          hint: 'Check the network, and that the file is not larger than the limit; then try again.',
        }),
      ),
    );
    request.addEventListener('abort', () =>
      reject(new Problem({ status: 0, code: 'given_up', detail: 'The upload was stopped.', hint: null })),
    );
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(form);
  });
}
