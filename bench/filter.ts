/**
 * Claim: a filter takes at most 12 bits a number at a false-positive rate of 2^-8 and 24 at 2^-16, within 15 % of the information
 * bound (log2 of the rate) at 100,000 numbers and more, and a look-up less than a microsecond; a Bloom filter of the same rate
 * takes a third more. With a history of reports: the rate on numbers that were reported later, and how many numbers share a
 * range look-up.
 *
 *   npm run build && node dist/bench/filter.js [numbers=1000,100000,1000000,3000000] [reports.tsv.gz] [day=2020-10-01]
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FilterPlace, NumberFilter, type FingerprintBits } from '../format/artefact/number-filter.ts';
import { paddedRange } from '../format/artefact/padded-range.ts';
import { findRows } from '../format/artefact/row-block.ts';
import { SegmentCutter } from '../format/artefact/segment-cutter.ts';
import { labelRules, type WalkedNumber } from '../evaluation/labels/label-rules.ts';
import { dateOfDay, readReportHistory, type ReportHistory } from '../evaluation/labels/report-history.ts';
import { buildFilter } from '../format/artefact/filter-building.ts';
import { compressSegment } from '../pipelines/caches/format/segment-work.ts';
import { scoringDefaults } from '../pipelines/labels/scoring.ts';
import { loadConfig } from '../runtime/config.ts';
import { packageRoot } from '../runtime/package-root.ts';
import { Seeded } from '../runtime/seeded.ts';
import { median } from './side-by-side.ts';

const [, program, ...args] = process.argv;
const rounds = 5;
const lookUps = 1_000_000;
const probes: Readonly<Record<FingerprintBits, number>> = { 8: 2_000_000, 16: 20_000_000 };
const padTo = 256 * 1024;

async function main(): Promise<void> {
  console.log(
    'numbers     bits  bits a number  of bound  found of others  build      memory   look-up, not listed / listed (processor time)',
  );
  const [counts = '1000,100000,1000000,3000000', reports, day = '2020-10-01'] = args;
  for (const count of counts.split(',').map(Number).filter(Boolean))
    for (const bits of [8, 16] as const) await measure(count, bits);
  if (reports !== undefined) await measureHistory(reports, day);
}

/** Different numbers of the North American plan. */
function numbers(count: number): Float64Array<ArrayBuffer> {
  const random = new Seeded(1);
  const drawn = new Set<number>();
  while (drawn.size < count) drawn.add(12_010_000_000 + Math.floor(random.next() * 7_989_999_999));
  return Float64Array.from(drawn);
}

/** Numbers outside of the plan, so none of them is a key. */
const elsewhere = (at: number) => 440_000_000_000 + 7 * at;

/** In a process of its own: time and memory of one build. */
function printBuild(count: number, bits: FingerprintBits): void {
  const keys = new Float64Array(count); // without a set, which would take more memory than the build
  for (let at = 0; at < count; at++) keys[at] = 12_010_000_000 + ((at * 2_654_435_761) % 7_989_999_999);
  const [before, cpu] = [process.resourceUsage().maxRSS, process.cpuUsage()];
  buildFilter(keys, { keyType: 'phone', bits });
  const { user, system } = process.cpuUsage(cpu);
  const memory = (process.resourceUsage().maxRSS - before) * 1024 + keys.byteLength;
  console.log(JSON.stringify({ cpuMs: (user + system) / 1000, memory }));
}

function buildInChild(count: number, bits: FingerprintBits): { cpuMs: number; memory: number } {
  const { stdout } = spawnSync(process.execPath, [program!, 'build', String(count), String(bits)]);
  return JSON.parse(stdout.toString()) as { cpuMs: number; memory: number };
}

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

async function measure(count: number, bits: FingerprintBits): Promise<void> {
  const keys = numbers(count);
  const bytes = buildFilter(keys.slice(), { keyType: 'phone', bits });
  const filters = { fuse: new NumberFilter(bytes), bloom: new BloomFilter(keys, bits) };
  for (const key of keys) if (!filters.fuse.hasKey(key)) throw new Error(`${key} is not found`);
  const builds = Array.from({ length: count < 1_000_000 ? 3 : 1 }, () => buildInChild(count, bits));
  const times: Record<'fuse' | 'bloom', { others: number[]; own: number[] }> = {
    fuse: { others: [], own: [] },
    bloom: { others: [], own: [] },
  };
  for (let round = 0; round < rounds; round++)
    for (const name of ['fuse', 'bloom'] as const) {
      times[name].others.push(nanoseconds(filters[name], elsewhere));
      times[name].own.push(nanoseconds(filters[name], (at) => keys[(at * 7919) % count]!));
    }
  for (const name of ['fuse', 'bloom'] as const) {
    const size = 8 * (name === 'fuse' ? bytes.length : filters.bloom.bytes);
    const found = countFound(filters[name], probes[bits]);
    console.log(
      [
        count.toLocaleString('en').padEnd(10),
        `${bits}`.padStart(5),
        (size / count).toFixed(2).padStart(9),
        (size / count / bits).toFixed(3).padStart(13),
        `1 in ${found === 0 ? '-' : (probes[bits] / found).toFixed(0)}`.padStart(13),
        name === 'bloom'
          ? '  (Bloom)'.padEnd(22)
          : `  ${median(builds.map(({ cpuMs }) => cpuMs)).toFixed(0)} ms`.padEnd(13) +
            `${(median(builds.map(({ memory }) => memory)) / 2 ** 20).toFixed(0)} MiB`,
        `  ${median(times[name].others).toFixed(0)} / ${median(times[name].own).toFixed(0)} ns`,
      ].join(' '),
    );
  }
  await measurePython(bytes);
}

/** Of processor time a look-up, so that other work on the machine does not decide. */
function nanoseconds(filter: { hasKey(key: number): boolean }, keyAt: (at: number) => number): number {
  const start = process.cpuUsage();
  for (let at = 0; at < lookUps; at++) filter.hasKey(keyAt(at));
  return (process.cpuUsage(start).user * 1000) / lookUps;
}

function countFound(filter: { hasKey(key: number): boolean }, of: number): number {
  let found = 0;
  for (let at = 0; at < of; at++) if (filter.hasKey(elsewhere(at))) found++;
  return found;
}

const pythonProgram = `
import sys, time
sys.path.insert(0, sys.argv[1])
from caller_trust import NumberFilter
held = NumberFilter(open(sys.argv[2], "rb").read())
phones = [f"+{440000000000 + 7 * at}" for at in range(100000)]
times = []
for _ in range(5):
    start = time.process_time()
    for phone in phones: phone in held
    times.append((time.process_time() - start) * 1e9 / len(phones))
print(round(sorted(times)[2]))
`;

async function measurePython(bytes: Uint8Array): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'caller-trust-bench-'));
  await writeFile(join(directory, 'filter'), bytes);
  const client = join(packageRoot, 'clients/python');
  const { stdout } = spawnSync('python3', ['-c', pythonProgram, client, join(directory, 'filter')]);
  await rm(directory, { recursive: true });
  console.log(`${' '.repeat(17)}in Python ${stdout.toString().trim()} ns`);
}

/** The numbers that the service's rule labels at the start of a day, asked about the numbers that are reported from that day on. */
async function measureHistory(path: string, date: string): Promise<void> {
  const history = await readReportHistory([path]);
  const day = history.reportsOfDay.findIndex((_, at) => dateOfDay(history, at) === date);
  const labelled = labelledAt(history, day);
  const isLabelled = new Set(labelled);
  console.log(`\n${labelled.length} numbers are labelled at the start of ${date}`);
  for (const bits of [8, 16] as const) {
    const bytes = buildFilter(labelled.slice(), { keyType: 'phone', bits });
    const filter = new NumberFilter(bytes);
    const missed = labelled.filter((key) => !filter.hasKey(key)).length;
    let [others, found, reports, reportsOfLabelled] = [0, 0, 0, 0];
    for (let at = 0; at < history.phones.length; at++) {
      let later = 0;
      for (let report = history.firstReport[at]!; report < history.firstReport[at + 1]!; report++)
        if (history.days[report]! >= day) later++;
      if (later === 0) continue;
      reports += later;
      if (isLabelled.has(history.phones[at]!)) reportsOfLabelled += later;
      else {
        others++;
        if (filter.hasKey(history.phones[at]!)) found++;
      }
    }
    const size = (8 * bytes.length) / labelled.length;
    console.log(
      `${bits} bits: ${bytes.length} bytes, ${size.toFixed(2)} bits a number (${(size / bits).toFixed(3)} of the bound), ${missed} labelled numbers missed; ` +
        `${found} of ${others} other numbers reported later found (1 in ${found === 0 ? '-' : (others / found).toFixed(0)}); ` +
        `${reportsOfLabelled} of ${reports} later reports are of labelled numbers`,
    );
  }
  await countSharing('the labelled numbers', labelled);
  await countSharing('all reported numbers', history.phones.slice());
}

function labelledAt(history: ReportHistory, day: number): Float64Array<ArrayBuffer> {
  const { labelHoldDaysMax: holdDaysMax } = scoringDefaults;
  const [rule] = labelRules(history, { holdDaysMax });
  const number: WalkedNumber = { phone: 0, days: history.days, states: history.states, from: 0, end: 0 };
  const marks = new Uint8Array(history.reportsOfDay.length + 1);
  const labelled: number[] = [];
  for (let at = 0; at < history.phones.length; at++) {
    Object.assign(number, {
      phone: history.phones[at],
      from: history.firstReport[at],
      end: history.firstReport[at + 1],
    });
    if (!rule!.mark(number, marks)) continue;
    if (marks[day] === 1) labelled.push(history.phones[at]!);
    marks.fill(0);
  }
  return Float64Array.from(labelled);
}

/** How many numbers share a range look-up of a file of these numbers, exact and padded. */
async function countSharing(what: string, phones: Float64Array): Promise<void> {
  const { segmentRowsMax } = loadConfig({});
  const ascending = Array.from(phones, (phone) => `+${phone}`).sort();
  const cutter = new SegmentCutter({ regions: ['+'], rowsMax: segmentRowsMax, hasLevels: true });
  const plain = Buffer.from(ascending.map((phone) => `${phone}\tSPAM\t1\n`).join(''));
  const segments: { prefix: string; rows: number; offset: number; bytes: number; covers: number }[] = [];
  let offset = 10;
  let row = 0;
  for (const cut of [...cutter.push(findRows(plain)), ...cutter.end()]) {
    const { deflated } = await compressSegment({ cut, before: null, profile: 'compact' });
    const covers = 10 ** (ascending[row]!.length - cut.prefix.length);
    segments.push({ prefix: cut.prefix, rows: cut.rows, offset, bytes: deflated.length, covers });
    offset += deflated.length;
    row += cut.rows;
  }
  const windows = new Map<number, { rows: number; covers: number }>();
  let length = 0;
  for (const segment of segments) {
    const { start, end } = paddedRange(segment, { segments, fileBytes: offset + 10, padTo });
    const { rows, covers } = windows.get(start) ?? { rows: 0, covers: 0 };
    windows.set(start, { rows: rows + segment.rows, covers: covers + segment.covers });
    length = end - start;
  }
  const ofEach = (shares: readonly { rows: number; covers: number }[]) =>
    `${shares.length} different: listed numbers least ${least(shares.map(({ rows }) => rows))}, median ${median(shares.map(({ rows }) => rows))}; ` +
    `numbers under its prefixes least ${least(shares.map(({ covers }) => covers))}, median ${median(shares.map(({ covers }) => covers))}`;
  console.log(`\na file of ${what}: ${phones.length} rows, ${offset + 10} bytes`);
  console.log(
    `range look-ups, ${ofEach(segments)}; ${new Set(segments.map(({ bytes }) => bytes)).size} different lengths`,
  );
  console.log(`padded to ${padTo} (${length} bytes each), ${ofEach([...windows.values()])}`);
}

const least = (values: readonly number[]) => Math.min(...values);

if (args[0] === 'build') printBuild(Number(args[1]), Number(args[2]) as FingerprintBits);
else await main();
