import { randomUUID } from 'node:crypto';
import { open, readFile, readdir, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  STREAM_ENCODINGS,
  frameBytesOf,
  type StreamFormat,
} from '../../../../pipelines/audio/streaming/stream-format.ts';
import {
  SpoolDirectory,
  StreamSpool,
  type SpoolFile,
  type StreamFacts,
} from '../../../../pipelines/audio/streaming/stream-spool.ts';
import { createLog } from '../../../../runtime/log.ts';
import { readWhole } from '../../../support/audio-file.ts';
import { useFolder } from '../../../support/recording-batch.ts';

const folder = await useFolder('stream-spool');
let directories = 0;
const log = createLog({ level: 'silent', process: 'test' });
const openDirectory = (name = String(++directories)) => SpoolDirectory.open(join(folder, name), { log });
const mono: StreamFormat = { encoding: 'pcm_s16le', sampleRate: 8000, channels: 1 };

const factsOf = (format: StreamFormat): StreamFacts => ({
  id: randomUUID(),
  owner: 'Acme',
  requestedBy: 'key of Acme',
  mode: 'api',
  model: 'phone',
  channels: 'apart',
  name: 'call',
  format,
  startedAt: new Date().toISOString(),
});

/** What a process left that takes no streams any more, and the directory as the next one opens it. */
async function left(
  format: StreamFormat,
  bytes = Buffer.alloc(0),
): Promise<{ spool: StreamSpool; spools: SpoolDirectory; name: string }> {
  const name = String(++directories);
  const before = await openDirectory(name);
  const spool = await before.create(factsOf(format));
  await spool.append(bytes);
  await spool.close();
  before.close();
  return { spool, spools: await openDirectory(name), name };
}

/** A file that takes three bytes at a time, and a limited number in all. */
function scantFile(file: FileHandle, bytesMax: number): SpoolFile {
  let left = bytesMax;
  const write = async (bytes: Buffer, from: number, length: number, at: number) => {
    const written = await file.write(bytes, from, Math.min(3, left, length), at);
    left -= written.bytesWritten;
    return written;
  };
  return {
    read: file.read.bind(file),
    truncate: file.truncate.bind(file),
    sync: file.sync.bind(file),
    close: file.close.bind(file),
    write,
  } as SpoolFile;
}

async function scantSpool(bytesMax: number): Promise<StreamSpool> {
  const audioPath = join(folder, `${randomUUID()}.wav`);
  const spool = new StreamSpool({ facts: factsOf(mono), audioPath }, scantFile(await open(audioPath, 'wx+'), bytesMax));
  await spool.begin();
  return spool;
}

describe('the spool of a stream', () => {
  it.each(STREAM_ENCODINGS.flatMap((encoding) => [1, 2].map((channels) => [encoding, channels] as const)))(
    'of %s with %i channels becomes a WAV file of its whole samples, wherever pieces end',
    async (encoding, channels) => {
      const spools = await openDirectory();
      const format: StreamFormat = { encoding, sampleRate: 8000, channels };
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { minLength: 8, maxLength: 30 }),
          async (pieces) => {
            const spool = await spools.create(factsOf(format));
            await Promise.all(pieces.map((piece) => spool.append(Buffer.from(piece))));
            const bytes = Buffer.concat(pieces);
            expect([spool.bytes, spool.received]).toEqual([bytes.length, bytes.length]);
            expect(await spool.read(3, bytes.length)).toEqual(bytes.subarray(3));
            const frames = Math.floor(bytes.length / frameBytesOf(format));
            expect(await spool.complete()).toBe(frames > 0);
            await spool.close();
            if (frames === 0) return;
            const read = await readWhole(spool.spooled.audioPath);
            expect(read).toMatchObject({ codec: encoding, channels, sampleRate: 8000, durationSeconds: frames / 8000 });
            expect(read.notes.filter((note) => note === 'truncated' || note === 'unknown_length')).toEqual([]);
            const file = await readFile(spool.spooled.audioPath);
            const header = file.length - frames * frameBytesOf(format) - ((frames * frameBytesOf(format)) % 2);
            expect(file.subarray(header, header + frames * frameBytesOf(format))).toEqual(
              bytes.subarray(0, frames * frameBytesOf(format)),
            );
            expect(file.readUInt32LE(4)).toBe(file.length - 8);
          },
        ),
        { numRuns: 15 },
      );
    },
  );

  it('is a file that can be read while it is written', async () => {
    const spool = await (await openDirectory()).create(factsOf(mono));
    await spool.append(Buffer.alloc(16_000));
    expect(await readWhole(spool.spooled.audioPath)).toMatchObject({ durationSeconds: 1, notes: ['unknown_length'] });
    await spool.close();
  });

  it('without a complete sample has nothing to submit', async () => {
    const spool = await (await openDirectory()).create(factsOf(mono));
    await spool.append(Buffer.alloc(1));
    expect(await spool.complete()).toBe(false);
    await spool.close();
  });
});

describe('a file that takes less than it is given', () => {
  it('has all of a stream in the end', async () => {
    const spool = await scantSpool(Infinity);
    const bytes = Buffer.from(Array.from({ length: 2000 }, (_none, at) => at % 251));
    await Promise.all([spool.append(bytes.subarray(0, 999)), spool.append(bytes.subarray(999))]);
    expect(await spool.complete()).toBe(true);
    await spool.close();
    expect((await readFile(spool.spooled.audioPath)).subarray(44)).toEqual(bytes);
  });

  it('and takes no more ends the stream with what came before', async () => {
    const spool = await scantSpool(44 + 100 + 50);
    await spool.append(Buffer.alloc(100, 1));
    const more = [spool.append(Buffer.alloc(100, 2)), spool.append(Buffer.alloc(100, 3))];
    for (const { status } of await Promise.allSettled(more)) expect(status).toBe('rejected');
    await expect(spool.append(Buffer.alloc(1))).rejects.toMatchObject({
      code: 'internal',
      problem: 'The audio could not be written to the disk.',
    });
    expect([spool.bytes, spool.received]).toEqual([100, 100]);
    await spool.close();
  });
});

describe('what a dead process left', () => {
  it('is found, repaired to the same file as an end would have made, and forgotten', async () => {
    const format: StreamFormat = { encoding: 'pcm_mulaw', sampleRate: 8000, channels: 1 };
    const { spool, spools } = await left(format, Buffer.alloc(8001, 3));
    const ended = await spools.create(factsOf(format));
    await ended.append(Buffer.alloc(8001, 3));
    await ended.complete();
    await ended.close();
    const [orphan, ...others] = await spools.orphans((id) => id === ended.spooled.facts.id);
    expect([orphan!.facts, others]).toEqual([spool.spooled.facts, []]);
    for (let time = 0; time < 3; time++) {
      expect(await spools.completeOrphan(orphan!)).toBe(true);
      expect(await readFile(orphan!.audioPath)).toEqual(await readFile(ended.spooled.audioPath));
    }
    await spools.remove(orphan!);
    expect(await spools.orphans((id) => id === ended.spooled.facts.id)).toEqual([]);
  });

  it('before its first sample is nothing', async () => {
    const { spools } = await left(mono);
    const [orphan] = await spools.orphans(() => false);
    expect(await spools.completeOrphan(orphan!)).toBe(false);
  });

  it('of a process that lives is left alone', async () => {
    const name = String(++directories);
    const [one, other] = [await openDirectory(name), await openDirectory(name)];
    const spool = await one.create(factsOf(mono));
    expect(await other.orphans(() => false)).toEqual([]);
    await spool.close();
    expect(await other.orphans(() => false)).toEqual([]); // it is for that process to submit
    expect(await one.orphans(() => false)).toHaveLength(1);
    one.close();
    expect(await other.orphans(() => false)).toHaveLength(1);
  });

  it.each([
    ['cut off', '{"id":'],
    ['empty', ''],
    ['another thing', '{"id":7}'],
  ])('with facts that are %s is moved aside, and the others are found', async (_what, text) => {
    const { spool, spools, name } = await left(mono, Buffer.alloc(100));
    const damaged = '00000000-0000-4000-8000-000000000000'; // the first in the directory
    await writeFile(join(folder, name, `${damaged}.json`), text);
    await writeFile(join(folder, name, `${damaged}.wav`), 'audio');
    expect(await spools.orphans(() => false)).toMatchObject([{ facts: { id: spool.spooled.facts.id } }]);
    expect(await readdir(join(folder, name))).toEqual(
      expect.arrayContaining([`${damaged}.refused.json`, `${damaged}.refused.wav`]),
    );
    expect(await readFile(join(folder, name, `${damaged}.refused.json`), 'utf8')).toBe(text);
  });

  it('and can never be submitted is moved aside, and not found again', async () => {
    const { spool, spools, name } = await left(mono);
    await spools.moveAside(spool.spooled, 'The reason.');
    expect(await spools.orphans(() => false)).toEqual([]);
    const { id } = spool.spooled.facts;
    const endings = ['refused.json', 'refused.txt', 'refused.wav'];
    expect((await readdir(join(folder, name))).sort()).toEqual(endings.map((ending) => `${id}.${ending}`));
    expect(await readFile(join(folder, name, `${id}.refused.txt`), 'utf8')).toBe('The reason.\n');
  });
});
