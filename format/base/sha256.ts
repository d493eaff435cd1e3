import { nodeCrypto } from './built-ins.ts';

/** An incremental SHA-256: any number of updates, then the digest, once. */
interface Sha256 {
  update(bytes: Uint8Array): unknown;
  digest(form: 'hex'): string;
}

/** Begins a SHA-256. Node's where there is one: that of browsers takes whole files only. */
export function beginSha256(): Sha256 {
  return nodeCrypto?.createHash('sha256') ?? new PortableSha256();
}

/** SHA-256 of bytes, or of a text in UTF-8, as 64 hex digits. */
export function sha256Of(content: string | Uint8Array): string {
  const hash = beginSha256();
  hash.update(typeof content === 'string' ? new TextEncoder().encode(content) : content);
  return hash.digest('hex');
}

const blockBytes = 64;
const wordsPerBlock = 16;
const rounds = 64;
/** Where the length of the text begins in the last block. */
const lengthAt = 56;

/** The first 32 bits of the fractional parts of roots of the first primes (FIPS 180-4, sections 4.2.2 and 5.3.3). */
function fractionsOf(root: (prime: number) => number, count: number): number[] {
  const fractions: number[] = [];
  for (let candidate = 2; fractions.length < count; candidate++) {
    if (Array.from({ length: candidate - 2 }, (_, at) => at + 2).some((divisor) => candidate % divisor === 0)) continue;
    fractions.push(((root(candidate) % 1) * 2 ** 32) | 0);
  }
  return fractions;
}

const startWords = fractionsOf(Math.sqrt, 8);
const roundWords = Int32Array.from(fractionsOf(Math.cbrt, rounds));

const rotate = (word: number, bits: number) => (word >>> bits) | (word << (32 - bits));

/** SHA-256 (FIPS 180-4) for browsers, whose own takes no text in parts. */
export class PortableSha256 implements Sha256 {
  readonly #state = Int32Array.from(startWords);
  readonly #schedule = new Int32Array(rounds);
  readonly #block = new Uint8Array(blockBytes);
  #bytes = 0;

  update(bytes: Uint8Array): this {
    let filled = this.#bytes % blockBytes;
    this.#bytes += bytes.length;
    for (let at = 0; at < bytes.length;) {
      if (filled === 0 && bytes.length - at >= blockBytes) {
        this.#compress(bytes, at);
        at += blockBytes;
        continue;
      }
      const part = bytes.subarray(at, at + blockBytes - filled);
      this.#block.set(part, filled);
      at += part.length;
      filled = (filled + part.length) % blockBytes;
      if (filled === 0) this.#compress(this.#block, 0);
    }
    return this;
  }

  digest(_form: 'hex'): string {
    const bits = this.#bytes * 8;
    const filled = this.#bytes % blockBytes;
    const end = new Uint8Array(filled < lengthAt ? blockBytes : 2 * blockBytes);
    end.set(this.#block.subarray(0, filled));
    end[filled] = 0x80;
    const view = new DataView(end.buffer);
    view.setUint32(end.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(end.length - 4, bits % 2 ** 32);
    for (let at = 0; at < end.length; at += blockBytes) this.#compress(end, at);
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  #compress(bytes: Uint8Array, from: number): void {
    const words = this.#schedule;
    for (let at = 0; at < wordsPerBlock; at++) {
      const byte = from + 4 * at;
      words[at] = (bytes[byte]! << 24) | (bytes[byte + 1]! << 16) | (bytes[byte + 2]! << 8) | bytes[byte + 3]!;
    }
    for (let at = wordsPerBlock; at < rounds; at++) {
      const [early, late] = [words[at - 15]!, words[at - 2]!];
      const sigma0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
      const sigma1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
      words[at] = words[at - 16]! + sigma0 + words[at - 7]! + sigma1;
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = this.#state;
    for (let at = 0; at < rounds; at++) {
      const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const first = (h + sum1 + ((e & f) ^ (~e & g)) + roundWords[at]! + words[at]!) | 0;
      const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
      const second = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e] = [g, f, e, (d + first) | 0];
      [d, c, b, a] = [c, b, a, (first + second) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, at) => (this.#state[at] = this.#state[at]! + word));
  }
}
