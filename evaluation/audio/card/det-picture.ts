import type { EvaluationReport, ScoreFigures } from '../evaluation-report.ts';
import { escapeXml } from '../../../pipelines/audio/drift/drift-picture.ts';

/** A curve of the picture: pairs of false alarm and miss, and its equal error rate. */
interface DetCurve {
  readonly name: string;
  readonly rate: number;
  readonly points: readonly (readonly [number, number])[];
  /** Broken line: for replay, whose recordings are of another kind. */
  readonly broken: boolean;
}

const width = 800;
const height = 640;
const plot = { left: 70, top: 56, size: 500 } as const;
const ticks = [0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9] as const;
const lowest = 0.0008;
const highest = 0.93;
/** Distinguishable also with colour blindness (Okabe and Ito). */
const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000', '#7f7f7f'] as const;

/** The curves of a report, one for each model, channel and score. */
export function curvesOf({ sections }: Pick<EvaluationReport, 'sections'>): DetCurve[] {
  return sections.flatMap(({ model, channel, scores }) =>
    scores.map(({ score, equalError, curve }: ScoreFigures) => ({
      name: `${model} ${score}${model.startsWith(`${channel}/`) ? '' : ` (${channel})`}`,
      rate: equalError.rate,
      points: curve,
      broken: score === 'replay',
    })),
  );
}

/**
 * The detection error tradeoff as an SVG (Martin et al., "The DET curve in assessment of detection task performance", 1997):
 * misses over false alarms, both on the scale of the normal distribution. Nearer to the lower left corner is better.
 */
export function drawDetCurves(curves: readonly DetCurve[], title: string): string {
  const names = [...new Set(curves.map(({ name }) => name.replace(/ (synthesis|replay)/, '')))];
  const colourOf = ({ name }: DetCurve) =>
    colours[names.indexOf(name.replace(/ (synthesis|replay)/, '')) % colours.length]!;
  const { left, top, size } = plot;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="12" fill="#222">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="${left}" y="26" font-size="15" font-weight="bold">${escapeXml(title)}</text>`,
    `<text x="${left}" y="43" fill="#555">Lower left is better. The dot is the equal error rate. Full line: synthesis; broken line: replay.</text>`,
    ...ticks.flatMap(drawTick),
    `<rect x="${left}" y="${top}" width="${size}" height="${size}" fill="none" stroke="#222"/>`,
    `<line x1="${across(lowest)}" y1="${down(lowest)}" x2="${across(highest)}" y2="${down(highest)}" stroke="#999" stroke-dasharray="2 4"/>`,
    ...curves.map((curve) => drawCurve(curve, colourOf(curve))),
    ...curves.map((curve, at) => drawLegend(curve, colourOf(curve), at)),
    `<text x="${left + size / 2}" y="${top + size + 42}" text-anchor="middle">False alarms: attacks accepted (%)</text>`,
    `<text transform="translate(20 ${top + size / 2}) rotate(-90)" text-anchor="middle">Misses: authentic recordings refused (%)</text>`,
    '</svg>',
    '',
  ].join('\n');
}

function drawTick(share: number): string[] {
  const label = String(Number((share * 100).toPrecision(3)));
  const [x, y] = [across(share), down(share)];
  const { left, top, size } = plot;
  return [
    `<path d="M${x} ${top}V${top + size}M${left} ${y}H${left + size}" stroke="#e2e2e2"/>`,
    `<text x="${x}" y="${top + size + 18}" text-anchor="middle">${label}</text>`,
    `<text x="${left - 8}" y="${Number(y) + 4}" text-anchor="end">${label}</text>`,
  ];
}

function drawCurve({ points, rate, broken }: DetCurve, colour: string): string {
  const path = points
    .map(([falseAlarm, miss], at) => `${at === 0 ? 'M' : 'L'}${across(falseAlarm)} ${down(miss)}`)
    .join('');
  const line = `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2" stroke-linejoin="round"${broken ? ' stroke-dasharray="7 4"' : ''}/>`;
  return `${line}<circle cx="${across(rate)}" cy="${down(rate)}" r="4" fill="${colour}" stroke="#fff"/>`;
}

function drawLegend({ name, rate, broken }: DetCurve, colour: string, at: number): string {
  const x = plot.left + plot.size + 16;
  const y = plot.top + 12 + at * 34;
  return [
    `<line x1="${x}" y1="${y - 4}" x2="${x + 24}" y2="${y - 4}" stroke="${colour}" stroke-width="2"${broken ? ' stroke-dasharray="7 4"' : ''}/>`,
    `<text x="${x + 30}" y="${y}">${escapeXml(name)}</text>`,
    `<text x="${x + 30}" y="${y + 14}" fill="#555">${(rate * 100).toFixed(1)} %</text>`,
  ].join('');
}

function across(share: number): string {
  return (plot.left + place(share) * plot.size).toFixed(1);
}

function down(share: number): string {
  return (plot.top + (1 - place(share)) * plot.size).toFixed(1);
}

/** Position along an axis from 0 to 1; values outside of its range are at its ends. */
function place(share: number): number {
  const inside = Math.min(highest, Math.max(lowest, share));
  return (probit(inside) - probit(lowest)) / (probit(highest) - probit(lowest));
}

/**
 * The quantile of the standard normal distribution: error rates of normal scores are a straight line over it. Rational
 * approximation of Odeh and Evans (1974), good to 1.5e-8, more than a picture shows.
 * @throws RangeError outside of 0 to 1, both excluded
 */
export function probit(share: number): number {
  if (!(share > 0 && share < 1)) throw new RangeError(`${share} is no share between 0 and 1.`);
  const lower = Math.min(share, 1 - share);
  const t = Math.sqrt(-2 * Math.log(lower));
  const top = polynomial(t, [-0.322232431088, -1, -0.342242088547, -0.0204231210245, -0.453642210148e-4]);
  const bottom = polynomial(t, [0.099348462606, 0.588581570495, 0.531103462366, 0.10353775285, 0.38560700634e-2]);
  const quantile = t + top / bottom;
  return share < 0.5 ? -quantile : quantile;
}

function polynomial(x: number, coefficients: readonly number[]): number {
  return coefficients.reduceRight((sum, coefficient) => sum * x + coefficient, 0);
}
