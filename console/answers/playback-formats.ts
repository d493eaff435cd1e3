/** How a recording is played: as it was handed in, or decoded to a WAV file. */
export type Playback = 'original' | 'converted';

/**
 * Codecs that Chromium, Firefox and Safari all play, by the container as the decoder names it (docs/audio-formats.md). What is not here is
 * converted: WAV with GSM, IMA ADPCM, or samples of 32-bit integers or 64 bits, FLAC in Ogg, and MP4 with anything but AAC.
 */
const played: Readonly<Record<string, readonly string[]>> = {
  wav: ['pcm_u8', 'pcm_s16le', 'pcm_s24le', 'pcm_f32le', 'pcm_mulaw', 'pcm_alaw'],
  flac: ['flac'],
  mp3: ['mp3'],
  ogg: ['opus', 'vorbis'],
  mp4: ['aac'],
};

/** How a recording is played; null while nothing has opened it, so that its format is not known. */
export function playbackOf({
  format,
  codec,
}: {
  readonly format: string | null;
  readonly codec: string | null;
}): Playback | null {
  if (format === null || codec === null) return null;
  return Object.hasOwn(played, format) && played[format]!.includes(codec) ? 'original' : 'converted';
}
