import uPlot from '/modules/uplot.js';
import type { Scores, ScoredWindow, ScoreName, Waveform } from './verification-types.ts';
import { html, useEffect, useRef, type VNode } from '../shell/view.ts';

/** Pixels left of every picture, for its axis, and right of it: so all lie on the same axis of time. */
export const pictureMargins = { left: 46, right: 12 } as const;

const heights = { waveform: 96, scores: 170 } as const;

/** Where a recording is heard at this moment, and how to hear it elsewhere. */
export interface Playing {
  readonly seconds: number | null;
  readonly seek: (seconds: number) => void;
}

/** A colour of the page as it is now, light or dark. */
function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

interface PictureProps {
  readonly label: string;
  readonly height: number;
  /** Makes the picture with the colours of the moment. */
  readonly make: (width: number) => { readonly options: uPlot.Options; readonly data: uPlot.AlignedData };
  /** What the picture shows; another value draws it anew. */
  readonly shows: unknown;
  readonly playing?: Playing | undefined;
}

/** A picture over time as wide as its place; what it shows is also in words and in a table. */
function Picture({ label, height, make, shows, playing }: PictureProps): VNode {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const line = useRef<HTMLDivElement | null>(null);
  const seek = useRef(playing?.seek);
  seek.current = playing?.seek;
  useEffect(() => {
    const element = place.current!;
    const draw = () => {
      plot.current?.destroy();
      const { options, data } = make(element.clientWidth);
      const made = new uPlot(options, data, element);
      line.current = document.createElement('div');
      line.current.className = 'play-line';
      line.current.hidden = true;
      made.over.append(line.current);
      made.over.addEventListener('click', ({ offsetX }) => seek.current?.(made.posToVal(offsetX, 'x')));
      plot.current = made;
    };
    draw();
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    const sizes = new ResizeObserver(
      () =>
        plot.current?.width !== element.clientWidth && plot.current?.setSize({ width: element.clientWidth, height }),
    );
    sizes.observe(element);
    return () => {
      scheme.removeEventListener('change', draw);
      sizes.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shows]);
  const seconds = playing?.seconds ?? null;
  useEffect(() => {
    if (line.current === null || plot.current === null) return;
    line.current.hidden = seconds === null;
    if (seconds !== null) line.current.style.left = `${plot.current.valToPos(seconds, 'x')}px`;
  }, [seconds, shows]);
  return html`<div class=${`picture ${playing === undefined ? '' : 'seekable'}`} style=${{ height: `${height}px` }} role="img" aria-label=${label} ref=${place}></div>`;
}

function timeText(seconds: number): string {
  if (seconds < 60) return `${Number(seconds.toFixed(2))} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** What both pictures share: the axis of time, and no marks under the pointer but a line. */
function optionsOf(
  width: number,
  {
    height,
    secondsMax,
    series,
    axis,
    scale,
    hooks,
    bands = [],
    isTimeShown,
  }: {
    height: number;
    secondsMax: number;
    series: uPlot.Series[];
    axis: uPlot.Axis;
    scale: [number, number];
    hooks: uPlot.Hooks.Arrays;
    bands?: uPlot.Band[];
    isTimeShown: boolean;
  },
): uPlot.Options {
  const ink = colour('soft');
  const grid = { stroke: colour('line'), width: 1 };
  return {
    width,
    height,
    padding: [8, pictureMargins.right, isTimeShown ? 0 : 6, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: { x: { time: false, range: [0, secondsMax] }, y: { range: scale } },
    axes: [
      { show: isTimeShown, stroke: ink, grid, ticks: grid, size: 28, values: (_plot, splits) => splits.map(timeText) },
      { stroke: ink, grid, ticks: grid, size: pictureMargins.left, ...axis },
    ],
    series: [{}, ...series],
    bands,
    hooks,
  };
}

/** The lowest and highest samples of a channel over time, with the voice that was found marked below. */
export function WaveformPicture({
  waveform,
  channel: { lows, highs, voice },
  label,
  playing,
}: {
  waveform: Waveform;
  channel: Waveform['channels'][number];
  label: string;
  playing?: Playing;
}): VNode {
  const { bucketSeconds, durationSeconds } = waveform;
  const loudest = Math.max(0.02, ...lows.map((low) => -low), ...highs);
  const make = (width: number) => {
    const fill = colour('soft');
    const markVoice = (plot: uPlot) => {
      plot.ctx.save();
      for (const [start, end] of voice ?? []) {
        const [from, to] = [plot.valToPos(start, 'x', true), plot.valToPos(end, 'x', true)];
        plot.ctx.fillStyle = colour('voice');
        plot.ctx.globalAlpha = 0.16;
        plot.ctx.fillRect(from, plot.bbox.top, to - from, plot.bbox.height);
        plot.ctx.globalAlpha = 1;
        const bar = 4 * devicePixelRatio;
        plot.ctx.fillRect(from, plot.bbox.top + plot.bbox.height - bar, Math.max(1, to - from), bar);
      }
      plot.ctx.restore();
    };
    const times = lows.map((_low, at) => (at + 0.5) * bucketSeconds);
    return {
      options: optionsOf(width, {
        height: heights.waveform,
        secondsMax: durationSeconds,
        scale: [-loudest * 1.05, loudest * 1.05],
        isTimeShown: false,
        hooks: { drawClear: [markVoice] },
        bands: [{ series: [1, 2], fill }],
        axis: {
          splits: () => [-loudest, 0, loudest],
          values: (_plot, splits) => splits.map((split) => split.toFixed(loudest < 0.1 ? 2 : 1)),
        },
        series: [
          { stroke: fill, width: 1, points: { show: false } },
          { stroke: fill, width: 1, points: { show: false } },
        ],
      }),
      data: [times, [...highs], [...lows]] satisfies uPlot.AlignedData,
    };
  };
  return html`<${Picture} label=${label} height=${heights.waveform} make=${make} shows=${waveform} playing=${playing} />`;
}

const scoreNames: readonly ScoreName[] = ['synthesis', 'replay'];

/** The scores of windows, each at its middle, with the thresholds; windows without valid voice are gaps. */
export function ScorePicture({
  windows,
  thresholds,
  secondsMax,
  label,
  playing,
  shows = windows,
}: {
  windows: readonly ScoredWindow[];
  thresholds: Scores | null;
  secondsMax: number;
  label: string;
  playing?: Playing;
  shows?: unknown;
}): VNode {
  const make = (width: number) => {
    const drawThresholds = (plot: uPlot) => {
      const { ctx, bbox } = plot;
      ctx.save();
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
      for (const name of scoreNames) {
        const threshold = thresholds?.[name] ?? null;
        if (threshold === null) continue;
        const at = plot.valToPos(threshold, 'y', true);
        ctx.strokeStyle = colour(name);
        ctx.beginPath();
        ctx.moveTo(bbox.left, at);
        ctx.lineTo(bbox.left + bbox.width, at);
        ctx.stroke();
      }
      ctx.restore();
    };
    const seriesOf = (name: ScoreName): uPlot.Series => ({
      stroke: colour(name),
      width: 2,
      spanGaps: false,
      ...(name === 'replay' ? { dash: [2, 4] } : {}),
      points: {
        show: true,
        size: 6,
        fill: colour(name === 'replay' ? 'surface' : name),
        stroke: colour(name),
        width: 2,
      },
    });
    return {
      options: optionsOf(width, {
        height: heights.scores,
        secondsMax,
        scale: [0, 1],
        isTimeShown: true,
        hooks: { draw: [drawThresholds] },
        axis: {
          splits: () => [0, 0.25, 0.5, 0.75, 1],
          values: (_plot, splits) => splits.map((split) => split.toFixed(2)),
        },
        series: scoreNames.map(seriesOf),
      }),
      data: [
        windows.map(({ start, end }) => (start + end) / 2),
        ...scoreNames.map((name) => windows.map(({ scores }) => scores?.[name] ?? null)),
      ] as uPlot.AlignedData,
    };
  };
  return html`<${Picture} label=${label} height=${heights.scores} make=${make} shows=${shows} playing=${playing} />`;
}

/** What the lines of score pictures are. */
export function ScoreKey({ thresholds }: { thresholds: Scores | null }): VNode {
  const at = (name: ScoreName) => (thresholds?.[name] == null ? '' : `, threshold ${thresholds[name].toFixed(2)}`);
  return html`<ul class="picture-key">
    <li><span class="key synthesis" aria-hidden="true"></span>Synthesis: line and full dots${at('synthesis')}</li>
    <li><span class="key replay" aria-hidden="true"></span>Replay: dotted line and open dots${at('replay')}</li>
    <li>Dashed: thresholds; below them it is not authentic</li>
  </ul>`;
}
