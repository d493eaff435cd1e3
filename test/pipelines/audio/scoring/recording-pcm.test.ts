import { afterAll, describe, expect, it } from 'vitest';
import { decodePcm, type PcmRequest } from '../../../../pipelines/audio/scoring/recording-pcm.ts';
import {
  pcm16,
  readWhole,
  RecordingFolder,
  sampleRecording,
  sampleRecordingPath,
  tone,
  wavFile,
  wideLimits,
} from '../../../support/audio-file.ts';
import { useScoringPool } from '../../../support/scoring.ts';

const folder = new RecordingFolder();
afterAll(() => folder.remove());

/** 100 s without a declared length: 3.2 MB of samples in some 25 blocks. */
const long = folder.write(
  'long.mp3',
  Buffer.concat(Array.from({ length: 100 }, () => sampleRecording('tone-no-header.mp3'))),
);

/** What was written, in one piece. */
class Taken {
  private readonly pieces: Uint8Array[] = [];
  readonly take = async (bytes: Uint8Array): Promise<void> => void this.pieces.push(Uint8Array.from(bytes));

  get bytes(): Buffer {
    return Buffer.concat(this.pieces);
  }

  get count(): number {
    return this.pieces.length;
  }
}

const decode = (file: string, taken: Taken, changes: Partial<PcmRequest> = {}) =>
  decodePcm({ file, pcmBytesMax: 1e9, limits: wideLimits, write: taken.take, ...changes });

describe('a recording', () => {
  it.each(['tone-gsm.wav', 'tone-ima.wav', 'tone-alac.m4a', 'tone-stereo-flac.ogg', 'tone-24.flac', 'tone.mp3'])(
    'is decoded at its own rate with all of its channels: %s',
    async (name) => {
      const taken = new Taken();
      const decoded = await decode(sampleRecordingPath(name), taken);
      const { sampleRate, channels, samples } = await readWhole(sampleRecordingPath(name));
      expect(decoded).toEqual({ sampleRate, channels, pcmBytes: taken.bytes.length });
      expect(taken.bytes.equals(pcm16(...samples))).toBe(true);
    },
  );

  it('has full scale in both directions', async () => {
    const taken = new Taken();
    await decode(
      folder.write(
        'loud.wav',
        wavFile({ tag: 3, bits: 32, data: Buffer.from(Float32Array.of(1, -1, 0, 2, -2).buffer) }),
      ),
      taken,
    );
    expect([0, 2, 4, 6, 8].map((at) => taken.bytes.readInt16LE(at))).toEqual([32_767, -32_768, 0, 32_767, -32_768]);
  });

  it('may have as many bytes of samples as were asked for, and not one sample more', async () => {
    const file = folder.write('short.wav', wavFile({ data: pcm16(tone({ seconds: 0.5 })) }));
    expect(await decode(file, new Taken(), { pcmBytesMax: 8000 })).toMatchObject({ pcmBytes: 8000 });
    const taken = new Taken();
    await expect(decode(file, taken, { pcmBytesMax: 7999 })).rejects.toMatchObject({ reason: 'recording_too_long' });
    expect(taken.count).toBe(0); // what it declares is enough
  });

  it('that declares no length ends where it becomes too long', async () => {
    const taken = new Taken();
    await expect(decode(long, taken, { pcmBytesMax: 1_000_000 })).rejects.toMatchObject({
      reason: 'recording_too_long',
    });
    expect([taken.count > 1, taken.bytes.length <= 1_000_000]).toEqual([true, true]);
  });
});

describe('the pool', () => {
  const { pool, logged } = useScoringPool();
  const drawn = () =>
    pool.waveform({ file: sampleRecordingPath('tone.mp3'), model: null, settings: { channels: 'apart' } });

  it('hands on what a process of its own decodes, however much that is', async () => {
    const [own, taken] = [new Taken(), new Taken()];
    const decoded = await decode(long, own);
    expect(await pool.decode({ file: long, pcmBytesMax: 1e9, take: taken.take })).toEqual(decoded);
    expect(taken.bytes.equals(own.bytes)).toBe(true);
  });

  it('decodes no further than is taken', async () => {
    let isTaking = false;
    let overlaps = 0;
    let bytes = 0;
    await pool.decode({
      file: long,
      pcmBytesMax: 1e9,
      take: async (pcm) => {
        if (isTaking) overlaps++;
        isTaking = true;
        await new Promise((resolve) => setImmediate(resolve));
        bytes += pcm.length;
        isTaking = false;
      },
    });
    expect([overlaps, bytes > 3_000_000]).toEqual([0, true]);
  });

  it('uses the same process for the next recording, but not after one that was refused half way', async () => {
    const pids = pool.pids();
    await pool.decode({ file: long, pcmBytesMax: 1e9, take: new Taken().take });
    expect(pool.pids()).toEqual(pids);
    await expect(pool.decode({ file: long, pcmBytesMax: 1_000_000, take: new Taken().take })).rejects.toMatchObject({
      reason: 'recording_too_long',
    });
    expect((await drawn()).durationSeconds).toBeGreaterThan(0.9);
    expect(pool.pids()).not.toEqual(pids);
    expect(logged).toEqual([]);
  });

  it('ends with what the taker throws, and continues with others', async () => {
    const full = new Error('no room');
    await expect(pool.decode({ file: long, pcmBytesMax: 1e9, take: () => Promise.reject(full) })).rejects.toBe(full);
    expect((await drawn()).durationSeconds).toBeGreaterThan(0.9);
    expect(logged).toEqual([]);
  });

  it('gives up when nobody waits any more, also where samples are not taken', async () => {
    const left = new AbortController();
    const never = () => {
      left.abort();
      return new Promise<void>(() => {});
    };
    await expect(pool.decode({ file: long, pcmBytesMax: 1e9, take: never }, left.signal)).rejects.toMatchObject({
      code: 'interrupted',
    });
    expect((await drawn()).durationSeconds).toBeGreaterThan(0.9);
  });

  it('says why a file cannot be decoded', async () => {
    const text = folder.write('text.wav', Buffer.from('No audio at all, whatever the name says.'));
    await expect(pool.decode({ file: text, pcmBytesMax: 1e9, take: new Taken().take })).rejects.toMatchObject({
      reason: 'format_unknown',
    });
  });
});
