import { readFile } from 'node:fs/promises';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readUnseenEvaluation } from '../evaluation/audio/unseen-evaluation.ts';
import { openGraph } from '../pipelines/audio/inference/graph.ts';
import {
  detectVoice,
  labelWindow,
  summarizeVoice,
  voiceDetectorNames,
  voiceFramesPerSecond,
  type VoiceDetectorName,
} from '../pipelines/audio/voice-activity/voice-activity.ts';
import { signalToNoiseDbMin } from '../pipelines/audio/scoring/channel-windows.ts';
import { windowsOf } from '../pipelines/audio/signal/windows.ts';
import { readManifest } from '../pipelines/audio/models/manifest.ts';
import { packageRoot } from '../runtime/package-root.ts';
import { isMain } from './program.ts';
import { readSample } from './sample-recording.ts';
import { conditions, type Scene, type SceneMaterial } from './line-scenes.ts';
import { RandomNumbers } from './random-numbers.ts';
import { hasGsm, readWithFfmpeg, throughCodec, type TelephoneCodec } from './telephone-codecs.ts';
import { cardOf } from './voice-activity-card.ts';
import { addScores, noScore, scoreFrames, type VoiceScore } from './voice-activity-score.ts';

/**
 * Claim: on telephone audio `telephone/2` finds voice with fewer errors than `energy/1`, above all where a line sounds
 * without voice, and `combined/1` with fewer than `energy/1`, at 300 times real time or more on one thread.
 *
 *   npm run build && node dist/bench/voice-activity.js [--corpus DIR] [--music DIR] [--scenes 16] [--seconds 15] [--seed 1] [--card]
 *
 * The truth is known since the scenes are made here: speech is placed in noise, or the line sounds without any. Each
 * scene goes through mu-law, A-law or, where ffmpeg is on the PATH, GSM 06.10. `--corpus` is the folder of the training
 * corpus (CLEAN.tsv): human speakers that training/split.json holds out are taken, else those of samples/recordings. `--music` is a
 * folder of recorded hold music: songs that were not trained on. `--card` writes what is printed into the card of the detector.
 */
const rate = 8000;

/** Human segments of a corpus that are read, so that the bench begins within seconds. */
const segmentsMax = 80;

/** Lengths in seconds that scenes are cut to; the share without a score is reported for each. */
const refusedSeconds = [3, 5, 10] as const;

/** Conditions without voice that a caller may hear for so long. */
const withoutVoice = ['hold music, synthesised', 'hold music, recorded', 'noise alone'];

/** Audio that the speed is measured on, in seconds. */
const timedSeconds = 240;

const detectorFolder = join(packageRoot, 'models/voice-activity-telephone-2');
const openDetector = async () =>
  openGraph(await readFile(join(detectorFolder, 'model.onnx')), { inputName: 'input', outputName: 'output' });
type Detector = Awaited<ReturnType<typeof openDetector>>;

/** What scenes are made of, and how many of a condition, of how many seconds. */
interface SceneSet extends SceneMaterial {
  readonly scenes: number;
  readonly seconds: number;
  readonly codecs: readonly TelephoneCodec[];
}

/** What each detector finds in scenes of each condition. */
interface DetectorComparison {
  readonly rows: readonly Row[];
  /** All conditions together. */
  readonly totals: readonly Row[];
  /** Rows of a table: the share of scenes without voice that get no score. */
  readonly refused: readonly string[];
  /** Times real time on one thread, by processor time. */
  readonly speed: Readonly<Record<VoiceDetectorName, number>>;
}

/** Runs all detectors on the same scenes. */
export async function compareDetectors(set: SceneSet): Promise<DetectorComparison> {
  const graph = await openDetector();
  const rows: Row[] = [];
  const refused: string[] = [];
  const speed: Partial<Record<VoiceDetectorName, number>> = {};
  for (const [condition, make] of Object.entries(conditions)) {
    if (condition === 'hold music, recorded' && set.songs.length === 0) continue;
    const drawn = Array.from({ length: set.scenes }, (_none, index) =>
      throughLine(make(set.seconds, set), set.codecs[index % set.codecs.length]!),
    );
    for (const detector of voiceDetectorNames)
      rows.push({ condition, detector, score: await scoreAll(graph, detector, drawn) });
    if (withoutVoice.includes(condition)) refused.push(await refusedRow(graph, condition, drawn));
  }
  for (const detector of voiceDetectorNames) speed[detector] = await timesRealTime(graph, detector, set);
  await graph.close();
  const totals = voiceDetectorNames.map((detector) => ({
    condition: 'all',
    detector,
    score: rows
      .filter((row) => row.detector === detector)
      .map((row) => row.score)
      .reduce(addScores),
  }));
  return { rows, totals, refused, speed: speed as DetectorComparison['speed'] };
}

/** Frames that are wrong, of all. */
export function errorOf({ missed, false: falsely, voiced, unvoiced }: VoiceScore): number {
  return (missed + falsely) / (voiced + unvoiced);
}

function describe(set: SceneSet, { rows, totals, refused, speed }: DetectorComparison): string[] {
  const names = voiceDetectorNames.map((name) => `without a score %: ${name}, ${refusedSeconds.join(', ')} s`);
  const times = voiceDetectorNames.map((detector) => `${detector} ${Math.round(speed[detector])}`);
  return [
    `${set.scenes} scenes of ${set.seconds} s a condition, codecs ${set.codecs.join(', ')}; speech: ${set.speech.length} segments\n`,
    '| condition | detector | frame error % | miss % | false alarm % | segments missed | false segments |\n|---|---|---|---|---|---|---|',
    ...[...rows, ...totals].map(
      ({ condition, detector, score }) =>
        `| ${condition} | ${detector} | ${percent(errorOf(score), 1)} | ${percent(score.missed, score.voiced)} | ${percent(score.false, score.unvoiced)} | ${score.segmentsMissed} of ${score.segments} | ${score.segmentsFalse} |`,
    ),
    `\n| condition without voice | scenes | ${names.join(' | ')} |\n|---|---|${'---|'.repeat(names.length)}`,
    ...refused,
    `\nTimes real time on one thread (processor time): ${times.join(', ')}`,
  ];
}

/** What folds.py counted of held-out recordings: rows of a table, by family and length. */
async function refusedRecordings(): Promise<string[]> {
  const rows: string[] = [];
  for (const [family, directory] of [
    ['phone', 'models/phone-v8.1'],
    ['digital', 'models/digital-v3.2'],
  ] as const) {
    const { refused: counted } = (await readUnseenEvaluation(directory))!;
    for (const length of refusedSeconds.map((each) => `${each} s`)) {
      const of = (label: string) => counted['combined/1']![length]![label]!.recordings;
      const shares = voiceDetectorNames.map((name) =>
        ['bonafide', 'synthetic', 'replay']
          .map((label) => (100 * counted[name]![length]![label]!.share).toFixed(1))
          .join(', '),
      );
      rows.push(
        `| ${family} | ${length} | ${of('bonafide')}, ${of('synthetic')}, ${of('replay')} | ${shares.join(' | ')} |`,
      );
    }
  }
  return [
    `| family | length | genuine, synthetic, replayed | ${voiceDetectorNames.join(' | ')} |`,
    `|---|---|---|${'---|'.repeat(voiceDetectorNames.length)}`,
    ...rows,
  ];
}

interface Row {
  readonly condition: string;
  readonly detector: VoiceDetectorName;
  readonly score: VoiceScore;
}

function throughLine({ samples, voiced }: Scene, codec: TelephoneCodec): Scene {
  return { samples: throughCodec(samples, codec), voiced };
}

async function scoreAll(graph: Detector, detector: VoiceDetectorName, drawn: readonly Scene[]): Promise<VoiceScore> {
  let total = noScore;
  for (const { samples, voiced } of drawn)
    total = addScores(total, scoreFrames(voiced, (await detect(graph, detector, samples)).voiced));
  return total;
}

/** How often a scene without voice gets no score at all, which is right, by length: as long as it lasts no window has voice enough. */
async function refusedRow(graph: Detector, condition: string, drawn: readonly Scene[]): Promise<string> {
  const cells: string[] = [];
  for (const detector of voiceDetectorNames) {
    const shares: string[] = [];
    for (const length of refusedSeconds) {
      let without = 0;
      for (const { samples } of drawn)
        without += (await hasScore(graph, detector, samples.subarray(0, length * rate))) ? 0 : 1;
      shares.push(percent(without, drawn.length));
    }
    cells.push(shares.join(', '));
  }
  return `| ${condition} | ${drawn.length} | ${cells.join(' | ')} |`;
}

/** As the service cuts and labels windows. */
async function hasScore(graph: Detector, detector: VoiceDetectorName, samples: Float32Array): Promise<boolean> {
  const frames = await detect(graph, detector, samples);
  const frameOf = (place: number) => Math.floor((place * voiceFramesPerSecond) / rate);
  return windowsOf(samples.length, { window: 4 * rate, hop: 2 * rate }).some(({ from, to }) => {
    const summary = summarizeVoice(frames, frameOf(from), Math.min(frames.voiced.length, frameOf(to)));
    return labelWindow(summary, { voicedSecondsMin: 1.5, signalToNoiseDbMin }) === 'validVoice';
  });
}

function detect(graph: Detector, name: VoiceDetectorName, samples: Float32Array) {
  return detectVoice(samples, name === 'energy/1' ? { name, sampleRate: rate } : { name, sampleRate: rate, graph });
}

/** By the processor's time, not the clock's, so that the figure holds on a machine that does other things too. Best of three runs. */
async function timesRealTime(graph: Detector, name: VoiceDetectorName, material: SceneMaterial): Promise<number> {
  const { samples } = conditions['speech, noise at 20 dB']!(timedSeconds, material);
  let best = Infinity;
  for (let run = 0; run < 3; run++) {
    const before = process.cpuUsage();
    await detect(graph, name, samples);
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1e6);
  }
  return timedSeconds / best;
}

/** Human segments of speakers on which no model was trained. */
function heldOutSpeech(folder: string): Float32Array[] {
  const { devSpeakers } = JSON.parse(readFileSync(join(packageRoot, 'training/split.json'), 'utf8')) as {
    readonly devSpeakers: readonly string[];
  };
  const [header, ...rows] = readFileSync(join(folder, 'CLEAN.tsv'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
  const column = (name: string) => header!.indexOf(name);
  const heldOut = rows.filter(
    (row) => row[column('label')] === 'bonafide' && devSpeakers.includes(row[column('speaker')]!),
  );
  const step = Math.max(1, heldOut.length / segmentsMax);
  return Array.from({ length: Math.min(segmentsMax, heldOut.length) }, (_none, index) =>
    readWithFfmpeg(join(folder, heldOut[Math.floor(index * step)]![column('path')]!)),
  );
}

function songsIn(folder: string): Float32Array[] {
  return readdirSync(folder)
    .filter((name) => /\.(wav|flac|mp3|ogg|opus)$/.test(name))
    .sort()
    .map((name) => readWithFfmpeg(join(folder, name)));
}

/** The speech of the samples, at 8 kHz, in segments of 4 s. */
export async function sampledSpeech(): Promise<Float32Array[]> {
  const segments: Float32Array[] = [];
  for (const name of ['reader-a-1.wav', 'reader-a-2.wav', 'synthesizer-espeak-de.wav', 'synthesizer-espeak-en.wav']) {
    const samples = await readSample(name, rate);
    for (let at = 0; at + 4 * rate <= samples.length; at += 4 * rate) segments.push(samples.slice(at, at + 4 * rate));
  }
  return segments;
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '-' : ((100 * part) / whole).toFixed(1);
}

if (isMain(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      corpus: { type: 'string' },
      music: { type: 'string' },
      scenes: { type: 'string', default: '16' },
      seconds: { type: 'string', default: '15' },
      seed: { type: 'string', default: '1' },
      card: { type: 'boolean', default: false },
    },
  });
  const set: SceneSet = {
    speech: values.corpus === undefined ? await sampledSpeech() : heldOutSpeech(values.corpus),
    songs: values.music === undefined ? [] : songsIn(values.music),
    random: new RandomNumbers(Number(values.seed)),
    scenes: Number(values.scenes),
    seconds: Number(values.seconds),
    codecs: hasGsm() ? ['mu-law', 'A-law', 'GSM'] : ['mu-law', 'A-law'], // Debian's ffmpeg has it
  };
  const printed = describe(set, await compareDetectors(set));
  for (const line of printed) console.log(line);
  if (values.card)
    writeFileSync(
      join(detectorFolder, 'card.md'),
      cardOf({
        ...(await readManifest(detectorFolder, 'voice-activity')),
        printed,
        refused: await refusedRecordings(),
      }),
    );
}
