import type { Json } from '../../answers/json.ts';
import type { ShownEnrolmentLimits, VoiceprintPage, VoiceprintRecord } from '../../answers/voice-answers.ts';
import {
  Empty,
  Name,
  Page,
  Read,
  Section,
  State,
  Table,
  type Columns,
  When,
  ChoiceField,
} from '../shell/components.ts';
import { Paging, TextFilter } from '../shell/list-filters.ts';
import { useReading } from '../shell/reading.ts';
import { mayDo } from '../shell/request.ts';
import { goTo, Link, usePlace, withQuery } from '../shell/router.ts';
import { formatCount, formatSeconds } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';
import { EnrolmentForm } from './voice-enrolment.ts';

/** The enrolled voices, and the form that enrols one. */
export default function VoicesPage(): VNode {
  const place = usePlace();
  const [owner, deleted, before, isEnrolling] = [
    place.query.get('owner') ?? '',
    place.query.get('deleted') === 'true',
    place.query.get('before'),
    place.query.get('enrol') === '1',
  ];
  const list = useReading<VoiceprintPage>(listPath({ owner, deleted, before }));
  const limits = useReading<ShownEnrolmentLimits>(isEnrolling ? '/api/voiceprint-limits' : null);
  const open = () => goTo(withQuery(place, { enrol: isEnrolling ? null : '1' }));
  const actions = mayDo('reviewer')
    ? html`<button type="button" class=${isEnrolling ? '' : 'primary'} aria-expanded=${isEnrolling ? 'true' : 'false'} onClick=${open}>${isEnrolling ? 'Close the form' : 'Enrol a voice'}</button>`
    : null;
  return html`<${Page} title="Voice Authentication" lead="A voiceprint is a person’s voice as numbers, sealed. A later recording is compared with it: identity, synthesis and replay. Recordings are read, and not kept." actions=${actions}>
    ${isEnrolling && mayDo('reviewer') ? html`<${Section} title="Enrol a voice"><${Read} reading=${limits} what="the limits" show=${(value: Json<ShownEnrolmentLimits>) => html`<${EnrolmentForm} limits=${value} onEnrolled=${list.readAgain} />`} /></${Section}>` : null}
    <${Section} title="Voiceprints">
      <${Filters} deleted=${deleted} />
      <${Read} reading=${list} what="the voiceprints" show=${({ voiceprints, next }: Json<VoiceprintPage>) => html`
        ${voiceprints.length === 0 ? html`<${Empty} title=${owner || deleted || before ? 'No voiceprint is like this.' : 'No voice is enrolled yet.'}>${owner || deleted || before ? 'Change the filter, or go to the start of the list.' : 'A reviewer enrols one with three recordings of a person and their consent, here or with `caller-trust voice enrol`.'}</${Empty}>` : html`<${VoiceprintTable} voiceprints=${voiceprints} />`}
        <${Paging} next=${next} cursor="before" isAlwaysShown />`} />
    </${Section}>
  </${Page}>`;
}

function listPath({ owner, deleted, before }: { owner: string; deleted: boolean; before: string | null }): string {
  const query = new URLSearchParams({
    deleted: String(deleted),
    ...(owner === '' ? {} : { owner }),
    ...(before === null ? {} : { before }),
  });
  return `/api/voiceprints?${query.toString()}`;
}

const deletedChoices = [
  ['false', 'leave out'],
  ['true', 'show too'],
];

function Filters({ deleted }: { deleted: boolean }): VNode {
  const place = usePlace();
  const choose = (chosen: string) =>
    goTo(withQuery(place, { before: null, deleted: chosen === 'true' ? 'true' : null }), { replace: true });
  return html`<div class="voice-fields">
    <${TextFilter} name="owner" label="Owner" hint="The client’s name, whole." maxlength=${128} />
    <${ChoiceField} label="Deleted ones" value=${String(deleted)} choices=${deletedChoices} onChoose=${choose} />
  </div>`;
}

const columns: Columns<Json<VoiceprintRecord>> = [
  ['Person', ({ id, subject }) => html`<${Link} href=${`/voices/${id}`}><${Name} text=${subject} /></${Link}>`],
  ['Owner', ({ owner }) => html`<${Name} text=${owner} />`],
  ['State', ({ deletedAt }) => html`<${State} name=${deletedAt === null ? 'enrolled' : 'deleted'} />`],
  ['Recordings', ({ recordings }) => formatCount(recordings), 'number'],
  ['Voice', ({ voiceSeconds }) => formatSeconds(voiceSeconds), 'number'],
  ['Comparisons', ({ verifications }) => formatCount(verifications), 'number'],
  ['Enrolled', ({ enrolledAt }) => html`<${When} at=${enrolledAt} />`],
  ['Model', ({ model }) => model],
];

function VoiceprintTable({ voiceprints }: { voiceprints: readonly Json<VoiceprintRecord>[] }): VNode {
  return html`<${Table} caption="List of voiceprints" rows=${voiceprints} keyOf=${({ id }: Json<VoiceprintRecord>) => id} columns=${columns} />`;
}
