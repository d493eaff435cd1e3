import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gunzipSync } from 'node:zlib';
import { parseString } from 'fast-csv';
import { from as copyFrom } from 'pg-copy-streams';
import { beforeAll, describe, expect, it } from 'vitest';
import { cleanText } from '../../../pipelines/phone/text-cleaning.ts';
import { useTestDatabase } from '../../support/database.ts';
import { runWholeNight, useStore } from '../../support/night.ts';
import { putNumbers } from '../../support/numbers.ts';

/** Names as feeds bring them, each with a trap for one reader or another. */
const names = [
  'plain',
  'with "quotes" inside',
  '"begins with a quote',
  '"quoted"',
  "it's",
  'a,b;c|d',
  '=1+1',
  '+SUM(A1)',
  '-2',
  '@cmd',
  '\\N',
  '\\.',
  'back\\slash',
  'C:\\temp\\new',
  'tab\there',
  'line\nbreak',
  'carriage\rreturn',
  'both\r\nof them',
  'next\u0085line',
  'separator\u2028and\u2029paragraph',
  'bell\u0007',
  'nul\u0000byte',
  'escape\u001b[31m',
  'bidi \u202eevil\u202c',
  'mark\u200f\u061c',
  'isolate\u2066x\u2069',
  'lone \ud800 surrogate',
  'A\u030angstro\u0308m',
  'Zoë & Söhne',
  '株式会社 東京',
  'שלום',
  '😀 emoji 👩‍👩‍👧',
  '-',
  'NULL',
  'null',
  '  spaces  ',
  '\u00a0nbsp\u00a0',
  '#comment',
  '%s %d',
  '<b>html</b>',
  '\ufeffbom',
  'a'.repeat(128),
];

const { db, url } = await useTestDatabase();
const store = await useStore();
const expected = names.map((name, at) => [
  `+1202555${String(1000 + at)}`,
  'NEUTRAL',
  '',
  cleanText(name) ?? '',
  '',
  '',
  '',
]);
let file: Buffer;
let path: string;

beforeAll(async () => {
  await putNumbers(
    db,
    expected.map(([phone, , , name]) => ({ phone: phone!, name: name === '' ? null : name! })),
  );
  const report = await runWholeNight({ db, url, store, only: 'phones/US' });
  expect(report.outcome).toBe('ok');
  const stored = (await store.list()).find(({ kind }) => kind === 'artefact');
  path = store.path(stored!);
  file = await readFile(path);
});

describe('every text trap comes back as it was cleaned', () => {
  it('through a split at line ends and tabs', () => {
    const lines = gunzipSync(file).toString('utf8').split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => line.split('\t'))).toEqual(expected);
  });

  it('through the gzip program', () => {
    expect(execFileSync('gzip', ['-dc', path]).equals(gunzipSync(file))).toBe(true);
    execFileSync('gzip', ['-t', path]);
  });

  it('through COPY FROM in text format', async () => {
    const client = await db.connect();
    try {
      await client.query(
        'CREATE TEMP TABLE read_back (phone text, level text, category text, name text, description text, detail text, image text)',
      );
      await pipeline(
        Readable.from([gunzipSync(file)]),
        client.query(copyFrom("COPY read_back FROM STDIN WITH (FORMAT text, NULL '')")),
      );
      const { rows } = await client.query<Record<string, string | null>>(
        'SELECT * FROM read_back ORDER BY phone COLLATE "C"',
      );
      expect(rows.map((row) => Object.values(row).map((value) => value ?? ''))).toEqual(expected);
    } finally {
      client.release(true);
    }
  });

  it('through fast-csv without a quote character', async () => {
    const rows = await new Promise<string[][]>((resolve, reject) => {
      const read: string[][] = [];
      parseString(gunzipSync(file).toString('utf8'), { delimiter: '\t', quote: null, headers: false })
        .on('error', reject)
        .on('data', (row: string[]) => read.push(row))
        .on('end', () => resolve(read));
    });
    expect(rows).toEqual(expected);
  });

  it.skipIf(!hasPython())("through Python's gzip and csv (skipped where there is no python3)", () => {
    const program =
      'import csv, gzip, json, sys; print(json.dumps(list(csv.reader(gzip.open(sys.argv[1], "rt", encoding="utf-8", newline=""), delimiter="\\t", quoting=csv.QUOTE_NONE))))';
    expect(JSON.parse(execFileSync('python3', ['-c', program, path]).toString())).toEqual(expected);
  });
});

function hasPython(): boolean {
  try {
    execFileSync('python3', ['--version']);
    return true;
  } catch {
    return false;
  }
}
