import type {
  ComparisonPage,
  ShownVoiceprint,
  StoredComparison,
  VoiceVerificationResult,
  VoiceprintRecord,
} from '../../answers/voice-answers.ts';
import {
  Empty,
  Facts,
  Field,
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
import { Paging } from '../shell/list-filters.ts';
import { useReading } from '../shell/reading.ts';
import { ReasonButton } from '../shell/reason-dialog.ts';
import { asProblem, mayDo, sendForm, sendJson, type Problem } from '../shell/request.ts';
import { usePlace, type PageProps } from '../shell/router.ts';
import { asWords, formatCount, formatScore, formatSeconds, visible } from '../shell/text.ts';
import { html, useState, type VNode } from '../shell/view.ts';
import { RecordingPicker, recordingsIn, useRecordings } from './voice-recordings.ts';
import { ComparisonScores, ResultMeanings } from './voice-scores.ts';
import type { Json } from '../../answers/json.ts';
import type { ShownRegistry } from '../../answers/model-answers.ts';

/** A voiceprint: its consent, comparisons with it, and its history. */
export default function VoicePage({ params: { id } }: PageProps): VNode {
  const reading = useReading<ShownVoiceprint>(`/api/voiceprints/${encodeURIComponent(id!)}`);
  const subject = reading.value === undefined ? 'Voiceprint' : `Voice of ${visible(reading.value.subject)}`;
  return html`<${Page} title=${subject} lead="Everything but the voice itself: it is sealed, and nothing shows it." actions=${reading.value && reading.value.deletedAt === null && mayDo('operator') ? html`<${DeleteButton} id=${id!} onDeleted=${reading.readAgain} />` : null}>
    <${Read} reading=${reading} what="the voiceprint" show=${(voiceprint: Json<ShownVoiceprint>) => html`<${VoiceprintParts} voiceprint=${voiceprint} readAgain=${reading.readAgain} />`} />
  </${Page}>`;
}

function VoiceprintParts({
  voiceprint,
  readAgain,
}: {
  voiceprint: Json<ShownVoiceprint>;
  readAgain: () => void;
}): VNode {
  const { id, deletedAt, deletedWhy } = voiceprint;
  const comparisons = useReading<ComparisonPage>(
    `/api/voiceprints/${id}/comparisons${withBefore(usePlace().query.get('before'))}`,
  );
  const compared = () => {
    readAgain();
    comparisons.readAgain();
  };
  return html`<div class="page">
    ${deletedAt === null ? null : html`<${Notice} kind="warn"><p>It was deleted on <${When} at=${deletedAt} />: <${Name} text=${deletedWhy} />. Its key and its bytes are destroyed; consent, history and past results stay.</p></${Notice}>`}
    <${Section} title="Voiceprint"><${VoiceprintFacts} voiceprint=${voiceprint} /></${Section}>
    ${deletedAt === null && mayDo('reviewer') ? html`<${Section} title="Compare a recording"><${ComparisonForm} id=${id} onCompared=${compared} /></${Section}>` : null}
    <${Section} title="Past comparisons"><${Read} reading=${comparisons} what="the comparisons" show=${(page: Json<ComparisonPage>) => html`<${PastComparisons} page=${page} />`} /></${Section}>
    <${Section} title="History"><${History} events=${voiceprint.events} leftOut=${voiceprint.eventsLeftOut} /></${Section}>
  </div>`;
}

const withBefore = (before: string | null) => (before === null ? '' : `?before=${encodeURIComponent(before)}`);

function VoiceprintFacts({
  voiceprint: { id, owner, subject, model, recordings, voiceSeconds, consent, enrolledAt, verifications, deletedAt },
}: {
  voiceprint: Json<VoiceprintRecord>;
}): VNode {
  return html`<${Facts} entries=${[
    ['Person', html`<${Name} text=${subject} />`],
    ['Owner', html`<${Name} text=${owner} />`],
    ['State', html`<${State} name=${deletedAt === null ? 'enrolled' : 'deleted'} />`],
    ['Enrolled', html`<${When} at=${enrolledAt} />`],
    ['Made of', `${formatCount(recordings)} recordings, ${formatSeconds(voiceSeconds)} of voice; they were not kept`],
    ['Model', model],
    ['Comparisons', formatCount(verifications)],
    ['Consent', html`<${Name} text=${consent.reference} />`],
    ['Consent given', html`<${When} at=${consent.at} />`],
    ['Consent entered by', html`<${Name} text=${consent.recordedBy} />`],
    ['Id', html`<code>${id}</code>`],
  ]} />`;
}

type Stage =
  | { readonly name: 'ready'; readonly problem: Problem | null }
  | { readonly name: 'comparing' }
  | { readonly name: 'compared'; readonly result: Json<VoiceVerificationResult> };

function ComparisonForm({ id, onCompared }: { id: string; onCompared: () => void }): VNode {
  const models = useReading<ShownRegistry>('/api/models');
  const recordings = useRecordings(1);
  const [model, setModel] = useState('auto');
  const [stage, setStage] = useState<Stage>({ name: 'ready', problem: null });
  const [recording] = recordings.chosen;
  const compare = async (event: SubmitEvent) => {
    event.preventDefault();
    if (recording === undefined) return;
    const form = new FormData();
    form.append('model', model);
    form.append('recording', recording.file, recording.file.name);
    setStage({ name: 'comparing' });
    try {
      setStage({
        name: 'compared',
        result: await sendForm<VoiceVerificationResult>(`/api/voiceprints/${id}/comparisons`, form),
      });
      onCompared();
    } catch (error) {
      setStage({ name: 'ready', problem: asProblem(error) });
    }
  };
  const problem = stage.name === 'ready' ? stage.problem : null;
  return html`<form class="comparison-form" onSubmit=${compare}>
    <${RecordingPicker} label="Recording to compare" hint="One person’s voice, some seconds of it. The recording is read, and not kept; its digest is." most=${1} recordings=${recordings} wrong=${problem === null ? [] : recordingsIn(problem.message)} />
    <${Field} label="Model of authenticity" hint="For synthesis and replay; auto chooses the family by the band of the recording.">${(ids: object) => html`<select value=${model} onChange=${({ target }: Event) => setModel((target as HTMLSelectElement).value)} ...${ids}><${ModelOptions} list=${models.value} /></select>`}</${Field}>
    ${problem ? html`<${ProblemNotice} problem=${problem} />` : null}
    <div class="actions"><button class="primary" disabled=${recording === undefined || stage.name === 'comparing'}>${stage.name === 'comparing' ? 'Comparing …' : 'Compare'}</button></div>
    ${stage.name === 'compared' ? html`<${ComparisonScores} result=${stage.result} />` : null}
    <${ResultMeanings} />
  </form>`;
}

const comparisonColumns: Columns<Json<StoredComparison>> = [
  ['When', ({ verifiedAt }) => html`<${When} at=${verifiedAt} />`],
  ['Result', ({ decision }) => (decision === null ? '–' : html`<${State} name=${decision.label} />`)],
  ['Identity', ({ identity, reason, decision }) => scoreText(identity, decision?.identityThreshold, reason), 'number'],
  [
    'Synthesis',
    ({ decision }) =>
      scoreText(decision?.scores?.synthesis, decision?.thresholds?.synthesis, decision?.authenticityReason),
    'number',
  ],
  [
    'Replay',
    ({ decision }) => scoreText(decision?.scores?.replay, decision?.thresholds?.replay, decision?.authenticityReason),
    'number',
  ],
  ['Model', ({ decision }) => decision?.model ?? '–'],
  ['By', ({ verifiedBy }) => html`<${Name} text=${verifiedBy} />`],
];

function PastComparisons({ page: { comparisons, next } }: { page: Json<ComparisonPage> }): VNode {
  const place = usePlace();
  const before = place.query.get('before');
  if (comparisons.length === 0 && before === null)
    return html`<${Empty} title="No recording was compared yet.">${mayDo('reviewer') ? 'Choose one above.' : 'A reviewer compares one.'}</${Empty}>`;
  return html`<${Table} caption="Comparisons, newest first" rows=${comparisons} keyOf=${({ verificationId }: Json<StoredComparison>) => verificationId} columns=${comparisonColumns} />
    <${Paging} next=${next} cursor="before" stays isAlwaysShown />` as VNode;
}

function scoreText(
  score: number | null | undefined,
  threshold: number | null | undefined,
  reason: string | null | undefined,
): string {
  if (score === null || score === undefined) return reason ? asWords(reason) : '–';
  return `${formatScore(score)} (${score >= (threshold ?? 0) ? '≥' : '<'} ${formatScore(threshold)})`;
}

const eventColumns: Columns<Json<ShownVoiceprint['events'][number]>> = [
  ['When', ({ at }) => html`<${When} at=${at} />`],
  ['What', ({ action }) => action],
  ['Who', ({ actor }) => html`<${Name} text=${actor} />`],
  ['Why', ({ reason }) => html`<${Name} text=${reason} />`],
];

function History({
  events,
  leftOut,
}: {
  events: readonly Json<ShownVoiceprint['events'][number]>[];
  leftOut: number;
}): VNode {
  return html`<${Table} caption="History of the voiceprint" rows=${events} keyOf=${({ eventId }: Json<ShownVoiceprint['events'][number]>) => eventId} columns=${eventColumns} />
    ${leftOut > 0 ? html`<p class="hint">${formatCount(leftOut)} older comparisons are left out here; the list above has them.</p>` : null}` as VNode;
}

function DeleteButton({ id, onDeleted }: { id: string; onDeleted: () => void }): VNode {
  const destroy = async (reason: string) => {
    await sendJson('DELETE', `/api/voiceprints/${id}`, { reason });
    onDeleted();
  };
  return html`<${ReasonButton} label="Delete" title="Delete the voiceprint" confirm="Delete permanently" isDanger=${true} act=${destroy}>
    <p>Its key and its bytes are destroyed permanently. Consent, history and past results stay. Backups made before hold it until they age out.</p>
  </${ReasonButton}>`;
}

/** The selectable models: auto, a family, or a version; removed ones name their replacement. */
function ModelOptions({ list }: { list: Json<ShownRegistry> | undefined }): VNode {
  const models = list?.models ?? [];
  const families = models.filter(({ isDefault }) => isDefault);
  return html`<option value="auto">auto, by the band</option>
    ${families.map(({ family, model }) => html`<option key=${family} value=${family}>${family}, now ${model}</option>`)}
    ${models.map(({ model, state, replacedBy, fault }) => html`<option key=${model} value=${model} disabled=${state === 'removed' || fault !== null}>${model}${state === 'removed' ? `, removed: ${replacedBy ?? 'nothing'} takes its place` : fault === null ? '' : ', not usable'}</option>`)}` as VNode;
}
