import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

/** SHA-256 of bytes, or of a text in UTF-8, as 64 hex digits. */
export function sha256Of(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** JSON with the fields of every object in the order of their names, so that equal values have equal texts. */
export function jsonWithSortedKeys(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** SHA-256 of a stream, as 64 hex digits. */
export async function sha256OfStream(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}

const fileReadBytes = 1024 * 1024;

/**
 * SHA-256 of an open file from its beginning, as 64 hex digits. It reads into one buffer: a stream allocates one for each read, and
 * V8 collects all garbage once it has got 64 MiB of new buffers: tests of small nights took 24 s of processor time in their
 * process with a stream, and 16 s with this.
 */
export async function sha256OfFile(handle: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  const { size } = await handle.stat();
  const buffer = Buffer.allocUnsafeSlow(Math.min(Math.max(size, 1), fileReadBytes));
  for (let position = 0; ;) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return hash.digest('hex');
    hash.update(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
}
