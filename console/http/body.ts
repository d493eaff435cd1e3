import type { z } from 'zod';
import { ServiceError } from '../../runtime/errors.ts';

/**
 * The fields of a request by their schema; for bodies, queries and paths alike.
 * @throws ServiceError `parameter_invalid`, naming each field that is wrong
 */
export function parseBody<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  if (holdsNul(value))
    throw new ServiceError('parameter_invalid', {
      operation: 'read request',
      problem: 'A value holds the character NUL.',
    });
  const result = schema.safeParse(value ?? {});
  if (result.success) return result.data;
  const problem = result.error.issues
    .map(({ path, message }) => `${path.join('.') || 'The request'}: ${message}.`)
    .join(' ');
  throw new ServiceError('parameter_invalid', { operation: 'read request', problem });
}

/** PostgreSQL stores no NUL, neither in text nor in JSON. A value may be nested deeply, so nothing here calls itself. */
function holdsNul(value: unknown): boolean {
  for (const left = [value]; left.length > 0;) {
    const each = left.pop();
    if (typeof each === 'string' && each.includes('\0')) return true;
    if (typeof each === 'object' && each !== null)
      for (const [name, inner] of Object.entries(each)) left.push(name, inner);
  }
  return false;
}
