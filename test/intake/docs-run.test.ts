import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { childEnvironment } from '../../runtime/config.ts';
import { makeSampleLetters } from '../../samples/letters/sample-letters.ts';
import { useTestDatabase } from '../support/database.ts';
import { putNumbers } from '../support/numbers.ts';
import { useFolder } from '../support/recording-batch.ts';
import { useTestIntake } from './support/running-intake.ts';

const database = await useTestDatabase();
const intake = await useTestIntake(database);
const directory = await useFolder('intake-docs');
const text = await readFile(join(import.meta.dirname, '../../docs/intake.md'), 'utf8');
const blocks = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, script]) => script ?? '');

it('runs every example of docs/intake.md, in the order of the page', async () => {
  const client = await intake.client(['batches:write', 'branding:write', 'feeds:write', 'numbers:dispute']);
  await putNumbers(database.db, [{ phone: '+12025550123', country: 'US', level: 'SPAM', category: 6 }]);
  const [letter] = await makeSampleLetters({ seed: 20260103, count: 1, asOf: new Date(), scans: false });
  const [letterFile, feedFile] = [join(directory, 'letter.pdf'), join(directory, 'levels.csv')];
  await writeFile(letterFile, letter!.bytes);
  await writeFile(feedFile, 'phone,reputation_level,reputation_category\n+12025550123,SPAM,6\n');
  const call = join(import.meta.dirname, '../../samples/recordings/reader-a-1.wav');
  expect(blocks.length).toBeGreaterThan(6);
  // One shell, as of a reader who goes down the page.
  const script = `set -euo pipefail\n${blocks.join('\n')}`;
  await promisify(execFile)('bash', ['-c', script], {
    cwd: directory,
    env: childEnvironment({ URL: intake.url, KEY: client.key, CALL: call, LETTER: letterFile, FEED: feedFile }),
  }).catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${error.stdout}\n${error.stderr}`);
  });
  const { rows } = await database.db.query<{ kind: string }>('SELECT kind FROM intake_request ORDER BY request_id');
  expect(rows.map(({ kind }) => kind)).toEqual(['batch', 'branding', 'load', 'dispute']);
});

it('shows an answer in the form that it has', async () => {
  const [example] = [...text.matchAll(/^```json\n([^]*?)^```$/gm)].map(([, json]) => JSON.parse(json ?? '') as object);
  const made = JSON.parse(await readFile(join(directory, 'call.json'), 'utf8')) as { upload: string };
  expect(example).toEqual({ ...made, upload: (example as { upload: string }).upload });
});
