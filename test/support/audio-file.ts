import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRecording } from '../../pipelines/audio/decode/open-recording.ts';
import type { DecodeLimits, Recording } from '../../pipelines/audio/decode/recording.ts';

/** What a WAV file made for a test says; what is left out fits the rest. Lengths may lie. */
export interface WavParts {
  readonly id?: string;
  readonly tag?: number;
  readonly bits?: number;
  readonly channels?: number;
  readonly sampleRate?: number;
  readonly blockAlign?: number;
  /** The whole content of the format chunk, instead of the five above. */
  readonly format?: Buffer;
  readonly data?: Buffer;
  readonly dataBytes?: number;
  readonly riffBytes?: number;
  readonly beforeFormat?: readonly Buffer[];
  readonly beforeData?: readonly Buffer[];
  readonly afterData?: readonly Buffer[];
}

/** A WAV file: 16-bit PCM, mono, 8 kHz unless said otherwise. */
export function wavFile(parts: WavParts = {}): Buffer {
  const data = parts.data ?? pcm16(tone({ seconds: 0.5 }));
  const chunks = [
    ...(parts.beforeFormat ?? []),
    riffChunk('fmt ', parts.format ?? wavFormat(parts)),
    ...(parts.beforeData ?? []),
    riffChunk('data', data, parts.dataBytes),
    ...(parts.afterData ?? []),
  ];
  const body = Buffer.concat([Buffer.from('WAVE'), ...chunks]);
  const head = Buffer.from(`${parts.id ?? 'RIFF'}....`);
  head.writeUInt32LE(parts.riffBytes ?? body.length, 4);
  return Buffer.concat([head, body]);
}

/** The content of a format chunk of 16 bytes. */
export function wavFormat({
  tag = 1,
  bits = 16,
  channels = 1,
  sampleRate = 8_000,
  blockAlign = channels * Math.ceil(bits / 8),
}: WavParts): Buffer {
  const format = Buffer.alloc(16);
  format.writeUInt16LE(tag, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(sampleRate, 4);
  format.writeUInt32LE((sampleRate * blockAlign) >>> 0, 8);
  format.writeUInt16LE(blockAlign & 0xffff, 12);
  format.writeUInt16LE(bits, 14);
  return format;
}

/** The content of an extensible format chunk that means `tag`. */
export function extensibleFormat(parts: WavParts): Buffer {
  const tail = Buffer.alloc(24);
  tail.writeUInt16LE(22, 0);
  tail.writeUInt16LE(parts.bits ?? 16, 2);
  tail.writeUInt16LE(parts.tag ?? 1, 8);
  Buffer.from('000000001000800000aa00389b71', 'hex').copy(tail, 10);
  return Buffer.concat([wavFormat({ ...parts, tag: 0xfffe }), tail]);
}

/** A chunk with its pad byte; `declared` is the length that it says it has. */
export function riffChunk(name: string, content: Buffer, declared = content.length): Buffer {
  const head = Buffer.from(`${name}....`, 'latin1');
  head.writeUInt32LE(declared, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}

/** The chunk of 64-bit lengths of an RF64 file. */
export function longSizes({
  riffBytes = 0n,
  dataBytes,
  samples = 0n,
}: {
  readonly riffBytes?: bigint;
  readonly dataBytes: bigint;
  readonly samples?: bigint;
}): Buffer {
  const content = Buffer.alloc(28);
  for (const [at, value] of [riffBytes, dataBytes, samples].entries()) content.writeBigUInt64LE(value, at * 8);
  return riffChunk('ds64', content);
}

/** A sine. */
export function tone({
  sampleRate = 8_000,
  seconds = 1,
  hertz = 440,
  level = 0.5,
}: {
  readonly sampleRate?: number;
  readonly seconds?: number;
  readonly hertz?: number;
  readonly level?: number;
} = {}): Float32Array {
  return Float32Array.from(
    { length: Math.round(sampleRate * seconds) },
    (_none, at) => level * Math.sin((2 * Math.PI * hertz * at) / sampleRate),
  );
}

/** Level of the sine of 440 Hz, whenever it begins, and how far what is not it lies below, in dB. */
export function sineIn(samples: Float32Array, sampleRate: number): { level: number; nearDb: number } {
  const inside = samples.subarray(Math.floor(sampleRate * 0.1), Math.floor(sampleRate * 0.9));
  const turns = (at: number) => (2 * Math.PI * 440 * at) / sampleRate;
  const part = (wave: (turn: number) => number) =>
    (2 / inside.length) * inside.reduce((sum, sample, at) => sum + sample * wave(turns(at)), 0);
  const level = Math.hypot(part(Math.sin), part(Math.cos));
  const power = inside.reduce((sum, sample) => sum + sample ** 2, 0) / inside.length;
  return { level, nearDb: 10 * Math.log10(level ** 2 / 2 / Math.max(1e-9, power - level ** 2 / 2)) };
}

/** 16-bit PCM of one or more channels, in turn. */
export function pcm16(...channels: readonly Float32Array[]): Buffer {
  return numbersOf(channels, 2, (bytes, value, at) =>
    bytes.writeInt16LE(Math.max(-32_768, Math.min(32_767, Math.round(value * 32_768))), at),
  );
}

/** 32-bit floating point of one or more channels, in turn. */
export function float32(...channels: readonly (Float32Array | readonly number[])[]): Buffer {
  return numbersOf(channels, 4, (bytes, value, at) => bytes.writeFloatLE(value, at));
}

/** Numbers of one or more channels in turn, written by `write`. */
export function numbersOf(
  channels: readonly ArrayLike<number>[],
  size: number,
  write: (bytes: Buffer, value: number, at: number) => void,
): Buffer {
  const frames = channels[0]?.length ?? 0;
  const bytes = Buffer.alloc(frames * channels.length * size);
  for (let frame = 0; frame < frames; frame++) {
    for (const [channel, values] of channels.entries())
      write(bytes, values[frame]!, (frame * channels.length + channel) * size);
  }
  return bytes;
}

/** A recording of test/support/recordings; its README says how each was made. */
export function sampleRecording(name: string): Buffer {
  return readFileSync(sampleRecordingPath(name));
}

/** Where a recording of test/support/recordings lies. */
export function sampleRecordingPath(name: string): string {
  return join(import.meta.dirname, 'recordings', name);
}

/** A folder for recordings that a test makes. Remove it in the end. */
export class RecordingFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'recordings-'));

  write(name: string, bytes: Buffer): string {
    const path = join(this.path, name);
    writeFileSync(path, bytes);
    return path;
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Limits that no ordinary recording reaches. */
export const wideLimits: DecodeLimits = {
  bytesMax: 64 * 1024 * 1024,
  channelsMax: 8,
  sampleRateMin: 4_000,
  sampleRateMax: 192_000,
  secondsMax: 36_000,
  wallSecondsMax: 60,
};

/** A recording read to its end: what it says of itself, and all samples a channel. */
interface WholeRecording extends Pick<
  Recording,
  'format' | 'codec' | 'sampleRate' | 'channels' | 'durationSeconds' | 'notes'
> {
  readonly samples: readonly Float32Array[];
  readonly longestBlock: number;
}

/** Opens, reads and closes a recording. */
export async function readWhole(path: string, limits: Partial<DecodeLimits> = {}): Promise<WholeRecording> {
  const recording = await openRecording(path, { ...wideLimits, ...limits });
  try {
    const blocks: Float32Array[][] = [];
    for await (const block of recording.blocks()) blocks.push(block);
    const samples = Array.from({ length: recording.channels }, (_none, channel) =>
      joined(blocks.map((block) => block[channel]!)),
    );
    const { format, codec, sampleRate, channels, durationSeconds, notes } = recording;
    return {
      format,
      codec,
      sampleRate,
      channels,
      durationSeconds,
      notes: [...notes],
      samples,
      longestBlock: Math.max(0, ...blocks.map((block) => block[0]!.length)),
    };
  } finally {
    await recording.close();
  }
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  parts.reduce((at, part) => {
    whole.set(part, at);
    return at + part.length;
  }, 0);
  return whole;
}
