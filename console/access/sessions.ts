import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { Role } from './roles.ts';
import type { ComparedUser, ConsoleUser } from './users.ts';

const tokenBytes = 32;
const tokenForm = /^[A-Za-z0-9_-]{43}$/;

/** Hours after which a user must log in again, however much the session is used: a working day. */
const sessionHoursMax = 12;

/** The setting of the same name. */
export interface SessionLimits {
  readonly consoleIdleMinutesMax: number;
}

/** The session of a request. */
export interface Session {
  readonly user: ConsoleUser;
  readonly endsAt: Date;
  /** The token for requests that change something. */
  readonly csrfToken: string;
}

/** A newly opened session. */
interface OpenedSession {
  /** Only for the browser's cookie. */
  readonly token: string;
  readonly endsAt: Date;
  /** The user's role, at this moment. */
  readonly role: Role;
  readonly owners: readonly string[];
}

/** Opens a session; undefined if the user's password has changed since the comparison, or the user was removed. */
export async function openSession(
  db: Queryable,
  { userId, passwordHash }: Pick<ComparedUser, 'userId' | 'passwordHash'>,
): Promise<OpenedSession | undefined> {
  const token = randomBytes(tokenBytes).toString('base64url');
  const row = await queryRow<{ endsAt: Date; role: Role; owners: string[] }>(db, sql('console/insert_session'), [
    digestOf(token),
    userId,
    passwordHash,
    sessionHoursMax,
  ]);
  return row && { token, endsAt: row.endsAt, role: row.role, owners: row.owners };
}

/** The session of a token, unless it has ended or expired. Extends its idle time. */
export async function findSession(db: Queryable, token: string, limits: SessionLimits): Promise<Session | undefined> {
  const found = await readSession(db, token, limits);
  if (found?.seenRecently === false) await db.query(sql('console/touch_session'), [digestOf(token)]);
  return found?.session;
}

/** The same without extending the idle time. */
export async function lookAtSession(db: Queryable, token: string, limits: SessionLimits): Promise<Session | undefined> {
  return (await readSession(db, token, limits))?.session;
}

async function readSession(
  db: Queryable,
  token: string,
  { consoleIdleMinutesMax }: SessionLimits,
): Promise<{ session: Session; seenRecently: boolean } | undefined> {
  if (!tokenForm.test(token)) return undefined;
  const row = await queryRow<{ name: string; role: Role; owners: string[]; endsAt: Date; seenRecently: boolean }>(
    db,
    sql('console/find_session'),
    [digestOf(token), consoleIdleMinutesMax],
  );
  return (
    row && {
      session: {
        user: { name: row.name, role: row.role, owners: row.owners },
        endsAt: row.endsAt,
        csrfToken: csrfTokenOf(token),
      },
      seenRecently: row.seenRecently,
    }
  );
}

/** Ends a session. Idempotent. */
export async function endSession(db: Queryable, token: string): Promise<void> {
  await db.query(sql('console/delete_session'), [digestOf(token)]);
}

/** Deletes ended sessions. */
export async function sweepSessions(db: Queryable, { consoleIdleMinutesMax }: SessionLimits): Promise<void> {
  await db.query(sql('console/sweep_sessions'), [consoleIdleMinutesMax]);
}

/** The token against request forgery, derived from the session's token, which it does not reveal. */
export function csrfTokenOf(token: string): string {
  return createHmac('sha256', token).update('caller-trust console: requests that change something').digest('base64url');
}

/** True if a request has the token of its session. */
export function isCsrfToken(given: unknown, { csrfToken }: Session): boolean {
  const [left, right] = [Buffer.from(typeof given === 'string' ? given : ''), Buffer.from(csrfToken)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
