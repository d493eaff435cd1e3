import { cleanText } from '../text-cleaning.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { isPhoneRefusal, judgePhone } from '../phone-number.ts';
import { requireAnotherPerson, type EyesPolicy } from '../two-pairs-of-eyes.ts';
import { listLabelEvents, setLabelCause, type LabelEvent } from './label-history.ts';
import { listProtections } from './protected-number.ts';

/** Everything that is known of one number, and why it is published as it is. */
export interface NumberRecord {
  readonly phone: string;
  readonly country: string | null;
  /** What the caches publish; null if the number is in none. */
  readonly reputation: { readonly level: string; readonly category: NumberCategory | null; readonly source: string | null } | null;
  /** When the published label came to be what it is; null for one that is older than the history, and for a number that never had one. */
  readonly since: Date | null;
  /** The last changes of the published label, newest first. */
  readonly changes: readonly LabelEvent[];
  readonly display: DisplayFields | null;
  /** The last word of a reputation feed, also while redress overrules it. */
  readonly feed: { readonly level: string; readonly category: number | null; readonly loadId: number; readonly fileName: string | null; readonly requestedAt: Date | null } | null;
  /** All complaints that are stored, also those that do not count any more. */
  readonly complaints: number;
  readonly score: NumberScore | null;
  /** When the number was cleared, while that has effect on the feed's word. */
  readonly clearedAt: Date | null;
  /** Newest first. */
  readonly redress: readonly Redress[];
  readonly branded: BrandedRecord | null;
  /** Why the number is never labelled; null if it may be. */
  readonly protection: string | null;
}

/** A published category. */
export interface NumberCategory {
  readonly id: number;
  readonly name: string;
}

export interface DisplayFields {
  readonly name: string | null;
  readonly description: string | null;
  readonly detail: string | null;
  readonly image: string | null;
}

/** The last score of a number's complaints. Counts are of the complaints that counted then. */
export interface NumberScore {
  readonly level: string;
  readonly category: number | null;
  readonly score: number;
  readonly reports: number;
  readonly independentReports: number;
  /** Days and states of the reports; null in scores of complaints/1. */
  readonly days: number | null;
  readonly states: number | null;
  readonly firstReportedAt: Date | null;
  readonly lastReportedAt: Date | null;
  readonly ruleVersion: string;
  readonly scoredAt: Date;
}

/** One clearing of a number by an operator. */
export interface Redress {
  readonly redressId: number;
  readonly reason: string;
  readonly clearedBy: string;
  readonly clearedAt: Date;
  readonly before: { readonly level: string | null; readonly category: number | null; readonly source: string | null };
}

/** The live brand of a number. */
export interface BrandedRecord {
  readonly brandHandle: string;
  readonly display: DisplayFields;
  readonly liveFrom: Date;
  readonly liveUntil: Date | null;
}

/**
 * What is known of a number, written in any international form.
 * @throws ServiceError `phone_invalid`, `phone_unknown`
 */
export async function readNumber(db: Queryable, phoneText: string): Promise<NumberRecord> {
  const phone = requirePhone('show number', phoneText);
  const row = await queryRow<NumberRow>(db, sql('intake/read_number'), [phone]);
  const [protection] = await listProtections(db, { phone });
  const redress = await queryRows<RedressRow>(db, sql('intake/list_redress'), [phone]);
  const changes = await listLabelEvents(db, phone, { limit: changesShown });
  if (row === undefined || !(row.published || row.branded || row.is_scored || row.complaints > 0 || redress.length > 0 || protection !== undefined)) throw unknown('show number');
  return {
    phone,
    country: row.country,
    reputation: reputationOf(row),
    since: row.label_since,
    changes,
    display: row.published ? displayOf(row.display_name, row.display_description, row.display_detail, row.display_image) : null,
    feed: feedOf(row),
    complaints: row.complaints,
    score: row.is_scored ? scoreOf(row) : null,
    clearedAt: row.cleared_at,
    redress: redress.map(redressOf),
    branded: row.branded ? brandedOf(row) : null,
    protection: protection?.reason ?? null,
  };
}

/** Changes of a label that come with a number; `listLabelEvents` has all. */
const changesShown = 20;

/** Why a number is cleared, and by whom. */
export interface Clearing {
  readonly reason: string;
  readonly actor: string;
  /** Writes a record of its own in the transaction of the clearing: if it fails, nothing is done. */
  readonly record?: (client: Queryable, redressId: number) => Promise<void>;
}

/**
 * Clears a number: it is published as NEUTRAL until a feed has another word on it, or new complaints come.
 * What was published before is recorded with the reason. A number of which there are complaints only becomes known by it.
 * @throws ServiceError `phone_invalid`, `phone_unknown`, `reason_required`, `decided_by_requester`
 */
export async function clearNumber({ db, phone: text, eyes, ...clearing }: Clearing & { db: Pool; phone: string; eyes: EyesPolicy }): Promise<Redress> {
  const phone = requirePhone('clear number', text);
  return inTransaction(db, async (client) => {
    await requireAnotherPerson(client, { eyes, actor: clearing.actor, of: { kind: 'label', value: phone, isPrefix: false } });
    return clearLockedNumber(client, phone, { ...clearing, cause: 'clearing' });
  });
}

/** Clears a number in the transaction of `client`. @throws ServiceError `phone_unknown`, `reason_required` */
export async function clearLockedNumber(client: Queryable, phone: string, { reason: reasonText, actor: actorText, record, cause }: Clearing & { cause: 'clearing' | 'dispute' }): Promise<Redress> {
  const [reason, actor] = [cleanText(reasonText), cleanText(actorText) ?? 'unknown'];
  if (reason === null) throw new ServiceError('reason_required', { operation: 'clear number', hint: 'Say why the number is cleared.' });
  const before = await lockNumber(client, phone);
  const added = await queryRow<{ redress_id: number; cleared_at: Date }>(client, sql('intake/add_redress'), [phone, reason, actor, before.level, before.category, before.source]);
  const { redress_id: redressId, cleared_at: clearedAt } = added!; // the statement returns one row
  await setLabelCause(client, { cause, redressId });
  await client.query(sql('intake/clear_number'), [phone, clearedAt]);
  await record?.(client, redressId);
  return { redressId, reason, clearedBy: actor, clearedAt, before };
}

/** What is published of a number, held until the transaction ends. One with complaints only is made known for it. @throws ServiceError `phone_unknown` */
async function lockNumber(client: Queryable, phone: string): Promise<Redress['before']> {
  const lock = () => queryRow<PublishedRow>(client, sql('intake/lock_number'), [phone]);
  const before = await lock();
  if (before !== undefined) return { level: before.reputation_level, category: before.reputation_category, source: before.reputation_source };
  await client.query(sql('intake/make_number_known'), [phone]);
  if ((await lock()) === undefined) throw unknown('clear number');
  return { level: null, category: null, source: null };
}

/** The number of a text in E.164. @throws ServiceError `phone_invalid` */
export function requirePhone(operation: string, text: string): string {
  const judged = judgePhone(text);
  if (isPhoneRefusal(judged)) throw new ServiceError('phone_invalid', { operation, problem: judged.reason, hint: 'Write the number in international form: +12025550143.' });
  return judged.phone;
}

function unknown(operation: string): ServiceError {
  return new ServiceError('phone_unknown', { operation });
}

interface PublishedRow {
  reputation_level: string;
  reputation_category: number | null;
  reputation_source: string | null;
}

/** Columns of sql/intake/read_number.sql; those of an absent part are NULL, which the part's boolean tells. */
interface NumberRow extends PublishedRow {
  published: boolean;
  country: string | null;
  reputation_category_name: string;
  display_name: string | null;
  display_description: string | null;
  display_detail: string | null;
  display_image: string | null;
  feed_level: string | null;
  feed_category: number | null;
  feed_load_id: number;
  feed_file_name: string | null;
  feed_requested_at: Date | null;
  cleared_at: Date | null;
  label_since: Date | null;
  complaints: number;
  is_scored: boolean;
  score_level: string;
  score_category: number | null;
  score: number;
  reports: number;
  independent_reports: number;
  days: number | null;
  states: number | null;
  first_reported_at: Date | null;
  last_reported_at: Date | null;
  rule_version: string;
  scored_at: Date;
  branded: boolean;
  brand_handle: string;
  brand_display_name: string;
  brand_display_description: string | null;
  brand_display_detail: string | null;
  brand_display_image: string | null;
  live_from: Date;
  live_until: Date | null;
}

interface RedressRow {
  redress_id: number;
  reason: string;
  cleared_by: string;
  cleared_at: Date;
  level_before: string | null;
  category_before: number | null;
  source_before: string | null;
}

function reputationOf(row: NumberRow): NumberRecord['reputation'] {
  if (!row.published) return null;
  const category = row.reputation_category === null ? null : { id: row.reputation_category, name: row.reputation_category_name };
  return { level: row.reputation_level, category, source: row.reputation_source };
}

function feedOf(row: NumberRow): NumberRecord['feed'] {
  if (row.feed_level === null) return null;
  return { level: row.feed_level, category: row.feed_category, loadId: row.feed_load_id, fileName: row.feed_file_name, requestedAt: row.feed_requested_at };
}

function displayOf(name: string | null, description: string | null, detail: string | null, image: string | null): DisplayFields {
  return { name, description, detail, image };
}

function scoreOf(row: NumberRow): NumberScore {
  return {
    level: row.score_level,
    category: row.score_category,
    score: row.score,
    reports: row.reports,
    independentReports: row.independent_reports,
    days: row.days,
    states: row.states,
    firstReportedAt: row.first_reported_at,
    lastReportedAt: row.last_reported_at,
    ruleVersion: row.rule_version,
    scoredAt: row.scored_at,
  };
}

function redressOf(row: RedressRow): Redress {
  return {
    redressId: row.redress_id,
    reason: row.reason,
    clearedBy: row.cleared_by,
    clearedAt: row.cleared_at,
    before: { level: row.level_before, category: row.category_before, source: row.source_before },
  };
}

function brandedOf(row: NumberRow): BrandedRecord {
  return {
    brandHandle: row.brand_handle,
    display: displayOf(row.brand_display_name, row.brand_display_description, row.brand_display_detail, row.brand_display_image),
    liveFrom: row.live_from,
    liveUntil: row.live_until,
  };
}
