import { crc32, deflateSync } from 'node:zlib';

const head = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);

/** One chunk of a PNG. */
export function pngChunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}

export interface PngParts {
  readonly width: number;
  readonly height: number;
  readonly depth?: number;
  readonly colour?: number;
  readonly interlace?: number;
  /** Unpacked rows with their filter bytes. */
  readonly rows?: Buffer;
  /** The data as it is, instead of the packed rows. */
  readonly data?: Buffer;
  /** Chunks between the head and the data. */
  readonly chunks?: readonly Buffer[];
  readonly tail?: Buffer;
}

/** A PNG from its parts, also from parts that do not fit. */
export function png({
  width,
  height,
  depth = 8,
  colour = 0,
  interlace = 0,
  rows = Buffer.alloc(0),
  data = deflateSync(rows),
  chunks = [],
  tail = Buffer.alloc(0),
}: PngParts): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, colour, 0, 0, interlace], 8);
  return Buffer.concat([
    head,
    pngChunk('IHDR', header),
    ...chunks,
    pngChunk('IDAT', data),
    pngChunk('IEND', Buffer.alloc(0)),
    tail,
  ]);
}
