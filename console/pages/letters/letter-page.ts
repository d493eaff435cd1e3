import type { Json } from '../../answers/json.ts';
import type { ShownLetter } from '../../answers/letter-answers.ts';
import { Facts, Name, Notice, Page, Read, Section, State, When } from '../shell/components.ts';
import { FindingList } from './finding-list.ts';
import { RequestedNumbers } from './letter-numbers.ts';
import { ValidUntil } from './letter-table.ts';
import { useReading } from '../shell/reading.ts';
import { ReasonButton } from '../shell/reason-dialog.ts';
import { mayDo, sendJson } from '../shell/request.ts';
import { Link, type PageProps } from '../shell/router.ts';
import { formatBytes, formatCount, visible } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

/** A letter without its text: its state, its findings, and the numbers that it authorizes. */
export default function LetterPage({ params }: PageProps): VNode {
  const reading = useReading<ShownLetter>(`/api/letters/${encodeURIComponent(params['id']!)}`);
  const { value: letter, readAgain } = reading;
  return html`<${Page} title=${`Letter ${params['id']}`} lead=${letter === undefined ? null : html`Of <${Link} href=${`/brands/${letter.handle}`}>${letter.handle}</${Link}>, revision ${letter.revision}.`} actions=${letter ? html`<${LetterActions} letter=${letter} onDone=${readAgain} />` : null}>
    <${Read} reading=${reading} what="the letter" show=${(shown: Json<ShownLetter>) => html`<div class="page">
      ${shown.document.destroyedAt === null ? null : html`<${Notice} kind="warn"><p>Its document was destroyed <${When} at=${shown.document.destroyedAt} />: the file and what was read from it are lost. States and findings stay.</p></${Notice}>`}
      <${Section} title="Status"><${LetterFacts} letter=${shown} /></${Section}>
      <${Section} title="Findings"><${FindingList} findings=${shown.findings} /></${Section}>
      <${Section} title="Numbers of the request"><${RequestedNumbers} letterId=${shown.letterId} request=${shown.request} /></${Section}>
    </div>`} />
  </${Page}>`;
}

/** State, dates and decision of a letter. */
export function LetterFacts({
  letter,
}: {
  letter: Pick<
    Json<ShownLetter>,
    | 'letterId'
    | 'state'
    | 'owner'
    | 'submittedAt'
    | 'operationId'
    | 'signedOn'
    | 'decidedAt'
    | 'decidedBy'
    | 'decisionReason'
    | 'validFrom'
    | 'validUntil'
    | 'numbers'
    | 'format'
    | 'pages'
    | 'document'
    | 'ruleVersion'
  >;
}): VNode {
  const { document, pages } = letter;
  return html`<${Facts} entries=${[
    ['State', html`<${State} name=${letter.state} />`],
    ['Owner', html`<${Name} text=${letter.owner} />`],
    [
      'Submitted',
      html`<${When} at=${letter.submittedAt} /> with <${Link} href=${`/operations/${letter.operationId}`}>request ${letter.operationId}</${Link}>`,
    ],
    ['Signed', letter.signedOn],
    ['Decided', letter.decidedAt && html`<${When} at=${letter.decidedAt} /> by <${Name} text=${letter.decidedBy} />`],
    ['Reason', letter.decisionReason && visible(letter.decisionReason)],
    ['Valid until', letter.validUntil && html`<${ValidUntil} letter=${letter} />`],
    ['Authorizes', `${formatCount(letter.numbers)} ${letter.numbers === 1 ? 'number' : 'numbers'}`],
    [
      'Document',
      `${letter.format?.toUpperCase() ?? 'not read'}, ${pages === null ? '' : `${pages} ${pages === 1 ? 'page' : 'pages'}, `}${formatBytes(document.bytes)}`,
    ],
    ['SHA-256', html`<code>${document.sha256}</code>`],
    ['Rules', letter.ruleVersion],
  ]} />`;
}

const inForce = new Set(['submitted', 'in_review', 'approved', 'expiring']);
const undecided = new Set(['submitted', 'in_review']);

function LetterActions({
  letter: { letterId, state, document },
  onDone,
}: {
  letter: Json<ShownLetter>;
  onDone: () => void;
}): VNode | null {
  if (!mayDo('reviewer')) return null;
  const act = (name: string) => async (reason: string) => {
    await sendJson('POST', `/api/letters/${letterId}/${name}`, { reason });
    onDone();
  };
  const isThere = document.destroyedAt === null;
  return html`${isThere ? html`<${Link} class="button" href=${`/review/letters/${letterId}`}>${undecided.has(state) ? 'Review' : 'See its pages'}</${Link}>` : null}
    ${inForce.has(state) ? html`<${ReasonButton} label="Withdraw" title=${`Withdraw letter ${letterId}?`} confirm="Withdraw the letter" isDanger=${true} act=${act('withdraw')}><p>Its numbers leave the next night unless another letter names them. Nothing undoes it.</p></${ReasonButton}>` : null}
    ${isThere && !undecided.has(state) && mayDo('operator') ? html`<${ReasonButton} label="Destroy the document" title=${`Destroy the document of letter ${letterId}?`} confirm="Destroy the document" isDanger=${true} act=${act('delete')}><p>Its key is destroyed: the file and what was read from it are lost. States and findings stay.</p></${ReasonButton}>` : null}` as VNode;
}
