import { ServiceError } from '../../runtime/errors.ts';

/** Classes of SQLSTATE (PostgreSQL's appendix A) that say that the server is away, full, ends the statement, or does not let us in. */
const awayClasses: ReadonlySet<string> = new Set(['08', '28', '3D', '53', '57', '58']);

/** An undefined table, column or function, or a privilege that is missing. */
const unsuitableStates: ReadonlySet<string> = new Set(['42P01', '42703', '42883', '42501']);

/**
 * What a thrown error of a statement or a connection means to a request: `database_unavailable` or `database_unsuitable`
 * (503 both), or the error itself where the statement is wrong, which is a fault of ours.
 */
export function describeReadFailure(error: unknown): unknown {
  const state = sqlStateOfServer(error);
  const operation = 'read for a request';
  if (state === undefined || awayClasses.has(state.slice(0, 2)))
    return new ServiceError('database_unavailable', { operation, cause: error });
  return unsuitableStates.has(state) ? new ServiceError('database_unsuitable', { operation, cause: error }) : error;
}

/** The SQLSTATE of an error that the server sent. A code of a socket, such as EPIPE, is none: only the server names a severity. */
function sqlStateOfServer(error: unknown): string | undefined {
  return error instanceof Error && 'severity' in error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}
