import { sha256Of } from '../../runtime/digest.ts';

/** A time as JSON has it. */
export function timeOrNull(time: Date | null): string | null {
  return time === null ? null : time.toISOString();
}

/** A serialized JSON answer and its strong entity tag. */
export interface JsonDocument {
  readonly body: Buffer;
  readonly etag: string;
}

/** Serializes a value once, for many answers. */
export function makeJsonDocument(value: unknown): JsonDocument {
  const body = Buffer.from(`${JSON.stringify(value)}\n`);
  return { body, etag: `"${sha256Of(body)}"` };
}
