import type { Json } from '../../answers/json.ts';
import type { ScoreName, ScoredWindow, Scores } from '../../answers/verification-answers.ts';
import type { RecordingWaveform } from '../../answers/verification-answers.ts';
import uPlot from 'uplot';
import { html, useEffect, useRef, type VNode } from '../shell/view.ts';

/** Margins of every picture in pixels, so that all share the same time axis. */
export const pictureMargins = { left: 46, right: 12 } as const;

const heights = { waveform: 96, scores: 170 } as const;

/** The playback position, and how to change it. */
export interface Playing {
  readonly seconds: number | null;
  readonly seek: (seconds: number) => void;
}

/** A colour of the current scheme. */
function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

interface PictureProps {
  readonly label: string;
  readonly height: number;
  /** Creates the options in the current colours, without what an update may change. */
  readonly makeOptions: (width: number) => Omit<uPlot.Options, 'hooks'>;
  readonly makeData: () => uPlot.AlignedData;
  /** End of the time axis. */
  readonly secondsMax: number;
  /** Draws below or above the series. */
  readonly drawBelow?: (plot: uPlot) => void;
  readonly drawAbove?: (plot: uPlot) => void;
  /** The picture is updated when one of these values changes. */
  readonly shows: readonly unknown[];
  readonly playing?: Playing | undefined;
}

/** A chart over time that fills its container; its content is also in words and in a table. */
function Picture(props: PictureProps): VNode {
  const { label, height, shows, playing } = props;
  const latest = useRef(props);
  latest.current = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const line = useRef<HTMLDivElement | null>(null);
  useEffect(() => {
    const element = place.current!;
    const draw = () => {
      plot.current?.destroy();
      const options = latest.current.makeOptions(element.clientWidth);
      const made = new uPlot(
        {
          ...options,
          scales: { ...options.scales, x: { time: false, range: () => [0, latest.current.secondsMax] } },
          hooks: {
            drawClear: [(drawn) => latest.current.drawBelow?.(drawn)],
            draw: [(drawn) => latest.current.drawAbove?.(drawn)],
          },
        },
        latest.current.makeData(),
        element,
      );
      line.current = document.createElement('div');
      line.current.className = 'play-line';
      line.current.hidden = true;
      made.over.append(line.current);
      made.over.addEventListener('click', ({ offsetX }) => latest.current.playing?.seek(made.posToVal(offsetX, 'x')));
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
  }, []);
  const shown = useRef(shows);
  useEffect(() => {
    if (shown.current !== shows) plot.current?.setData(latest.current.makeData()); // also updates the range of the time axis, and redraws
  }, shows);
  const seconds = playing?.seconds ?? null;
  useEffect(() => {
    if (line.current === null || plot.current === null) return;
    line.current.hidden = seconds === null;
    if (seconds !== null) line.current.style.left = `${plot.current.valToPos(seconds, 'x')}px`;
  }, [seconds, ...shows]);
  return html`<div class=${`picture ${playing === undefined ? '' : 'seekable'}`} style=${{ height: `${height}px` }} role="img" aria-label=${label} ref=${place}></div>`;
}

function timeText(seconds: number): string {
  if (seconds < 60) return `${Number(seconds.toFixed(2))} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** Shared options: the time axis, and a line as the only cursor mark. */
function optionsOf(
  width: number,
  {
    height,
    series,
    axis,
    scale,
    bands = [],
    isTimeShown,
  }: {
    height: number;
    series: uPlot.Series[];
    axis: uPlot.Axis;
    scale: [number, number];
    bands?: uPlot.Band[];
    isTimeShown: boolean;
  },
): Omit<uPlot.Options, 'hooks'> {
  const ink = colour('soft');
  const grid = { stroke: colour('line'), width: 1 };
  return {
    width,
    height,
    padding: [8, pictureMargins.right, isTimeShown ? 0 : 6, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: { y: { range: scale } },
    axes: [
      { show: isTimeShown, stroke: ink, grid, ticks: grid, size: 28, values: (_plot, splits) => splits.map(timeText) },
      { stroke: ink, grid, ticks: grid, size: pictureMargins.left, ...axis },
    ],
    series: [{}, ...series],
    bands,
  };
}

/** The waveform of a channel, with the detected voice marked below. */
export function WaveformPicture({
  waveform,
  channel: { lows, highs, voice },
  label,
  playing,
}: {
  waveform: Json<RecordingWaveform>;
  channel: Json<RecordingWaveform>['channels'][number];
  label: string;
  playing?: Playing;
}): VNode {
  const { bucketSeconds, durationSeconds } = waveform;
  const loudest = Math.max(0.02, ...lows.map((low) => -low), ...highs);
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
  const makeOptions = (width: number) => {
    const line: uPlot.Series = { stroke: colour('soft'), width: 1, points: { show: false } };
    return optionsOf(width, {
      height: heights.waveform,
      scale: [-loudest * 1.05, loudest * 1.05],
      isTimeShown: false,
      bands: [{ series: [1, 2], fill: colour('soft') }],
      axis: {
        splits: () => [-loudest, 0, loudest],
        values: (_plot, splits) => splits.map((split) => split.toFixed(loudest < 0.1 ? 2 : 1)),
      },
      series: [line, { ...line }],
    });
  };
  const makeData = () => [lows.map((_low, at) => (at + 0.5) * bucketSeconds), [...highs], [...lows]];
  return html`<${Picture} key=${waveform} label=${label} height=${heights.waveform} secondsMax=${durationSeconds} makeOptions=${makeOptions} makeData=${makeData}
    drawBelow=${markVoice} shows=${[]} playing=${playing} />`;
}

const scoreNames: readonly ScoreName[] = ['synthesis', 'replay'];

/** The scores of windows at their centres, with the thresholds; windows without valid voice are gaps. */
export function ScorePicture({
  windows,
  thresholds,
  secondsMax,
  label,
  playing,
}: {
  windows: readonly Json<ScoredWindow>[];
  thresholds: Scores | null;
  secondsMax: number;
  label: string;
  playing?: Playing;
}): VNode {
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
    points: { show: true, size: 6, fill: colour(name === 'replay' ? 'surface' : name), stroke: colour(name), width: 2 },
  });
  const makeOptions = (width: number) =>
    optionsOf(width, {
      height: heights.scores,
      scale: [0, 1],
      isTimeShown: true,
      axis: {
        splits: () => [0, 0.25, 0.5, 0.75, 1],
        values: (_plot, splits) => splits.map((split) => split.toFixed(2)),
      },
      series: scoreNames.map(seriesOf),
    });
  const makeData = () => [
    windows.map(({ start, end }) => (start + end) / 2),
    ...scoreNames.map((name) => windows.map(({ scores }) => scores?.[name] ?? null)),
  ];
  return html`<${Picture} label=${label} height=${heights.scores} secondsMax=${secondsMax} makeOptions=${makeOptions} makeData=${makeData}
    drawAbove=${drawThresholds} shows=${[windows, thresholds, secondsMax]} playing=${playing} />`;
}

/** The legend of score pictures. */
export function ScoreKey({ thresholds }: { thresholds: Scores | null }): VNode {
  const at = (name: ScoreName) => (thresholds?.[name] == null ? '' : `, threshold ${thresholds[name].toFixed(2)}`);
  return html`<ul class="picture-key">
    <li><span class="key synthesis" aria-hidden="true"></span>Synthesis: line and full dots${at('synthesis')}</li>
    <li><span class="key replay" aria-hidden="true"></span>Replay: dotted line and open dots${at('replay')}</li>
    <li>Dashed: thresholds; below them it is not authentic</li>
  </ul>`;
}
