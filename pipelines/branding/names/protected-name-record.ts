import { ServiceError } from '../../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { cleanText } from '../../phone/text-cleaning.ts';
import { foldWords } from './name-folding.ts';
import {
  protectedNamesWith,
  type ProtectedCategory,
  type ProtectedName,
  type ProtectedNames,
} from './protected-names.ts';

/** A name that an operator has protected, with who did it and why. */
export interface OwnProtectedName extends ProtectedName {
  readonly reason: string;
  readonly addedBy: string;
  readonly addedAt: Date;
  /** Who ended it, when and why; null while it is in force. */
  readonly removed: { readonly by: string; readonly at: Date; readonly reason: string } | null;
}

/** A change of the list: the name, the reason and the actor. */
interface ProtectedNameChange {
  readonly db: Queryable;
  readonly name: string;
  readonly reason: string;
  readonly actor: string;
}

interface ProtectedNameRow {
  name: string;
  category: ProtectedCategory;
  country: string | null;
  common: boolean;
  reason: string;
  addedBy: string;
  addedAt: Date;
  removedBy: string;
  removedReason: string;
  removedAt: Date | null;
}

/** All protected names, ready for comparison: the list of the service and the operators' own. */
export async function readProtectedNames(db: Queryable): Promise<ProtectedNames> {
  return protectedNamesWith(await listOwnProtectedNames(db));
}

/** The names that operators have protected; with `all` also those that were removed. */
export async function listOwnProtectedNames(
  db: Queryable,
  { all = false }: { all?: boolean } = {},
): Promise<OwnProtectedName[]> {
  const rows = await queryRows<ProtectedNameRow>(db, sql('branding/list_protected_names'), [all]);
  return rows.map(
    ({ name, category, country, common, reason, addedBy, addedAt, removedBy, removedReason, removedAt }) => ({
      name,
      category,
      country,
      common,
      reason,
      addedBy,
      addedAt,
      removed: removedAt === null ? null : { by: removedBy, at: removedAt, reason: removedReason },
    }),
  );
}

/**
 * Protects a name from the next request on; brands that are approved stay as they are.
 * @throws ServiceError `protected_name_invalid`, `reason_required`, `protected_name_exists`
 */
export async function addProtectedName(
  change: ProtectedNameChange & Pick<ProtectedName, 'category' | 'country' | 'common'>,
): Promise<void> {
  const { name, folded, reason, actor } = readChange('protect name', change);
  const added = await queryRow(change.db, sql('branding/add_protected_name'), [
    name,
    folded,
    change.category,
    change.country,
    change.common,
    reason,
    actor,
  ]);
  if (added === undefined) throw new ServiceError('protected_name_exists', { operation: 'protect name', object: name });
}

/**
 * Ends the protection of a name that an operator has added; names of the service's own list stay.
 * @throws ServiceError `protected_name_invalid`, `reason_required`, `protected_name_unknown`
 */
export async function removeProtectedName(change: ProtectedNameChange): Promise<void> {
  const { name, folded, reason, actor } = readChange('end protection of name', change);
  const removed = await queryRow(change.db, sql('branding/remove_protected_name'), [folded, reason, actor]);
  if (removed === undefined)
    throw new ServiceError('protected_name_unknown', { operation: 'end protection of name', object: name });
}

/** Longest name that can be protected, in characters. */
export const protectedNameCharactersMax = 128;

function readChange(operation: string, { name: nameText, reason: reasonText, actor }: ProtectedNameChange) {
  const name = cleanText(nameText) ?? '';
  const folded = foldWords(name).join(' ');
  if (folded.replaceAll(' ', '').length < 2 || [...name].length > protectedNameCharactersMax) {
    throw new ServiceError('protected_name_invalid', {
      operation,
      hint: `Give a name of 2 to ${protectedNameCharactersMax} characters with letters or digits.`,
    });
  }
  const reason = cleanText(reasonText);
  if (reason === null) throw new ServiceError('reason_required', { operation, hint: 'Say why.' });
  return { name, folded, reason, actor: cleanText(actor) ?? 'unknown' };
}
