import { ClientError } from '../../../format/base/errors.ts';
import type { ApiDocuments, ApiNumber } from './api-documents.ts';
import type { ServiceClient } from './service-client.ts';

/** The path of a document of the API, with the names of its parameters: `/v1/brands/{handle}`. */
export type DocumentPath = keyof ApiDocuments;

/** The argument with the parameters of a document; optional if it requires none. */
type Given<Path extends DocumentPath> =
  Record<never, never> extends ApiDocuments[Path]['parameters']
    ? [parameters?: ApiDocuments[Path]['parameters']]
    : [parameters: ApiDocuments[Path]['parameters']];

/**
 * Reads a JSON document of the API. That the answer has its described form is not checked: the service tests that.
 * @throws ClientError the service's own, or `download_failed`, `download_damaged`
 */
export async function readDocument<Path extends DocumentPath>(
  client: ServiceClient,
  path: Path,
  ...[parameters = {}]: Given<Path>
): Promise<ApiDocuments[Path]['answer']> {
  const answer = await client.getDocument(hrefOf(path, parameters));
  if (!answer.isKnown) return answer.body as ApiDocuments[Path]['answer'];
  throw new ClientError('download_failed', {
    operation: 'read document',
    object: path,
    problem: 'The service answers that the document is unchanged, though no earlier one was named.',
  });
}

/** The label of a number as it is now, with its reason; the key needs the scope `numbers:read`. @throws as {@link readDocument} */
export function readNumber(client: ServiceClient, phone: string): Promise<ApiNumber> {
  return readDocument(client, '/v1/numbers/{phone}', { phone });
}

function hrefOf(path: string, parameters: object): string {
  const left = new Map(Object.entries(parameters).filter(([, value]) => value !== undefined));
  const filled = path.replace(/\{(\w+)\}/g, (_place, name: string) => {
    const value = left.get(name);
    left.delete(name);
    return encodeURIComponent(String(value));
  });
  const query = new URLSearchParams([...left].map(([name, value]): [string, string] => [name, String(value)]));
  return query.size === 0 ? filled : `${filled}?${query}`;
}
