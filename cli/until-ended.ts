import { setTimeout as sleep } from 'node:timers/promises';
import { interruption } from './command.ts';
import { startProgress } from './progress.ts';

/** What a command waits for. */
export interface Wait<State> {
  readonly read: () => Promise<State>;
  readonly hasEnded: (state: State) => boolean;
  /** Shown until it has ended; `looks` counts from 0. */
  readonly describe?: (state: State, looks: number) => Promise<string | undefined> | string;
  readonly pollMs: number | ((looks: number) => number);
  /** What an interruption is reported as. Default: as it is. */
  readonly interrupted?: () => unknown;
}

/** Reads until what is read has ended, and shows its progress meanwhile. */
export async function untilEnded<State>(wait: Wait<State>): Promise<State> {
  const { read, hasEnded, describe, pollMs, interrupted = () => interruption.signal.reason as unknown } = wait;
  const progress = startProgress();
  try {
    for (let looks = 0; ; looks++) {
      const state = await read();
      if (hasEnded(state)) return state;
      const text = await describe?.(state, looks);
      if (text !== undefined) progress.show(text);
      await sleep(typeof pollMs === 'number' ? pollMs : pollMs(looks), undefined, {
        signal: interruption.signal,
      }).catch(() => {
        throw interrupted();
      });
    }
  } finally {
    progress.end();
  }
}
