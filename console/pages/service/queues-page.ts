import type { Json } from '../../answers/json.ts';
import type { JobPage, QueueList, QueueSummary } from '../../answers/queue-answers.ts';
import {
  ActionButton,
  Empty,
  Name,
  Page,
  Read,
  Section,
  State,
  Table,
  type Columns,
  When,
  ChoiceField,
} from '../shell/components.ts';
import { Paging } from '../shell/list-filters.ts';
import { useReading } from '../shell/reading.ts';
import { sendJson } from '../shell/request.ts';
import { goTo, Link, usePlace, withQuery } from '../shell/router.ts';
import { asWords, formatCount } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

type JobState = keyof QueueSummary['counts'];
type ListedJob = Json<JobPage>['jobs'][number];

/** States of jobs by the titles of their columns. */
const stateTitles: Readonly<Record<JobState, string>> = {
  waiting: 'Waiting',
  active: 'Active',
  delayed: 'Delayed',
  'waiting-children': 'Waiting for others',
  completed: 'Completed',
  failed: 'Failed',
};
const states = Object.keys(stateTitles) as JobState[];

/** The queues of the service, and the jobs of one of them in one state. */
export default function QueuesPage(): VNode {
  const { query } = usePlace();
  const reading = useReading<QueueList>('/api/queues');
  const chosen = reading.value?.queues.find(({ name }) => name === query.get('queue'));
  return html`<${Page} title="Queues" lead="Jobs of the workers. What is due is in the database: a job that is lost or removed is queued again from there while it is due."
    actions=${html`<button type="button" onClick=${reading.readAgain}>Read again</button>`}>
    <${Read} reading=${reading} what="the queues" show=${(list: Json<QueueList>) => html`<${QueueTable} list=${list} />`} />
    ${chosen === undefined ? null : html`<${Jobs} key=${chosen.name} queue=${chosen} onChanged=${reading.readAgain} />`}
  </${Page}>`;
}

const queueColumns: Columns<Json<QueueSummary>> = [
  ['Queue', ({ name }) => html`<${Link} href=${`/queues?queue=${name}`}>${name}</${Link}>`],
  ...states.map(
    (state) =>
      [
        stateTitles[state],
        ({ name, counts }: Json<QueueSummary>) =>
          counts[state] === 0
            ? '0'
            : html`<${Link} href=${`/queues?queue=${name}&state=${state}`}>${formatCount(counts[state])}</${Link}>`,
        'number',
      ] as const,
  ),
  ['Workers', ({ workers }) => workers, 'number'],
  ['State', ({ isPaused }) => html`<${State} name=${isPaused ? 'paused' : 'running'} />`],
];

function QueueTable({ list: { backend, queues } }: { list: Json<QueueList> }): VNode {
  return html`<${Section} title=${`In ${backend === 'redis' ? 'Redis' : 'PostgreSQL'}`}><${Table} caption="Queues" rows=${queues} keyOf=${({ name }: Json<QueueSummary>) => name} columns=${queueColumns} /></${Section}>`;
}

function Jobs({
  queue: { name: queue, isPaused },
  onChanged,
}: {
  queue: Json<QueueSummary>;
  onChanged: () => void;
}): VNode {
  const place = usePlace();
  const [state, from] = [place.query.get('state') ?? 'failed', place.query.get('from') ?? '0'];
  const reading = useReading<JobPage>(`/api/queues/${queue}/jobs?${new URLSearchParams({ state, from }).toString()}`);
  const choose = (chosen: string) => goTo(withQuery(place, { state: chosen, from: null }), { replace: true });
  const change = async (id: string, path: 'run' | 'remove') => {
    await sendJson('POST', `/api/queues/${queue}/jobs/${encodeURIComponent(id)}/${path}`);
    reading.readAgain();
    onChanged();
  };
  const pauseOrResume = async () => {
    await sendJson('POST', `/api/queues/${queue}/${isPaused ? 'resume' : 'pause'}`);
    onChanged();
  };
  const hasEnded = state === 'failed' || state === 'completed';
  const columns: Columns<ListedJob> = [
    ['Job', ({ id }) => html`<code>${id}</code>`],
    ['What', ({ name, payload }) => html`${name} <code><${Name} text=${JSON.stringify(payload)} /></code>`],
    [hasEnded ? 'Ended' : 'Queued', ({ queuedAt, endedAt }) => html`<${When} at=${hasEnded ? endedAt : queuedAt} />`],
    ['Attempts', ({ tries }) => tries, 'number'],
    ['Reason', ({ reason }) => html`<${Name} text=${reason} />`],
    [
      'Change',
      ({ id }) => html`<span class="actions">
                  ${state === 'failed' || state === 'delayed' ? html`<${ActionButton} act=${() => change(id, 'run')}>${state === 'failed' ? 'Retry' : 'Run now'}</${ActionButton}>` : null}
                  ${state === 'active' ? null : html`<${ActionButton} kind="danger" act=${() => change(id, 'remove')}>Remove</${ActionButton}>`}
                </span>`,
    ],
  ];
  return html`<${Section} title=${`Jobs of ${queue}`} actions=${html`<${ActionButton} act=${pauseOrResume}>${isPaused ? 'Resume' : 'Pause'} ${queue}</${ActionButton}>`}>
    <form class="filters" aria-label="Filters" onSubmit=${(event: Event) => event.preventDefault()}>
      <${ChoiceField} label="State" value=${state} choices=${states.map((each) => [each, asWords(stateTitles[each])])} onChoose=${choose} />
    </form>
    <${Read} reading=${reading} what="the jobs" show=${({ jobs, next }: Json<JobPage>) => html`
      <${Table} caption=${`${queue}: ${asWords(state)} jobs`} rows=${jobs} keyOf=${({ id }: ListedJob) => id} columns=${columns}
        empty=${html`<${Empty} title="No job is in this state." />`} />
      <${Paging} next=${next} cursor="from" isAlwaysShown />`} />
  </${Section}>`;
}
