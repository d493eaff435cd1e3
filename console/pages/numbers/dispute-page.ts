import type { Json } from '../../answers/json.ts';
import type { Dispute, DisputeContact } from '../../answers/number-answers.ts';
import { ActionButton, Facts, Name, Notice, Page, Read, Section, State, When } from '../shell/components.ts';
import { LabelName } from './label-changes.ts';
import { ReasonField } from '../shell/reason-dialog.ts';
import { getJson, sendJson } from '../shell/request.ts';
import { useReading } from '../shell/reading.ts';
import type { PageProps } from '../shell/router.ts';
import { html, useState, type VNode } from '../shell/view.ts';
import { reloadCount } from '../letters/waiting-count.ts';

/** A dispute, for the person who decides it. */
export default function DisputePage({ params }: PageProps): VNode {
  const reading = useReading<Dispute>(`/api/disputes/${encodeURIComponent(params['id']!)}`);
  return html`<${Page} title=${`Dispute ${params['id']}`}><${Read} reading=${reading} what="the dispute" show=${(
    dispute: Json<Dispute>,
  ) => html`<div class="page">
    <${Section} title=${dispute.phone}><${Facts} entries=${[
      ['State', html`<${State} name=${dispute.state} />`],
      ['Label when it was filed', html`<${LabelName} label=${dispute.label} />`],
      ['Filed', html`<${When} at=${dispute.filedAt} /> by <${Name} text=${dispute.filedBy} />`],
      ['Reason', html`<${Name} text=${dispute.reason} />`],
    ]} /><${Contact} dispute=${dispute} /></${Section}>
    <${Section} title="Decision"><${Decision} dispute=${dispute} onDecided=${reading.readAgain} /></${Section}></div>`} /></${Page}>`;
}

function Contact({ dispute: { disputeId, hasContact } }: { dispute: Json<Dispute> }): VNode {
  const [contact, setContact] = useState<string | null>(null);
  const show = async () => setContact((await getJson<DisputeContact>(`/api/disputes/${disputeId}/contact`)).contact);
  if (!hasContact) return html`<p class="soft">No contact was given, or it is destroyed.</p>`;
  return contact === null
    ? html`<div class="actions"><${ActionButton} act=${show}>Show the contact</${ActionButton}></div>`
    : html`<p>Contact: <${Name} text=${contact} /></p>`;
}

function Decision({
  dispute: { disputeId, state, decision },
  onDecided,
}: {
  dispute: Json<Dispute>;
  onDecided: () => void;
}): VNode {
  const [reason, setReason] = useState('');
  const decide = (clear: boolean) => async () => {
    await sendJson('POST', `/api/disputes/${disputeId}/decision`, { clear, reason });
    reloadCount();
    onDecided();
  };
  if (decision !== null)
    return html`<${Notice} kind="info"><p>The dispute is <${State} name=${state} />. Decided <${When} at=${decision.at} /> by <${Name} text=${decision.by} />: <${Name} text=${decision.reason} /></p></${Notice}>`;
  return html`<p>Cleared, the number is published as NEUTRAL until a feed has another word on it, or new complaints come. Upheld, its label stays.</p>
    <${ReasonField} reason=${reason} onInput=${setReason} hint="Required. Kept with the decision." />
    <div class="actions"><${ActionButton} kind="primary" disabled=${reason.trim() === ''} act=${decide(true)}>Clear the number</${ActionButton}><${ActionButton} kind="danger" disabled=${reason.trim() === ''} act=${decide(false)}>Uphold the label</${ActionButton}></div>` as VNode;
}
