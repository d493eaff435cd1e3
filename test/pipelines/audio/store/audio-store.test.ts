import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AudioStore, readAudioContent } from '../../../../pipelines/audio/store/audio-store.ts';
import { parseRawAudio } from '../../../../pipelines/audio/decode/raw-audio.ts';
import { pcm16, readWhole, sampleRecording, sineIn, tone, wavFile } from '../../../support/audio-file.ts';
import { useFolder } from '../../../support/recording-batch.ts';
import { encodeSamples } from '../streaming/encoded-samples.ts';

const folder = await useFolder('store');
const limits = { audioBytesMax: 1000 };
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
const file = async (name: string, content: string) => {
  await writeFile(join(folder, name), content);
  return join(folder, name);
};
let stores = 0;
const newStore = () => new AudioStore(join(folder, `store-${++stores}`)).open();

describe('a store', () => {
  it('that cannot be made is a wrong setting', async () => {
    const store = new AudioStore(join(await file('no-folder', 'x'), 'store'));
    await expect(store.open()).rejects.toMatchObject({
      code: 'setting_invalid',
      problem: 'AUDIO_DIR cannot be created (ENOTDIR).',
    });
  });
});

describe('a recording that is submitted', () => {
  it('is kept under the digest of its content, once', async () => {
    const store = await newStore();
    for (const name of ['a', 'b']) await store.keep(await store.receive(await file(name, 'same'), limits));
    const path = store.pathOf(sha256('same'));
    expect(await readFile(path, 'utf8')).toBe('same');
    expect((await readdir(store.directory, { recursive: true })).filter((name) => !/^[0-9a-f]{2}$/.test(name))).toEqual(
      [path.slice(store.directory.length + 1)],
    );
  });

  it('has no name before it is kept, and leaves nothing when it is discarded', async () => {
    const store = await newStore();
    const incoming = await store.receive(await file('a', 'text'), limits);
    expect(incoming).toMatchObject({ sha256: sha256('text'), bytes: 4 });
    expect(await store.has(incoming)).toBe(false);
    await store.discard(incoming);
    expect(await readdir(store.directory)).toEqual([]);
  });

  it('may be as large as the limit, and no larger', async () => {
    expect((await readAudioContent(await file('limit', 'x'.repeat(1000)), limits)).bytes).toBe(1000);
    await expect(readAudioContent(await file('over', 'x'.repeat(1001)), limits)).rejects.toMatchObject({
      reason: 'file_too_large',
    });
  });

  it.each([
    ['mulaw@8000', encodeSamples('pcm_mulaw', [tone()]), 'pcm_mulaw', 8_000, 30],
    ['alaw@16000', encodeSamples('pcm_alaw', [tone({ sampleRate: 16_000 })]), 'pcm_alaw', 16_000, 30],
    ['s16le@8000', pcm16(tone()), 'pcm_s16le', 8_000, 80],
    ['gsm@8000', sampleRecording('tone.gsm'), 'gsm', 8_000, 20],
    ['g722@16000', sampleRecording('tone.g722'), 'adpcm_g722', 16_000, 20],
    ['vox@8000', sampleRecording('tone.vox'), 'adpcm_ima_oki', 8_000, 20],
  ])(
    'as raw audio (%s) is kept with a header that says so, and every sample',
    async (form, bytes, codec, rate, nearDb) => {
      const store = await newStore();
      await writeFile(join(folder, 'raw'), bytes);
      const wide = { audioBytesMax: 100_000 };
      const kept = await store.receive(join(folder, 'raw'), wide, parseRawAudio(form));
      expect(await readAudioContent(join(folder, 'raw'), wide, parseRawAudio(form))).toEqual({
        sha256: kept.sha256,
        bytes: kept.bytes,
      });
      await store.keep(kept);
      expect(sha256(await readFile(store.pathOf(kept.sha256)))).toBe(kept.sha256);
      const whole = await readWhole(store.pathOf(kept.sha256));
      expect(whole).toMatchObject({ codec, sampleRate: rate, channels: 1, durationSeconds: 1, notes: [] });
      expect(whole.samples[0]!.length).toBe(rate);
      const found = sineIn(whole.samples[0]!, rate);
      expect(found.level).toBeCloseTo(0.5, 1);
      expect(found.nearDb).toBeGreaterThan(nearDb);
    },
  );

  it('as raw audio of an odd number of bytes is padded, and may be as large as the limit with its header', async () => {
    const mulaw = parseRawAudio('mulaw@8000');
    const [headBytes, padBytes] = [58, 1];
    const path = await file('odd', 'x'.repeat(1000 - headBytes - padBytes));
    expect(await readAudioContent(path, limits, mulaw)).toMatchObject({ bytes: 1000 });
    const over = await file('more', 'x'.repeat(1000 - headBytes + 1));
    await expect(readAudioContent(over, limits, mulaw)).rejects.toMatchObject({ reason: 'file_too_large' });
  });

  it('as raw audio is refused if it has a header, which would be scored as noise', async () => {
    await writeFile(join(folder, 'headed'), wavFile({ data: Buffer.alloc(10) }));
    await expect(readAudioContent(join(folder, 'headed'), limits, parseRawAudio('mulaw@8000'))).rejects.toMatchObject({
      reason: 'format_unknown',
      detail: expect.stringContaining('has a header (wav)') as string,
    });
  });

  it.each([
    ['a file that is not there', 'file_missing', async () => join(folder, 'none')],
    ['a path below a file', 'file_missing', async () => join(await file('a', 'text'), 'b')],
    ['an empty file', 'file_empty', () => file('empty', '')],
    ['a folder', 'file_unreadable', async () => folder],
    [
      'a symbolic link',
      'file_unreadable',
      async () => {
        await symlink(await file('target', 'text'), join(folder, 'link'));
        return join(folder, 'link');
      },
    ],
    [
      'a named pipe',
      'file_unreadable',
      async () => {
        execFileSync('mkfifo', [join(folder, 'pipe')]);
        return join(folder, 'pipe');
      },
    ],
  ])('is refused if it is %s', async (_what, reason, make) => {
    const store = await newStore();
    await expect(store.receive(await make(), limits)).rejects.toMatchObject({ name: 'AudioRefusal', reason });
    expect(await readdir(store.directory).catch(() => [])).toEqual([]);
  });

  it('may have a name that is not UTF-8', async () => {
    const path = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xfe, 0x41])]);
    await writeFile(path, 'text');
    expect((await readAudioContent(path, limits)).sha256).toBe(sha256('text'));
  });
});

describe('a sweep', () => {
  it('removes copies that nobody writes to, and files that no row names, unless they have just come', async () => {
    const store = await newStore();
    await store.receive(await file('a', 'left behind'), limits);
    const kept = await store.receive(await file('b', 'unknown'), limits);
    await store.keep(kept);
    await mkdir(join(store.directory, 'zz'), { recursive: true });
    expect([await store.sweepUnfinished(), await store.removeUnknown([kept.sha256])]).toEqual([0, 0]);
    const folders = [];
    for await (const digests of store.folders()) folders.push(digests);
    expect(folders).toEqual([[kept.sha256]]);
    expect([await store.sweepUnfinished(-1), await store.removeUnknown([kept.sha256], -1)]).toEqual([1, 1]);
    expect(await store.has(kept)).toBe(false);
  });

  it('leaves audio alone that was submitted again', async () => {
    const store = await newStore();
    const first = await store.receive(await file('a', 'again'), limits);
    await store.keep(first);
    await utimes(store.pathOf(first.sha256), 0, 0);
    await new Promise((resolve) => setTimeout(resolve, 2100));
    await store.keep(await store.receive(await file('a', 'again'), limits));
    expect(await store.removeUnknown([first.sha256], 2000)).toBe(0);
  });
});
