import { describe, expect, it } from 'vitest';
import { formatEntry, formatLogLine, readableLog } from '../../cli/readable-log.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { createLog } from '../../runtime/log.ts';

describe('a log entry of a command', () => {
  it.each([
    [
      [{ err: new Error('first\n  second') }, 'a recording could not be scored'],
      'caller-trust: a recording could not be scored: first second',
    ],
    [
      [
        {
          err: new ServiceError('internal', { operation: 'score recording', problem: 'It broke.' }),
          verification: 'v1',
          jobs: ['a'],
        },
        'failed',
      ],
      'caller-trust: failed: score recording: It broke. (verification v1)',
    ],
    [[{ queue: 'feeds', attempt: 2 }, 'tried'], 'caller-trust: tried (queue feeds, attempt 2)'],
    [['only text'], 'caller-trust: only text'],
    [[{ err: 'thrown text' }], 'caller-trust: thrown text'],
  ] as const)('of %j is one line without a stack', ([facts, message], line) => {
    expect(formatEntry(facts, message as string | undefined)).toBe(line);
  });

  it('is left to the log where stacks are asked for', () => {
    const [debug, warn] = (['debug', 'warn'] as const).map((level) => createLog({ level, process: 'test' }));
    expect(readableLog(debug!)).toBe(debug);
    const readable = readableLog(warn!);
    expect([
      readable === warn,
      readable.child({ queue: 'feeds' }) === readable,
      readable.isLevelEnabled('info'),
    ]).toEqual([false, true, false]);
  });
});

describe('a log line of a process', () => {
  it.each([
    [
      '{"level":30,"time":"2026-11-21T06:30:01.123Z","process":"worker","pid":7,"runId":6,"msg":"the night is published"}',
      '06:30:01 worker    the night is published (runId 6)',
    ],
    [
      '{"level":50,"time":"2026-11-21T06:30:02.000Z","process":"api","pid":7,"err":{"type":"Error","message":"It broke."},"msg":"a request failed"}',
      '06:30:02 api       ERROR a request failed: It broke.',
    ],
    ['{ no JSON', '{ no JSON'],
  ])('%s is for a person %s', (line, text) => {
    expect(formatLogLine(line)).toBe(text);
  });
});
