import type { Json } from '../../answers/json.ts';
import type { ShownReport } from '../../answers/model-answers.ts';
import type { Scores } from '../../answers/voice-answers.ts';
import { Empty, Facts, Name, Page, Read, Section, State, Table, type Columns, When } from '../shell/components.ts';
import { useReading } from '../shell/reading.ts';
import { Link, type PageProps } from '../shell/router.ts';
import { asWords, formatCount, formatScore } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

/** A drift report: what changes on a batch if one model replaces another. */
export default function DriftPage({ params: { report } }: PageProps): VNode {
  const path = `/api/drift-reports/${encodeURIComponent(report!)}`;
  const reading = useReading<ShownReport>(path);
  return html`<${Page} title=${`Drift report ${report}`} lead="Two models on the same recordings: which decisions change, and by how much scores move. It does not say which is right.">
    <${Read} reading=${reading} what="the report" show=${(value: Json<ShownReport>) => html`<div class="page">
      <${Section} title="What was compared"><${ReportFacts} report=${value} /></${Section}>
      <${Section} title="Picture"><${Picture} report=${value} path=${`${path}/picture.svg`} /></${Section}>
      <${Section} title="Decisions"><${Decisions} report=${value} /></${Section}>
      <${Section} title="Scores"><${Shifts} report=${value} /></${Section}>
      <${Section} title="Recordings with another decision"><${Flips} report=${value} /></${Section}>
      ${value.counts.notCompared === 0 ? null : html`<${Section} title="Not compared"><${NotCompared} report=${value} /></${Section}>`}
    </div>`} />
  </${Page}>`;
}

function ReportFacts({
  report: { old, new: now, batch, counts, madeAt, madeBy },
}: {
  report: Json<ShownReport>;
}): VNode {
  return html`<${Facts} entries=${[
    ['Old model', html`<${Link} href=${`/models/${old.model}`}>${old.model}</${Link}>`],
    ['New model', html`<${Link} href=${`/models/${now.model}`}>${now.model}</${Link}>`],
    ['Batch', html`<${Link} href=${`/batches/${batch}`}><code>${batch}</code></${Link}>`],
    ['Recordings', `${formatCount(counts.recordings)} of ${formatCount(counts.items)} items`],
    ['Compared', formatCount(counts.compared)],
    [
      'Another decision',
      `${formatCount(counts.flips)}${counts.compared === 0 ? '' : ` (${((100 * counts.flips) / counts.compared).toFixed(1)} %)`}`,
    ],
    ['Made', html`<${When} at=${madeAt} />`],
    ['By', html`<${Name} text=${madeBy} />`],
  ]} />`;
}

function Picture({
  report: { old, new: now, counts, pointsDrawn },
  path,
}: {
  report: Json<ShownReport>;
  path: string;
}): VNode {
  const alternative = `Scores of ${old.model} to the right against those of ${now.model} upwards, a panel for synthesis and one for replay: ${counts.compared} recordings compared, ${counts.flips} with another decision. The tables below have the figures.`;
  return html`<figure class="picture drift-picture" tabindex="0"><img src=${path} width="972" height="584" alt=${alternative} /></figure>
    <p class="hint">${formatCount(pointsDrawn)} recordings are drawn; a diamond is one whose decision changed, the broken lines are the thresholds. <a href=${path} target="_blank" rel="noreferrer">The picture alone</a></p>` as VNode;
}

function Decisions({ report: { classes, moves, old, new: now } }: { report: Json<ShownReport> }): VNode {
  const classColumns: Columns<Json<ShownReport>['classes'][number]> = [
    ['Decision', ({ label }) => html`<${State} name=${label} />`],
    [old.model, (row) => formatCount(row.old), 'number'],
    [now.model, (row) => formatCount(row.new), 'number'],
    ['Change of the share', ({ change }) => percent(change), 'number'],
    [
      '95 % interval',
      ({ interval }) => (interval === null ? '–' : `${percent(interval[0])} to ${percent(interval[1])}`),
      'number',
    ],
    ['p (McNemar)', ({ p }) => (p === null ? '–' : p < 0.001 ? 'below 0.001' : p.toFixed(3)), 'number'],
  ];
  const moveColumns: Columns<Json<ShownReport>['moves'][number]> = [
    [old.model, (move) => html`<${State} name=${move.old} />`],
    [now.model, (move) => html`<${State} name=${move.new} />`],
    ['Recordings', ({ recordings }) => formatCount(recordings), 'number'],
  ];
  return html`<${Table} caption="Recordings by decision" rows=${classes} keyOf=${({ label }: Json<ShownReport>['classes'][number]) => label} columns=${classColumns} />
    <${Table} caption="From one decision to another" rows=${moves} keyOf=${(move: Json<ShownReport>['moves'][number]) => `${move.old} ${move.new}`} columns=${moveColumns} />` as VNode;
}

const shiftColumns: Columns<Json<ShownReport>['shifts'][number]> = [
  ['Score', ({ score }) => score],
  ['Compared', ({ compared }) => formatCount(compared), 'number'],
  ['Mean shift', ({ mean }) => signed(mean), 'number'],
  [
    '95 % interval',
    ({ interval }) => (interval === null ? '–' : `${signed(interval[0])} to ${signed(interval[1])}`),
    'number',
  ],
  ['5 %', ({ fifthPercentile }) => signed(fifthPercentile), 'number'],
  ['Median', ({ median }) => signed(median), 'number'],
  ['95 %', ({ ninetyFifthPercentile }) => signed(ninetyFifthPercentile), 'number'],
  ['Largest', ({ largest }) => signed(largest), 'number'],
  ['Same order', ({ rankCorrelation }) => rankCorrelation?.toFixed(3) ?? '–', 'number'],
];

function Shifts({ report: { shifts } }: { report: Json<ShownReport> }): VNode {
  return html`<${Table} caption="Shifts of the scores, new less old" rows=${shifts} keyOf=${({ score }: Json<ShownReport>['shifts'][number]) => score} columns=${shiftColumns} />`;
}

type Flip = Json<ShownReport>['flips'][number];

function Flips({ report: { flips, counts, old, new: now } }: { report: Json<ShownReport> }): VNode {
  if (flips.length === 0)
    return html`<${Empty} title="No decision changed.">Scores may have moved even so: see above.</${Empty}>`;
  const columns: Columns<Flip> = [
    ['Line', ({ line }) => formatCount(line), 'number'],
    ['Recording', ({ source }) => html`<${Name} text=${source} />`],
    [old.model, (flip) => html`<${State} name=${flip.old.label} />`],
    ['Synthesis, replay', (flip) => scoresText(flip.old.scores), 'number'],
    [now.model, (flip) => html`<${State} name=${flip.new.label} />`],
    ['Now', (flip) => scoresText(flip.new.scores), 'number'],
  ];
  return html`<${Table} caption="Changed decisions" rows=${flips} keyOf=${({ line }: Flip) => line} columns=${columns} />
    ${counts.flips > flips.length ? html`<p class="hint">The ${formatCount(flips.length)} largest of ${formatCount(counts.flips)}; <code>caller-trust models drift --output FILE</code> writes all that the report lists.</p>` : null}` as VNode;
}

function NotCompared({ report: { notComparedReasons, old, new: now } }: { report: Json<ShownReport> }): VNode {
  const columns: Columns<Json<ShownReport>['notComparedReasons'][number]> = [
    [old.model, (row) => asWords(row.old ?? 'scored')],
    [now.model, (row) => asWords(row.new ?? 'scored')],
    ['Recordings', ({ recordings }) => formatCount(recordings), 'number'],
  ];
  return html`<${Table} caption="Why recordings were not compared" rows=${notComparedReasons} keyOf=${(row: Json<ShownReport>['notComparedReasons'][number]) => `${row.old} ${row.new}`} columns=${columns} />`;
}

function scoresText({ synthesis, replay }: Scores): string {
  return `${formatScore(synthesis)}, ${formatScore(replay)}`;
}

function percent(share: number | null): string {
  return share === null ? '–' : `${share > 0 ? '+' : ''}${(100 * share).toFixed(1)} %`;
}

function signed(value: number | null): string {
  return value === null ? '–' : `${value > 0 ? '+' : ''}${value.toFixed(3)}`;
}
