import type { RecordingNote } from './recording.ts';

/** Formats of samples in memory, little-endian: integers, floating point, and the two laws of G.711. */
export type SampleFormat = 'u8' | 's16' | 's24' | 's32' | 'f32' | 'f64' | 'mulaw' | 'alaw';

/** How many samples were not numbers in [-1, 1] and were replaced. */
export interface SampleFaults {
  clipped: number;
  notFinite: number;
}

/** The notes on replaced samples. */
export function faultNotes({ clipped, notFinite }: SampleFaults): RecordingNote[] {
  return [
    ...(clipped > 0 ? (['samples_clipped'] as const) : []),
    ...(notFinite > 0 ? (['samples_not_finite'] as const) : []),
  ];
}

/** The samples of one channel: every `step`th sample of `bytes` from `first` on, as many as `into` has room for. */
interface SampleRun {
  readonly bytes: Uint8Array;
  readonly first: number;
  readonly step: number;
  readonly into: Float32Array;
}

/** Bytes of one sample. */
export const sampleBytes = {
  u8: 1,
  s16: 2,
  s24: 3,
  s32: 4,
  f32: 4,
  f64: 8,
  mulaw: 1,
  alaw: 1,
} as const satisfies Record<SampleFormat, number>;

/** Writes the samples as numbers in [-1, 1]; floats beyond become full scale and NaN zero, and both are counted. */
export function readSamples(format: SampleFormat, run: SampleRun, faults: SampleFaults): void {
  readers[format](run, faults);
}

const readers: Record<SampleFormat, (run: SampleRun, faults: SampleFaults) => void> = {
  u8: (run) => scaled(run.bytes, run, { offset: 128, scale: 1 / 128 }),
  s16: (run) => scaled(new Int16Array(...view(run.bytes, 2)), run, { offset: 0, scale: 1 / 32_768 }),
  s24: (run) => threeBytes(run),
  s32: (run) => scaled(new Int32Array(...view(run.bytes, 4)), run, { offset: 0, scale: 1 / 2_147_483_648 }),
  f32: (run, faults) => checked(new Float32Array(...view(run.bytes, 4)), run, faults),
  f64: (run, faults) => checked(new Float64Array(...view(run.bytes, 8)), run, faults),
  mulaw: (run) => looked(mulawTable, run),
  alaw: (run) => looked(alawTable, run),
};

/** The bytes as numbers of `size` bytes; copied if they are not aligned to it. */
function view(bytes: Uint8Array, size: number): [ArrayBuffer, number, number] {
  const aligned = bytes.byteOffset % size === 0 ? bytes : new Uint8Array(bytes);
  return [aligned.buffer as ArrayBuffer, aligned.byteOffset, Math.floor(aligned.byteLength / size)];
}

function scaled(
  numbers: Uint8Array | Int16Array | Int32Array,
  { first, step, into }: SampleRun,
  { offset, scale }: { readonly offset: number; readonly scale: number },
): void {
  for (let at = 0, from = first; at < into.length; at++, from += step) into[at] = (numbers[from]! - offset) * scale;
}

function threeBytes({ bytes, first, step, into }: SampleRun): void {
  for (let at = 0, from = first * 3; at < into.length; at++, from += step * 3) {
    into[at] = ((bytes[from]! << 8) | (bytes[from + 1]! << 16) | (bytes[from + 2]! << 24)) / 2_147_483_648;
  }
}

function checked(numbers: Float32Array | Float64Array, { first, step, into }: SampleRun, faults: SampleFaults): void {
  if (step === 1 && first === 0 && numbers instanceof Float32Array) {
    into.set(numbers.subarray(0, into.length));
    return checkInPlace(into, faults);
  }
  for (let at = 0, from = first; at < into.length; at++, from += step) {
    const number = numbers[from]!;
    // One comparison for the many valid samples; it is false for NaN.
    into[at] = number >= -1 && number <= 1 ? number : corrected(number, faults);
  }
}

/** The same for a plane of float32, as decoders return it: this loop takes a fifth of the time. */
function checkInPlace(samples: Float32Array, faults: SampleFaults): void {
  for (let at = 0; at < samples.length; at++) {
    const number = samples[at]!;
    if (!(number >= -1 && number <= 1)) samples[at] = corrected(number, faults);
  }
}

function corrected(number: number, faults: SampleFaults): number {
  if (Number.isFinite(number)) {
    faults.clipped++;
    return Math.sign(number);
  }
  faults.notFinite++;
  return 0;
}

function looked(table: Float32Array, { bytes, first, step, into }: SampleRun): void {
  for (let at = 0, from = first; at < into.length; at++, from += step) into[at] = table[bytes[from]!]!;
}

/** ITU-T G.711, table 2a (mu-law): 14 bits of magnitude and sign. */
const mulawTable = Float32Array.from({ length: 256 }, (_none, code) => {
  const bits = ~code & 0xff;
  const magnitude = ((((bits & 0x0f) << 3) + 0x84) << ((bits & 0x70) >> 4)) - 0x84;
  return ((bits & 0x80) === 0 ? magnitude : -magnitude) / 32_768;
});

/** ITU-T G.711, table 1a (A-law): 13 bits of magnitude and sign. */
const alawTable = Float32Array.from({ length: 256 }, (_none, code) => {
  const bits = code ^ 0x55;
  const [part, segment] = [(bits & 0x0f) << 4, (bits & 0x70) >> 4];
  const magnitude = segment === 0 ? part + 8 : (part + 0x108) << (segment - 1);
  return ((bits & 0x80) === 0 ? -magnitude : magnitude) / 32_768;
});
