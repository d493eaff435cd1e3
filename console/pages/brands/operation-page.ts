import { operationTitles, asWords, formatCount, visible } from '../shell/text.ts';
import type { Json } from '../../answers/json.ts';
import type { Operation, OperationRow, OperationRowPage } from '../../answers/operation-answers.ts';
import { Paging } from '../shell/list-filters.ts';
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
import { FindingList } from '../letters/finding-list.ts';
import { useLive, useReading } from '../shell/reading.ts';
import { mayDo } from '../shell/request.ts';
import { Link, usePlace, type PageProps } from '../shell/router.ts';
import { html, type VNode } from '../shell/view.ts';

/** A request for branding, followed until its outcome. */
export default function OperationPage({ params }: PageProps): VNode {
  const id = params['id']!;
  const reading = useLive<Operation>(`/api/operations/${encodeURIComponent(id)}/live`);
  const { value, isLive } = reading;
  return html`<${Page} title=${`Request ${id}`} lead=${value === undefined ? null : operationTitles[value.kind]} actions=${value?.state === 'queued' ? html`<${LiveMark} isLive=${isLive} />` : null}>
    <${Read} reading=${reading} what="the request" show=${(operation: Json<Operation>) => html`<${OperationParts} operation=${operation} />`} />
  </${Page}>`;
}

function OperationParts({ operation }: { operation: Json<Operation> }): VNode {
  const { result, operationId } = operation;
  const findings = [...(result?.brand.findings ?? []), ...(result?.letter?.findings ?? [])];
  return html`<div class="page">
    <div class="request-outcome"><${Outcome} operation=${operation} /></div>
    <${Section} title="Request"><${Facts} entries=${[
      ['State', html`<${State} name=${result?.outcome ?? operation.state} />`],
      [
        'Brand',
        result &&
          html`<${Link} href=${`/brands/${result.brand.handle}`}>${result.brand.handle}</${Link}> is <${State} name=${result.brand.state} />`,
      ],
      [
        'Letter',
        result?.letter &&
          html`<${Link} href=${`/letters/${result.letter.letterId}`}>Letter ${result.letter.letterId}</${Link}> is <${State} name=${result.letter.state} />`,
      ],
      ['Valid until', result?.letter?.validUntil && html`<${When} at=${result.letter.validUntil} />`],
      ['Owner', html`<${Name} text=${operation.owner} />`],
      ['Asked for', html`<${When} at=${operation.requestedAt} /> by <${Name} text=${operation.requestedBy} />`],
      ['Ended', operation.finishedAt && html`<${When} at=${operation.finishedAt} />`],
      ['Idempotency key', html`<${Name} text=${operation.key} />`],
    ]} /></${Section}>
    ${findings.length === 0 ? null : html`<${Section} title="Findings"><${FindingList} findings=${findings} /></${Section}>`}
    ${result?.numbers ? html`<${NumbersResult} operationId=${operationId} numbers=${result.numbers} />` : null}
  </div>`;
}

const outcomes = {
  approved: {
    kind: 'good',
    text: 'Approved: nothing is left to do. Verified numbers show the name from the next night on.',
  },
  in_review: { kind: 'warn', text: 'In review: a person decides. The findings below say about what.' },
  accepted: {
    kind: 'info',
    text: 'Accepted: it is recorded, and waits for a letter of authorization or for the end of a suspension.',
  },
  partly: {
    kind: 'warn',
    text: 'Done, but not for every number: some were refused, or no letter in force names them. See below.',
  },
  rejected: { kind: 'bad', text: 'Rejected. The findings, or the refused numbers below, say why and what to do.' },
} as const;

function Outcome({ operation: { state, failure, result } }: { operation: Json<Operation> }): VNode {
  if (failure !== null)
    return html`<${Notice} kind="bad"><p><strong>Failed: nothing was changed.</strong> ${visible(failure.reason)} <code>${failure.code}</code></p></${Notice}>`;
  if (result === null)
    return html`<${Notice}><p><strong>${asWords(state)}</strong>: a worker reads the files and decides. A scanned letter takes some seconds a page. This page follows by itself.</p></${Notice}>`;
  const { kind, text } = isPartly(result) ? outcomes.partly : outcomes[result.outcome];
  const letter =
    result.letter?.state === 'in_review' && mayDo('reviewer')
      ? html` <${Link} href=${`/review/letters/${result.letter.letterId}`}>Open the letter on the review desk</${Link}>`
      : null;
  return html`<${Notice} kind=${kind}><p>${text}${letter}</p></${Notice}>`;
}

/** True if it was performed, but some of its numbers were refused. */
function isPartly({ outcome, numbers }: NonNullable<Json<Operation>['result']>): boolean {
  return outcome === 'approved' && numbers !== null && numbers.rejected + (numbers.states['unsuccessful'] ?? 0) > 0;
}

type Numbers = NonNullable<NonNullable<Json<Operation>['result']>['numbers']>;

/** The outcome of the numbers, with all refused rows. */
function NumbersResult({
  operationId,
  numbers: { given, accepted, known, rejected, states },
}: {
  operationId: number;
  numbers: Numbers;
}): VNode {
  return html`<${Section} title="Numbers" actions=${rejected === 0 ? null : html`<a class="button" href=${`/api/operations/${operationId}/rejects.csv`} download>Download the refused rows as CSV</a>`}>
    <${Facts} entries=${[
      ['Given', formatCount(given)],
      ['Accepted', formatCount(accepted)],
      ['Known before', formatCount(known)],
      ['Refused', formatCount(rejected)],
      ...Object.entries(states).map(([state, count]) => [`Now ${asWords(state)}`, formatCount(count)] as const),
    ]} />
    ${rejected === 0 ? null : html`<${RefusedRows} operationId=${operationId} />`}
  </${Section}>`;
}

const columns: Columns<Json<OperationRow>> = [
  ['Line', ({ line }) => formatCount(line), 'number'],
  ['Number', ({ phone }) => phone ?? '–'],
  ['Why', ({ reason }) => visible(reason)],
  ['Code', ({ outcome }) => html`<code>${outcome}</code>`],
];

function RefusedRows({ operationId }: { operationId: number }): VNode {
  const place = usePlace();
  const after = place.query.get('after');
  const reading = useReading<OperationRowPage>(
    `/api/operations/${operationId}/rows?refused=1${after === null ? '' : `&after=${encodeURIComponent(after)}`}`,
  );
  return html`<h3 class="list-head">Refused rows</h3><${Read} reading=${reading} what="refused rows" show=${({
    rows,
    next,
  }: Json<OperationRowPage>) => html`
    <${Table} caption="Rows of the request that were refused" rows=${rows} keyOf=${({ line }: Json<OperationRow>) => line} columns=${columns} />
    <${Paging} next=${next} cursor="after" moreText="More" label="Pages of the refused rows" stays=${true} />`} />` as VNode;
}
