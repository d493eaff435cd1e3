import type { z } from 'zod';
import { ServiceError } from '../../runtime/errors.ts';

type Issue = z.core.$ZodIssue;

/**
 * The error of a query that its schema refused. An unknown parameter takes precedence: `?Country=US` is a misspelt name,
 * not a missing country. The error never repeats text of the request.
 */
export function parameterError(issues: readonly Issue[], known: readonly string[]): ServiceError {
  const operation = 'read parameters';
  if (issues.some(({ code }) => code === 'unrecognized_keys')) {
    const problem =
      known.length === 0
        ? 'This resource has no parameters.'
        : `This resource has only these parameters: ${known.join(', ')}.`;
    return new ServiceError('parameter_unknown', { operation, problem });
  }
  const [issue] = issues;
  const name = issue?.path[0];
  if (issue === undefined || typeof name !== 'string') return new ServiceError('request_invalid', { operation });
  if (name !== 'country') {
    const problem = `The parameter ${name} has a value that it cannot have, or was given twice.`;
    return new ServiceError('parameter_invalid', {
      operation,
      problem,
      hint: '`/openapi.json` has the values of each parameter.',
    });
  }
  return issue.code === 'invalid_type' && issue.input === undefined
    ? new ServiceError('country_required', { operation, hint: 'Add `?country=` with two letters, such as US.' })
    : new ServiceError('country_invalid', {
        operation,
        problem: 'The country is not two upper-case letters, or was given twice.',
      });
}
