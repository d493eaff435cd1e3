import type { Finding } from '../../finding.ts';
import { daysBetween } from '../letter-dates.ts';
import type { FoundDate } from '../letter-fields.ts';
import { letterRuleLimits } from './letter-rules.ts';
import { isVerified } from '../letter-signature.ts';
import { orPass, pass, report, type LetterCase, type LetterDecisionInput } from './letter-case.ts';

/** True if a signature was made in time; one without a time is judged by the date of the letter alone. */
export function isTimely(signedAt: string | null, submittedOn: string): boolean {
  const days = signedAt === null ? 0 : daysBetween(signedAt.slice(0, 10), submittedOn);
  return days >= 0 && days <= letterRuleLimits.ageDaysMax;
}

type DateVerdict = 'future' | 'too_old' | 'in_time';

function judgeDay(
  date: string,
  { submittedOn, latestDay = submittedOn }: Pick<LetterDecisionInput, 'submittedOn' | 'latestDay'>,
): DateVerdict {
  const days = daysBetween(date, submittedOn);
  if (date > latestDay) return 'future';
  return days > letterRuleLimits.ageDaysMax ? 'too_old' : 'in_time';
}

/**
 * The four rules on the signing date. A date leads to a refusal only if it alone is labelled as the signing date, in text of the
 * PDF itself.
 */
export function judgeDate(letterCase: LetterCase): readonly Finding[] {
  const { fields, submittedOn, mayBeUnread } = letterCase;
  const { signingDate: date, otherDates } = fields;
  if (date === null) return judgeMissingDate(otherDates);
  const verdict = judgeDay(date.date, letterCase);
  const alternative = date.alternative === null ? verdict : judgeDay(date.alternative, letterCase);
  const rival = otherDates.find(
    (other) =>
      other.role !== 'other' &&
      [other.date, other.alternative ?? other.date].some((day) => judgeDay(day, letterCase) !== verdict),
  );
  const signed = letterCase.reading.signatures.find(
    (signature) =>
      isVerified(signature) &&
      signature.signedAt !== null &&
      judgeDay(signature.signedAt.slice(0, 10), letterCase) !== verdict,
  );
  const doubts = [
    ...(alternative === verdict ? [] : [report('date_unambiguous', 'two_readings', date)]),
    ...(rival === undefined || (verdict === 'in_time' && rival.role !== 'signing')
      ? []
      : [report('date_unambiguous', 'two_dates', rival)]),
    ...(signed === undefined ? [] : [report('date_unambiguous', 'two_dates', date)]),
  ];
  const isCertain = doubts.length === 0 && date.labelled && !mayBeUnread;
  const readings = [verdict, alternative];
  const future = !readings.includes('future') ? [] : [report('date_not_future', isCertain ? 'future' : 'unsure', date)];
  const tooOld = !readings.includes('too_old')
    ? []
    : [report('date_recent', isCertain ? 'too_old' : 'unsure', date, { days: daysBetween(date.date, submittedOn) })];
  return [
    pass('date_given', date),
    ...orPass('date_unambiguous', doubts, date),
    ...orPass('date_not_future', future, date),
    ...orPass('date_recent', tooOld, date),
  ];
}

/** Without a date only `date_given` decides. */
function judgeMissingDate(otherDates: readonly FoundDate[]): readonly Finding[] {
  const possible = otherDates.find(({ role }) => role === 'unlabelled');
  const given =
    possible !== undefined ? report('date_given', 'unclear', possible) : report('date_given', 'missing', otherDates[0]);
  return [given, pass('date_unambiguous'), pass('date_not_future'), pass('date_recent')];
}
