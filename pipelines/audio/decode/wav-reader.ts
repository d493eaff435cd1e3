import { AudioRefusal } from '../reasons.ts';
import { checkDeclared, WallClock } from './limit-checks.ts';
import { blockSamplesMax, type DecodeLimits, type Recording, type RecordingNote } from './recording.ts';
import type { RecordingFile } from './recording-file.ts';
import { faultNotes, readSamples, type SampleFaults, type SampleFormat } from './sample-formats.ts';
import type { WavHeader } from './wav-header.ts';

/** Bytes of one read. */
const readBytesMax = 64 * 1024;

/** A WAV file with a supported encoding. */
export type SampledWav = WavHeader & { readonly encoding: { readonly kind: 'samples' } };

/**
 * A recording of a WAV file, with one block of it in memory at a time.
 * @throws AudioRefusal if what the header declares is past the limits, or if it has no sample
 */
export function openWav(file: RecordingFile, header: SampledWav, limits: DecodeLimits): Recording {
  const { channels, sampleRate, blockAlign, dataBytes, isTruncated, isStreamed } = header;
  const frames = Math.floor(dataBytes / blockAlign);
  checkDeclared({ channels, sampleRate, durationSeconds: frames / sampleRate }, limits);
  if (frames === 0) throw new AudioRefusal('audio_damaged', 'It holds no sample.');

  const notes: RecordingNote[] = [];
  if (isTruncated) notes.push('truncated');
  if (isStreamed) notes.push('unknown_length');
  return {
    format: 'wav',
    codec: header.encoding.codec,
    sampleRate,
    channels,
    durationSeconds: frames / sampleRate,
    notes,
    blocks: () =>
      readBlocks({
        file,
        header,
        frames,
        format: header.encoding.format,
        clock: new WallClock(limits.wallSecondsMax),
        notes,
      }),
    close: () => file.handle.close(),
  };
}

interface WavReading {
  readonly file: RecordingFile;
  readonly header: SampledWav;
  readonly frames: number;
  readonly format: SampleFormat;
  readonly clock: WallClock;
  readonly notes: RecordingNote[];
}

async function* readBlocks({
  file,
  header: { channels, blockAlign, dataAt },
  frames,
  format,
  clock,
  notes,
}: WavReading): AsyncGenerator<Float32Array[]> {
  const framesMax = Math.min(blockSamplesMax, Math.max(1, Math.floor(readBytesMax / blockAlign)));
  const into = Buffer.alloc(Math.min(framesMax, frames) * blockAlign);
  const faults: SampleFaults = { clipped: 0, notFinite: 0 };
  for (let done = 0; done < frames;) {
    clock.start();
    const bytes = await file.read(
      dataAt + done * blockAlign,
      into.subarray(0, Math.min(framesMax, frames - done) * blockAlign),
    );
    const read = Math.floor(bytes.length / blockAlign);
    if (read === 0) {
      notes.push('truncated'); // It became shorter while it was read.
      break;
    }
    const block = Array.from({ length: channels }, () => new Float32Array(read));
    for (const [first, into] of block.entries()) readSamples(format, { bytes, first, step: channels, into }, faults);
    done += read;
    clock.check();
    clock.stop();
    yield block;
  }
  notes.push(...faultNotes(faults));
}
