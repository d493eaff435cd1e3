import { write } from 'node:fs';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

/** The descriptor of a scoring process through which decoded samples leave it: standard error is 2, and its messages are 3. */
export const pcmDescriptor = 4;

const writeSome = promisify(write);

/** Writes all of the bytes, in the child. The pipe blocks the writer until the parent has read what came before. */
export async function writePcm(bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await writeSome(pcmDescriptor, bytes, at)).bytesWritten;
}

/** Takes the next samples of a recording that is decoded: 16 bits, all channels in turn. No more come before it has ended. */
export type TakePcm = (bytes: Uint8Array) => Promise<void>;

/** Samples that could not be taken; the cause says why. */
export class PcmNotTaken extends Error {
  override readonly name = 'PcmNotTaken';

  constructor(cause: unknown) {
    super('The decoded samples could not be taken.', { cause });
  }
}

/** The samples of one recording as they come. */
interface Intake {
  readonly take: TakePcm;
  takenBytes: number;
  /** How many bytes there are, once that is known. */
  awaited: { readonly bytes: number; readonly resolve: () => void } | undefined;
}

/**
 * The parent's end of the pipe on which a process sends what it decodes ({@link writePcm}). A piece is read when the one before it has been
 * taken, so that no more than some 64 KiB wait here, and the process waits with the rest.
 */
export class PcmIntake {
  private readonly pipe: Readable;
  private readonly onFault: (fault: PcmNotTaken | 'unasked') => void;
  private intake: Intake | undefined;

  /** `onFault` receives `unasked` for samples that nobody requested, and otherwise what `take` threw. */
  constructor(pipe: Readable, onFault: (fault: PcmNotTaken | 'unasked') => void) {
    this.pipe = pipe;
    this.onFault = onFault;
    pipe.on('data', (bytes: Buffer) => void this.receive(bytes));
    pipe.on('error', () => {}); // the end of the process says more
  }

  /** Samples are expected from now on. */
  open(take: TakePcm): void {
    this.intake = { take, takenBytes: 0, awaited: undefined };
  }

  /** Resolves when so many bytes have been taken; never, if the task has failed meanwhile and no samples are expected any more. */
  all(bytes: number): Promise<void> {
    return new Promise((resolve) => {
      const { intake } = this;
      if (intake === undefined) return;
      intake.awaited = { bytes, resolve };
      this.settle(intake);
    });
  }

  /** No more samples are expected. */
  close(): void {
    this.intake = undefined;
  }

  /** The process is gone. */
  destroy(): void {
    this.close();
    this.pipe.destroy();
  }

  private async receive(bytes: Buffer): Promise<void> {
    const { intake } = this;
    if (intake === undefined) return this.onFault('unasked');
    this.pipe.pause();
    try {
      await intake.take(bytes);
    } catch (cause) {
      return this.onFault(new PcmNotTaken(cause));
    }
    intake.takenBytes += bytes.length;
    this.settle(intake);
    this.pipe.resume();
  }

  private settle({ takenBytes, awaited }: Intake): void {
    if (awaited === undefined || takenBytes < awaited.bytes) return;
    if (takenBytes > awaited.bytes) this.onFault('unasked');
    else awaited.resolve();
  }
}
