import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../../runtime/errors.ts';
import { createWholeFile } from '../../../runtime/files/whole-file.ts';
import { describeKey } from './signed-metadata.ts';

/**
 * Writes keys of a root to a directory, a file each, with a name that begins with the id of the key. With a passphrase they are
 * encrypted (PKCS #8, AES-256-CBC). Returns the paths.
 * @throws ServiceError `usage_invalid` if a file exists
 */
export async function writeRootKeys(
  directory: string,
  keys: readonly KeyObject[],
  passphrase: string | undefined,
): Promise<string[]> {
  const paths: string[] = [];
  for (const key of keys) {
    const path = join(directory, `root-key-${describeKey(key).keyId.slice(0, 12)}.pem`);
    const pem = key.export({
      format: 'pem',
      type: 'pkcs8',
      ...(passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase }),
    });
    await writeNew(path, pem.toString());
    paths.push(path);
  }
  return paths;
}

/** Writes a file that must not exist yet. @throws ServiceError `usage_invalid` */
export async function writeNew(path: string, content: string | Uint8Array): Promise<void> {
  if (await createWholeFile(path, content, { durable: true, mode: 0o600 })) return;
  throw new ServiceError('usage_invalid', {
    operation: 'write root key',
    object: path,
    problem: 'The file exists already.',
    hint: 'Give an empty directory.',
  });
}

/**
 * Reads a key of a root.
 * @throws ServiceError `usage_invalid` if the file is not an Ed25519 key, or the passphrase is missing or wrong
 */
export async function readRootKey(path: string, passphrase: string | undefined): Promise<KeyObject> {
  const unusable = (problem: string, cause?: unknown) =>
    new ServiceError('usage_invalid', { operation: 'read root key', object: path, problem, cause });
  const pem = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw unusable('The file cannot be read.', cause);
  });
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: pem, format: 'pem', ...(passphrase === undefined ? {} : { passphrase }) });
  } catch (cause) {
    throw unusable('The file is not a private key in PEM form, or its passphrase is missing or wrong.', cause);
  }
  if (key.asymmetricKeyType !== 'ed25519') throw unusable('The key is not an Ed25519 key.');
  return key;
}
