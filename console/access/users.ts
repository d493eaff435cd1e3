import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../runtime/postgres.ts';
import { cleanText } from '../../pipelines/phone/text-cleaning.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { sql } from '../../sql/sql.ts';
import { hashPassword, isPassword, passwordCharactersMax, passwordCharactersMin, wasteComparison } from './password.ts';
import { ROLES, type Role } from './roles.ts';

/** Who is logged in. */
export interface ConsoleUser {
  readonly name: string;
  readonly role: Role;
  /** Owners of brands that the user acts for. A user of an agency sees theirs only; nobody decides what belongs to an owner of his own. */
  readonly owners: readonly string[];
}

/** A user as the operator sees it. */
export interface ListedUser extends ConsoleUser {
  readonly createdAt: Date;
  readonly passwordChangedAt: Date;
  /** Open ones. */
  readonly sessions: number;
  readonly seenAt: Date | null;
}

/** Fewest different characters of a password. */
const distinctCharactersMin = 5;

/** A name of fewer characters than this may stand in a password: it is part of many words. */
const guessedNameCharactersMin = 4;

const nameForm = /^[a-z0-9][a-z0-9._-]{0,39}$/;

/**
 * Adds a user.
 * @throws ServiceError `console_user_invalid` for the name, role or password, `console_user_exists`
 */
export async function addUser(
  db: Pool,
  {
    name,
    role,
    password,
    owners: given = [],
  }: { readonly name: string; readonly role: string; readonly password: string; readonly owners?: readonly string[] },
): Promise<ConsoleUser> {
  if (!nameForm.test(name))
    throw invalid(
      'add user',
      name,
      'A name has 1 to 40 lower-case letters, digits, dots, hyphens and underscores, and begins with a letter or digit.',
    );
  const known = requireRole('add user', role);
  requirePassword('add user', name, password);
  const owners = requireOwners('add user', known, given);
  const hash = await hashPassword(password);
  await inTransaction(db, async (client) => {
    const row = await queryRow<{ userId: number }>(client, sql('console/insert_user'), [name, known, hash]);
    if (row === undefined)
      throw new ServiceError('console_user_exists', {
        operation: 'add user',
        object: name,
        hint: '`caller-trust console users password` gives the user another password.',
      });
    await client.query(sql('console/set_owners'), [row.userId, owners]);
  });
  return { name, role: known, owners };
}

/** Every user, by name. */
export async function listUsers(db: Queryable): Promise<ListedUser[]> {
  const rows = await queryRows<{
    name: string;
    role: Role;
    owners: string[];
    createdAt: Date;
    passwordChangedAt: Date;
    sessions: number;
    seenAt: Date | null;
  }>(db, sql('console/list_users'));
  return rows.map(({ name, role, owners, createdAt, passwordChangedAt, sessions, seenAt }) => ({
    name,
    role,
    owners,
    createdAt,
    passwordChangedAt,
    sessions,
    seenAt,
  }));
}

/** False for a console that nobody can log in to yet. */
export async function hasUsers(db: Queryable): Promise<boolean> {
  return (await queryRow<{ hasUsers: boolean }>(db, sql('console/has_users')))!.hasUsers;
}

/**
 * Gives a user another password and ends all sessions of the old one, also one that a log-in is about to open.
 * @throws ServiceError `console_user_unknown`, `console_user_invalid`
 */
export async function changePassword(db: Pool, name: string, password: string): Promise<void> {
  requirePassword('change password', name, password);
  const hash = await hashPassword(password);
  await inTransaction(db, async (client) => {
    const { userId } = await requireUser<{ userId: number }>(
      client,
      'change password',
      name,
      sql('console/set_password'),
      [name, hash],
    );
    await client.query(sql('console/delete_sessions_of_user'), [userId]);
  });
}

/**
 * Gives a user another role, and other owners to act for where they are named, which holds from the next request on. Who acted for an
 * owner goes on doing so with another role, and decides nothing of it, until other owners are named.
 * @throws ServiceError `console_user_unknown`, `console_user_invalid`
 */
export async function changeRole(
  db: Pool,
  name: string,
  role: string,
  given?: readonly string[],
): Promise<ConsoleUser> {
  const known = requireRole('change role', role);
  return inTransaction(db, async (client) => {
    const user = await requireUser<{ userId: number; owners: string[] }>(
      client,
      'change role',
      name,
      sql('console/set_role'),
      [name, known],
    );
    const owners = requireOwners('change role', known, given ?? user.owners);
    await client.query(sql('console/set_owners'), [user.userId, owners]);
    return { name, role: known, owners };
  });
}

/**
 * Removes a user with all sessions.
 * @throws ServiceError `console_user_unknown`
 */
export async function removeUser(db: Queryable, name: string): Promise<void> {
  await requireUser(db, 'remove user', name, sql('console/delete_user'), [name]);
}

/** A user whose password was compared. */
export interface ComparedUser extends Pick<ConsoleUser, 'name' | 'role'> {
  readonly userId: number;
  /** What it was compared with: no session is opened once this has changed. */
  readonly passwordHash: string;
}

/** The outcome of comparing a name and a password. */
export interface FoundUser {
  /** Undefined if nobody has the name, or the password is another one. */
  readonly user: ComparedUser | undefined;
  /** True if a user has the name. */
  readonly isKnown: boolean;
}

/** The user of a name and password. A name that nobody has takes as long as a wrong password. */
export async function findUser(db: Queryable, name: string, password: string): Promise<FoundUser> {
  const row = await queryRow<{ userId: number; name: string; role: Role; passwordHash: string }>(
    db,
    sql('console/find_user'),
    [name],
  );
  if (row === undefined) {
    await wasteComparison(password);
    return { user: undefined, isKnown: false };
  }
  const user = (await isPassword(password, row.passwordHash))
    ? { userId: row.userId, name: row.name, role: row.role, passwordHash: row.passwordHash }
    : undefined;
  return { user, isKnown: true };
}

async function requireUser<Row extends object>(
  db: Queryable,
  operation: string,
  name: string,
  statement: string,
  values: unknown[],
): Promise<Row> {
  const row = await queryRow<Row>(db, statement, values);
  if (row === undefined)
    throw new ServiceError('console_user_unknown', {
      operation,
      object: name,
      hint: '`caller-trust console users list` shows the names.',
    });
  return row;
}

function requireRole(operation: string, role: string): Role {
  const known = ROLES.find((each) => each === role);
  if (known === undefined) throw invalid(operation, role, `A role is one of ${ROLES.join(', ')}.`);
  return known;
}

/** Owners as brands name them. @throws ServiceError `console_user_invalid` */
function requireOwners(operation: string, role: Role, given: readonly string[]): string[] {
  const owners = [...new Set(given.map((owner) => cleanText(owner) ?? ''))].sort();
  if (owners.some((owner) => owner === '' || owner.length > 128))
    throw invalid(operation, role, 'An owner has 1 to 128 characters.');
  if (role === 'agency' && owners.length === 0)
    throw invalid(operation, role, 'A user of an agency acts for an owner of brands: name one or more with --owner.');
  return owners;
}

function requirePassword(operation: string, name: string, password: string): void {
  const characters = [...password].length;
  if (characters < passwordCharactersMin || characters > passwordCharactersMax)
    throw invalid(operation, name, `A password has ${passwordCharactersMin} to ${passwordCharactersMax} characters.`);
  if (new Set(password).size < distinctCharactersMin)
    throw invalid(operation, name, 'The password repeats a few characters.');
  if (name.length >= guessedNameCharactersMin && password.toLowerCase().includes(name))
    throw invalid(operation, name, 'The password holds the name.');
}

function invalid(operation: string, object: string, problem: string): ServiceError {
  return new ServiceError('console_user_invalid', { operation, object, problem });
}
