import { nodeZlib } from '../base/built-ins.ts';

/**
 * CRC-32 as in gzip (RFC 1952, section 8), and the CRC of joined texts from the CRCs of each.
 *
 * A CRC is a polynomial over GF(2) modulo P. Appending n zero bytes multiplies it by x^(8n) mod P, so
 * crc(AB) = crc(A) * x^(8 |B|) + crc(B). Polynomials are held reflected, as gzip does: bit 31 is x^0.
 */

const polynomial = 0xedb88320;
const one = 0x80000000;

/** The CRC of each byte. */
const byteCrcs = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
  return crc;
});

/** CRC-32 of bytes that follow a text with the CRC `before`. */
export const crc32: (bytes: Uint8Array, before?: number) => number =
  nodeZlib === undefined ? portableCrc32 : (bytes, before = 0) => nodeZlib!.crc32(bytes, before);

/** {@link crc32} for browsers. */
export function portableCrc32(bytes: Uint8Array, before = 0): number {
  let crc = ~before;
  for (let at = 0; at < bytes.length; at++) crc = byteCrcs[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** A CRC-32 as manifests and indexes have it. */
export function formatCrc32(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}

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
