import type { StoredFile } from '../../pipelines/caches/store/stored-file.ts';

/** An open file that many responses read at once; it closes once it is retired and the last reader has released it. */
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

  /** Keeps the file open until the returned function is called. That function is idempotent. */
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

  /** Marks the file as no longer served. */
  retire(): void {
    this.#retired = true;
    this.#closeIfDone();
  }

  /** True once the descriptor is closed. */
  get closed(): boolean {
    return this.#closed !== undefined;
  }

  #closeIfDone(): void {
    if (!this.#retired || this.#readers > 0) return;
    this.#closed ??= this.stored.close();
  }
}
