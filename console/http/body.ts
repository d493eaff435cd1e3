import type { z } from 'zod';
import { ServiceError } from '../../runtime/errors.ts';
import { isStorable, unstorableProblem } from '../../runtime/stored-text.ts';

/**
 * Validates a body, query or path by its schema.
 * @throws ServiceError `parameter_invalid`, naming each invalid field
 */
export function parseBody<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  if (!isStorable(value))
    throw new ServiceError('parameter_invalid', { operation: 'read request', problem: unstorableProblem });
  const result = schema.safeParse(value ?? {});
  if (result.success) return result.data;
  const problem = result.error.issues
    .map(({ path, message }) => `${path.join('.') || 'The request'}: ${message}.`)
    .join(' ');
  throw new ServiceError('parameter_invalid', { operation: 'read request', problem });
}
