// How often the gates of nights hold the labels of an ordinary night, and which faults they see: the labels of complaints/2 for each
// night of a history, against those of the night before, with each night also replaced by a faulty one. Prints a table.
//   node dist/bench/night-gates.js HISTORY.tsv.gz [first night, 2020-05-18]
// Limits are settings of the environment.
// HISTORY has a header and the columns day, phone, area code of the complainant. It has no subjects: all labels are SPAM, so that
// a change of level is one by a fault.
import { labelRules } from '../evaluation/labels/label-rules.ts';
import { dateOfDay, readReportHistory } from '../evaluation/labels/report-history.ts';
import {
  judgeBuild,
  NIGHT_GATES,
  type ComparedRows,
  type LabelMoves,
  type NightBreach,
} from '../pipelines/caches/night/night-gates.ts';
import { scoringDefaults } from '../pipelines/labels/scoring.ts';
import { loadConfig } from '../runtime/config.ts';

type Gate = NightBreach['gate'];
type Labels = ReadonlyMap<number, 'SPAM' | 'FRAUD'>;

const [path = '', from = '2020-05-18'] = process.argv.slice(2);
const limits = loadConfig();
const holdDaysMax = scoringDefaults.labelHoldDaysMax;
const nights = await labelsOfNights();

/** The numbers that are labelled at the start of each day of the history. */
async function labelsOfNights(): Promise<{ readonly date: string; readonly labels: Labels }[]> {
  const history = await readReportHistory([path]);
  const [rule] = labelRules(history, { holdDaysMax });
  const labelled = Array.from({ length: history.reportsOfDay.length + 1 }, () => new Map<number, 'SPAM' | 'FRAUD'>());
  const marks = new Uint8Array(labelled.length);
  for (const [at, phone] of history.phones.entries()) {
    const number = {
      phone,
      days: history.days,
      states: history.states,
      from: history.firstReport[at]!,
      end: history.firstReport[at + 1]!,
    };
    if (!rule!.mark(number, marks)) continue;
    for (const [day, mark] of marks.entries()) if (mark === 1) labelled[day]!.set(phone, 'SPAM');
    marks.fill(0);
  }
  return labelled.map((labels, day) => ({ date: dateOfDay(history, day), labels })).filter(({ date }) => date >= from);
}

function compare(labels: Labels, published: Labels): readonly NightBreach[] {
  const numbers = [...labels.entries()];
  const moves: LabelMoves = {
    rises: numbers.filter(([phone]) => !published.has(phone)).length,
    falls: [...published.keys()].filter((phone) => !labels.has(phone)).length,
    flips: numbers.filter(([phone, level]) => published.has(phone) && published.get(phone) !== level).length,
  };
  return judgeBuild({ ...rowsOf(labels), moves, rowsLeft: 0 }, rowsOf(published), limits);
}

/** The file of labelled numbers (spammer_phones): as many rows as labels. */
function rowsOf(labels: Labels): ComparedRows {
  const fraud = [...labels.values()].filter((level) => level === 'FRAUD').length;
  return { rows: labels.size, levels: { SPAM: labels.size - fraud, FRAUD: fraud } };
}

const invented = (count: number): [number, 'SPAM'][] =>
  Array.from({ length: count }, (_, at) => [19_092_000_000 + at, 'SPAM']);
const kept = (labels: Labels, share: number): Labels => new Map([...labels].filter((_entry, at) => at % 100 < share));
const fraudFor = (labels: Labels, share: number): Labels =>
  new Map([...labels].map(([phone], at) => [phone, at % 100 < share ? 'FRAUD' : 'SPAM']));

/** Faults by name: what the labels of a night become. */
const faults: Readonly<Record<string, (labels: Labels) => Labels>> = {
  'no label left': () => new Map(),
  'half of the labels gone': (labels) => kept(labels, 50),
  'a quarter of the labels gone': (labels) => kept(labels, 75),
  'as many labels of other numbers added': (labels) => new Map([...labels, ...invented(labels.size)]),
  'all labels moved to other numbers': (labels) => new Map(invented(labels.size)),
  '5,000 poisoned numbers added': (labels) => new Map([...labels, ...invented(5000)]),
  '2,000 poisoned numbers added': (labels) => new Map([...labels, ...invented(2000)]),
  '1,000 poisoned numbers added': (labels) => new Map([...labels, ...invented(1000)]),
  'a quarter of the labels FRAUD': (labels) => fraudFor(labels, 25),
  'all labels FRAUD': (labels) => fraudFor(labels, 100),
};

interface Tried {
  held: number;
  readonly gates: Map<Gate, number>;
}

const ordinary = new Map<Gate, string[]>();
const caught = new Map(Object.keys(faults).map((name): [string, Tried] => [name, { held: 0, gates: new Map() }]));
const most = { rises: 0, falls: 0 };
for (const [at, { date, labels }] of nights.entries()) {
  if (at === 0) continue;
  const published = nights[at - 1]!.labels;
  for (const { gate, figure } of compare(labels, published))
    ordinary.set(gate, [...(ordinary.get(gate) ?? []), `${date} (${figure} %)`]);
  const rises = [...labels.keys()].filter((phone) => !published.has(phone)).length;
  most.rises = Math.max(most.rises, rises / published.size);
  most.falls = Math.max(most.falls, (published.size - labels.size + rises) / published.size);
  for (const [name, make] of Object.entries(faults)) {
    const breaches = compare(make(labels), published);
    const tried = caught.get(name)!;
    if (breaches.length > 0) tried.held++;
    for (const { gate } of breaches) tried.gates.set(gate, (tried.gates.get(gate) ?? 0) + 1);
  }
}

const sizes = nights.map(({ labels }) => labels.size);
console.log(
  `${nights.length - 1} nights, ${Math.min(...sizes)} to ${Math.max(...sizes)} labels. At most ${percent(most.rises)} rise and ${percent(most.falls)} fall in a night. Held as they are:`,
);
for (const gate of NIGHT_GATES)
  console.log(
    `  ${gate}: ${ordinary.get(gate)?.length ?? 0}${ordinary.has(gate) ? `: ${ordinary.get(gate)!.join(', ')}` : ''}`,
  );
for (const [name, { held, gates }] of caught)
  console.log(
    `${name}: ${held} of ${nights.length - 1} nights held; ${[...gates].map(([gate, count]) => `${gate} ${count}`).join(', ')}`,
  );

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
