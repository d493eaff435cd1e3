import type { Manifest, ArtefactDetail, ArtefactVersion } from '../../answers/artefact-answers.ts';
import type { Json } from '../../answers/json.ts';
import { SizesChart } from './artefact-chart.ts';
import { ArtefactCheckSection } from './artefact-check.ts';
import { nameOf } from './artefact-name.ts';
import { Empty, Facts, Name, Notice, Page, Pager, Read, Section, State, Table, When } from '../shell/components.ts';
import { useReading } from '../shell/reading.ts';
import { goTo, Link, usePlace, withQuery, type PageProps } from '../shell/router.ts';
import { formatBytes, formatCount } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

/** An artefact: its manifest, its sizes over time, its deltas, and the actions on its files. */
export default function ArtefactPage({ params, query }: PageProps): VNode {
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
          ? html`<${Empty} title="Nothing was published yet.">Readers are answered 404 until a night has built it.</${Empty}>`
          : html`
        <${ManifestFacts} artefact=${artefact} manifest=${artefact.manifest} />
        <${Versions} api=${api} before=${query.get('before')} />
        <${Deltas} api=${api} manifest=${artefact.manifest} />
        <${ArtefactCheckSection} path=${`${api}/check`} lead="Reads the file of each kept version again, with its index and deltas, and compares it with what was published. It goes on when this page is left." />`
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
  const { file, index } = manifest;
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
    ['Segments', index === null ? null : `${formatCount(index.segments)}, index of ${formatBytes(index.bytes)}`],
    ['Build', manifest.buildId],
    ['Categories', `version ${manifest.categoriesVersion}`],
    ['Columns', manifest.columns.map(({ name }) => name).join(', ')],
    ['Path for readers', html`<code>${file.href}</code>`],
    ['SHA-256 of the file', html`<code>${file.sha256}</code>`],
    ['Content digest', html`<code>${file.contentSha256}</code>`],
    ['CRC-32 of the rows', html`<code>${file.plainCrc32}</code>`],
  ]} /></${Section}>`;
}

function Versions({ api, before }: { api: string; before: string | null }): VNode {
  const place = usePlace();
  const reading = useReading<{ versions: ArtefactVersion[]; next: string | null }>(
    `${api}/versions${before === null ? '' : `?before=${encodeURIComponent(before)}`}`,
  );
  return html`<${Section} title="Versions"><${Read} reading=${reading} what="the versions" show=${({
    versions,
    next,
  }: {
    versions: Json<ArtefactVersion>[];
    next: string | null;
  }) => html`
    ${versions.length < 2 ? html`<p class="hint">Sizes over time are drawn from the second version on.</p>` : html`<${SizesChart} versions=${versions} />`}
    <${Table} caption="Versions, newest first" rows=${versions} keyOf=${({ version }: Json<ArtefactVersion>) => version} columns=${[
      { title: 'Version', isNumber: true, show: ({ version }: Json<ArtefactVersion>) => version },
      { title: 'Published', show: ({ publishedAt }: Json<ArtefactVersion>) => html`<${When} at=${publishedAt} />` },
      {
        title: 'Night',
        show: ({ runId }: Json<ArtefactVersion>) => html`<${Link} href=${`/nights/${runId}`}>run ${runId}</${Link}>`,
      },
      { title: 'Rows', isNumber: true, show: ({ rows }: Json<ArtefactVersion>) => formatCount(rows) },
      { title: 'Bytes', isNumber: true, show: ({ bytes }: Json<ArtefactVersion>) => formatBytes(bytes) },
      { title: 'Delta to it', isNumber: true, show: ({ delta }: Json<ArtefactVersion>) => formatBytes(delta?.bytes) },
      { title: 'Added', isNumber: true, show: ({ delta }: Json<ArtefactVersion>) => formatCount(delta?.added) },
      { title: 'Changed', isNumber: true, show: ({ delta }: Json<ArtefactVersion>) => formatCount(delta?.changed) },
      { title: 'Removed', isNumber: true, show: ({ delta }: Json<ArtefactVersion>) => formatCount(delta?.removed) },
    ]} />
    <${Pager} next=${next} isFirst=${before === null} onFirst=${() => goTo(withQuery(place, { before: null }))} onNext=${(to: string) => goTo(withQuery(place, { before: to }))} />`} /></${Section}>`;
}

function Deltas({ api, manifest: { version, deltas, file } }: { api: string; manifest: Json<Manifest> }): VNode {
  return html`<${Section} title=${`Deltas to version ${version}`}>
    ${
      deltas.length === 0
        ? html`<${Empty} title="There is no delta.">One is written when a version follows another. Readers take the whole file.</${Empty}>`
        : html`<${Table} caption="Deltas" rows=${deltas} keyOf=${({ from }: Json<Manifest['deltas'][number]>) => from} columns=${[
            { title: 'From version', isNumber: true, show: ({ from }: Json<Manifest['deltas'][number]>) => from },
            {
              title: 'Bytes',
              isNumber: true,
              show: ({ bytes }: Json<Manifest['deltas'][number]>) => formatBytes(bytes),
            },
            {
              title: 'Of the file',
              isNumber: true,
              show: ({ bytes }: Json<Manifest['deltas'][number]>) => `${((100 * bytes) / file.bytes).toFixed(1)} %`,
            },
            {
              title: 'Added',
              isNumber: true,
              show: ({ added }: Json<Manifest['deltas'][number]>) => formatCount(added),
            },
            {
              title: 'Changed',
              isNumber: true,
              show: ({ changed }: Json<Manifest['deltas'][number]>) => formatCount(changed),
            },
            {
              title: 'Removed',
              isNumber: true,
              show: ({ removed }: Json<Manifest['deltas'][number]>) => formatCount(removed),
            },
            {
              title: 'File',
              show: ({ from }: Json<Manifest['deltas'][number]>) =>
                html`<a href=${`${api}/deltas/${from}`} download>Download from ${from}</a>`,
            },
          ]} />`
    }
  </${Section}>`;
}
