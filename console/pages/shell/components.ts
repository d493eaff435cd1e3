import { asProblem, type Problem } from './request.ts';
import type { Reading } from './reading.ts';
import { asWords, formatAge, visible } from './text.ts';
import { html, useEffect, useId, useRef, useState, type Shown, type VNode } from './view.ts';

/** The heading and content of a page; sets the window title, and moves the focus to the heading after a change of page. */
export function Page({
  title,
  lead,
  actions,
  children,
}: {
  title: string;
  lead?: Shown;
  actions?: Shown;
  children?: Shown;
}): VNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${visible(title)} · Caller Trust`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return html`<div class="page">
    <header class="page-head">
      <div><h1 ref=${heading} tabindex="-1">${visible(title)}</h1>${lead ? html`<p class="lead">${lead}</p>` : null}</div>
      ${actions ? html`<div class="actions">${actions}</div>` : null}
    </header>
    ${children}
  </div>`;
}

/** A section of a page with a heading. */
export function Section({ title, actions, children }: { title: string; actions?: Shown; children?: Shown }): VNode {
  const id = useId();
  return html`<section class="section" aria-labelledby=${id}>
    <div class="section-head"><h2 id=${id}>${title}</h2>${actions ? html`<div class="actions">${actions}</div>` : null}</div>
    ${children}
  </section>`;
}

/** Shows a reading: its problem, a loading text, or the value by `show`. An older value stays visible below a problem. */
export function Read<Value>({
  reading,
  show,
  what,
}: {
  reading: Reading<Value>;
  show: (value: Value) => Shown;
  what: string;
}): VNode {
  const { value, problem, readAgain } = reading;
  return html`<div aria-busy=${reading.isReading ? 'true' : 'false'}>
    ${problem ? html`<${ProblemNotice} problem=${problem} onAgain=${readAgain} />` : null}
    ${value === undefined ? (problem ? null : html`<p class="loading" role="status">Reading ${what} …</p>`) : show(value)}
  </div>` as VNode;
}

/** A problem with its advice. */
export function ProblemNotice({ problem, onAgain }: { problem: Problem; onAgain?: () => void }): VNode {
  return html`<div class="notice bad" role="alert">
    <p><strong>${visible(problem.message)}</strong>${problem.hint ? html` <span>${visible(problem.hint)}</span>` : null} <code>${problem.code}</code></p>
    ${onAgain ? html`<button type="button" onClick=${onAgain}>Try again</button>` : null}
  </div>`;
}

/** A message of the page. */
export function Notice({
  kind = 'info',
  children,
}: {
  kind?: 'info' | 'good' | 'warn' | 'bad';
  children?: Shown;
}): VNode {
  return html`<div class=${`notice ${kind}`} role=${kind === 'bad' ? 'alert' : 'status'}>${children}</div>`;
}

/** Shown instead of an empty list; the children explain how entries are created. */
export function Empty({ title, children }: { title: string; children?: Shown }): VNode {
  return html`<div class="empty"><p><strong>${title}</strong></p>${children ? html`<p>${children}</p>` : null}</div>`;
}

/** The columns of a table: title, cell, and 'number' where cells are right-aligned. False: a column that is left out. */
export type Columns<Row> = readonly (readonly [title: string, show: (row: Row) => Shown, align?: 'number'] | false)[];

/**
 * A table that scrolls horizontally in its own box; the caption is for screen readers. `box` is the class of a box around
 * it, and `empty` is shown instead of a table without rows.
 */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  rowClass,
  box,
  empty,
}: {
  caption: string;
  columns: Columns<Row>;
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  rowClass?: (row: Row) => string;
  box?: string;
  empty?: VNode;
}): VNode {
  if (rows.length === 0 && empty !== undefined) return empty;
  const shown = columns.filter((column) => column !== false);
  const table = html`<div class="table-box" role="region" aria-label=${caption} tabindex="0">
    <table>
      <caption class="unseen">${caption}</caption>
      <thead><tr>${shown.map(([title, , align]) => html`<th scope="col" class=${align ?? ''}>${title}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => html`<tr key=${keyOf(row)} class=${rowClass?.(row) ?? ''}>${shown.map(([, show, align]) => html`<td class=${align ?? ''}>${show(row)}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`;
  return box === undefined ? table : html`<div class=${box}>${table}</div>`;
}

/** Names with their values. Entries whose value is null are left out. */
export function Facts({ entries }: { entries: readonly (readonly [string, Shown])[] }): VNode {
  const given = entries.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return html`<dl class="facts">${given.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Colours of states; others are neutral. The text never depends on the colour. */
const stateKinds: Record<string, 'good' | 'warn' | 'bad' | 'busy' | 'calm'> = {
  performed: 'good',
  published: 'good',
  ok: 'good',
  approved: 'good',
  verified: 'good',
  authentic: 'good',
  match: 'good',
  fresh: 'good',
  live: 'good',
  validVoice: 'good',
  available: 'good',
  finished: 'calm',
  unchanged: 'calm',
  draft: 'calm',
  withdrawn: 'calm',
  removed: 'calm',
  expired: 'warn',
  cancelled: 'calm',
  insufficientVoice: 'calm',
  queued: 'busy',
  performing: 'busy',
  open: 'busy',
  running: 'busy',
  due: 'busy',
  submitted: 'busy',
  in_review: 'warn',
  pending: 'busy',
  delivered: 'good',
  enabled: 'good',
  failing: 'warn',
  disabled: 'bad',
  performedWithoutScore: 'warn',
  stale: 'warn',
  partial: 'warn',
  expiring: 'warn',
  suspended: 'warn',
  paused: 'warn',
  undetermined: 'warn',
  excessiveNoise: 'warn',
  error: 'bad',
  failed: 'bad',
  rejected: 'bad',
  synthesized: 'bad',
  replayed: 'bad',
  synthesizedAndReplayed: 'bad',
  permanently_rejected: 'bad',
  unsuccessful: 'bad',
  noMatch: 'bad',
  mismatch: 'bad',
  copySuspected: 'bad',
  undecided: 'warn',
  enrolled: 'good',
  deleted: 'calm',
  done: 'good',
  held: 'warn',
  discarded: 'calm',
  late: 'bad',
  in_time: 'good',
  cleared: 'good',
  SPAM: 'warn',
  FRAUD: 'bad',
};

/** A state in words, with a colour. */
export function State({ name }: { name: string }): VNode {
  return html`<span class=${`state ${stateKinds[name] ?? 'calm'}`}>${asWords(name)}</span>`;
}

/** An instant: how long ago, or its day where that is more than a week, and in full where the pointer rests and in lists of facts. */
export function When({ at }: { at: string | null | undefined }): VNode {
  const now = useMinute();
  if (!at) return html`<span>–</span>`;
  const date = new Date(at);
  const exact = formatInstant(date);
  return html`<time dateTime=${date.toISOString()} class="when" title=${exact}>${formatAge(date, now)} <span class="exact">${exact}</span></time>`;
}

/** In UTC, with local time where it differs. */
function formatInstant(date: Date): string {
  const utc = `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  if (date.getTimezoneOffset() === 0) return utc;
  const day = isSameDay(date) ? '' : `${date.toLocaleDateString('sv-SE')} `;
  return `${utc}, ${day}${date.toLocaleTimeString('sv-SE', { hour: '2-digit', minute: '2-digit' })} local`;
}

const minuteListeners = new Set<() => void>();

/** Milliseconds since 1970 of the last minute; all instants of a page follow one timer. */
function useMinute(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const listen = () => setNow(Date.now());
    minuteListeners.add(listen);
    return () => void minuteListeners.delete(listen);
  }, []);
  return now;
}

setInterval(() => {
  for (const listen of minuteListeners) listen();
}, 60_000);

function isSameDay(date: Date): boolean {
  return date.toISOString().slice(0, 10) === date.toLocaleDateString('sv-SE');
}

/** A field of a form with its label, and a hint or a problem. */
export function Field({
  label,
  hint,
  problem,
  children,
}: {
  label: string;
  hint?: Shown;
  problem?: string | null;
  children: (ids: { id: string; 'aria-describedby': string }) => Shown;
}): VNode {
  const id = useId();
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${children({ id, 'aria-describedby': `${id}-hint` })}
    <p class="hint" id=${`${id}-hint`}>${problem ? html`<span class="wrong">${problem}</span>` : hint}</p>
  </div>`;
}

/** A field with a choice: its values with their texts. */
export function ChoiceField({
  label,
  hint,
  value,
  choices,
  onChoose,
}: {
  label: string;
  hint?: Shown;
  value: string;
  choices: readonly (readonly [value: string, text: string])[];
  onChoose: (value: string) => void;
}): VNode {
  const choose = ({ currentTarget }: { currentTarget: HTMLSelectElement }) => onChoose(currentTarget.value);
  return html`<${Field} label=${label} hint=${hint}>${(ids: object) => html`<select value=${value} onChange=${choose} ...${ids}>${choices.map(([key, text]) => html`<option value=${key} selected=${key === value}>${text}</option>`)}</select>`}</${Field}>`;
}

/** A button for an asynchronous action: disabled while it runs, with the problem if it fails. */
export function ActionButton({
  children,
  busyText = 'Working …',
  kind = '',
  disabled = false,
  act,
}: {
  children?: Shown;
  busyText?: string;
  kind?: 'primary' | 'danger' | '';
  disabled?: boolean;
  act: () => Promise<void>;
}): VNode {
  const [state, setState] = useState<{ isBusy: boolean; problem: Problem | null }>({ isBusy: false, problem: null });
  const press = async () => {
    setState({ isBusy: true, problem: null });
    try {
      await act();
      setState({ isBusy: false, problem: null });
    } catch (error) {
      setState({ isBusy: false, problem: asProblem(error) });
    }
  };
  return html`<span class="action">
    <button type="button" class=${kind} disabled=${disabled || state.isBusy} onClick=${press}>${state.isBusy ? busyText : children}</button>
    ${state.problem ? html`<${ProblemNotice} problem=${state.problem} />` : null}
  </span>`;
}

/** A modal dialog; Escape and the first button close it. */
export function Dialog({
  title,
  isOpen,
  onClose,
  children,
}: {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  children?: Shown;
}): VNode | null {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    if (isOpen && element.current?.open === false) element.current.showModal();
    if (!isOpen && element.current?.open === true) element.current.close();
  }, [isOpen]);
  return html`<dialog ref=${element} aria-labelledby=${id} onClose=${onClose}>
    <h2 id=${id}>${title}</h2>
    ${isOpen ? children : null}
  </dialog>`;
}

/** A button that opens a modal dialog; `children` shows its content, and is given what closes it. */
export function DialogButton({
  label,
  kind = '',
  title,
  children,
}: {
  label: string;
  kind?: 'primary' | 'danger' | '';
  title: string;
  children: (close: () => void) => Shown;
}): VNode {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return html`<button type="button" class=${kind} onClick=${() => setOpen(true)}>${label}</button><${Dialog} title=${title} isOpen=${isOpen} onClose=${close}>${isOpen ? children(close) : null}</${Dialog}>` as VNode;
}

/** Buttons for the next page of a list and for its start. */
export function Pager({
  next,
  isFirst,
  onFirst,
  onNext,
  moreText = 'Older',
  label = 'Pages of the list',
}: {
  next: string | null;
  isFirst: boolean;
  onFirst: () => void;
  onNext: (next: string) => void;
  moreText?: string;
  label?: string;
}): VNode {
  return html`<nav class="pager" aria-label=${label}>
    <button type="button" disabled=${isFirst} onClick=${onFirst}>To the start</button>
    <button type="button" disabled=${next === null} onClick=${() => next !== null && onNext(next)}>${moreText}</button>
  </nav>`;
}

/** Shows whether values update live. */
export function LiveMark({ isLive }: { isLive: boolean }): VNode {
  return html`<span class=${`live-mark ${isLive ? 'on' : ''}`} role="status">${isLive ? 'live' : 'not live'}</span>`;
}

/** Untrusted text, in one line that wraps anywhere. */
export function Name({ text }: { text: string | null | undefined }): VNode {
  return html`<span class="name">${visible(text)}</span>`;
}
