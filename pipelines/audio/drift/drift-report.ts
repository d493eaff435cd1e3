import type { AudioReason } from '../reasons.ts';
import {
  DECISION_LABELS,
  SCORE_NAMES,
  type DecisionLabel,
  type ScoreName,
  type Scores,
  type ScoringSettings,
} from '../verification.ts';
import { pairedChange, type PairedChange } from './paired-change.ts';
import { logitOf, scoreShift, type ScoreShift } from './score-shift.ts';

/** Flips that a report lists, the largest first; it counts them all. */
export const flipsListedMax = 1000;

/** Recordings without a comparison that a report lists; it counts them all. */
export const notComparedListedMax = 1000;

/** Recordings whose scores a report keeps for its picture, flips first; more would hide each other. */
export const pointsMax = 2000;

/** The answer of one model for one recording. */
export type ModelAnswer =
  | { readonly kind: 'scored'; readonly label: DecisionLabel; readonly scores: Scores }
  /** It was opened, but there was nothing to score. */
  | { readonly kind: 'withoutScore'; readonly reason: AudioReason }
  /** It could not be scored, as when its audio is deleted. */
  | { readonly kind: 'failed'; readonly reason: AudioReason };

/** A recording of the batch. Audio that the batch has several times is one recording. */
interface RecordingOfBatch {
  readonly audioSha256: string;
  /** Of its first item. */
  readonly line: number;
  readonly source: string;
  /** How many items have this audio. */
  readonly items: number;
}

/** A recording with the answers of both models. */
export interface AnsweredRecording extends RecordingOfBatch {
  readonly old: ModelAnswer;
  readonly new: ModelAnswer;
}

/** A model as it was when the report was made. */
export interface ComparedModel {
  readonly model: string;
  readonly manifestSha256: string;
  readonly thresholds: Scores;
}

/** A recording whose decision differs with the new model. */
export interface Flip extends RecordingOfBatch {
  readonly old: { readonly label: DecisionLabel; readonly scores: Scores };
  readonly new: { readonly label: DecisionLabel; readonly scores: Scores };
}

/** A recording that at least one model gave no score, with the reason of each that did not. */
export interface NotCompared extends RecordingOfBatch {
  readonly old: AudioReason | null;
  readonly new: AudioReason | null;
}

/** One point of the picture. */
export interface DriftPoint {
  readonly old: Scores;
  readonly new: Scores;
  readonly flip: boolean;
}

/** Two models on the same recordings. */
export interface DriftReport {
  readonly schema: 'drift-report/1';
  readonly old: ComparedModel;
  readonly new: ComparedModel;
  /** Public id of the batch. */
  readonly batch: string;
  readonly settings: ScoringSettings;
  readonly counts: {
    readonly items: number;
    readonly recordings: number;
    readonly compared: number;
    readonly notCompared: number;
    readonly flips: number;
  };
  /** Each decision with the change of its share among the compared recordings. */
  readonly classes: readonly (PairedChange & { readonly label: DecisionLabel })[];
  /** How many compared recordings went from one decision to another. */
  readonly moves: readonly { readonly old: DecisionLabel; readonly new: DecisionLabel; readonly recordings: number }[];
  readonly shifts: readonly ScoreShift[];
  readonly flips: readonly Flip[];
  /** Why recordings could not be compared, most frequent first. */
  readonly notComparedReasons: readonly {
    readonly old: AudioReason | null;
    readonly new: AudioReason | null;
    readonly recordings: number;
  }[];
  readonly notCompared: readonly NotCompared[];
  readonly points: readonly DriftPoint[];
}

type Heading = Pick<DriftReport, 'old' | 'new' | 'batch' | 'settings'>;

interface Compared extends AnsweredRecording {
  readonly old: Extract<ModelAnswer, { kind: 'scored' }>;
  readonly new: Extract<ModelAnswer, { kind: 'scored' }>;
}

/** The report of two models on the recordings of a batch, in the order of the batch. */
export function makeDriftReport(heading: Heading, recordings: readonly AnsweredRecording[]): DriftReport {
  const compared = recordings.filter(isCompared);
  const others = recordings.filter((recording) => !isCompared(recording));
  const flips = compared.filter(isFlip).sort((a, b) => stepOf(b) - stepOf(a) || a.line - b.line);
  const items = recordings.reduce((sum, recording) => sum + recording.items, 0);
  return {
    schema: 'drift-report/1',
    ...heading,
    counts: {
      items,
      recordings: recordings.length,
      compared: compared.length,
      notCompared: others.length,
      flips: flips.length,
    },
    classes: DECISION_LABELS.map((label) => ({ label, ...pairedChange(countClass(compared, label)) })),
    moves: countMoves(compared),
    shifts: SCORE_NAMES.map((score) => scoreShift(score, pairsOf(compared, score))),
    flips: flips.slice(0, flipsListedMax).map(flipOf),
    notComparedReasons: countNotCompared(others),
    notCompared: others.slice(0, notComparedListedMax).map(notComparedOf),
    points: choosePoints(
      flips,
      compared.filter((recording) => !isFlip(recording)),
    ),
  };
}

function isCompared(recording: AnsweredRecording): recording is Compared {
  return recording.old.kind === 'scored' && recording.new.kind === 'scored';
}

function isFlip(recording: Compared): boolean {
  return recording.old.label !== recording.new.label;
}

/** The largest step of a score of the recording, in logits. */
function stepOf({ old, new: now }: Compared): number {
  return Math.max(
    ...SCORE_NAMES.map((score) =>
      old.scores[score] === null || now.scores[score] === null
        ? 0
        : Math.abs(logitOf(now.scores[score]) - logitOf(old.scores[score])),
    ),
  );
}

function countClass(compared: readonly Compared[], label: DecisionLabel) {
  const counts = { both: 0, oldOnly: 0, newOnly: 0, neither: 0 };
  for (const recording of compared) {
    const [before, after] = [recording.old.label === label, recording.new.label === label];
    counts[before && after ? 'both' : before ? 'oldOnly' : after ? 'newOnly' : 'neither'] += 1;
  }
  return counts;
}

function countMoves(compared: readonly Compared[]): DriftReport['moves'] {
  const counts = new Map<string, number>();
  for (const { old, new: now } of compared)
    counts.set(`${old.label} ${now.label}`, (counts.get(`${old.label} ${now.label}`) ?? 0) + 1);
  const moves = DECISION_LABELS.flatMap((old) =>
    DECISION_LABELS.map((now) => ({ old, new: now, recordings: counts.get(`${old} ${now}`) ?? 0 })),
  );
  return moves.filter(({ recordings }) => recordings > 0);
}

function pairsOf(compared: readonly Compared[], score: ScoreName): [number, number][] {
  return compared.flatMap(({ old, new: now }) =>
    old.scores[score] === null || now.scores[score] === null ? [] : [[old.scores[score], now.scores[score]]],
  );
}

function flipOf({ audioSha256, line, source, items, old, new: now }: Compared): Flip {
  return {
    audioSha256,
    line,
    source,
    items,
    old: { label: old.label, scores: old.scores },
    new: { label: now.label, scores: now.scores },
  };
}

function notComparedOf({ audioSha256, line, source, items, old, new: now }: AnsweredRecording): NotCompared {
  return { audioSha256, line, source, items, old: reasonWithoutScore(old), new: reasonWithoutScore(now) };
}

function reasonWithoutScore(answer: ModelAnswer): AudioReason | null {
  return answer.kind === 'scored' ? null : answer.reason;
}

function countNotCompared(others: readonly AnsweredRecording[]): DriftReport['notComparedReasons'] {
  const counts = new Map<string, { old: AudioReason | null; new: AudioReason | null; recordings: number }>();
  for (const { old, new: now } of others) {
    const reasons = { old: reasonWithoutScore(old), new: reasonWithoutScore(now) };
    const key = `${reasons.old} ${reasons.new}`;
    counts.set(key, { ...reasons, recordings: (counts.get(key)?.recordings ?? 0) + 1 });
  }
  return [...counts.values()].sort((a, b) => b.recordings - a.recordings);
}

/** Flips first, then as many of the others as there is room for, evenly spread over the batch. */
function choosePoints(flips: readonly Compared[], others: readonly Compared[]): DriftPoint[] {
  const shownFlips = flips.slice(0, pointsMax);
  const room = pointsMax - shownFlips.length;
  const shown =
    others.length <= room
      ? others
      : Array.from({ length: room }, (_, at) => others[Math.floor((at * others.length) / room)]!);
  const pointOf = ({ old, new: now }: Compared, flip: boolean): DriftPoint => ({
    old: old.scores,
    new: now.scores,
    flip,
  });
  return [...shownFlips.map((each) => pointOf(each, true)), ...shown.map((each) => pointOf(each, false))];
}
