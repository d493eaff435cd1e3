/** How a made voice sounds. */
interface SpeechLikeOptions {
  readonly rate?: number;
  /** 0 for silence with a little noise. */
  readonly loudness?: number;
  readonly pitchHz?: number;
}

const headerBytes = 44;

/** A WAV file of 16 bits: harmonics of a moving pitch that rise and fall as syllables do, over a little noise. */
export function speechLikeWav(
  seconds: number,
  { rate = 8000, loudness = 0.3, pitchHz = 120 }: SpeechLikeOptions = {},
): Buffer {
  const samples = Math.round(seconds * rate);
  const bytes = Buffer.alloc(headerBytes + samples * 2);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(36 + samples * 2, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20); // PCM
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt32LE(rate * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36);
  bytes.writeUInt32LE(samples * 2, 40);
  for (let at = 0, phase = 0; at < samples; at++) {
    const time = at / rate;
    phase += (2 * Math.PI * (pitchHz + 15 * Math.sin(2 * Math.PI * 0.7 * time))) / rate;
    const voice = [1, 2, 3, 4, 5, 7].reduce((sum, harmonic) => sum + Math.sin(phase * harmonic) / harmonic, 0);
    const value = loudness * voice * Math.max(0, Math.sin(2 * Math.PI * 2.5 * time)) + 0.0005 * Math.sin(at * at);
    bytes.writeInt16LE(Math.round(Math.max(-1, Math.min(1, value)) * 32767), headerBytes + at * 2);
  }
  return bytes;
}
