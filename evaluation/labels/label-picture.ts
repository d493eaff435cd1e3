import type { LabelReport, RuleReport } from './label-report.ts';

const width = 960;
const panel = { left: 76, width: 640, height: 170, gap: 46, top: 70 } as const;
/** Distinguishable also with colour blindness (Okabe and Ito). */
const ruleColours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#7f7f7f', '#e69f00', '#56b4e9'] as const;
const muted = '#5d6877';

type Week = RuleReport['series'][number];

/** A graph of a figure by week, on a linear or logarithmic scale. */
interface Graph {
  readonly title: string;
  readonly value: (week: Week) => number;
  readonly ticks: readonly number[];
  readonly log: boolean;
}

const graphs: readonly Graph[] = [
  { title: 'labelled numbers', value: ({ labels }) => labels, ticks: [1000, 10_000, 100_000, 1_000_000], log: true },
  {
    title: "share of the next week's reports that are about a labelled number",
    value: ({ recall }) => recall,
    ticks: [0, 0.05, 0.1, 0.15, 0.2, 0.25],
    log: false,
  },
  {
    title: 'share of labelled numbers that are reported again within 7 days',
    value: ({ againInWeek }) => againInWeek,
    ticks: [0, 0.1, 0.2, 0.3, 0.4, 0.5],
    log: false,
  },
];

/** The weekly figures as SVG, with a line for each rule. The same report gives the same bytes. */
export function drawLabelReport({ history, rules }: LabelReport): string {
  const height = panel.top + graphs.length * (panel.height + panel.gap);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#1f2733" role="img">`,
    `<title>Labels from reports of ${history.from} to ${history.until}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="${panel.left}" y="34" font-size="20" font-weight="bold">Labels, and what is reported next</text>`,
    ...graphs.flatMap((graph, at) => drawGraph(graph, rules, panel.top + at * (panel.height + panel.gap))),
    ...rules.map(({ name }, at) => legendLine(name, at)),
    '</svg>\n',
  ].join('\n');
}

function drawGraph(graph: Graph, rules: readonly RuleReport[], top: number): string[] {
  const weeks = rules[0]!.series;
  const scale = (value: number) => (graph.log ? Math.log10(Math.max(value, 1)) : value);
  const [least, most] = [scale(graph.ticks[0]!), scale(graph.ticks.at(-1)!)];
  const y = (value: number) =>
    coordinate(top + panel.height * (1 - Math.min(1, Math.max(0, (scale(value) - least) / (most - least)))));
  const x = (at: number) =>
    coordinate(panel.left + (weeks.length === 1 ? panel.width / 2 : (panel.width * at) / (weeks.length - 1)));
  const datesShown = weeks.flatMap(({ date }, at) =>
    at % Math.max(1, Math.ceil(weeks.length / 8)) === 0 ? [{ date, at }] : [],
  );
  return [
    `<text x="${panel.left}" y="${top - 8}" font-weight="bold">${graph.title}</text>`,
    ...graph.ticks.flatMap((tick) => [
      `<path d="M${panel.left} ${y(tick)}h${panel.width}" stroke="#c9d0d9" stroke-width="0.5"/>`,
      `<text x="${panel.left - 6}" y="${y(tick) + 4}" text-anchor="end" fill="${muted}" font-size="11">${tick.toLocaleString('en-US')}</text>`,
    ]),
    ...datesShown.map(
      ({ date, at }) =>
        `<text x="${x(at)}" y="${top + panel.height + 16}" text-anchor="middle" fill="${muted}" font-size="10">${date}</text>`,
    ),
    ...rules.map(
      ({ series }, at) =>
        `<polyline fill="none" stroke="${colourOf(at)}" stroke-width="${at === 0 ? 3 : 1.5}" points="${series.map((week, place) => `${x(place)},${y(graph.value(week))}`).join(' ')}"/>`,
    ),
  ];
}

function legendLine(name: string, at: number): string {
  const y = panel.top + 12 + at * 20;
  return `<path d="M${panel.left + panel.width + 18} ${y - 4}h24" stroke="${colourOf(at)}" stroke-width="${at === 0 ? 3 : 1.5}"/><text x="${panel.left + panel.width + 50}" y="${y}">${name}</text>`;
}

const colourOf = (at: number) => ruleColours[at % ruleColours.length]!;
const coordinate = (value: number) => Math.round(value * 10) / 10;
