import { mkdir, open, readFile, readdir, rename, rm, stat, utimes, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ServiceError } from '../../../runtime/errors.ts';
import type { Log } from '../../../runtime/log.ts';
import { CHANNEL_MODES } from '../verification.ts';
import { streamFormatForm, frameBytesOf, wavHeader, wavHeaderBytes, type StreamFormat } from './stream-format.ts';
import { becomeHolder, endHolder, holderForm, holderLives, type Holder } from './stream-holder.ts';
import { writeWholeFile } from '../../../runtime/files/whole-file.ts';
import { ifExists } from '../../../runtime/files/if-exists.ts';

const factsForm = z.strictObject({
  id: z.guid(),
  owner: z.string(),
  requestedBy: z.string(),
  mode: z.enum(['api', 'webDemo']),
  model: z.string(),
  channels: z.enum(CHANNEL_MODES),
  name: z.string(),
  format: streamFormatForm,
  startedAt: z.iso.datetime(),
  /** The process that receives it. */
  holder: holderForm,
});

/** Everything about a stream except its audio. */
export type StreamFacts = Readonly<Omit<z.output<typeof factsForm>, 'holder'>>;

/** The audio and the facts of a stream until it is submitted. */
export interface SpooledStream {
  readonly facts: StreamFacts;
  readonly audioPath: string;
}

/** The directory of arriving streams: `<id>.wav` with the audio so far, and `<id>.json` with the facts. Several processes may share it. */
export class SpoolDirectory {
  private readonly directory: string;
  private readonly log: Pick<Log, 'warn' | 'error'>;
  private readonly holder: Holder;

  /** Makes the directory, if there is none. */
  static async open(
    directory: string,
    { log }: { readonly log: Pick<Log, 'warn' | 'error'> },
  ): Promise<SpoolDirectory> {
    await mkdir(directory, { recursive: true, mode: 0o750 });
    return new SpoolDirectory(directory, log, await becomeHolder());
  }

  private constructor(directory: string, log: Pick<Log, 'warn' | 'error'>, holder: Holder) {
    this.directory = directory;
    this.log = log;
    this.holder = holder;
  }

  /** Leaves the streams to other processes that use the directory. */
  close(): void {
    endHolder(this.holder);
  }

  /** Begins the spool of a stream: its facts first, since audio without them can never be submitted. */
  async create(facts: StreamFacts): Promise<StreamSpool> {
    const spooled = this.spooled(facts);
    await this.writeFacts(facts);
    const spool = new StreamSpool(spooled, await open(spooled.audioPath, 'wx+', 0o640));
    await spool.begin().catch(async (error: unknown) => {
      await spool.close();
      throw error;
    });
    return spool;
  }

  /** Heartbeat of streams that are still received, for processes that cannot see this one. */
  async touch(ids: Iterable<string>): Promise<void> {
    const now = new Date();
    for (const id of ids) await utimes(this.factsPath(id), now, now).catch(() => {}); // it was submitted meanwhile
  }

  /**
   * The streams of dead processes, and those of this process that `isOurs` does not know. A stream with damaged facts is
   * moved aside and does not delay the others.
   */
  async orphans(isOurs: (id: string) => boolean): Promise<SpooledStream[]> {
    const orphans: SpooledStream[] = [];
    for (const name of await readdir(this.directory)) {
      const [, id] = /^([0-9a-f-]{36})\.json$/.exec(name) ?? [];
      if (id === undefined || isOurs(id)) continue;
      try {
        const facts = await this.readOrphan(id);
        if (facts !== undefined) orphans.push(this.spooled(facts));
      } catch (error) {
        this.log.warn({ err: error, stream: id }, 'the facts of a stream cannot be read now');
      }
    }
    return orphans;
  }

  /**
   * Completes the WAV file of a stream whose process has died, perhaps while it did so itself; false if the file has no complete
   * sample.
   */
  async completeOrphan({ facts: { format }, audioPath }: SpooledStream): Promise<boolean> {
    const file = await ifExists(open(audioPath, 'r+'));
    if (file === undefined) return false;
    try {
      const received = await receivedBytes(file, format);
      if (received < frameBytesOf(format)) return false;
      await completeFile(file, format, received);
      return true;
    } finally {
      await file.close();
    }
  }

  /** Removes a stream that is submitted. */
  async remove({ facts, audioPath }: SpooledStream): Promise<void> {
    await rm(this.factsPath(facts.id), { force: true });
    await rm(audioPath, { force: true });
  }

  /** Moves a stream aside that can never be submitted, with the reason, for a person to inspect. */
  async moveAside({ facts: { id } }: { readonly facts: Pick<StreamFacts, 'id'> }, reason: string): Promise<void> {
    await writeWholeFile(join(this.directory, `${id}.refused.txt`), `${reason}\n`, { durable: true, mode: 0o640 });
    await ifExists(rename(this.audioPath(id), join(this.directory, `${id}.refused.wav`)));
    await ifExists(rename(this.factsPath(id), join(this.directory, `${id}.refused.json`)));
  }

  /** The facts of a stream that no process receives any more. */
  private async readOrphan(id: string): Promise<StreamFacts | undefined> {
    const path = this.factsPath(id);
    const read = await ifExists(Promise.all([readFile(path, 'utf8'), stat(path)]));
    if (read === undefined) return undefined; // it was submitted meanwhile
    const [text, { mtimeMs }] = read;
    const parsed = parseFacts(text);
    if (parsed?.id !== id) {
      this.log.error({ stream: id }, 'the facts of a stream are damaged; it is moved aside');
      return void (await this.moveAside({ facts: { id } }, 'Its facts are damaged.'));
    }
    const { holder, ...facts } = parsed;
    return holder.token !== this.holder.token && (await holderLives(holder, mtimeMs)) ? undefined : facts;
  }

  private async writeFacts(facts: StreamFacts): Promise<void> {
    const text = `${JSON.stringify({ ...facts, holder: this.holder })}\n`;
    await writeWholeFile(this.factsPath(facts.id), text, { durable: true, mode: 0o640 }).catch((cause: unknown) => {
      throw notWritten(cause);
    });
  }

  private spooled(facts: StreamFacts): SpooledStream {
    return { facts, audioPath: this.audioPath(facts.id) };
  }

  private audioPath(id: string): string {
    return join(this.directory, `${id}.wav`);
  }

  private factsPath(id: string): string {
    return join(this.directory, `${id}.json`);
  }
}

/** The part of a file handle that a spool uses. */
export type SpoolFile = Pick<FileHandle, 'read' | 'write' | 'truncate' | 'sync' | 'close'>;

/** The audio of one stream, written to the disk as it arrives. */
export class StreamSpool {
  readonly spooled: SpooledStream;
  private readonly file: SpoolFile;
  private readonly headerBytes: number;
  private waiting: Buffer[] = [];
  private writing: Promise<void> | undefined;
  private written = 0;
  private pending = 0;
  /** The first failed write; later bytes would be at the wrong offset. */
  private failure: ServiceError | undefined;

  constructor(spooled: SpooledStream, file: SpoolFile) {
    this.spooled = spooled;
    this.file = file;
    this.headerBytes = wavHeaderBytes(spooled.facts.format);
  }

  /** Bytes of audio that are in the file. */
  get bytes(): number {
    return this.written;
  }

  /** Bytes of audio that were appended, whether written or not. */
  get received(): number {
    return this.written + this.pending;
  }

  /** Writes the header. @throws ServiceError `internal` if it cannot be written */
  async begin(): Promise<void> {
    await writeWhole(this.file, wavHeader(this.spooled.facts.format), 0);
  }

  /**
   * Appends bytes; resolves when these and all before are in the file. Bytes that arrive during a write are written together by the next.
   * @throws ServiceError `internal` if they cannot be written; nothing can be appended afterwards
   */
  async append(bytes: Buffer): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    this.waiting.push(bytes);
    this.pending += bytes.length;
    while (this.waiting.length > 0) await (this.writing ??= this.write());
    await this.writing;
  }

  /** Bytes of audio in the file from an offset on. */
  async read(from: number, bytesMax: number): Promise<Buffer<ArrayBuffer>> {
    const length = Math.max(0, Math.min(bytesMax, this.written - from));
    const { bytesRead, buffer } = await this.file.read(Buffer.allocUnsafe(length), 0, length, this.headerBytes + from);
    return buffer.subarray(0, bytesRead);
  }

  /** Completes the WAV file, durably; false if no complete sample arrived. */
  async complete(): Promise<boolean> {
    await this.writing?.catch(() => {}); // what was written before is still a stream
    if (this.written < frameBytesOf(this.spooled.facts.format)) return false;
    await completeFile(this.file, this.spooled.facts.format, this.written);
    return true;
  }

  async close(): Promise<void> {
    await this.writing?.catch(() => {});
    await this.file.close();
  }

  private async write(): Promise<void> {
    const pieces = this.waiting.splice(0);
    const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    try {
      await writeWhole(this.file, bytes, this.headerBytes + this.written);
      this.written += bytes.length;
      this.pending -= bytes.length;
    } catch (error) {
      this.failure = error as ServiceError;
      this.waiting = [];
      this.pending = 0;
      throw error;
    } finally {
      this.writing = undefined;
    }
  }
}

/** Writes all bytes; one call of `write` may write fewer. @throws ServiceError `internal` */
async function writeWhole(file: SpoolFile, bytes: Buffer, at: number): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    const { bytesWritten } = await file
      .write(bytes, written, bytes.length - written, at + written)
      .catch((cause: unknown) => {
        throw notWritten(cause);
      });
    if (bytesWritten === 0) throw notWritten(new Error('the file takes no more bytes'));
    written += bytesWritten;
  }
}

function notWritten(cause: unknown): ServiceError {
  return new ServiceError('internal', {
    operation: 'store stream',
    problem: 'The audio could not be written to the disk.',
    hint: 'The audio that arrived before is verified. Check the free space below STATE_DIR.',
    cause,
  });
}

/** Undefined for malformed text. */
function parseFacts(text: string): z.output<typeof factsForm> | undefined {
  try {
    return factsForm.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Bytes of audio in the file of a stream: as the header of a complete one says, else all that follow the header. */
async function receivedBytes(file: FileHandle, format: StreamFormat): Promise<number> {
  const headerBytes = wavHeaderBytes(format);
  const { bytesRead, buffer } = await file.read(Buffer.alloc(headerBytes), 0, headerBytes, 0);
  if (bytesRead < headerBytes) return 0;
  const declared = buffer.readUInt32LE(headerBytes - 4);
  return declared === wavHeader(format).readUInt32LE(headerBytes - 4)
    ? (await file.stat()).size - headerBytes
    : declared;
}

/** Writes the lengths into the header, drops an incomplete sample, and pads an odd number of bytes. Idempotent. */
async function completeFile(file: SpoolFile, format: StreamFormat, received: number): Promise<void> {
  const dataBytes = received - (received % frameBytesOf(format));
  const header = wavHeader(format, dataBytes);
  await writeWhole(file, header, 0);
  await file.truncate(header.length + dataBytes);
  if (dataBytes % 2 === 1) await writeWhole(file, Buffer.alloc(1), header.length + dataBytes);
  await file.sync();
}
