const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** A text in UTF-8. */
export function toUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** The text of UTF-8; what is no UTF-8 becomes U+FFFD. */
export function fromUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** The bytes of an even number of hex digits. */
export function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: hex.length / 2 }, (_, at) => Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16));
}

/** The parts joined, in new memory. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** The chunks one after another; of more than `bytesMax` bytes those up to the chunk that exceeds it: a server may send without end. */
export async function collectBytes(chunks: AsyncIterable<Uint8Array>, bytesMax = Infinity): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) break;
  }
  return joinBytes(parts);
}

/** True if both have the same bytes. */
export function areSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

/** Parses UTF-8 JSON. @throws SyntaxError */
export function parseJsonBytes(bytes: Uint8Array): unknown {
  return JSON.parse(fromUtf8(bytes));
}
