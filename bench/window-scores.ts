/**
 * A step of the training: the logits of the shipped models that training/folds.py calibrates and measures, and how many recordings
 * each detector of voice leaves without a score.
 *
 *   npm run build && node dist/bench/window-scores.js phone FOLDER
 *
 * FOLDER is TRAINING_WORK with `pack-phone.i16` and `pack-phone.json` of training/corpus.py. Held-out clips are taken, alone and
 * joined to 3, 5 and 10 s of one speaker and condition. Writes `windows-phone.jsonl` there: of each window the seconds of voice that each
 * detector finds, its label, and the logits of each model; and prints the share of clips without a valid window.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openGraph } from '../pipelines/audio/inference/graph.ts';
import { readManifest } from '../pipelines/audio/models/manifest.ts';
import { readWeights } from '../pipelines/audio/models/model-weights.ts';
import { signalToNoiseDbMin, voiceRateOf } from '../pipelines/audio/scoring/channel-windows.ts';
import { WindowBatch } from '../pipelines/audio/scoring/window-batch.ts';
import { windowsOf, type Stretch } from '../pipelines/audio/signal/windows.ts';
import {
  detectVoice,
  labelWindow,
  summarizeVoice,
  voiceDetectorNames,
  voiceFramesPerSecond,
} from '../pipelines/audio/voice-activity/voice-activity.ts';

interface Clip {
  readonly start: number;
  readonly length: number;
  readonly label: string;
  readonly speaker: string;
  readonly synthesizer: string;
  readonly codec: string;
  readonly base_label: string;
  readonly split: 'train' | 'dev';
}

interface Item {
  /** Places of its clips in the store. */
  readonly clips: readonly number[];
  /** Seconds to which clips were joined; null for a clip alone. */
  readonly joined: number | null;
}

const joinedSeconds = [3, 5, 10];
const voicedSecondsMin = 1.5;
const [family, folder] = process.argv.slice(2);
if ((family !== 'phone' && family !== 'digital') || folder === undefined)
  throw new Error('usage: node dist/bench/window-scores.js phone|digital FOLDER');
const rate = family === 'phone' ? 8000 : 16_000;
const cut = { window: 4 * rate, hop: 2 * rate };
const bytes = readFileSync(join(folder, `pack-${family}.i16`));
const audio = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
const clips = JSON.parse(readFileSync(join(folder, `pack-${family}.json`), 'utf8')) as readonly Clip[];
const detectorGraph = await openGraph('models/voice-activity-telephone-2/model.onnx', {
  inputName: 'input',
  outputName: 'output',
});
const models = await openModels();
const lines: string[] = [];
const refused = new Map<string, { clips: number; refused: number }>();
for (const item of itemsOf(clips)) lines.push(JSON.stringify(await describeItem(item)));
writeFileSync(join(folder, `windows-${family}.jsonl`), `${lines.join('\n')}\n`);
console.log('| detector | length | label | recordings | without a score % |\n|---|---|---|---|---|');
for (const [key, { clips: count, refused: without }] of [...refused].sort(([a], [b]) => (a < b ? -1 : 1)))
  console.log(`| ${key} | ${count} | ${((100 * without) / count).toFixed(1)} |`);

/** One batch for each weights: a model with the weights of another one has the same logits. */
async function openModels() {
  const batches = new Map<string, { readonly name: string; readonly batch: WindowBatch }>();
  for (const name of readdirSync('models').filter((each) => each.startsWith(`${family}-v`))) {
    const directory = join('models', name);
    const manifest = await readManifest(directory);
    if (batches.has(manifest.sha256) || !existsSync(join(directory, manifest.file))) continue;
    const graph = await openGraph(await readWeights(join(directory, manifest.file), manifest), {
      inputName: manifest.input.name,
      outputName: manifest.output.name,
    });
    batches.set(manifest.sha256, { name: manifest.model, batch: new WindowBatch({ manifest, graph }) });
  }
  return [...batches.values()];
}

/** Held-out clips alone, and those of one speaker and condition joined. */
function itemsOf(all: readonly Clip[]): Item[] {
  const heldOut = [...all.keys()].filter((at) => all[at]!.split === 'dev');
  const groups = groupBy(heldOut, conditionOf);
  const joined: Item[] = [];
  for (const members of groups.values()) {
    for (const seconds of joinedSeconds) {
      let [open, length] = [[] as number[], 0];
      for (const at of members) {
        open.push(at);
        length += all[at]!.length;
        if (length < seconds * rate) continue;
        joined.push({ clips: open, joined: seconds });
        [open, length] = [[], 0];
      }
    }
  }
  return [...heldOut.map((at) => ({ clips: [at], joined: null })), ...joined];
}

function conditionOf(at: number): string {
  const { label, base_label, speaker, synthesizer, codec } = clips[at]!;
  return [label, base_label, speaker, synthesizer, codec].join('\t');
}

function groupBy(places: readonly number[], keyOf: (at: number) => string): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  for (const at of places) groups.set(keyOf(at), [...(groups.get(keyOf(at)) ?? []), at]);
  return groups;
}

async function describeItem({ clips: places, joined }: Item) {
  const samples = samplesOf(places).subarray(0, joined === null ? undefined : joined * rate);
  const stretches = windowsOf(samples.length, cut);
  const voice: Record<string, { readonly voicedSeconds: number; readonly label: string }[]> = {};
  for (const name of voiceDetectorNames) {
    const sampleRate = voiceRateOf(rate);
    const settings = name === 'energy/1' ? { name, sampleRate } : ({ name, sampleRate, graph: detectorGraph } as const);
    const frames = await detectVoice(samples, settings);
    voice[name] = stretches.map(({ from, to }) => {
      const summary = summarizeVoice(frames, frameOf(from), Math.min(frames.voiced.length, frameOf(to)));
      return {
        voicedSeconds: summary.voicedSeconds,
        label: labelWindow(summary, { voicedSecondsMin, signalToNoiseDbMin }),
      };
    });
    count(
      name,
      joined === null ? lengthOf(samples.length / rate) : `${joined} s, joined`,
      places[0]!,
      voice[name].some(({ label }) => label === 'validVoice'),
    );
  }
  return { clips: places, joined, seconds: samples.length / rate, voice, logits: await logitsOf(samples, stretches) };
}

function samplesOf(places: readonly number[]): Float32Array {
  const parts = places.map((at) => audio.subarray(clips[at]!.start, clips[at]!.start + clips[at]!.length));
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) for (const sample of part) whole[at++] = sample / 32_768;
  return whole;
}

async function logitsOf(samples: Float32Array, stretches: readonly Stretch[]) {
  const found: Record<string, (readonly [number, number])[]> = {};
  for (const { name, batch } of models) {
    const rows: (readonly [number, number])[] = (found[name] = []);
    for (const [at, { from, to }] of stretches.entries())
      await batch.add(samples.subarray(from, to), ({ synthesis, replay }) => (rows[at] = [synthesis!, replay!]));
    await batch.flush();
  }
  return found;
}

function lengthOf(seconds: number): string {
  return seconds < 2 ? 'under 2 s' : seconds < 3 ? '2 to 3 s' : '3 to 5 s';
}

function count(detector: string, length: string, at: number, isScored: boolean): void {
  const key = `${detector} | ${length} | ${clips[at]!.label}`;
  const { clips: total, refused: without } = refused.get(key) ?? { clips: 0, refused: 0 };
  refused.set(key, { clips: total + 1, refused: without + (isScored ? 0 : 1) });
}

function frameOf(place: number): number {
  return Math.floor((place * voiceFramesPerSecond) / rate);
}
