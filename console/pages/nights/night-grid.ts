import type { Json } from '../../answers/json.ts';
import type { Cell, HistoryRow } from '../../answers/night-answers.ts';
import { nameOf, pathOf } from './artefact-name.ts';
import { goTo } from '../shell/router.ts';
import { asWords } from '../shell/text.ts';
import { html, useMemo, useRef, useState, type VNode } from '../shell/view.ts';

/** The meaning of each mark of the grid. */
const meanings = {
  published: 'a new version was published',
  unchanged: 'nothing had changed',
  stale: 'the build failed; readers keep the version before',
  failed: 'the build failed, and there was no version before',
  running: 'the night is not finished',
  nothing: 'no night was to build it',
} as const;

/** Row and column of the grid's only tab stop; arrow keys move it (WAI-ARIA grid pattern). Column 0 is the artefact. */
type GridPlace = readonly [row: number, column: number];

/** Days across, artefacts down. */
export function NightGrid({ days, rows }: { days: readonly string[]; rows: readonly Json<HistoryRow>[] }): VNode {
  const table = useRef<HTMLTableElement>(null);
  const [place, setPlace] = useState<GridPlace>([0, 0]);
  const [row, column] = [Math.min(place[0], rows.length - 1), Math.min(place[1], days.length)];
  const move = (event: KeyboardEvent) => {
    const next = placeAfter(event, [row, column], { rows: rows.length, columns: days.length + 1 });
    if (next === undefined) return;
    event.preventDefault();
    table.current?.querySelector<HTMLElement>(`[data-at="${next.join('.')}"]`)?.focus();
  };
  const noteFocus = ({ target }: FocusEvent) => {
    const at = (target as HTMLElement).dataset['at'];
    if (at !== undefined) setPlace(at.split('.').map(Number) as unknown as GridPlace);
  };
  const follow = (event: MouseEvent) => {
    const link = (event.target as HTMLElement).closest('a');
    if (link === null || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    goTo(link.getAttribute('href')!);
  };
  return html`
    <${Legend} />
    <div class="night-grid-box">
      <table class=${days.length <= 10 ? 'night-grid short' : 'night-grid'} role="grid" ref=${table} onKeyDown=${move} onFocusIn=${noteFocus} onClick=${follow}>
        <caption class="unseen">The outcome of each artefact, by day. The arrow keys move between the days and artefacts.</caption>
        <thead><tr><th scope="col" class="night-grid-name">Artefact</th>${days.map((day) => html`<th scope="col" key=${day}><${Day} day=${day} /></th>`)}</tr></thead>
        <tbody>${rows.map((each, at) => html`<${GridLine} key=${nameOf(each)} row=${each} at=${at} days=${days} current=${at === row ? column : null} />`)}</tbody>
      </table>
    </div>`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function Day({ day }: { day: string }): VNode {
  return html`<time dateTime=${day} title=${day}><span>${months[Number(day.slice(5, 7)) - 1]}</span> <span>${Number(day.slice(8))}</span></time>`;
}

/** A row of the grid, rendered again only if it has changed: a grid has up to 250, and live values arrive every second. */
function GridLine({
  row,
  at,
  days,
  current,
}: {
  row: Json<HistoryRow>;
  at: number;
  days: readonly string[];
  current: number | null;
}): VNode {
  const looks = `${days[0]} ${at} ${row.cells.map((cell) => (cell === null ? '' : `${cell.state}.${cell.runId}.${cell.nights}`)).join()}`;
  return useMemo(() => {
    const name = nameOf(row);
    return html`<tr>
      <th scope="row" class="night-grid-name"><a href=${`/artefacts/${pathOf(row)}`} data-at=${`${at}.0`} tabindex=${current === 0 ? 0 : -1}>${name}</a></th>
      ${row.cells.map((cell, index) => html`<td key=${days[index]}>${mark({ cell, name, day: days[index]!, at: `${at}.${index + 1}`, isCurrent: current === index + 1 })}</td>`)}
    </tr>`;
  }, [looks, current]);
}

/** A mark; not a component of its own, since there are thousands. */
function mark({
  cell,
  name,
  day,
  at,
  isCurrent,
}: {
  cell: Json<Cell> | null;
  name: string;
  day: string;
  at: string;
  isCurrent: boolean;
}): VNode {
  const tabindex = isCurrent ? 0 : -1;
  if (cell === null)
    return html`<span class="night-mark nothing" data-at=${at} tabindex=${tabindex}><span class="unseen">nothing</span></span>`;
  const words = [
    `${name}, ${day}: ${asWords(cell.state)}`,
    cell.failureCode === null ? '' : `(${cell.failureCode})`,
    cell.nights > 1 ? `, the latest of ${cell.nights} nights` : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
  return html`<a class=${`night-mark ${cell.state}`} href=${`/nights/${cell.runId}`} aria-label=${words} title=${words} data-at=${at} tabindex=${tabindex}></a>`;
}

function Legend(): VNode {
  return html`<ul class="night-legend" aria-label="Marks">${Object.entries(meanings).map(([state, meaning]) => html`<li><span class=${`night-mark ${state}`} aria-hidden="true"></span> <span><strong>${state}</strong>: ${meaning}</span></li>`)}</ul>`;
}

/** The target of a key; undefined for keys that do not move. */
function placeAfter(
  { key, ctrlKey }: KeyboardEvent,
  [row, column]: GridPlace,
  { rows, columns }: { rows: number; columns: number },
): GridPlace | undefined {
  const within = (at: number, count: number) => Math.max(0, Math.min(count - 1, at));
  switch (key) {
    case 'ArrowLeft':
      return [row, within(column - 1, columns)];
    case 'ArrowRight':
      return [row, within(column + 1, columns)];
    case 'ArrowUp':
      return [within(row - 1, rows), column];
    case 'ArrowDown':
      return [within(row + 1, rows), column];
    case 'PageUp':
      return [within(row - 10, rows), column];
    case 'PageDown':
      return [within(row + 10, rows), column];
    case 'Home':
      return [ctrlKey ? 0 : row, 0];
    case 'End':
      return [ctrlKey ? rows - 1 : row, columns - 1];
    default:
      return undefined;
  }
}
