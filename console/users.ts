import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../runtime/postgres.ts';
import { ServiceError } from '../runtime/errors.ts';
import { sql } from '../sql/sql.ts';
import { hashPassword, isPassword, passwordCharactersMax, passwordCharactersMin, wasteComparison } from './password.ts';
import { ROLES, type Role } from './roles.ts';

/** Who is logged in. */
export interface ConsoleUser {
  readonly name: string;
  readonly role: Role;
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
export async function addUser(db: Queryable, { name, role, password }: { readonly name: string; readonly role: string; readonly password: string }): Promise<ConsoleUser> {
  if (!nameForm.test(name)) throw invalid('add user', name, 'A name has 1 to 40 lower-case letters, digits, dots, hyphens and underscores, and begins with a letter or digit.');
  const known = requireRole('add user', role);
  requirePassword('add user', name, password);
  const row = await queryRow<{ created_at: Date }>(db, sql('console/insert_user'), [name, known, await hashPassword(password)]);
  if (row === undefined) throw new ServiceError('console_user_exists', { operation: 'add user', object: name, hint: '`caller-trust console users password` gives the user another password.' });
  return { name, role: known };
}

/** Every user, by name. */
export async function listUsers(db: Queryable): Promise<ListedUser[]> {
  const rows = await queryRows<{ name: string; role: Role; created_at: Date; password_changed_at: Date; sessions: number; seen_at: Date | null }>(db, sql('console/list_users'));
  return rows.map(({ name, role, created_at, password_changed_at, sessions, seen_at }) => ({ name, role, createdAt: created_at, passwordChangedAt: password_changed_at, sessions, seenAt: seen_at }));
}

/** False for a console that nobody can log in to yet. */
export async function hasUsers(db: Queryable): Promise<boolean> {
  return (await queryRow<{ has_users: boolean }>(db, sql('console/has_users')))!.has_users;
}

/**
 * Gives a user another password and ends all sessions of the old one, also one that a log-in is about to open.
 * @throws ServiceError `console_user_unknown`, `console_user_invalid`
 */
export async function changePassword(db: Pool, name: string, password: string): Promise<void> {
  requirePassword('change password', name, password);
  const hash = await hashPassword(password);
  await inTransaction(db, async (client) => {
    const { user_id: userId } = await requireUser<{ user_id: number }>(client, 'change password', name, sql('console/set_password'), [name, hash]);
    await client.query(sql('console/delete_sessions_of_user'), [userId]);
  });
}

/**
 * Gives a user another role, which holds from the next request on.
 * @throws ServiceError `console_user_unknown`, `console_user_invalid`
 */
export async function changeRole(db: Queryable, name: string, role: string): Promise<ConsoleUser> {
  const known = requireRole('change role', role);
  await requireUser(db, 'change role', name, sql('console/set_role'), [name, known]);
  return { name, role: known };
}

/**
 * Removes a user with all sessions.
 * @throws ServiceError `console_user_unknown`
 */
export async function removeUser(db: Queryable, name: string): Promise<void> {
  await requireUser(db, 'remove user', name, sql('console/delete_user'), [name]);
}

/** A user whose password was compared. */
export interface ComparedUser extends ConsoleUser {
  readonly userId: number;
  /** What it was compared with: no session is opened once this has changed. */
  readonly passwordHash: string;
}

/** What a name and a password came to. */
export interface FoundUser {
  /** Undefined if nobody has the name, or the password is another one. */
  readonly user: ComparedUser | undefined;
  /** True if a user has the name. */
  readonly isKnown: boolean;
}

/** The user of a name and password. A name that nobody has takes as long as a wrong password. */
export async function findUser(db: Queryable, name: string, password: string): Promise<FoundUser> {
  const row = await queryRow<{ user_id: number; name: string; role: Role; password_hash: string }>(db, sql('console/find_user'), [name]);
  if (row === undefined) {
    await wasteComparison(password);
    return { user: undefined, isKnown: false };
  }
  const user = (await isPassword(password, row.password_hash)) ? { userId: row.user_id, name: row.name, role: row.role, passwordHash: row.password_hash } : undefined;
  return { user, isKnown: true };
}

async function requireUser<Row extends object>(db: Queryable, operation: string, name: string, statement: string, values: unknown[]): Promise<Row> {
  const row = await queryRow<Row>(db, statement, values);
  if (row === undefined) throw new ServiceError('console_user_unknown', { operation, object: name, hint: '`caller-trust console users list` shows the names.' });
  return row;
}

function requireRole(operation: string, role: string): Role {
  const known = ROLES.find((each) => each === role);
  if (known === undefined) throw invalid(operation, role, `A role is one of ${ROLES.join(', ')}.`);
  return known;
}

function requirePassword(operation: string, name: string, password: string): void {
  const characters = [...password].length;
  if (characters < passwordCharactersMin || characters > passwordCharactersMax) throw invalid(operation, name, `A password has ${passwordCharactersMin} to ${passwordCharactersMax} characters.`);
  if (new Set(password).size < distinctCharactersMin) throw invalid(operation, name, 'The password repeats a few characters.');
  if (name.length >= guessedNameCharactersMin && password.toLowerCase().includes(name)) throw invalid(operation, name, 'The password holds the name.');
}

function invalid(operation: string, object: string, problem: string): ServiceError {
  return new ServiceError('console_user_invalid', { operation, object, problem });
}
