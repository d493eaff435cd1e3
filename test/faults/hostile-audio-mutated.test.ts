import { describe, expect, it } from 'vitest';
import { AUDIO_REASONS } from '../../pipelines/audio/reasons.ts';
import {
  extensibleFormat,
  float32,
  longSizes,
  pcm16,
  RecordingFolder,
  riffChunk,
  sampleRecording,
  tone,
  wavFile,
  wavFormat,
} from '../support/audio-file.ts';
import { aiffFile, auFile, cafFile, w64File } from '../support/audio-containers.ts';
import { containerOfRaw } from '../../pipelines/audio/decode/raw-audio.ts';
import { Seeded } from '../../runtime/seeded.ts';
import { type Figures, inPortions, seed, sizes } from '../support/run-size.ts';
import { cpuSecondsMax, memoryBytesMax, RecordingReader } from './hostile-audio.ts';
import { oggChecksum } from './hostile-audio-files.ts';

const mutants = sizes.audioMutants;

const encoded = pcm16(tone({ seconds: 0.2 }));

/** Whole recordings of each kind that is read. */
const originals: readonly Buffer[] = [
  wavFile({
    channels: 2,
    data: pcm16(tone({ seconds: 0.2 }), tone({ seconds: 0.2, hertz: 900 })),
    beforeData: [riffChunk('LIST', Buffer.from('INFOISFT\x04\0\0\0made'))],
  }),
  wavFile({ format: extensibleFormat({ tag: 3, bits: 32, channels: 1 }), data: float32(tone({ seconds: 0.1 })) }),
  wavFile({
    id: 'RF64',
    riffBytes: 0xffff_ffff,
    dataBytes: 0xffff_ffff,
    beforeFormat: [longSizes({ dataBytes: 3_200n })],
    data: pcm16(tone({ seconds: 0.2 })),
  }),
  wavFile({ tag: 7, bits: 8, data: Buffer.alloc(2_000, 0x55) }),
  ...[
    'tone-24.flac',
    'tone-stereo.flac',
    'tone.mp3',
    'tone-no-header.mp3',
    'tone.opus',
    'tone.ogg',
    'tone-stereo-flac.ogg',
    'tone.m4a',
    'tone-alac.m4a',
    'tone-ima.wav',
    'tone-gsm.wav',
    'tone-ms.wav',
    'tone-g726.wav',
    'tone-g723.wav',
    'tone-mp3.wav',
    'tone.amr',
    'tone.3gp',
    'tone.aac',
    'tone.spx',
    'tone.webm',
    'tone.mkv',
    'tone.wma',
  ].map(sampleRecording),
  ...(['gsm', 'g722', 'vox'] as const).map((encoding) => {
    const data = sampleRecording(`tone.${encoding}`);
    const { head, tail } = containerOfRaw({ encoding, sampleRate: 8_000 }, data.length);
    return Buffer.concat([head, data, tail]);
  }),
  auFile({ data: encoded }),
  aiffFile({ data: encoded }),
  cafFile({ data: encoded }),
  w64File({ data: encoded, format: wavFormat({}) }),
];

type Random = () => number;
type Mutation = (bytes: Buffer, random: Random) => Buffer;

/** A place in the bytes; every second time among the first 600, where the headers are. */
const place = (bytes: Buffer, random: Random) =>
  Math.floor(random() * (random() < 0.5 ? Math.min(600, bytes.length) : bytes.length));
const pick = <Item>(items: readonly Item[], random: Random): Item => items[Math.floor(random() * items.length)]!;
const edges = [
  0, 1, 2, 0x7f, 0xff, 0x7fff, 0x8000, 0xffff, 0x00ff_ffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff,
] as const;

const mutations: readonly Mutation[] = [
  (bytes, random) => {
    for (let count = 1 + Math.floor(random() * 8); count > 0; count--)
      bytes[place(bytes, random)]! ^= 1 << Math.floor(random() * 8);
    return bytes;
  },
  (bytes, random) => {
    for (
      let at = place(bytes, random), count = 1 + Math.floor(random() * 30);
      count > 0 && at < bytes.length;
      count--, at++
    )
      bytes[at] = Math.floor(random() * 256);
    return bytes;
  },
  (bytes, random) => {
    const at = place(bytes, random);
    if (at + 4 > bytes.length) return bytes;
    const value = pick(edges, random);
    if (random() < 0.5) bytes.writeUInt32LE(value, at);
    else bytes.writeUInt32BE(value, at);
    return bytes;
  },
  (bytes, random) => bytes.subarray(0, place(bytes, random)),
  (bytes, random) => {
    const [from, length, to] = [place(bytes, random), Math.floor(random() * 2_000), place(bytes, random)];
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from, from + length), bytes.subarray(to)]);
  },
  (bytes, random) => {
    const other = pick(originals, random);
    const [from, to] = [place(other, random), place(bytes, random)];
    return Buffer.concat([
      bytes.subarray(0, to),
      other.subarray(from, from + Math.floor(random() * 2_000)),
      bytes.subarray(to),
    ]);
  },
  (bytes, random) => {
    const from = place(bytes, random);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + Math.floor(random() * 500))]);
  },
];

function mutate(random: Random): Buffer {
  let bytes: Buffer = Buffer.from(pick(originals, random));
  for (let count = 1 + Math.floor(random() * 3); count > 0 && bytes.length > 0; count--)
    bytes = pick(mutations, random)(bytes, random);
  return bytes.toString('latin1', 0, 4) === 'OggS' && random() < 0.8 ? repairOgg(Buffer.from(bytes)) : bytes;
}

/** Makes the checksums right again, so that mutants get past them. */
function repairOgg(bytes: Buffer): Buffer {
  for (let at = bytes.indexOf('OggS'); at >= 0 && at + 27 <= bytes.length;) {
    const lacing = bytes.subarray(at + 27, at + 27 + bytes[at + 26]!);
    const end = at + 27 + lacing.length + lacing.reduce((sum, length) => sum + length, 0);
    if (end > bytes.length) break;
    bytes.writeUInt32LE(0, at + 22);
    bytes.writeUInt32LE(oggChecksum(bytes.subarray(at, end)), at + 22);
    at = bytes.indexOf('OggS', end);
  }
  return bytes;
}

async function readMutants({ size, seed: portionSeed }: { size: number; seed: number }): Promise<Figures> {
  const seeded = new Seeded(portionSeed);
  const random = () => seeded.next();
  const folder = new RecordingFolder();
  const reader = new RecordingReader();
  const counts: Record<string, number> = {};
  const wrong: string[] = [];
  let [peakBytes, cpuSeconds] = [0, 0];
  try {
    for (let count = 0; count < size; count++) {
      const bytes = mutate(random);
      const answer = await reader.read(folder.write('mutant', bytes));
      const outcome = answer?.outcome ?? 'died';
      counts[outcome] = (counts[outcome] ?? 0) + 1;
      if (outcome !== 'read' && !(outcome in AUDIO_REASONS))
        wrong.push(`mutant ${count} ended in ${outcome}: ${bytes.toString('base64')}`);
      peakBytes = Math.max(peakBytes, answer?.peakBytes ?? 0);
      cpuSeconds = Math.max(cpuSeconds, answer?.cpuSeconds ?? 0);
    }
  } finally {
    await reader.end();
    folder.remove();
  }
  expect(Object.values(counts).reduce((sum, each) => sum + each, 0)).toBe(size);
  expect(counts['read']).toBeGreaterThan(size / 10);
  expect(reader.deaths).toEqual([]);
  expect(wrong).toEqual([]);
  expect(peakBytes).toBeLessThan(memoryBytesMax);
  expect(cpuSeconds).toBeLessThan(cpuSecondsMax);
  const read = counts['read'] ?? 0;
  return { read, refused: size - read, mebibytes: [peakBytes / 2 ** 20], 'processor seconds': [cpuSeconds] };
}

describe('mutants of recordings', () => {
  it(
    `end in a recording or a typed refusal, within the limits, in one process (${mutants}, seed ${seed})`,
    () => inPortions('audio mutants', { size: mutants, portion: 25_000 }, readMutants),
    60_000 + mutants * 30,
  );
});
