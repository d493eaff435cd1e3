import type { StoredFile } from '../../pipelines/caches/store/stored-file.ts';

/** One open file that many responses read at once; closed when it is retired and the last of them has let go. */
export class SharedFile {
  readonly stored: StoredFile;
  #readers = 0;
  #retired = false;
  #closed: Promise<void> | undefined;

  constructor(stored: StoredFile) {
    this.stored = stored;
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
    this.#closed ??= this.stored.close();
  }
}
