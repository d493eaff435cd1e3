import { isPhoneRefusal, judgePhone } from '../pipelines/phone-number.ts';
import { ServiceError } from '../runtime/errors.ts';
import { queryRow, type Queryable } from '../runtime/postgres.ts';
import { sql } from '../sql/sql.ts';
import type { NumberAnswer } from './number-schemas.ts';

type Level = NumberAnswer['level'];

interface NumberRow {
  [column: string]: unknown;
  known: boolean;
  country: string | null;
  level: Level;
  category: number | null;
  source: 'feed' | 'complaints' | 'redress' | null;
  since: Date | null;
  feed_level: Level | null;
  feed_category: number | null;
  feed_submitted_at: Date | null;
  is_scored: boolean;
  score_level: Level;
  score_category: number | null;
  reports: number;
  independent_reports: number;
  first_reported_at: Date | null;
  last_reported_at: Date | null;
  rule_version: string;
  evaluated_at: Date | null;
  cleared_at: Date | null;
  is_cleared: boolean;
  range_prefix: string | null;
  range_risk: NonNullable<NumberAnswer['rangeRisk']>['risk'];
  range_lift: number;
  numbers_reported: number;
  range_since: string;
  range_until: string;
  /** Asked for numbers of a listed range alone. */
  is_protected: boolean;
  branded: boolean;
  display_name: string | null;
  display_description: string | null;
  display_detail: string | null;
  display_image: string | null;
}

/**
 * The number of a path. Only its canonical form is one: with another, one number would have several addresses.
 * @throws ServiceError `phone_invalid`, without the text
 */
export function requireCanonicalPhone(text: string): string {
  const judged = judgePhone(text);
  if (!isPhoneRefusal(judged) && judged.phone === text) return text;
  const problem = isPhoneRefusal(judged) ? judged.reason : 'The number is not in its canonical form.';
  throw new ServiceError('phone_invalid', { operation: 'read number', problem, hint: 'Write it in E.164: a plus sign (as it stands, or %2B), country code and number, digits only.' });
}

/**
 * The label of a number with its reason; `brand`: the handle of the brand whose numbers alone may be seen. A number of which
 * nothing is known has no label, which is an answer like any other.
 * @throws ServiceError `phone_unknown` if the brand does not have the number verified
 */
export async function readNumber(db: Queryable, phone: string, { brand }: { brand: string | null }): Promise<NumberAnswer> {
  const row = await queryRow<NumberRow>(db, sql('api/read_number'), [phone, brand]);
  if (row === undefined) throw new ServiceError('phone_unknown', { operation: 'read number', problem: 'The brand of this key has no such number that is verified.' });
  const { known, country, level, category, source } = row;
  return {
    phone,
    country,
    known,
    level,
    category,
    since: timeOrNull(row.since),
    source: source === 'redress' ? 'clearing' : source,
    feed: row.feed_level === null ? null : { level: row.feed_level, category: row.feed_category, submittedAt: timeOrNull(row.feed_submitted_at) },
    complaints: row.is_scored ? complaintsOf(row) : null,
    cleared: row.cleared_at === null ? null : { at: row.cleared_at.toISOString(), inEffect: row.is_cleared },
    rangeRisk: rangeRiskOf(row),
    display: displayOf(row),
    links: { self: `/v1/numbers/${encodeURIComponent(phone)}`, categories: '/v1/reputation/categories' },
  };
}

function complaintsOf(row: NumberRow): NumberAnswer['complaints'] {
  return {
    level: row.score_level,
    category: row.score_category,
    ruleVersion: row.rule_version,
    reports: row.reports,
    independentReports: row.independent_reports,
    firstReportedAt: timeOrNull(row.first_reported_at),
    lastReportedAt: timeOrNull(row.last_reported_at),
    evaluatedAt: timeOrNull(row.evaluated_at),
  };
}

function rangeRiskOf(row: NumberRow): NumberAnswer['rangeRisk'] {
  if (row.range_prefix === null) return null;
  const exempt = row.branded ? 'branded' : row.is_cleared ? 'cleared' : row.is_protected ? 'protected' : null;
  return { prefix: row.range_prefix, risk: row.range_risk, lift: row.range_lift, numbersReported: row.numbers_reported, since: row.range_since, until: row.range_until, exempt };
}

function displayOf({ branded, display_name: name, display_description: description, display_detail: detail, display_image: image }: NumberRow): NumberAnswer['display'] {
  return [name, description, detail, image].every((text) => text === null) ? null : { name, description, detail, image, branded };
}

function timeOrNull(time: Date | null): string | null {
  return time === null ? null : time.toISOString();
}
