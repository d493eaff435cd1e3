import { ServiceError } from '../../runtime/errors.ts';
import { readOrMakeSecret } from '../../runtime/stored-secret.ts';

const secretLengthMin = 32;

/**
 * The secret of the hashes of keys: API_KEY_SECRET, else the one in the state directory, created by the first call.
 * Processes that start together get the same one.
 * @throws ServiceError `setting_invalid` if the stored one is too short to be a secret.
 */
export async function loadKeySecret({
  apiKeySecret,
  stateDir,
}: {
  apiKeySecret?: string | undefined;
  stateDir: string;
}): Promise<string> {
  if (apiKeySecret !== undefined) return apiKeySecret;
  const stored = await readOrMakeSecret(stateDir, 'api-key-secret');
  if (stored.length < secretLengthMin) {
    throw new ServiceError('setting_invalid', {
      operation: 'read the key secret',
      problem: `The file api-key-secret of the state directory has fewer than ${secretLengthMin} characters.`,
      hint: 'Restore it from a backup, or remove it: all keys must be made again then.',
    });
  }
  return stored;
}
