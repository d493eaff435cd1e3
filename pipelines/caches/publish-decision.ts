/** A build at the end of its night. */
export type BuildOutcome =
  | { readonly state: 'built'; readonly rows: number; readonly plainSha256: string }
  | { readonly state: 'failed'; readonly code: string; readonly reason: string }
  | { readonly state: 'lost' };

/** What readers are given now. */
export interface CurrentVersion {
  readonly version: number;
  readonly rows: number;
  readonly plainSha256: string;
  /** Newest snapshot that these bytes stand for. */
  readonly asOf: Date;
}

export type PublishDecision =
  | { readonly action: 'publish'; readonly version: number }
  | { readonly action: 'confirm' }
  | { readonly action: 'keep'; readonly code: string; readonly reason: string };

export interface PublishRules {
  /** Rows that have left by decision since the published version: suspended, withdrawn, expired. Their loss is no accident. */
  readonly rowsLeft: number;
  readonly asOf: Date;
  readonly acceptShrink: boolean;
  readonly shrinkPercentMax: number;
}

/**
 * Decides what becomes of one build: a new version, no change, or the old file kept with a reason.
 * Pure: `publishNight` carries it out.
 */
export function decidePublication(build: BuildOutcome, current: CurrentVersion | null, rules: PublishRules): PublishDecision {
  if (build.state === 'lost') return keep('build_lost', 'The build ended without an outcome: its worker crashed too often.');
  if (build.state === 'failed') return keep(build.code, build.reason);
  if (current === null) return { action: 'publish', version: 1 };
  if (current.asOf > rules.asOf) return keep('artefact_older', `The published version stands for ${current.asOf.toISOString()}, later than this night's snapshot.`);
  if (current.plainSha256 === build.plainSha256) return { action: 'confirm' };
  if (!rules.acceptShrink && shrinksTooMuch(build.rows, Math.max(0, current.rows - rules.rowsLeft), rules.shrinkPercentMax)) {
    return keep(
      'artefact_shrunk',
      `${build.rows} rows instead of ${current.rows}${rules.rowsLeft === 0 ? '' : `, of which ${rules.rowsLeft} left by decision`}: a loss of more than ${rules.shrinkPercentMax} %. If that is right, run the night with --accept-shrink.`,
    );
  }
  return { action: 'publish', version: current.version + 1 };
}

/** True if the rows fall by more than the given share. In whole numbers, so that exactly the limit passes. */
export function shrinksTooMuch(rows: number, before: number, percentMax: number): boolean {
  return (before - rows) * 100 > before * percentMax;
}

function keep(code: string, reason: string): PublishDecision {
  return { action: 'keep', code, reason };
}
