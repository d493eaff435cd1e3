import { expect, it } from 'vitest';
import {
  decidePrecondition,
  ifRangeMatches,
  parseEntityTags,
  type ConditionalHeaders,
  type Precondition,
} from '../../../api/http/conditional.ts';

const etag = '"abc"';
const lastModified = new Date('2026-03-05T01:02:03.750Z');
const now = Date.parse('2026-03-06T00:00:00Z');
const same = 'Thu, 05 Mar 2026 01:02:03 GMT';
const before = 'Thu, 05 Mar 2026 01:02:02 GMT';
const after = 'Thu, 05 Mar 2026 01:02:04 GMT';

const cases: [name: string, headers: ConditionalHeaders, expected: Precondition][] = [
  ['no header', {}, 'proceed'],
  // If-None-Match
  ['If-None-Match of this version', { 'if-none-match': '"abc"' }, 'not_modified'],
  ['If-None-Match of another', { 'if-none-match': '"abd"' }, 'proceed'],
  ['If-None-Match weak: compared weakly', { 'if-none-match': 'W/"abc"' }, 'not_modified'],
  ['If-None-Match lower-case w is no weak tag', { 'if-none-match': 'w/"abc"' }, 'proceed'],
  ['If-None-Match star', { 'if-none-match': '*' }, 'not_modified'],
  ['If-None-Match star with space', { 'if-none-match': ' * ' }, 'not_modified'],
  ['If-None-Match quoted star is a tag', { 'if-none-match': '"*"' }, 'proceed'],
  ['If-None-Match list', { 'if-none-match': '"x", W/"y" ,"abc"' }, 'not_modified'],
  ['If-None-Match list with empty elements', { 'if-none-match': ', ,"x",,"abc",' }, 'not_modified'],
  ['If-None-Match list without it', { 'if-none-match': '"x", "y"' }, 'proceed'],
  ['If-None-Match tag with a comma inside', { 'if-none-match': '"x,"abc"' }, 'proceed'],
  ['If-None-Match without quotes', { 'if-none-match': 'abc' }, 'proceed'],
  ['If-None-Match star in a list', { 'if-none-match': '"x", *' }, 'proceed'],
  ['If-None-Match malformed after a match', { 'if-none-match': '"abc", zzz' }, 'proceed'],
  ['If-None-Match empty', { 'if-none-match': '' }, 'proceed'],
  ['If-None-Match unterminated', { 'if-none-match': '"abc' }, 'proceed'],
  // If-Modified-Since
  ['If-Modified-Since of the same second', { 'if-modified-since': same }, 'not_modified'],
  ['If-Modified-Since later', { 'if-modified-since': after }, 'not_modified'],
  ['If-Modified-Since earlier', { 'if-modified-since': before }, 'proceed'],
  [
    'If-Modified-Since in the form of RFC 850',
    { 'if-modified-since': 'Thursday, 05-Mar-26 01:02:03 GMT' },
    'not_modified',
  ],
  ['If-Modified-Since in the form of asctime', { 'if-modified-since': 'Thu Mar  5 01:02:03 2026' }, 'not_modified'],
  ['If-Modified-Since that is no date', { 'if-modified-since': 'yesterday' }, 'proceed'],
  ['If-Modified-Since in ISO 8601 is ignored', { 'if-modified-since': '2026-03-05T01:02:03Z' }, 'proceed'],
  ['If-Modified-Since in another zone is ignored', { 'if-modified-since': 'Thu, 05 Mar 2026 01:02:03 CET' }, 'proceed'],
  ['If-Modified-Since on 31 February is ignored', { 'if-modified-since': 'Tue, 31 Feb 2026 01:02:03 GMT' }, 'proceed'],
  ['If-None-Match rules over If-Modified-Since', { 'if-none-match': '"x"', 'if-modified-since': after }, 'proceed'],
  [
    'If-None-Match rules over If-Modified-Since, the other way',
    { 'if-none-match': '"abc"', 'if-modified-since': before },
    'not_modified',
  ],
  // If-Match
  ['If-Match of this version', { 'if-match': '"abc"' }, 'proceed'],
  ['If-Match of another', { 'if-match': '"x"' }, 'failed'],
  ['If-Match weak: compared strongly', { 'if-match': 'W/"abc"' }, 'failed'],
  ['If-Match star', { 'if-match': '*' }, 'proceed'],
  ['If-Match list', { 'if-match': '"x", "abc"' }, 'proceed'],
  ['If-Match malformed', { 'if-match': 'abc' }, 'failed'],
  ['If-Match then If-None-Match', { 'if-match': '"abc"', 'if-none-match': '"abc"' }, 'not_modified'],
  ['If-Match failed rules over If-None-Match', { 'if-match': '"x"', 'if-none-match': '"abc"' }, 'failed'],
  // If-Unmodified-Since
  ['If-Unmodified-Since of the same second', { 'if-unmodified-since': same }, 'proceed'],
  ['If-Unmodified-Since later', { 'if-unmodified-since': after }, 'proceed'],
  ['If-Unmodified-Since earlier', { 'if-unmodified-since': before }, 'failed'],
  ['If-Unmodified-Since that is no date', { 'if-unmodified-since': 'x' }, 'proceed'],
  ['If-Match rules over If-Unmodified-Since', { 'if-match': '"abc"', 'if-unmodified-since': before }, 'proceed'],
  [
    'If-Unmodified-Since holds, then If-Modified-Since',
    { 'if-unmodified-since': same, 'if-modified-since': same },
    'not_modified',
  ],
  [
    'If-Unmodified-Since failed rules over If-None-Match',
    { 'if-unmodified-since': before, 'if-none-match': '"abc"' },
    'failed',
  ],
];

it.each(cases)('%s', (_name, headers, expected) => {
  expect(decidePrecondition(headers, { etag, lastModified }, now)).toBe(expected);
});

it('ignores the conditions on a date for a resource that has none', () => {
  const validators = { etag, lastModified: undefined };
  expect(decidePrecondition({ 'if-modified-since': after }, validators, now)).toBe('proceed');
  expect(decidePrecondition({ 'if-unmodified-since': before }, validators, now)).toBe('proceed');
  expect(decidePrecondition({ 'if-none-match': etag }, validators, now)).toBe('not_modified');
});

it.each([
  ['the same strong tag', '"abc"', true, true],
  ['another tag', '"x"', true, false],
  ['a weak tag', 'W/"abc"', true, false],
  ['a list', '"abc", "x"', true, false],
  ['star', '*', true, false],
  ['exactly the date', same, true, true],
  ['exactly the date in an obsolete form', 'Thu Mar  5 01:02:03 2026', true, true],
  ['exactly the date, which two versions share', same, false, false],
  ['a later date', after, true, false],
  ['an earlier date', before, true, false],
  ['no date and no tag', 'abc', true, false],
  ['nothing', '', true, false],
])('If-Range of %s', (_name, header, dateIsStrong, expected) => {
  expect(ifRangeMatches(header, { etag, lastModified, dateIsStrong }, now)).toBe(expected);
});

it('reads a long list in a time that grows with its length only', () => {
  const started = performance.now();
  expect(parseEntityTags(`${'"x",'.repeat(50_000)}"abc"`)).toHaveLength(50_001);
  expect(parseEntityTags(`${' \t'.repeat(50_000)}x`)).toEqual([]);
  expect(performance.now() - started).toBeLessThan(1000);
});
