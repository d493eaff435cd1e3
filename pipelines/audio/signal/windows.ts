/** A range of one channel, in samples at the model's rate; `to` is exclusive. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** How a recording is cut, in samples at the model's rate. */
export interface Cut {
  readonly window: number;
  readonly hop: number;
}

/**
 * The window with an index from 0 while the recording continues: `undefined` until more samples than the window have arrived, because the
 * last window of a recording ends with it.
 */
export function windowAt(place: number, samplesSoFar: number, { window, hop }: Cut): Stretch | undefined {
  const from = place * hop;
  return from + window < samplesSoFar ? { from, to: from + window } : undefined;
}

/** The last window of a recording: it ends with the recording, and is shorter only if that is. */
export function lastWindow(samples: number, { window }: Cut): Stretch {
  return { from: Math.max(0, samples - window), to: samples };
}

/** All windows of a complete recording. */
export function windowsOf(samples: number, cut: Cut): Stretch[] {
  const windows: Stretch[] = [];
  for (let next = windowAt(0, samples, cut); next !== undefined; next = windowAt(windows.length, samples, cut))
    windows.push(next);
  return [...windows, lastWindow(samples, cut)];
}
