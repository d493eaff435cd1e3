import { setTimeout as sleep } from 'node:timers/promises';
import { interruption } from './command.ts';
import { startProgress } from './progress.ts';

/** How to wait for something that is polled. */
interface Wait<State> {
  readonly read: () => Promise<State>;
  readonly hasEnded: (state: State) => boolean;
  /** The progress text; `polls` counts from 0. */
  readonly describe?: (state: State, polls: number) => Promise<string | undefined> | string;
  readonly pollMs: number | ((polls: number) => number);
  /** The error for an interruption. Default: the reason of the signal. */
  readonly interrupted?: () => unknown;
}

/** Polls until the state has ended, and shows progress. */
export async function untilEnded<State>(wait: Wait<State>): Promise<State> {
  const { read, hasEnded, describe, pollMs, interrupted = () => interruption.signal.reason as unknown } = wait;
  const progress = startProgress();
  try {
    for (let polls = 0; ; polls++) {
      const state = await read();
      if (hasEnded(state)) return state;
      const text = await describe?.(state, polls);
      if (text !== undefined) progress.show(text);
      await sleep(typeof pollMs === 'number' ? pollMs : pollMs(polls), undefined, {
        signal: interruption.signal,
      }).catch(() => {
        throw interrupted();
      });
    }
  } finally {
    progress.end();
  }
}
