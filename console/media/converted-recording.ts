import { randomBytes } from 'node:crypto';
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { wavHeader, wavHeaderBytes } from '../../pipelines/audio/streaming/stream-format.ts';
import type { FileRange } from '../http/byte-answer.ts';

const encoding = 'pcm_s16le';

/** Bytes before the samples. */
export const convertedHeaderBytes = wavHeaderBytes({ encoding });

/** Bytes of one read for an answer. */
const chunkBytes = 64 * 1024;

/** A recording as a 16-bit WAV file. The file is unlinked while open, so that it disappears with this process. */
export class ConvertedRecording {
  private readonly file: FileHandle;
  private written = convertedHeaderBytes;

  /** Creates an empty one in a folder, which is created if necessary. */
  static async begin(directory: string): Promise<ConvertedRecording> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const path = join(directory, `converted-${randomBytes(8).toString('hex')}`);
    const file = await open(path, 'wx+', 0o600);
    try {
      await rm(path);
      await file.writeFile(Buffer.alloc(convertedHeaderBytes));
      return new ConvertedRecording(file);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  private constructor(file: FileHandle) {
    this.file = file;
  }

  /** Bytes of the file so far, with its header and with pending writes. */
  get bytes(): number {
    return this.written;
  }

  /** Appends samples. */
  async add(pcm: Uint8Array): Promise<void> {
    this.written += pcm.length;
    await this.file.writeFile(pcm);
  }

  /** Writes the header once all samples are written. */
  async finish(format: { readonly sampleRate: number; readonly channels: number }): Promise<void> {
    await this.file.write(
      wavHeader({ encoding, ...format }, this.written - convertedHeaderBytes),
      0,
      convertedHeaderBytes,
      0,
    );
  }

  /** Streams a range of bytes. */
  read(range: FileRange): Readable {
    return Readable.from(this.pieces(range), { objectMode: false });
  }

  /** Closes the file after pending reads. */
  close(): Promise<void> {
    return this.file.close();
  }

  private async *pieces({ start, end }: FileRange): AsyncGenerator<Buffer> {
    for (let at = start; at <= end;) {
      const { bytesRead, buffer } = await this.file.read(Buffer.allocUnsafe(Math.min(chunkBytes, end - at + 1)), {
        position: at,
      });
      if (bytesRead === 0) throw new Error('the converted recording is shorter than it was');
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }
}
