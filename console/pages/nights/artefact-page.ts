import type {
  BuildTrend,
  Manifest,
  ArtefactDetail,
  ArtefactVersion,
  ArtefactVersionPage,
} from '../../answers/artefact-answers.ts';
import type { Json } from '../../answers/json.ts';
import { SizesChart } from './artefact-chart.ts';
import { ArtefactCheckSection } from './artefact-check.ts';
import { nameOf } from './artefact-name.ts';
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
import { TrendChart } from './trend-chart.ts';
import { Paging, queryOf } from '../shell/list-filters.ts';
import { useReading } from '../shell/reading.ts';
import { Link, usePlace, type PageProps } from '../shell/router.ts';
import { formatBytes, formatCount, formatSeconds } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

/** An artefact: its manifest, its sizes over time, its deltas, and the actions on its files. */
export default function ArtefactPage({ params }: PageProps): VNode {
  const api = `/api/artefacts/${encodeURIComponent(params['cache']!)}/${encodeURIComponent(params['country']!)}`;
  const reading = useReading<ArtefactDetail>(api);
  const title = nameOf({ cache: params['cache']!, country: params['country'] === '-' ? '' : params['country']! });
  return html`<${Page} title=${title} lead=${html`${reading.value === undefined ? '' : `${reading.value.title}. `}<${Link} href="/artefacts">All artefacts</${Link}>`}
    actions=${reading.value?.manifest ? html`<a class="button" href=${`${api}/file`} download>Download version ${reading.value.manifest.version} (${formatBytes(reading.value.manifest.file.bytes)})</a>` : null}>
    <${Read} reading=${reading} what="the artefact" show=${(
      artefact: Json<ArtefactDetail>,
    ) => html`<div class="nights-parts">
      ${artefact.stale === null ? null : html`<${Stale} artefact=${artefact} />`}
      ${
        artefact.manifest === null
          ? html`<${Empty} title="Nothing was published yet.">Readers get 404 until a night has built it.</${Empty}>`
          : html`
        <${ManifestFacts} artefact=${artefact} manifest=${artefact.manifest} />
        <${BuildTrends} api=${api} />
        <${Versions} api=${api} />
        <${Deltas} api=${api} manifest=${artefact.manifest} />
        <${ArtefactCheckSection} path=${`${api}/check`} lead="Reads the file of each kept version again, with its index, filter and deltas, and compares it with what was published. It continues when you leave this page." />`
      }
    </div>`} />
  </${Page}>`;
}

function Stale({ artefact: { stale, version } }: { artefact: Json<ArtefactDetail> }): VNode | null {
  if (stale === null) return null;
  return html`<${Notice} kind="warn">
    <p><strong>${version === null ? 'Not published' : 'Stale'} since <${When} at=${stale.since} />: <${Name} text=${stale.reason} /></strong> <code>${stale.code}</code></p>
    ${stale.advice === null ? null : html`<p>What to do: ${stale.advice}</p>`}
  </${Notice}>`;
}

function ManifestFacts({ artefact, manifest }: { artefact: Json<ArtefactDetail>; manifest: Json<Manifest> }): VNode {
  const { file, index, filter } = manifest;
  return html`<${Section} title="Manifest"><${Facts} entries=${[
    ['Status', html`<${State} name=${artefact.status} />`],
    ['Version', manifest.version],
    ['Rows', formatCount(artefact.rows)],
    [
      'Levels',
      Object.entries(manifest.levels)
        .map(([level, rows]) => `${level} ${formatCount(rows)}`)
        .join(', '),
    ],
    ['As of', html`<${When} at=${manifest.asOf} />`],
    ['Confirmed as of', html`<${When} at=${artefact.confirmedAsOf} />`],
    ['Built', html`<${When} at=${manifest.builtAt} />`],
    ['Published', html`<${When} at=${artefact.publishedAt} />`],
    ['File', `${formatBytes(file.bytes)}, ${formatBytes(file.plainBytes)} plain`],
    ['Segments', `${formatCount(index.segments)}, index of ${formatBytes(index.bytes)}`],
    ['Filter', filter === null ? null : `${formatBytes(filter.bytes)}, ${filter.fingerprintBits} bits a fingerprint`],
    ['Build', manifest.buildId],
    ['Categories', `version ${manifest.categoriesVersion}`],
    ['Columns', manifest.columns.map(({ name }) => name).join(', ')],
    ['Path for readers', html`<code>${file.href}</code>`],
    ['SHA-256 of the file', html`<code>${file.sha256}</code>`],
    ['SHA-256 of the rows', html`<code>${file.plainSha256}</code>`],
  ]} /></${Section}>`;
}

/** Sizes and durations of the builds of the last 30 days, as small pictures. */
function BuildTrends({ api }: { api: string }): VNode | null {
  const days = useReading<BuildTrend>(`${api}/builds`).value?.days ?? [];
  if (days.length < 2) return null;
  type Day = (typeof days)[number];
  return html`<${Section} title="The last 30 days"><div class="trends">
    <${TrendChart} title="Time to build" days=${days} value=${({ seconds }: Day) => seconds} format=${formatSeconds} />
    <${TrendChart} title="Rows" days=${days} value=${({ rows }: Day) => rows} format=${formatCount} />
    <${TrendChart} title="Bytes" days=${days} value=${({ bytes }: Day) => bytes} format=${formatBytes} />
  </div></${Section}>`;
}

const versionColumns: Columns<Json<ArtefactVersion>> = [
  ['Version', ({ version }) => version, 'number'],
  ['Published', ({ publishedAt }) => html`<${When} at=${publishedAt} />`],
  ['Night', ({ runId }) => html`<${Link} href=${`/nights/${runId}`}>run ${runId}</${Link}>`],
  ['Rows', ({ rows }) => formatCount(rows), 'number'],
  ['Bytes', ({ bytes }) => formatBytes(bytes), 'number'],
  ['Delta to it', ({ delta }) => formatBytes(delta?.bytes), 'number'],
  ['Added', ({ delta }) => formatCount(delta?.added), 'number'],
  ['Changed', ({ delta }) => formatCount(delta?.changed), 'number'],
  ['Removed', ({ delta }) => formatCount(delta?.removed), 'number'],
];

function Versions({ api }: { api: string }): VNode {
  const place = usePlace();
  const reading = useReading<ArtefactVersionPage>(`${api}/versions${queryOf(place.query, ['before'])}`);
  return html`<${Section} title="Versions"><${Read} reading=${reading} what="the versions" show=${({
    versions,
    next,
  }: Json<ArtefactVersionPage>) => html`
    ${versions.length < 2 ? html`<p class="hint">Sizes over time are drawn from the second version on.</p>` : html`<${SizesChart} versions=${versions} />`}
    <${Table} caption="Versions, newest first" rows=${versions} keyOf=${({ version }: Json<ArtefactVersion>) => version} columns=${versionColumns} />
    <${Paging} next=${next} cursor="before" isAlwaysShown />`} /></${Section}>`;
}

function Deltas({ api, manifest: { version, deltas, file } }: { api: string; manifest: Json<Manifest> }): VNode {
  const columns: Columns<Json<Manifest['deltas'][number]>> = [
    ['From version', ({ from }) => from, 'number'],
    ['Bytes', ({ bytes }) => formatBytes(bytes), 'number'],
    ['Of the file', ({ bytes }) => `${((100 * bytes) / file.bytes).toFixed(1)} %`, 'number'],
    ['Added', ({ added }) => formatCount(added), 'number'],
    ['Changed', ({ changed }) => formatCount(changed), 'number'],
    ['Removed', ({ removed }) => formatCount(removed), 'number'],
    ['File', ({ from }) => html`<a href=${`${api}/deltas/${from}`} download>Download from ${from}</a>`],
  ];
  return html`<${Section} title=${`Deltas to version ${version}`}>
    <${Table} caption="Deltas" rows=${deltas} keyOf=${({ from }: Json<Manifest['deltas'][number]>) => from} columns=${columns}
      empty=${html`<${Empty} title="There is no delta.">One is written when a version follows another. Readers take the whole file.</${Empty}>`} />
  </${Section}>`;
}
