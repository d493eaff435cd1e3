import { errorMessageOf } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';

/** Levels that a command prints as text lines; lower levels are for debugging. */
const levels = ['info', 'warn', 'error', 'fatal'] as const;

/**
 * The log of work in this process, for a terminal: one line an entry, without stacks. With `LOG_LEVEL=debug` or `trace` it
 * is the JSON log with stacks.
 */
export function readableLog(log: Log): Log {
  if (log.isLevelEnabled('debug')) return log;
  const lines = Object.fromEntries(
    levels.map((level) => [
      level,
      (facts: unknown, message?: string) =>
        log.isLevelEnabled(level) && process.stderr.write(`${formatEntry(facts, message)}\n`),
    ]),
  );
  const readable = Object.assign(Object.create(log) as Log, lines);
  return Object.assign(readable, { child: () => readable });
}

/** A log entry as one line: the message, the reason, and the object. */
export function formatEntry(facts: unknown, message?: string): string {
  return `caller-trust: ${describeEntry(facts, message)}`;
}

/** A log line of a process, JSON, for a terminal: the time in UTC, the process, and the entry. Other text stays as it is. */
export function formatLogLine(line: string): string {
  const entry = parseEntry(line);
  if (entry === undefined) return line;
  const { time, process: name, msg, level, pid: _pid, err, ...facts } = entry;
  const mark = Number(level) >= 50 ? 'ERROR ' : Number(level) >= 40 ? 'warning: ' : '';
  const error = err === undefined ? undefined : Object.assign(new Error(), err);
  return `${String(time).slice(11, 19)} ${String(name).padEnd(9)} ${mark}${describeEntry({ ...facts, err: error }, String(msg ?? ''))}`;
}

function parseEntry(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function describeEntry(facts: unknown, message?: string): string {
  if (typeof facts === 'string') return oneLine(facts);
  const { err, ...others } = { ...(facts as Record<string, unknown> | null) };
  const about = Object.entries(others).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [`${name} ${value}`] : [],
  );
  const parts = [message, err === undefined ? undefined : errorMessageOf(err)].filter(
    (part) => part !== undefined && part !== '',
  );
  return `${oneLine(parts.join(': '))}${about.length === 0 ? '' : ` (${oneLine(about.join(', '))})`}`;
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ').trim();
}
