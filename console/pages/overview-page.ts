import type { Json } from '../answers/json.ts';
import type { NightHistory } from '../answers/night-answers.ts';
import type { Attention, CacheStanding, Overview } from '../answers/overview-answers.ts';
import { NightProgress } from './nights/night-progress.ts';
import { NavigationLink, navigationFor } from './navigation.ts';
import { Facts, Page, Read, Section, State, Table, type Columns, When } from './shell/components.ts';
import { useLive, useReading } from './shell/reading.ts';
import { currentSession } from './shell/request.ts';
import { Link } from './shell/router.ts';
import { formatBytes, formatCount, formatSeconds } from './shell/text.ts';
import { html, useEffect, type VNode } from './shell/view.ts';
import { TrendChart } from './nights/trend-chart.ts';

/** The first page. For the people of the service: is all well, and what waits. For an agency: its pages. */
export default function OverviewPage(): VNode {
  const { user } = currentSession();
  return user.role === 'agency' ? html`<${AgencyStart} />` : html`<${OperatorStart} />`;
}

function AgencyStart(): VNode {
  const { user } = currentSession();
  return html`<${Page} title="Caller Trust" lead=${`You act for ${user.owners.join(', ')}.`}>
    <div class="cards">${navigationFor(user.role).map(({ title, links }) => html`<section class="card"><h2>${title}</h2><ul class="plain">${links.map((link) => html`<li><${NavigationLink} link=${link} /></li>`)}</ul></section>`)}</div>
  </${Page}>`;
}

function OperatorStart(): VNode {
  const reading = useReading<Overview>('/api/overview');
  const live = useLive<NightHistory>('/api/nights/live');
  const open = live.value?.nights.filter(({ state }) => state !== 'finished') ?? [];
  // A night that begins or ends changes nearly all of this page.
  const nightsSeen = live.value?.nights.map(({ runId, state }) => `${runId} ${state}`).join();
  useEffect(() => {
    if (nightsSeen !== undefined && reading.value !== undefined) reading.readAgain();
  }, [nightsSeen]);
  const { value } = reading;
  return html`<${Page} title=${value === undefined ? 'Overview' : verdictOf(value.attention)} lead=${value === undefined ? 'Is all well?' : html`As of <${When} at=${value.at} />`}
    actions=${html`<button type="button" onClick=${reading.readAgain}>Read again</button>`}>
    <${Read} reading=${reading} what="the overview" show=${(overview: Json<Overview>) => html`<div class="overview">
      ${overview.attention.length === 0 ? null : html`<${Attentions} all=${overview.attention} />`}
      <div class="overview-cards">
        <${Night} overview=${overview} open=${open} />
        <${Waiting} overview=${overview} />
        <${Feeds} overview=${overview} />
        <${Queues} overview=${overview} />
      </div>
      <${Caches} caches=${overview.caches} />
      <${Trends} overview=${overview} />
    </div>`} />
  </${Page}>`;
}

function verdictOf(attention: readonly Json<Attention>[]): string {
  const bad = attention.filter(({ severity }) => severity === 'bad').length;
  if (bad > 0) return bad === 1 ? 'Something is wrong' : `${bad} things are wrong`;
  return attention.length === 0 ? 'All is well' : 'All is well; some things wait for a person';
}

function Attentions({ all }: { all: readonly Json<Attention>[] }): VNode {
  return html`<ul class="attention" aria-label="What needs attention">${all.map(
    ({ severity, title, detail, href }) =>
      html`<li class=${severity}><${Link} href=${href}>${title}</${Link}><span>${detail}</span></li>`,
  )}</ul>`;
}

function Night({
  overview: { lastNight },
  open,
}: {
  overview: Json<Overview>;
  open: readonly Json<NightHistory>['nights'][number][];
}): VNode {
  return html`<section class="card"><h2><${Link} href="/nights">Nights</${Link}></h2>
    ${open.map((night) => html`<${NightProgress} key=${night.runId} night=${night} href=${`/nights/${night.runId}`} />`)}
    ${
      lastNight === null
        ? html`<p>None yet.</p>`
        : html`<${Facts} entries=${[
            [
              'Last',
              html`<${Link} href=${`/nights/${lastNight.runId}`}>${lastNight.date}, run ${lastNight.runId}</${Link}>`,
            ],
            ['Outcome', html`<${State} name=${lastNight.outcome ?? lastNight.state} />`],
            ['Ended', html`<${When} at=${lastNight.finishedAt} />`],
            ['Files', `${formatCount(lastNight.files - lastNight.filesFailed)} of ${formatCount(lastNight.files)}`],
          ]} />`
    }
  </section>`;
}

function Waiting({ overview: { waiting } }: { overview: Json<Overview> }): VNode {
  const lines = [
    ['letters', waiting.letters, '/review'],
    ['brands', waiting.brands, '/review'],
    ['disputes', waiting.disputes, '/disputes'],
  ] as const;
  return html`<section class="card"><h2>Waiting for a person</h2><${Facts} entries=${lines.map(([name, count, href]) => [name, html`<${Link} href=${href}>${formatCount(count)}</${Link}>`])} /></section>`;
}

function Feeds({ overview: { feeds } }: { overview: Json<Overview> }): VNode {
  return html`<section class="card"><h2><${Link} href="/feeds">Feeds</${Link}></h2>
    ${feeds.length === 0 ? html`<p>None has come yet.</p>` : html`<${Facts} entries=${feeds.map(({ feed, source, lastAt, late }) => [source === '' ? feed : `${feed}/${source}`, html`<${When} at=${lastAt} /> <${State} name=${late ? 'late' : 'in_time'} />`])} />`}
  </section>`;
}

function Queues({ overview: { queues } }: { overview: Json<Overview> }): VNode {
  const sum = (of: (queue: Json<Overview>['queues'][number]) => number) =>
    formatCount(queues.reduce((all, queue) => all + of(queue), 0));
  const without = queues.filter(({ workers }) => workers === 0).length;
  return html`<section class="card"><h2>Queues</h2><${Facts} entries=${[
    ['Running', sum(({ counts }) => counts.active)],
    ['Waiting', sum(({ counts }) => counts.waiting + counts.delayed)],
    ['Failed', sum(({ counts }) => counts.failed)],
    ['Workers', without === 0 ? 'on every queue' : `on ${queues.length - without} of ${queues.length} queues`],
  ]} /></section>`;
}

const cacheColumns: Columns<Json<CacheStanding>> = [
  ['Cache', ({ title }) => html`<${Link} href="/artefacts">${title}</${Link}>`],
  [
    'State',
    ({ files, stale }) => html`<${State} name=${files === 0 ? 'unpublished' : stale === 0 ? 'fresh' : 'stale'} />`,
  ],
  ['Files', ({ files }) => formatCount(files), 'number'],
  ['Of an earlier night', ({ stale }) => formatCount(stale), 'number'],
  ['Rows', ({ rows }) => formatCount(rows), 'number'],
  ['Bytes', ({ bytes }) => formatBytes(bytes), 'number'],
  ['Oldest snapshot', ({ oldestAsOf }) => html`<${When} at=${oldestAsOf} />`],
];

function Caches({ caches }: { caches: readonly Json<CacheStanding>[] }): VNode {
  return html`<${Section} title="Caches"><${Table} caption="The files of each cache" rows=${caches} keyOf=${({ cache }: Json<CacheStanding>) => cache} columns=${cacheColumns} /></${Section}>`;
}

function Trends({ overview: { trend } }: { overview: Json<Overview> }): VNode {
  return html`<${Section} title="The last 30 days">
    ${
      trend.length < 2
        ? html`<p class="hint">Trends are drawn from the second day with a whole night on.</p>`
        : html`<div class="trends">
            <${TrendChart} title="Rows of all files" days=${trend} value=${({ rows }: Day) => rows} format=${formatCount} />
            <${TrendChart} title="Labels SPAM" days=${trend} value=${({ spam }: Day) => spam} format=${formatCount} />
            <${TrendChart} title="Labels FRAUD" days=${trend} value=${({ fraud }: Day) => fraud} format=${formatCount} />
            <${TrendChart} title="Length of a night" days=${trend} value=${({ seconds }: Day) => seconds} format=${formatSeconds} />
          </div>`
    }
  </${Section}>`;
}

type Day = Json<Overview>['trend'][number];
