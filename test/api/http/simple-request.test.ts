import { expect, it } from 'vitest';
import { readSimpleRequest, simpleRequestBytesMax } from '../../../api/http/simple-request.ts';

const lines = ['GET /v1/caches/phones?country=US HTTP/1.1', 'Host: x', 'Authorization: Bearer a', 'If-None-Match: "t"'];
const write = (given: readonly string[]) => `${given.join('\r\n')}\r\n\r\n`;

it.each([
  ['the least', lines],
  ['HEAD', [lines[0]!.replace('GET', 'HEAD'), ...lines.slice(1)]],
  [
    'what clients add',
    [
      ...lines,
      'User-Agent: curl/8',
      'Accept: */*',
      'Accept-Encoding: gzip',
      'Accept-Language: *',
      'Connection: keep-alive',
    ],
  ],
  [
    'names in other letters',
    ['host', 'AUTHORIZATION', 'If-none-MATCH']
      .map((name, at) => `${name}:${['x', 'Bearer a', '"t"'][at]}`)
      .reduce<string[]>((all, line) => [...all, line], [lines[0]!]),
  ],
  ['spaces around values', [lines[0]!, 'Host:  x', 'Authorization:\tBearer a ', 'If-None-Match: "t"\t']],
])('reads a request with %s', (_what, given) => {
  expect(readSimpleRequest(write(given))).toEqual({
    method: given[0]!.split(' ')[0],
    url: '/v1/caches/phones?country=US',
    authorization: 'Bearer a',
    ifNoneMatch: '"t"',
  });
});

it.each([
  ['a part of a request', write(lines).slice(0, -1)],
  ['two requests', write(lines) + write(lines)],
  ['bytes after it', `${write(lines)}x`],
  ['line ends of LF', write(lines).replaceAll('\r\n', '\n')],
  ['a line end of LF inside', write([...lines, 'Accept: a\nb'])],
  ['a folded line', write([...lines, 'Accept: a', ' b'])],
  ['a space before a colon', write([...lines, 'Accept : a'])],
  ['a control character', write([...lines, 'Accept: a\x00b'])],
  ['a byte beyond ASCII', write([...lines, 'Accept: \xe9'])],
  ['an empty value', write([...lines, 'Accept:'])],
  ['an unknown field', write([...lines, 'Range: bytes=0-1'])],
  ['a body', write([...lines, 'Content-Length: 1'])],
  ['a coding of a body', write([...lines, 'Transfer-Encoding: chunked'])],
  ['another condition', write([...lines, 'If-Match: "t"'])],
  ['an expectation', write([...lines, 'Expect: 100-continue'])],
  ['an upgrade', write([...lines, 'Connection: upgrade'])],
  ['the wish to close', write([...lines, 'Connection: close'])],
  ['a field twice', write([...lines, 'If-None-Match: "u"'])],
  ['no host', write(lines.filter((line) => !line.startsWith('Host')))],
  ['no key', write(lines.filter((line) => !line.startsWith('Auth')))],
  ['no tag', write(lines.filter((line) => !line.startsWith('If')))],
  ['another method', write([lines[0]!.replace('GET', 'POST'), ...lines.slice(1)])],
  ['another version', write([lines[0]!.replace('1.1', '1.0'), ...lines.slice(1)])],
  ['an address with a host', write([lines[0]!.replace('/v1', 'http://y/v1'), ...lines.slice(1)])],
  ['a space in the address', write([lines[0]!.replace('/v1', '/v1 x'), ...lines.slice(1)])],
  ['nothing', ''],
])('leaves %s to the parser', (_what, text) => {
  expect(readSimpleRequest(text)).toBeUndefined();
});

it('leaves a request to the parser that is longer than the limit', () => {
  const padded = (bytes: number) =>
    write([...lines, `Accept: ${'a'.repeat(bytes - write([...lines, 'Accept: ']).length)}`]);
  expect(readSimpleRequest(padded(simpleRequestBytesMax))).toBeDefined();
  expect(readSimpleRequest(padded(simpleRequestBytesMax + 1))).toBeUndefined();
});
