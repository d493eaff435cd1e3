import { ServiceError } from '../../runtime/errors.ts';

/** Encodings of feeds. Without a byte order mark, only the first is detected. */
export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;

export type Encoding = (typeof ENCODINGS)[number];

type Decoder = InstanceType<typeof TextDecoder>;

const marks: readonly { readonly bytes: readonly number[]; readonly encoding: Encoding | 'utf-32' }[] = [
  { bytes: [0xef, 0xbb, 0xbf], encoding: 'utf-8' },
  { bytes: [0xff, 0xfe, 0, 0], encoding: 'utf-32' },
  { bytes: [0, 0, 0xfe, 0xff], encoding: 'utf-32' },
  { bytes: [0xff, 0xfe], encoding: 'utf-16le' },
  { bytes: [0xfe, 0xff], encoding: 'utf-16be' },
];

/** Bytes that are checked for UTF-16 without a byte order mark. */
const probeBytes = 512;

/**
 * The text as UTF-8. `given` is the sender's encoding; without it a byte order mark decides, and a file without one is UTF-8,
 * which is checked later for each line.
 * @throws ServiceError `feed_encoding_invalid` for UTF-32, for UTF-16 without mark or option, and for bytes that are not UTF-16
 */
export async function* readAsUtf8(chunks: AsyncIterable<Buffer>, given?: Encoding): AsyncGenerator<Buffer> {
  let decoder: Decoder | null | undefined;
  let start: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (decoder === undefined && start.length + chunk.length < 4) {
      start = Buffer.concat([start, chunk]);
      continue;
    }
    const bytes: Buffer = start.length === 0 ? chunk : Buffer.concat([start, chunk]);
    start = Buffer.alloc(0);
    if (decoder === undefined) decoder = decoderOf(given ?? encodingOf(bytes));
    yield decoder === null ? bytes : decode(decoder, bytes, true);
  }
  if (start.length > 0) decoder ??= decoderOf(given ?? encodingOf(start));
  if (start.length > 0 && !decoder) yield start;
  if (decoder) yield decode(decoder, start, false);
}

/** The encoding by the first bytes. */
function encodingOf(bytes: Buffer): Encoding {
  const mark = marks.find((known) => known.bytes.every((byte, at) => bytes[at] === byte));
  if (mark?.encoding === 'utf-32')
    throw invalidEncoding('The file is UTF-32, which is not supported.', 'Save it as UTF-8.');
  if (mark !== undefined) return mark.encoding;
  const looksLike = utf16WithoutMark(bytes.subarray(0, probeBytes));
  if (looksLike !== null)
    throw invalidEncoding(
      'The file looks like UTF-16 without a byte order mark: every second byte is zero.',
      `Save it as UTF-8, or load it with --encoding ${looksLike}.`,
    );
  return 'utf-8';
}

/** ASCII in UTF-16 has a zero in every pair of bytes, always at the same position. */
function utf16WithoutMark(bytes: Buffer): 'utf-16le' | 'utf-16be' | null {
  const zeros = [0, 0];
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === 0) zeros[at % 2]!++;
  const pairs = bytes.length >> 1;
  if (pairs === 0) return null;
  if (zeros[0] === 0 && zeros[1]! > pairs * 0.6) return 'utf-16le';
  return zeros[1] === 0 && zeros[0]! > pairs * 0.6 ? 'utf-16be' : null;
}

/** Null for UTF-8, which needs no decoding. */
function decoderOf(encoding: Encoding): Decoder | null {
  return encoding === 'utf-8' ? null : new TextDecoder(encoding, { fatal: true });
}

function decode(decoder: Decoder, bytes: Buffer, stream: boolean): Buffer {
  try {
    return Buffer.from(decoder.decode(bytes, { stream }));
  } catch (error) {
    throw invalidEncoding(
      `The file is not valid ${decoder.encoding.toUpperCase()}: it is cut off, or has half of a surrogate pair.`,
      'Send the whole file again, or name its encoding with --encoding.',
      error,
    );
  }
}

function invalidEncoding(problem: string, hint: string, cause?: unknown): ServiceError {
  return new ServiceError('feed_encoding_invalid', { operation: 'read feed', problem, hint, cause });
}
