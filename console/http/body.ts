import type { z } from 'zod';
import { ServiceError } from '../../runtime/errors.ts';

/**
 * Validates a body, query or path by its schema.
 * @throws ServiceError `parameter_invalid`, naming each invalid field
 */
export function parseBody<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  if (containsNul(value))
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

/** Finds NUL, which PostgreSQL cannot store in text or JSON. Iterative, since a value may be nested deeply. */
function containsNul(value: unknown): boolean {
  for (const left = [value]; left.length > 0;) {
    const each = left.pop();
    if (typeof each === 'string' && each.includes('\0')) return true;
    if (typeof each === 'object' && each !== null)
      for (const [name, inner] of Object.entries(each)) left.push(name, inner);
  }
  return false;
}
