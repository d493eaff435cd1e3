import { describe, expect, it } from 'vitest';
import { formatEntry, readableLog } from '../../cli/readable-log.ts';
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
