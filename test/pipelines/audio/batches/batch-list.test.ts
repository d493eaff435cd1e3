import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openItemSource, walkFolder } from '../../../../pipelines/audio/batches/batch-list.ts';
import type { RawAudio } from '../../../../pipelines/audio/decode/raw-audio.ts';
import type { SubmittedItem } from '../../../../pipelines/audio/batches/batch-items.ts';
import { useFolder } from '../../../support/recording-batch.ts';

const folder = await useFolder('list');
const limits = { batchItemsMax: 5 };
let made = 0;
const write = async (name: string, content: string | Buffer = 'x') => {
  const path = join(folder, `${++made}`, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, content);
  return path;
};
const all = async (items: AsyncIterable<SubmittedItem>) => {
  const list: SubmittedItem[] = [];
  for await (const item of items) list.push(item);
  return list;
};
const itemsOf = async (path: string) => all((await openItemSource(path, limits)).items());

describe('a folder', () => {
  it('is every file below it in the order of the bytes of its path, without hidden ones', async () => {
    const top = join(folder, 'tree');
    for (const name of ['b.wav', 'a/z.wav', 'a.wav', 'a/.hidden', '.git/x', 'B.wav', 'a/b/c.wav', 'ä.wav']) {
      await mkdir(join(top, name, '..'), { recursive: true });
      await writeFile(join(top, name), name);
    }
    await symlink('/', join(top, 'link'));
    await mkdir(join(top, 'none'));
    const items = await all(walkFolder(top, new Set(['b.wav'])));
    expect(items.map(({ source }) => source)).toEqual(['B.wav', 'a.wav', 'a/b/c.wav', 'a/z.wav', 'link', 'ä.wav']);
    expect(items.map(({ path }) => path.toString())).toEqual(items.map(({ source }) => join(top, source)));
  });

  it('may hold names that are not UTF-8', async () => {
    const top = join(folder, 'bytes');
    await mkdir(top);
    await writeFile(Buffer.concat([Buffer.from(`${top}/`), Buffer.from([0xff, 0x41])]), 'x');
    const [item] = await all(walkFolder(top));
    expect(item).toMatchObject({ source: '\uFFFDA' });
    expect(Buffer.from(item!.path).subarray(-2)).toEqual(Buffer.from([0xff, 0x41]));
  });
});

describe('a list', () => {
  const csv = 'name,path,model\nfirst,a.wav,phone/v7\n,"sub/b, c.wav",\n\n,/abs/d.wav,digital\n';
  const jsonl =
    '{"path":"a.wav","model":"phone/v7","name":"first"}\n{"path":"sub/b, c.wav"}\n\n{"path":"/abs/d.wav","model":"digital"}';

  it.each([
    ['CSV', 'list.csv', csv],
    ['JSONL', 'list.JSONL', jsonl],
  ])('of %s names paths relative to itself, with a model and a name', async (_kind, name, text) => {
    const path = await write(name, text);
    const source = await openItemSource(path, limits);
    expect(source).toMatchObject({ kind: 'list', name, count: 3 });
    expect(await all(source.items())).toEqual([
      { path: join(path, '..', 'a.wav'), source: 'first', model: 'phone/v7' },
      { path: join(path, '..', 'sub/b, c.wav'), source: 'sub/b, c.wav', model: undefined },
      { path: '/abs/d.wav', source: '/abs/d.wav', model: 'digital' },
    ]);
  });

  it.each([
    ['raw.csv', 'path,raw\na.ul,mulaw@8000\nb.wav,\n'],
    ['raw.jsonl', '{"path":"a.ul","raw":"mulaw@8000"}\n{"path":"b.wav"}\n'],
  ])('may name the form of raw audio in %s, before the one of the whole command', async (name, text) => {
    const path = await write(name, text);
    const mulaw = { encoding: 'mulaw', sampleRate: 8_000 } as const;
    const gsm = { encoding: 'gsm', sampleRate: 8_000 } as const;
    const rawOf = async (raw?: RawAudio) =>
      (await all((await openItemSource(path, limits, raw)).items())).map((item) => item.raw);
    expect(await rawOf()).toEqual([mulaw, undefined]);
    expect(await rawOf(gsm)).toEqual([mulaw, gsm]);
  });

  it.each([
    ['x.csv', 'path,raw\na.ul,mulaw\n', /Line 2: "mulaw" is no form of raw audio\. Name one of mulaw, /],
    ['x.jsonl', '{"path":"a.g722","raw":"g722@8000"}\n', /Line 1: The rate of g722 is 16000 Hz\./],
    ['x.csv', 'model,name\nphone,a\n', /lacks the column path/],
    ['x.csv', '', /empty/],
    ['x.csv', 'path,model\na.wav,phone\n,phone\n', /Line 3: the path is missing/],
    ['x.csv', 'path,model\na.wav\n', /Line 2: The row has 1 fields/],
    ['x.csv', 'path;model;name\na.wav;phone;x\n', /separated by semicolons; separate them by commas or tabs/],
    ['x.csv', Buffer.from('\ufeffpath,model\na.wav,phone\n', 'utf16le'), /in UTF-16, and must be in UTF-8/],
    ['x.jsonl', Buffer.from('{"path":"a"}\n', 'utf16le'), /in UTF-16, and must be in UTF-8/],
    [
      'x.csv',
      `path,name\na.wav,${'n'.repeat(4097)}\n`,
      /Line 2: the name has 4097 characters, and at most 4096 are kept \(sourceCharactersMax\)/,
    ],
    ['x.jsonl', '{"path":"a"}\n{"path":\n', /Line 2: it is not JSON/],
    ['x.jsonl', '{"path":"a","models":"b"}\n', /Line 1: .*models/],
    ['x.jsonl', '"a"\n', /Line 1: row/],
    ['x.jsonl', '{"path":"a\\u0000"}\n', /Line 1: a text holds characters/],
    ['x.jsonl', `{"path":"${'a'.repeat(17_000)}"}\n`, /Line 1: The line is longer/],
  ])('%s is refused whole for %j', async (name, text, problem) => {
    await expect(openItemSource(await write(name, text), limits)).rejects.toMatchObject({
      code: 'audio_list_invalid',
      problem: expect.stringMatching(problem) as string,
    });
  });

  it('may have as many items as a batch, and no more', async () => {
    const rows = (count: number) => `path\n${'a.wav\n'.repeat(count)}`;
    expect((await openItemSource(await write('five.csv', rows(5)), limits)).count).toBe(5);
    await expect(openItemSource(await write('six.csv', rows(6)), limits)).rejects.toMatchObject({
      code: 'batch_too_large',
    });
  });
});

it('a file is one recording, whatever its name', async () => {
  const path = await write('call.recording');
  expect(await itemsOf(path)).toEqual([{ path, source: path }]);
});

it('a path where nothing is, is refused', async () => {
  await expect(openItemSource(join(folder, 'nothing'), limits)).rejects.toMatchObject({ code: 'recording_refused' });
});
