import type { FileHandle } from 'node:fs/promises';

/** One open file that many responses read at once; closed when it is retired and the last of them has let go. */
export class SharedFile {
  readonly #handle: FileHandle;
  #readers = 0;
  #retired = false;
  #closed: Promise<void> | undefined;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  get readers(): number {
    return this.#readers;
  }

  /** Keeps the file open until the returned function is called; calling that twice does nothing more. */
  hold(): () => void {
    this.#readers++;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#readers--;
      this.#closeIfDone();
    };
  }

  /** Bytes read at a position into a buffer; 0 at the end of the file. */
  async read(buffer: Buffer, { position, length }: { position: number; length: number }): Promise<number> {
    const { bytesRead } = await this.#handle.read(buffer, 0, length, position);
    return bytesRead;
  }

  /** The file is not served any more. */
  retire(): void {
    this.#retired = true;
    this.#closeIfDone();
  }

  /** True when the descriptor was given back. */
  get closed(): boolean {
    return this.#closed !== undefined;
  }

  #closeIfDone(): void {
    if (!this.#retired || this.#readers > 0) return;
    this.#closed ??= this.#handle.close();
  }
}
