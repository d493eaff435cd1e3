import { playHoldMusic } from './hold-music.ts';
import type { RandomNumbers } from './random-numbers.ts';

const rate = 8000;
const frameSamples = rate / 100;

/** Audio of a line at 8 kHz with the truth about it: 1 for each frame of 10 ms that holds voice. */
export interface Scene {
  readonly samples: Float32Array;
  readonly voiced: Uint8Array;
}

/** A frame of a clean segment is voice if it is within this many dB of the segment's loud frames. */
const voiceRangeDb = 28;

/** Shorter gaps are voice too, in frames: stops inside words. Shorter bursts are none. */
const gapFrames = 15;
const burstFrames = 4;

/** Which frames of a clean segment of speech are voice. */
function truthOf(segment: Float32Array): Uint8Array {
  const levels = levelsOf(segment);
  const loud = Float64Array.from(levels).sort()[Math.floor(levels.length * 0.95)] ?? -Infinity;
  const voiced = Uint8Array.from(levels, (level) => (level > Math.max(-75, loud - voiceRangeDb) ? 1 : 0));
  return withoutRuns(withoutRuns(voiced, { kind: 0, shorterThan: gapFrames }), { kind: 1, shorterThan: burstFrames });
}

function levelsOf(samples: Float32Array): number[] {
  return Array.from(
    { length: Math.floor(samples.length / frameSamples) },
    (_none, frame) => 20 * Math.log10(rmsOf(samples.subarray(frame * frameSamples, (frame + 1) * frameSamples)) + 1e-6),
  );
}

function rmsOf(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length));
}

/** Turns inner runs of `kind` that are too short into the other kind. */
function withoutRuns(
  frames: Uint8Array,
  { kind, shorterThan }: { readonly kind: 0 | 1; readonly shorterThan: number },
): Uint8Array {
  const kept = frames.slice();
  for (let from = 0, to = 0; from < kept.length; from = to) {
    for (to = from + 1; to < kept.length && kept[to] === kept[from];) to++;
    if (kept[from] === kind && from > 0 && to < kept.length && to - from < shorterThan) kept.fill(1 - kind, from, to);
  }
  return kept;
}

/** The sources of scenes: segments of clean speech, recorded songs (possibly none), and a random generator. */
export interface SceneMaterial {
  readonly speech: readonly Float32Array[];
  readonly songs: readonly Float32Array[];
  readonly random: RandomNumbers;
}

/** Makes one scene of a length in seconds. */
type SceneMaker = (seconds: number, material: SceneMaterial) => Scene;

/** The conditions of the bench. Levels are drawn a scene: voice from -32 to -16 dBFS. */
export const conditions: Readonly<Record<string, SceneMaker>> = {
  'speech, quiet line': (seconds, material) => inNoise(speechScene(seconds, material), 45, pinkNoise, material),
  'speech, noise at 20 dB': (seconds, material) =>
    inNoise(speechScene(seconds, material), 20, anyNoise(material), material),
  'speech, noise at 10 dB': (seconds, material) =>
    inNoise(speechScene(seconds, material), 10, anyNoise(material), material),
  'speech, noise at 5 dB': (seconds, material) =>
    inNoise(speechScene(seconds, material), 5, anyNoise(material), material),
  'speech, noise at 0 dB': (seconds, material) =>
    inNoise(speechScene(seconds, material), 0, anyNoise(material), material),
  'speech over music at 10 dB': (seconds, material) =>
    inNoise(speechScene(seconds, material), 10, (length) => playHoldMusic(length / rate, material.random), material),
  'silence and comfort noise': (seconds, material) =>
    silent(seconds, material, (length) => gated(whiteNoise(length, material.random), material.random), -62),
  'noise alone': (seconds, material) =>
    silent(seconds, material, (length) => anyNoise(material)(length, material.random), -35),
  'dial tone': (seconds, material) =>
    silent(seconds, material, (length) => tones(length, material.random.pick([[350, 440], [425], [400, 450]])), -20),
  'ring and busy tones': (seconds, material) =>
    silent(seconds, material, (length) => cadence(length, material.random), -20),
  'keys (DTMF)': (seconds, material) => silent(seconds, material, (length) => keys(length, material.random), -20),
  'fax and modem': (seconds, material) => silent(seconds, material, (length) => modem(length, material.random), -20),
  'hold music, synthesised': (seconds, material) =>
    silent(seconds, material, (length) => playHoldMusic(length / rate, material.random), -20),
  'hold music, recorded': (seconds, material) => silent(seconds, material, (length) => partOf(material, length), -20),
  'call: tones, music, speech': callScene,
};

/** Segments of speech with pauses of 0.3 to 2.5 s. */
function speechScene(seconds: number, { speech, random }: SceneMaterial): Scene {
  const scene = emptyScene(seconds);
  for (let frame = Math.floor(random.between(0, 150)); frame < scene.voiced.length;) {
    const segment = random.pick(speech);
    const truth = truthOf(segment);
    const gain = (0.1 / (rmsOf(segment) + 1e-9)) * 10 ** (random.between(-3, 3) / 20);
    place(scene, { frame, samples: segment.map((sample) => sample * gain), voiced: truth });
    frame += truth.length + Math.floor(random.between(30, 250));
  }
  return scene;
}

/** A call from dialling to its end: a dial tone, keys, ringing, music on hold, then speech. */
function callScene(seconds: number, material: SceneMaterial): Scene {
  const { random } = material;
  const scene = emptyScene(seconds);
  const shares: readonly [number, (length: number) => Float32Array][] = [
    [0.08, (length) => tones(length, [350, 440])],
    [0.1, (length) => keys(length, random)],
    [0.2, (length) => cadence(length, random)],
    [0.22, (length) => playHoldMusic(length / rate, random)],
  ];
  let frame = 0;
  for (const [share, make] of shares) {
    const frames = Math.round(scene.voiced.length * share);
    place(scene, { frame, samples: withRms(make(frames * frameSamples), 0.1), voiced: new Uint8Array(frames) });
    frame += frames;
  }
  const talk = speechScene((scene.voiced.length - frame) / 100, material);
  place(scene, { frame, ...talk });
  return inNoise(scene, 25, anyNoise(material), material);
}

function emptyScene(seconds: number): Scene {
  const frames = Math.round(seconds * 100);
  return { samples: new Float32Array(frames * frameSamples), voiced: new Uint8Array(frames) };
}

function place(scene: Scene, { frame, samples, voiced }: Scene & { readonly frame: number }): void {
  const room = scene.voiced.length - frame;
  scene.voiced.set(voiced.subarray(0, room), frame);
  scene.samples.set(samples.subarray(0, Math.min(room, voiced.length) * frameSamples), frame * frameSamples);
}

type NoiseMaker = (length: number, random: RandomNumbers) => Float32Array;

/** A scene with noise a number of dB under its sounds (rms over the frames that are not silent), at a random level. */
function inNoise(scene: Scene, snrDb: number, noise: NoiseMaker, { random }: SceneMaterial): Scene {
  const sounding = levelsOf(scene.samples).filter((level) => level > -70);
  const soundDb =
    10 *
    Math.log10(sounding.reduce((sum, level) => sum + 10 ** (level / 10), 0) / Math.max(1, sounding.length) + 1e-12);
  const added = withRms(noise(scene.samples.length, random), 10 ** ((soundDb - snrDb) / 20));
  const gain = 10 ** ((random.between(-32, -16) - soundDb) / 20);
  return { samples: scene.samples.map((sample, at) => (sample + added[at]!) * gain), voiced: scene.voiced };
}

/** A scene without voice, 6 dB about a level, on a line with a little noise. */
function silent(
  seconds: number,
  { random }: SceneMaterial,
  make: (length: number) => Float32Array,
  levelDbfs: number,
): Scene {
  const scene = emptyScene(seconds);
  const sound = withRms(make(scene.samples.length), 10 ** ((levelDbfs + random.between(-6, 6)) / 20));
  const line = withRms(pinkNoise(scene.samples.length, random), 10 ** (random.between(-75, -55) / 20));
  return { samples: sound.map((sample, at) => sample + line[at]!), voiced: scene.voiced };
}

function withRms(samples: Float32Array, rms: number): Float32Array {
  const gain = rms / (rmsOf(samples) + 1e-9);
  return samples.map((sample) => sample * gain);
}

function anyNoise({ random }: SceneMaterial): NoiseMaker {
  return random.pick([whiteNoise, pinkNoise, rumble, hum, trafficNoise]);
}

function whiteNoise(length: number, random: RandomNumbers): Float32Array {
  return Float32Array.from({ length }, () => random.normal());
}

/** Noise of 3 dB an octave less (three one-pole filters, after P. Kellet's economy method). */
function pinkNoise(length: number, random: RandomNumbers): Float32Array {
  let [a, b, c] = [0, 0, 0];
  return Float32Array.from({ length }, () => {
    const white = random.normal();
    [a, b, c] = [0.99765 * a + 0.099046 * white, 0.963 * b + 0.2965164 * white, 0.57 * c + 1.0526913 * white];
    return a + b + c + white * 0.1848;
  });
}

function rumble(length: number, random: RandomNumbers): Float32Array {
  let low = 0;
  return Float32Array.from({ length }, () => (low = 0.96 * low + random.normal()) + 0.3 * random.normal());
}

function hum(length: number, random: RandomNumbers): Float32Array {
  const base = random.pick([50, 60]);
  const phases = Array.from({ length: 14 }, () => random.between(0, 2 * Math.PI));
  const noise = pinkNoise(length, random);
  return Float32Array.from(
    { length },
    (_none, at) =>
      phases.reduce(
        (sum, phase, h) => sum + Math.sin((2 * Math.PI * base * (h + 1) * at) / rate + phase) / (h + 1),
        0,
      ) +
      0.4 * noise[at]!,
  );
}

/** Noise that swells for seconds, as passing cars. */
function trafficNoise(length: number, random: RandomNumbers): Float32Array {
  const [speed, phase] = [random.between(0.1, 0.5), random.between(0, 6)];
  return rumble(length, random).map(
    (sample, at) => sample * (1 + 0.8 * Math.sin((2 * Math.PI * speed * at) / rate + phase)),
  );
}

/** Noise that is switched off now and then, as where silence is not sent. */
function gated(noise: Float32Array, random: RandomNumbers): Float32Array {
  const period = Math.round(random.between(1, 4) * rate);
  return noise.map((sample, at) => (Math.floor(at / period) % 2 === 0 ? sample : 0));
}

function tones(length: number, frequencies: readonly number[]): Float32Array {
  return Float32Array.from({ length }, (_none, at) =>
    frequencies.reduce((sum, frequency) => sum + Math.sin((2 * Math.PI * frequency * at) / rate), 0),
  );
}

/** Ringing and busy tones of several countries (ITU-T E.180 supplement 2): seconds on and off in turn. */
function cadence(length: number, random: RandomNumbers): Float32Array {
  const [frequencies, times] = random.pick<readonly [readonly number[], readonly number[]]>([
    [
      [440, 480],
      [2, 4],
    ],
    [[425], [1, 4]],
    [
      [400, 450],
      [0.4, 0.2, 0.4, 2],
    ],
    [
      [480, 620],
      [0.5, 0.5],
    ],
    [[425], [0.5, 0.5]],
    [[440], [1.5, 3.5]],
    [[425], [0.25, 0.25]],
  ]);
  const period = times.reduce((sum, time) => sum + time, 0);
  return tones(length, frequencies).map((sample, at) => (isOn((at / rate) % period, times) ? sample : 0));
}

function isOn(seconds: number, times: readonly number[]): boolean {
  let [end, index] = [0, 0];
  while (index < times.length && seconds >= (end += times[index]!)) index++;
  return index % 2 === 0;
}

function keys(length: number, random: RandomNumbers): Float32Array {
  const samples = new Float32Array(length);
  for (let at = 0; at < length;) {
    const count = Math.round(random.between(0.06, 0.3) * rate);
    samples.set(
      tones(Math.min(count, length - at), [random.pick([697, 770, 852, 941]), random.pick([1209, 1336, 1477])]),
      at,
    );
    at += count + Math.round(random.between(0.06, 0.8) * rate);
  }
  return samples;
}

/** Keyed frequencies (ITU-T V.21 and V.23) and the tones of fax machines (ITU-T T.30). */
function modem(length: number, random: RandomNumbers): Float32Array {
  const [mark, space, baud] = random.pick([
    [980, 1180, 300],
    [1650, 1850, 300],
    [1300, 2100, 1200],
    [2100, 2100, 300],
    [1100, 1100, 300],
  ] as const);
  let [phase, frequency] = [0, mark as number];
  return Float32Array.from({ length }, (_none, at) => {
    if (at % Math.round(rate / baud) === 0) frequency = random.next() < 0.5 ? mark : space;
    return Math.sin((phase += (2 * Math.PI * frequency) / rate));
  });
}

function partOf({ songs, random }: SceneMaterial, length: number): Float32Array {
  const song = random.pick(songs);
  const from = Math.floor(random.between(0, Math.max(0, song.length - length)));
  const part = new Float32Array(length);
  part.set(song.subarray(from, from + length));
  return part;
}
