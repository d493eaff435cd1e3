/**
 * Claims: what the encoder of rows makes of names and texts of many kinds, in segments of 8,000 rows, against zlib; and at
 * what rate. Where names repeat it is smaller than gzip -6 and some times as fast as zlib level 5; where every name is made of
 * random syllables or words it is not smaller.
 *
 *   npm run build && node dist/bench/row-deflate.js [rows=60000] [rounds=5]
 *
 * One process, no database. Rates are CPU time of this thread; contenders take turns, and the best round of each counts.
 */
import { constants, deflateRawSync, gzipSync } from 'node:zlib';
import { buildProfiles, deflateRows } from '../pipelines/caches/format/row-deflate.ts';
import { families, inventCompanies } from './company-names.ts';
import { Seeded } from '../runtime/seeded.ts';

const rows = Number(process.argv[2] ?? 60_000);
const rounds = Number(process.argv[3] ?? 5);
const segmentRows = 8000;

const random = new Seeded(5);
const times = <Item>(count: number, make: () => Item) => Array.from({ length: count }, make);

const givenNames =
  'James Mary Robert Patricia John Jennifer Michael Linda David Elizabeth William Barbara Richard Susan Joseph Jessica Thomas Sarah Charles Karen'.split(
    ' ',
  );
const syllables =
  'ba be bi bo bu ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se si so ta te ti to va vo za zo der son man ton ley ing berg'.split(
    ' ',
  );
const trades = [
  'Dental',
  'Plumbing',
  'Bank',
  'Pharmacy',
  'Roofing',
  'Insurance',
  'Clinic',
  'Motors',
  'Law Group',
  'Realty',
  'Auto Repair',
  'Pizza',
  'School District',
  'Services LLC',
  'Heating & Air',
];
const words =
  'customer service open monday to friday call back about your account appointment reminder delivery order claim number policy billing support team we never ask for password please hold'.split(
    ' ',
  );
const ideographs = [
  ...'中国移动银行保险快递外卖客服中心医院诊所学校房产汽车维修餐厅公司集团北京上海广州深圳杭州成都武汉南京',
];
const surname = () =>
  times(2 + random.below(3), () => random.pick(syllables))
    .join('')
    .replace(/^./, (letter) => letter.toUpperCase());
const chains = times(400, () => `${surname()} ${random.pick(trades)}`);

/** The display fields of a row that has some. */
const shapes: Record<string, () => string> = {
  'given names and surnames': () => `${random.pick(givenNames)} ${surname()}\t\t\t`,
  'invented names with a trade': () => `${surname()} ${random.pick(trades)}\t\t\t`,
  '400 names that repeat': () => `${random.pick(chains)}\t\t\t`,
  'names in capitals': () => `${`${surname()} ${random.pick(givenNames)}`.toUpperCase()}\t\t\t`,
  'Chinese characters at random': () => `${times(3 + random.below(7), () => random.pick(ideographs)).join('')}\t\t\t`,
  'long texts of random words': () =>
    `${surname()} ${random.pick(trades)}\t${times(6 + random.below(35), () => random.pick(words)).join(' ')}\thttps://example.com/${surname()}/${random.below(100_000)}\t`,
};

const companies = inventCompanies(20_000, 7).map(({ displayName }) => displayName);
const manyGivenNames =
  'Aaron Abigail Adam Adrian Alan Albert Alexander Alexis Alice Amanda Amber Amy Andrea Andrew Angela Anna Anthony Arthur Ashley Austin Barbara Benjamin Betty Beverly Billy Brandon Brenda Brian Brittany Bruce Bryan Carl Carol Carolyn Catherine Charles Charlotte Cheryl Christian Christina Christine Christopher Cynthia Daniel Danielle David Deborah Debra Denise Dennis Diana Diane Donald Donna Dorothy Douglas Dylan Edward Elijah Elizabeth Emily Emma Eric Ethan Eugene Evelyn Frances Frank Gabriel Gary George Gerald Gloria Grace Gregory Hannah Harold Heather Helen Henry Isabella Jack Jacob Jacqueline James Janet Janice Jason Jean Jeffrey Jennifer Jeremy Jerry Jesse Jessica Joan Joe John Johnny Jonathan Jordan Jose Joseph Joshua Joyce Juan Judith Judy Julia Julie Justin Karen Katherine Kathleen Kathryn Keith Kelly Kenneth Kevin Kimberly Kyle Larry Laura Lauren Lawrence Linda Lisa Logan Lori Louis Madison Margaret Maria Marie Marilyn Mark Martha Mary Mason Matthew Megan Melissa Michael Michelle Mildred Nancy Natalie Nathan Nicholas Nicole Noah Olivia Pamela Patricia Patrick Paul Peter Philip Rachel Ralph Randy Raymond Rebecca Richard Robert Roger Ronald Rose Roy Russell Ruth Ryan Samantha Samuel Sandra Sara Sarah Scott Sean Sharon Shirley Sophia Stephanie Stephen Steven Susan Tammy Teresa Terry Theresa Thomas Timothy Tyler Victoria Vincent Virginia Walter Wayne William Willie Zachary'.split(
    ' ',
  );
/** As in a real directory: persons of many surnames, companies, some branded with a description, and numbers without a name. */
shapes['a directory as in life'] = () => {
  const kind = random.next();
  if (kind < 0.3) return '\t\t\t';
  if (kind < 0.72)
    return `${random.pick(manyGivenNames)} ${random.chance(0.5) ? random.pick(families) : surname()}\t\t\t`;
  if (kind < 0.97) return `${random.pick(companies)}\t\t\t`;
  return `${random.pick(companies)}\t${times(5, () => random.pick(words)).join(' ')}\t\thttps://example.com/${random.below(1e6)}.png`;
};

for (const [shape, display] of Object.entries(shapes)) {
  const text = makeRows(display);
  const gzip = gzipSync(Buffer.concat(text), { level: 6 }).length;
  const results = await runInTurn(text);
  const figures = results.map(
    ({ name, bytes, rate }) => `${name} x${(bytes / gzip).toFixed(3)} ${Math.round(rate)} MB/s`,
  );
  console.log(`${shape}: ${(Buffer.concat(text).length / 1e6).toFixed(1)} MB, gzip -6 x1; ${figures.join('; ')}`);
}

/** Rows as they are in a profile cache, in segments. */
function makeRows(display: () => string): Buffer[] {
  let phone = 12_010_000_000;
  const row = () => {
    phone += 1 + random.below(8000);
    const reputation = random.pick(['NEUTRAL\t', 'NEUTRAL\t', 'NEUTRAL\t', 'SPAM\t6', 'FRAUD\t7']);
    return `+${phone}\t${reputation}\t${reputation.startsWith('N') || random.below(3) === 0 ? display() : '\t\t\t'}\n`;
  };
  return times(Math.ceil(rows / segmentRows), () => Buffer.from(times(segmentRows, row).join('')));
}

async function runInTurn(text: readonly Buffer[]): Promise<{ name: string; bytes: number; rate: number }[]> {
  const contenders = [
    ...buildProfiles.map((profile) => ({ name: profile, run: (segment: Buffer) => deflateRows(segment, profile) })),
    ...[3, 4, 5, 6].map((level) => ({
      name: `zlib ${level}`,
      run: async (segment: Buffer) =>
        deflateRawSync(segment, { level, memLevel: 9, finishFlush: constants.Z_FULL_FLUSH, chunkSize: 1024 * 1024 }),
    })),
  ];
  const results = contenders.map(({ name }) => ({ name, bytes: 0, rate: 0 }));
  for (let round = 0; round < rounds; round++) {
    for (const [at, { run }] of contenders.entries()) {
      const start = process.cpuUsage();
      let bytes = 0;
      for (const segment of text) bytes += (await run(segment)).length;
      const { user, system } = process.cpuUsage(start);
      const result = results[at]!;
      result.bytes = bytes;
      result.rate = Math.max(result.rate, text.reduce((sum, { length }) => sum + length, 0) / (user + system));
    }
  }
  return results;
}
