import type { Json } from '../../answers/json.ts';
import type { ListedDefaultChange, ListedModel, ReportPage, ShownRegistry } from '../../answers/model-answers.ts';
import { Empty, Field, Name, Page, Read, Section, State, Table, type Columns, When } from '../shell/components.ts';
import { basisOf, DriftReportTable } from './model-reports.ts';
import { Paging } from '../shell/list-filters.ts';
import { useReading } from '../shell/reading.ts';
import { goTo, Link, usePlace, withQuery } from '../shell/router.ts';
import { formatCount, visible } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

/** The registry of models, drift reports, and changes of defaults. */
export default function ModelsPage(): VNode {
  const place = usePlace();
  const [release, before] = [place.query.get('release'), place.query.get('before')];
  const registry = useReading<ShownRegistry>(
    `/api/models${release === null ? '' : `?release=${encodeURIComponent(release)}`}`,
  );
  const reports = useReading<ReportPage>(
    `/api/drift-reports?limit=20${before === null ? '' : `&before=${encodeURIComponent(before)}`}`,
  );
  return html`<${Page} title="Models" lead="What recordings are scored with. Each model has a card with its error rates, and with what it must not be used for: read it before you trust a score.">
    <${Section} title="Registry"><${Read} reading=${registry} what="the registry" show=${(value: Json<ShownRegistry>) => html`<${RegistryTable} registry=${value} />`} /></${Section}>
    <${Section} title="Drift reports"><${Read} reading=${reports} what="the reports" show=${({
      reports: rows,
      next,
    }: Json<ReportPage>) => html`
      ${rows.length === 0 ? html`<${Empty} title=${before === null ? 'No two models were compared yet.' : 'No report is older.'}>On the machine of the service: <code>caller-trust models drift phone/v7 phone/v8 --batch ID</code> compares two models on the stored audio of a batch.</${Empty}>` : html`<${DriftReportTable} reports=${rows} />`}
      <${Paging} next=${next} cursor="before" stays isAlwaysShown />`} />
    </${Section}>
    <${Section} title="Defaults that were set here"><${Read} reading=${registry} what="the changes" show=${({ changes }: Json<ShownRegistry>) => html`<${Changes} changes=${changes} />`} /></${Section}>
  </${Page}>`;
}

const modelColumns: Columns<Json<ListedModel>> = [
  ['Model', ({ model }) => html`<${Link} href=${`/models/${model}`}>${model}</${Link}>`],
  [
    'Release',
    ({ release: of, added }) => of ?? html`added here ${added === null ? null : html`<${When} at=${added.at} />`}`,
  ],
  ['State', ({ state, fault }) => html`<${State} name=${fault === null ? state : 'failed'} />`],
  ['Default', ({ isDefault, family }) => (isDefault ? html`<strong>of ${family}</strong>` : '–')],
  [
    'Replaced by',
    ({ replacedBy }) =>
      replacedBy === null ? '–' : html`<${Link} href=${`/models/${replacedBy}`}>${replacedBy}</${Link}>`,
  ],
  ['Parameters', ({ parameters }) => formatCount(parameters), 'number'],
  [
    'Note',
    ({ note, fault, added }) =>
      html`<${Name} text=${fault ?? note ?? (added === null ? '' : `${added.by}: ${added.reason}`)} />`,
  ],
];

function RegistryTable({
  registry: { models, release, newestRelease, voiceprint },
}: {
  registry: Json<ShownRegistry>;
}): VNode {
  return html`<${ReleaseChoice} models=${models} release=${release} newest=${newestRelease} />
    <${Table} caption="Models of the registry" rows=${models} keyOf=${({ model }: Json<ListedModel>) => model} columns=${modelColumns} />
    <p class="hint">Voices are compared by <${Link} href="/models/voiceprint">${voiceprint.model}</${Link}>, which is not in the registry: nothing resolves to it by a family.</p>` as VNode;
}

function ReleaseChoice({
  models,
  release,
  newest,
}: {
  models: readonly Json<ListedModel>[];
  release: string;
  newest: string;
}): VNode {
  const place = usePlace();
  const all = useReading<ShownRegistry>('/api/models');
  const releases = [
    ...new Set([
      newest,
      ...(all.value?.models ?? models).flatMap((model) =>
        [model.release, model.removedIn].flatMap((each) => each ?? []),
      ),
    ]),
  ]
    .sort()
    .reverse();
  return html`<div class="filters"><${Field} label="As of release" hint=${release === newest ? 'Today.' : 'As the registry was then; defaults that were set here count for today only.'}>${(ids: object) => html`<select value=${release} onChange=${({ target }: Event) => goTo(withQuery(place, { release: (target as HTMLSelectElement).value === newest ? null : (target as HTMLSelectElement).value }), { replace: true })} ...${ids}>${releases.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}</select>`}</${Field}></div>`;
}

const changeColumns: Columns<Json<ListedDefaultChange>> = [
  ['Since', ({ since }) => html`<${When} at=${since} />`],
  ['Family', ({ family }) => family],
  [
    'Model',
    ({ model, before }) =>
      html`<${Link} href=${`/models/${model}`}>${model}</${Link}>${before === null ? '' : `, before: ${before}`}`,
  ],
  ['By', ({ setBy }) => html`<${Name} text=${setBy} />`],
  ['Why', ({ reason }) => html`<${Name} text=${visible(reason)} />`],
  ['Rests on', basisOf],
];

function Changes({ changes }: { changes: readonly Json<ListedDefaultChange>[] }): VNode {
  if (changes.length === 0)
    return html`<${Empty} title="No default was set here.">The defaults are those of the registry. <code>caller-trust models default FAMILY MODEL --reason TEXT</code> sets another one, which needs a drift report.</${Empty}>`;
  return html`<${Table} caption="Changes of defaults, newest first" rows=${changes} keyOf=${({ family, since }: Json<ListedDefaultChange>) => `${family} ${since}`} columns=${changeColumns} />`;
}
