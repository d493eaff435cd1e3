import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { Config } from '../../../runtime/config.ts';
import { ServiceError } from '../../../runtime/errors.ts';

/** A call that speaks a code to the person who answers. */
export interface VerificationCall {
  readonly callId: number;
  readonly phone: string;
  /** Digits, to be spoken one by one. */
  readonly code: string;
  /** BCP 47, such as `en` or `de-AT`. */
  readonly language: string;
  readonly expiresAt: Date;
}

/** Places calls that speak codes. A driver accepts a call and makes it at any time before the code expires. */
export interface CodeCaller {
  /** @throws ServiceError `caller_failed` if it did not take the call, which is then placed again */
  place(call: VerificationCall): Promise<void>;
  /** True if it has accepted the call, so that after a crash nobody is called twice. False if that is unknown. */
  hasTaken(callId: number): Promise<boolean>;
}

/** The caller of the settings; null if there is none. */
export function openCodeCaller({ numberCallsFile }: Pick<Config, 'numberCallsFile'>): CodeCaller | null {
  return numberCallsFile === undefined ? null : new CallFile(numberCallsFile);
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR, O_RDONLY } = constants;

/** Bits of a mode that let others than the owner in. */
const othersMode = 0o077;

/**
 * A file for an operator's own dialler, one line of JSON a call: `{"call", "phone", "code", "language", "expires"}`. Each line is
 * one write to the end of the file, synced before the call counts as placed; the dialler takes the file by renaming it. Only its
 * owner may read it.
 */
export class CallFile implements CodeCaller {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async place({ callId, phone, code, language, expiresAt }: VerificationCall): Promise<void> {
    const line = `${JSON.stringify({ call: callId, phone, code, language, expires: expiresAt.toISOString() })}\n`;
    await this.#withFile(O_RDWR | O_APPEND | O_CREAT, async (file) => {
      const bytes = Buffer.from((await endsInLine(file)) ? line : `\n${line}`);
      const { bytesWritten } = await file.write(bytes);
      if (bytesWritten < bytes.length) throw callFailed('The line could not be written whole.');
      await file.sync();
    });
  }

  async hasTaken(callId: number): Promise<boolean> {
    const begin = `{"call":${callId},`;
    return (
      (await this.#withFile(O_RDONLY, async (file) => {
        for await (const line of file.readLines({ autoClose: false }))
          if (line.startsWith(begin) && line.endsWith('}')) return true;
        return false;
      })) ?? false
    );
  }

  /** Undefined if the file does not exist. */
  async #withFile<Result>(flags: number, work: (file: FileHandle) => Promise<Result>): Promise<Result | undefined> {
    const file = await open(this.#path, flags | O_NOFOLLOW, 0o600).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT' && (flags & O_CREAT) === 0) return undefined;
      throw callFailed('The file cannot be opened.', cause);
    });
    if (file === undefined) return undefined;
    try {
      const stats = await file.stat();
      if (!stats.isFile()) throw callFailed('It is not a regular file.');
      if ((stats.mode & othersMode) !== 0)
        throw callFailed('Others than its owner may use the file, which holds codes.');
      return await work(file);
    } finally {
      await file.close();
    }
  }
}

/** True for an empty file, and for one whose last line is whole. */
async function endsInLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return true;
  const { buffer } = await file.read({ buffer: Buffer.alloc(1), position: size - 1 });
  return buffer[0] === 0x0a;
}

function callFailed(problem: string, cause?: unknown): ServiceError {
  return new ServiceError('caller_failed', {
    operation: 'write verification call',
    object: 'NUMBER_CALLS_FILE',
    problem,
    hint: 'It must be a regular file in a folder that the worker may write to, with mode 0600.',
    cause,
  });
}
