import type { ShownBrand } from '../../answers/brand-answers.ts';
import type { Json } from '../../answers/json.ts';
import { ActionButton, Notice, Section } from '../shell/components.ts';
import { ReasonField } from '../shell/reason-dialog.ts';
import { sendJson } from '../shell/request.ts';
import { visible } from '../shell/text.ts';
import { html, useState, type VNode } from '../shell/view.ts';
import { countAgain } from './waiting-count.ts';

/** Where a person decides a brand that waits, or the pending revision of one that was approved before. */
export function BrandDecision({ brand, onDecided }: { brand: Json<ShownBrand>; onDecided: () => void }): VNode {
  const [reason, setReason] = useState('');
  const decide = (approve: boolean) => async () => {
    await sendJson('POST', `/api/brands/${brand.handle}/decision`, {
      approve,
      revision: brand.pendingRevision,
      reason,
    });
    setReason('');
    countAgain();
    onDecided();
  };
  const isOff = reason.trim() === '' || brand.whyNotDecide !== null;
  const [what, effect] =
    brand.approvedRevision === null
      ? ['The brand waits for a decision', 'Approved, its verified numbers show its name from the next night on.']
      : [
          'A revision waits for a decision',
          `The approved revision ${brand.approvedRevision} stays published until revision ${brand.pendingRevision} is approved. Who approves a new name vouches for it.`,
        ];
  return html`<${Section} title=${what}>
    <p>${effect}</p>
    ${brand.whyNotDecide === null ? null : html`<${Notice}><p>${visible(brand.whyNotDecide)} Another person decides it.</p></${Notice}>`}
    <${ReasonField} reason=${reason} onInput=${setReason} hint="Required. Kept in the audit trail." />
    <div class="actions"><${ActionButton} kind="primary" disabled=${isOff} act=${decide(true)}>Approve</${ActionButton}><${ActionButton} kind="danger" disabled=${isOff} act=${decide(false)}>Reject</${ActionButton}></div>
  </${Section}>`;
}
