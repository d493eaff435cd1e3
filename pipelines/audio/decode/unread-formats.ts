import { AudioRefusal } from '../reasons.ts';

/** What to do with a recording in a form that is not read. */
const convert = 'convert it to WAV or FLAC';

/** First bytes of audio that is not read, and its name for the refusal. */
const unreadAudio: readonly (readonly [magic: string, at: number, name: string])[] = [
  ['AVI ', 8, 'an AVI film'],
  ['RIFX', 0, 'a big-endian WAV file'],
  ['NIST_1A', 0, 'a SPHERE file'],
  ['Creative Voice File', 0, 'a Creative VOC file'],
  ['\x02dss', 0, 'a DSS dictation'],
  ['\x03ds2', 0, 'a DSS dictation'],
  ['#!SILK', 0, 'a SILK file'],
  ['#!SILK', 1, 'a SILK file'],
  ['#!EVRC', 0, 'an EVRC file'],
  ['wvpk', 0, 'a WavPack file'],
  ['MAC ', 0, "a Monkey's Audio file"],
  ['TTA', 0, 'a True Audio file'],
  ['ADIF', 0, 'an AAC file with an ADIF header'],
  ['.RMF', 0, 'a RealMedia file'],
  ['.ra\xfd', 0, 'a RealAudio file'],
  ['FLV', 0, 'a Flash film'],
  ['moov', 4, 'a QuickTime film without a file type'],
];

/** The same of files that hold no audio. */
const noAudio: readonly (readonly [magic: string, at: number, name: string])[] = [
  ['#EXTM3U', 0, 'a playlist'],
  ['[playlist]', 0, 'a playlist'],
  ['ffconcat', 0, 'a concat script'],
  ['MThd', 0, 'a MIDI file'],
  ['<', 0, 'a markup document'],
  ['%PDF', 0, 'a PDF document'],
  ['PK\x03\x04', 0, 'a ZIP archive'],
  ['\x1f\x8b', 0, 'a gzip file'],
  ['\x7fELF', 0, 'a program'],
  ['MZ', 0, 'a program'],
];

/** True if bytes have a text at a place, one byte per character. */
export function startsWith(bytes: Buffer, text: string, at = 0): boolean {
  return bytes.length >= at + text.length && bytes.toString('latin1', at, at + text.length) === text;
}

/** The refusal of content that is of no container that is read, with its name where the first bytes give it away. */
export function formatRefusal(head: Buffer): AudioRefusal {
  const nameIn = (list: typeof unreadAudio) => list.find(([magic, at]) => startsWith(head, magic, at))?.[2];
  const [audio, other] = [nameIn(unreadAudio), nameIn(noAudio)];
  if (audio !== undefined)
    return new AudioRefusal('format_unknown', `It is ${audio}, which is not read here: ${convert}.`);
  if (other !== undefined) return new AudioRefusal('format_unknown', `It is ${other}, and not a recording.`);
  return new AudioRefusal(
    'format_unknown',
    `Its first bytes are of no format that is read here. If it is audio without a header, say which (raw, such as mulaw@8000); else ${convert}.`,
  );
}

/** The refusal of a codec in a container that is read. */
export function codecRefusal(name: string): AudioRefusal {
  return new AudioRefusal(
    'codec_unsupported',
    `Its codec is ${name}, which is not read in this container: ${convert}.`,
  );
}

/** Codecs of WAV files that are not read, by their tags (RFC 2361). */
const unreadWavCodecs: Readonly<Record<number, string>> = {
  0x22: 'TrueSpeech',
  0x41: 'G.728',
  0x50: 'MPEG layer II',
  0x83: 'G.729',
  0xff: 'AAC',
  0x160: 'Windows Media Audio',
  0x161: 'Windows Media Audio',
  0xa109: 'Speex',
};

/** The name of a WAV file's codec for a refusal. */
export function wavCodecName(tag: number, bits: number): string {
  return unreadWavCodecs[tag] ?? `0x${tag.toString(16)} with ${bits} bits`;
}
