import type { Json } from '../../answers/json.ts';
import type { NightBuild, NightDetail } from '../../answers/night-answers.ts';
import { nameOf } from './artefact-name.ts';
import { Table, type Columns } from '../shell/components.ts';
import { formatSeconds } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

/** A phase of a night; `to` is null while it runs. */
interface Stage {
  readonly name: string;
  readonly from: number;
  readonly to: number | null;
}

/** The timeline of a night: its stages, then each build, on one axis. */
export function NightTimeline({
  night,
  builds,
}: {
  night: Json<NightDetail['night']>;
  builds: readonly Json<NightBuild>[];
}): VNode {
  const stages = [...stagesOf(night, builds), ...builds.flatMap(stageOf)];
  const start = Date.parse(night.requestedAt);
  const end = night.finishedAt === null ? Date.now() : Date.parse(night.finishedAt);
  const share = (instant: number) => Math.max(0, Math.min(1, (instant - start) / Math.max(1, end - start))) * 100;
  const columns: Columns<Stage> = [
    ['Stage', ({ name }) => name],
    [
      'In the night',
      ({ from, to }) =>
        html`<span class="timeline" aria-hidden="true"><span class=${to === null ? 'timeline-bar open' : 'timeline-bar'} style=${{ left: `${share(from)}%`, width: `${Math.max(0.5, share(to ?? end) - share(from))}%` }}></span></span>`,
    ],
    ['Began after', ({ from }) => formatSeconds((from - start) / 1000), 'number'],
    ['Took', ({ from, to }) => (to === null ? 'running' : formatSeconds((to - from) / 1000)), 'number'],
  ];
  return html`<${Table} caption="Timings of the night" rows=${stages} keyOf=${({ name }: Stage) => name} columns=${columns} />`;
}

function stagesOf(
  { requestedAt, openedAt, asOf, finishedAt }: Json<NightDetail['night']>,
  builds: readonly Json<NightBuild>[],
): Stage[] {
  const [requested, opened, snapshot, finished] = [requestedAt, openedAt, asOf, finishedAt].map((at) =>
    at === null ? null : Date.parse(at),
  );
  const starts = builds.flatMap(({ startedAt }) => (startedAt === null ? [] : [Date.parse(startedAt)]));
  const ends = builds.flatMap(({ builtAt }) => (builtAt === null ? [] : [Date.parse(builtAt)]));
  const [firstStart, lastEnd] = [
    starts.length === 0 ? null : Math.min(...starts),
    ends.length < builds.length || ends.length === 0 ? null : Math.max(...ends),
  ];
  return [
    { name: 'waiting for a worker', from: requested!, to: opened },
    { name: 'opening and counting', from: opened, to: snapshot === null ? null : (firstStart ?? snapshot) },
    { name: 'building', from: firstStart, to: lastEnd ?? (finished === null ? null : finished) },
    { name: 'publishing', from: lastEnd, to: finished },
  ].filter((stage): stage is Stage => stage.from !== null && stage.from !== undefined);
}

function stageOf({ cache, country, startedAt, builtAt }: Json<NightBuild>): Stage[] {
  return startedAt === null
    ? []
    : [
        {
          name: nameOf({ cache, country }),
          from: Date.parse(startedAt),
          to: builtAt === null ? null : Date.parse(builtAt),
        },
      ];
}
