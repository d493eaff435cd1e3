import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../runtime/postgres.ts';
import { cleanText } from '../../pipelines/phone/text-cleaning.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { sql } from '../../sql/sql.ts';
import { hashPassword, isPassword, passwordCharactersMax, passwordCharactersMin, wasteComparison } from './password.ts';
import { ROLES, type Role } from './roles.ts';

/** The user of a session. */
export interface ConsoleUser {
  readonly name: string;
  readonly role: Role;
  /** Owners of brands that the user acts for. A user of an agency sees only their data; nobody decides on data of their own owners. */
  readonly owners: readonly string[];
}

/** A user in the operator's list. */
interface ListedUser extends ConsoleUser {
  readonly createdAt: Date;
  readonly passwordChangedAt: Date;
  /** Open sessions. */
  readonly sessions: number;
  readonly seenAt: Date | null;
}

/** Fewest different characters of a password. */
const distinctCharactersMin = 5;

/** Shorter user names may occur in a password: they are part of many words. */
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
    throw invalidUser(
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

/** False while the console has no user. */
export async function hasUsers(db: Queryable): Promise<boolean> {
  return (await queryRow<{ hasUsers: boolean }>(db, sql('console/has_users')))!.hasUsers;
}

/**
 * Changes a password and ends all sessions of the old one, including one that a concurrent log-in is opening.
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
 * Changes a user's role, and the owners if given, from the next request on. Without new owners the user keeps the old ones,
 * and still decides nothing of theirs.
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
  /** The compared hash: no session is opened if it has changed since. */
  readonly passwordHash: string;
}

/** The outcome of comparing a name and a password. */
interface FoundUser {
  /** Undefined if the name is unknown or the password wrong. */
  readonly user: ComparedUser | undefined;
  /** True if the name exists. */
  readonly isKnown: boolean;
}

/** The user of a name and password. An unknown name takes as long as a wrong password. */
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
  if (known === undefined) throw invalidUser(operation, role, `A role is one of ${ROLES.join(', ')}.`);
  return known;
}

/** Validates names of owners. @throws ServiceError `console_user_invalid` */
function requireOwners(operation: string, role: Role, given: readonly string[]): string[] {
  const owners = [...new Set(given.map((owner) => cleanText(owner) ?? ''))].sort();
  if (owners.some((owner) => owner === '' || owner.length > 128))
    throw invalidUser(operation, role, 'An owner has 1 to 128 characters.');
  if (role === 'agency' && owners.length === 0)
    throw invalidUser(
      operation,
      role,
      'A user of an agency acts for an owner of brands: name one or more with --owner.',
    );
  return owners;
}

function requirePassword(operation: string, name: string, password: string): void {
  const characters = [...password].length;
  if (characters < passwordCharactersMin || characters > passwordCharactersMax)
    throw invalidUser(
      operation,
      name,
      `A password has ${passwordCharactersMin} to ${passwordCharactersMax} characters.`,
    );
  if (new Set(password).size < distinctCharactersMin)
    throw invalidUser(operation, name, 'The password repeats a few characters.');
  if (name.length >= guessedNameCharactersMin && password.toLowerCase().includes(name))
    throw invalidUser(operation, name, 'The password holds the name.');
}

function invalidUser(operation: string, object: string, problem: string): ServiceError {
  return new ServiceError('console_user_invalid', { operation, object, problem });
}
