import type { ListedItem, LiveBatch, RetriedBatch, ListedItemPage } from '../../answers/batch-answers.ts';
import type { Json } from '../../answers/json.ts';
import type { VerificationState } from '../../answers/verification-answers.ts';
import { BatchBar, BatchKey, describeRate, useRate } from './batch-progress.ts';
import {
  ActionButton,
  DialogButton,
  Empty,
  Facts,
  LiveMark,
  Name,
  Notice,
  Page,
  Read,
  Section,
  State,
  Table,
  type Columns,
  When,
} from '../shell/components.ts';
import { Paging, ChoiceFilter, queryOf } from '../shell/list-filters.ts';
import { useLive, useReading } from '../shell/reading.ts';
import { mayDo, sendJson } from '../shell/request.ts';
import { Link, usePlace, type PageProps } from '../shell/router.ts';
import { asWords, formatCount, formatScore, formatSeconds } from '../shell/text.ts';
import { modeTitles } from './verification-page.ts';
import { NoWorkerNotice } from './verification-result.ts';
import { html, useEffect, useRef, useState, type VNode } from '../shell/view.ts';

const states: readonly VerificationState[] = ['performed', 'performedWithoutScore', 'error', 'performing', 'queued'];

/** A batch, followed until it has ended. */
export default function BatchPage({ params }: PageProps): VNode {
  const path = `/api/batches/${encodeURIComponent(params['id']!)}`;
  const reading = useLive<LiveBatch>(`${path}/live`);
  const name = reading.value?.batch.name;
  return html`<${Page} title="Batch" lead=${name === undefined ? null : html`<${Name} text=${name} />`} actions=${reading.value?.batch.endedAt == null ? html`<${LiveMark} isLive=${reading.isLive} />` : null}>
    <${Read} reading=${reading} what="the batch" show=${(live: Json<LiveBatch>) => html`<div class="page">
      <${Progress} live=${live} isLive=${reading.isLive} />
      <${Actions} path=${path} live=${live} onDone=${reading.readAgain} />
      ${live.reasons.length === 0 ? null : html`<${Reasons} reasons=${live.reasons} />`}
      <${Items} path=${path} isOpen=${live.batch.endedAt === null} />
      <${BatchFacts} batch=${live.batch} />
    </div>`} />
  </${Page}>`;
}

function endedOf({ counts }: Json<LiveBatch>): number {
  return counts.performed + counts.performedWithoutScore + counts.error;
}

function Progress({ live, isLive }: { live: Json<LiveBatch>; isLive: boolean }): VNode {
  const { batch, counts, workerConnected } = live;
  const parts = states.map((name) => ({ name, items: counts[name] }));
  const ended = endedOf(live);
  const rate = useRate(ended, isLive && batch.endedAt === null);
  return html`<${Section} title="Progress" actions=${html`<${State} name=${batch.state} />`}>
    <${BatchBar} parts=${parts} items=${Math.max(batch.items, ended)} />
    <${BatchKey} parts=${parts} />
    <p class="rate">${batch.state === 'open' ? 'Its recordings are still being submitted.' : describeRate(rate, counts.queued + counts.performing)}</p>
    ${workerConnected === false ? html`<${NoWorkerNotice} />` : null}
  </${Section}>`;
}

function Actions({
  path,
  live: { batch, counts, reasons },
  onDone,
}: {
  path: string;
  live: Json<LiveBatch>;
  onDone: () => void;
}): VNode {
  const [said, setSaid] = useState('');
  const [withAll, setWithAll] = useState(false);
  const isEnded = batch.endedAt !== null;
  const retryable = reasons.filter(({ retryHelps }) => retryHelps).reduce((sum, { items }) => sum + items, 0);
  const retry = async () => {
    const { retried } = await sendJson<RetriedBatch>('POST', `${path}/retry`, { all: withAll });
    setSaid(
      retried === 0
        ? 'Nothing was queued: what failed would fail again, or its audio is gone.'
        : `${formatCount(retried)} ${retried === 1 ? 'recording is' : 'recordings are'} queued again.`,
    );
    onDone();
  };
  return html`<div class="actions batch-actions">
    <a class="button" href=${`${path}/results.csv`} download>Save results as CSV</a>
    ${
      mayDo('reviewer') && isEnded && counts.error > 0
        ? html`<${ActionButton} disabled=${!withAll && retryable === 0} act=${retry}>Try failed recordings again</${ActionButton}>
      <label class="check"><input type="checkbox" checked=${withAll} onChange=${({ currentTarget }: { currentTarget: HTMLInputElement }) => setWithAll(currentTarget.checked)} /> also those whose recording is at fault</label>`
        : null
    }
    ${mayDo('operator') && !isEnded ? html`<${CancelBatch} path=${path} onDone=${onDone} />` : null}
    ${said === '' ? null : html`<${Notice} kind="info"><p>${said}</p></${Notice}>`}
  </div>`;
}

function CancelBatch({ path, onDone }: { path: string; onDone: () => void }): VNode {
  const act = (close: () => void) => async () => {
    await sendJson('POST', `${path}/cancel`);
    close();
    onDone();
  };
  return html`<${DialogButton} label="Cancel the batch" kind="danger" title="Cancel the batch?">${(
    close: () => void,
  ) => html`
    <p>What has no outcome yet ends in error. Outcomes that are there stay, and the batch can be tried again later.</p>
    <div class="actions"><button type="button" onClick=${close}>Keep it running</button><${ActionButton} kind="danger" act=${act(close)}>Cancel the batch</${ActionButton}></div>`}</${DialogButton}>`;
}

const reasonColumns: Columns<Json<LiveBatch>['reasons'][number]> = [
  ['Reason', ({ meaning, reason }) => html`${meaning} <code>${reason}</code>`],
  ['Recordings', ({ items }) => formatCount(items), 'number'],
  ['Another try', ({ retryHelps }) => (retryHelps ? 'may help' : 'does not help')],
];

function Reasons({ reasons }: { reasons: Json<LiveBatch>['reasons'] }): VNode {
  return html`<${Section} title="Why recordings have no score"><${Table} caption="Reasons" rows=${reasons} keyOf=${({ reason }: Json<LiveBatch>['reasons'][number]) => reason} columns=${reasonColumns} /></${Section}>`;
}

function stateText(state: string): string {
  return state === 'error' ? 'error (failed)' : asWords(state);
}

/** Milliseconds between reloads of the items while a batch runs. */
const itemsAgainMs = 3000;

function Items({ path, isOpen }: { path: string; isOpen: boolean }): VNode {
  const place = usePlace();
  const reading = useReading<ListedItemPage>(`${path}/items${queryOf(place.query, ['state', 'after'])}`);
  const wasOpen = useRef(isOpen);
  const isReading = useRef(false);
  isReading.current = reading.isReading;
  useEffect(() => {
    if (!isOpen && wasOpen.current) reading.readAgain(); // loads the last outcomes
    wasOpen.current = isOpen;
    if (!isOpen) return;
    const timer = setInterval(
      () => document.visibilityState === 'visible' && !isReading.current && reading.readAgain(),
      itemsAgainMs,
    );
    return () => clearInterval(timer);
  }, [isOpen]);
  return html`<${Section} title="Recordings">
    <div class="filters"><${ChoiceFilter} name="state" label="State" choices=${states} textOf=${stateText} /></div>
    <${Read} reading=${reading} what="the recordings" show=${({ items, next }: Json<ListedItemPage>) => html`
      <${Table} caption="Recordings of the batch" rows=${items} keyOf=${({ line }: Json<ListedItem>) => line} columns=${itemColumns}
        empty=${html`<${Empty} title="No recording of the batch is in this state.">Choose another one.</${Empty}>`} />
      <${Paging} next=${next} cursor="after" moreText="Next" label="Pages of the recordings" isAlwaysShown />`} />
  </${Section}>`;
}

const itemColumns: Columns<Json<ListedItem>> = [
  ['Line', ({ line }) => formatCount(line), 'number'],
  ['Recording', ({ id, source }) => html`<${Link} href=${`/verifications/${id}`}><${Name} text=${source} /></${Link}>`],
  ['State', ({ state }) => html`<${State} name=${state} />`],
  ['Model', ({ model, requestedModel }) => model ?? requestedModel],
  ['Synthesis', ({ scores }) => formatScore(scores?.synthesis), 'number'],
  ['Replay', ({ scores }) => formatScore(scores?.replay), 'number'],
  [
    'Decision or reason',
    ({ decision, why }) =>
      decision !== null
        ? html`<${State} name=${decision.label} />`
        : why !== null
          ? html`<span class="reason">${why.meaning}</span>`
          : '–',
  ],
  ['Length', ({ audio }) => (audio?.duration == null ? '–' : formatSeconds(audio.duration)), 'number'],
];

function BatchFacts({ batch }: { batch: Json<LiveBatch>['batch'] }): VNode {
  return html`<${Section} title="Facts"><${Facts} entries=${[
    ['Batch', html`<code>${batch.id}</code>`],
    ['Client', html`<${Name} text=${batch.owner} />`],
    ['Submitted by', html`<${Name} text=${batch.requestedBy} />`],
    ['Key', html`<${Name} text=${batch.key} />`],
    ['Mode', modeTitles[batch.mode]],
    ['Asked for', batch.requestedModel],
    ['phone is', batch.pinned.phone],
    ['digital is', batch.pinned.digital],
    ['Registry release', batch.release],
    ['Channels', batch.settings.channels === 'mixed' ? 'mixed into one' : 'scored apart'],
    ['Recordings', formatCount(batch.items)],
    ['Submitted', html`<${When} at=${batch.requestedAt} />`],
    ['Ended', batch.endedAt === null ? null : html`<${When} at=${batch.endedAt} />`],
    ['Times queued', batch.generation],
    ['List', html`<${Link} href=${`/verifications?batch=${batch.id}`}>its verifications with scores as bars</${Link}>`],
  ]} /></${Section}>`;
}
