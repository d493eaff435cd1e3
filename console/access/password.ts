import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/**
 * The cost of a hash: scrypt (RFC 7914) with N = 2^17, r = 8, p = 1, which takes 128 MiB and some tenths of a second (the
 * first recommendation of OWASP's Password Storage Cheat Sheet for scrypt).
 */
const cost = { N: 2 ** 17, r: 8, p: 1 } as const;

const saltBytes = 16;
const hashBytes = 32;

/** Length limits of a password. NIST SP 800-63B requires at least 15 characters for a single factor, and support for at least 64. */
export const passwordCharactersMin = 15;
export const passwordCharactersMax = 128;

/** Hashes a password: `scrypt$N$r$p$salt$hash`, the last two in base64. The password is normalized (NFKC). */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await derive(password, salt, cost);
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64'), hash.toString('base64')].join('$');
}

/** True if a password matches a hash. Takes the same time for a wrong one. */
export async function isPassword(password: string, stored: string): Promise<boolean> {
  const [, N, r, p, salt, hash] = stored.split('$');
  const expected = Buffer.from(hash ?? '', 'base64');
  const given = await derive(password, Buffer.from(salt ?? '', 'base64'), { N: Number(N), r: Number(r), p: Number(p) });
  return expected.length === given.length && timingSafeEqual(expected, given);
}

/** Does the work of a comparison for an unknown user, so that timing does not reveal which names exist. */
export async function wasteComparison(password: string): Promise<void> {
  await derive(password, Buffer.alloc(saltBytes), cost);
}

function derive(password: string, salt: Buffer, { N, r, p }: { N: number; r: number; p: number }): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, hashBytes, { N, r, p, maxmem: 256 * N * r }, (error, hash) =>
      error === null ? resolve(hash) : reject(error),
    );
  });
}
