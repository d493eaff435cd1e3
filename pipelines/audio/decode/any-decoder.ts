import type { Stream } from 'node-av/lib';
import type { FFDecoderCodec } from 'node-av/constants';
import { AudioRefusal } from '../reasons.ts';
import { DecoderHandles, loadDecoderLibrary } from './decoder-library.ts';
import { readFrames } from './frame-reading.ts';
import { checkDeclared, WallClock } from './limit-checks.ts';
import type { DecodeLimits, Recording, RecordingNote } from './recording.ts';
import type { RecordingFile } from './recording-file.ts';
import type { Container, Sniffed } from './sniff.ts';

interface Readable {
  readonly called: string;
  readonly demuxer: string;
  readonly decoders: Readonly<Record<string, string>>;
}

/** What people call each container, FFmpeg's demuxer for it, and its decoder for each supported codec in it. No others are used. */
const readable: Record<Container, Readable> = {
  flac: { called: 'FLAC', demuxer: 'flac', decoders: { flac: 'flac' } },
  mp3: { called: 'MP3', demuxer: 'mp3', decoders: { mp3: 'mp3float' } },
  ogg: { called: 'Ogg', demuxer: 'ogg', decoders: { opus: 'opus', vorbis: 'vorbis', flac: 'flac' } },
  mp4: {
    called: 'MP4 or M4A',
    demuxer: 'mov',
    decoders: { aac: 'aac', alac: 'alac', mp3: 'mp3float', flac: 'flac', opus: 'opus' },
  },
  wav: {
    called: 'WAV with IMA ADPCM or GSM 6.10',
    demuxer: 'wav',
    decoders: { adpcm_ima_wav: 'adpcm_ima_wav', gsm_ms: 'gsm_ms' },
  },
};

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
export interface AnySource {
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
  const codec = openCodec(handles, stream, readable[sniffed.container].decoders);
  const { channels, sampleRate } = stream.codecpar;
  // MP3 declares no reliable one: FFmpeg estimates it from the bit rate.
  const declared = {
    channels,
    sampleRate,
    durationSeconds: sniffed.container === 'mp3' ? null : durationOf(stream, codec),
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
  const { demuxer, decoders } = readable[sniffed.container];
  const input = functions.InputFormat.findInputFormat(demuxer);
  if (input === null) throw new AudioRefusal('decoder_missing', `The installed node-av has no demuxer ${demuxer}.`);
  const options = functions.Dictionary.fromObject({
    fd: file.handle.fd,
    protocol_whitelist: 'fd',
    format_whitelist: input.name,
    codec_whitelist: Object.values(decoders).join(','),
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
  decoders: Readonly<Record<string, string>>,
): string {
  const name = functions.avGetCodecName(stream.codecpar.codecId) ?? 'unknown';
  const decoder = name in decoders ? functions.Codec.findDecoderByName(decoders[name] as FFDecoderCodec) : null;
  if (decoder === null) throw new AudioRefusal('codec_unsupported', `Its codec is ${name}.`);
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

/** The declared length, without the samples before the start that the decoder drops: Ogg counts those of Opus. */
function durationOf(
  { duration, timeBase, codecpar: { initialPadding, sampleRate } }: Stream,
  codec: string,
): number | null {
  const seconds = (Number(duration) * timeBase.num) / timeBase.den;
  if (!(seconds > 0)) return null;
  return codec === 'opus' ? seconds - initialPadding / sampleRate : seconds;
}
