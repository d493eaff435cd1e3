import { useEffect } from './view.ts';

/** Where this browser keeps that its user has switched the shortcuts off (WCAG 2.2, criterion 2.1.4). */
export const switchName = 'shortcuts';

/** True if the user of this browser has switched the shortcuts off. */
export function isSwitchedOff(): boolean {
  return localStorage.getItem(switchName) === 'off';
}

/** Keys of one page, with what each does, while it is shown. */
export function usePageKeys(keys: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isSwitchedOff() || event.defaultPrevented || isTyping(event.target)) return;
      if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
      event.preventDefault();
      keys[event.key]!();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [keys]);
}

/** True where a key is text or a choice, or a dialog is open. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    document.querySelector('dialog[open]') !== null ||
    (target instanceof HTMLElement &&
      (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)))
  );
}
