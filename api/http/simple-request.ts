/** A conditional request of the form that nightly clients send; names as in Node. */
export interface SimpleRequest {
  readonly method: 'GET' | 'HEAD';
  readonly url: string;
  readonly authorization: string;
  readonly ifNoneMatch: string;
}

/** Largest such request. */
export const simpleRequestBytesMax = 2048;

/** The header fields that such a request may have; none of them changes its framing, its target or its meaning. */
const allowedFields: ReadonlySet<string> = new Set([
  'host',
  'authorization',
  'if-none-match',
  'user-agent',
  'accept',
  'accept-encoding',
  'accept-language',
  'connection',
]);

const requestLine = /^(GET|HEAD) (\/[!-~]*) HTTP\/1\.1$/;
const headerLine = /^([A-Za-z-]+):[ \t]*([!-~](?:[ -~\t]*[!-~])?)[ \t]*$/;

/**
 * Parses bytes (as Latin-1) that are exactly one request in the plainest form of RFC 9112: every line ends with CRLF, no
 * field twice, only the fields above, no body. Undefined for everything else, which Node's parser reads.
 */
export function readSimpleRequest(text: string): SimpleRequest | undefined {
  if (text.length > simpleRequestBytesMax || !text.endsWith('\r\n\r\n')) return undefined;
  const [first = '', ...lines] = text.slice(0, -4).split('\r\n');
  const [, method, url] = requestLine.exec(first) ?? [];
  const fields = readFields(lines);
  if (url === undefined || fields === undefined) return undefined;
  const { host, authorization, connection = 'keep-alive', 'if-none-match': ifNoneMatch } = fields;
  if (
    host === undefined ||
    authorization === undefined ||
    ifNoneMatch === undefined ||
    connection.toLowerCase() !== 'keep-alive'
  )
    return undefined;
  return { method: method === 'HEAD' ? 'HEAD' : 'GET', url, authorization, ifNoneMatch };
}

function readFields(lines: readonly string[]): Partial<Record<string, string>> | undefined {
  const fields: Partial<Record<string, string>> = {};
  for (const line of lines) {
    const [, given, value] = headerLine.exec(line) ?? [];
    const name = given?.toLowerCase();
    if (name === undefined || !allowedFields.has(name) || fields[name] !== undefined) return undefined;
    fields[name] = value;
  }
  return fields;
}
