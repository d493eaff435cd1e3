/**
 * Takes the payloads out of CopyData messages (PostgreSQL documentation, "Message Formats"): type d, a length that counts
 * itself, a row. AssemblyScript; `node scripts/compile-assembly.mjs` makes pipelines/caches/format/copy-rows-module.ts of it.
 */

/** Bytes of messages in one call, at most. */
const inputMax: usize = 1 << 16;
/** Room for loads and stores of more bytes than are left. */
const slack: usize = 64;
const headerBytes: usize = 5;
/** A message with a byte. */
const messageBytesMin: usize = headerBytes + 1;
const copyData: u8 = 0x64;
const newline: u8 = 0x0a;

const inputAt: usize = 0x1000;
const outputAt: usize = inputAt + inputMax + slack;
const endsAt: usize = outputAt + inputMax + slack;
const memoryEnd: usize = endsAt + 4 * (inputMax / messageBytesMin + 1);

let bytes: usize = 0;
let rows: usize = 0;

export function inputPlace(): usize {
  return inputAt;
}

export function inputBytesMax(): usize {
  return inputMax;
}

/** Where the host finds the payloads. */
export function outputPlace(): usize {
  return outputAt;
}

/** Where the host finds the end of each row, 32 bits each. */
export function endsPlace(): usize {
  return endsAt;
}

export function memoryBytes(): usize {
  return memoryEnd;
}

/** Bytes of all payloads of the last call. */
export function payloadBytes(): usize {
  return bytes;
}

/** Payloads of the last call that end in a line end. */
export function rowsEnded(): usize {
  return rows;
}

/**
 * Takes the whole CopyData messages that the first `inputBytes` begin with, as long as their payloads fit `room` bytes and
 * their rows `rowsRoom` places, and returns how many bytes they are. Ends of rows are counted from `base`.
 */
export function take(inputBytes: usize, room: usize, rowsRoom: usize, base: usize): usize {
  const inputEnd = inputAt + inputBytes;
  let from = inputAt;
  let to = outputAt;
  let ended: usize = 0;
  while (from + headerBytes <= inputEnd && ended < rowsRoom && load<u8>(from) == copyData) {
    const length = (bswap(load<u32>(from, 1)) as usize) - 4;
    const next = from + headerBytes + length;
    if (next > inputEnd || to + length > outputAt + room) break;
    for (let at: usize = 0; at < length; at += 16) v128.store(to + at, v128.load(from + headerBytes + at));
    to += length;
    if (length > 0 && load<u8>(to - 1) == newline) store<u32>(endsAt + 4 * ended++, (base + (to - outputAt)) as u32);
    from = next;
  }
  bytes = to - outputAt;
  rows = ended;
  return from - inputAt;
}
