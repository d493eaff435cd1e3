import { FilterPlace, NumberFilter, type FingerprintBits } from '../format/artefact/number-filter.ts';
import { buildFilter } from '../pipelines/caches/artefact/filter-building.ts';
import { Seeded } from '../runtime/seeded.ts';
import { isMain, runBench } from './program.ts';
import { median } from './side-by-side.ts';

/**
 * Claims: a filter takes at most 12 bits a number at a false-positive rate of 2^-8 and 24 at 2^-16, within 15 % of the information
 * bound (log2 of the rate) at 100,000 numbers and more, and a look-up no more processor time than in a Bloom filter of the same rate,
 * which takes a third more bits.
 *
 *   npm run build && node dist/bench/filter.js [numbers=1000,100000,1000000,3000000]
 */
const rounds = 5;
const probes: Readonly<Record<FingerprintBits, number>> = { 8: 2_000_000, 16: 20_000_000 };

/** A filter beside a Bloom filter of the same keys and rate. */
interface FilterComparison {
  readonly bitsOfNumber: number;
  /** Bits a number, of the least that any filter of the rate needs. */
  readonly ofBound: number;
  /** Bits and time of a look-up, of those of the Bloom filter. */
  readonly sizeOfBloom: number;
  readonly lookUpOfBloom: number;
  /** The share of other numbers that is found, of 2^-bits. */
  readonly foundOfRate: number;
  /** Nanoseconds of processor time, of numbers that are not listed and of listed ones. */
  readonly lookUpNs: readonly [number, number];
}

/** Measures a filter of so many random numbers of the North American plan. */
export function compareFilters(count: number, bits: FingerprintBits): FilterComparison {
  const keys = drawNumbers(count);
  const bytes = buildFilter(keys.slice(), { keyType: 'phone', bits });
  const [filter, bloom] = [new NumberFilter(bytes), new BloomFilter(keys, bits)];
  for (const key of keys) if (!filter.hasKey(key)) throw new Error(`${key} is not found`);
  const times = [filter, bloom].map(() => ({ others: [] as number[], own: [] as number[] }));
  for (let round = 0; round < rounds; round++)
    for (const [at, each] of [filter, bloom].entries()) {
      times[at]!.others.push(nanoseconds(each, otherNumber));
      times[at]!.own.push(nanoseconds(each, (place) => keys[(place * 7919) % count]!));
    }
  const [own, theirs] = times.map(({ others, own }) => [median(others), median(own)] as const);
  const bitsOfNumber = (8 * bytes.length) / count;
  return {
    bitsOfNumber,
    ofBound: bitsOfNumber / bits,
    sizeOfBloom: bytes.length / bloom.bytes,
    lookUpOfBloom: (own![0] + own![1]) / (theirs![0] + theirs![1]),
    foundOfRate: (countFound(filter, probes[bits]) / probes[bits]) * 2 ** bits,
    lookUpNs: own!,
  };
}

function drawNumbers(count: number): Float64Array<ArrayBuffer> {
  const random = new Seeded(1);
  const drawn = new Set<number>();
  while (drawn.size < count) drawn.add(12_010_000_000 + Math.floor(random.next() * 7_989_999_999));
  return Float64Array.from(drawn);
}

/** Numbers outside of the plan, so none of them is a key. */
const otherNumber = (at: number) => 440_000_000_000 + 7 * at;

/**
 * A Bloom filter (1970) of a rate of 2 to the power of -bits: bits / ln 2 bits a key, as many hashes as bits, of the same hash
 * (Kirsch and Mitzenmacher, 2006).
 */
class BloomFilter {
  readonly #words: Uint32Array;
  readonly #size: number;
  readonly #hashes: number;
  readonly #place = new FilterPlace({ seed: 0, segmentLength: 1, segmentCount: 1 });

  constructor(keys: Float64Array, bits: FingerprintBits) {
    this.#hashes = bits;
    this.#size = Math.ceil((keys.length * bits) / Math.LN2);
    this.#words = new Uint32Array(Math.ceil(this.#size / 32));
    for (const key of keys)
      for (let at = 0; at < bits; at++) {
        const bit = this.#bitOf(key, at);
        this.#words[bit >>> 5]! |= 1 << (bit & 31);
      }
  }

  get bytes(): number {
    return this.#words.byteLength;
  }

  hasKey(key: number): boolean {
    for (let at = 0; at < this.#hashes; at++) {
      const bit = this.#bitOf(key, at);
      if (((this.#words[bit >>> 5]! >>> (bit & 31)) & 1) === 0) return false;
    }
    return true;
  }

  #bitOf(key: number, at: number): number {
    if (at === 0) this.#place.find(key);
    const { high, low } = this.#place;
    return Math.floor((((high + Math.imul(at, low | 1)) >>> 0) * this.#size) / 2 ** 32);
  }
}

const lookUps = 1_000_000;

/** Of processor time a look-up, so that other work on the machine does not decide. */
function nanoseconds(filter: { hasKey(key: number): boolean }, keyAt: (at: number) => number): number {
  const start = process.cpuUsage();
  for (let at = 0; at < lookUps; at++) filter.hasKey(keyAt(at));
  return (process.cpuUsage(start).user * 1000) / lookUps;
}

function countFound(filter: NumberFilter, of: number): number {
  let found = 0;
  for (let at = 0; at < of; at++) if (filter.hasKey(otherNumber(at))) found++;
  return found;
}

/** What building a filter takes. */
interface FilterBuild {
  readonly cpuMs: number;
  readonly bytesOfNumber: number;
}

/** In a process of its own, without a set of keys, which would take more memory than the build. */
function measureBuild(count: number, bits: FingerprintBits): FilterBuild {
  const keys = new Float64Array(count);
  for (let at = 0; at < count; at++) keys[at] = 12_010_000_000 + ((at * 2_654_435_761) % 7_989_999_999);
  const [before, cpu] = [process.resourceUsage().maxRSS, process.cpuUsage()];
  buildFilter(keys, { keyType: 'phone', bits });
  const { user, system } = process.cpuUsage(cpu);
  const memory = (process.resourceUsage().maxRSS - before) * 1024 + keys.byteLength;
  return { cpuMs: (user + system) / 1000, bytesOfNumber: memory / count };
}

async function main(counts: readonly number[]): Promise<void> {
  for (const count of counts)
    for (const bits of [8, 16] as const) {
      const { bitsOfNumber, ofBound, sizeOfBloom, lookUpOfBloom, foundOfRate, lookUpNs } = compareFilters(count, bits);
      const { cpuMs, bytesOfNumber } = await runBench<FilterBuild>('filter', ['build', count, bits]);
      console.log(
        `${count} numbers, ${bits} bits: ${bitsOfNumber.toFixed(2)} bits a number, x${ofBound.toFixed(3)} of the bound, x${sizeOfBloom.toFixed(2)} of Bloom; ` +
          `found of others x${foundOfRate.toFixed(2)} of the rate; built in ${Math.round(cpuMs)} ms of CPU with ${Math.round(bytesOfNumber)} bytes a number; ` +
          `a look-up takes ${lookUpNs.map(Math.round).join(' / ')} ns (not listed / listed), x${lookUpOfBloom.toFixed(2)} of Bloom`,
      );
    }
}

if (isMain(import.meta.url)) {
  const [counts = '1000,100000,1000000,3000000', ...build] = process.argv.slice(2);
  if (counts === 'build')
    console.log(JSON.stringify(measureBuild(Number(build[0]), Number(build[1]) as FingerprintBits)));
  else await main(counts.split(',').map(Number));
}
