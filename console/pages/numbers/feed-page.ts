import type { FeedLoad, FeedReject, FeedRejects } from '../../answers/number-answers.ts';
import type { Json } from '../../answers/json.ts';
import { Paging, queryOf } from '../shell/list-filters.ts';
import {
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
import { useLive, useReading } from '../shell/reading.ts';
import { ReasonButton } from '../shell/reason-dialog.ts';
import { mayDo, sendJson } from '../shell/request.ts';
import { usePlace, type PageProps } from '../shell/router.ts';
import { formatBytes, formatCount, visible } from '../shell/text.ts';
import { html, useState, type VNode } from '../shell/view.ts';

/** A load, followed until it has ended or is held, with its gates and refused rows. */
export default function FeedPage({ params }: PageProps): VNode {
  const id = params['id']!;
  const [times, setTimes] = useState(0);
  return html`<${Load} key=${times} id=${id} onDecided=${() => setTimes(times + 1)} />` as VNode;
}

function Load({ id, onDecided }: { id: string; onDecided: () => void }): VNode {
  const reading = useLive<FeedLoad>(`/api/feeds/loads/${encodeURIComponent(id)}/live`);
  const { value, isLive } = reading;
  const runs = value?.state === 'queued' || value?.state === 'running';
  return html`<${Page} title=${`Load ${id}`} lead=${value === undefined ? null : visible(value.fileName)} actions=${runs ? html`<${LiveMark} isLive=${isLive} />` : null}>
    <${Read} reading=${reading} what="the load" show=${(load: Json<FeedLoad>) => html`<${LoadParts} load=${load} onDecided=${onDecided} />`} />
  </${Page}>`;
}

function LoadParts({ load, onDecided }: { load: Json<FeedLoad>; onDecided: () => void }): VNode {
  const { failure, gates, decision } = load;
  return html`<div class="page">
    ${failure === null ? null : html`<${Notice} kind="bad"><p><strong>Failed: nothing of it counts.</strong> ${visible(failure.reason)} <code>${failure.code}</code></p></${Notice}>`}
    ${load.state === 'held' ? html`<${Held} loadId=${load.loadId} onDecided=${onDecided} />` : null}
    ${gates.length === 0 ? null : html`<${Gates} gates=${gates} />`}
    <${Section} title="The load"><${Facts} entries=${[
      ['State', html`<${State} name=${load.state} />`],
      ['Feed', html`<${Name} text=${load.source === '' ? load.feed : `${load.feed}/${load.source}`} />`],
      [
        'Decided',
        decision &&
          html`${decision.kind} by <${Name} text=${decision.by} /> <${When} at=${decision.at} />: ${visible(decision.reason)}`,
      ],
      ['Rows given', formatCount(load.rowsGiven)],
      ['Accepted', formatCount(load.rowsAccepted)],
      ['Rejected', formatCount(load.rowsRejected)],
      ['Changed', formatCount(load.rowsChanged)],
      ['Too old to count', load.rowsTooOld === null ? null : formatCount(load.rowsTooOld)],
      ['Labels withheld', load.labelsWithheld === null ? null : formatCount(load.labelsWithheld)],
      ['Bytes', formatBytes(load.bytes)],
      ['SHA-256', html`<code>${load.sha256}</code>`],
      ['Submitted', html`<${When} at=${load.requestedAt} /> by <${Name} text=${load.submittedBy} />`],
      ['Ended', load.finishedAt && html`<${When} at=${load.finishedAt} />`],
    ]} /></${Section}>
    ${(load.rowsRejected ?? 0) === 0 ? null : html`<${Rejects} loadId=${load.loadId} />`}
  </div>`;
}

function Held({ loadId, onDecided }: { loadId: number; onDecided: () => void }): VNode {
  const decide = (decision: 'release' | 'discard') => async (reason: string) => {
    await sendJson('POST', `/api/feeds/loads/${loadId}/decision`, { decision, reason });
    onDecided();
  };
  return html`<${Notice} kind="warn">
    <p><strong>Held: nothing of it counts until an operator decides.</strong> The gates below say what is unusual.</p>
    ${
      mayDo('operator')
        ? html`<div class="actions">
      <${ReasonButton} label="Release" title="Release the load" confirm="Release the load" act=${decide('release')}><p>The file is read again and merged, past its gates.</p></${ReasonButton}>
      <${ReasonButton} label="Discard" title="Discard the load" confirm="Discard the load" isDanger=${true} act=${decide('discard')}><p>None of it is merged, and its file is removed.</p></${ReasonButton}>
    </div>`
        : null
    }
  </${Notice}>` as VNode;
}

const gateColumns: Columns<Json<FeedLoad['gates'][number]>> = [
  ['Gate', ({ gate }) => gate.replaceAll('_', ' ')],
  ['Here, %', ({ figure }) => formatCount(figure), 'number'],
  ['Usual, %', ({ usual }) => formatCount(usual), 'number'],
  ['Why', ({ reason }) => visible(reason)],
];

function Gates({ gates }: { gates: readonly Json<FeedLoad['gates'][number]>[] }): VNode {
  return html`<${Section} title="Gates that it did not pass"><${Table} box="wide-list" caption="Gates" rows=${gates} keyOf=${({ reason }: Json<FeedLoad['gates'][number]>) => reason} columns=${gateColumns} /></${Section}>`;
}

const rejectColumns: Columns<Json<FeedReject>> = [
  ['Line', ({ line }) => formatCount(line), 'number'],
  ['Code', ({ code }) => html`<code>${code}</code>`],
  ['Why', ({ reason }) => visible(reason)],
  ['Row', ({ excerpt }) => visible(excerpt)],
];

function Rejects({ loadId }: { loadId: number }): VNode {
  const place = usePlace();
  const reading = useReading<FeedRejects>(`/api/feeds/loads/${loadId}/rejects${queryOf(place.query, ['after'])}`);
  return html`<${Section} title="Refused rows"><${Read} reading=${reading} what="refused rows" show=${({
    rejects,
    next,
  }: Json<FeedRejects>) => html`
    <${Table} box="wide-list" caption="Rows of the file that were refused" rows=${rejects} keyOf=${({ line }: Json<FeedReject>) => line} columns=${rejectColumns} />
    <${Paging} next=${next} cursor="after" moreText="More" label="Pages of the refused rows" stays=${true} />`} /></${Section}>`;
}
