import { readFile } from 'node:fs/promises';
import type { TrustReport } from '../../clients/typescript/service/publication-trust.ts';
import { ServiceError } from '../../runtime/errors.ts';

/**
 * Reads the root that a user trusts, as `trust init` wrote it.
 * @throws ServiceError `usage_invalid`
 */
export async function readRootFile(path: string): Promise<Buffer> {
  return readFile(path).catch((cause: unknown) => {
    throw new ServiceError('usage_invalid', {
      operation: 'read root',
      object: path,
      problem: 'The file of the root cannot be read.',
      cause,
    });
  });
}

/** What was verified, in a line or two; `why` says why nothing was. */
export function formatTrust(trust: TrustReport | undefined, why: string): string {
  if (trust === undefined) return `Not verified: ${why}.`;
  const verified = `Verified: signed under version ${trust.rootVersion} of the root, valid until ${trust.validUntil}.`;
  return trust.firstUse
    ? `${verified}\nThe root is trusted from now on because the service served it first. Compare its SHA-256 with the one that the publisher names:\n${trust.anchorSha256}`
    : verified;
}
