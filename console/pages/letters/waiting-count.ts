import type { WaitingCounts } from '../../answers/letter-answers.ts';
import { getJson } from '../shell/request.ts';
import { useAddress } from '../shell/router.ts';
import { html, useEffect, useState, type VNode } from '../shell/view.ts';

const decided = 'console-decided';

/** Reloads the count after a decision on this page. */
export function reloadCount(): void {
  window.dispatchEvent(new Event(decided));
}

/**
 * The number of letters, brands and disputes that wait for a decision. Loaded on each change of page and after decisions, never on
 * a timer, which would keep an unused session alive.
 */
export function WaitingCount(): VNode {
  const { path } = useAddress();
  const [waiting, setWaiting] = useState(0);
  useEffect(() => {
    const left = new AbortController();
    const read = () =>
      void getJson<WaitingCounts>('/api/review/counts', left.signal).then(
        ({ letters, brands, disputes }) => setWaiting(letters + brands + disputes),
        () => {},
      ); // the page itself shows the problem
    read();
    window.addEventListener(decided, read, { signal: left.signal });
    return () => left.abort();
  }, [path]);
  return html`<span class=${`waiting-count ${waiting === 0 ? 'none' : ''}`}>${waiting === 0 ? '' : waiting}<span class="unseen">${waiting === 0 ? '' : ' waiting'}</span></span>`;
}
