import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NumberFilter } from '../../format/artefact/number-filter.ts';
import { buildFilter } from '../../pipelines/caches/artefact/filter-building.ts';
import { readProjectFile } from './source-tree.ts';

const rows = [
  ['+12122102871', 'FRAUD', '12', '', '', '', ''],
  ['+12122107022', 'SPAM', '1', '', '', '', ''],
  [
    '+12122187292',
    'NEUTRAL',
    '',
    '"The" Garage, Café さくら',
    'Apotheke',
    'Ask for "Ann"',
    'https://images.example/1.png',
  ],
];

/** The program in a language below a heading of a document. */
function programIn(language: string, document = 'docs/artefacts.md', heading = 'Readers'): string {
  const section = readProjectFile(document).split(`\n## ${heading}\n`)[1] ?? '';
  return new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(section)?.[1] ?? '';
}

describe('a reader of docs/artefacts.md', () => {
  const directory = mkdtempSync(join(tmpdir(), 'caller-trust-readers-'));
  const file = join(directory, 'phones-US.tsv.gz');
  beforeAll(() => writeFileSync(file, gzipSync(rows.map((row) => `${row.join('\t')}\n`).join(''))));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it.for([
    { language: 'sh', command: 'sh', name: 'read.sh' },
    { language: 'python', command: 'python3', name: 'read.py' },
    { language: 'js', command: process.execPath, name: 'read.mjs' },
  ])('in $language reads an artefact', ({ language, command, name }, { skip }) => {
    if (spawnSync(command, ['-c', '']).error !== undefined) skip(`${command} is not installed`);
    const program = join(directory, name);
    writeFileSync(program, programIn(language));
    expect(execFileSync(command, [program, file, '+12122187292'], { encoding: 'utf8' })).toBe(
      'FRAUD 1 NEUTRAL 1 SPAM 1\n+12122187292 NEUTRAL "The" Garage, Café さくら\n',
    );
  });
});

describe('the reader of docs/filters.md', () => {
  const directory = mkdtempSync(join(tmpdir(), 'caller-trust-readers-'));
  const program = join(directory, 'filter.py');
  beforeAll(() => writeFileSync(program, programIn('python', 'docs/filters.md', 'A reader')));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it.each([
    ['phone', 8],
    ['phone', 16],
    ['prefix', 8],
    ['prefix', 16],
  ] as const)('finds in a filter of the kind %s with %d bits what the client finds', (keyType, bits) => {
    const key = (at: number) => 12_025_550_000 + 7919 * at;
    const keys = Float64Array.from({ length: 500 }, (_, at) => (keyType === 'phone' ? key(at) : key(at) % 1e8));
    const bytes = buildFilter(keys, { keyType, bits });
    const file = join(directory, `${keyType}-${bits}`);
    writeFileSync(file, bytes);
    const own = [...keys.subarray(0, 50)].map((each) => `+${keyType === 'phone' ? each : `${each}123`}`);
    const phones = [...own, ...Array.from({ length: 1000 }, (_, at) => `+4930${1_000_000 + at}`)];
    const filter = new NumberFilter(bytes);
    expect(execFileSync('python3', [program, file, ...phones], { encoding: 'utf8' })).toBe(
      phones.map((phone) => `${phone} ${filter.has(phone) ? 'perhaps' : 'no'}\n`).join(''),
    );
    expect(own.every((phone) => filter.has(phone))).toBe(true);
  });

  it.each([0, 5_000_000])('refuses a file that cannot hold as many keys as it says, as the client does: %d', (keys) => {
    const file = join(directory, 'keys');
    const bytes = Buffer.from(buildFilter(Float64Array.of(12_025_550_000), { keyType: 'phone', bits: 8 }));
    bytes.writeUInt32LE(keys, 24);
    writeFileSync(file, bytes);
    expect(() => new NumberFilter(bytes)).toThrow(expect.objectContaining({ code: 'filter_invalid' }));
    const { status, stderr } = spawnSync('python3', [program, file, '+12025550000'], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toContain('the filter is damaged');
  });

  it('refuses a file that ends early', () => {
    const file = join(directory, 'short');
    writeFileSync(file, buildFilter(Float64Array.of(12_025_550_000), { keyType: 'phone', bits: 8 }).subarray(0, -1));
    const { status, stderr } = spawnSync('python3', [program, file, '+12025550000'], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toContain('the filter is damaged');
  });
});
