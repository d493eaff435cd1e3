import { ServiceError } from '../../../runtime/errors.ts';
import {
  filterArity,
  filterKeysMax,
  FilterPlace,
  formatFilter,
  segmentLengthMax,
  slotsOf,
  type FilterFacts,
} from '../../../format/artefact/number-filter.ts';

/** What a filter is made of, besides its keys. */
export type FilterKind = Pick<FilterFacts, 'keyType' | 'bits'>;

/** If no filter is found in this many tries, two keys are equal. Tens of tries are usual. */
const triesMax = 2000;

/**
 * Makes a filter of different keys, integers below 2^53. The same keys and kind give the same bytes, in whatever order they come:
 * sizes are tried upwards from below what is enough, with the next seed each time, until each key has a slot to itself
 * (peeling). Takes 32 bytes of memory a key. `keys` is sorted.
 * @throws ServiceError `rows_differ` if a key occurs twice, `filter_not_made` if there are too many
 */
export function buildFilter(keys: Float64Array, kind: FilterKind): Uint8Array<ArrayBuffer> {
  if (keys.length > filterKeysMax)
    throw notMade(`A filter holds ${filterKeysMax} keys at most, and there are ${keys.length}.`);
  requireDifferent(keys.sort());
  if (keys.length === 0) {
    const facts = { ...kind, seed: 0, segmentLength: 1, segmentCount: 0, keys: 0 };
    return formatFilter(facts, new Uint8Array(0));
  }
  const peeling = new Peeling(keys);
  for (const { seed, segmentLength, segmentCount } of shapesOf(keys.length)) {
    const facts: FilterFacts = { ...kind, seed, segmentLength, segmentCount, keys: keys.length };
    if (peeling.run(facts)) return formatFilter(facts, peeling.assign(facts));
  }
  throw notMade(`No filter of the keys was found in ${triesMax} tries.`);
}

function notMade(problem: string): ServiceError {
  return new ServiceError('filter_not_made', { operation: 'make filter', problem });
}

/** @throws ServiceError `rows_differ` */
function requireDifferent(ascending: Float64Array): void {
  for (let at = 1; at < ascending.length; at++)
    if (ascending[at] === ascending[at - 1])
      throw new ServiceError('rows_differ', { operation: 'make filter', problem: 'A key occurs twice.' });
}

/** Up to this many keys several seeds are tried with each size: their luck differs more, and a try costs milliseconds. */
const smallKeysMax = 1 << 17;
const seedsOfSmall = 4;

/**
 * The sizes and seeds to try, ascending. Segment length and the slots for each key are those of Graf and Lemire for four slots,
 * but the tries begin 7 % below, where some succeed: 100,000 keys take 1.10 slots each instead of 1.12.
 */
function* shapesOf(keys: number): Generator<Pick<FilterFacts, 'seed' | 'segmentLength' | 'segmentCount'>> {
  const logarithm = Math.log(Math.max(keys, 2));
  const segmentLength = Math.min(segmentLengthMax, 2 ** Math.max(0, Math.floor(logarithm / Math.log(2.91) - 0.5)));
  const slotsMin = keys * Math.max(1.05, 0.93 * (0.77 + (0.305 * Math.log(600_000)) / logarithm));
  const seedsOfSize = keys <= smallKeysMax ? seedsOfSmall : 1;
  const step = Math.max(1, Math.floor((keys * 0.005) / segmentLength));
  let segmentCount = Math.max(1, Math.ceil(slotsMin / segmentLength) - (filterArity - 1));
  for (let seed = 0; seed < triesMax; segmentCount += step)
    for (let left = seedsOfSize; left > 0; left--) yield { seed: seed++, segmentLength, segmentCount };
}

/**
 * Gives each key a slot that no key after it uses: takes a key that is alone in a slot, removes it from its others, and so on.
 * A slot keeps the number of its keys, which of a key's four slots it is, and the hashes as a sum or an exclusive or of all its
 * keys, which for one key is the value of that key.
 */
class Peeling {
  readonly #keys: Float64Array;
  /** Of each slot: four times the number of its keys, and in the two lowest bits which of a key's four slots it is. */
  #counts = new Uint8Array(0);
  #highs = new Int32Array(0);
  #lows = new Int32Array(0);
  #alone = new Uint32Array(0);
  /** The hashes of the keys in the order in which they were taken, and which of its four slots each key has. */
  readonly #takenHighs: Int32Array;
  readonly #takenLows: Int32Array;
  readonly #takenSlots: Uint8Array;

  constructor(keys: Float64Array) {
    this.#keys = keys;
    this.#takenHighs = new Int32Array(keys.length);
    this.#takenLows = new Int32Array(keys.length);
    this.#takenSlots = new Uint8Array(keys.length);
  }

  /** True if each key has a slot. */
  run(facts: FilterFacts): boolean {
    const place = new FilterPlace(facts);
    const slots = slotsOf(facts);
    this.#makeRoom(slots);
    if (!this.#count(place)) return false;
    const counts = this.#counts;
    const alone = this.#alone;
    let waiting = 0;
    for (let slot = 0; slot < slots; slot++) if (counts[slot]! >> 2 === 1) alone[waiting++] = slot;
    let taken = 0;
    while (waiting > 0) {
      const slot = alone[--waiting]!;
      if (counts[slot]! >> 2 !== 1) continue; // its key was taken by another slot
      const which = counts[slot]! & 3;
      place.findHash(this.#highs[slot]!, this.#lows[slot]!);
      this.#takenHighs[taken] = place.high;
      this.#takenLows[taken] = place.low;
      this.#takenSlots[taken++] = which;
      for (let each = 0; each < filterArity; each++) {
        const other = place.slots[each]!;
        this.#toggle(place, other, each, -4);
        if (each !== which && counts[other]! >> 2 === 1) alone[waiting++] = other;
      }
    }
    return taken === this.#keys.length;
  }

  /** False if a slot has more keys than can be counted, which happens only where hashes are equal. */
  #count(place: FilterPlace): boolean {
    for (const key of this.#keys) {
      place.find(key);
      for (let each = 0; each < filterArity; each++) {
        const slot = place.slots[each]!;
        if (this.#counts[slot]! >= 252) return false;
        this.#toggle(place, slot, each, 4);
      }
    }
    return true;
  }

  #toggle({ high, low }: FilterPlace, slot: number, which: number, count: 4 | -4): void {
    this.#counts[slot] = (this.#counts[slot]! + count) ^ which;
    this.#highs[slot]! ^= high;
    this.#lows[slot]! ^= low;
  }

  /** The fingerprints after {@link run}: last key first, so that none changes the sum of a key that has its slot already. */
  assign(facts: FilterFacts): Uint8Array | Uint16Array {
    const place = new FilterPlace(facts);
    const fingerprints = facts.bits === 8 ? new Uint8Array(slotsOf(facts)) : new Uint16Array(slotsOf(facts));
    for (let at = this.#keys.length - 1; at >= 0; at--) {
      place.findHash(this.#takenHighs[at]!, this.#takenLows[at]!);
      const own = place.slots[this.#takenSlots[at]!]!;
      let value = place.high;
      for (const slot of place.slots) if (slot !== own) value ^= fingerprints[slot]!;
      fingerprints[own] = value;
    }
    return fingerprints;
  }

  #makeRoom(slots: number): void {
    if (this.#counts.length < slots) {
      const room = Math.ceil(slots * 1.05);
      this.#counts = new Uint8Array(room);
      this.#highs = new Int32Array(room);
      this.#lows = new Int32Array(room);
      this.#alone = new Uint32Array(room);
      return;
    }
    for (const each of [this.#counts, this.#highs, this.#lows]) each.fill(0);
  }
}
