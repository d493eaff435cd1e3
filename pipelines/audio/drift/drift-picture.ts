import { SCORE_NAMES, type ScoreName } from '../verification.ts';
import type { DriftPoint, DriftReport } from './drift-report.ts';
import { logitMax, logitOf } from './score-shift.ts';

const panelSize = 380;
const panelTop = 96;
const panelLefts = [72, 560] as const;
const width = 972;
const height = 584;

/** Scores with a tick of their own, as far as the axis reaches. */
const ticks = [0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999];

/** What a score below its threshold is called. */
const refusedAs = { synthesis: 'synthesized', replay: 'replayed' } as const satisfies Record<ScoreName, string>;

const ink = '#1f2733';
const grey = '#5d6877';
const line = '#c9d0d9';
const tint = '#fdf1e3';
const dotColor = '#3b6ea8';
const flipColor = '#d1420f';
const thresholdColor = '#7a3f9d';

/** One square of the picture: scores of the old model to the right, of the new one upwards. */
interface Panel {
  readonly score: ScoreName;
  readonly left: number;
  /** Logit at the ends of both axes. */
  readonly reach: number;
  readonly points: readonly { readonly old: number; readonly new: number; readonly flip: boolean }[];
  readonly thresholds: { readonly old: number; readonly new: number } | null;
}

/**
 * The picture of a report as SVG: for each score a scatter of old against new on a logit scale, with the diagonal of no
 * change, both thresholds, and the recordings whose decision flipped. The same report gives the same bytes.
 */
export function drawDrift(report: DriftReport): string {
  const panels = SCORE_NAMES.map((score, at) => makePanel(report, score, panelLefts[at]!));
  const name = `${report.old.model} against ${report.new.model}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="${ink}" role="img">`,
    `<title>${escapeXml(`Drift of ${name}`)}</title>`,
    `<desc>${escapeXml(describe(report))}</desc>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(24, 34, `Drift: ${report.old.model} → ${report.new.model}`, 'font-size="20" font-weight="bold"'),
    text(24, 56, describe(report), `fill="${grey}"`),
    ...panels.flatMap((panel) => drawPanel(panel, report)),
    ...drawLegend(report),
    '</svg>\n',
  ].join('\n');
}

function describe({ batch, counts, points }: DriftReport): string {
  const shown = points.length < counts.compared ? `, ${count(points.length)} of them drawn` : '';
  return `Batch ${batch}: ${count(counts.compared)} recordings compared${shown}, ${count(counts.flips)} with another decision, ${count(counts.notCompared)} not compared.`;
}

function makePanel(report: DriftReport, score: ScoreName, left: number): Panel {
  const points = report.points.flatMap((point) => logitsOf(point, score));
  const [old, now] = [report.old.thresholds[score], report.new.thresholds[score]];
  const thresholds = old === null || now === null ? null : { old: logitOf(old), new: logitOf(now) };
  const farthest = points.reduce((most, point) => Math.max(most, Math.abs(point.old), Math.abs(point.new)), 0);
  return { score, left, points, thresholds, reach: Math.min(logitMax, Math.max(5, Math.ceil(farthest))) };
}

function logitsOf({ old, new: now, flip }: DriftPoint, score: ScoreName): Panel['points'] {
  const [before, after] = [old[score], now[score]];
  return before === null || after === null ? [] : [{ old: logitOf(before), new: logitOf(after), flip }];
}

function drawPanel(panel: Panel, report: DriftReport): string[] {
  const { left, score, points, thresholds } = panel;
  const frame = `<rect x="${left}" y="${panelTop}" width="${panelSize}" height="${panelSize}" fill="none" stroke="${grey}"/>`;
  const title = text(left, panelTop - 14, `${score} score`, 'font-size="14" font-weight="bold"');
  if (thresholds === null)
    return [
      title,
      frame,
      text(
        left + panelSize / 2,
        panelTop + panelSize / 2,
        'One of the models has no such score.',
        `text-anchor="middle" fill="${grey}"`,
      ),
    ];
  return [
    title,
    ...drawChangedDecisions(panel, thresholds),
    ...drawAxes(panel, report),
    `<line x1="${left}" y1="${panelTop + panelSize}" x2="${left + panelSize}" y2="${panelTop}" stroke="${grey}" stroke-width="1"/>`,
    ...drawThresholds(panel, thresholds),
    `<g fill="${dotColor}" fill-opacity="0.45">`,
    ...points
      .filter(({ flip }) => !flip)
      .map((point) => `<circle cx="${x(panel, point.old)}" cy="${y(panel, point.new)}" r="2.6"/>`),
    '</g>',
    `<g fill="${flipColor}" stroke="#ffffff" stroke-width="0.8">`,
    ...points.filter(({ flip }) => flip).map((point) => diamond(x(panel, point.old), y(panel, point.new))),
    '</g>',
    frame,
  ];
}

/** The two corners in which the models are on different sides of their thresholds. */
function drawChangedDecisions(panel: Panel, thresholds: { old: number; new: number }): string[] {
  const [cornerX, cornerY] = [x(panel, thresholds.old), y(panel, thresholds.new)];
  const [right, bottom] = [panel.left + panelSize, panelTop + panelSize];
  return [
    `<rect x="${panel.left}" y="${panelTop}" width="${round(cornerX - panel.left)}" height="${round(cornerY - panelTop)}" fill="${tint}"/>`,
    `<rect x="${cornerX}" y="${cornerY}" width="${round(right - cornerX)}" height="${round(bottom - cornerY)}" fill="${tint}"/>`,
    text(panel.left + 8, panelTop + 18, `${refusedAs[panel.score]} → authentic`, `fill="${grey}" font-size="11"`),
    text(
      right - 8,
      bottom - 10,
      `authentic → ${refusedAs[panel.score]}`,
      `fill="${grey}" font-size="11" text-anchor="end"`,
    ),
  ];
}

function drawAxes(panel: Panel, report: DriftReport): string[] {
  const { left, reach } = panel;
  const bottom = panelTop + panelSize;
  const shown = ticks.filter((score) => Math.abs(logitOf(score)) <= reach);
  return [
    ...shown.flatMap((score) => {
      const [across, up] = [x(panel, logitOf(score)), y(panel, logitOf(score))];
      return [
        `<path d="M${across} ${panelTop}V${bottom}M${left} ${up}H${left + panelSize}" stroke="${line}" stroke-width="0.5"/>`,
        text(across, bottom + 16, String(score), `text-anchor="middle" fill="${grey}" font-size="11"`),
        text(left - 6, up + 4, String(score), `text-anchor="end" fill="${grey}" font-size="11"`),
      ];
    }),
    text(left + panelSize / 2, bottom + 36, `${report.old.model} (higher is authentic)`, 'text-anchor="middle"'),
    `<text transform="translate(${left - 52} ${panelTop + panelSize / 2}) rotate(-90)" text-anchor="middle">${escapeXml(`${report.new.model} (higher is authentic)`)}</text>`,
  ];
}

function drawThresholds(panel: Panel, { old, new: now }: { old: number; new: number }): string[] {
  const stroke = `stroke="${thresholdColor}" stroke-width="1.5" stroke-dasharray="6 4"`;
  return [
    `<line x1="${x(panel, old)}" y1="${panelTop}" x2="${x(panel, old)}" y2="${panelTop + panelSize}" ${stroke}/>`,
    `<line x1="${panel.left}" y1="${y(panel, now)}" x2="${panel.left + panelSize}" y2="${y(panel, now)}" ${stroke}/>`,
  ];
}

function drawLegend({ counts }: DriftReport): string[] {
  const top = height - 34;
  return [
    `<circle cx="78" cy="${top - 4}" r="4" fill="${dotColor}" fill-opacity="0.6"/>`,
    text(90, top, `same decision (${count(counts.compared - counts.flips)})`),
    `<g fill="${flipColor}">${diamond(252, top - 4)}</g>`,
    text(264, top, `another decision (${count(counts.flips)}), by either score`),
    `<line x1="492" y1="${top - 4}" x2="522" y2="${top - 4}" stroke="${thresholdColor}" stroke-width="1.5" stroke-dasharray="6 4"/>`,
    text(530, top, 'threshold of each model'),
    `<line x1="690" y1="${top - 4}" x2="720" y2="${top - 4}" stroke="${grey}"/>`,
    text(728, top, 'no change'),
    `<rect x="806" y="${top - 11}" width="18" height="14" fill="${tint}" stroke="${line}"/>`,
    text(830, top, 'score crossed over'),
  ];
}

function diamond(centreX: number, centreY: number): string {
  return `<path d="M${round(centreX)} ${round(centreY - 5)}l5 5l-5 5l-5 -5z"/>`;
}

function x(panel: Panel, logit: number): number {
  return round(panel.left + (clamp(panel, logit) + 1) * (panelSize / 2));
}

function y(panel: Panel, logit: number): number {
  return round(panelTop + (1 - clamp(panel, logit)) * (panelSize / 2));
}

/** A logit as a place between the ends of the axis, -1 to 1. */
function clamp({ reach }: Panel, logit: number): number {
  return Math.max(-1, Math.min(1, logit / reach));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}

function text(atX: number, atY: number, content: string, attributes = ''): string {
  return `<text x="${round(atX)}" y="${round(atY)}"${attributes === '' ? '' : ` ${attributes}`}>${escapeXml(content)}</text>`;
}

/** Text as content or attribute of XML. */
export function escapeXml(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
