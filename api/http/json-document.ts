import { sha256Of } from '../../runtime/digest.ts';

/** A JSON answer that is ready to send: its bytes and their strong entity tag. */
export interface JsonDocument {
  readonly body: Buffer;
  readonly etag: string;
}

/** Serialises a value once, for many answers. */
export function makeJsonDocument(value: unknown): JsonDocument {
  const body = Buffer.from(`${JSON.stringify(value)}\n`);
  return { body, etag: `"${sha256Of(body)}"` };
}
