import { InvalidArgumentError } from 'commander';
import { ServiceError } from '../runtime/errors.ts';

/** Parses an id of the database. */
export function parseId(text: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text)) throw new InvalidArgumentError('Give the id as a positive integer.');
  return Number(text);
}

/** Parses a count of 0 or more. */
export function parseCount(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new InvalidArgumentError('Give an integer of 0 or more.');
  return Number(text);
}

/** Parses a calendar date or an instant (ISO 8601); a date means its first moment in UTC. */
export function parseInstant(text: string): Date {
  const instant = new Date(text);
  const day = /^(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}[\d:.]*(?:Z|[+-]\d{2}:?\d{2})?)?$/.exec(text)?.[1];
  if (day === undefined || Number.isNaN(instant.getTime()) || !isCalendarDay(day))
    throw new InvalidArgumentError('Give a date as YYYY-MM-DD, or a time of ISO 8601.');
  return instant;
}

/** Parses a calendar day. */
export function parseDay(text: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || !isCalendarDay(text))
    throw new InvalidArgumentError('Give a day as YYYY-MM-DD.');
  return text;
}

/** `Date` parses 30 February as 2 March. */
function isCalendarDay(day: string): boolean {
  const at = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day);
}

/** The flags of a person's decision. */
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
