/** Signals that tests make themselves: what a line may carry, at any rate, the same for the same arguments. */

/** Noise of an rms, by a linear congruential generator. */
export function noise(length: number, rms: number, seed = 1): Float32Array {
  let state = seed;
  const unit = () => (state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296) / 4_294_967_296;
  return Float32Array.from({ length }, () => (unit() + unit() + unit() - 1.5) * 2 * rms);
}

/** Two tones, each of an amplitude. */
export function tones(
  length: number,
  {
    rate,
    frequencies,
    amplitude,
  }: { readonly rate: number; readonly frequencies: readonly number[]; readonly amplitude: number },
): Float32Array {
  return Float32Array.from({ length }, (_none, at) =>
    frequencies.reduce((sum, frequency) => sum + amplitude * Math.sin((2 * Math.PI * frequency * at) / rate), 0),
  );
}

/** What a voice is made of: harmonics of a pitch that glides, through resonances that move from vowel to vowel, four syllables a second. */
export function speechLike(
  length: number,
  {
    rate,
    pitch = 120,
    amplitude = 0.1,
  }: { readonly rate: number; readonly pitch?: number; readonly amplitude?: number },
): Float32Array {
  const vowels = [
    [700, 1200, 2600],
    [300, 2200, 2900],
    [450, 900, 2500],
    [550, 1800, 2600],
    [350, 800, 2300],
  ];
  let phase = 0;
  return Float32Array.from({ length }, (_none, at) => {
    const seconds = at / rate;
    const syllable = Math.floor(seconds * 4);
    const loud = Math.max(0, Math.sin(Math.PI * (seconds * 4 - syllable) * 1.25)) * (syllable % 5 === 4 ? 0 : 1);
    phase +=
      (2 *
        Math.PI *
        pitch *
        (1 + 0.15 * Math.sin(2 * Math.PI * 0.7 * seconds) + 0.03 * Math.sin(2 * Math.PI * 3.1 * seconds))) /
      rate;
    const formants = vowels[(syllable * 3) % vowels.length]!;
    let sum = 0;
    for (let harmonic = 1; harmonic * pitch < Math.min(3600, rate / 2); harmonic++) {
      const frequency = harmonic * pitch;
      sum +=
        (Math.sin(phase * harmonic) *
          formants.reduce((gain, formant) => gain + Math.exp(-(((frequency - formant) / 130) ** 2)), 0.02)) /
        Math.sqrt(harmonic);
    }
    return amplitude * loud * sum;
  });
}

/** Signals one after another. */
export function following(...parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Signals of one length together. */
export function mixed(...parts: readonly Float32Array[]): Float32Array {
  return parts[0]!.map((_none, at) => parts.reduce((sum, part) => sum + part[at]!, 0));
}

/** Share of the frames from one second to another that are voice. */
export function voicedShare(voiced: Uint8Array, from: number, to: number): number {
  return voiced.subarray(from * 100, to * 100).reduce((sum, voice) => sum + voice, 0) / ((to - from) * 100);
}
