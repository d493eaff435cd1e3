import { ServiceError } from '../../runtime/errors.ts';

/** A request for an upload: it works, or waits for those before it. */
interface Turn {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/**
 * The requests for each upload, one after another. A new one interrupts those before it, whose client is gone or has given them up,
 * and works when they have ended: the offset must not move while it is answered. One process alone writes to a directory of uploads
 * ({@link holdUploadDirectory}).
 */
export class UploadWriters {
  /** The last request for each upload. */
  readonly #last = new Map<string, Turn>();

  /**
   * Works when all earlier requests for the upload have ended. Takes its place before it waits for anything, so that no two requests
   * follow the same one. The signal fires when another request wants the upload.
   */
  async run<Result>(uploadId: string, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const before = this.#last.get(uploadId);
    before?.stop.abort(interrupted()); // those before that one are interrupted already
    const stop = new AbortController();
    const working = (async () => {
      await before?.ended;
      return work(stop.signal);
    })();
    const turn = { stop, ended: working.then(nothing, nothing) };
    this.#last.set(uploadId, turn);
    try {
      return await working;
    } finally {
      if (this.#last.get(uploadId) === turn) this.#last.delete(uploadId);
    }
  }

  /** Ends all of them, and resolves when they have ended: what has arrived is kept. */
  async stop(): Promise<void> {
    const turns = [...this.#last.values()];
    for (const { stop } of turns) stop.abort(interrupted());
    await Promise.all(turns.map(({ ended }) => ended));
  }
}

const nothing = () => {};

function interrupted(): ServiceError {
  return new ServiceError('interrupted', {
    operation: 'receive upload',
    problem: 'Another request for the upload has arrived, or the process stops.',
    hint: 'HEAD on the upload returns its offset.',
  });
}
