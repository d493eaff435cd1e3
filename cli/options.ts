import { InvalidArgumentError } from 'commander';
import { ServiceError } from '../runtime/errors.ts';

/** An id of the database. */
export function parseId(text: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text)) throw new InvalidArgumentError('Give the id as a positive integer.');
  return Number(text);
}

/** A count of 0 or more. */
export function parseCount(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new InvalidArgumentError('Give an integer of 0 or more.');
  return Number(text);
}

/** A calendar date or an instant of ISO 8601; a date means its first moment in UTC. */
export function parseInstant(text: string): Date {
  const instant = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(instant.getTime())) throw new InvalidArgumentError('Give a date as YYYY-MM-DD, or a time of ISO 8601.');
  return instant;
}

/** A person's decision as two flags. */
export interface VerdictOptions {
  readonly approve?: boolean;
  readonly reject?: boolean;
}

/**
 * True to approve, false to reject.
 * @throws ServiceError `usage_invalid` unless exactly one of the two is given
 */
export function parseVerdict({ approve = false, reject = false }: VerdictOptions): boolean {
  if (approve !== reject) return approve;
  throw new ServiceError('usage_invalid', { operation: 'decide', problem: 'Give one of --approve and --reject.' });
}
