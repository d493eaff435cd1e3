/**
 * CRC-32 as in gzip (RFC 1952, section 8), and the CRC of joined texts from the CRCs of each.
 *
 * A CRC is a polynomial over GF(2) modulo P. Appending n zero bytes multiplies it by x^(8n) mod P, so
 * crc(AB) = crc(A) * x^(8 |B|) + crc(B). Polynomials are held reflected, as gzip does: bit 31 is x^0.
 */
export { crc32 } from 'node:zlib';

const polynomial = 0xedb88320;
const one = 0x80000000;

/** a * b mod P. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let term = b, bit = 31; bit >= 0; bit--) {
    if ((a >>> bit) & 1) product ^= term;
    term = term & 1 ? (term >>> 1) ^ polynomial : term >>> 1;
  }
  return product >>> 0;
}

/** x^(2^k) mod P for k = 0 to 31; the order of x divides 2^32 - 1, so x^(2^32) is x again and the table wraps. */
const powersOfTwo = (() => {
  const powers = [0x40000000]; // x
  while (powers.length < 32) powers.push(multiply(powers.at(-1)!, powers.at(-1)!));
  return powers;
})();

/** x^(8 * bytes) mod P. */
function powerOfBytes(bytes: number): number {
  let power = one;
  for (let rest = bytes, k = 3; rest > 0; rest = Math.floor(rest / 2), k++) {
    if (rest % 2 === 1) power = multiply(powersOfTwo[k % 32]!, power);
  }
  return power;
}

/** CRC-32 of A followed by B, from the CRC of each and the length of B in bytes. */
export function joinCrc32(crcA: number, crcB: number, bytesB: number): number {
  return (multiply(powerOfBytes(bytesB), crcA) ^ crcB) >>> 0;
}
