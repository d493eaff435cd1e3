import type { Role } from '../answers/session-answers.ts';
import { navigationFor } from './navigation.ts';
import { searchFieldId } from './search-box.ts';
import { Dialog } from './shell/components.ts';
import { isSwitchedOff, isTyping, switchName } from './shell/page-keys.ts';
import { goTo } from './shell/router.ts';
import { html, useEffect, useState, type VNode } from './shell/view.ts';

/** Keys after `g`, with the page that they open. */
const pageKeys: readonly (readonly [key: string, href: string])[] = [
  ['o', '/'],
  ['n', '/nights'],
  ['a', '/artefacts'],
  ['f', '/feeds'],
  ['r', '/review'],
  ['b', '/brands'],
  ['l', '/letters'],
  ['v', '/verifications'],
  ['m', '/models'],
  ['q', '/queues'],
  ['w', '/webhooks'],
];

/** Milliseconds within which a key follows `g`. */
const sequenceMs = 1500;

/** The shortcuts of the keyboard, and the button and dialog that list them. */
export function Shortcuts({ role }: { role: Role }): VNode {
  const [isOpen, setOpen] = useState(false);
  const [isOn, setOn] = useState(() => !isSwitchedOff());
  const links = navigationFor(role).flatMap(({ links: each }) => each);
  const pages = pageKeys.flatMap(([key, href]) => {
    const link = links.find((each) => each.href === href);
    return link === undefined ? [] : [{ key, href, text: link.text }];
  });
  useEffect(() => {
    let begunAt = -sequenceMs;
    const press = (event: KeyboardEvent) => {
      if (isSwitchedOff()) return; // not by the state: a key may follow before the effects of a change have run
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const follows = event.timeStamp - begunAt < sequenceMs;
      begunAt = event.key === 'g' ? event.timeStamp : -sequenceMs;
      const page = follows ? pages.find(({ key }) => key === event.key) : undefined;
      const search = event.key === '/' ? document.getElementById(searchFieldId) : null;
      if (page === undefined && search === null && event.key !== '?') return;
      event.preventDefault();
      if (page !== undefined) goTo(page.href);
      else if (search === null) setOpen(true);
      else search.focus();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [role]);
  const change = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    localStorage.setItem(switchName, currentTarget.checked ? 'on' : 'off');
    setOn(currentTarget.checked);
  };
  return html`<button type="button" class="help" aria-label="Keyboard shortcuts" onClick=${() => setOpen(true)}>?</button>
    <${Dialog} title="Keyboard shortcuts" isOpen=${isOpen} onClose=${() => setOpen(false)}>
      <dl class="keys">
        ${role === 'agency' ? null : html`<div><dt><kbd>/</kbd></dt><dd>Search</dd></div>`}
        <div><dt><kbd>?</kbd></dt><dd>This list</dd></div>
        ${pages.map(({ key, text }) => html`<div key=${key}><dt><kbd>g</kbd> <kbd>${key}</kbd></dt><dd>${text}</dd></div>`)}
      </dl>
      <label class="check"><input type="checkbox" checked=${isOn} onChange=${change} /> Shortcuts are on in this browser</label>
      <div class="actions"><button type="button" onClick=${() => setOpen(false)}>Close</button></div>
    </${Dialog}>` as VNode;
}
