import { randomBytes } from 'node:crypto';
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { wavHeader, wavHeaderBytes } from '../../pipelines/audio/streaming/stream-format.ts';
import type { FileRange } from '../http/byte-answer.ts';

const encoding = 'pcm_s16le';

/** Bytes before the samples. */
export const convertedHeaderBytes = wavHeaderBytes({ encoding });

/** Bytes that are read at once for an answer. */
const pieceBytes = 64 * 1024;

/** A recording as a WAV file of 16 bits. The file has no name, so that it is gone with this process, however that ends. */
export class ConvertedRecording {
  private readonly file: FileHandle;
  private written = convertedHeaderBytes;

  /** Makes an empty one in a folder, which is made if it is not there. */
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

  /** Of the file so far, header and all; those that are being written among them. */
  get bytes(): number {
    return this.written;
  }

  /** Writes the next samples. */
  async add(pcm: Uint8Array): Promise<void> {
    this.written += pcm.length;
    await this.file.writeFile(pcm);
  }

  /** Writes the header, when all samples are there. */
  async finish(format: { readonly sampleRate: number; readonly channels: number }): Promise<void> {
    await this.file.write(
      wavHeader({ encoding, ...format }, this.written - convertedHeaderBytes),
      0,
      convertedHeaderBytes,
      0,
    );
  }

  /** The bytes of a range, read as they are asked for. */
  read(range: FileRange): Readable {
    return Readable.from(this.pieces(range), { objectMode: false });
  }

  /** Gives the file back. A piece that is being read comes to its end before. */
  close(): Promise<void> {
    return this.file.close();
  }

  private async *pieces({ start, end }: FileRange): AsyncGenerator<Buffer> {
    for (let at = start; at <= end;) {
      const { bytesRead, buffer } = await this.file.read(Buffer.allocUnsafe(Math.min(pieceBytes, end - at + 1)), {
        position: at,
      });
      if (bytesRead === 0) throw new Error('the converted recording is shorter than it was');
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }
}
