import { expect, it } from 'vitest';
import { describePublishedFile, planDownload } from '../../../api/downloads/download-plan.ts';

const sha256 = 'a'.repeat(64);
const etag = `"${sha256}"`;
const lastModified = new Date('2026-03-05T01:02:03.750Z');
const representation = describePublishedFile({
  cache: 'phones',
  country: 'US',
  version: 12,
  rows: 3,
  asOf: lastModified,
  bytes: 100,
  sha256,
  lastModified,
  dateIsStrong: true,
});
const plan = (headers: Record<string, string>, method = 'GET') =>
  planDownload({ method, headers }, representation, Date.parse('2026-03-06T00:00:00Z'));

it('names the file by cache, country and version', () => {
  expect(representation.contentHeaders['Content-Disposition']).toBe('attachment; filename="phones-US-v12.tsv.gz"');
  const spammers = describePublishedFile({
    cache: 'spammer_phones',
    country: '',
    version: 3,
    rows: 3,
    asOf: lastModified,
    bytes: 100,
    sha256,
    lastModified,
    dateIsStrong: true,
  });
  expect(spammers.contentHeaders['Content-Disposition']).toBe('attachment; filename="spammer_phones-v3.tsv.gz"');
});

it.each([
  ['GET', {}, { status: 200, length: 100, send: { start: 0, length: 100 } }],
  [
    'GET',
    { range: 'bytes=10-19' },
    { status: 206, length: 10, contentRange: 'bytes 10-19/100', send: { start: 10, length: 10 } },
  ],
  [
    'GET',
    { range: 'bytes=-1' },
    { status: 206, length: 1, contentRange: 'bytes 99-99/100', send: { start: 99, length: 1 } },
  ],
  [
    'GET',
    { range: 'bytes=0-' },
    { status: 206, length: 100, contentRange: 'bytes 0-99/100', send: { start: 0, length: 100 } },
  ],
  ['GET', { range: 'bytes=0-1,5-6' }, { status: 200, length: 100, send: { start: 0, length: 100 } }],
  [
    'GET',
    { range: 'bytes=10-19', 'if-range': etag },
    { status: 206, length: 10, contentRange: 'bytes 10-19/100', send: { start: 10, length: 10 } },
  ],
  ['GET', { range: 'bytes=10-19', 'if-range': '"old"' }, { status: 200, length: 100, send: { start: 0, length: 100 } }],
  ['GET', { range: 'bytes=500-', 'if-range': '"old"' }, { status: 200, length: 100, send: { start: 0, length: 100 } }],
  ['GET', { 'if-range': etag }, { status: 200, length: 100, send: { start: 0, length: 100 } }],
  ['HEAD', {}, { status: 200, length: 100, send: undefined }],
  ['HEAD', { range: 'bytes=10-19' }, { status: 200, length: 100, send: undefined }],
  ['HEAD', { range: 'bytes=500-' }, { status: 200, length: 100, send: undefined }],
  ['GET', { 'if-none-match': etag }, { status: 304, length: undefined, send: undefined }],
  ['HEAD', { 'if-none-match': etag }, { status: 304, length: undefined, send: undefined }],
  ['GET', { 'if-none-match': etag, range: 'bytes=10-19' }, { status: 304, length: undefined, send: undefined }],
  ['GET', { 'if-none-match': etag, range: 'bytes=500-' }, { status: 304, length: undefined, send: undefined }],
] as const)('%s with %j', (method, headers, expected) => {
  const decided = plan(headers, method);
  if ('refusal' in decided) throw new Error(decided.refusal);
  expect({
    status: decided.status,
    length: decided.headers['Content-Length'],
    contentRange: decided.headers['Content-Range'],
    send: decided.send,
  }).toEqual({ contentRange: undefined, ...expected });
  expect(decided.headers['ETag']).toBe(etag);
});

it.each([
  [{ 'if-match': '"old"' }, { refusal: 'precondition_failed', headers: {} }],
  [
    { 'if-match': '"old"', range: 'bytes=500-' },
    { refusal: 'precondition_failed', headers: {} },
  ],
  [{ range: 'bytes=100-' }, { refusal: 'range_not_satisfiable', headers: { 'Content-Range': 'bytes */100' } }],
  [{ range: 'bytes=-0' }, { refusal: 'range_not_satisfiable', headers: { 'Content-Range': 'bytes */100' } }],
  [
    { range: 'bytes=100-', 'if-range': etag },
    { refusal: 'range_not_satisfiable', headers: { 'Content-Range': 'bytes */100' } },
  ],
])('refuses %j', (headers, expected) => {
  expect(plan(headers)).toEqual(expected);
});

it('sends a client that has the file its version, and none of its bytes', () => {
  const decided = plan({ 'if-none-match': etag });
  expect(Object.keys(decided.headers).sort()).toEqual([
    'Cache-Control',
    'ETag',
    'Last-Modified',
    'Vary',
    'X-Cache-As-Of',
    'X-Cache-Rows',
    'X-Cache-Version',
  ]);
});
