import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { complaintRule } from '../labels/complaint-rule.ts';
import { isPhoneRefusal, judgePhone } from '../phone/phone-number.ts';
import { cleanText } from '../phone/text-cleaning.ts';
import { copyText } from './copy-in.ts';
import { readFeedTime, type DateForm } from './feed-dates.ts';
import type { JudgeOptions, MeasuredFeed, RowJudge, StagedLoad } from './feed-definition.ts';
import { refuse, type Refusal } from '../rows/reject.ts';

/**
 * Complaint feed: the daily "Do Not Call reported calls" file of the U.S. Federal Trade Commission.
 * Of the complainant only the state is kept; city and area code are no columns here, so that no row or excerpt has them.
 */
export const complaintFeed = {
  name: 'complaints',
  format: {
    columns: [
      { names: ['Company_Phone_Number'], required: true },
      { names: ['Created_Date'], required: true },
      { names: ['Violation_Date'], required: true },
      { names: ['Consumer_State'], required: true },
      { names: ['Subject'], required: true },
      { names: ['Recorded_Message_Or_Robocall'], required: true },
    ],
    headerOptional: false,
    personal: true,
  },
  createStaging: 'feeds/create_complaint_staging',
  stagingColumns: ['phone', 'country', 'reported_at', 'violated_at', 'consumer_state', 'subject', 'recorded'],
  makeJudge: makeComplaintJudge,
  dateColumns: [1, 2],
  measure: measureComplaints,
} as const;

async function measureComplaints(client: Queryable, { loadId, requestedAt }: StagedLoad): Promise<MeasuredFeed> {
  await client.query('ANALYZE feed_staging (phone)'); // without it the planner takes a million numbers for 200
  const found = await queryRow<MeasuredFeed['measures'] & { rowsTooOld: number }>(
    client,
    sql('feeds/measure_complaints'),
    [requestedAt, complaintRule.windowDays],
  );
  const { rowsTooOld, ...measures } = found!; // the statement returns one row
  const merge = async () => (await queryRow<{ rowsChanged: number }>(client, sql('feeds/merge_complaints'), [loadId]))!; // the statement returns one row
  return { measures, rowsTooOld, merge };
}

/** Longest texts in bytes of UTF-8; both are part of a unique index, whose rows must fit in a third of a page. */
const complaintBytesMax = { state: 64, subject: 256 } as const;

/** The FTC's subject of a complaint without one; an empty field means the same. */
const noSubject = 'No Subject Provided';

function makeComplaintJudge({ submittedAt, dateForm, options }: JudgeOptions): RowJudge {
  const latest = copyTime(submittedAt);
  const country = options.country ?? 'US';
  return ([phoneText = '', reported = '', violated = '', stateText = '', subjectText = '', recordedText = '']) => {
    const phone = judgePhone(phoneText.trim(), country);
    if (isPhoneRefusal(phone)) return phone;
    const times = judgeTimes(reported.trim(), violated.trim(), { latest, dateForm });
    if (typeof times !== 'string') return times;
    const about = judgeAbout(
      cleanText(stateText),
      cleanText(subjectText) ?? noSubject,
      recordedText.trim().toUpperCase(),
    );
    return typeof about === 'string' ? `${phone.phone}\t${copyText(phone.country)}\t${times}\t${about}` : about;
  };
}

/** Both times as COPY text, in UTC. */
function judgeTimes(
  reportedText: string,
  violatedText: string,
  { latest, dateForm }: { latest: string; dateForm: DateForm | null },
): string | Refusal {
  if (reportedText === '') return refuse('date_missing');
  const reported = readFeedTime(reportedText, dateForm);
  const violated = violatedText === '' ? '' : readFeedTime(violatedText, dateForm);
  if (reported === null || violated === null) return refuse('date_invalid');
  if (reported > latest || violated > latest) return refuse('date_in_future');
  return `${reported}+00\t${violated === '' ? copyText(null) : `${violated}+00`}`;
}

/** Values of the column for recorded messages: those of the FTC, and types of call of the FCC's complaint data. */
const recordedWords: Readonly<Record<string, string>> = {
  Y: 't',
  N: 'f',
  '': copyText(null),
  'PRERECORDED VOICE': 't',
  'LIVE VOICE': 'f',
  'AUTODIALED LIVE VOICE CALL': 'f',
  'ABANDONED CALLS': copyText(null),
  'TEXT MESSAGE': copyText(null),
  OTHER: copyText(null),
};

function judgeAbout(state: string | null, subject: string, recorded: string): string | Refusal {
  if (state !== null && Buffer.byteLength(state) > complaintBytesMax.state)
    return refuse('text_too_long', `The state is longer than ${complaintBytesMax.state} bytes.`);
  if (Buffer.byteLength(subject) > complaintBytesMax.subject)
    return refuse('text_too_long', `The subject is longer than ${complaintBytesMax.subject} bytes.`);
  const recordedValue = recordedWords[recorded];
  return recordedValue === undefined ? refuse('recorded_invalid') : `${copyText(state)}\t${subject}\t${recordedValue}`;
}

/** An instant in the format of the feed, so that texts sort as times. */
function copyTime(instant: Date): string {
  return instant.toISOString().slice(0, 19).replace('T', ' ');
}
