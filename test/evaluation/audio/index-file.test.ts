import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readIndex } from '../../../evaluation/audio/index-file.ts';

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-index-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const file = join(directory, 'index.csv');
const read = async (text: string) => {
  await writeFile(file, text);
  return readIndex(file);
};
const header = 'path,label,channel,speaker,synthesizer,codec';

it('reads rows with paths relative to the index, in any order of columns, and leaves others out', async () => {
  const rows = await read(
    'label,codec,path,channel,duration,synthesizer,speaker\nbonafide,mulaw,a/1.wav,phone,3.1,,anna\n"synthetic",none,/data/2.wav,digital,2,"Some, TTS",tts-1\n',
  );
  expect(rows).toEqual([
    {
      line: 2,
      path: 'a/1.wav',
      file: join(directory, 'a/1.wav'),
      label: 'bonafide',
      channel: 'phone',
      speaker: 'anna',
      synthesizer: '',
      codec: 'mulaw',
      attack: '',
      set: '',
      baseLabel: '',
      snrDb: null,
      asvScore: null,
      asvTrial: '',
    },
    {
      line: 3,
      path: '/data/2.wav',
      file: '/data/2.wav',
      label: 'synthetic',
      channel: 'digital',
      speaker: 'tts-1',
      synthesizer: 'Some, TTS',
      codec: 'none',
      attack: '',
      set: '',
      baseLabel: '',
      snrDb: null,
      asvScore: null,
      asvTrial: '',
    },
  ]);
});

it('reads what else an index may say, tab separated too, and `source` as set', async () => {
  const [row] = await read(
    `${header},attack,source,base_label,snr_db,asv_score,asv_trial\n1.wav,replay,phone,anna,tts,gsm,loud,Corpus A,synthetic,12.5,-1.5e-2,nontarget\n`.replaceAll(
      ',',
      '\t',
    ),
  );
  expect(row).toMatchObject({
    label: 'replay',
    synthesizer: 'tts',
    attack: 'loud',
    set: 'Corpus A',
    baseLabel: 'synthetic',
    snrDb: 12.5,
    asvScore: -0.015,
    asvTrial: 'nontarget',
  });
});

it('gives a live voice no synthesizer, and a synthetic one without a name one', async () => {
  const rows = await read(`${header}\n1.wav,bonafide,phone,a,none,\n2.wav,synthetic,phone,a,,\n\n`);
  expect(rows.map(({ synthesizer }) => synthesizer)).toEqual(['', 'unnamed']);
});

it.each([
  ['an empty file', '', 'line 1'],
  ['a missing column', 'path,label,channel,speaker,codec\n', 'line 1'],
  ['a column twice', `${header},path\n`, 'line 1'],
  ['no recording', `${header}\n`, 'line 1'],
  ['a label of no kind', `${header}\n1.wav,bonafide,phone,a,,\n2.wav,fake,phone,a,,\n`, 'line 3'],
  ['a label in another letter case', `${header}\n1.wav,Bonafide,phone,a,,\n`, 'line 2'],
  ['an empty path', `${header}\n,bonafide,phone,a,,\n`, 'line 2'],
  ['an empty channel', `${header}\n1.wav,bonafide,,a,,\n`, 'line 2'],
  ['too few fields', `${header}\n1.wav,bonafide\n`, 'line 2'],
  ['a quote that is never closed', `${header}\n"1.wav,bonafide,phone,a,,\n`, 'line 2'],
  ['the same path twice', `${header}\n1.wav,bonafide,phone,a,,\n./1.wav,bonafide,phone,a,,\n`, 'line 3'],
  ['a number that is none', `${header},snr_db\n1.wav,bonafide,phone,a,,,loud\n`, 'line 2'],
  ['a replay of no kind', `${header},base_label\n1.wav,replay,phone,a,,,replay\n`, 'line 2'],
])('refuses %s with its line', async (_name, text, object) => {
  await expect(read(text)).rejects.toMatchObject({ code: 'index_invalid', object });
});

it('refuses an index that is not there', async () => {
  await expect(readIndex(join(directory, 'nothing.csv'))).rejects.toMatchObject({ code: 'index_invalid' });
  await expect(readIndex(directory)).rejects.toMatchObject({ code: 'index_invalid' });
});
