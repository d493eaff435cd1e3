// How often the gates of loads hold a real day, and which faults they see: the loads of a history, one a day, with each day
// also replaced by a faulty one. Prints a table.
//   node dist/bench/load-gates.js HISTORY.tsv.gz
// HISTORY has a header and the columns day, phone, area code of the complainant, sorted by day. It has no states and no times:
// the area code serves as the state, and rows of one number and area code on one day count as alike.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import {
  judgeLoad,
  loadGateLimits,
  loadsCompared,
  type FeedMeasures,
  type LoadGate,
} from '../pipelines/feeds/load-gates.ts';
import { isPhoneRefusal, judgePhone } from '../pipelines/phone/phone-number.ts';

interface Report {
  readonly phone: string;
  readonly state: string;
}

interface Day {
  readonly day: string;
  readonly given: number;
  readonly accepted: readonly Report[];
}

async function* readDays(path: string): AsyncGenerator<Day> {
  let day = '';
  let given = 0;
  let accepted: Report[] = [];
  for await (const line of createInterface({ input: createReadStream(path).pipe(createGunzip()) })) {
    const [date = '', phoneText = '', state = ''] = line.split('\t');
    if (date === 'day') continue;
    if (date !== day && day !== '') yield { day, given, accepted };
    if (date !== day) [day, given, accepted] = [date, 0, []];
    const judged = judgePhone(phoneText, 'US');
    given++;
    if (!isPhoneRefusal(judged)) accepted.push({ phone: judged.phone, state });
  }
  if (day !== '') yield { day, given, accepted };
}

function measure(
  { given, accepted }: Pick<Day, 'given' | 'accepted'>,
  known: ReadonlySet<string>,
  stored: ReadonlySet<string>,
): FeedMeasures {
  const count = (keys: readonly string[]) =>
    keys.reduce((counts, key) => counts.set(key, (counts.get(key) ?? 0) + 1), new Map<string, number>());
  const numbers = count(accepted.map(({ phone }) => phone));
  const states = count(accepted.map(({ state }) => state));
  const alike = count(accepted.map(({ phone, state }) => `${phone} ${state}`));
  return {
    given,
    accepted: accepted.length,
    numbers: numbers.size,
    newNumbers: [...numbers.keys()].filter((phone) => !known.has(phone)).length,
    duplicates: accepted.length - alike.size,
    knownRows: accepted.filter(({ phone, state }) => stored.has(`${phone} ${state}`)).length,
    topNumberRows: Math.max(0, ...numbers.values()),
    topStateRows: Math.max(0, ...states.values()),
    oldRows: 0,
    levels: null,
  };
}

/** Faults by name: what the file of a day becomes. */
const faults: Readonly<
  Record<string, (day: Day, before: Day | undefined) => Pick<Day, 'given' | 'accepted'> | undefined>
> = {
  'cut off after 5 %': ({ given, accepted }) => ({
    given: Math.round(given / 20),
    accepted: accepted.slice(0, accepted.length / 20),
  }),
  'cut off at the half': ({ given, accepted }) => ({
    given: Math.round(given / 2),
    accepted: accepted.slice(0, accepted.length / 2),
  }),
  'everything twice': ({ given, accepted }) => ({ given: given * 2, accepted: [...accepted, ...accepted] }),
  'all about one number': ({ given, accepted }) => ({
    given,
    accepted: accepted.map(({ state }) => ({ phone: '+12025550143', state })),
  }),
  "yesterday's file again": (_day, before) => before,
  '5,000 new numbers of one state added': ({ given, accepted }) => ({
    given: given + 5000,
    accepted: [...accepted, ...invented(5000)],
  }),
  '1,000 new numbers of one state added': ({ given, accepted }) => ({
    given: given + 1000,
    accepted: [...accepted, ...invented(1000)],
  }),
  'every fifth row refused': ({ given, accepted }) => ({ given, accepted: accepted.filter((_row, at) => at % 5 > 0) }),
};

function invented(count: number): Report[] {
  return Array.from({ length: count }, (_, at) => ({ phone: `+1909${String(2_000_000 + at)}`, state: '909' }));
}

const held = new Map<LoadGate, string[]>();
const seen = new Map<string, { days: number; held: number; gates: Map<LoadGate, number> }>();
const known = new Set<string>();
const usual: FeedMeasures[] = [];
let days = 0;
let before: Day | undefined;
let stored = new Set<string>();

for await (const day of readDays(process.argv[2]!)) {
  const compared = usual.slice(-loadsCompared).reverse();
  const measures = measure(day, known, new Set());
  const breaches = judgeLoad(measures, compared);
  if (compared.length >= loadGateLimits.loadsMin) {
    days++;
    for (const { gate, figure } of breaches) held.set(gate, [...(held.get(gate) ?? []), `${day.day} (${figure} %)`]);
    if (breaches.length === 0)
      for (const [name, make] of Object.entries(faults)) tryFault(name, make(day, before), compared);
  }
  if (breaches.length === 0) usual.push(measures); // a held load is not compared with
  for (const { phone } of day.accepted) known.add(phone);
  stored = new Set(day.accepted.map(({ phone, state }) => `${phone} ${state}`));
  before = day;
}

function tryFault(
  name: string,
  faulty: Pick<Day, 'given' | 'accepted'> | undefined,
  compared: readonly FeedMeasures[],
): void {
  if (faulty === undefined) return;
  const breaches = judgeLoad(measure(faulty, known, faulty === before ? stored : new Set()), compared);
  const entry = seen.get(name) ?? { days: 0, held: 0, gates: new Map<LoadGate, number>() };
  entry.days++;
  if (breaches.length > 0) entry.held++;
  for (const gate of new Set(breaches.map((breach) => breach.gate)))
    entry.gates.set(gate, (entry.gates.get(gate) ?? 0) + 1);
  seen.set(name, entry);
}

console.log(`${days} days judged. Held as they are:`);
for (const [gate, which] of held) console.log(`  ${gate}: ${which.length}: ${which.join(', ')}`);
for (const [name, { days: tried, held: caught, gates }] of seen) {
  console.log(
    `${name}: ${caught} of ${tried} days held; ${[...gates].map(([gate, count]) => `${gate} ${count}`).join(', ')}`,
  );
}
