import { judgeBuild, type NightBreach, type NightGateLimits, type LabelMoves } from './night-gates.ts';
import type { LevelCounts } from '../artefact-facts.ts';

/** A build at the end of its night. */
export type BuildOutcome =
  | {
      readonly state: 'built';
      readonly rows: number;
      readonly plainSha256: string;
      readonly levels: LevelCounts;
      readonly moves: LabelMoves | null;
    }
  | { readonly state: 'failed'; readonly code: string; readonly reason: string }
  | { readonly state: 'lost' };

/** What readers are given now. */
export interface CurrentVersion {
  readonly version: number;
  readonly rows: number;
  readonly levels: LevelCounts;
  readonly plainSha256: string;
  /** Newest snapshot that these bytes stand for. */
  readonly asOf: Date;
}

export type PublishDecision =
  | { readonly action: 'publish'; readonly version: number }
  | { readonly action: 'confirm' }
  | {
      readonly action: 'keep';
      readonly code: string;
      readonly reason: string;
      readonly gates?: readonly NightBreach[];
    };

export interface PublishRules {
  /** Rows that have left by decision since the published version: suspended, withdrawn, expired. Their loss is no accident. */
  readonly rowsLeft: number;
  readonly asOf: Date;
  /** The operator who asked for the night accepts lost rows. */
  readonly acceptShrink: boolean;
  readonly limits: NightGateLimits;
  /** Gates of the held build that an operator released; null if none was since the last publication. */
  readonly released: readonly NightBreach[] | null;
}

/**
 * Decides what becomes of one build: a new version, no change, or the old file kept with a reason.
 * Pure: `publishNight` carries it out.
 */
export function decidePublication(
  build: BuildOutcome,
  current: CurrentVersion | null,
  rules: PublishRules,
): PublishDecision {
  if (build.state === 'lost')
    return keep('build_lost', 'The build ended without an outcome: its worker crashed too often.');
  if (build.state === 'failed') return keep(build.code, build.reason);
  if (current === null) return { action: 'publish', version: 1 };
  if (current.asOf > rules.asOf)
    return keep(
      'artefact_older',
      `The published version stands for ${current.asOf.toISOString()}, later than this night's snapshot.`,
    );
  if (current.plainSha256 === build.plainSha256) return { action: 'confirm' };
  const gates = judgeBuild({ ...build, rowsLeft: rules.rowsLeft }, current, rules.limits).filter(
    ({ gate }) => !(gate === 'shrink' && rules.acceptShrink),
  );
  if (gates.length > 0 && !isReleased(gates, rules.released)) return held(gates);
  return { action: 'publish', version: current.version + 1 };
}

/** How far beyond the figures of the build that an operator looked at a later one may be: a fifth. */
const releasedFactor = 1.2;

/** True if an operator let these gates pass: each at a figure not far beyond the one that was released. */
export function isReleased(gates: readonly NightBreach[], released: readonly NightBreach[] | null): boolean {
  return (
    released !== null &&
    gates.every(({ gate, figure }) =>
      released.some((before) => before.gate === gate && figure <= before.figure * releasedFactor),
    )
  );
}

function held(gates: readonly NightBreach[]): PublishDecision {
  const code = gates.every(({ gate }) => gate === 'shrink') ? 'artefact_shrunk' : 'artefact_held';
  return {
    action: 'keep',
    code,
    reason: `${gates.map(({ reason }) => reason).join(' ')} If that is right, release it with \`night release\`.`,
    gates,
  };
}

/** A decision with the artefact that it is about. */
export interface ArtefactDecision {
  readonly cache: string;
  readonly country: string;
  readonly decision: PublishDecision;
}

/**
 * Holds what must not be published without what is held: a number has the same level in every file of one night. Where labels
 * hold the profile of one country, files that have the labels of all countries stay too; where they hold one of those, every
 * file with labels stays.
 */
export function holdTogether<Decided extends ArtefactDecision>(decisions: readonly Decided[]): Decided[] {
  const hasLabels = ({ cache }: ArtefactDecision) => cache !== 'branded_phones';
  const heldByLabels = decisions.filter(
    ({ decision }) =>
      decision.action === 'keep' &&
      decision.gates?.some(({ gate }) => gate.startsWith('label_') || gate === 'level_share'),
  );
  const heldEverywhere = heldByLabels.some(({ country }) => country === '');
  return decisions.map((decided) => {
    const follows =
      decided.decision.action === 'publish' &&
      hasLabels(decided) &&
      (heldEverywhere || (heldByLabels.length > 0 && decided.country === ''));
    if (!follows) return decided;
    const names = heldByLabels.map(({ cache, country }) => (country === '' ? cache : `${cache}/${country}`)).join(', ');
    return {
      ...decided,
      decision: {
        action: 'keep',
        code: 'artefact_held',
        reason: `Held with ${names}, so that a number has the same level in every file.`,
        gates: [],
      },
    };
  });
}

function keep(code: string, reason: string): PublishDecision {
  return { action: 'keep', code, reason };
}
