import { ServiceError } from '../../runtime/errors.ts';
import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { isPhoneRefusal, judgePhone } from '../phone/phone-number.ts';
import { cleanText } from '../phone/text-cleaning.ts';
import { requireAnotherPerson, type EyesPolicy } from '../access/two-pairs-of-eyes.ts';
import { setLabelCause } from './label-history.ts';

/** An entry that protects numbers from labels. */
export interface Protection {
  readonly protectionId: number;
  /** A number, a prefix, or a pattern of the numbering plan, with an underscore for any digit. */
  readonly kind: 'number' | 'prefix' | 'plan';
  readonly value: string;
  readonly reason: string;
  readonly addedBy: string;
  readonly addedAt: Date;
  /** Its end; null while it is in force. */
  readonly removed: { readonly by: string; readonly at: Date; readonly reason: string } | null;
}

/** A change of the list of protected numbers. */
interface ProtectionChange {
  readonly db: Pool;
  /** A number in international form, or a prefix of at least 3 digits followed by `*`: `+4930*`. */
  readonly numbers: string;
  readonly reason: string;
  readonly actor: string;
}

/**
 * Protects a number or all numbers with a prefix: no label from any source is published for them, and published labels are
 * removed in the same transaction. Returns their number. Waits for running loads.
 * @throws ServiceError `phone_invalid`, `reason_required`, `protection_exists`, `decided_by_requester`
 */
export async function protectNumbers({
  eyes,
  ...change
}: ProtectionChange & { readonly eyes: EyesPolicy }): Promise<{ withheld: number }> {
  const { kind, value, reason, actor } = checkProtection('protect number', change);
  return inTransaction(change.db, async (client) => {
    await requireAnotherPerson(client, { eyes, actor, of: { kind: 'label', value, isPrefix: kind === 'prefix' } });
    await client.query(sql('labels/lock_labels'));
    await setLabelCause(client, { cause: 'protection' });
    const added = await queryRow(client, sql('labels/add_protection'), [kind, value, reason, actor]);
    if (added === undefined)
      throw new ServiceError('protection_exists', { operation: 'protect number', object: change.numbers });
    return (await queryRow<{ withheld: number }>(client, sql('labels/withhold_labels'), [value]))!; // the statement returns one row
  });
}

/**
 * Ends the protection of a number or prefix. The label of a feed is published again, unless another entry protects the number;
 * a label from complaints follows in the next night. Returns the number of restored labels.
 * @throws ServiceError `phone_invalid`, `reason_required`, `protection_unknown`
 */
export async function unprotectNumbers(change: ProtectionChange): Promise<{ restored: number }> {
  const { value, reason, actor } = checkProtection('end protection', change);
  return inTransaction(change.db, async (client) => {
    await client.query(sql('labels/lock_labels'));
    await setLabelCause(client, { cause: 'protection' });
    const removed = await queryRow(client, sql('labels/remove_protection'), [value, reason, actor]);
    if (removed === undefined)
      throw new ServiceError('protection_unknown', { operation: 'end protection', object: change.numbers });
    return (await queryRow<{ restored: number }>(client, sql('labels/restore_labels'), [value]))!; // the statement returns one row
  });
}

/** The protections in force, with `all` also the removed ones; with `phone` (E.164) only those that match it. */
export async function listProtections(
  db: Queryable,
  { phone, all = false }: { phone?: string; all?: boolean } = {},
): Promise<Protection[]> {
  return queryRows<Protection>(db, sql('labels/list_protections'), [phone ?? null, all]);
}

const prefixForm = /^\+[1-9][0-9]{2,13}$/;

function checkProtection(operation: string, { numbers, reason: reasonText, actor }: ProtectionChange) {
  const reason = cleanText(reasonText);
  if (reason === null) throw new ServiceError('reason_required', { operation, hint: 'Say why.' });
  return { ...readNumbers(operation, numbers.trim()), reason, actor: cleanText(actor) ?? 'unknown' };
}

function readNumbers(operation: string, text: string): { kind: 'number' | 'prefix'; value: string } {
  if (text.endsWith('*')) {
    const value = text.slice(0, -1).replace(/[-() .]/g, '');
    if (prefixForm.test(value)) return { kind: 'prefix', value };
    throw new ServiceError('phone_invalid', {
      operation,
      problem: 'A prefix has a plus sign, 3 to 14 digits and an asterisk.',
      hint: 'Write it as +4930*.',
    });
  }
  const judged = judgePhone(text);
  if (!isPhoneRefusal(judged)) return { kind: 'number', value: judged.phone };
  throw new ServiceError('phone_invalid', {
    operation,
    problem: judged.reason,
    hint: 'Write a number as +12025550143, a prefix as +4930*.',
  });
}
