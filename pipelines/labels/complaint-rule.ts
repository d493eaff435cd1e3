/** Points for one day's reports about a number, while the day is at most `ageDaysMax` counted days old. */
interface PointsAtAge {
  readonly ageDaysMax: number;
  /** For the first state that reported on the day. */
  readonly day: number;
  /** For each further state that reported on the same day. */
  readonly furtherState: number;
}

/**
 * The rule by which complaints become a reputation. A change of any figure is a new version.
 * docs/scoring.md explains it with worked examples; docs/scoring-card.md has the measurements behind it.
 */
export const complaintRule = {
  version: 'complaints/2',
  /** Older complaints do not count, also after a silence of the feed. Calendar days. */
  windowDays: 365,
  /** Points of a day with reports, by its age in counted days; older days have none. */
  pointsByAge: [
    { ageDaysMax: 2, day: 12, furtherState: 6 },
    { ageDaysMax: 4, day: 10, furtherState: 2 },
    { ageDaysMax: 6, day: 8, furtherState: 0 },
    { ageDaysMax: 9, day: 6, furtherState: 0 },
    { ageDaysMax: 13, day: 5, furtherState: 0 },
    { ageDaysMax: 20, day: 4, furtherState: 0 },
    { ageDaysMax: 27, day: 3, furtherState: 0 },
    { ageDaysMax: 41, day: 2, furtherState: 0 },
    { ageDaysMax: 89, day: 1, furtherState: 0 },
  ],
  /** Further states of one day that give points. */
  furtherStatesMax: 3,
  /** Additional points of a number that was reported from two states or more. */
  spreadPoints: 6,
  /** A level needs this many reports that differ in state or day. */
  independentReportsMin: 3,
  /** A level needs this many points. */
  pointsMin: 19,
  /** Category of a complaint without a subject: robocaller if a recording was played, else general_spam. */
  recordedCategory: 10,
  otherCategory: 1,
} as const satisfies ComplaintRule;

/** The figures of a rule of this form. */
interface ComplaintRule {
  readonly version: string;
  readonly windowDays: number;
  readonly pointsByAge: readonly PointsAtAge[];
  readonly furtherStatesMax: number;
  readonly spreadPoints: number;
  readonly independentReportsMin: number;
  readonly pointsMin: number;
  readonly recordedCategory: number;
  readonly otherCategory: number;
}

/**
 * Reports about one number, ascending by day and then by state. Days count from any epoch, states from 1. State 0 is unknown:
 * a source of its own, but no state for the spread.
 */
export interface NumberReports {
  readonly days: Int32Array;
  readonly states: Uint16Array;
  /** The number's reports are those from `from` to before `end`. */
  from: number;
  end: number;
}

/** The sums over the reports of a number. */
export interface ComplaintPoints {
  points: number;
  /** Reports that differ in state or day and are not too old. */
  independentReports: number;
  days: number;
  states: number;
}

/** Points by age in counted days; beyond the last entry there are none. */
export const agePoints = complaintRule.pointsByAge.flatMap(({ ageDaysMax, day, furtherState }, at) =>
  Array.from({ length: ageDaysMax - (complaintRule.pointsByAge[at - 1]?.ageDaysMax ?? -1) }, () => ({
    day,
    furtherState,
  })),
);

const dayPoints = Uint8Array.from(agePoints, ({ day }) => day);
const furtherPoints = Uint8Array.from(agePoints, ({ furtherState }) => furtherState);
const statesCountedMax = 1024;
const lastSeen = new Int32Array(statesCountedMax);
let seenMark = 0;

/**
 * Sums up the reports of a number, as sql/labels/score_complaints.sql does in the database
 * (test/pipelines/labels/complaint-rule.test.ts compares both). `ageOf` gives the counted days between a report's day and the day
 * of evaluation, after which there must be no reports. The result is written to `into`.
 */
export function addUpReports(
  { days, states, from, end }: NumberReports,
  ageOf: (day: number) => number,
  into: ComplaintPoints,
): void {
  const mark = ++seenMark;
  let [points, independentReports, countedDays, countedStates, furtherStates] = [0, 0, 0, 0, 0];
  for (let at = end - 1; at >= from; at--) {
    const [day, state] = [days[at]!, states[at]!];
    const age = ageOf(day);
    if (age >= dayPoints.length) break;
    if (at + 1 < end && days[at + 1] === day) {
      if (states[at + 1] === state) continue; // one state counts once a day
      furtherStates++;
      if (furtherStates <= complaintRule.furtherStatesMax) points += furtherPoints[age]!;
    } else {
      furtherStates = 0;
      countedDays++;
      points += dayPoints[age]!;
    }
    independentReports++;
    if (state !== 0 && lastSeen[state % statesCountedMax] !== mark) {
      lastSeen[state % statesCountedMax] = mark;
      countedStates++;
    }
  }
  into.points = points + (countedStates > 1 ? complaintRule.spreadPoints : 0);
  into.independentReports = independentReports;
  into.days = countedDays;
  into.states = countedStates;
}

/** True if a number with these sums has a level. */
export function reachesLevel({
  points,
  independentReports,
}: Pick<ComplaintPoints, 'points' | 'independentReports'>): boolean {
  return points >= complaintRule.pointsMin && independentReports >= complaintRule.independentReportsMin;
}

/**
 * Counts the days by which labels age: days with reports of the feed, and days without after more than `holdDaysMax` of
 * these in a row. `hasReports` has an entry for each day. Returns the number of counted days before each of them: the age of a
 * report of day r on day e is `counted[e] - counted[r + 1]`, which excludes both days.
 */
export function countDays(hasReports: readonly boolean[], holdDaysMax: number): Int32Array {
  const counted = new Int32Array(hasReports.length + 1);
  let silent = 0;
  for (const [at, reported] of hasReports.entries()) {
    silent = reported ? 0 : silent + 1;
    counted[at + 1] = counted[at]! + (reported || silent > holdDaysMax ? 1 : 0);
  }
  return counted;
}
