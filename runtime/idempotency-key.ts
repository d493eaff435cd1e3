import { ServiceError, type ErrorDetail } from './errors.ts';

/** The form of an idempotency key, for messages. */
export const idempotencyKeyForm = '1 to 128 printable ASCII characters without spaces';

/** True for a valid idempotency key. */
export function isIdempotencyKey(key: string): boolean {
  return /^[!-~]{1,128}$/.test(key);
}

/** @throws ServiceError `idempotency_conflict` if the key was used for a request with another digest */
export function requireSameRequest(
  before: { readonly requestSha256: string },
  digest: string,
  detail: ErrorDetail,
): void {
  if (before.requestSha256 !== digest) throw new ServiceError('idempotency_conflict', detail);
}
