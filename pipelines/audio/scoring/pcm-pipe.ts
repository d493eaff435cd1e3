import { write } from 'node:fs';
import { promisify } from 'node:util';

/** The descriptor of a scoring process on which decoded samples leave it: what it prints is 2, and its messages are 3. */
export const pcmDescriptor = 4;

const writeSome = promisify(write);

/** Writes all of the bytes. The pipe holds the writer up until the parent has read what came before. */
export async function writePcm(bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await writeSome(pcmDescriptor, bytes, at)).bytesWritten;
}
