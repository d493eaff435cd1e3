import { describe, expect, it } from 'vitest';
import { decideDelivery, proxyHeaders, redirectHeaders } from '../../../api/downloads/delivery.ts';

const headers = {
  ETag: '"x"',
  'Content-Type': 'application/gzip',
  'Content-Length': 10,
  'Content-Range': 'bytes 0-9/20',
  'X-Cache-Version': 3,
};

describe('who sends the bytes', () => {
  it.each([
    ['nothing set', undefined, true, {}, 'api'],
    ['a proxy', '/files', false, {}, 'proxy'],
    ['a proxy, and a range', '/files', false, { range: 'bytes=0-1' }, 'proxy'],
    ['a proxy, and a download that is resumed', '/files', false, { range: 'bytes=5-', 'if-range': '"x"' }, 'api'],
    ['a proxy, and If-Match', '/files', false, { 'if-match': '"x"' }, 'api'],
    ['a proxy, and If-Unmodified-Since', '/files', false, { 'if-unmodified-since': 'x' }, 'api'],
    ['a proxy that cannot reach the object store', '/files', true, {}, 'api'],
    ['signed URLs', 'object-store', true, { 'if-range': '"x"' }, 'object store'],
    ['signed URLs without an object store', 'object-store', false, {}, 'api'],
  ] as const)('with %s', (_what, apiDelivery, canSign, request, expected) => {
    expect(decideDelivery(request, { apiDelivery }, canSign)).toBe(expected);
  });
});

it('hands a file over to a proxy with the facts of the version, and leaves the range to it', () => {
  for (const prefix of ['/files', '/files/']) {
    expect(proxyHeaders(headers, { prefix, path: 'phones/US/a.tsv.gz' })).toEqual({
      ETag: '"x"',
      'Content-Type': 'application/gzip',
      'X-Cache-Version': 3,
      'Content-Length': 0,
      'X-Accel-Redirect': '/files/phones/US/a.tsv.gz',
    });
  }
});

it('redirects without the facts of the bytes, and never from a cache', () => {
  expect(redirectHeaders(headers, 'https://x/y')).toEqual({
    'X-Cache-Version': 3,
    'Cache-Control': 'no-store',
    Location: 'https://x/y',
    'Content-Length': 0,
  });
});
