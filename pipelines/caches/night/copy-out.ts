import type { Client, Connection, Submittable } from 'pg';
import { ServiceError } from '../../../runtime/errors.ts';
import { payloadBytesMax, takeRows } from '../format/copy-rows.ts';
import type { RowBlock } from '../format/copy-rows.ts';

export interface CopyOutOptions {
  readonly client: Client;
  /** A complete `COPY ... TO STDOUT WITH (FORMAT text)`. */
  readonly statement: string;
  readonly blockBytes: number;
  /** Seconds without a byte from the database after which the stream fails. */
  readonly idleSecondsMax: number;
  readonly signal?: AbortSignal | undefined;
}

/** Types of the backend's messages during a COPY (PostgreSQL documentation, "Message Formats"). */
const message = {
  copyData: 0x64,
  copyDone: 0x63,
  copyOutResponse: 0x48,
  error: 0x45,
  notice: 0x4e,
  parameterStatus: 0x53,
  notification: 0x41,
} as const;
const headerBytes = 5; // the type, then a length that includes itself but not the type
const newline = 0x0a;
const blocksWaitingMax = 2;
/** A phone of 8 digits with its plus sign, and a line end. */
const rowBytesMin = 10;

/**
 * Streams a COPY into row-aligned blocks.
 *
 * The server sends one message a row. The driver's parser and a general stream allocate an object or more for each, which for
 * millions of short rows is more work than compressing them; here the rows of a socket chunk are moved at once into the block
 * that is compressed (copy-rows.ts, bench/night.ts). The server confirms the COPY after the last row: then `rowsCopied` is set.
 * Nothing may be published before the transaction has committed as well.
 *
 * @throws ServiceError `copy_stalled`, `copy_cut` or `interrupted`; after any of them the client must be destroyed.
 */
export class CopyOut implements Submittable, AsyncIterable<RowBlock> {
  /** The server's count of sent rows; undefined before the end. */
  rowsCopied: number | undefined;

  private readonly statement: string;
  private readonly blockBytes: number;
  private readonly idleSecondsMax: number;
  private readonly signal: AbortSignal | undefined;

  private socket!: Connection['stream'];
  private driverListener!: (chunk: Buffer) => void;
  private attached = false;

  private readonly header = Buffer.alloc(headerBytes);
  private headerFilled = 0;
  private type = 0;
  private payloadLeft = 0;

  private block: Buffer;
  private filled = 0;
  private rows = 0;
  private starts: Int32Array;
  private readonly free: Pick<RowBlock, 'plain' | 'starts'>[] = [];

  private readonly waiting: RowBlock[] = [];
  private wake: (() => void) | undefined;
  private failure: unknown;
  private ended = false;

  private readonly watchdog: NodeJS.Timeout;
  private lastByteAt = Date.now();
  private readonly onData = (chunk: Buffer) => this.receive(chunk);
  private readonly onAbort = () => this.fail(new ServiceError('interrupted', { operation: 'copy rows' }));

  private constructor({ statement, blockBytes, idleSecondsMax, signal }: CopyOutOptions) {
    this.statement = statement;
    this.blockBytes = blockBytes;
    this.idleSecondsMax = idleSecondsMax;
    this.signal = signal;
    this.block = Buffer.allocUnsafeSlow(blockBytes);
    this.starts = this.emptyStarts();
    this.watchdog = setInterval(() => this.checkIdle(), Math.min(1000, idleSecondsMax * 250));
    if (signal?.aborted) this.onAbort();
    else signal?.addEventListener('abort', this.onAbort);
  }

  /** Starts the COPY on a connected client. */
  static start(options: CopyOutOptions): CopyOut {
    return options.client.query(new CopyOut(options));
  }

  /** Reuses the memory of a block that is not read any more. */
  recycle({ plain, starts }: RowBlock): void {
    if (plain.buffer.byteLength === this.blockBytes) this.free.push({ plain: Buffer.from(plain.buffer), starts });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RowBlock> {
    try {
      for (;;) {
        const block = this.waiting.shift();
        if (block !== undefined) {
          if (this.attached) this.socket.resume();
          this.lastByteAt = Date.now();
          yield block;
        } else if (this.failure !== undefined) {
          throw this.failure;
        } else if (this.ended) {
          return;
        } else {
          await new Promise<void>((resolve) => (this.wake = resolve));
        }
      }
    } finally {
      this.stopWatching();
    }
  }

  // Called by the driver.

  submit(connection: Connection): void {
    this.socket = connection.stream;
    const [driverListener] = this.socket.listeners('data');
    this.driverListener = driverListener as (chunk: Buffer) => void;
    this.socket.removeListener('data', this.driverListener);
    this.socket.on('data', this.onData);
    this.attached = true;
    connection.query(this.statement);
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.rowsCopied = Number(/^COPY (\d+)/.exec(text)?.[1]);
  }

  handleReadyForQuery(): void {
    this.ended = true;
    this.stopWatching();
    this.wake?.();
  }

  handleError(cause: Error): void {
    this.fail(
      new ServiceError('copy_cut', { operation: 'copy rows', problem: `The COPY was cut: ${cause.message}.`, cause }),
    );
  }

  // The stream of messages.

  private receive(chunk: Buffer): void {
    this.lastByteAt = Date.now();
    let at = 0;
    while (at < chunk.length) {
      if (this.payloadLeft === 0) {
        if (this.hasWholeRow(chunk, at)) {
          at += this.takeRows(chunk, at);
          continue;
        }
        const start = at;
        at = this.readHeader(chunk, at);
        if (this.headerFilled < headerBytes) return;
        this.headerFilled = 0;
        if (this.endsStream())
          return this.returnSocket(
            this.type === message.copyDone ? chunk.subarray(at) : this.fromHeader(chunk, start, at),
          );
        if (this.type === message.copyData) this.makeRoom(this.payloadLeft);
      }
      at = this.readPayload(chunk, at);
    }
    if (this.waiting.length >= blocksWaitingMax) this.socket.pause();
  }

  /** True if a complete message of a row starts here and fits into the block. */
  private hasWholeRow(chunk: Buffer, at: number): boolean {
    if (this.headerFilled > 0 || chunk.length - at < headerBytes || chunk[at] !== message.copyData) return false;
    const payload = chunk.readUInt32BE(at + 1) - 4;
    return at + headerBytes + payload <= chunk.length && payload <= payloadBytesMax && this.hasRoom(payload);
  }

  /** Takes all complete rows at once; returns their bytes in the chunk. */
  private takeRows(chunk: Buffer, at: number): number {
    const { block, starts } = this;
    const { taken, filled, rows } = takeRows(chunk, at, { block, starts, filled: this.filled, rows: this.rows });
    this.filled = filled;
    this.rows = rows;
    return taken;
  }

  /** Reads the part of the next header in the chunk; returns the place after it. */
  private readHeader(chunk: Buffer, start: number): number {
    if (this.headerFilled === 0 && chunk.length - start >= headerBytes) {
      this.type = chunk[start]!;
      this.payloadLeft =
        ((chunk[start + 1]! << 24) | (chunk[start + 2]! << 16) | (chunk[start + 3]! << 8) | chunk[start + 4]!) - 4;
      this.headerFilled = headerBytes;
      return start + headerBytes;
    }
    const taken = chunk.copy(
      this.header,
      this.headerFilled,
      start,
      Math.min(chunk.length, start + headerBytes - this.headerFilled),
    );
    this.headerFilled += taken;
    if (this.headerFilled === headerBytes) {
      this.type = this.header[0]!;
      this.payloadLeft = this.header.readUInt32BE(1) - 4;
    }
    return start + taken;
  }

  /** True if the message is not one of those within a COPY: its end, an error, or one for the driver. */
  private endsStream(): boolean {
    switch (this.type) {
      case message.copyData:
      case message.copyOutResponse:
      case message.notice:
      case message.parameterStatus:
      case message.notification:
        return false;
      default:
        return true;
    }
  }

  /** The bytes from the header just read, which may have started in an earlier chunk. */
  private fromHeader(chunk: Buffer, start: number, afterHeader: number): Buffer {
    return afterHeader - start === headerBytes
      ? chunk.subarray(start)
      : Buffer.concat([this.header, chunk.subarray(afterHeader)]);
  }

  private readPayload(chunk: Buffer, start: number): number {
    const end = Math.min(chunk.length, start + this.payloadLeft);
    this.payloadLeft -= end - start;
    if (this.type !== message.copyData) return end;
    this.filled += chunk.copy(this.block, this.filled, start, end);
    if (end > start && this.payloadLeft === 0 && chunk[end - 1] === newline) this.starts[++this.rows] = this.filled;
    return end;
  }

  /** Ends the block if a row of this length does not fit. */
  private makeRoom(bytes: number): void {
    if (this.hasRoom(bytes)) return;
    this.cutBlock();
    if (bytes > this.block.length) this.block = Buffer.allocUnsafeSlow(bytes);
  }

  private hasRoom(bytes: number): boolean {
    return this.filled + bytes <= this.block.length && this.rows + 1 < this.starts.length;
  }

  private cutBlock(): void {
    if (this.filled === 0) return;
    this.waiting.push({ plain: this.block.subarray(0, this.filled), rows: this.rows, starts: this.starts });
    const free = this.free.pop();
    this.block = free?.plain ?? Buffer.allocUnsafeSlow(this.blockBytes);
    this.starts = free?.starts ?? this.emptyStarts();
    this.filled = 0;
    this.rows = 0;
    this.wake?.();
  }

  private emptyStarts(): Int32Array {
    return new Int32Array(Math.ceil(this.blockBytes / rowBytesMin) + 1);
  }

  /** Returns the socket to the driver, with the bytes that it must read. */
  private returnSocket(rest: Buffer): void {
    if (this.type === message.copyDone) this.cutBlock();
    this.payloadLeft = 0;
    this.detach();
    if (rest.length > 0) this.driverListener(rest);
  }

  private detach(): void {
    if (!this.attached) return;
    this.attached = false;
    this.socket.removeListener('data', this.onData);
    this.socket.on('data', this.driverListener);
    this.socket.resume();
  }

  private checkIdle(): void {
    if (this.ended || this.waiting.length > 0 || Date.now() - this.lastByteAt < this.idleSecondsMax * 1000) return;
    this.fail(
      new ServiceError('copy_stalled', {
        operation: 'copy rows',
        problem: `The database sent no byte for ${this.idleSecondsMax} s.`,
      }),
    );
  }

  private fail(error: unknown): void {
    this.failure ??= error;
    this.stopWatching();
    this.wake?.();
  }

  private stopWatching(): void {
    clearInterval(this.watchdog);
    this.signal?.removeEventListener('abort', this.onAbort);
  }
}
