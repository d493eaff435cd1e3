import { writeFile } from 'node:fs/promises';

/** A sound that counts as voice: what is made of it depends on the numbers alone. */
interface SpeechLike {
  readonly sampleRate: number;
  readonly seconds: number;
  /** Of the voice, in Hz. */
  readonly pitch?: number;
  /** Largest sample. */
  readonly peak?: number;
  /** Rms of the noise below it. */
  readonly noise?: number;
}

/** Harmonics that rise and fall as syllables do, four a second, with a breath each 2 s, over soft noise with a fixed seed. */
export function speechLike({ sampleRate, seconds, pitch = 140, peak = 0.3, noise = 0.0005 }: SpeechLike): Float32Array {
  const random = seededNoise(1);
  return Float32Array.from({ length: Math.round(seconds * sampleRate) }, (_none, at) => {
    const time = at / sampleRate;
    const syllable = time % 2 > 1.6 ? 0 : Math.sin(2 * Math.PI * 2 * time) ** 2;
    const wandering = pitch * time + 3 * Math.sin(2 * Math.PI * 0.7 * time);
    const tone = [1, 2, 3, 4, 6, 8].reduce(
      (sum, harmonic) => sum + Math.sin(2 * Math.PI * wandering * harmonic) / harmonic,
      0,
    );
    return (peak * syllable * tone) / 2.5 + noise * random();
  });
}

/** A voice whose harmonics and hissing sounds fill the band of its sample rate, as speech does: at 8 kHz that of a telephone. */
export function fullBandSpeech({ sampleRate, seconds, pitch = 140, peak = 0.3 }: SpeechLike): Float32Array {
  const random = seededNoise(2);
  const harmonics = Array.from({ length: Math.floor((0.45 * sampleRate) / pitch) }, (_none, at) => at + 1);
  return Float32Array.from({ length: Math.round(seconds * sampleRate) }, (_none, at) => {
    const time = at / sampleRate;
    const syllable = time % 1 > 0.75 ? 0 : Math.sin(2 * Math.PI * 2 * time) ** 2;
    const hiss = time % 1 > 0.78 && time % 1 < 0.95 ? 0.03 : 0.0002;
    const wandering = pitch * time + 3 * Math.sin(2 * Math.PI * 0.7 * time);
    const tone = harmonics.reduce((sum, harmonic) => sum + Math.sin(2 * Math.PI * wandering * harmonic) / harmonic, 0);
    return (peak * syllable * tone) / 2.5 + hiss * random();
  });
}

/** Noise of rms 1, from a fixed seed: a linear congruential generator. */
export function seededNoise(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state / 2 ** 31 - 1) * Math.sqrt(3);
  };
}

/** The bytes of a WAV file of 16 bit samples, one array a channel. */
export function wavOf(channels: readonly Float32Array[], sampleRate: number): Buffer {
  const length = channels[0]!.length;
  const data = Buffer.alloc(length * channels.length * 2);
  for (let at = 0; at < length; at++) {
    for (const [number, samples] of channels.entries())
      data.writeInt16LE(
        Math.round(Math.max(-1, Math.min(1, samples[at]!)) * 32_767),
        (at * channels.length + number) * 2,
      );
  }
  const header = Buffer.alloc(44);
  header.write('RIFF');
  header.writeUInt32LE(36 + data.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels.length, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * channels.length * 2, 28);
  header.writeUInt16LE(channels.length * 2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
}

/** Writes such a file. */
export async function writeWav(file: string, channels: readonly Float32Array[], sampleRate: number): Promise<string> {
  await writeFile(file, wavOf(channels, sampleRate));
  return file;
}
