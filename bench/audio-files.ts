import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The formats that are measured; all but the first are made by ffmpeg. */
export const FORMATS = {
  'wav mu-law': { ending: 'wav', sampleRate: 8000, encode: null },
  mp3: { ending: 'mp3', sampleRate: 16_000, encode: ['-c:a', 'libmp3lame', '-b:a', '64k'] },
  opus: { ending: 'opus', sampleRate: 16_000, encode: ['-c:a', 'libopus', '-b:a', '24k'] },
} as const satisfies Record<string, { ending: string; sampleRate: number; encode: readonly string[] | null }>;

export type Format = keyof typeof FORMATS;

/** Writes a recording of sound that counts as voice: harmonics in syllables with breaths between, over soft noise of a fixed seed. */
export async function makeRecording(directory: string, format: Format, seconds: number): Promise<string> {
  const { ending, sampleRate, encode } = FORMATS[format];
  const file = join(directory, `${format.replaceAll(' ', '-')}-${seconds}.${ending}`);
  const samples = speechLike(sampleRate, seconds);
  if (encode === null) {
    await writeFile(file, wavOf(Buffer.from(samples.map(muLaw)), { sampleRate, codec: 7, bytesOfSample: 1 }));
    return file;
  }
  const plain = join(directory, `plain-${sampleRate}-${seconds}.wav`);
  await writeFile(plain, wavOf(Buffer.from(samples.buffer), { sampleRate, codec: 1, bytesOfSample: 2 }));
  await run('ffmpeg', ['-v', 'error', '-y', '-i', plain, ...encode, file]);
  return file;
}

function speechLike(sampleRate: number, seconds: number): Int16Array {
  let state = 1;
  return Int16Array.from({ length: seconds * sampleRate }, (_none, at) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const time = at / sampleRate;
    const syllable = time % 2 > 1.6 ? 0 : Math.sin(2 * Math.PI * 2 * time) ** 2;
    const turns = 140 * time + 3 * Math.sin(2 * Math.PI * 0.7 * time);
    const tone = [1, 2, 3, 4, 6, 8].reduce(
      (sum, harmonic) => sum + Math.sin(2 * Math.PI * turns * harmonic) / harmonic,
      0,
    );
    return 32_767 * Math.max(-1, Math.min(1, 0.12 * syllable * tone + 0.001 * (state / 2 ** 31 - 1)));
  });
}

/**
 * Copies with the same sound and another content each, so that no result of one is taken for another: a chunk that is skipped, or a
 * title.
 */
export async function makeCopies(file: string, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_none, at) => file.replace(/(\.\w+)$/, `-copy-${copies++}-${at}$1`));
  for (const name of names) {
    if (file.endsWith('.wav')) await writeFile(name, Buffer.concat([await readFile(file), chunkOf(name)]));
    else await run('ffmpeg', ['-v', 'error', '-y', '-i', file, '-c', 'copy', '-metadata', `title=${name}`, name]);
  }
  return names;
}

let copies = 0;

function chunkOf(text: string): Buffer {
  const body = Buffer.from(text.padEnd(text.length + (text.length % 2)));
  const head = Buffer.from('junk....');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}

/** G.711 mu-law of a 16 bit sample. */
function muLaw(sample: number): number {
  const size = Math.min(32_635, Math.abs(sample)) + 132;
  const exponent = Math.floor(Math.log2(size)) - 7;
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | ((size >> (exponent + 3)) & 0x0f)) & 0xff;
}

function wavOf(
  data: Buffer,
  {
    sampleRate,
    codec,
    bytesOfSample,
  }: { readonly sampleRate: number; readonly codec: number; readonly bytesOfSample: number },
): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF');
  header.writeUInt32LE(36 + data.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(codec, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * bytesOfSample, 28);
  header.writeUInt16LE(bytesOfSample, 32);
  header.writeUInt16LE(bytesOfSample * 8, 34);
  header.write('data', 36);
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
}
