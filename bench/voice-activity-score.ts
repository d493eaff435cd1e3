/** Counts of a detector against the truth: frames of 10 ms, and segments of voice. */
export interface VoiceScore {
  readonly voiced: number;
  readonly unvoiced: number;
  /** Voice that was taken for none, and the other way round, in frames. */
  readonly missed: number;
  readonly false: number;
  readonly segments: number;
  /** Segments that were found to less than half. */
  readonly segmentsMissed: number;
  /** Found segments with less than half voice. */
  readonly segmentsFalse: number;
}

/** Nothing counted yet. */
export const noScore: VoiceScore = {
  voiced: 0,
  unvoiced: 0,
  missed: 0,
  false: 0,
  segments: 0,
  segmentsMissed: 0,
  segmentsFalse: 0,
};

/** Counts of both. */
export function addScores(a: VoiceScore, b: VoiceScore): VoiceScore {
  return {
    voiced: a.voiced + b.voiced,
    unvoiced: a.unvoiced + b.unvoiced,
    missed: a.missed + b.missed,
    false: a.false + b.false,
    segments: a.segments + b.segments,
    segmentsMissed: a.segmentsMissed + b.segmentsMissed,
    segmentsFalse: a.segmentsFalse + b.segmentsFalse,
  };
}

/** Counts of one scene. */
export function scoreFrames(truth: Uint8Array, found: Uint8Array): VoiceScore {
  const count = (wanted: (voice: number, said: number) => boolean) =>
    truth.reduce((sum, voice, frame) => sum + Number(wanted(voice, found[frame] ?? 0)), 0);
  const [trueSegments, foundSegments] = [segmentsOf(truth), segmentsOf(found)];
  return {
    voiced: count((voice) => voice === 1),
    unvoiced: count((voice) => voice === 0),
    missed: count((voice, said) => voice === 1 && said === 0),
    false: count((voice, said) => voice === 0 && said === 1),
    segments: trueSegments.length,
    segmentsMissed: trueSegments.filter((segment) => shareIn(segment, found) < 0.5).length,
    segmentsFalse: foundSegments.filter((segment) => shareIn(segment, truth) < 0.5).length,
  };
}

/** Pauses that do not end a segment, and segments that are not counted, in frames. */
const pauseFrames = 30;
const segmentFramesMin = 10;

interface Segment {
  readonly from: number;
  readonly to: number;
}

function segmentsOf(frames: Uint8Array): Segment[] {
  const segments: Segment[] = [];
  for (let frame = 0; frame < frames.length; frame++) {
    if (frames[frame] === 0) continue;
    const last = segments.at(-1);
    if (last !== undefined && frame - last.to < pauseFrames)
      segments[segments.length - 1] = { from: last.from, to: frame + 1 };
    else segments.push({ from: frame, to: frame + 1 });
  }
  return segments.filter(({ from, to }) => to - from >= segmentFramesMin);
}

function shareIn({ from, to }: Segment, frames: Uint8Array): number {
  return frames.subarray(from, to).reduce((sum, voice) => sum + voice, 0) / (to - from);
}
