/** A conditional request in the form that clients which ask every night send; names as Node gives them. */
export interface SimpleRequest {
  readonly method: 'GET' | 'HEAD';
  readonly url: string;
  readonly authorization: string;
  readonly ifNoneMatch: string;
}

/** Bytes that such a request may have. */
export const simpleRequestBytesMax = 2048;

/** Every header field that such a request may have; none of them changes where it ends, who is meant, or what is asked. */
const allowed: ReadonlySet<string> = new Set([
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
 * Reads bytes (as Latin-1) that are one whole request and nothing else, in the plainest form of RFC 9112: every line ends
 * with CRLF, no field twice, none but those above, no body. Undefined for whatever else: Node's parser reads that.
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
    if (name === undefined || !allowed.has(name) || fields[name] !== undefined) return undefined;
    fields[name] = value;
  }
  return fields;
}
