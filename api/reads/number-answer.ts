import { isPhoneRefusal, judgePhone } from '../../pipelines/phone/phone-number.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { NumberAnswer } from './number-schemas.ts';

type Level = NumberAnswer['level'];

interface NumberRow {
  known: boolean;
  country: string | null;
  level: Level;
  category: number | null;
  source: 'feed' | 'complaints' | 'redress' | null;
  since: Date | null;
  feedLevel: Level | null;
  feedCategory: number | null;
  feedSubmittedAt: Date | null;
  isScored: boolean;
  scoreLevel: Level;
  scoreCategory: number | null;
  reports: number;
  independentReports: number;
  firstReportedAt: Date | null;
  lastReportedAt: Date | null;
  ruleVersion: string;
  evaluatedAt: Date | null;
  clearedAt: Date | null;
  isCleared: boolean;
  rangePrefix: string | null;
  rangeRisk: NonNullable<NumberAnswer['rangeRisk']>['risk'];
  rangeLift: number;
  numbersReported: number;
  rangeSince: string;
  rangeUntil: string;
  /** Asked for numbers of a listed range alone. */
  isProtected: boolean;
  branded: boolean;
  displayName: string | null;
  displayDescription: string | null;
  displayDetail: string | null;
  displayImage: string | null;
}

/**
 * The number of a path. Only its canonical form is one: with another, one number would have several addresses.
 * @throws ServiceError `phone_invalid`, without the text
 */
export function requireCanonicalPhone(text: string): string {
  const judged = judgePhone(text);
  if (!isPhoneRefusal(judged) && judged.phone === text) return text;
  const problem = isPhoneRefusal(judged) ? judged.reason : 'The number is not in its canonical form.';
  throw new ServiceError('phone_invalid', {
    operation: 'read number',
    problem,
    hint: 'Write it in E.164: a plus sign (as it stands, or %2B), country code and number, digits only.',
  });
}

/**
 * The label of a number with its reason; `brand`: the handle of the brand whose numbers alone may be seen. A number of which
 * nothing is known has no label, which is an answer like any other.
 * @throws ServiceError `phone_unknown` if the brand does not have the number verified
 */
export async function readNumber(
  db: Queryable,
  phone: string,
  { brand }: { brand: string | null },
): Promise<NumberAnswer> {
  const row = await queryRow<NumberRow>(db, sql('api/read_number'), [phone, brand]);
  if (row === undefined)
    throw new ServiceError('phone_unknown', {
      operation: 'read number',
      problem: 'The brand of this key has no such number that is verified.',
    });
  const { known, country, level, category, source } = row;
  return {
    phone,
    country,
    known,
    level,
    category,
    since: timeOrNull(row.since),
    source: source === 'redress' ? 'clearing' : source,
    feed:
      row.feedLevel === null
        ? null
        : { level: row.feedLevel, category: row.feedCategory, submittedAt: timeOrNull(row.feedSubmittedAt) },
    complaints: row.isScored ? complaintsOf(row) : null,
    cleared: row.clearedAt === null ? null : { at: row.clearedAt.toISOString(), inEffect: row.isCleared },
    rangeRisk: rangeRiskOf(row),
    display: displayOf(row),
    links: { self: `/v1/numbers/${encodeURIComponent(phone)}`, categories: '/v1/reputation/categories' },
  };
}

function complaintsOf(row: NumberRow): NumberAnswer['complaints'] {
  return {
    level: row.scoreLevel,
    category: row.scoreCategory,
    ruleVersion: row.ruleVersion,
    reports: row.reports,
    independentReports: row.independentReports,
    firstReportedAt: timeOrNull(row.firstReportedAt),
    lastReportedAt: timeOrNull(row.lastReportedAt),
    evaluatedAt: timeOrNull(row.evaluatedAt),
  };
}

function rangeRiskOf(row: NumberRow): NumberAnswer['rangeRisk'] {
  if (row.rangePrefix === null) return null;
  const exempt = row.branded ? 'branded' : row.isCleared ? 'cleared' : row.isProtected ? 'protected' : null;
  return {
    prefix: row.rangePrefix,
    risk: row.rangeRisk,
    lift: row.rangeLift,
    numbersReported: row.numbersReported,
    since: row.rangeSince,
    until: row.rangeUntil,
    exempt,
  };
}

function displayOf({
  branded,
  displayName: name,
  displayDescription: description,
  displayDetail: detail,
  displayImage: image,
}: NumberRow): NumberAnswer['display'] {
  return [name, description, detail, image].every((text) => text === null)
    ? null
    : { name, description, detail, image, branded };
}

function timeOrNull(time: Date | null): string | null {
  return time === null ? null : time.toISOString();
}
