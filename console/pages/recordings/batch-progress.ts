import { asWords, formatCount, formatSeconds } from '../shell/text.ts';
import { html, useRef, type VNode } from '../shell/view.ts';

/** Items of a batch in one state. */
interface BatchPart {
  readonly name: string;
  readonly items: number;
}

/** The states of a batch as a bar, with the same information in words. */
export function BatchBar({ parts, items }: { parts: readonly BatchPart[]; items: number }): VNode {
  let before = 0;
  const drawn = parts.map(({ name, items: count }) => {
    const share = items === 0 ? 0 : (100 * count) / items;
    const part = { name, from: before, share };
    before += share;
    return part;
  });
  return html`<svg class="batch-bar" width="100%" height="14" aria-hidden="true" focusable="false"><rect class="track" width="100%" height="14" rx="4" />${drawn.filter(({ share }) => share > 0).map(({ name, from, share }) => html`<rect class=${`part ${name}`} x=${`${from}%`} width=${`${share}%`} height="14" />`)}</svg>`;
}

/** The parts of the bar. */
export function BatchKey({ parts }: { parts: readonly BatchPart[] }): VNode {
  return html`<ul class="picture-key">${parts.map(({ name, items }) => html`<li><span class=${`key ${name}`} aria-hidden="true"></span>${asWords(name)}: <strong>${formatCount(items)}</strong></li>`)}</ul>`;
}

interface Seen {
  readonly at: number;
  readonly ended: number;
}

/** Milliseconds over which the rate is measured. */
const rateMs = 30_000;

/** Recordings a second over the last half minute; null until two values have arrived. */
export function useRate(ended: number, isLive: boolean): number | null {
  const seen = useRef<Seen[]>([]);
  const now = performance.now();
  if (!isLive) seen.current = [];
  else if (seen.current.at(-1)?.ended !== ended)
    seen.current = [...seen.current.filter(({ at }) => now - at < rateMs), { at: now, ended }];
  const [first, last] = [seen.current[0], seen.current.at(-1)];
  return first === undefined || last === undefined || last.at - first.at < 900
    ? null
    : ((last.ended - first.ended) * 1000) / (last.at - first.at);
}

/** A rate and the remaining time in words. */
export function describeRate(rate: number | null, left: number): string {
  if (left === 0) return 'Every recording has an outcome.';
  if (rate === null || rate === 0)
    return `${formatCount(left)} ${left === 1 ? 'recording has' : 'recordings have'} no outcome yet.`;
  return `${rate.toFixed(1)} recordings a second; ${formatCount(left)} left, some ${formatSeconds(left / rate)}.`;
}
