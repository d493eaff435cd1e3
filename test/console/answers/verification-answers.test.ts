import { expect, it } from 'vitest';
import { playbackOf } from '../../../console/answers/verification-answers.ts';
import { openRecording } from '../../../pipelines/audio/decode/open-recording.ts';
import { sampleRecordingPath, wideLimits } from '../../support/audio-file.ts';

it.each([
  ['tone-24.flac', 'original'],
  ['tone-stereo-flac.ogg', 'converted'],
  ['tone.mp3', 'original'],
  ['tone.opus', 'original'],
  ['tone.ogg', 'original'],
  ['tone.m4a', 'original'],
  ['tone-alac.m4a', 'converted'],
  ['tone-ima.wav', 'converted'],
  ['tone-gsm.wav', 'converted'],
])('%s is played as %s', async (name, playback) => {
  const recording = await openRecording(sampleRecordingPath(name), wideLimits);
  await recording.close();
  expect(playbackOf(recording)).toBe(playback);
});

it.each([
  ...['pcm_u8', 'pcm_s16le', 'pcm_s24le', 'pcm_f32le', 'pcm_mulaw', 'pcm_alaw'].map((codec) => [codec, 'original']),
  ...['pcm_s32le', 'pcm_f64le'].map((codec) => [codec, 'converted']),
])('%s in WAV is played as %s', (codec, playback) => {
  expect(playbackOf({ format: 'wav', codec: codec! })).toBe(playback);
});

it.each([
  [{ format: 'mp4', codec: 'pcm_s16le' }, 'converted'],
  [{ format: 'constructor', codec: 'length' }, 'converted'],
  [{ format: null, codec: null }, null],
] as const)('%o is played as %s', (facts, playback) => {
  expect(playbackOf(facts)).toBe(playback);
});
