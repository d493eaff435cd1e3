import type { LabelMoves } from '../artefact/row-difference.ts';
import { judgeBuild, type NightBreach, type NightGateLimits } from './night-gates.ts';
import { findCache, formatArtefact, type ArtefactName } from '../definition.ts';
import type { LevelCounts } from '../../phone/reputation-level.ts';

/** The outcome of a build at the end of its night. */
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

/** The published version. */
export interface CurrentVersion {
  readonly version: number;
  readonly rows: number;
  readonly levels: LevelCounts;
  readonly plainSha256: string;
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
  if (current.plainSha256 === build.plainSha256) return { action: 'confirm' };
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

/** The decision on a file of a night, with the labels that its build changes; null if unknown. */
interface FileDecision extends ArtefactName {
  readonly decision: PublishDecision;
  readonly moves: LabelMoves | null;
}

/** True if the rows of a cache have the level of a number. */
export function hasLabels({ cache }: ArtefactName): boolean {
  return findCache(cache).columns.some(({ type }) => type === 'level');
}

/**
 * Holds further files, so that a number has the same level and category in every published file: a file whose labels change stays
 * if another file of the same numbers stays whose labels change too, because a gate holds it or because the night does not build
 * it. Those that stay hold others in turn. A build that failed holds none.
 * @param notBuilt published files with rows that are not in the night's scope
 */
export function holdTogether<Decided extends FileDecision>(
  decisions: readonly Decided[],
  notBuilt: readonly ArtefactName[],
): Decided[] {
  const staying: readonly StayingFile[] = [...notBuilt, ...decisions.filter(isHeld)];
  const together = decisions.map((decided) => {
    const others = staying.filter((other) => wouldDiffer(decided, other));
    return decided.decision.action !== 'publish' || others.length === 0
      ? decided
      : { ...decided, decision: heldWith(others) };
  });
  return together.every((decided, at) => decided === decisions[at]) ? together : holdTogether(together, notBuilt);
}

/** A file that keeps its published version; without `moves` if the night does not build it. */
type StayingFile = ArtefactName & Partial<Pick<FileDecision, 'moves'>>;

function isHeld({ decision }: FileDecision): boolean {
  return decision.action === 'keep' && decision.gates !== undefined;
}

/** True if a number may have one label in a file that is published and another in a file that stays. */
function wouldDiffer(file: FileDecision, staying: StayingFile): boolean {
  const shareNumbers = file.country === '' || staying.country === '' || file.country === staying.country;
  return shareNumbers && hasLabels(file) && hasLabels(staying) && changesLabels(file) && changesLabels(staying);
}

/** Unknown changes count as changes. */
function changesLabels({ moves }: Partial<Pick<FileDecision, 'moves'>>): boolean {
  return moves === undefined || moves === null || Object.values(moves).some((numbers: number) => numbers > 0);
}

function heldWith(others: readonly StayingFile[]): PublishDecision {
  const missing = others.filter(({ moves }) => moves === undefined);
  const [files, advice] =
    missing.length === 0 ? [others, ''] : [missing, ', which this night does not build. Run a night of all files'];
  return {
    action: 'keep',
    code: 'artefact_held',
    reason: `Held with ${nameSome(files)}${advice}, so that a number has the same level in every file.`,
    gates: [],
  };
}

/** Names listed in a reason; of more, the number. */
const namesMax = 3;

function nameSome(files: readonly ArtefactName[]): string {
  const names = files.slice(0, namesMax).map(formatArtefact).join(', ');
  return files.length <= namesMax ? names : `${names} and ${files.length - namesMax} more`;
}

function keepPublished(code: string, reason: string): PublishDecision {
  return { action: 'keep', code, reason };
}
