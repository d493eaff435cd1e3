import { openAny } from './any-decoder.ts';
import type { DecodeLimits, Recording } from './recording.ts';
import { openRecordingFile, type RecordingFile } from './recording-file.ts';
import { sniffContainer } from './sniff.ts';
import { packetBytesOf, readWavHeader, type WavHeader } from './wav-header.ts';
import { openWav, type SampledWav } from './wav-reader.ts';

/**
 * Opens a recording by its content. Nothing is decoded before the blocks are read, and no memory is allocated for what a
 * header declares before that is checked against the limits. Close it when done.
 * @throws AudioRefusal
 */
export async function openRecording(file: string, limits: DecodeLimits): Promise<Recording> {
  const opened = await openRecordingFile(file, limits.bytesMax);
  try {
    return withOneClose(await openContent(opened, limits));
  } catch (error) {
    await opened.handle.close();
    throw error;
  }
}

async function openContent(file: RecordingFile, limits: DecodeLimits): Promise<Recording> {
  const sniffed = await sniffContainer(file);
  if (sniffed.container !== 'wav') return openAny({ file, sniffed }, limits);
  const header = await readWavHeader(file);
  return isSampled(header)
    ? openWav(file, header, limits)
    : openAny({ file, sniffed, packetBytes: packetBytesOf(header) }, limits);
}

function isSampled(header: WavHeader): header is SampledWav {
  return header.encoding.kind === 'samples';
}

/** A recording whose `close` may be called repeatedly. */
function withOneClose(recording: Recording): Recording {
  let closing: Promise<void> | undefined;
  return { ...recording, close: () => (closing ??= recording.close()) };
}
