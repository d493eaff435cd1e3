import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { isPhoneRefusal, judgePhone } from '../../pipelines/phone/phone-number.ts';
import { formatCsvField } from '../../pipelines/rows/csv-field.ts';
import { Seeded } from '../../runtime/seeded.ts';

/** The parameters of the samples; the same options give the same bytes. */
interface SampleOptions {
  /** Complaints lie in the 40 days before this instant. */
  readonly asOf: Date;
  readonly seed: number;
  /** 1: 2,000 reputation rows, 1,000 directory rows, 3,000 complaints. */
  readonly scale: number;
}

/** Paths of the written files. */
interface SampleFeeds {
  /** Gzip. */
  readonly reputation: string;
  /** With byte order mark and CRLF. */
  readonly directory: string;
  /** In the format of the FTC. */
  readonly complaints: string;
}

/** Writes sample feeds of valid numbers of several countries, with a few per cent of rows to be refused. */
export async function writeSampleFeeds(directory: string, options: SampleOptions): Promise<SampleFeeds> {
  const sample = new Sample(options);
  const paths = {
    reputation: join(directory, 'sample-reputation.csv.gz'),
    directory: join(directory, 'sample-directory.csv'),
    complaints: join(directory, 'sample-complaints.csv'),
  };
  await mkdir(directory, { recursive: true });
  await writeFile(paths.reputation, gzipSync(sample.reputation()));
  await writeFile(paths.directory, `\uFEFF${sample.directory().replaceAll('\n', '\r\n')}`);
  await writeFile(paths.complaints, sample.complaints());
  return paths;
}

/** First digits and total digits after the plus, of ranges in which many numbers are valid. */
const ranges: readonly (readonly [start: string, digits: number, share: number])[] = [
  ['1212', 11, 10],
  ['1415', 11, 8],
  ['1305', 11, 8],
  ['1713', 11, 8],
  ['1800', 11, 4], // US
  ['1416', 11, 4],
  ['1604', 11, 3], // CA
  ['1876', 11, 3],
  ['1268', 11, 2],
  ['1809', 11, 2], // JM, AG, DO
  ['4474', 12, 5],
  ['4420', 12, 4], // GB
  ['4915', 13, 5],
  ['4930', 12, 3], // DE
  ['336', 11, 4],
  ['331', 11, 3], // FR
  ['346', 11, 3],
  ['5511', 13, 3],
  ['9198', 12, 3],
  ['614', 11, 2],
  ['8190', 12, 2], // ES, BR, IN, AU, JP
  ['800', 11, 1], // no country
];
const northAmerican = ranges.filter(([start]) => start.startsWith('1'));

const words = [
  'SPAM,6',
  'SPAM,6',
  'SPAM,10',
  'SPAM,10',
  'SPAM,1',
  'SPAM,debt_collector',
  'spam,',
  'FRAUD,scam',
  'FRAUD,15',
  'FRAUD,12',
  'Fraud,9',
  'NEUTRAL,',
];
const badWords = ['SPAM,99', 'SPAM,scam', 'LOUD,', ',6', 'NEUTRAL,1'];
const badPhones = ['', '+1999', 'unknown', '2125550143', '+99912345678', '\\.'];

const names = [
  'Northwind Dental',
  'Café Zoë',
  'Müller & Söhne GmbH',
  'Société Générale de Fleurs',
  'José’s Taquería',
  '株式会社さくら',
  '北京烤鸭店',
  '서울치과',
  'Ågård Bygg AS',
  'Smith, Jones & Partners',
  '"The" Garage',
  'Pizza 🍕 Express',
  'São João Farmácia',
  'Łódź Travel',
  'Ελληνική Ταβέρνα',
  'مطعم الشام',
  'O\'Brien "Bob" Plumbing, Inc.',
  'City of Springfield',
];
const descriptions = [
  'Restaurant',
  'Dentist, by appointment',
  'Plumbing and heating',
  'Apotheke',
  'Boulangerie',
  '',
  '',
];
const details = ['Open Mon-Fri 9-17', 'Call back within 24 hours', 'Ask for "Ann"', '', '', ''];

const states = [
  'California',
  'Texas',
  'Florida',
  'New York',
  'Ohio',
  'New Jersey',
  'Illinois',
  'Pennsylvania',
  'Georgia',
  'North Carolina',
  'Virginia',
  'Arizona',
];
const cities = ['Springfield', 'Riverside', '', 'Franklin', 'Greenville', '"Washington, DC"'];
const subjects = [
  'Warranties  & protection plans',
  'Calls pretending to be government, businesses, or family and friends',
  'Other',
  'Dropped call or no message',
  'No Subject Provided',
  'Medical  & prescriptions',
  'Reducing your debt (credit cards, mortgage, student loans)',
  'Energy, solar,  & utilities',
  'Computer  & technical support',
  'Vacation  & timeshares',
  'Lotteries, prizes  & sweepstakes',
];

const dayMs = 86_400_000;

class Sample {
  private readonly random: Seeded;
  private readonly asOf: number;
  private readonly scale: number;
  private readonly phones: string[] = [];

  constructor({ asOf, seed, scale }: SampleOptions) {
    this.random = new Seeded(seed);
    this.asOf = asOf.getTime();
    this.scale = scale;
  }

  reputation(): string {
    const rows = this.rows(2000, () => {
      const bad = this.random.chance(0.03);
      if (bad)
        return this.random.chance(0.5)
          ? `${this.random.pick(badPhones)},SPAM,6`
          : `${this.phone(ranges)},${this.random.pick(badWords)}`;
      return `${this.random.chance(0.02) && this.phones.length > 0 ? this.random.pick(this.phones) : this.keep(this.phone(ranges))},${this.random.pick(words)}`;
    });
    return `phone,level,category\n${rows}`;
  }

  directory(): string {
    const rows = this.rows(1000, () => {
      if (this.random.chance(0.03))
        return this.random.pick([
          `${this.phone(ranges)},,,,`,
          `${this.random.pick(badPhones)},X,,,`,
          `${this.phone(ranges)},X,,,http://example.com/a.png`,
          `${this.phone(ranges)},X, Y,Z,,`,
          '',
        ]);
      const phone = this.random.chance(0.4) ? this.random.pick(this.phones) : this.phone(ranges);
      const image = this.random.chance(0.3) ? `https://images.example/${this.random.below(1000)}.png` : '';
      return [
        phone,
        `${this.random.pick(names)}${this.random.chance(0.5) ? ` ${this.random.below(900) + 100}` : ''}`,
        this.random.pick(descriptions),
        this.random.pick(details),
        image,
      ]
        .map(formatCsvField)
        .join(',');
    });
    return `phone,display_name,display_description,display_detail,display_image\n${rows}`;
  }

  /** A tenth of the calling numbers are campaigns, with half of the complaints; some calls forge numbers of one range of 1,000. */
  complaints(): string {
    const callers = Array.from({ length: Math.ceil(60 * this.scale) }, () => this.phone(northAmerican).slice(2));
    const range = this.phone(northAmerican).slice(2, -3);
    const rows = this.rows(3000, () => {
      const caller = this.random.chance(0.03)
        ? this.random.pick(['', '', '5550143', 'unknown', '0', '123456789012345678'])
        : this.random.chance(0.5)
          ? this.random.pick(callers)
          : this.otherCaller(range);
      const created = this.asOf - this.random.below(40 * dayMs);
      const violated = this.random.chance(0.05) ? '' : formatComplaintTime(created - this.random.below(2 * dayMs));
      const date = this.random.chance(0.005) ? '2021-02-30 10:00:00' : formatComplaintTime(created);
      return [
        caller,
        date,
        violated,
        this.random.pick(cities),
        this.random.pick(states),
        this.random.pick(['212', '415', '']),
        formatCsvField(this.random.pick(subjects)),
        this.random.pick(['Y', 'Y', 'N', '']),
      ].join(',');
    });
    return `Company_Phone_Number,Created_Date,Violation_Date,Consumer_City,Consumer_State,Consumer_Area_Code,Subject,Recorded_Message_Or_Robocall\n${rows}`;
  }

  private otherCaller(range: string): string {
    return this.random.chance(0.03) ? `${range}${100 + this.random.below(900)}` : this.phone(northAmerican).slice(2);
  }

  private rows(count: number, make: () => string): string {
    return Array.from({ length: Math.ceil(count * this.scale) }, () => `${make()}\n`).join('');
  }

  /** A valid number of a range that is drawn by the ranges' shares. */
  private phone(among: typeof ranges): string {
    const total = among.reduce((sum, [, , share]) => sum + share, 0);
    for (;;) {
      let place = this.random.next() * total;
      const [start, digits] = among.find(([, , share]) => (place -= share) < 0) ?? among[0]!;
      let phone = `+${start}`;
      while (phone.length <= digits) phone += this.random.below(10);
      const judged = judgePhone(phone);
      if (!isPhoneRefusal(judged) && judged.phone === phone) return phone;
    }
  }

  private keep(phone: string): string {
    this.phones.push(phone);
    return phone;
  }
}

/** The format of FTC files: UTC without a zone. */
function formatComplaintTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
