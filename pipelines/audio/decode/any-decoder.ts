import type { Stream } from 'node-av/lib';
import type { FFDecoderCodec } from 'node-av/constants';
import { AudioRefusal } from '../reasons.ts';
import { DecoderHandles, loadDecoderLibrary } from './decoder-library.ts';
import { readFrames } from './frame-reading.ts';
import { checkDeclared, WallClock } from './limit-checks.ts';
import type { DecodeLimits, Recording, RecordingNote } from './recording.ts';
import type { RecordingFile } from './recording-file.ts';
import type { Container, Sniffed } from './sniff.ts';
import { compressedWavCodecs } from './wav-header.ts';
import { codecRefusal } from './unread-formats.ts';

/** Codecs of plain samples; FFmpeg's decoders have their names. */
const plainCodecs = [
  's8',
  'u8',
  'mulaw',
  'alaw',
  ...['s16', 's24', 's32', 'f32', 'f64'].flatMap((name) => [`${name}le`, `${name}be`]),
].map((name) => `pcm_${name}`);

/** FFmpeg's decoder of each supported codec, where it has another name. */
const decoderNames: Readonly<Record<string, string>> = {
  mp3: 'mp3float',
  amr_nb: 'amrnb',
  amr_wb: 'amrwb',
  adpcm_g722: 'g722',
  adpcm_g726: 'g726',
};

interface Readable {
  readonly called: string;
  readonly demuxer: string;
  readonly codecs: readonly string[];
}

/** What people call each container, FFmpeg's demuxer for it, and the supported codecs in it. No others are used. */
const readable: Record<Container, Readable> = {
  flac: { called: 'FLAC', demuxer: 'flac', codecs: ['flac'] },
  mp3: { called: 'MP3', demuxer: 'mp3', codecs: ['mp3'] },
  aac: { called: 'AAC', demuxer: 'aac', codecs: ['aac'] },
  amr: { called: 'AMR', demuxer: 'amr', codecs: ['amr_nb', 'amr_wb'] },
  ogg: { called: 'Ogg', demuxer: 'ogg', codecs: ['opus', 'vorbis', 'flac', 'speex'] },
  mp4: {
    called: 'MP4 or M4A',
    demuxer: 'mov',
    codecs: ['aac', 'alac', 'mp3', 'flac', 'opus', 'amr_nb', 'amr_wb', ...plainCodecs],
  },
  matroska: {
    called: 'WebM or Matroska',
    demuxer: 'matroska',
    codecs: ['opus', 'vorbis', 'aac', 'mp3', 'flac', ...plainCodecs],
  },
  asf: { called: 'WMA', demuxer: 'asf', codecs: ['wmav1', 'wmav2', 'wmapro', 'wmavoice'] },
  aiff: { called: 'AIFF', demuxer: 'aiff', codecs: ['adpcm_ima_qt', ...plainCodecs] },
  caf: { called: 'CAF', demuxer: 'caf', codecs: ['alac', 'aac', 'adpcm_ima_qt', 'gsm', ...plainCodecs] },
  au: { called: 'AU', demuxer: 'au', codecs: plainCodecs },
  w64: { called: 'Wave64', demuxer: 'w64', codecs: plainCodecs },
  wav: { called: 'compressed WAV', demuxer: 'wav', codecs: [...compressedWavCodecs] },
};

/** Containers that declare no length, so that FFmpeg estimates one from the bit rate. */
const containersWithoutLength: ReadonlySet<Container> = new Set(['mp3', 'aac', 'amr']);

/** How much FFmpeg may read to find the streams, and how many streams it may create. */
const probeLimits = { bytes: 256 * 1024, microseconds: 5_000_000, streams: 16 } as const;

/**
 * A recording of any container that FFmpeg reads for us. FFmpeg gets the opened file, not a name, and the one
 * demuxer that fits the content: no other file, playlist or address can be reached from inside the recording.
 * @throws AudioRefusal
 */
export async function openAny(source: AnySource, limits: DecodeLimits): Promise<Recording> {
  const handles = new DecoderHandles(await loadDecoderLibrary(readable[source.sniffed.container].called));
  try {
    return openedRecording({ ...source, handles, limits });
  } catch (error) {
    handles.free();
    throw error;
  }
}

/** A file, its format, and the length of its packets where all have the same: a shorter one at the end is padding. */
interface AnySource {
  readonly file: RecordingFile;
  readonly sniffed: Sniffed;
  readonly packetBytes?: number;
}

interface Opening extends AnySource {
  readonly handles: DecoderHandles;
  readonly limits: DecodeLimits;
}

function openedRecording(opening: Opening): Recording {
  const { handles, file, sniffed, limits, packetBytes = 0 } = opening;
  const clock = new WallClock(limits.wallSecondsMax);
  clock.start();
  const stream = openStream(opening);
  const codec = openCodec(handles, stream, readable[sniffed.container].codecs);
  const { channels, sampleRate } = stream.codecpar;
  const declared = {
    channels,
    sampleRate,
    durationSeconds: hasLength(sniffed.container, codec) ? durationOf(stream, codec) : null,
  };
  checkDeclared(declared, limits);
  clock.check();
  clock.stop();
  const notes: RecordingNote[] = [];
  return {
    format: sniffed.container,
    codec,
    ...declared,
    notes,
    blocks: () =>
      readFrames({ handles, streamIndex: stream.index, packetBytesMin: packetBytes, declared, limits, clock, notes }),
    close: async () => {
      handles.free();
      await file.handle.close();
    },
  };
}

function openStream({ handles, file, sniffed, limits }: Opening): Stream {
  const {
    library: { functions, constants },
    format,
  } = handles;
  const { demuxer, codecs } = readable[sniffed.container];
  const input = functions.InputFormat.findInputFormat(demuxer);
  if (input === null)
    throw new AudioRefusal(
      'decoder_missing',
      `The installed node-av has no demuxer ${demuxer}: convert the recording to WAV.`,
    );
  const options = functions.Dictionary.fromObject({
    fd: file.handle.fd,
    protocol_whitelist: 'fd',
    format_whitelist: input.name,
    codec_whitelist: codecs.map(decoderOf).join(','),
    skip_initial_bytes: sniffed.at,
    probesize: probeLimits.bytes,
    analyzeduration: probeLimits.microseconds,
    max_streams: probeLimits.streams,
  });
  const opened = format.openInputSync('fd:', input, options);
  if (opened < 0)
    throw new AudioRefusal(
      'audio_damaged',
      `Its structure cannot be read (${functions.FFmpegError.strerror(opened)}).`,
    );

  // Before FFmpeg decodes a first frame to complete the parameters, which not every container declares.
  const before = audioStream(handles)?.codecpar;
  if (before !== undefined && before.channels > 0 && before.sampleRate > 0)
    checkDeclared({ channels: before.channels, sampleRate: before.sampleRate, durationSeconds: null }, limits);
  const found = format.findStreamInfoSync(null);
  if (found < 0)
    throw new AudioRefusal('audio_damaged', `Its streams cannot be read (${functions.FFmpegError.strerror(found)}).`);
  const stream = audioStream(handles);
  if (stream === undefined) throw new AudioRefusal('audio_damaged', 'It holds no audio stream.');
  for (const other of format.streams) if (other.index !== stream.index) other.discard = constants.AVDISCARD_ALL;
  return stream;
}

function audioStream({ format, library: { constants } }: DecoderHandles): Stream | undefined {
  return format.streams.find((stream) => stream.codecpar.codecType === constants.AVMEDIA_TYPE_AUDIO);
}

/** Opens the decoder and returns the codec's name. */
function openCodec(
  { library: { functions }, codec }: DecoderHandles,
  stream: Stream,
  codecs: readonly string[],
): string {
  const name = functions.avGetCodecName(stream.codecpar.codecId) ?? 'unknown';
  const decoder = codecs.includes(name) ? functions.Codec.findDecoderByName(decoderOf(name) as FFDecoderCodec) : null;
  if (decoder === null) throw codecRefusal(name);
  codec.allocContext3(decoder);
  const copied = codec.parametersToContext(stream.codecpar);
  codec.pktTimebase = stream.timeBase;
  codec.threadCount = 1;
  const opened = copied < 0 ? copied : codec.open2Sync(decoder, null);
  if (opened < 0)
    throw new AudioRefusal(
      'audio_damaged',
      `Its codec ${name} cannot be opened (${functions.FFmpegError.strerror(opened)}).`,
    );
  return name;
}

function decoderOf(codec: string): string {
  return decoderNames[codec] ?? codec;
}

function hasLength(container: Container, codec: string): boolean {
  return !containersWithoutLength.has(container) && !(container === 'wav' && codec === 'mp3');
}

/** The declared length, without the samples before the start that the decoder drops: Ogg counts those of Opus. */
function durationOf(
  { duration, timeBase, codecpar: { initialPadding, sampleRate } }: Stream,
  codec: string,
): number | null {
  const seconds = (Number(duration) * timeBase.num) / timeBase.den;
  if (!(seconds > 0)) return null;
  return codec === 'opus' ? seconds - initialPadding / sampleRate : seconds;
}
