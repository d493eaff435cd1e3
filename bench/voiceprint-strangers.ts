/**
 * Claim: of people of whom nothing was trained or calibrated, at most some 2 % are taken for another at the shipped threshold, with 30 s
 * enrolled and the length of a call.
 *
 *   npm run build && node dist/bench/voiceprint-strangers.js FOLDER
 *
 * FOLDER is what `training/line_codecs.py render` and `voices` wrote: recordings of one stretch of each person over each line, and
 * `voices/` with several stretches of 10 s of those who have as much. Voices are enrolled with three of these, and compared with their
 * others and with everybody else, by the embeddings, calibration and threshold of the service; intervals are over the enrolled people.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openScoringPool } from '../pipelines/audio/scorers/scoring-pool.ts';
import { enrolVoice, type Voiceprint } from '../pipelines/audio/voiceprint/enrolment.ts';
import { scoreIdentity } from '../pipelines/audio/voiceprint/identity-score.ts';
import type { RecordingEmbedding } from '../pipelines/audio/voiceprint/recording-embedding.ts';
import { embedForEnrolment } from '../pipelines/audio/voices/voice-enrolment.ts';
import { openVoiceModel } from '../pipelines/audio/voices/voice-model.ts';
import { loadConfig } from '../runtime/config.ts';
import { RandomNumbers } from './random-numbers.ts';

interface Recording {
  readonly line: string;
  readonly speaker: string;
  readonly voice: RecordingEmbedding | null;
}

const enrolledRecordings = 3;
const resamples = 1000;
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node dist/bench/voiceprint-strangers.js FOLDER');
const model = await openVoiceModel();
const pool = openScoringPool({ config: loadConfig({}), log: { warn: console.warn, error: console.error } });
const own = await embedAll('voices.tsv', 'voices');
const lines = [...new Set(own.map(({ line }) => line))];
const others = (await embedAll('lines.tsv', 'recordings')).filter(({ line }) => lines.includes(line));
await pool.close();

console.log(
  '| enrolled over, tested over | strangers | match % | of the person | match % | mismatch % |\n|---|---|---|---|---|---|',
);
const matchesOf = new Map<string, number[]>();
for (const enrolledOver of lines) for (const testedOver of lines) compare(enrolledOver, testedOver);
const people = [...matchesOf.values()];
console.log(
  `\nAll: ${percent(people.flat())} % of ${people.flat().length} are a match, 95 % of ${resamples} resamples over ${people.length} people ${intervalOf(people)}; by person ${people.map(percent).join(', ')}`,
);

/** Genuine recordings of a table of line_codecs.py. */
async function embedAll(table: string, place: string): Promise<Recording[]> {
  const [head, ...rows] = readFileSync(join(folder!, table), 'utf8').trimEnd().split('\n');
  const columns = head!.split('\t');
  const cell = (row: readonly string[], name: string) => row[columns.indexOf(name)]!;
  const present = new Set(readdirSync(join(folder!, place)));
  const recordings: Recording[] = [];
  for (const row of rows.map((each) => each.split('\t'))) {
    if (cell(row, 'label') !== 'genuine' || !present.has(cell(row, 'file'))) continue;
    if (place === 'recordings' && !lines.includes(cell(row, 'line'))) continue;
    const request = { file: join(folder!, place, cell(row, 'file')), directory: model.directory };
    const voice = await embedForEnrolment(pool, request, new AbortController().signal);
    recordings.push({ line: cell(row, 'line'), speaker: cell(row, 'speaker'), voice });
  }
  return recordings;
}

function compare(enrolledOver: string, testedOver: string): void {
  const [strangers, ownScores]: [number[], number[]] = [[], []];
  for (const speaker of new Set(own.map((each) => each.speaker))) {
    const voiceprint = voiceprintOf(own.filter((each) => each.speaker === speaker && each.line === enrolledOver));
    const scores = (recordings: readonly Recording[]) =>
      recordings
        .filter(({ line }) => line === testedOver)
        .flatMap(({ voice }) => scoreIdentity(voiceprint, voice, model.calibration).score ?? []);
    const tests = (of: (speaker: string) => boolean) =>
      [...new Set(own.map((each) => each.speaker))]
        .filter(of)
        .flatMap((each) =>
          own.filter((one) => one.speaker === each && one.line === testedOver).slice(enrolledRecordings),
        );
    const stranger = [
      ...scores(others.filter((each) => each.speaker !== speaker)),
      ...scores(tests((each) => each !== speaker)),
    ];
    strangers.push(...stranger);
    ownScores.push(...scores(tests((each) => each === speaker)));
    const matches = stranger.map((score) => (score >= model.identityThreshold ? 1 : 0));
    matchesOf.set(speaker, [...(matchesOf.get(speaker) ?? []), ...matches]);
  }
  const share = (all: readonly number[], holds: (score: number) => boolean) =>
    percent(all.map((score) => (holds(score) ? 1 : 0)));
  const isMatch = (score: number) => score >= model.identityThreshold;
  console.log(
    `| ${enrolledOver}, ${testedOver} | ${strangers.length} | ${share(strangers, isMatch)} | ${ownScores.length} | ${share(ownScores, isMatch)} | ${share(ownScores, (score) => score < model.mismatchThreshold)} |`,
  );
}

function voiceprintOf(recordings: readonly Recording[]): Voiceprint {
  const enrolled = enrolVoice(
    recordings.slice(0, enrolledRecordings).map(({ voice }) => voice),
    { agreementMin: model.agreementMin },
  );
  if (enrolled.voiceprint === null) throw new Error(`an enrolment was refused: ${JSON.stringify(enrolled.findings)}`);
  return enrolled.voiceprint;
}

function percent(flags: readonly number[]): string {
  return ((100 * flags.reduce((sum, flag) => sum + flag, 0)) / flags.length).toFixed(1);
}

function intervalOf(groups: readonly (readonly number[])[]): string {
  const random = new RandomNumbers(1);
  const rates = Array.from({ length: resamples }, () =>
    Number(percent(groups.flatMap(() => groups[Math.floor(random.next() * groups.length)]!))),
  ).sort((a, b) => a - b);
  return `${rates[Math.floor(resamples * 0.025)]!.toFixed(1)} to ${rates[Math.ceil(resamples * 0.975) - 1]!.toFixed(1)}`;
}
