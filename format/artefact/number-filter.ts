import { ClientError } from '../base/errors.ts';
import { rangeOf } from './caches.ts';

/** What the keys of a filter are: numbers, or the prefixes of ranges of 1,000 numbers. */
export const FILTER_KEYS = ['phone', 'prefix'] as const;

/** Bits of a fingerprint: a number that is no key is found in one case of 2 to this power. */
export type FingerprintBits = 8 | 16;

/** The header of a filter (docs/filters.md). */
export interface FilterFacts {
  readonly keyType: (typeof FILTER_KEYS)[number];
  readonly bits: FingerprintBits;
  readonly seed: number;
  /** Slots of a segment, a power of two. */
  readonly segmentLength: number;
  /** Segments at which the slots of a key can begin; 0 only without keys. */
  readonly segmentCount: number;
  readonly keys: number;
}

/** Slots of a key, one in each of as many adjacent segments. */
export const filterArity = 4;
/** The offsets in a segment are of 16 bits. */
export const segmentLengthMax = 65_536;
/** The product with a half of the hash is exact in a double. */
const segmentCountMax = 65_536;
/** Keys of a filter: one of 16 bits has 36 MB then. */
export const filterKeysMax = 2 ** 24;
/** Bytes of the largest filter that is read, with room for a slacker packing than ours. */
export const filterBytesMax = 64 * 1024 * 1024;

const magic = 'CTFILTER';
const formatVersion = 1;
const headerBytes = 28;
const twoTo32 = 4_294_967_296;
const golden = 0x9e3779b9;

/** The slots of a filter. */
export function slotsOf({ segmentCount, segmentLength }: Pick<FilterFacts, 'segmentCount' | 'segmentLength'>): number {
  return segmentCount === 0 ? 0 : (segmentCount + filterArity - 1) * segmentLength;
}

/**
 * Where a key is in a filter. The hash is a Feistel network of three rounds with the finalizer of MurmurHash3 (Appleby 2011) in
 * them: a permutation of 64 bits, so two keys never share a hash, made of 32-bit operations alone, which JavaScript does
 * without BigInt. One object serves many keys.
 */
export class FilterPlace {
  readonly #shape: Pick<FilterFacts, 'seed' | 'segmentLength' | 'segmentCount'>;
  /** The two halves of the hash. */
  high = 0;
  low = 0;
  /** One slot in each of four adjacent segments. */
  readonly slots = new Uint32Array(filterArity);

  constructor(shape: Pick<FilterFacts, 'seed' | 'segmentLength' | 'segmentCount'>) {
    this.#shape = shape;
  }

  /** Finds the place of a key, an integer below 2^53. */
  find(key: number): void {
    let [high, low] = [(key / twoTo32) | 0, key | 0];
    for (let round = 1; round <= 3; round++) {
      const next = high ^ mix((low + this.#shape.seed + Math.imul(round, golden)) | 0);
      high = low;
      low = next;
    }
    this.findHash(high, low);
  }

  /** Finds the place of the key with a hash. */
  findHash(high: number, low: number): void {
    const { slots } = this;
    const { segmentLength, segmentCount } = this.#shape;
    const mask = segmentLength - 1;
    const third = mix((high + low) | 0);
    const first = Math.floor(((high >>> 0) * segmentCount) / twoTo32) * segmentLength;
    this.high = high;
    this.low = low;
    slots[0] = first + (low & mask);
    slots[1] = first + segmentLength + ((low >>> 16) & mask);
    slots[2] = first + 2 * segmentLength + (third & mask);
    slots[3] = first + 3 * segmentLength + ((third >>> 16) & mask);
  }
}

/** The finalizer of MurmurHash3 for 32 bits. */
function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

const phonePattern = /^\+[1-9]\d{7,14}$/;

/**
 * A set of numbers as a binary fuse filter (Graf and Lemire, 2022, arXiv:2201.01174): every number of the set is found, and of
 * others one in 256, or in 65,536. Reads the bytes in place.
 */
export class NumberFilter {
  readonly facts: FilterFacts;
  readonly #bytes: Uint8Array;
  readonly #place: FilterPlace;
  readonly #mask: number;

  /** @throws ClientError `filter_invalid` unless the bytes are a whole filter of a format that this client knows */
  constructor(bytes: Uint8Array) {
    this.facts = readFilterHeader(bytes);
    this.#bytes = bytes;
    this.#place = new FilterPlace(this.facts);
    this.#mask = 2 ** this.facts.bits - 1;
  }

  /** The share of numbers outside of the set that are found. */
  get falsePositiveRate(): number {
    return 2 ** -this.facts.bits;
  }

  /**
   * False: the number, or its range, is not in the set. True: it is, or this is one of the cases of the stated rate.
   * @throws ClientError `phone_invalid` unless it is a number in E.164
   */
  has(phone: string): boolean {
    if (!phonePattern.test(phone)) throw new ClientError('phone_invalid', { operation: 'look in filter' });
    return this.hasKey(filterKeyOf(this.facts.keyType === 'phone' ? phone : rangeOf(phone)));
  }

  /** As {@link has}, for the digits of a number or prefix as an integer. */
  hasKey(key: number): boolean {
    if (this.facts.keys === 0) return false;
    const place = this.#place;
    place.find(key);
    const { slots } = place;
    const found = this.#read(slots[0]!) ^ this.#read(slots[1]!) ^ this.#read(slots[2]!) ^ this.#read(slots[3]!);
    return found === (place.high & this.#mask);
  }

  #read(slot: number): number {
    if (this.facts.bits === 8) return this.#bytes[headerBytes + slot]!;
    const at = headerBytes + 2 * slot;
    return this.#bytes[at]! | (this.#bytes[at + 1]! << 8);
  }
}

/** The digits of a number or prefix, as an integer; two of them never give the same. */
export function filterKeyOf(phoneOrPrefix: string): number {
  return Number(phoneOrPrefix.slice(1));
}

/** The bytes of a filter. */
export function formatFilter(facts: FilterFacts, fingerprints: Uint8Array | Uint16Array): Uint8Array<ArrayBuffer> {
  const { bits, keyType, seed, segmentLength, segmentCount, keys } = facts;
  const bytes = new Uint8Array(headerBytes + (fingerprints.length * bits) / 8);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < magic.length; at++) bytes[at] = magic.charCodeAt(at);
  bytes.set([formatVersion, filterArity, bits, FILTER_KEYS.indexOf(keyType)], magic.length);
  [seed, segmentLength, segmentCount, keys].forEach((value, at) => view.setUint32(12 + 4 * at, value, true));
  if (bits === 8) bytes.set(fingerprints, headerBytes);
  else fingerprints.forEach((fingerprint, slot) => view.setUint16(headerBytes + 2 * slot, fingerprint, true));
  return bytes;
}

function readFilterHeader(bytes: Uint8Array): FilterFacts {
  if (bytes.length < headerBytes) throw invalidFilter('It is shorter than its header.');
  if (bytes.length > filterBytesMax) throw invalidFilter(`It is longer than ${filterBytesMax} bytes.`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [version, arity, bits, keyType] = bytes.subarray(magic.length, magic.length + 4);
  if (String.fromCharCode(...bytes.subarray(0, magic.length)) !== magic)
    throw invalidFilter('It does not begin as one.');
  if (version !== formatVersion || arity !== filterArity)
    throw invalidFilter('It has a format that this client does not know.');
  if ((bits !== 8 && bits !== 16) || FILTER_KEYS[keyType!] === undefined)
    throw invalidFilter('Its fingerprints or keys are of a kind that this client does not know.');
  const [seed, segmentLength, segmentCount, keys] = [12, 16, 20, 24].map((at) => view.getUint32(at, true)) as [
    number,
    number,
    number,
    number,
  ];
  if (segmentLength === 0 || segmentLength > segmentLengthMax || (segmentLength & (segmentLength - 1)) !== 0)
    throw invalidFilter('The length of its segments is not a power of two up to 65536.');
  if (segmentCount > segmentCountMax) throw invalidFilter('It has too many segments.');
  const slots = slotsOf({ segmentCount, segmentLength });
  if (bytes.length !== headerBytes + (slots * bits) / 8)
    throw invalidFilter('Its length is not that of the slots in its header.');
  if ((keys === 0) !== (segmentCount === 0) || keys > slots)
    throw invalidFilter('Its key count does not fit its slots.');
  return { keyType: FILTER_KEYS[keyType!]!, bits, seed, segmentLength, segmentCount, keys };
}

function invalidFilter(problem: string): ClientError {
  return new ClientError('filter_invalid', {
    operation: 'read filter',
    problem: `The file is not a filter: ${problem}`,
    hint: 'Download it again.',
  });
}
