import type { Json } from '../../answers/json.ts';
import type { NightHistory, NightSummary } from '../../answers/night-answers.ts';
import { nameOf } from './artefact-name.ts';
import { Empty, LiveMark, Name, Page, Read, Section, State, Table, type Columns, When } from '../shell/components.ts';
import { NightGrid } from './night-grid.ts';
import { NightProgress } from './night-progress.ts';
import { RunNight } from './night-run.ts';
import { Paging, queryOf } from '../shell/list-filters.ts';
import { useLive, useReading } from '../shell/reading.ts';
import { mayDo } from '../shell/request.ts';
import { goTo, Link, usePlace, withQuery } from '../shell/router.ts';
import { formatCount, formatSeconds } from '../shell/text.ts';
import { html, useEffect, type Shown, type VNode } from '../shell/view.ts';

/** The outcome of each artefact on each day. */
export default function NightsPage(): VNode {
  const place = usePlace();
  const before = place.query.get('before');
  const reading = useReading<NightHistory>(`/api/nights${queryOf(place.query, ['before'])}`);
  const live = useLive<NightHistory>(before === null ? '/api/nights/live' : null);
  const isNextDay =
    reading.value !== undefined && live.value !== undefined && reading.value.days[0] !== live.value.days[0];
  useEffect(() => {
    if (isNextDay) reading.readAgain();
  }, [isNextDay]);
  const choices = artefactsOf(reading.value);
  return html`<${Page} title="Nights" lead="The outcome of each artefact, night by night. Days are those of the nights, in UTC, the newest first."
    actions=${mayDo('operator') ? html`<${RunNight} choices=${choices} label="Run a night" />` : null}>
    <${Read} reading=${reading} what="the history" show=${(history: Json<NightHistory>) => html`
      ${before === null ? html`<${Running} history=${live.value ?? history} isLive=${live.isLive} />` : null}
      <${History} history=${before === null && live.value !== undefined ? withLastDays(history, live.value) : history} />
      <${Paging} next=${history.next} cursor="before" isAlwaysShown />`} />
  </${Page}>`;
}

/** The history, with live values for its last days. */
function withLastDays(history: Json<NightHistory>, last: Json<NightHistory>): Json<NightHistory> {
  const followed = new Map(last.rows.map((row) => [nameOf(row), row]));
  const known = new Set(history.rows.map(nameOf));
  const added = last.rows
    .filter((row) => !known.has(nameOf(row)))
    .map((row) => ({ ...row, cells: history.days.map(() => null) }));
  const rows = [...history.rows, ...added].map((row) => ({
    ...row,
    cells: row.cells.map((cell, at) =>
      last.days.includes(history.days[at]!)
        ? (followed.get(nameOf(row))?.cells[last.days.indexOf(history.days[at]!)] ?? null)
        : cell,
    ),
  }));
  const nights = [...last.nights, ...history.nights.filter(({ date }) => !last.days.includes(date))].sort(
    (a, b) => b.runId - a.runId,
  );
  return { ...history, rows: rows.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)), nights, isOpen: last.isOpen };
}

function artefactsOf(history: Json<NightHistory> | undefined): string[] {
  return (history?.rows ?? []).map(nameOf);
}

/** The progress of open nights; the line stays while none is open. */
function Running({ history: { nights }, isLive }: { history: Json<NightHistory>; isLive: boolean }): VNode {
  const open = nights.filter(({ state }) => state !== 'finished');
  return html`<div class="nights-now">
    <${LiveMark} isLive=${isLive} />
    ${open.length === 0 ? html`<span>No night is running.</span>` : open.map((night) => html`<${NightProgress} key=${night.runId} night=${night} href=${`/nights/${night.runId}`} />`)}
  </div>`;
}

function History({ history }: { history: Json<NightHistory> }): VNode {
  const place = usePlace();
  const [cache, onlyBad] = [place.query.get('cache') ?? '', place.query.get('trouble') === 'yes'];
  const caches = [...new Set(history.rows.map((row) => row.cache))];
  const rows = history.rows.filter(
    (row) =>
      (cache === '' || row.cache === cache) &&
      (!onlyBad || row.cells.some((cell) => cell?.state === 'stale' || cell?.state === 'failed')),
  );
  const days = history.next === null ? history.days.slice(0, daysKnown(history)) : history.days;
  const change = (changes: Record<string, string | null>) => goTo(withQuery(place, changes), { replace: true });
  if (history.rows.length === 0 && history.nights.length === 0)
    return html`<${Empty} title=${place.query.has('before') ? 'There was no night in these days.' : 'There was no night in the last 30 days.'}>The scheduler runs one every night; an operator can run one now.</${Empty}>`;
  return html`<div class="nights-parts">
    <${Section} title="History">
      <div class="filters nights-filters">
        <label>Cache <select value=${cache} onChange=${(event: Event) => change({ cache: (event.target as HTMLSelectElement).value })}>
          <option value="">All</option>${caches.map((name) => html`<option value=${name}>${name}</option>`)}
        </select></label>
        <label class="nights-check"><input type="checkbox" checked=${onlyBad} onChange=${(event: Event) => change({ trouble: (event.target as HTMLInputElement).checked ? 'yes' : null })} /> Only with a failure</label>
      </div>
      ${rows.length === 0 ? html`<${Empty} title="No artefact matches.">${onlyBad ? 'None failed in these days.' : 'Choose another cache.'}</${Empty}>` : html`<${NightGrid} days=${days} rows=${rows.map((row) => ({ ...row, cells: row.cells.slice(0, days.length) }))} />`}
    </${Section}>
    <${Section} title="Nights of these days"><${NightTable} nights=${history.nights} /></${Section}>
  </div>`;
}

/** Days until the first night of all, at least a week's: those before it would be empty. */
function daysKnown({ rows }: Json<NightHistory>): number {
  return Math.max(7, ...rows.map(({ cells }) => cells.findLastIndex((cell) => cell !== null) + 1));
}

const columns: Columns<Json<NightSummary>> = [
  [
    'Night',
    ({ date, runId }) => html`<${Link} class="night-name" href=${`/nights/${runId}`}>${date}, run ${runId}</${Link}>`,
  ],
  ['Outcome', ({ outcome, state }) => html`<${State} name=${outcome ?? state} />`],
  ['What', describeScope],
  ['Files', ({ files }) => formatCount(files), 'number'],
  ['Failed', ({ filesFailed }) => formatCount(filesFailed), 'number'],
  [
    'Took',
    ({ openedAt, finishedAt }) =>
      openedAt === null || finishedAt === null
        ? '–'
        : formatSeconds((Date.parse(finishedAt) - Date.parse(openedAt)) / 1000),
    'number',
  ],
  ['Requested', ({ requestedAt }) => html`<${When} at=${requestedAt} />`],
  ['By', ({ requestedBy }) => html`<${Name} text=${requestedBy} />`],
];

/** Nights, newest first. */
export function NightTable({ nights }: { nights: readonly Json<NightSummary>[] }): VNode {
  return html`<${Table} caption="Nights" rows=${nights} keyOf=${({ runId }: Json<NightSummary>) => runId} columns=${columns} />`;
}

/** The request of a night in words. */
export function describeScope({ only, acceptShrink }: Pick<Json<NightSummary>, 'only' | 'acceptShrink'>): Shown {
  return `${only ?? 'everything'}${acceptShrink ? ', shrinking accepted' : ''}`;
}
