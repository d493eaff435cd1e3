import { ActionButton, DialogButton, Field } from './components.ts';
import { html, useState, type Shown, type VNode } from './view.ts';

/** A button that opens a dialog, which asks for the reason of an action. */
interface ReasonButtonProps {
  readonly label: string;
  readonly title: string;
  /** The text of the confirming button. */
  readonly confirm: string;
  readonly isDanger?: boolean;
  /** Performs the action; on failure the dialog stays open with the problem. */
  readonly act: (reason: string) => Promise<void>;
  /** Explains the consequences. */
  readonly children?: Shown;
}

/** Asks for the reason of an action, which is kept in the audit trail. */
export function ReasonButton({ label, title, isDanger = false, ...form }: ReasonButtonProps): VNode {
  return html`<${DialogButton} label=${label} kind=${isDanger ? 'danger' : ''} title=${title}>${(close: () => void) => html`<${ReasonForm} ...${form} isDanger=${isDanger} onClose=${close} />`}</${DialogButton}>`;
}

/** The form of such a dialog. */
export function ReasonForm({
  onClose,
  confirm,
  isDanger = false,
  act,
  children,
}: Omit<ReasonButtonProps, 'label' | 'title'> & { onClose: () => void }): VNode {
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
  onEnter,
}: {
  reason: string;
  onInput: (reason: string) => void;
  hint?: string;
  /** Ctrl+Enter, or Command+Enter. */
  onEnter?: () => void;
}): VNode {
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onEnter?.();
  };
  return html`<${Field} label="Reason" hint=${hint}>${(ids: object) => html`<textarea rows="3" maxlength="500" required value=${reason} onKeyDown=${press} onInput=${({ target }: Event) => onInput((target as HTMLTextAreaElement).value)} ...${ids}></textarea>`}</${Field}>`;
}
