import type { Json } from '../../answers/json.ts';
import type { ShownReport } from '../../answers/model-answers.ts';
import type { Scores } from '../../answers/voice-answers.ts';
import { Empty, Facts, Name, Page, Read, Section, State, Table, When } from '../shell/components.ts';
import { useReading } from '../shell/reading.ts';
import { Link, type PageProps } from '../shell/router.ts';
import { asWords, formatCount, formatScore } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

/** A drift report: what changes on a batch if one model replaces another. */
export default function DriftPage({ params: { report } }: PageProps): VNode {
  const path = `/api/drift-reports/${encodeURIComponent(report!)}`;
  const reading = useReading<ShownReport>(path);
  return html`<${Page} title=${`Drift report ${report}`} lead="Two models on the same recordings: which decisions change, and by how much scores move. It says nothing of which one is right.">
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
  return html`<${Table} caption="Recordings by decision" rows=${classes} keyOf=${({ label }: Json<ShownReport>['classes'][number]) => label} columns=${[
    { title: 'Decision', show: ({ label }: Json<ShownReport>['classes'][number]) => html`<${State} name=${label} />` },
    { title: old.model, isNumber: true, show: (row: Json<ShownReport>['classes'][number]) => formatCount(row.old) },
    { title: now.model, isNumber: true, show: (row: Json<ShownReport>['classes'][number]) => formatCount(row.new) },
    {
      title: 'Change of the share',
      isNumber: true,
      show: ({ change }: Json<ShownReport>['classes'][number]) => percent(change),
    },
    {
      title: '95 % interval',
      isNumber: true,
      show: ({ interval }: Json<ShownReport>['classes'][number]) =>
        interval === null ? '–' : `${percent(interval[0])} to ${percent(interval[1])}`,
    },
    {
      title: 'p (McNemar)',
      isNumber: true,
      show: ({ p }: Json<ShownReport>['classes'][number]) =>
        p === null ? '–' : p < 0.001 ? 'below 0.001' : p.toFixed(3),
    },
  ]} />
    <${Table} caption="From one decision to another" rows=${moves} keyOf=${(move: Json<ShownReport>['moves'][number]) => `${move.old} ${move.new}`} columns=${[
      { title: old.model, show: (move: Json<ShownReport>['moves'][number]) => html`<${State} name=${move.old} />` },
      { title: now.model, show: (move: Json<ShownReport>['moves'][number]) => html`<${State} name=${move.new} />` },
      {
        title: 'Recordings',
        isNumber: true,
        show: ({ recordings }: Json<ShownReport>['moves'][number]) => formatCount(recordings),
      },
    ]} />` as VNode;
}

function Shifts({ report: { shifts } }: { report: Json<ShownReport> }): VNode {
  return html`<${Table} caption="Shifts of the scores, new less old" rows=${shifts} keyOf=${({ score }: Json<ShownReport>['shifts'][number]) => score} columns=${[
    { title: 'Score', show: ({ score }: Json<ShownReport>['shifts'][number]) => score },
    {
      title: 'Compared',
      isNumber: true,
      show: ({ compared }: Json<ShownReport>['shifts'][number]) => formatCount(compared),
    },
    { title: 'Mean shift', isNumber: true, show: ({ mean }: Json<ShownReport>['shifts'][number]) => signed(mean) },
    {
      title: '95 % interval',
      isNumber: true,
      show: ({ interval }: Json<ShownReport>['shifts'][number]) =>
        interval === null ? '–' : `${signed(interval[0])} to ${signed(interval[1])}`,
    },
    {
      title: '5 %',
      isNumber: true,
      show: ({ fifthPercentile }: Json<ShownReport>['shifts'][number]) => signed(fifthPercentile),
    },
    { title: 'Median', isNumber: true, show: ({ median }: Json<ShownReport>['shifts'][number]) => signed(median) },
    {
      title: '95 %',
      isNumber: true,
      show: ({ ninetyFifthPercentile }: Json<ShownReport>['shifts'][number]) => signed(ninetyFifthPercentile),
    },
    { title: 'Largest', isNumber: true, show: ({ largest }: Json<ShownReport>['shifts'][number]) => signed(largest) },
    {
      title: 'Same order',
      isNumber: true,
      show: ({ rankCorrelation }: Json<ShownReport>['shifts'][number]) => rankCorrelation?.toFixed(3) ?? '–',
    },
  ]} />`;
}

type Flip = Json<ShownReport>['flips'][number];

function Flips({ report: { flips, counts, old, new: now } }: { report: Json<ShownReport> }): VNode {
  if (flips.length === 0)
    return html`<${Empty} title="No decision changed.">Scores may have moved all the same: see above.</${Empty}>`;
  return html`<${Table} caption="Changed decisions" rows=${flips} keyOf=${({ line }: Flip) => line} columns=${[
    { title: 'Line', isNumber: true, show: ({ line }: Flip) => formatCount(line) },
    { title: 'Recording', show: ({ source }: Flip) => html`<${Name} text=${source} />` },
    { title: old.model, show: (flip: Flip) => html`<${State} name=${flip.old.label} />` },
    { title: 'Synthesis, replay', isNumber: true, show: (flip: Flip) => scoresText(flip.old.scores) },
    { title: now.model, show: (flip: Flip) => html`<${State} name=${flip.new.label} />` },
    { title: 'Now', isNumber: true, show: (flip: Flip) => scoresText(flip.new.scores) },
  ]} />
    ${counts.flips > flips.length ? html`<p class="hint">The ${formatCount(flips.length)} largest of ${formatCount(counts.flips)}; <code>caller-trust models drift --output FILE</code> writes all that the report lists.</p>` : null}` as VNode;
}

function NotCompared({ report: { notComparedReasons, old, new: now } }: { report: Json<ShownReport> }): VNode {
  return html`<${Table} caption="Why recordings were not compared" rows=${notComparedReasons} keyOf=${(row: Json<ShownReport>['notComparedReasons'][number]) => `${row.old} ${row.new}`} columns=${[
    { title: old.model, show: (row: Json<ShownReport>['notComparedReasons'][number]) => asWords(row.old ?? 'scored') },
    { title: now.model, show: (row: Json<ShownReport>['notComparedReasons'][number]) => asWords(row.new ?? 'scored') },
    {
      title: 'Recordings',
      isNumber: true,
      show: ({ recordings }: Json<ShownReport>['notComparedReasons'][number]) => formatCount(recordings),
    },
  ]} />`;
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
