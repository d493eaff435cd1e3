import { expect, it } from 'vitest';
import { describeReadFailure } from '../../../api/http/reader-database.ts';
import { isServiceError } from '../../../runtime/errors.ts';

const ofServer = (code: string) => Object.assign(new Error('x'), { code, severity: 'ERROR' });
const ofSystem = (code: string) => Object.assign(new Error('x'), { code });

it.each([
  ['a refused connection', ofSystem('ECONNREFUSED'), 'database_unavailable'],
  ['a broken pipe, whose code looks like an SQLSTATE', ofSystem('EPIPE'), 'database_unavailable'],
  ['a host that has no address', ofSystem('ENOTFOUND'), 'database_unavailable'],
  ['several addresses that refuse', new AggregateError([ofSystem('ECONNREFUSED')]), 'database_unavailable'],
  ['a statement that took too long for us', new Error('Query read timeout'), 'database_unavailable'],
  ['a connection that ended', new Error('Connection terminated unexpectedly'), 'database_unavailable'],
  ['a statement that the server ended', ofServer('57014'), 'database_unavailable'],
  ['a server that shuts down', ofServer('57P01'), 'database_unavailable'],
  ['a server that starts', ofServer('57P03'), 'database_unavailable'],
  ['a server without a free connection', ofServer('53300'), 'database_unavailable'],
  ['a password that is refused', ofServer('28P01'), 'database_unavailable'],
  ['a database that is not there', ofServer('3D000'), 'database_unavailable'],
  ['an I/O error of the server', ofServer('58030'), 'database_unavailable'],
  ['a prepared statement whose columns a migration has changed', ofServer('0A000'), 'database_unavailable'],
  ['a table that is not there', ofServer('42P01'), 'database_unsuitable'],
  ['a column that is not there', ofServer('42703'), 'database_unsuitable'],
  ['a privilege that is missing', ofServer('42501'), 'database_unsuitable'],
  ['a statement that is wrong', ofServer('42601'), undefined],
  ['a value that the server refuses', ofServer('22021'), undefined],
])('%s', (_name, error, code) => {
  const described = describeReadFailure(error);
  if (code === undefined) expect(described).toBe(error);
  else expect(isServiceError(described) && [described.code, described.cause]).toEqual([code, error]);
});
