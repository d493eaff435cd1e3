import { describe, expect, it } from 'vitest';
import { parseRange } from '../../../console/http/byte-answer.ts';

describe('the range of a request', () => {
  it.each([
    ['bytes=0-', { start: 0, end: 99 }],
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=10-19', { start: 10, end: 19 }],
    ['bytes=99-', { start: 99, end: 99 }],
    ['bytes=50-1000', { start: 50, end: 99 }],
    ['bytes=-1', { start: 99, end: 99 }],
    ['bytes=-1000', { start: 0, end: 99 }],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    [undefined, undefined],
    ['', undefined],
    ['bytes=-', undefined],
    ['bytes=20-10', undefined],
    ['bytes=0-1,5-6', undefined],
    ['lines=0-1', undefined],
    ['bytes=a-b', undefined],
    ['bytes=-1e2', undefined],
  ])('%s of 100 bytes is %j', (header, range) => {
    expect(parseRange(header, 100)).toEqual(range);
  });

  it('of an empty file has no byte', () => {
    expect([parseRange('bytes=0-', 0), parseRange('bytes=-5', 0)]).toEqual(['unsatisfiable', 'unsatisfiable']);
  });
});
