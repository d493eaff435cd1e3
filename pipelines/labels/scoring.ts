import { ServiceError } from '../../runtime/errors.ts';
import {
  inTransaction,
  queryRow,
  queryRows,
  type Pool,
  type PoolClient,
  type Queryable,
} from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { cleanText } from '../phone/text-cleaning.ts';
import { agePoints, complaintRule } from './complaint-rule.ts';
import { setLabelCause } from './label-history.ts';

/** What a scoring depends on besides the rule. Tests and evaluations use others. */
export interface ScoringSettings {
  /** Days of silence of the complaint feed during which labels do not age; 0: they age every day. */
  readonly labelHoldDaysMax: number;
}

/** A feed that is absent for six weeks has ended; docs/scoring.md has what a shorter and a longer hold do. */
export const scoringDefaults: ScoringSettings = { labelHoldDaysMax: 45 };

/** The result of a scoring: numbers that were scored and have complaints that count, and published rows that were inserted or changed. */
interface ScoringReport {
  readonly scored: number;
  readonly changed: number;
  /** Protected numbers that reach a level; absent if there are none. */
  readonly withheld?: number;
  /** Days since the last report of the complaint feed, if labels no longer hold; absent otherwise, and without a hold. */
  readonly silentDays?: number;
  /** The rule that is not in force yet (`number drift --move`); until then labels from complaints do not change. */
  readonly ruleWaiting?: string;
}

interface ScoringOptions extends ScoringSettings {
  /** Scores all numbers, not only those whose label may have changed. */
  readonly all?: boolean;
  /** Ends the scoring, with the error `interrupted`; nothing is stored. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Scores the numbers with complaints as of an instant and publishes the scores, in one transaction. Points only fall while nothing is
 * reported, so a number without a label keeps its result until it is reported again: those with a label and those with new complaints
 * are scored. All are where that does not follow: the first time, by another version of the rule, and where a day has become younger
 * since the last scoring (an earlier instant, another hold, the late feed of a silence). If another rule version is in force, nothing is
 * scored: an upgrade alone changes no label.
 */
export async function scoreComplaints(
  db: Pool,
  evaluatedAt: Date,
  settings: ScoringOptions = scoringDefaults,
): Promise<ScoringReport> {
  return inTransaction(
    db,
    async (client) => {
      const { version } = await readScoringRule(client);
      if (version !== complaintRule.version) return { scored: 0, changed: 0, ruleWaiting: complaintRule.version };
      const last =
        settings.all === true ? undefined : await queryRow<LastScoring>(client, sql('labels/read_last_scoring'));
      const { scored, ...saw } = await computeScores(client, evaluatedAt, settings, { last });
      await client.query(sql('labels/store_scores'), [evaluatedAt, version]);
      const { transactions, cluster, days, ages, scoredAll, silentDays } = saw;
      await client.query(sql('labels/record_scoring'), [
        evaluatedAt,
        version,
        transactions,
        cluster,
        days,
        ages,
        scoredAll,
      ]);
      await setLabelCause(client, { cause: 'complaints', ruleVersion: version, evaluatedAt });
      const { changed, withheld } = (await queryRow<{ changed: number; withheld: number }>(
        client,
        sql('labels/apply_scores'),
      ))!; // the statement returns one row
      const holdHasEnded =
        settings.labelHoldDaysMax > 0 && silentDays !== null && silentDays > settings.labelHoldDaysMax;
      return { scored, changed, ...(withheld > 0 ? { withheld } : {}), ...(holdHasEnded ? { silentDays } : {}) };
    },
    settings.signal,
  );
}

/** The ages of the days that count, in counted days; the days are as in ISO 8601, ascending. */
interface AgedDays {
  readonly days: readonly string[];
  readonly ages: readonly number[];
}

interface LastScoring extends AgedDays {
  readonly version: string;
  readonly evaluatedAt: Date;
  /** What it saw (pg_snapshot as text), in this database cluster. */
  readonly transactions: string;
  readonly cluster: string;
}

/** What a scoring saw: the transactions (pg_snapshot as text), the days, and the silence of the feed. */
interface Computed extends AgedDays {
  readonly scored: number;
  readonly scoredAll: boolean;
  readonly transactions: string;
  readonly cluster: string;
  readonly silentDays: number | null;
}

/** An earlier scoring that this one continues (`last`), or whose snapshot it uses (`seen`), which leaves out later loads and clearings. */
interface EarlierScoring {
  readonly last?: LastScoring | undefined;
  readonly seen?: string | undefined;
}

/**
 * Fills the temporary tables `complaint_candidate` and `complaint_scored` by the rule of this version: after `last` the numbers whose
 * label may have changed since, else all. With `seen` it computes the labels of a past night again.
 */
export async function computeScores(
  client: PoolClient,
  evaluatedAt: Date,
  { labelHoldDaysMax }: ScoringSettings,
  { last, seen }: EarlierScoring = {},
): Promise<Computed> {
  await client.query(sql('feeds/prepare_bulk_work'));
  await client.query(sql('labels/create_scored'));
  const { transactions, cluster } = (await queryRow<{ transactions: string; cluster: string }>(
    client,
    sql('labels/describe_snapshot'),
  ))!; // the statement returns one row
  const saw = seen ?? transactions;
  const aged = (await queryRow<AgedDays & { silentDays: number | null }>(client, sql('labels/age_days'), [
    evaluatedAt,
    complaintRule.windowDays,
    labelHoldDaysMax,
    agePoints.length,
    saw,
  ]))!; // the statement returns one row
  const scoredAll = last?.cluster !== cluster || !goesOn(last, evaluatedAt, aged);
  if (scoredAll) await client.query(sql('labels/choose_all_to_score'), [complaintRule.version]);
  else await client.query(sql('labels/choose_changed_to_score'), [last.transactions, last.evaluatedAt]);
  await client.query('ANALYZE complaint_candidate');
  const worth = aged.ages.map((days) => agePoints[days]!);
  const { version, furtherStatesMax, spreadPoints, independentReportsMin, pointsMin } = complaintRule;
  await client.query(sql('labels/allow_nested_loops'), ['off']);
  const { scored } = (await queryRow<{ scored: number }>(client, sql('labels/score_complaints'), [
    evaluatedAt,
    version,
    aged.days,
    worth.map(({ day }) => day),
    worth.map(({ furtherState }) => furtherState),
    furtherStatesMax,
    spreadPoints,
    independentReportsMin,
    pointsMin,
    complaintRule.recordedCategory,
    complaintRule.otherCategory,
    saw,
    scoredAll,
  ]))!; // the statement returns one row
  await client.query(sql('labels/allow_nested_loops'), ['on']);
  return { scored, scoredAll, transactions: saw, cluster, ...aged };
}

/** True if no number can have gained points since the last scoring without a report: then no day is younger. */
function goesOn(last: LastScoring, evaluatedAt: Date, { days, ages }: AgedDays): boolean {
  if (last.version !== complaintRule.version || last.evaluatedAt > evaluatedAt) return false;
  const now = new Map(days.map((day, at) => [day, ages[at]!]));
  return last.days.every((day, at) => (now.get(day) ?? Infinity) >= last.ages[at]!);
}

/** The rule version in force, and its activation. */
interface ScoringRuleInForce {
  readonly version: string;
  readonly movedBy: string;
  readonly reason: string;
  readonly movedAt: Date;
}

/** Reads the rule version in force. */
export async function readScoringRule(db: Queryable): Promise<ScoringRuleInForce> {
  const row = await queryRow<{ version: string; movedBy: string; reason: string; movedAt: Date }>(
    db,
    sql('labels/read_scoring_rule'),
  );
  const { version, movedBy, reason, movedAt } = row!; // a migration inserts the first row, and none is ever removed
  return { version, movedBy, reason, movedAt };
}

/** Level and category by a scoring; category is null for NEUTRAL. */
interface ScoredLabel {
  readonly level: string;
  readonly category: number | null;
}

/** The numbers whose result changes from one label to another. */
export interface LabelChange {
  readonly from: ScoredLabel;
  readonly to: ScoredLabel;
  readonly numbers: number;
  /** Those whose published label is from complaints. */
  readonly published: number;
}

/** The last stored scoring compared with the rule of this version, on the same complaints at the same instant. */
export interface LabelDrift {
  readonly inForce: ScoringRuleInForce;
  /** The rule of the last stored scoring; null if nothing was scored yet. */
  readonly before: string | null;
  readonly after: string;
  readonly evaluatedAt: Date;
  readonly labelledBefore: number;
  readonly labelledAfter: number;
  /** Numbers with a level by both. */
  readonly labelledByBoth: number;
  /** Numbers whose level or category differs. */
  readonly changed: number;
  /** All pairs of results except NEUTRAL with NEUTRAL. */
  readonly changes: readonly LabelChange[];
}

/** Compares the last stored scoring with the rule of this version, as of the instant of that scoring (or `now`). Nothing is written. */
export async function compareScores(db: Pool, now: Date): Promise<LabelDrift> {
  return inTransaction(db, async (client) => {
    const last = await queryRow<LastScoring>(client, sql('labels/read_last_scoring'));
    const evaluatedAt = last?.evaluatedAt ?? now;
    await computeScores(client, evaluatedAt, scoringDefaults);
    const rows = await queryRows<ChangeRow>(client, sql('labels/compare_scores'));
    const changes = rows.map(changeOf).filter(({ from, to }) => from.level !== 'NEUTRAL' || to.level !== 'NEUTRAL');
    const sum = (counts: (change: LabelChange) => boolean) =>
      changes.filter(counts).reduce((numbers, change) => numbers + change.numbers, 0);
    return {
      inForce: await readScoringRule(client),
      before: last?.version ?? null,
      after: complaintRule.version,
      evaluatedAt,
      labelledBefore: sum(({ from }) => from.level !== 'NEUTRAL'),
      labelledAfter: sum(({ to }) => to.level !== 'NEUTRAL'),
      labelledByBoth: sum(({ from, to }) => from.level !== 'NEUTRAL' && to.level !== 'NEUTRAL'),
      changed: sum(({ from, to }) => from.level !== to.level || from.category !== to.category),
      changes,
    };
  });
}

/**
 * Puts the rule of this version in force from the next night on. Does nothing if it is in force.
 * @throws ServiceError `reason_required`
 */
export async function moveScoringRule(
  db: Queryable,
  { actor, reason: reasonText }: { actor: string; reason: string },
): Promise<ScoringRuleInForce> {
  const reason = cleanText(reasonText);
  if (reason === null)
    throw new ServiceError('reason_required', {
      operation: 'move scoring rule',
      hint: 'Say why the rule is put in force.',
    });
  const { version } = await readScoringRule(db);
  if (version !== complaintRule.version)
    await db.query(sql('labels/move_scoring_rule'), [complaintRule.version, cleanText(actor) ?? 'unknown', reason]);
  return readScoringRule(db);
}

interface ChangeRow {
  levelBefore: string;
  categoryBefore: number | null;
  level: string;
  category: number | null;
  numbers: number;
  published: number;
}

function changeOf({ levelBefore, categoryBefore, level, category, numbers, published }: ChangeRow): LabelChange {
  return { from: { level: levelBefore, category: categoryBefore }, to: { level, category }, numbers, published };
}
