import { write } from 'node:fs';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

/** The descriptor through which decoded samples leave a scoring process: standard error is 2, and messages are 3. */
export const pcmDescriptor = 4;

const writeSome = promisify(write);

/** Writes all bytes, in the child. The pipe blocks until the parent has read earlier ones. */
export async function writePcm(bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await writeSome(pcmDescriptor, bytes, at)).bytesWritten;
}

/** Receives the next decoded samples: 16 bits, channels interleaved. No more arrive before it resolves. */
export type TakePcm = (bytes: Uint8Array) => Promise<void>;

/** The receiver of the samples failed, by the cause. */
export class PcmNotTaken extends Error {
  override readonly name = 'PcmNotTaken';

  constructor(cause: unknown) {
    super('The decoded samples could not be taken.', { cause });
  }
}

/** The samples of one recording as they arrive. */
interface Intake {
  readonly take: TakePcm;
  takenBytes: number;
  /** The number of bytes, once known. */
  awaited: { readonly bytes: number; readonly resolve: () => void } | undefined;
}

/**
 * The parent's end of the pipe on which a process sends decoded samples ({@link writePcm}). Bytes are read when those before have been
 * received, so that at most some 64 KiB wait here, and the process blocks with the rest.
 */
export class PcmIntake {
  private readonly pipe: Readable;
  private readonly onFault: (fault: PcmNotTaken | 'unasked') => void;
  private intake: Intake | undefined;

  /** `onFault` receives `unasked` for samples that were not requested, and otherwise the error of `take`. */
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

  /** Resolves when `bytes` have been received; never, if the task has failed meanwhile and no samples are expected. */
  all(bytes: number): Promise<void> {
    return new Promise((resolve) => {
      const { intake } = this;
      if (intake === undefined) return;
      intake.awaited = { bytes, resolve };
      this.resolveWhenComplete(intake);
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
    this.resolveWhenComplete(intake);
    this.pipe.resume();
  }

  private resolveWhenComplete({ takenBytes, awaited }: Intake): void {
    if (awaited === undefined || takenBytes < awaited.bytes) return;
    if (takenBytes > awaited.bytes) this.onFault('unasked');
    else awaited.resolve();
  }
}
