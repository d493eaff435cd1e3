import type { WaitingCounts } from '../../answers/letter-answers.ts';
import { getJson } from '../shell/request.ts';
import { useAddress } from '../shell/router.ts';
import { html, useEffect, useState, type VNode } from '../shell/view.ts';

const decided = 'console-decided';

/** Has the count read again: somebody has decided something here. */
export function countAgain(): void {
  window.dispatchEvent(new Event(decided));
}

/** How many letters, brands and disputes wait for a person. Read with each change of page and after decisions; never by the clock, which would keep a session open that nobody uses. */
export function WaitingCount(): VNode {
  const { path } = useAddress();
  const [waiting, setWaiting] = useState(0);
  useEffect(() => {
    const left = new AbortController();
    const read = () =>
      void getJson<WaitingCounts>('/api/review/counts', left.signal).then(
        ({ letters, brands, disputes }) => setWaiting(letters + brands + disputes),
        () => {},
      ); // the page itself says what is wrong
    read();
    window.addEventListener(decided, read, { signal: left.signal });
    return () => left.abort();
  }, [path]);
  return html`<span class=${`waiting-count ${waiting === 0 ? 'none' : ''}`}>${waiting === 0 ? '' : waiting}<span class="unseen">${waiting === 0 ? '' : ' waiting'}</span></span>`;
}
