import type { Json } from '../../answers/json.ts';
import type { ScoredWindow, WindowLabel } from '../../answers/verification-answers.ts';

/** Consecutive windows with the same label. */
interface LabelRun {
  readonly start: number;
  end: number;
  readonly label: WindowLabel;
}

/** Joins windows into runs. Windows overlap: each is shown until the next one begins. */
export function runsOf(windows: readonly Json<ScoredWindow>[]): readonly LabelRun[] {
  const runs: LabelRun[] = [];
  for (const [at, { start, end, label }] of windows.entries()) {
    const until = windows[at + 1]?.start ?? end;
    const last = runs.at(-1);
    if (last?.label === label) last.end = until;
    else runs.push({ start, end: until, label });
  }
  return runs;
}
