import { html, type VNode } from '../shell/view.ts';

interface TrendChartProps<Day> {
  readonly title: string;
  /** Oldest first. */
  readonly days: readonly (Day & { readonly day: string })[];
  readonly value: (day: Day) => number | null;
  readonly format: (value: number) => string;
}

/** Units of the picture; it stretches to the width of its box. */
const [width, height] = [240, 56] as const;

/**
 * A figure over the days: the newest value, a line from 0 to the highest, and both ends in words. Days without it leave no gap;
 * nothing before the second day with it.
 */
export function TrendChart<Day>({ title, days, value, format }: TrendChartProps<Day>): VNode | null {
  const points = days.flatMap((day) => {
    const figure = value(day);
    return figure === null ? [] : [{ at: Date.parse(day.day), day: day.day, figure }];
  });
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2) return null;
  const most = Math.max(1e-9, ...points.map(({ figure }) => figure));
  const span = Math.max(1, last.at - first.at);
  const place = ({ at, figure }: { at: number; figure: number }) =>
    `${((at - first.at) / span) * width},${height - 2 - (figure / most) * (height - 4)}`;
  const words = `${title}: ${format(first.figure)} on ${first.day}, ${format(last.figure)} on ${last.day}; at most ${format(most)}.`;
  return html`<figure class="trend">
    <figcaption><span>${title}</span> <strong>${format(last.figure)}</strong></figcaption>
    <svg viewBox=${`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label=${words}><polyline points=${points.map(place).join(' ')} /></svg>
    <p class="hint">${first.day} to ${last.day}, at most ${format(most)}</p>
  </figure>`;
}
