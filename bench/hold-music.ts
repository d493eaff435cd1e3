import type { RandomNumbers } from './random-numbers.ts';

const rate = 8000;

/** How a note sounds: `phase` counts periods, `seconds` since it began. */
type Timbre = (phase: number, seconds: number) => number;

/**
 * Instruments of the bench. They are made otherwise than those of the training (training/voice_activity/music.py: random
 * harmonics, two-operator frequency modulation, Karplus and Strong), so that a detector is not asked what it was taught.
 */
const timbres: Readonly<Record<string, Timbre>> = {
  piano: (phase, seconds) =>
    sumOf(
      8,
      (n) =>
        (Math.sin(2 * Math.PI * phase * n * Math.sqrt(1 + 0.0007 * n * n)) / n) * Math.exp(-seconds * (1.5 + 0.9 * n)),
    ),
  marimba: (phase, seconds) =>
    Math.sin(2 * Math.PI * phase) * Math.exp(-6 * seconds) +
    0.4 * Math.sin(2 * Math.PI * phase * 3.93) * Math.exp(-14 * seconds),
  saws: (phase) => sumOf(3, (n) => 2 * fraction(phase * (1 + 0.004 * n)) - 1) / 2,
  pad: (phase, seconds) =>
    (fraction(phase) < 0.3 + 0.2 * Math.sin(2 * Math.PI * 0.4 * seconds) ? 0.7 : -0.7) * Math.min(1, seconds / 0.25),
  reed: (phase, seconds) =>
    Math.tanh(2.5 * Math.sin(2 * Math.PI * phase + 0.25 * Math.sin(2 * Math.PI * 5.2 * seconds))) *
    (0.8 + 0.2 * Math.sin(2 * Math.PI * 5.2 * seconds)),
  choir: (phase, seconds) =>
    sumOf(
      16,
      (n) =>
        Math.sin(2 * Math.PI * (phase * n + 0.02 * n * Math.sin(2 * Math.PI * 5 * seconds))) *
        (1 / n + 0.5 * Math.exp(-(((n - 5) / 2) ** 2))),
    ) / 2,
};

function sumOf(count: number, term: (n: number) => number): number {
  let sum = 0;
  for (let n = 1; n <= count; n++) sum += term(n);
  return sum;
}

function fraction(phase: number): number {
  return phase - Math.floor(phase);
}

interface Note {
  readonly timbre: Timbre;
  readonly midi: number;
  readonly start: number;
  readonly seconds: number;
  readonly loud: number;
}

/** A piece of hold music at 8 kHz: a turning progression of four chords, broken chords, a tune over it, and at times a drum kit. */
export function playHoldMusic(seconds: number, random: RandomNumbers): Float32Array {
  const piece = new Float32Array(Math.round(seconds * rate));
  const beat = 60 / random.between(66, 150);
  const key = Math.floor(random.between(45, 57));
  const progression = random.pick([
    [0, 7, 9, 5],
    [0, 9, 5, 7],
    [0, 4, 5, 7],
    [9, 5, 0, 7],
    [0, 5, 0, 7],
  ]);
  const names = Object.keys(timbres);
  const [low, middle, tune] = [0, 1, 2].map(() => timbres[random.pick(names)]!);
  const hasDrums = random.next() < 0.5;
  for (let at = 0; at * beat < seconds; at++) {
    const root = key + progression[Math.floor(at / 4) % 4]!;
    if (at % 4 === 0) play(piece, { timbre: low!, midi: root - 12, start: at * beat, seconds: beat * 3.8, loud: 0.5 });
    for (const half of [0, 0.5])
      play(piece, {
        timbre: middle!,
        midi: root + [0, 4, 7, 12][(at * 2 + half * 2) % 4]!,
        start: (at + half) * beat,
        seconds: beat * 0.6,
        loud: 0.35,
      });
    if (random.next() < 0.7)
      play(piece, {
        timbre: tune!,
        midi: root + random.pick([12, 14, 16, 19, 21]),
        start: at * beat,
        seconds: beat * random.pick([0.5, 1, 1.5]),
        loud: 0.5,
      });
    if (hasDrums) drum(piece, { at, beat, random });
  }
  return piece;
}

function play(piece: Float32Array, { timbre, midi, start, seconds, loud }: Note): void {
  const frequency = 440 * 2 ** ((midi - 69) / 12);
  const [from, count] = [Math.round(start * rate), Math.round(seconds * rate)];
  for (let n = 0; n < count && from + n < piece.length; n++) {
    const fade = Math.min(1, n / 40, (count - n) / 200);
    piece[from + n]! += loud * fade * timbre((frequency * n) / rate, n / rate);
  }
}

function drum(
  piece: Float32Array,
  { at, beat, random }: { readonly at: number; readonly beat: number; readonly random: RandomNumbers },
): void {
  const from = Math.round(at * beat * rate);
  for (let n = 0; n < 0.2 * rate && from + n < piece.length; n++) {
    const seconds = n / rate;
    piece[from + n]! +=
      at % 2 === 0
        ? Math.sin(2 * Math.PI * (48 * seconds + 3 * (1 - Math.exp(-40 * seconds)))) * Math.exp(-18 * seconds)
        : random.normal() * 0.4 * Math.exp(-25 * seconds);
  }
}
