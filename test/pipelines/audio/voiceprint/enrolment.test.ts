import { describe, expect, it } from 'vitest';
import { enrolmentLimits, enrolVoice } from '../../../../pipelines/audio/voiceprint/enrolment.ts';
import type { RecordingEmbedding } from '../../../../pipelines/audio/voiceprint/recording-embedding.ts';

/** A recording whose voice lies a number of degrees away from the first axis. */
const at = (degrees: number, voicedSeconds = 3): RecordingEmbedding => ({
  embedding: Float32Array.of(Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)),
  voicedSeconds,
});
const enrol = (recordings: readonly (RecordingEmbedding | null)[], agreementMin = 0.5) =>
  enrolVoice(recordings, { agreementMin });
const codesOf = (recordings: readonly (RecordingEmbedding | null)[], agreementMin = 0.5) =>
  enrol(recordings, agreementMin).findings.map(({ code, recordings: places }) => [code, ...places]);

describe('an enrolment', () => {
  it('makes of recordings that agree a voiceprint of length 1 in their middle', () => {
    const { voiceprint } = enrol([at(0), at(20), at(40)]);
    expect(Math.atan2(voiceprint!.centroid[1]!, voiceprint!.centroid[0]!)).toBeCloseTo((20 * Math.PI) / 180, 5);
    expect(Math.hypot(...voiceprint!.centroid)).toBeCloseTo(1, 6);
    expect(voiceprint).toMatchObject({ recordings: 3, voicedSeconds: 9 });
  });

  it('says how near the recordings are to each other', () => {
    const { spread } = enrol([at(0), at(0), at(60)]).voiceprint!;
    expect(spread.least).toBeCloseTo(0.5, 5);
    expect(spread.mean).toBeCloseTo((Math.cos(Math.PI / 6) * 2 + 0.5) / 3, 5);
  });

  it.each([
    [2, ['recordings_too_few']],
    [3, null],
    [20, null],
    [21, ['recordings_too_many']],
  ])('of %i recordings finds %j', (count, finding) => {
    expect(codesOf(Array.from({ length: count }, () => at(10)))).toEqual(finding === null ? [] : [finding]);
  });

  it.each([
    [1.5, []],
    [1.49, [['recording_voice_too_little', 1]]],
  ])('with %d s of voice in one recording finds %j', (seconds, findings) => {
    expect(codesOf([at(0), at(0, seconds), at(0)])).toEqual(findings);
  });

  it.each([
    [2, []],
    [1.99, [['voice_too_little']]],
  ])('with three times %d s of voice finds %j', (seconds, findings) => {
    expect(codesOf([at(0, seconds), at(0, seconds), at(0, seconds)])).toEqual(findings);
  });

  it('names the recordings without voice', () => {
    expect(codesOf([at(0, 6), null, at(0), null])).toEqual([['recording_voice_too_little', 1, 3]]);
  });

  it('refuses recordings where one is of another person, and names it', () => {
    expect(codesOf([at(0), at(5), at(90), at(-5)])).toEqual([['recordings_disagree', 2]]);
    expect(enrol([at(0), at(5), at(90), at(-5)]).voiceprint).toBeNull();
  });

  it('takes an agreement at the limit and refuses one below it', () => {
    const limit = Math.cos(Math.PI / 3);
    expect(codesOf([at(0), at(0), at(59.9)], limit)).toEqual([]);
    expect(codesOf([at(0), at(0), at(60.1)], limit)).toEqual([['recordings_disagree', 2]]);
  });

  it('needs 3 recordings, 1.5 s of voice in each and 6 s in all', () => {
    expect(enrolmentLimits).toEqual({
      recordingsMin: 3,
      recordingsMax: 20,
      recordingVoicedSecondsMin: 1.5,
      voicedSecondsMin: 6,
    });
  });
});
