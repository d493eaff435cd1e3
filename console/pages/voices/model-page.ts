import type { Json } from '../../answers/json.ts';
import type { DefaultChange, ReportPage, ShownModel } from '../../answers/model-answers.ts';
import {
  Empty,
  Facts,
  Name,
  Notice,
  Page,
  Read,
  Section,
  State,
  Table,
  type Columns,
  When,
} from '../shell/components.ts';
import { ModelCard } from './model-card.ts';
import { basisOf, DriftReportTable } from './model-reports.ts';
import { useReading } from '../shell/reading.ts';
import { Link, type PageProps } from '../shell/router.ts';
import { formatBytes, formatCount } from '../shell/text.ts';
import { html, type Shown, type VNode } from '../shell/view.ts';

/** A model: its facts, its card, and its history. */
export default function ModelPage({ params: { family, version } }: PageProps): VNode {
  const path = `/api/models/${encodeURIComponent(family!)}/${encodeURIComponent(version!)}`;
  const reading = useReading<ShownModel>(path);
  const reports = useReading<ReportPage>(
    `/api/drift-reports?limit=20&model=${encodeURIComponent(`${family}/${version}`)}`,
  );
  return html`<${Page} title=${`Model ${family}/${version}`}>
    <${Read} reading=${reading} what="the model" show=${(model: Json<ShownModel>) => html`<div class="page">
      ${model.state === 'removed' ? html`<${Notice} kind="warn"><p>It was removed in ${model.removedIn}. ${model.replacedBy === null ? 'Nothing takes its place.' : html`<${Link} href=${`/models/${model.replacedBy}`}>${model.replacedBy}</${Link}> takes its place, where it is asked for.`}</p></${Notice}>` : null}
      ${model.fault === null ? null : html`<${Notice} kind="bad"><p>It cannot be used: <${Name} text=${model.fault} /></p></${Notice}>`}
      <${Section} title="Facts"><${Facts} entries=${factsOf(model)} />${model.note === null ? null : html`<p class="lead">${model.note}</p>`}</${Section}>
      ${model.card === null ? html`<${Section} title="Card"><${Empty} title="It has no card here.">${model.state === 'removed' ? 'Its weights are not shipped any more.' : 'Nothing is known of its error rates: evaluate it on recordings of your own before you decide by it.'}</${Empty}></${Section}>` : html`<${ModelCard} card=${model.card} pictures=${path} />`}
      <${Section} title="Default of its family"><${Defaults} changes=${model.defaults} /></${Section}>
    </div>`} />
    <${Section} title="Drift reports"><${Read} reading=${reports} what="the reports" show=${({ reports: rows }: Json<ReportPage>) => (rows.length === 0 ? html`<${Empty} title="It was compared with no other model yet."><code>caller-trust models drift OLD NEW --batch ID</code> does that.</${Empty}>` : html`<${DriftReportTable} reports=${rows} />`)} /></${Section}>
  </${Page}>`;
}

function factsOf({
  family,
  release,
  state,
  isDefault,
  added,
  parameters,
  bytes,
  thresholds,
  manifest,
  manifestSha256,
}: Json<ShownModel>): readonly (readonly [string, Shown])[] {
  return [
    ['State', html`<${State} name=${state} />`],
    ['Release', release ?? 'added here'],
    ['Default', isDefault ? `of ${family}` : 'no'],
    ['Parameters', parameters === null ? null : formatCount(parameters)],
    ['Weights', bytes === null ? null : formatBytes(bytes)],
    [
      'Thresholds',
      thresholds === null
        ? null
        : Object.entries(thresholds)
            .map(([score, value]) => `${score} ${value}`)
            .join(', '),
    ],
    [
      'Sample rate',
      manifest === null
        ? null
        : `${formatCount(manifest.input.sampleRate)} Hz, from ${formatCount(manifest.input.sampleRateMin)} Hz on`,
    ],
    [
      'Windows',
      manifest === null
        ? null
        : `${manifest.input.windowSeconds} s, with ${manifest.minimumVoiceSeconds} s of voice (${manifest.voiceActivity})`,
    ],
    [
      'Added',
      added === null
        ? null
        : html`<${When} at=${added.at} /> by <${Name} text=${added.by} />: <${Name} text=${added.reason} />`,
    ],
    ['Manifest', manifestSha256 === null ? null : html`<code>${manifestSha256.slice(0, 16)}</code>`],
  ];
}

const columns: Columns<Json<DefaultChange>> = [
  ['Since', ({ since }) => html`<${When} at=${since} />`],
  ['Default became', ({ model }) => model],
  ['By', ({ setBy }) => html`<${Name} text=${setBy} />`],
  ['Why', ({ reason }) => html`<${Name} text=${reason} />`],
  ['Rests on', basisOf],
];

function Defaults({ changes }: { changes: readonly Json<DefaultChange>[] }): VNode {
  if (changes.length === 0)
    return html`<${Empty} title="It was never made the default here, nor replaced as the default.">The registry says what the default is.</${Empty}>`;
  return html`<${Table} caption="Changes of the default" rows=${changes} keyOf=${({ since }: Json<DefaultChange>) => since} columns=${columns} />`;
}
