import { stdin } from 'node:process';
import { basename } from 'node:path';
import { openRecording } from '../../pipelines/audio/decode/open-recording.ts';
import { readWavHeader } from '../../pipelines/audio/decode/wav-header.ts';
import { AudioRefusal } from '../../pipelines/audio/reasons.ts';
import { decodeLimitsOf } from '../../pipelines/audio/scorers/scoring-pool.ts';
import {
  STREAM_ENCODINGS,
  encodingOfSamples,
  frameBytesOf,
  type StreamEncoding,
  type StreamFormat,
} from '../../pipelines/audio/streaming/stream-format.ts';
import type { Config } from '../../runtime/config.ts';
import { ServiceError } from '../../runtime/errors.ts';

/** Audio to stream: its format, and its bytes as they arrive. */
export interface StreamInput {
  readonly format: StreamFormat;
  /** The name for lists. */
  readonly name: string;
  pieces(): AsyncIterable<Buffer>;
}

/** The format of raw bytes on standard input. */
interface RawFormat {
  readonly encoding?: StreamEncoding;
  readonly rate?: number;
  readonly inputChannels?: number;
}

/** Seconds of audio in one chunk of a file. */
const chunkSeconds = 0.1;

/** Most bytes before the audio of a WAV file on standard input. */
const headerBytesMax = 1024 * 1024;

/** Options for reading audio. */
interface StreamReading {
  readonly config: Config;
  /** Fires when the audio is no longer needed: standard input is then closed, even while a read is pending. */
  readonly signal: AbortSignal;
}

/**
 * Opens the audio to stream: a recording of any supported format, or standard input for `-`.
 * @throws ServiceError `recording_refused` if it cannot be read, `usage_invalid` for options that do not apply
 */
export async function openStreamInput(
  path: string,
  raw: RawFormat,
  { config, signal }: StreamReading,
): Promise<StreamInput> {
  const isRaw = raw.encoding !== undefined || raw.rate !== undefined || raw.inputChannels !== undefined;
  try {
    if (path !== '-' && isRaw)
      throw invalid(
        '--encoding, --rate and --input-channels are for raw audio on standard input: give - for the file.',
      );
    if (path !== '-') return await fileInput(path, config);
    closeAt(signal);
    return isRaw ? rawInput(raw) : await wavInput(new Arriving(stdin));
  } catch (error) {
    if (!(error instanceof AudioRefusal)) throw error;
    throw new ServiceError('recording_refused', {
      operation: 'stream audio',
      object: path,
      problem: `${error.detail} [${error.reason}]`,
    });
  }
}

/** Pending reads of standard input then fail with the signal's reason. */
function closeAt(signal: AbortSignal): void {
  stdin.on('error', () => {}); // the reader gets the error
  signal.throwIfAborted();
  signal.addEventListener('abort', () => stdin.destroy(signal.reason as Error), { once: true });
}

/** Decodes a file and sends 16-bit samples. */
async function fileInput(path: string, config: Config): Promise<StreamInput> {
  const recording = await openRecording(path, decodeLimitsOf(config));
  const { sampleRate, channels } = recording;
  const format: StreamFormat = { encoding: 'pcm_s16le', sampleRate, channels };
  const chunkBytes = Math.ceil(sampleRate * chunkSeconds) * frameBytesOf(format);
  return {
    format,
    name: basename(path),
    async *pieces() {
      try {
        for await (const block of recording.blocks()) {
          const bytes = samplesOf16Bits(block);
          for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
        }
      } finally {
        await recording.close();
      }
    },
  };
}

function samplesOf16Bits(channels: readonly Float32Array[]): Buffer {
  const frames = channels[0]!.length;
  const numbers = new Int16Array(frames * channels.length);
  for (const [channel, samples] of channels.entries()) {
    for (let frame = 0; frame < frames; frame++)
      numbers[frame * channels.length + channel] = Math.max(
        -32_768,
        Math.min(32_767, Math.round(samples[frame]! * 32_768)),
      );
  }
  return Buffer.from(numbers.buffer);
}

function rawInput({ encoding, rate, inputChannels = 1 }: RawFormat): StreamInput {
  if (encoding === undefined || rate === undefined)
    throw invalid('Raw audio on standard input needs --encoding and --rate.');
  return {
    format: { encoding, sampleRate: rate, channels: inputChannels },
    name: 'standard input',
    pieces: () => new Arriving(stdin).rest(Infinity),
  };
}

/** A WAV file on standard input, as a recorder writes it: the lengths in its header may be unknown. */
async function wavInput(arriving: Arriving): Promise<StreamInput> {
  const { encoding, channels, sampleRate, dataAt, dataBytes, isStreamed } = await readWavHeader(arriving);
  const streamed = encoding.kind === 'samples' ? encodingOfSamples(encoding.format) : undefined;
  if (streamed === undefined)
    throw invalid(
      `Standard input has the codec ${encoding.codec}; a stream has one of ${STREAM_ENCODINGS.join(', ')}. Give the name of a file, or convert it.`,
    );
  return {
    format: { encoding: streamed, sampleRate, channels },
    name: 'standard input',
    pieces: () => arriving.rest(isStreamed ? Infinity : dataBytes, dataAt),
  };
}

/** Arriving bytes. Their beginning is buffered and can be read at offsets. */
class Arriving {
  /** The total is unknown. */
  readonly bytes = Number.MAX_SAFE_INTEGER;
  private readonly source: AsyncIterator<Buffer>;
  private held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.source = source[Symbol.asyncIterator]();
  }

  async read(at: number, into: Buffer): Promise<Buffer> {
    if (at + into.length > headerBytesMax)
      throw invalid(
        'Standard input is not a WAV file, or its header is too long. Give --encoding and --rate for raw audio.',
      );
    while (this.held.length < at + into.length) {
      const next = await this.source.next();
      if (next.done === true) break;
      this.held = Buffer.concat([this.held, next.value]);
    }
    return this.held.subarray(at, at + into.length);
  }

  /** Up to `count` bytes from an offset, as they arrive. */
  async *rest(bytes: number, from = 0): AsyncGenerator<Buffer> {
    let left = bytes;
    for (let piece: Buffer = this.held.subarray(from); left > 0;) {
      if (piece.length > 0) yield piece.subarray(0, left);
      left -= piece.length;
      const next = await this.source.next();
      if (next.done === true) return;
      piece = next.value;
    }
  }
}

function invalid(problem: string): ServiceError {
  return new ServiceError('usage_invalid', { operation: 'stream audio', problem });
}
