import type { Json } from '../../answers/json.ts';
import type { Enrolled, ShownEnrolmentLimits } from '../../answers/voice-answers.ts';
import { Field, Name, Notice, ProblemNotice } from '../shell/components.ts';
import { asProblem, sendForm, type Problem } from '../shell/request.ts';
import { Link } from '../shell/router.ts';
import { formatBytes, formatSeconds } from '../shell/text.ts';
import { html, useState, type VNode } from '../shell/view.ts';
import { RecordingPicker, recordingsIn, useRecordings } from './voice-recordings.ts';

type Stage =
  | { readonly name: 'filling'; readonly problem: Problem | null }
  | { readonly name: 'sending' }
  | { readonly name: 'enrolled'; readonly enrolled: Json<Enrolled> };

/** Enrols a voice: the person, the consent, and three or more recordings. */
export function EnrolmentForm({
  limits,
  onEnrolled,
}: {
  limits: Json<ShownEnrolmentLimits>;
  onEnrolled: () => void;
}): VNode {
  const [stage, setStage] = useState<Stage>({ name: 'filling', problem: null });
  const recordings = useRecordings(limits.recordingsMax);
  if (stage.name === 'enrolled')
    return html`<${EnrolledNotice} enrolled=${stage.enrolled} onAgain=${() => setStage({ name: 'filling', problem: null })} />`;
  const problem = stage.name === 'filling' ? stage.problem : null;
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    for (const { file } of recordings.chosen) form.append('recording', file, file.name);
    setStage({ name: 'sending' });
    try {
      const enrolled = await sendForm<Enrolled>('/api/voiceprints', form);
      recordings.clear();
      setStage({ name: 'enrolled', enrolled });
      onEnrolled();
    } catch (error) {
      setStage({ name: 'filling', problem: asProblem(error) });
    }
  };
  const missing = limits.recordingsMin - recordings.chosen.length;
  return html`<form class="enrolment" onSubmit=${submit}>
    <${WhoFields} />
    <${ConsentFields} />
    <${RecordingPicker} label="Recordings of this person alone" most=${limits.recordingsMax} recordings=${recordings} wrong=${problem === null ? [] : recordingsIn(problem.message)}
      hint=${`${limits.recordingsMin} to ${limits.recordingsMax}, each with ${limits.recordingVoicedSecondsMin} s of voice, ${limits.voicedSecondsMin} s in all; at most ${formatBytes(limits.fileBytesMax)} together. Different days and devices make a better voiceprint.`} />
    <${Notice}><p>The recordings are read to make the voiceprint, and not kept. Enrol only what you know to be of the person: check it first under AI voice detection, for a voiceprint of a synthesized voice accepts the synthesizer.</p></${Notice}>
    ${problem ? html`<${ProblemNotice} problem=${problem} />` : null}
    <div class="actions"><button class="primary" disabled=${stage.name === 'sending' || missing > 0}>${stage.name === 'sending' ? 'Enrolling …' : 'Enrol'}</button><span class="hint">${missing > 0 ? `${missing} more ${missing === 1 ? 'recording is' : 'recordings are'} needed.` : `Model ${limits.model}.`}</span></div>
  </form>`;
}

function WhoFields(): VNode {
  return html`<div class="voice-fields">
    <${Field} label="For the client" hint="As API keys name it.">${(ids: object) => html`<input name="owner" required maxlength="128" autocomplete="off" ...${ids} />`}</${Field}>
    <${Field} label="Person" hint="A reference that means something to the client alone, such as a customer number. Not a name.">${(ids: object) => html`<input name="subject" required maxlength="128" autocomplete="off" ...${ids} />`}</${Field}>
  </div>`;
}

function ConsentFields(): VNode {
  return html`<fieldset class="consent"><legend>Consent of the person</legend>
    <div class="voice-fields">
      <${Field} label="Where it is kept" hint="A form, a ticket, a recording.">${(ids: object) => html`<input name="consentReference" required maxlength="256" autocomplete="off" ...${ids} />`}</${Field}>
      <${Field} label="Given on" hint="The day, in UTC.">${(ids: object) => html`<input name="consentAt" type="date" required max=${new Date().toISOString().slice(0, 10)} ...${ids} />`}</${Field}>
    </div>
    <label class="consent-covers"><input type="checkbox" name="consentCovers" value="yes" required /> <span>The consent covers that a voiceprint is made of this person’s voice, that it is kept, sealed, until it is deleted, and that later recordings are compared with it.</span></label>
  </fieldset>`;
}

function EnrolledNotice({
  enrolled: { id, subject, recordings, voiceSeconds, agreement },
  onAgain,
}: {
  enrolled: Json<Enrolled>;
  onAgain: () => void;
}): VNode {
  return html`<${Notice} kind="good">
    <p><strong><${Name} text=${subject} /> is enrolled</strong> from ${recordings} recordings with ${formatSeconds(voiceSeconds)} of voice. They agree by ${agreement.mean.toFixed(2)} on average, ${agreement.least.toFixed(2)} at least (cosine of each with the mean of the others). The recordings are not kept.</p>
    <div class="actions"><${Link} class="button" href=${`/voices/${id}`}>Open the voiceprint</${Link}><button type="button" onClick=${onAgain}>Enrol another voice</button></div>
  </${Notice}>`;
}
