import type { Json } from '../../answers/json.ts';
import type { NightBuild, FailureFacts, NightDetail, NightTrend } from '../../answers/night-answers.ts';
import { nameOf, pathOf } from './artefact-name.ts';
import {
  Empty,
  Facts,
  LiveMark,
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
import { NightProgress } from './night-progress.ts';
import { ReleaseFiles, RunNight } from './night-run.ts';
import { NightTimeline } from './night-timeline.ts';
import { describeScope, NightTable } from './nights-page.ts';
import { TrendChart } from './trend-chart.ts';
import { useLive, useReading } from '../shell/reading.ts';
import { mayDo } from '../shell/request.ts';
import { Link, type PageProps } from '../shell/router.ts';
import { formatBytes, formatCount, formatSeconds } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

/** A night: its request, the outcome of each artefact, and the time of each stage. */
export default function NightPage({ params }: PageProps): VNode {
  const path = `/api/nights/${encodeURIComponent(params['run']!)}`;
  const first = useReading<NightDetail>(path);
  const isOpen = first.value !== undefined && first.value.night.state !== 'finished';
  const live = useLive<NightDetail>(isOpen ? `${path}/live` : null);
  const reading = live.value === undefined ? first : live;
  const title =
    reading.value === undefined
      ? `Night, run ${params['run']!}`
      : `Night ${reading.value.night.date}, run ${reading.value.night.runId}`;
  const choices = (reading.value?.builds ?? []).map(nameOf);
  return html`<${Page} title=${title} lead=${html`<${Link} href="/nights">All nights</${Link}>`}
    actions=${mayDo('operator') && reading.value !== undefined ? html`<${RunNight} choices=${choices} only=${reading.value.night.only ?? ''} label=${runLabel(reading.value.night)} />` : null}>
    <${Read} reading=${reading} what="the night" show=${(detail: Json<NightDetail>) => html`<div class="nights-parts">
      ${isOpen ? html`<div class="nights-now"><${LiveMark} isLive=${live.isLive} />${detail.night.state === 'finished' ? html`<span>The night is finished.</span>` : html`<${NightProgress} night=${progressOf(detail)} />`}</div>` : null}
      <${Troubles} detail=${detail} />
      <${NightFacts} detail=${detail} />
      <${Builds} detail=${detail} />
      <${Trend} path=${path} />
      ${detail.builds.length === 0 ? null : html`<${Section} title="Timings"><${NightTimeline} night=${detail.night} builds=${detail.builds} /></${Section}>`}
      ${detail.lapsed.length === 0 ? null : html`<${Lapsed} lapsed=${detail.lapsed} />`}
      ${detail.others.length === 0 ? null : html`<${Section} title=${`Other nights of ${detail.night.date}`}><${NightTable} nights=${detail.others} /></${Section}>`}
    </div>`} />
  </${Page}>`;
}

/** Length and size of the whole nights up to this one, as small pictures. */
function Trend({ path }: { path: string }): VNode | null {
  const days = useReading<NightTrend>(`${path}/trend`).value?.days ?? [];
  if (days.length < 2) return null;
  type Day = (typeof days)[number];
  return html`<${Section} title="The 30 days up to it"><div class="trends">
    <${TrendChart} title="Length of a night" days=${days} value=${({ seconds }: Day) => seconds} format=${formatSeconds} />
    <${TrendChart} title="Rows of all files" days=${days} value=${({ rows }: Day) => rows} format=${formatCount} />
    <${TrendChart} title="Bytes of all files" days=${days} value=${({ bytes }: Day) => bytes} format=${formatBytes} />
  </div></${Section}>`;
}

function progressOf({ night, builds }: Json<NightDetail>): Parameters<typeof NightProgress>[0]['night'] {
  const sum = (count: (build: Json<NightBuild>) => number) => builds.reduce((total, build) => total + count(build), 0);
  return {
    ...night,
    files: builds.length,
    filesEnded: builds.filter(({ state }) => state !== 'pending' && state !== 'running').length,
    rows: sum(({ rows }) => rows ?? 0),
    rowsExpected: sum(({ rowsExpected }) => rowsExpected ?? 0),
  };
}

/** The failures, with advice. */
function Troubles({ detail: { night, builds } }: { detail: Json<NightDetail> }): VNode | null {
  const failed = builds.filter((build) => build.failure !== null);
  if (night.failure === null && failed.length === 0) return null;
  return html`<div>
    ${night.failure === null ? null : html`<${Notice} kind="bad"><${Failure} what="The night could not be opened" failure=${night.failure} /></${Notice}>`}
    ${sameFailures(failed).map(
      ({ failure, names }) => html`<${Notice} key=${names[0]} kind="bad">
      <${Failure} what=${listNames(names)} failure=${failure} />
      ${mayDo('operator') && night.state === 'finished' && names.length === 1 ? html`<${RunNight} choices=${names} only=${names[0]} label=${runLabel(night, names[0])} kind="" />` : null}
      ${mayDo('operator') && isHeld(failure) ? html`<${ReleaseFiles} names=${names} />` : null}
    </${Notice}>`,
    )}
  </div>`;
}

/** The text of the button: it always runs tonight's night, whichever night the page shows. */
function runLabel({ date }: Json<NightDetail>['night'], name?: string): string {
  const what = name === undefined ? 'Run' : `Run ${name}`;
  return date === new Date().toISOString().slice(0, 10) ? `${what} again` : `${what} as today's night`;
}

function isHeld({ code }: Json<FailureFacts>): boolean {
  return code === 'artefact_held' || code === 'artefact_shrunk';
}

/** Groups builds that failed for the same reason: there may be 250. */
function sameFailures(
  failed: readonly Json<NightBuild>[],
): { readonly failure: Json<FailureFacts>; readonly names: string[] }[] {
  const groups = new Map<string, { readonly failure: Json<FailureFacts>; readonly names: string[] }>();
  for (const build of failed) {
    const failure = build.failure!;
    const key = `${failure.code} ${failure.reason}`;
    groups.set(key, { failure, names: [...(groups.get(key)?.names ?? []), nameOf(build)] });
  }
  return [...groups.values()];
}

const namesShownMax = 6;

function listNames(names: readonly string[]): string {
  const more = names.length - namesShownMax;
  return more > 0 ? `${names.slice(0, namesShownMax).join(', ')} and ${more} more` : names.join(', ');
}

function Failure({ what, failure: { code, reason, advice } }: { what: string; failure: Json<FailureFacts> }): VNode {
  return html`<div><p><strong>${what}: <${Name} text=${reason} /></strong> <code>${code}</code></p>${advice === null ? null : html`<p>What to do: ${advice}</p>`}</div>`;
}

function NightFacts({ detail: { night, builds, traceId } }: { detail: Json<NightDetail> }): VNode {
  const count = (state: Json<NightBuild>['state']) => builds.filter((build) => build.state === state).length;
  return html`<${Section} title="The night"><${Facts} entries=${[
    ['Outcome', html`<${State} name=${night.outcome ?? night.state} />`],
    [
      'Files',
      builds.length === 0
        ? 'not counted yet'
        : `${count('published')} published, ${count('unchanged')} unchanged, ${count('failed')} failed, of ${builds.length}`,
    ],
    ['What was asked', describeScope(night)],
    ['Started by', night.trigger === 'schedule' ? 'the schedule' : html`<${Name} text=${night.requestedBy} />`],
    ['Requested', html`<${When} at=${night.requestedAt} />`],
    ['Snapshot', html`<${When} at=${night.asOf} />`],
    ['Scores and brands as of', html`<${When} at=${night.evaluatedAt} />`],
    ['Finished', html`<${When} at=${night.finishedAt} />`],
    ['Attempt (generation)', night.generation],
    ['Trace', traceId && html`<code>${traceId}</code>`],
  ]} /></${Section}>`;
}

const buildColumns: Columns<Json<NightBuild>> = [
  ['Artefact', (build) => html`<${Link} href=${`/artefacts/${pathOf(build)}`}>${nameOf(build)}</${Link}>`],
  [
    'Outcome',
    ({ state, failure }) =>
      html`<${State} name=${state} />${failure === null ? null : html` <code class="night-code">${failure.code}</code>`}`,
  ],
  ['Version', ({ version }) => version ?? '–', 'number'],
  [
    'Rows',
    ({ rows, rowsExpected, builtAt }) =>
      builtAt === null && rows !== null && rowsExpected !== null
        ? `${formatCount(rows)} of ${formatCount(rowsExpected)}`
        : formatCount(rows),
    'number',
  ],
  ['Before', ({ rowsBefore }) => formatCount(rowsBefore), 'number'],
  ['Bytes', ({ bytes }) => formatBytes(bytes), 'number'],
  [
    'Took',
    ({ startedAt, builtAt }) =>
      startedAt === null || builtAt === null
        ? '–'
        : formatSeconds((Date.parse(builtAt) - Date.parse(startedAt)) / 1000),
    'number',
  ],
  ['Attempts', ({ attempts }) => attempts, 'number'],
];

function Builds({ detail: { night, builds } }: { detail: Json<NightDetail> }): VNode {
  if (builds.length === 0)
    return html`<${Section} title="Artefacts"><${Empty} title="No file was counted yet.">${night.state === 'finished' ? 'The night ended before it knew what to build.' : 'They are shown when a worker has opened the night.'}</${Empty}></${Section}>`;
  return html`<${Section} title="Artefacts"><${Table} caption="Artefacts of the night" rows=${builds} keyOf=${nameOf} columns=${buildColumns} /></${Section}>`;
}

const lapsedColumns: Columns<Json<NightDetail>['lapsed'][number]> = [
  [
    'Brand',
    ({ brand }) => html`<${Link} href=${`/brands/${encodeURIComponent(brand)}`}><${Name} text=${brand} /></${Link}>`,
  ],
  ['Numbers', ({ numbers }) => formatCount(numbers), 'number'],
  ['Letter ended', ({ validUntil }) => html`<${When} at=${validUntil} />`],
];

function Lapsed({ lapsed }: { lapsed: Json<NightDetail>['lapsed'] }): VNode {
  return html`<${Section} title="Brands that lapsed"><p>Their numbers left the files, because the letters that named them have ended.</p><${Table} caption="Brands that lapsed" rows=${lapsed} keyOf=${({ brand, validUntil }: Json<NightDetail>['lapsed'][number]) => `${brand} ${validUntil}`} columns=${lapsedColumns} /></${Section}>`;
}
