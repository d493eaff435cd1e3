import type { Frame } from 'node-av/lib';
import { AudioRefusal } from '../reasons.ts';
import type { DecoderHandles } from './decoder-library.ts';
import { FrameJoiner } from './frame-joining.ts';
import { tooLong, type Declared, type WallClock } from './limit-checks.ts';
import type { DecodeLimits, RecordingNote } from './recording.ts';
import { faultNotes } from './sample-formats.ts';

/** One stream of an opened recording, to be decoded. */
interface FrameReading {
  readonly handles: DecoderHandles;
  readonly streamIndex: number;
  /** Shorter packets are dropped. */
  readonly packetBytesMin: number;
  readonly declared: Declared;
  readonly limits: DecodeLimits;
  readonly clock: WallClock;
  readonly notes: RecordingNote[];
}

/** A recording that lacks more audio counts as truncated; some containers round the length up to whole packets. */
const truncatedSeconds = 0.2;

/**
 * The decoded samples, joined into blocks. Packets that cannot be decoded are dropped and noted.
 * @throws AudioRefusal `recording_too_long`, `decoding_too_slow`, or `audio_damaged` if there is no sample or the form changes
 */
export async function* readFrames(reading: FrameReading): AsyncGenerator<Float32Array[]> {
  const { handles, declared, clock, notes } = reading;
  if (handles.isFreed) throw new Error('The recording is closed.');
  const count: FrameCount = { samples: 0, damagedPackets: 0 };
  for (const block of decodedBlocks(reading, count)) {
    clock.stop();
    yield block;
    if (handles.isFreed) return;
    clock.start();
  }
  clock.stop();
  if (count.damagedPackets > 0) notes.push('damaged_parts');
  if (
    declared.durationSeconds !== null &&
    count.samples / declared.sampleRate < declared.durationSeconds - truncatedSeconds
  )
    notes.push('truncated');
}

interface FrameCount {
  samples: number;
  damagedPackets: number;
}

function* decodedBlocks(reading: FrameReading, count: FrameCount): Generator<Float32Array[]> {
  const { handles, declared, limits, notes } = reading;
  let joiner: FrameJoiner | undefined;
  try {
    for (const frame of decodeFrames(reading)) {
      if (frame === 'damaged') {
        count.damagedPackets++;
        continue;
      }
      joiner ??= joinerFor(handles, frame, declared);
      count.samples += frame.nbSamples;
      if (count.samples > limits.secondsMax * declared.sampleRate) throw tooLong(limits);
      joiner.add(frame);
      for (let block = joiner.take(false); block !== undefined; block = joiner.take(false)) yield block;
    }
    if (joiner === undefined) throw new AudioRefusal('audio_damaged', 'No part of it can be decoded.');
    for (let block = joiner.take(true); block !== undefined; block = joiner.take(true)) yield block;
    notes.push(...faultNotes(joiner.faults));
  } finally {
    joiner?.free();
  }
}

function joinerFor({ library }: DecoderHandles, frame: Frame, { channels, sampleRate }: Declared): FrameJoiner {
  if (frame.channels !== channels || frame.sampleRate !== sampleRate) {
    throw new AudioRefusal(
      'audio_damaged',
      `It declares ${channels} channels at ${sampleRate} Hz and has ${frame.channels} at ${frame.sampleRate} Hz.`,
    );
  }
  return new FrameJoiner(library, frame);
}

/** The frames of the stream, each valid until the next one is requested; `damaged` for a packet that cannot be decoded. */
function* decodeFrames({ handles, streamIndex, packetBytesMin, clock }: FrameReading): Generator<Frame | 'damaged'> {
  const {
    library: { constants },
    format,
    codec,
    packet,
    frame,
  } = handles;
  clock.start();
  for (let isOver = false; !isOver;) {
    clock.check();
    packet.unref();
    const read = format.readFrameSync(packet);
    isOver = read < 0;
    if (isOver && read !== constants.AVERROR_EOF) yield 'damaged';
    if (!isOver && (packet.streamIndex !== streamIndex || packet.size < packetBytesMin)) continue;
    const sent = codec.sendPacketSync(isOver ? null : packet);
    if (sent < 0 && !isOver) yield 'damaged';
    while (codec.receiveFrameSync(frame) >= 0) yield frame;
  }
}
