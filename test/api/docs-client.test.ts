import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { childEnvironment } from '../../runtime/config.ts';
import { useTestDatabase } from '../support/database.ts';
import { inventedRows, PublishedHistory } from '../support/segmented-artefacts.ts';
import { until, useTestApi } from './support/running-api.ts';

const root = join(import.meta.dirname, '../..');
const database = await useTestDatabase();
const { url, key, get, store } = await useTestApi(database);
const directory = await mkdtemp(join(tmpdir(), 'caller-trust-docs-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

const us = { cache: 'phones', country: 'US' } as const;
const history = new PublishedHistory({ db: database.db, store, artefact: us });
const first = await history.publish(inventedRows(5000, (n) => `SPAM\t${1 + (n % 5)}\t\t\t\t`));
await history.publish(inventedRows(5100, (n) => (n % 90 === 0 ? 'FRAUD\t7\t\t\t\t' : `SPAM\t${1 + (n % 5)}\t\t\t\t`)));
const spammers = new PublishedHistory({ db: database.db, store, artefact: { cache: 'spammer_phones', country: '' } });
await spammers.publish(inventedRows(300));
await until(async () => (await get('/v1/caches/phones?country=US', {}, 'HEAD')).headers.get('x-cache-version') === '2');

const oldFile = await readFile(store.path({ ...us, sha256: first.stored.file.sha256 }));
for (const name of ['phones-US.tsv.gz', 'old.tsv.gz']) await writeFile(join(directory, name), oldFile);
await writeFile(join(directory, 'key'), `${key}\n`);
await writeFile(
  join(directory, 'caller-trust'),
  `#!/bin/sh\nexec ${process.execPath} ${join(root, 'dist/cli.js')} "$@"\n`,
);
await chmod(join(directory, 'caller-trust'), 0o755);

/** The text of a document from one heading to the next of its kind. */
async function section(document: string, heading: string): Promise<string> {
  const text = await readFile(join(root, 'docs', document), 'utf8');
  return text.split(`\n## ${heading}\n`)[1]?.split(/\n## /)[0] ?? '';
}

const blocksOf = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, script]) => script ?? '');

async function run(script: string): Promise<string> {
  const env = childEnvironment({
    URL: url,
    KEY: key,
    PATH: `${directory}${delimiter}${childEnvironment({})['PATH'] ?? ''}`,
  });
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: directory,
    env,
  }).catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${script}\n${error.stdout}\n${error.stderr}`);
  });
  return stdout;
}

describe('docs/artefacts.md', () => {
  it('has a program that applies a delta, and an example that checks what comes out', async () => {
    const text = await section('artefacts.md', 'Deltas');
    const [apply] = blocksOf(text, 'python');
    await writeFile(join(directory, 'apply.py'), apply ?? '');
    const [script, ...others] = blocksOf(text, 'sh');
    expect(others).toEqual([]);
    await run(script!);
    const check = script!.slice(script!.indexOf('plain='));
    await run(check);
    await run('gunzip -c phones-US.new.gz | sed 1d | gzip > changed.gz && mv changed.gz phones-US.new.gz');
    await expect(run(check)).rejects.toThrow();
  });

  it('has an example that looks a number up with one range of the file', async () => {
    const [lookUp, withNode] = blocksOf(await section('artefacts.md', 'Segment index'), 'sh');
    expect(await run(lookUp!)).toBe('+12025000003\tSPAM\t2\t\t\t\t\n');
    await run(withNode!);
    expect(await run(`PHONE=+12025000004\n${lookUp!}`)).toBe('');
  });
});

describe('docs/client.md', () => {
  it('runs every example, in the order of the page', async () => {
    const blocks = blocksOf(await readFile(join(root, 'docs/client.md'), 'utf8'), 'sh');
    expect(blocks).toHaveLength(7);
    const outputs: string[] = [];
    for (const block of blocks) outputs.push(await run(block));
    expect(outputs[0]).toMatch(/^artefact .*\nphones\/US +full +- +2 +5,100 /);
    expect(outputs[1]).toMatch(/\nphones\/US +unchanged +2 +2 +5,100 +0 /);
    expect(outputs[2]!.match(/^reputation_level +SPAM$/gm)).toHaveLength(3);
    expect(outputs[3]).toContain('+12025000004 is not listed.');
    expect(outputs[4]!.match(/^reputation_level +SPAM$/gm)).toHaveLength(2);
    expect(outputs[5]).toMatch(/\nphones\/US version 2, from the copy\.\n/);
    expect(outputs[6]).toMatch(/as the manifest promises$/m);
  });
});
