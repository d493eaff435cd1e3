import { ServiceError } from '../../runtime/errors.ts';

/** A running transfer. */
interface Writer {
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

/**
 * The running transfers of uploads. A new request for an upload ends the one before it: its client is gone, or has given it up, and
 * the offset must not move while the new one is answered. One process alone writes to a directory of uploads.
 */
export class UploadWriters {
  readonly #running = new Map<string, Writer>();

  /** Runs a transfer when the one before has ended; its signal fires when another request wants the upload. */
  async run<Result>(uploadId: string, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    await this.interrupt(uploadId);
    const stop = new AbortController();
    const running = work(stop.signal);
    const writer = { stop, ended: running.catch(() => {}) };
    this.#running.set(uploadId, writer);
    try {
      return await running;
    } finally {
      if (this.#running.get(uploadId) === writer) this.#running.delete(uploadId);
    }
  }

  /** Ends the running transfer of an upload, and resolves when there is none. */
  async interrupt(uploadId: string): Promise<void> {
    for (let writer = this.#running.get(uploadId); writer !== undefined; writer = this.#running.get(uploadId)) {
      writer.stop.abort(interrupted());
      await writer.ended;
      await Promise.resolve(); // the transfer removes itself first
    }
  }

  /** Ends all of them: what has arrived is kept. */
  stop(): void {
    for (const { stop } of this.#running.values()) stop.abort(interrupted());
  }
}

function interrupted(): ServiceError {
  return new ServiceError('interrupted', {
    operation: 'receive upload',
    problem: 'Another request for the upload has arrived, or the process stops.',
    hint: 'HEAD on the upload returns its offset.',
  });
}
