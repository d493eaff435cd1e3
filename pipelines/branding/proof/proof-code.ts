import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import type { Config } from '../../../runtime/config.ts';
import { ServiceError } from '../../../runtime/errors.ts';
import { readOrMakeSecret } from '../../../runtime/secrets/stored-secret.ts';

/** Eight digits: five tries a code and three calls a day find one in 6.7 million. */
const codeDigits = 8;

const secretLengthMin = 32;

/**
 * The secret under which codes are hashed: NUMBER_CODE_SECRET, else the one in the state directory, made at the first call.
 * @throws ServiceError `setting_invalid` if the stored one is too short to be a secret
 */
export async function loadCodeSecret({
  numberCodeSecret,
  stateDir,
}: Pick<Config, 'numberCodeSecret' | 'stateDir'>): Promise<string> {
  const secret = numberCodeSecret ?? (await readOrMakeSecret(stateDir, 'number-code-secret'));
  if (secret.length >= secretLengthMin) return secret;
  throw new ServiceError('setting_invalid', {
    operation: 'read the code secret',
    problem: `The file number-code-secret of the state directory has fewer than ${secretLengthMin} characters.`,
    hint: 'Remove it: codes that were given out must be asked for again then.',
  });
}

/** A code: uniformly random digits. */
export function makeCode(): string {
  return String(randomInt(10 ** codeDigits)).padStart(codeDigits, '0');
}

/** The stored hash of the code of a call: HMAC-SHA-256 under the secret, bound to the call. */
export function hashCode(secret: string, callId: number, code: string): Buffer {
  return createHmac('sha256', secret).update(`${callId}:${code}`).digest();
}

/** Compares a code with the stored hash in constant time; spaces and hyphens in it are ignored. */
export function isCode(stored: Buffer, secret: string, { callId, given }: { callId: number; given: string }): boolean {
  return timingSafeEqual(stored, hashCode(secret, callId, given.replace(/[\s-]/g, '')));
}
