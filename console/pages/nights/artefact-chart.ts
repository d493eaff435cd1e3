import UPlot from 'uplot';
import { formatBytes, formatCount } from '../shell/text.ts';
import { html, useEffect, useRef, useState, type VNode } from '../shell/view.ts';

/** A version with its sizes. */
interface SizedVersion {
  readonly version: number;
  readonly publishedAt: string;
  readonly rows: number;
  readonly bytes: number;
}

const heightPixels = 240;

/** A chart of rows and bytes of versions over time, given newest first; the table of versions has the same numbers. */
export function SizesChart({ versions }: { versions: readonly SizedVersion[] }): VNode {
  const box = useRef<HTMLDivElement>(null);
  const scheme = useColourScheme();
  const looks = versions.map(({ version }) => version).join();
  useEffect(() => {
    const element = box.current!;
    const plot = new UPlot(optionsOf(element.clientWidth), dataOf(versions), element);
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: heightPixels }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [looks, scheme]);
  return html`<div>
    <ul class="chart-legend" aria-hidden="true"><li class="rows">Rows (left)</li><li class="bytes">Bytes of the file (right)</li></ul>
    <div class="artefact-chart" role="img" aria-label=${describe(versions)} ref=${box}></div>
  </div>`;
}

function describe(versions: readonly SizedVersion[]): string {
  const [newest, oldest] = [versions[0]!, versions.at(-1)!];
  return `Sizes over time: version ${oldest.version} had ${formatCount(oldest.rows)} rows in ${formatBytes(oldest.bytes)}, version ${newest.version} has ${formatCount(newest.rows)} in ${formatBytes(newest.bytes)}.`;
}

function dataOf(versions: readonly SizedVersion[]): UPlot.AlignedData {
  const ascending = [...versions].reverse();
  return [
    ascending.map(({ publishedAt }) => Date.parse(publishedAt) / 1000),
    ascending.map(({ rows }) => rows),
    ascending.map(({ bytes }) => bytes),
  ];
}

function optionsOf(width: number): UPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
  };
  const points = { show: true, size: 6 };
  return {
    width,
    height: heightPixels,
    tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    legend: { show: false },
    cursor: { show: false },
    scales: { rows: { range: fromZero }, bytes: { range: fromZero } },
    axes: [
      { ...axis, values: (_plot, ticks) => ticks.map((tick, at) => formatTick(tick, ticks[at - 1])), space: 64 },
      { ...axis, scale: 'rows', size: 76, values: (_plot, ticks) => ticks.map((tick) => formatCount(tick)) },
      {
        ...axis,
        scale: 'bytes',
        side: 1,
        size: 76,
        grid: { show: false },
        values: (_plot, ticks) => ticks.map((tick) => formatBytes(tick)),
      },
    ],
    series: [
      {},
      { label: 'Rows', scale: 'rows', stroke: colour('--synthesis'), width: 2, points },
      { label: 'Bytes', scale: 'bytes', stroke: colour('--replay'), width: 2, dash: [6, 4], points },
    ],
  };
}

/** Labels of ticks: the day at its start, else the time, in UTC. */
function formatTick(seconds: number, before: number | undefined): string {
  const [day, time] = new Date(seconds * 1000).toISOString().split('T') as [string, string];
  const isSameDay = before !== undefined && new Date(before * 1000).toISOString().startsWith(day);
  return isSameDay ? time.slice(0, 5) : day.slice(5);
}

/** The axis starts at 0, so that a doubled size looks doubled. */
function fromZero(_plot: UPlot, _min: number, max: number): UPlot.Range.MinMax {
  return [0, Math.max(1, max * 1.1)];
}

/** The colour scheme, `light` or `dark`; a change redraws the chart. */
function useColourScheme(): string {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const note = () => setDark(query.matches);
    query.addEventListener('change', note);
    return () => query.removeEventListener('change', note);
  }, []);
  return isDark ? 'dark' : 'light';
}
