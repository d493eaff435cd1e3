/**
 * Claim: on telephone audio `telephone/2` finds voice with fewer errors than `energy/1`, above all where a line sounds
 * without voice, and `combined/1` with fewer than `energy/1`, at 300 times real time or more on one thread.
 *
 *   npm run build && node dist/bench/voice-activity.js [--corpus DIR] [--music DIR] [--scenes 16] [--seconds 15] [--seed 1] [--json
 * | --card]
 *
 * The truth is known since the scenes are made here: speech is placed in noise, or the line sounds without any. Each
 * scene goes through mu-law, A-law or, where ffmpeg is on the PATH, GSM 06.10. `--corpus` is the folder of the training
 * corpus (CLEAN.tsv): human speakers that training/split.json holds out are taken. Without it eSpeak NG speaks, if it is
 * on the PATH. `--music` is a folder of recorded hold music: songs that were not trained on. `--card`
 * writes what is printed into the card of the detector.
 */
import { readFile } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
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
import { conditions, type Scene, type SceneMaterial } from './line-scenes.ts';
import { RandomNumbers } from './random-numbers.ts';
import { requirePrograms } from './side-by-side.ts';
import { hasGsm, readWithFfmpeg, throughCodec, type TelephoneCodec } from './telephone-codecs.ts';
import { cardOf } from './voice-activity-card.ts';
import { addScores, noScore, scoreFrames, type VoiceScore } from './voice-activity-score.ts';

const { values: options } = parseArgs({
  options: {
    corpus: { type: 'string' },
    music: { type: 'string' },
    scenes: { type: 'string', default: '16' },
    seconds: { type: 'string', default: '15' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    card: { type: 'boolean', default: false },
  },
});
const [scenes, seconds, seed] = [Number(options.scenes), Number(options.seconds), Number(options.seed)];
const rate = 8000;

/** Human segments of a corpus that are read, so that the bench begins within seconds. */
const segmentsMax = 80;

/** Lengths in seconds that scenes are cut to; the share without a score is reported for each. */
const refusedSeconds = [3, 5, 10] as const;

/** Conditions without voice that a caller may hear for so long. */
const withoutVoice = ['hold music, synthesised', 'hold music, recorded', 'noise alone'];

/** Audio that the speed is measured on, in seconds. */
const timedSeconds = 240;

if (options.corpus === undefined) requirePrograms('espeak-ng', 'ffmpeg');
const codecs: readonly TelephoneCodec[] = hasGsm() ? ['mu-law', 'A-law', 'GSM'] : ['mu-law', 'A-law']; // Debian's ffmpeg has it
const detectorFolder = 'models/voice-activity-telephone-2';
const printed: string[] = [];
const graph = await openGraph(await readFile(join(detectorFolder, 'model.onnx')), {
  inputName: 'input',
  outputName: 'output',
});
const material: SceneMaterial = {
  speech: options.corpus === undefined ? spokenHere() : heldOutSpeech(options.corpus),
  songs: options.music === undefined ? [] : songsIn(options.music),
  random: new RandomNumbers(seed),
};

say(
  `${scenes} scenes of ${seconds} s a condition, seed ${seed}, codecs ${codecs.join(', ')}; speech: ${options.corpus === undefined ? 'eSpeak NG' : `${material.speech.length} segments of held-out human speakers`}\n`,
);
say(
  '| condition | detector | frame error % | miss % | false alarm % | segments missed | false segments |\n|---|---|---|---|---|---|---|',
);
const scored: Row[] = [];
const refused: string[] = [];
for (const [condition, make] of Object.entries(conditions)) {
  if (condition === 'hold music, recorded' && material.songs.length === 0) continue;
  const drawn = Array.from({ length: scenes }, (_none, index) =>
    throughLine(make(seconds, material), codecs[index % codecs.length]!),
  );
  for (const detector of voiceDetectorNames)
    scored.push(sayRow({ condition, detector, score: await scoreAll(detector, drawn) }));
  if (withoutVoice.includes(condition)) refused.push(await refusedRow(condition, drawn));
}
const speed: Partial<Record<VoiceDetectorName, number>> = {};
for (const detector of voiceDetectorNames) speed[detector] = await timesRealTime(detector);
totals().forEach(sayRow);
say(
  `\n| condition without voice | scenes | ${voiceDetectorNames.map((name) => `without a score %: ${name}, ${refusedSeconds.join(', ')} s`).join(' | ')} |\n|---|---|${'---|'.repeat(voiceDetectorNames.length)}`,
);
refused.forEach(say);
say(
  `\nTimes real time on one thread (processor time): ${voiceDetectorNames.map((detector) => `${detector} ${Math.round(speed[detector]!)}`).join(', ')}`,
);
if (options.json)
  console.log(
    JSON.stringify(
      {
        scenes,
        seconds,
        seed,
        codecs,
        speech: options.corpus === undefined ? 'eSpeak NG' : 'held-out human speakers',
        speed,
        conditions: scored,
      },
      null,
      2,
    ),
  );
if (options.card)
  writeFileSync(
    join(detectorFolder, 'card.md'),
    cardOf({ ...(await readManifest(detectorFolder, 'voice-activity')), printed, refused: await refusedRecordings() }),
  );
await graph.close();

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

async function scoreAll(detector: VoiceDetectorName, drawn: readonly Scene[]): Promise<VoiceScore> {
  let total = noScore;
  for (const { samples, voiced } of drawn)
    total = addScores(total, scoreFrames(voiced, (await detect(detector, samples)).voiced));
  return total;
}

/** How often a scene without voice gets no score at all, which is right, by length: as long as it lasts no window has voice enough. */
async function refusedRow(condition: string, drawn: readonly Scene[]): Promise<string> {
  const cells: string[] = [];
  for (const detector of voiceDetectorNames) {
    const shares: string[] = [];
    for (const length of refusedSeconds) {
      let without = 0;
      for (const { samples } of drawn)
        without += (await hasScore(detector, samples.subarray(0, length * rate))) ? 0 : 1;
      shares.push(percent(without, drawn.length));
    }
    cells.push(shares.join(', '));
  }
  return `| ${condition} | ${drawn.length} | ${cells.join(' | ')} |`;
}

/** As the service cuts and labels windows. */
async function hasScore(detector: VoiceDetectorName, samples: Float32Array): Promise<boolean> {
  const frames = await detect(detector, samples);
  const frameOf = (place: number) => Math.floor((place * voiceFramesPerSecond) / rate);
  return windowsOf(samples.length, { window: 4 * rate, hop: 2 * rate }).some(({ from, to }) => {
    const summary = summarizeVoice(frames, frameOf(from), Math.min(frames.voiced.length, frameOf(to)));
    return labelWindow(summary, { voicedSecondsMin: 1.5, signalToNoiseDbMin }) === 'validVoice';
  });
}

function detect(name: VoiceDetectorName, samples: Float32Array) {
  return detectVoice(samples, name === 'energy/1' ? { name, sampleRate: rate } : { name, sampleRate: rate, graph });
}

/** By the processor's time, not the clock's, so that the figure holds on a machine that does other things too. Best of three runs. */
async function timesRealTime(name: VoiceDetectorName): Promise<number> {
  const { samples } = conditions['speech, noise at 20 dB']!(timedSeconds, material);
  let best = Infinity;
  for (let run = 0; run < 3; run++) {
    const before = process.cpuUsage();
    await detect(name, samples);
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1e6);
  }
  return timedSeconds / best;
}

/** Human segments of speakers on which no model was trained. */
function heldOutSpeech(folder: string): Float32Array[] {
  const { devSpeakers } = JSON.parse(readFileSync('training/split.json', 'utf8')) as {
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

/** Sentences by eSpeak NG in several voices, where it is installed with ffmpeg. */
function spokenHere(): Float32Array[] {
  const folder = mkdtempSync(join(tmpdir(), 'voice-activity-'));
  try {
    return ['en-us', 'en-gb+f3', 'de', 'es+f2', 'fr+m4'].flatMap((voice) =>
      ['one two three four five six', 'please hold the line', 'good morning, how may I help you'].map((text, index) => {
        const file = join(folder, `${voice}-${index}.wav`);
        if (spawnSync('espeak-ng', ['-v', voice, '-w', file, text]).status !== 0)
          throw new Error('Without --corpus this bench needs espeak-ng and ffmpeg on the PATH.');
        return readWithFfmpeg(file);
      }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Prints a line, unless JSON is wanted. */
function say(line: string): void {
  printed.push(line);
  if (!options.json) console.log(line);
}

function sayRow(row: Row): Row {
  const { condition, detector, score } = row;
  say(
    `| ${condition} | ${detector} | ${percent(score.missed + score.false, score.voiced + score.unvoiced)} | ${percent(score.missed, score.voiced)} | ${percent(score.false, score.unvoiced)} | ${score.segmentsMissed} of ${score.segments} | ${score.segmentsFalse} |`,
  );
  return row;
}

function totals(): Row[] {
  return voiceDetectorNames.map((detector) => ({
    condition: 'all',
    detector,
    score: scored
      .filter((row) => row.detector === detector)
      .map((row) => row.score)
      .reduce(addScores),
  }));
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '-' : ((100 * part) / whole).toFixed(1);
}
