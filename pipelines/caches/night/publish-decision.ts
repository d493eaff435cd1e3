import { judgeBuild, type NightBreach, type NightGateLimits, type LabelMoves } from './night-gates.ts';
import { isSameText, type TextDigests } from '../artefact-facts.ts';
import type { LevelCounts } from '../../../format/artefact/levels.ts';

/** The outcome of a build at the end of its night. */
export type BuildOutcome =
  | {
      readonly state: 'built';
      readonly rows: number;
      readonly text: TextDigests;
      readonly levels: LevelCounts;
      readonly moves: LabelMoves | null;
      /** A file of the published version is lost, and these other bytes have its rows. */
      readonly basisLost: boolean;
    }
  | { readonly state: 'failed'; readonly code: string; readonly reason: string }
  | { readonly state: 'lost' };

/** The published version. */
export interface CurrentVersion {
  readonly version: number;
  readonly rows: number;
  readonly levels: LevelCounts;
  readonly text: TextDigests;
  /** Newest snapshot that gave these bytes. */
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
  /** Rows removed by decisions since the published version: suspended, withdrawn, expired. */
  readonly rowsLeft: number;
  readonly asOf: Date;
  /** The operator who requested the night accepts a loss of rows. */
  readonly acceptShrink: boolean;
  readonly limits: NightGateLimits;
  /** Gates of the released build; null if none was released since the last publication. */
  readonly released: readonly NightBreach[] | null;
}

/**
 * Decides on a build: a new version, no change, or the old file kept with a reason.
 * Pure: `publishNight` applies the decision.
 */
export function decidePublication(
  build: BuildOutcome,
  current: CurrentVersion | null,
  rules: PublishRules,
): PublishDecision {
  if (build.state === 'lost')
    return keepPublished('build_lost', 'The build ended without an outcome: its worker crashed too often.');
  if (build.state === 'failed') return keepPublished(build.code, build.reason);
  if (current === null) return { action: 'publish', version: 1 };
  if (current.asOf > rules.asOf)
    return keepPublished(
      'artefact_older',
      `The published version is of ${current.asOf.toISOString()}, later than this night's snapshot.`,
    );
  if (isSameText(current.text, build.text) && !build.basisLost) return { action: 'confirm' };
  const gates = judgeBuild({ ...build, rowsLeft: rules.rowsLeft }, current, rules.limits).filter(
    ({ gate }) => !(gate === 'shrink' && rules.acceptShrink),
  );
  if (gates.length > 0 && !isReleased(gates, rules.released)) return heldByGates(gates);
  return { action: 'publish', version: current.version + 1 };
}

/** A released build's figures may be exceeded by a fifth. */
const releasedFactor = 1.2;

/** True if an operator released each of these gates, at no much smaller figure. */
export function isReleased(gates: readonly NightBreach[], released: readonly NightBreach[] | null): boolean {
  return (
    released !== null &&
    gates.every(({ gate, figure }) =>
      released.some((before) => before.gate === gate && figure <= before.figure * releasedFactor),
    )
  );
}

function heldByGates(gates: readonly NightBreach[]): PublishDecision {
  const code = gates.every(({ gate }) => gate === 'shrink') ? 'artefact_shrunk' : 'artefact_held';
  return {
    action: 'keep',
    code,
    reason: `${gates.map(({ reason }) => reason).join(' ')} If that is right, release it with \`night release\`.`,
    gates,
  };
}

/** A decision with its artefact. */
interface ArtefactDecision {
  readonly cache: string;
  readonly country: string;
  readonly decision: PublishDecision;
}

/**
 * Holds further files so that a number has the same level in every file of a night. If label gates hold the profile of one
 * country, the files with labels of all countries are held too; if they hold one of those, every file with labels is.
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

function keepPublished(code: string, reason: string): PublishDecision {
  return { action: 'keep', code, reason };
}
