import { createHmac } from 'node:crypto';
import type { Config } from '../../runtime/config.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { readOrMakeSecret, readSecret } from '../../runtime/secrets/stored-secret.ts';
import { sql } from '../../sql/sql.ts';

const secretLengthMin = 32;
const secretFile = 'api-key-secret';

/** See the settings of the same names. */
type KeySecretSettings = Pick<Config, 'stateDir'> & Partial<Pick<Config, 'apiKeySecret'>>;

/**
 * The secret of the hashes of keys: API_KEY_SECRET, else the one in the state directory; undefined if there is none yet.
 * @throws ServiceError `setting_invalid` if the stored one is too short to be a secret.
 */
export async function findKeySecret({ apiKeySecret, stateDir }: KeySecretSettings): Promise<string | undefined> {
  return apiKeySecret ?? checkLength(await readSecret(stateDir, secretFile));
}

/**
 * As {@link findKeySecret}, but one is made in the state directory if there is none. Processes that start together get the
 * same one.
 */
export async function loadKeySecret({ apiKeySecret, stateDir }: KeySecretSettings): Promise<string> {
  return apiKeySecret ?? checkLength(await readOrMakeSecret(stateDir, secretFile))!;
}

function checkLength(secret: string | undefined): string | undefined {
  if (secret === undefined || secret.length >= secretLengthMin) return secret;
  throw new ServiceError('setting_invalid', {
    operation: 'read the key secret',
    problem: `The file ${secretFile} of the state directory has fewer than ${secretLengthMin} characters.`,
    hint: 'Restore it from a backup, or remove it: all keys must be made again then.',
  });
}

/**
 * The secret for a new key, made if there is none yet.
 * @throws ServiceError `key_secret_differs` if the keys of the database were made with another one
 */
export async function secretForNewKey(db: Queryable, settings: KeySecretSettings): Promise<string> {
  await requireKeySecret(db, await findKeySecret(settings));
  return loadKeySecret(settings);
}

/**
 * Checks that the keys of a database were made with this secret.
 * @throws ServiceError `key_secret_differs`
 */
export async function requireKeySecret(db: Queryable, secret: string | undefined): Promise<void> {
  const recorded = await queryRow<{ fingerprint: Buffer }>(db, sql('access/find_secret_fingerprint'), [secretFile]);
  if (recorded === undefined || (secret !== undefined && fingerprintOf(secret).equals(recorded.fingerprint))) return;
  throw new ServiceError('key_secret_differs', {
    operation: 'check the key secret',
    problem:
      secret === undefined
        ? `There is no API_KEY_SECRET and no file ${secretFile} in STATE_DIR, but the keys of this database were made with one.`
        : undefined,
    hint: `Set STATE_DIR or API_KEY_SECRET as where the keys were made, or restore the file ${secretFile} from its backup. If it is lost, \`caller-trust keys reset --revoke-all\` lets keys be made with another.`,
  });
}

/** Records with which secret the keys of a database are made, unless that is known. */
export async function recordKeySecret(db: Queryable, secret: string): Promise<void> {
  await db.query(sql('access/record_secret_fingerprint'), [secretFile, fingerprintOf(secret)]);
}

/** Keyed by the secret, so that nobody finds it from the fingerprint. */
function fingerprintOf(secret: string): Buffer {
  return createHmac('sha256', secret).update(secretFile).digest();
}
