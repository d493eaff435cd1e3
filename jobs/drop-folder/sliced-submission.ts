import { ServiceError } from '../../runtime/errors.ts';

/** What a submission came to; absent while there is more to hand in. */
export type SliceEnd<Result> = { readonly result: Result } | undefined;

/**
 * A submission that goes on for a slice of time whenever it is told to, and rests between two items otherwise: a folder of 100,000
 * recordings takes minutes to hand in, for which nothing else of the drop folder should wait. While it rests it holds no connection
 * and no file, so that it may be forgotten at any time: the same submission under the same key goes on where it ended.
 */
export class SlicedSubmission<Item, Result> {
  private readonly ended: Promise<{ result: Result } | { error: unknown }>;
  private restUntil: { readonly promise: Promise<void>; readonly resolve: () => void };
  private resting = deferred();
  private deadline = 0;
  private isAbandoned = false;

  /** Starts to rest; `submit` hands the items in that it is given. */
  constructor(items: AsyncIterable<Item> | Iterable<Item>, submit: (items: AsyncIterable<Item>) => Promise<Result>) {
    this.restUntil = deferred();
    this.ended = submit(this.paced(items)).then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    );
  }

  /**
   * Goes on for `milliseconds`, and a piece of the submission longer at most; resolves when it rests again, or has ended.
   * @throws what `submit` throws
   */
  async goOn(milliseconds: number): Promise<SliceEnd<Result>> {
    this.deadline = Date.now() + milliseconds;
    this.resting = deferred();
    this.restUntil.resolve();
    const end = await Promise.race([this.ended, this.resting.promise]);
    if (end === undefined) return undefined;
    if ('error' in end) throw end.error;
    return end;
  }

  /** Ends it where it rests: what it is over has been ended by others. */
  async abandon(): Promise<void> {
    this.isAbandoned = true;
    this.restUntil.resolve();
    await this.ended;
  }

  private async *paced(items: AsyncIterable<Item> | Iterable<Item>): AsyncGenerator<Item> {
    for await (const item of items) {
      if (Date.now() >= this.deadline) {
        this.restUntil = deferred();
        this.resting.resolve();
        await this.restUntil.promise;
      }
      if (this.isAbandoned) throw new ServiceError('interrupted', { operation: 'hand recordings in' });
      yield item;
    }
  }
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
