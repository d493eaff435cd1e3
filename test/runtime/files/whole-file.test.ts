import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWholeFile, keepWholeFile, writeWholeFile } from '../../../runtime/files/whole-file.ts';
import { useTemporaryDirectory } from '../../support/feeds.ts';

const directory = await useTemporaryDirectory();

describe.each([{ durable: true }, { durable: false }])('a whole file, $durable', ({ durable }) => {
  const folder = join(directory, String(durable));

  it('replaces what was there, in directories that are made, with its mode, and leaves no other file', async () => {
    await writeWholeFile(join(folder, 'a', 'b', 'facts.json'), 'one', { durable, mode: 0o600 });
    await writeWholeFile(join(folder, 'a', 'b', 'facts.json'), Buffer.from('two'), { durable, mode: 0o600 });
    expect(await readFile(join(folder, 'a', 'b', 'facts.json'), 'utf8')).toBe('two');
    expect((await stat(join(folder, 'a', 'b', 'facts.json'))).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, 'a', 'b'))).toEqual(['facts.json']);
  });

  it('keeps the old file, and nothing of the new one, where the writer throws', async () => {
    await writeWholeFile(join(folder, 'rows'), 'old', { durable });
    const writer = async (file: { writeFile(text: string): Promise<void> }) => {
      await file.writeFile('half');
      throw new Error('no more rows');
    };
    await expect(writeWholeFile(join(folder, 'rows'), writer, { durable })).rejects.toThrow('no more rows');
    expect(await readFile(join(folder, 'rows'), 'utf8')).toBe('old');
    expect((await readdir(folder)).filter((name) => name.includes('tmp'))).toEqual([]);
  });

  it('is created by one of those that try at once, and never over another', async () => {
    const created = await Promise.all(
      ['1', '2', '3', '4'].map((text) => createWholeFile(join(folder, 'secret'), text, { durable })),
    );
    expect(created.filter(Boolean)).toHaveLength(1);
    expect(await readFile(join(folder, 'secret'), 'utf8')).toBe(String(created.indexOf(true) + 1));
    expect(await readdir(folder)).not.toContainEqual(expect.stringMatching(/^secret\./));
  });

  it('gets its name in a new directory, and so does a directory', async () => {
    await writeFile(join(folder, 'incoming'), 'audio');
    await keepWholeFile(join(folder, 'incoming'), join(folder, 'ab', 'cd', 'audio'), { durable });
    expect(await readFile(join(folder, 'ab', 'cd', 'audio'), 'utf8')).toBe('audio');
    await mkdir(join(folder, '.unfinished'));
    await keepWholeFile(join(folder, '.unfinished'), join(folder, 'versions', 'v1'), { durable });
    expect((await stat(join(folder, 'versions', 'v1'))).isDirectory()).toBe(true);
  });
});
