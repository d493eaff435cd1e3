import { ActionButton, Dialog, Field } from './components.ts';
import { html, useState, type Shown, type VNode } from './view.ts';

/** A dialog that asks for the reason of an action. */
interface ReasonDialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** The text of the confirming button. */
  readonly confirm: string;
  readonly isDanger?: boolean;
  /** Performs the action; on failure the dialog stays open with the problem. */
  readonly act: (reason: string) => Promise<void>;
  /** Explains the consequences. */
  readonly children?: Shown;
}

/** Asks for the reason of an action, which is kept in the audit trail. */
function ReasonDialog({ title, isOpen, onClose, confirm, isDanger = false, act, children }: ReasonDialogProps): VNode {
  return html`<${Dialog} title=${title} isOpen=${isOpen} onClose=${onClose}><${ReasonForm} onClose=${onClose} confirm=${confirm} isDanger=${isDanger} act=${act}>${children}</${ReasonForm}></${Dialog}>`;
}

function ReasonForm({ onClose, confirm, isDanger, act, children }: Omit<ReasonDialogProps, 'title' | 'isOpen'>): VNode {
  const [reason, setReason] = useState('');
  const confirmed = async () => {
    await act(reason);
    onClose();
  };
  return html`${children}
    <${ReasonField} reason=${reason} onInput=${setReason} />
    <div class="actions"><button type="button" onClick=${onClose}>Leave it as it is</button><${ActionButton} kind=${isDanger ? 'danger' : 'primary'} disabled=${reason.trim() === ''} act=${confirmed}>${confirm}</${ActionButton}></div>` as VNode;
}

/** The input for a reason. */
export function ReasonField({
  reason,
  onInput,
  hint = 'Required. Kept in the audit trail.',
}: {
  reason: string;
  onInput: (reason: string) => void;
  hint?: string;
}): VNode {
  return html`<${Field} label="Reason" hint=${hint}>${(ids: object) => html`<textarea rows="3" maxlength="500" required value=${reason} onInput=${({ target }: Event) => onInput((target as HTMLTextAreaElement).value)} ...${ids}></textarea>`}</${Field}>`;
}

/** A button that opens such a dialog. */
export function ReasonButton({
  label,
  kind = '',
  ...dialog
}: Omit<ReasonDialogProps, 'isOpen' | 'onClose'> & { label: string; kind?: '' | 'danger' }): VNode {
  const [isOpen, setOpen] = useState(false);
  return html`<button type="button" class=${kind} onClick=${() => setOpen(true)}>${label}</button><${ReasonDialog} ...${dialog} isOpen=${isOpen} onClose=${() => setOpen(false)} />` as VNode;
}
