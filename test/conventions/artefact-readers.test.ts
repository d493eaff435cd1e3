import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

/** The program of docs/artefacts.md in a language. */
function programIn(language: string): string {
  const section = readProjectFile('docs/artefacts.md').split('\n## Readers\n')[1] ?? '';
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
