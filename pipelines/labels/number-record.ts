import { cleanText } from '../phone/text-cleaning.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { isPhoneRefusal, judgePhone } from '../phone/phone-number.ts';
import { requireAnotherPerson, type EyesPolicy } from '../access/two-pairs-of-eyes.ts';
import { listLabelEvents, setLabelCause, type LabelEvent } from './label-history.ts';
import { listProtections } from './protected-number.ts';

/** All facts about a number, and the reasons of its published state. */
export interface NumberRecord {
  readonly phone: string;
  readonly country: string | null;
  /** The published reputation; null if the number is in no cache. */
  readonly reputation: {
    readonly level: string;
    readonly category: NumberCategory | null;
    readonly source: string | null;
  } | null;
  /** Time of the last change of the published label; null if there was never a label. */
  readonly since: Date | null;
  /** The last changes of the published label, newest first. */
  readonly changes: readonly LabelEvent[];
  readonly display: DisplayFields | null;
  /** The last statement of a reputation feed, also while a clearing overrides it. */
  readonly feed: {
    readonly level: string;
    readonly category: number | null;
    readonly loadId: number;
    readonly fileName: string | null;
    readonly requestedAt: Date | null;
  } | null;
  /** All stored complaints, also those that no longer count. */
  readonly complaints: number;
  readonly score: NumberScore | null;
  /** When the number was cleared, while that overrides the feed. */
  readonly clearedAt: Date | null;
  /** Newest first. */
  readonly redress: readonly Redress[];
  readonly branded: BrandedRecord | null;
  /** Why the number is protected from labels; null if it is not. */
  readonly protection: string | null;
}

/** A published category. */
interface NumberCategory {
  readonly id: number;
  readonly name: string;
}

interface DisplayFields {
  readonly name: string | null;
  readonly description: string | null;
  readonly detail: string | null;
  readonly image: string | null;
}

/** The last score of a number's complaints, with the counts at that time. */
interface NumberScore {
  readonly level: string;
  readonly category: number | null;
  readonly score: number;
  readonly reports: number;
  readonly independentReports: number;
  /** Days and states of the reports. */
  readonly days: number;
  readonly states: number;
  readonly firstReportedAt: Date | null;
  readonly lastReportedAt: Date | null;
  readonly ruleVersion: string;
  readonly scoredAt: Date;
}

/** One clearing of a number by an operator. */
interface Redress {
  readonly redressId: number;
  readonly reason: string;
  readonly clearedBy: string;
  readonly clearedAt: Date;
  readonly before: { readonly level: string | null; readonly category: number | null; readonly source: string | null };
}

/** The live brand of a number. */
interface BrandedRecord {
  readonly brandHandle: string;
  readonly display: DisplayFields;
  readonly liveFrom: Date;
  readonly liveUntil: Date | null;
}

/**
 * The facts about a number, written in any international form.
 * @throws ServiceError `phone_invalid`, `phone_unknown`
 */
export async function readNumber(db: Queryable, phoneText: string): Promise<NumberRecord> {
  const phone = requirePhone('show number', phoneText);
  const known = (await queryRow<StoredNumber>(db, sql('labels/read_number'), [phone]))!; // the statement returns one row
  const [protection] = await listProtections(db, { phone });
  const redress = await queryRows<Redress>(db, sql('labels/list_redress'), [phone]);
  const changes = await listLabelEvents(db, phone, { limit: changesShown });
  const { country, reputation, since, display, feed, complaints, score, clearedAt, branded } = known;
  const facts = [reputation, branded, score, protection, redress[0]];
  if (complaints === 0 && facts.every((fact) => fact === null || fact === undefined)) throw unknownPhone('show number');
  return {
    phone,
    country,
    reputation,
    since,
    changes,
    display,
    feed,
    complaints,
    score,
    clearedAt,
    redress,
    branded,
    protection: protection?.reason ?? null,
  };
}

/** The columns of sql/labels/read_number.sql. */
type StoredNumber = Omit<NumberRecord, 'changes' | 'redress' | 'protection'>;

/** Changes of the label in a record; `listLabelEvents` has all. */
const changesShown = 20;

/** Why a number is cleared, and by whom. */
interface Clearing {
  readonly reason: string;
  readonly actor: string;
  /** Writes further records in the transaction of the clearing, which fails with it. */
  readonly record?: (client: Queryable, redressId: number) => Promise<void>;
}

/**
 * Clears a number: it is published as NEUTRAL until a feed states another label, or new complaints arrive.
 * The previous label is recorded with the reason. A number with complaints only gets a row by it.
 * @throws ServiceError `phone_invalid`, `phone_unknown`, `reason_required`, `decided_by_requester`
 */
export async function clearNumber({
  db,
  phone: text,
  eyes,
  ...clearing
}: Clearing & { db: Pool; phone: string; eyes: EyesPolicy }): Promise<Redress> {
  const phone = requirePhone('clear number', text);
  return inTransaction(db, async (client) => {
    await requireAnotherPerson(client, {
      eyes,
      actor: clearing.actor,
      of: { kind: 'label', value: phone, isPrefix: false },
    });
    return clearLockedNumber(client, phone, { ...clearing, cause: 'clearing' });
  });
}

/** Clears a number in the transaction of `client`. @throws ServiceError `phone_unknown`, `reason_required` */
export async function clearLockedNumber(
  client: Queryable,
  phone: string,
  { reason: reasonText, actor: actorText, record, cause }: Clearing & { cause: 'clearing' | 'dispute' },
): Promise<Redress> {
  const [reason, actor] = [cleanText(reasonText), cleanText(actorText) ?? 'unknown'];
  if (reason === null)
    throw new ServiceError('reason_required', { operation: 'clear number', hint: 'Say why the number is cleared.' });
  const before = await lockNumber(client, phone);
  const added = await queryRow<{ redressId: number; clearedAt: Date }>(client, sql('labels/add_redress'), [
    phone,
    reason,
    actor,
    before.level,
    before.category,
    before.source,
  ]);
  const { redressId, clearedAt } = added!; // the statement returns one row
  await setLabelCause(client, { cause, redressId });
  await client.query(sql('labels/clear_number'), [phone, clearedAt]);
  await record?.(client, redressId);
  return { redressId, reason, clearedBy: actor, clearedAt, before };
}

/**
 * The published label of a number, locked until the transaction ends. Inserts a number with complaints only. @throws ServiceError
 * `phone_unknown`
 */
async function lockNumber(client: Queryable, phone: string): Promise<Redress['before']> {
  const lock = () => queryRow<Redress['before']>(client, sql('labels/lock_number'), [phone]);
  const before = await lock();
  if (before !== undefined) return before;
  await client.query(sql('labels/make_number_known'), [phone]);
  if ((await lock()) === undefined) throw unknownPhone('clear number');
  return { level: null, category: null, source: null };
}

/** A number in E.164. @throws ServiceError `phone_invalid` */
export function requirePhone(operation: string, text: string): string {
  const judged = judgePhone(text);
  if (isPhoneRefusal(judged))
    throw new ServiceError('phone_invalid', {
      operation,
      problem: judged.reason,
      hint: 'Write the number in international form: +12025550143.',
    });
  return judged.phone;
}

function unknownPhone(operation: string): ServiceError {
  return new ServiceError('phone_unknown', { operation });
}
