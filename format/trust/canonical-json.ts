import { ClientError } from '../base/errors.ts';

/**
 * The canonical JSON over which TUF signs (OLPC's form: https://wiki.laptop.org/go/Canonical_JSON): keys in order, no white
 * space, integers only, and of the characters of a string only `"` and `\` are escaped.
 * @throws ClientError `trust_invalid` for a value that has no such form, such as a fraction
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'string') return `"${value.replace(/["\\]/g, String.raw`\$&`)}"`;
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .filter(([, each]) => each !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => `${canonicalJson(key)}:${canonicalJson(each)}`)
      .join(',')}}`;
  throw new ClientError('trust_invalid', {
    operation: 'write canonical JSON',
    problem: 'Signed metadata holds a value that has no canonical form.',
  });
}
