import type { ScoreName } from '../../answers/verification-answers.ts';
import { describeBriefly, describeStanding, scoreTitles, sideOfThreshold } from './score-words.ts';
import { formatScore } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

const place = (share: number) => `${(Math.max(0, Math.min(1, share)) * 100).toFixed(2)}%`;

/** A score on a scale from 0 to 1 with its threshold, and the same in words. */
export function ScoreMeter({
  name,
  score,
  threshold,
  isBrief = false,
}: {
  name: ScoreName | 'identity';
  score: number | null;
  threshold: number | null;
  isBrief?: boolean;
}): VNode {
  const standing = sideOfThreshold(score, threshold);
  return html`<div class=${`score-meter ${isBrief ? 'brief' : ''}`}>
    <div class="score-line"><span class="score-name">${scoreTitles[name]}</span> <span class="score-value">${formatScore(score)}</span></div>
    <svg class="score-bar" width="100%" height="14" aria-hidden="true" focusable="false">
      <rect class="track" x="0" y="4" width="100%" height="6" rx="3" />
      ${score === null ? null : html`<rect class=${`value ${standing}`} x="0" y="4" width=${place(score)} height="6" rx="3" />`}
      ${threshold === null ? null : html`<svg x=${place(threshold)} width="2" height="14" overflow="visible"><rect class="mark" x="-1" y="0" width="2" height="14" /></svg>`}
    </svg>
    <div class=${`score-words ${standing}`}>${(isBrief ? describeBriefly : describeStanding)(name, score, threshold)}</div>
  </div>`;
}
