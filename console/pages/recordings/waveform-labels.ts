import type { Json } from '../../answers/json.ts';
import type { ScoredWindow, WindowLabel } from '../../answers/verification-answers.ts';
import { pictureMargins } from './score-chart.ts';
import { asWords } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';
import { runsOf } from './waveform-runs.ts';

const place = (seconds: number, secondsMax: number) => `${((100 * seconds) / Math.max(secondsMax, 0.001)).toFixed(3)}%`;

/** The labels of windows as a strip below the pictures, on the same time axis. */
export function WindowLabels({
  windows,
  secondsMax,
}: {
  windows: readonly Json<ScoredWindow>[];
  secondsMax: number;
}): VNode {
  return html`<svg class="label-strip" height="14" style=${{ marginLeft: `${pictureMargins.left}px`, width: `calc(100% - ${pictureMargins.left + pictureMargins.right}px)` }} aria-hidden="true" focusable="false">
    ${runsOf(windows).map(({ start, end, label }) => html`<rect class=${label} x=${place(start, secondsMax)} width=${place(end - start, secondsMax)} y=${label === 'validVoice' ? 0 : label === 'insufficientVoice' ? 9 : 4} height=${label === 'validVoice' ? 14 : label === 'insufficientVoice' ? 5 : 10} />`)}
  </svg>`;
}

const labels: readonly WindowLabel[] = ['validVoice', 'insufficientVoice', 'excessiveNoise'];

/** The legend of the strip, with the number of windows of each label. */
export function LabelKey({ windows }: { windows: readonly Json<ScoredWindow>[] }): VNode {
  const counts = labels.map((label) => [label, windows.filter((window) => window.label === label).length] as const);
  return html`<ul class="picture-key">${counts.map(([label, count]) => html`<li><span class=${`key ${label}`} aria-hidden="true"></span>${asWords(label)}: ${count} ${count === 1 ? 'window' : 'windows'}</li>`)}</ul>`;
}
