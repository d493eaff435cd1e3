import { createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';

const randomLength = 32;
const idLength = 12;
const idAlphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
const keyForm = /^ct_([a-z0-9]{12})_([A-Za-z0-9_-]{43})$/;

/** The parts of a key: its public id, and the random bytes, which only its client has. */
interface KeyParts {
  readonly keyId: string;
  readonly random: Buffer;
}

/** A new key of 32 random bytes with an id of its own. */
export function generateKey(): KeyParts {
  const keyId = Array.from({ length: idLength }, () => idAlphabet[randomInt(idAlphabet.length)]).join('');
  return { keyId, random: randomBytes(randomLength) };
}

/** A key as its client sends it: `ct_<id>_<base64url of the random bytes>`. */
export function formatKey({ keyId, random }: KeyParts): string {
  return `ct_${keyId}_${random.toString('base64url')}`;
}

/** The parts of a key; undefined if the text is not a key. A key has exactly one text. */
export function parseKey(text: string): KeyParts | undefined {
  const [, keyId, encoded] = keyForm.exec(text) ?? [];
  if (keyId === undefined || encoded === undefined) return undefined;
  const random = Buffer.from(encoded, 'base64url');
  return random.length === randomLength && random.toString('base64url') === encoded ? { keyId, random } : undefined;
}

/** The stored hash of a key: HMAC-SHA-256 of its random bytes under the secret of the service. */
export function hashKey(random: Buffer, secret: string): Buffer {
  return createHmac('sha256', secret).update(random).digest();
}

/** Compares two hashes in constant time. */
export function sameHash(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
