import type { ProvenNumber, StartedProofs } from '../../answers/brand-answers.ts';
import type { Json } from '../../answers/json.ts';
import { ActionButton, Dialog, Field, When } from '../shell/components.ts';
import { mayRequestBranding, sendJson } from '../shell/request.ts';
import { formatCount } from '../shell/text.ts';
import { html, useState, type VNode } from '../shell/view.ts';

/** The UTC day of an instant: nights are counted by day. */
export function Day({ at }: { at: string | null }): VNode {
  return at === null
    ? html`<span>–</span>`
    : html`<time class="when" dateTime=${at} title=${at}>${at.slice(0, 10)}</time>`;
}

/** The proof of a number, and the form that confirms its code. */
export function NumberProof({
  handle,
  number: { phone, proof },
  onChanged,
}: {
  handle: string;
  number: Json<ProvenNumber>;
  onChanged: () => void;
}): VNode {
  const [isOpen, setOpen] = useState(false);
  const takesCode = proof.pending?.call?.placedAt != null && !proof.pending.call.confirmed;
  return html`<span>${proof.provenUntil === null ? null : html`proven until <${Day} at=${proof.provenUntil} /> `}${proof.pending === null ? (proof.provenUntil === null ? '–' : null) : pendingWords(proof.pending)}
    ${takesCode && mayRequestBranding() ? html` <button type="button" aria-label=${`Give the code of ${phone}`} onClick=${() => setOpen(true)}>Give the code</button>` : null}
    <${Dialog} title=${`The code of ${phone}`} isOpen=${isOpen} onClose=${() => setOpen(false)}>
      ${isOpen ? html`<${CodeForm} handle=${handle} phone=${phone} expiresAt=${proof.pending?.call?.expiresAt ?? null} onClose=${() => setOpen(false)} onChanged=${onChanged} />` : null}
    </${Dialog}>
  </span>`;
}

function pendingWords({ call }: NonNullable<Json<ProvenNumber>['proof']['pending']>): string {
  if (call === null) return 'pending: others of its block are called';
  if (call.confirmed) return 'pending: its code was given back';
  return call.placedAt === null
    ? 'pending: to be called'
    : `pending: called, ${call.triesLeft} ${call.triesLeft === 1 ? 'try' : 'tries'} left`;
}

function CodeForm({
  handle,
  phone,
  expiresAt,
  onClose,
  onChanged,
}: {
  handle: string;
  phone: string;
  expiresAt: string | null;
  onClose: () => void;
  onChanged: () => void;
}): VNode {
  const [code, setCode] = useState('');
  const act = async () => {
    try {
      await sendJson('POST', `/api/brands/${handle}/proofs/confirm`, { phone, code });
      onClose();
    } finally {
      onChanged(); // a wrong code has used up an attempt
    }
  };
  return html`<p>The number was called and the code was said. It is good until <${When} at=${expiresAt} />.</p>
    <${Field} label="Code" hint="The digits that the call said.">${(ids: object) => html`<input inputmode="numeric" autocomplete="one-time-code" maxlength="20" value=${code} onInput=${({ target }: Event) => setCode((target as HTMLInputElement).value)} ...${ids} />`}</${Field}>
    <div class="actions"><button type="button" onClick=${onClose}>Later</button><${ActionButton} kind="primary" disabled=${code.trim() === ''} act=${act}>Confirm</${ActionButton}></div>` as VNode;
}

/** Calls every number that is not proven. */
export function ProveNumbers({ handle, onChanged }: { handle: string; onChanged: () => void }): VNode {
  const [done, setDone] = useState<Json<StartedProofs> | null>(null);
  const act = async () => {
    setDone(await sendJson<StartedProofs>('POST', `/api/brands/${handle}/proofs`, {}));
    onChanged();
  };
  const called = done?.started.flatMap(({ called: phones }) => phones).length ?? 0;
  return html`<div class="actions"><${ActionButton} act=${act}>Prove the numbers</${ActionButton}>${done === null ? null : html`<span role="status">${called === 0 ? 'No number is called.' : `${formatCount(called)} ${called === 1 ? 'number is' : 'numbers are'} called, and a code is said.`}</span>`}</div>`;
}
