/**
 * A deflate encoder (RFC 1951) for the rows of an artefact: lines of tab-separated fields, ascending by the number that they
 * begin with. AssemblyScript; `node scripts/compile-assembly.mjs` makes pipelines/caches/format/row-deflate-module.ts of it.
 *
 * A general encoder looks for a match at every byte. In such rows three places are worth a look: the number, which begins
 * like the one above it; the first field after it, from which on the whole rest of the line, or its first words, were often
 * seen before; and the beginning of a word. A match runs on across the end of the line, so that one pair of length and
 * distance covers the tail of a row and the first digits of the next number. Any bytes are encoded, only not as well.
 *
 * One call encodes one piece on its own. Nothing of an earlier piece is referred to, and the same bytes give the same bytes.
 */

/** Plain bytes in a piece, at most. */
const inputMax: usize = 1 << 20;
/** Room after the input and the output for loads and stores of more bytes than are left. */
const slack: usize = 0x1000;

const farthest: usize = 32_768;
const longest: usize = 258;
const shortest: usize = 4;
/** Places with the same 4 bytes that a thorough search looks at, and a match after which it looks no further. */
const chainLooks: i32 = 8;
const longEnough: usize = 16;

// Addresses.
const inputAt: usize = 0x1000; // loads up to 16 bytes before the input are harmless
const sequencesAt: usize = inputAt + inputMax + slack;
const outputAt: usize = sequencesAt + 8 * (inputMax / shortest + 64);
/** Tables of places by a hash of what was there, 32 bits each. */
const tableBits: u64 = 13;
const tableBytes: usize = 4 << (tableBits as usize);
const tablesAt: usize = outputAt + inputMax + slack;
const restsAt: usize = tablesAt;
const openingsAt: usize = restsAt + tableBytes;
const wordsAt: usize = openingsAt + tableBytes;
const tablesEnd: usize = wordsAt + tableBytes;
const eightsAt: usize = tablesEnd;
const foursAt: usize = eightsAt + tableBytes;
/** For each place within reach the one before with the same 4 bytes. */
const linksAt: usize = foursAt + tableBytes;
const thoroughTablesEnd: usize = linksAt + 4 * farthest;

const literals: u32 = 286; // with the end of block and the lengths
const distances: u32 = 30;
const lengthCodes: u32 = 19;
const endOfBlock: u32 = 256;
const codeBitsMax: u32 = 15;
// Counts and codes are 32 bits a symbol; a code is its length << 16 | its bits, reversed as deflate writes them.
const literalCounts: usize = thoroughTablesEnd;
const distanceCounts: usize = literalCounts + 4 * 288;
const lengthCodeCounts: usize = distanceCounts + 4 * 32;
const literalCode: usize = lengthCodeCounts + 4 * 20;
const distanceCode: usize = literalCode + 4 * 288;
const lengthCodeCode: usize = distanceCode + 4 * 32;
/** For each match length: bits with the extra bits | how many << 24. */
const wholeLengthCode: usize = lengthCodeCode + 4 * 20;
const lengthSymbols: usize = wholeLengthCode + 4 * 260; // a byte each
const distanceSymbols: usize = lengthSymbols + 264; // a byte for each distance to 256, then for each 128 of them
const keysAt: usize = distanceSymbols + 512;
const weightsAt: usize = keysAt + 4 * 288;
const parentsAt: usize = weightsAt + 4 * 288;
const perLengthAt: usize = parentsAt + 2 * 2 * 288;
const nextCodeAt: usize = perLengthAt + 4 * 16;
const runsAt: usize = nextCodeAt + 4 * 16;
const memoryEnd: usize = runsAt + 2 * 320;

const lengthBase = memory.data<u16>([3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258]);
const lengthExtra = memory.data<u8>([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0]);
const lengthCodeOrder = memory.data<u8>([16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]);

// Odd constants that spread bits over a product (2^64 divided by the golden ratio, and two primes).
const spread: u64 = 0x9e3779b97f4a7c15;
const spreadSecond: u64 = 0xc2b2ae3d27d4eb4f;
const spreadThird: u64 = 0x165667b19e3779f9;

const newline: i8 = 0x0a;
const tab: u8 = 0x09;
const space: u8 = 0x20;

/** Where the host writes a piece. */
export function inputPlace(): usize {
  return inputAt;
}

/** Where the host finds its encoding. */
export function outputPlace(): usize {
  return outputAt;
}

export function inputBytesMax(): usize {
  return inputMax;
}

/**
 * Encodes the first `bytes` of the input, ends in an empty stored block at a byte boundary (a full flush), and returns the
 * length. `searchText` also looks for matches within words, which is slower and pays where names and texts seldom repeat;
 * without it that is done only for what would stay long.
 */
export function encode(bytes: usize, searchText: bool): usize {
  thorough = searchText;
  out = outputAt;
  bitBuffer = 0;
  bitCount = 0;
  if (bytes > 0) writeShortest(bytes);
  beginStored();
  store<u32>(out, 0xffff0000);
  return out + 4 - outputAt;
}

/** Bits of the block with the fixed codes, and with codes of its own, which are the codes of now. */
let fixedBits: u64 = 0;
let ownBits: u64 = 0;

/** Writes the input as a block with codes of its own, with the fixed codes, or stored, whichever is shortest. */
function writeShortest(bytes: usize): void {
  if (load<u8>(lengthSymbols + 258) == 0) fillSymbols();
  makeBlock(bytes);
  if (!thorough && isLong(bytes)) {
    thorough = true;
    makeBlock(bytes);
  }
  const storedBits = 8 * ((bytes as u64) + 5 * (1 + (bytes as u64) / 65_535));
  if (min(fixedBits, ownBits) >= storedBits) return writeStored(bytes);
  if (ownBits < fixedBits) {
    writeHeader();
  } else {
    useFixedCodes();
    put(0b010, 3);
  }
  writeTokens();
}

function makeBlock(bytes: usize): void {
  findMatches(bytes);
  countSymbols();
  useFixedCodes();
  fixedBits = 3 + tokenBits();
  useOwnCodes();
  ownBits = headerBits() + tokenBits();
}

/**
 * True above three tenths of the plain length: these are no usual rows. Without a search within words they would stay 1.4 times as
 * long as gzip -6 makes them.
 */
@inline
function isLong(bytes: usize): bool {
  return 10 * min(fixedBits, ownBits) > 3 * 8 * (bytes as u64);
}

// Finding matches. A sequence is a number of literals (32 bits), then a match: distance << 16 | length, or 0 at the end.

let thorough: bool = false;
let sequences: usize = 0;
let literalsFrom: usize = 0;
let end: usize = 0;
/** The line that is being encoded, the line above it (0 for the first), and where it ends. */
let line: usize = 0;
let lineAbove: usize = 0;
let lineEnd: usize = 0;
/** The longest match found so far at the place that is looked at. */
let length: usize = 0;
let distance: usize = 0;

function findMatches(bytes: usize): void {
  memory.fill(tablesAt, 0, (thorough ? thoroughTablesEnd : tablesEnd) - tablesAt);
  end = inputAt + bytes;
  memory.fill(end, newline as u8, 64);
  sequences = sequencesAt;
  literalsFrom = inputAt;
  lineAbove = 0;
  let at = inputAt;
  for (line = inputAt; line < end; line = lineEnd) {
    lineEnd = endOfLine(line);
    if (at < lineEnd) at = encodeLine(max(at, line));
    lineAbove = line;
  }
  addSequence(end, 0, 0);
}

/** Finds the matches of the line from `from` on, and returns where the last one ends, or the line. */
function encodeLine(from: usize): usize {
  let at = encodeNumber(from);
  for (let first = true; at < lineEnd; first = false) {
    const next = first ? encodeRest(at) : encodeTail(at);
    at = next != at ? next : at + 1;
    if (at >= lineEnd) return at;
    at = thorough ? encodeText(at) : encodeWord(at);
  }
  return at;
}

/** Encodes what the line begins with like the one above, and returns the boundary after the number. */
function encodeNumber(at: usize): usize {
  length = 0;
  if (lineAbove != 0) consider(at, at - (line - lineAbove));
  return nextBoundary(length >= shortest ? addMatch(at) : at);
}

/** Encodes at the boundary after the number, from which on the line, or its first words, were often seen before. */
function encodeRest(at: usize): usize {
  length = 0;
  const rest = exchange(restsAt, hashOfRest(at, lineEnd - at), at);
  considerAbove(at);
  if (length < lineEnd - at) consider(at, rest);
  if (length < lineEnd - at) {
    considerOpenings(at);
    search(at);
  }
  return isWorth() ? addMatch(at) : at;
}

/** Encodes at another boundary. */
function encodeTail(at: usize): usize {
  length = 0;
  considerAbove(at);
  if (length < lineEnd - at) search(at);
  return isWorth() ? addMatch(at) : at;
}

/** Encodes a word whose boundary was copied already, and returns the next boundary. Digits are left, as below. */
function encodeWord(at: usize): usize {
  if (load<u8>(at) > space && load<u8>(at - 1) <= space && !isDigit(load<u8>(at))) {
    const word = exchange(wordsAt, hashOfWord(load<u64>(at - 1)), at - 1);
    length = 0;
    if (word != 0) consider(at, word + 1);
    if (isWorth()) return nextBoundary(addMatch(at));
  }
  return nextBoundary(at);
}

/**
 * Looks at every byte up to the next boundary, and takes the longer of two matches that begin in neighbours. Digits are
 * left: those of a number in a name are nearly as short as a match.
 */
function encodeText(from: usize): usize {
  for (let at = from; at < lineEnd; at++) {
    const byte = load<u8>(at);
    if (byte <= space) return at;
    if (isDigit(byte)) continue;
    length = 0;
    search(at);
    if (!isWorth()) continue;
    while (length < longEnough && load<u8>(at + 1) > space) {
      const shorter = length;
      const itsDistance = distance;
      search(at + 1);
      if (length > shorter && isWorth()) {
        at++;
        continue;
      }
      length = shorter;
      distance = itsDistance;
      break;
    }
    return addMatch(at);
  }
  return lineEnd;
}

/**
 * Considers the tail of the line above of the same length: where it is the same, it is the nearest copy, with the nearest number
 * after it.
 */
@inline
function considerAbove(at: usize): void {
  const above = line - (lineEnd - at);
  if (lineAbove != 0 && above > lineAbove) consider(at, above);
}

/** Considers where the line's first words were seen: up to its first space, and a word more. */
@inline
function considerOpenings(at: usize): void {
  const boundaries = maskOfBoundaries(at);
  const one = ctz(boundaries & maskOfSpaces(at)) as usize; // 64 if there is none
  if (one >= 63) return;
  const shorter = exchange(openingsAt, hashOfOpening(at, one), at);
  const after = boundaries >> (one + 1);
  if (after != 0) {
    consider(at, exchange(openingsAt, hashOfOpening(at, one + 1 + (ctz(after) as usize)), at));
  }
  if (length <= one) consider(at, shorter);
}

/** Considers where the next word was seen last; with `thorough` where the next 8 bytes were, and the next 4 the last few times. */
@inline
function search(at: usize): void {
  if (!thorough) return consider(at, exchange(wordsAt, hashOfWord(load<u64>(at)), at));
  consider(at, exchange(eightsAt, load<u64>(at) * spread, at));
  let earlier = linkFour(at);
  if (length >= longEnough) return;
  for (let looks = chainLooks; looks > 0 && earlier != 0 && at - earlier <= farthest; looks--) {
    consider(at, earlier);
    const next = load<u32>(linkOf(earlier)) as usize;
    if (next >= earlier) return; // the slot was taken by a later place
    earlier = next;
  }
}

@inline
function linkFour(at: usize): usize {
  const earlier = exchange(foursAt, (load<u32>(at) as u64) * spread, at);
  store<u32>(linkOf(at), earlier as u32);
  return earlier;
}

@inline
function linkOf(at: usize): usize {
  return linksAt + ((at & (farthest - 1)) << 2);
}

/** Takes an earlier place if more bytes are the same there. A table may have given 0 for none, or `at` itself. */
@inline
function consider(at: usize, earlier: usize): void {
  if (earlier == 0 || earlier >= at) return;
  const found = lengthAt(at, earlier);
  if (found <= length) return;
  length = found;
  distance = at - earlier;
}

/** A match costs more the farther it reaches: below these lengths its literals are about as short. */
@inline
function isWorth(): bool {
  return length >= (distance <= (thorough ? 4096 : 512) ? shortest : distance <= 8192 ? 5 : 6);
}

/** Adds the match found, and returns where it ends. */
@inline
function addMatch(at: usize): usize {
  if (thorough) remember(at + 1, min(at + length, lineEnd));
  addSequence(at, length, distance);
  return at + length;
}

/** Makes the bytes that a match skips known to later searches. */
@inline
function remember(from: usize, to: usize): void {
  for (let at = from; at < to; at++) {
    exchange(eightsAt, load<u64>(at) * spread, at);
    linkFour(at);
  }
}

@inline
function addSequence(at: usize, length: usize, distance: usize): void {
  store<u32>(sequences, (at - literalsFrom) as u32);
  store<u32>(sequences, ((distance << 16) | length) as u32, 4);
  sequences += 8;
  literalsFrom = at + length;
}

/** How many bytes from `at` on are as from `earlier` on; none where that is too far. */
@inline
function lengthAt(at: usize, earlier: usize): usize {
  if (at - earlier > farthest) return 0;
  const most = min(longest, end - at);
  for (let same: usize = 0; same < most; same += 8) {
    const differing = load<u64>(at + same) ^ load<u64>(earlier + same);
    if (differing != 0) return min(same + ((ctz(differing) >> 3) as usize), most);
  }
  return most;
}

@inline
function isDigit(byte: u32): bool {
  return byte - 0x30 < 10;
}

@inline
function endOfLine(line: usize): usize {
  const newlines = i8x16.splat(newline);
  let at = line;
  let mask = i8x16.bitmask(i8x16.eq(v128.load(at), newlines));
  while (mask == 0) {
    at += 16;
    mask = i8x16.bitmask(i8x16.eq(v128.load(at), newlines));
  }
  return min(at + (ctz(mask) as usize) + 1, end);
}

/** The next byte that is a space, a tab or a line end, or the end of the line. */
@inline
function nextBoundary(from: usize): usize {
  let at = from;
  while (at < lineEnd && load<u8>(at) > space) at++;
  return at;
}

/** A bit for each of the next 64 bytes that is a boundary. */
@inline
function maskOfBoundaries(at: usize): u64 {
  const limit = i8x16.splat(space + 1);
  return (i8x16.bitmask(i8x16.lt_u(v128.load(at), limit)) as u64)
    | ((i8x16.bitmask(i8x16.lt_u(v128.load(at, 16), limit)) as u64) << 16)
    | ((i8x16.bitmask(i8x16.lt_u(v128.load(at, 32), limit)) as u64) << 32)
    | ((i8x16.bitmask(i8x16.lt_u(v128.load(at, 48), limit)) as u64) << 48);
}

/** A bit for each of the next 64 bytes that is a space. */
@inline
function maskOfSpaces(at: usize): u64 {
  const spaces = i8x16.splat(space);
  return (i8x16.bitmask(i8x16.eq(v128.load(at), spaces)) as u64)
    | ((i8x16.bitmask(i8x16.eq(v128.load(at, 16), spaces)) as u64) << 16)
    | ((i8x16.bitmask(i8x16.eq(v128.load(at, 32), spaces)) as u64) << 32)
    | ((i8x16.bitmask(i8x16.eq(v128.load(at, 48), spaces)) as u64) << 48);
}

/** Of the rest of a line, by its ends and its length: what the table gives is compared anyway. */
@inline
function hashOfRest(at: usize, tail: usize): u64 {
  const second: u64 = tail >= 16 ? load<u64>(at, 8) : 0;
  return (load<u64>(at) ^ (load<u64>(at + tail - 8) * spreadSecond) ^ (second * spreadThird) ^ (tail as u64)) * spread;
}

/** Of the bytes from `at` to `at + last`. */
@inline
function hashOfOpening(at: usize, last: usize): u64 {
  let hash: u64 = last;
  for (let i: usize = 0; i + 8 <= last; i += 8) {
    hash = (hash ^ load<u64>(at + i)) * spread;
    hash ^= hash >> 29;
  }
  return (hash ^ load<u64>(at + last - 7)) * spreadSecond;
}

/** Of the boundary in the first byte and the word after it with its own boundary, or of 8 bytes if it is longer. */
@inline
function hashOfWord(bytes: u64): u64 {
  // Bytes below 0x21 get their top bit, by the borrow that subtracting takes; the first byte is made to be none.
  const others = bytes | 0x21;
  const ends = (others - 0x2121212121212121) & ~others & 0x8080808080808080;
  return (ends == 0 ? bytes : bytes & (ends ^ (ends - 1))) * spread;
}

/** Puts a place into a table and returns the one that was there, or 0. */
@inline
function exchange(table: usize, hash: u64, at: usize): usize {
  const slot = table + (((hash >> (64 - tableBits)) as usize) << 2);
  const earlier = load<u32>(slot) as usize;
  store<u32>(slot, at as u32);
  return earlier;
}

// Symbols and codes (RFC 1951, section 3.2).

@inline
function distanceBase(symbol: u32): u32 {
  return symbol < 4 ? symbol + 1 : ((2 | (symbol & 1)) << ((symbol >> 1) - 1)) + 1;
}

@inline
function distanceExtra(symbol: u32): u32 {
  return symbol < 4 ? 0 : (symbol >> 1) - 1;
}

@inline
function lengthSymbol(length: u32): u32 {
  return load<u8>(lengthSymbols + (length as usize));
}

@inline
function placeOfDistance(distance: u32): usize {
  return distanceSymbols + ((distance <= 256 ? distance - 1 : 256 + ((distance - 1) >> 7)) as usize);
}

@inline
function distanceSymbol(distance: u32): u32 {
  return load<u8>(placeOfDistance(distance));
}

function fillSymbols(): void {
  for (let length: u32 = 3, symbol: u32 = 0; length <= 258; length++) {
    while (symbol < 28 && load<u16>(lengthBase + 2 * (symbol + 1)) <= length) symbol++;
    store<u8>(lengthSymbols + length, symbol as u8);
  }
  for (let distance: u32 = 1, symbol: u32 = 0; distance <= (farthest as u32); distance += distance < 257 ? 1 : 128) {
    while (symbol < distances - 1 && distanceBase(symbol + 1) <= distance) symbol++;
    store<u8>(placeOfDistance(distance), symbol as u8);
  }
}

@inline
function count(counts: usize, symbol: u32): void {
  const at = counts + ((symbol as usize) << 2);
  store<u32>(at, load<u32>(at) + 1);
}

function countSymbols(): void {
  memory.fill(literalCounts, 0, literalCode - literalCounts);
  let from = inputAt;
  for (let at = sequencesAt; at < sequences; at += 8) {
    for (const to = from + (load<u32>(at) as usize); from < to; from++) count(literalCounts, load<u8>(from));
    const match = load<u32>(at, 4);
    if (match == 0) break;
    count(literalCounts, 257 + lengthSymbol(match & 0xffff));
    count(distanceCounts, distanceSymbol(match >> 16));
    from += (match & 0xffff) as usize;
  }
  count(literalCounts, endOfBlock);
}

/** Bits of all tokens of the block with the codes of now. */
function tokenBits(): u64 {
  let bits: u64 = 0;
  for (let symbol: u32 = 0; symbol < literals; symbol++) {
    const extra: u32 = symbol > endOfBlock ? load<u8>(lengthExtra + symbol - 257) : 0;
    bits += (load<u32>(literalCounts + 4 * symbol) as u64) * (bitsOf(literalCode, symbol) + extra);
  }
  for (let symbol: u32 = 0; symbol < distances; symbol++) {
    bits += (load<u32>(distanceCounts + 4 * symbol) as u64) * (bitsOf(distanceCode, symbol) + distanceExtra(symbol));
  }
  return bits;
}

@inline
function bitsOf(code: usize, symbol: u32): u32 {
  return load<u32>(code + 4 * symbol) >> 16;
}

function useFixedCodes(): void {
  for (let symbol: u32 = 0; symbol < 288; symbol++) {
    store<u32>(literalCode + 4 * symbol, (symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8) << 16);
  }
  for (let symbol: u32 = 0; symbol < 32; symbol++) store<u32>(distanceCode + 4 * symbol, 5 << 16);
  numberCodes(literalCode, 288);
  numberCodes(distanceCode, 32);
}

function useOwnCodes(): void {
  makeCode(literalCounts, literalCode, literals, codeBitsMax);
  makeCode(distanceCounts, distanceCode, distances, codeBitsMax);
  makeRuns();
  makeCode(lengthCodeCounts, lengthCodeCode, lengthCodes, 7);
}

/** Makes the code of the given counts, after D. A. Huffman, 1952: the two rarest are joined until one is left. */
function makeCode(counts: usize, code: usize, symbols: u32, bitsMax: u32): void {
  requireTwo(counts);
  const used = sortByCount(counts, symbols);
  joinRarest(used);
  countLengths(used, bitsMax);
  limitLengths(bitsMax);
  memory.fill(code, 0, 4 * symbols);
  let rank: u32 = 0;
  for (let bits = bitsMax; bits > 0; bits--) {
    for (let left = load<u32>(perLengthAt + 4 * bits); left > 0; left--) store<u32>(code + 4 * (load<u32>(keysAt + 4 * rank++) & 511), bits << 16);
  }
  numberCodes(code, symbols);
}

/** Decoders differ about a code with fewer than two symbols, so there are always two. */
function requireTwo(counts: usize): void {
  let used: u32 = 0;
  for (let symbol: u32 = 0; symbol < lengthCodes; symbol++) used += u32(load<u32>(counts + 4 * symbol) != 0);
  if (used < 2 && load<u32>(counts) == 0) store<u32>(counts, 1);
  if (used < 2 && load<u32>(counts, 4) == 0) store<u32>(counts, 1, 4);
}

/** Lists the symbols that occur, rarest first, as count << 9 | symbol. Counts are below 2^21. */
function sortByCount(counts: usize, symbols: u32): u32 {
  let used: u32 = 0;
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const times = load<u32>(counts + 4 * symbol);
    if (times == 0) continue;
    const key = (times << 9) | symbol;
    let at = keysAt + 4 * used++;
    for (; at > keysAt && load<u32>(at - 4) > key; at -= 4) store<u32>(at, load<u32>(at - 4));
    store<u32>(at, key);
  }
  return used;
}

/** Notes the parent of each node: leaves by rank, then the joined ones in the order of their making, which is by weight too. */
function joinRarest(used: u32): void {
  let leaf: u32 = 0;
  let joined: u32 = 0;
  for (let made: u32 = 0; made + 1 < used; made++) {
    let weight: u32 = 0;
    for (let child = 0; child < 2; child++) {
      const leafWeight = leaf < used ? load<u32>(keysAt + 4 * leaf) >> 9 : u32.MAX_VALUE;
      const joinedWeight = joined < made ? load<u32>(weightsAt + 4 * joined) : u32.MAX_VALUE;
      store<u16>(parentsAt + 2 * (leafWeight <= joinedWeight ? leaf++ : used + joined++), (used + made) as u16);
      weight += min(leafWeight, joinedWeight);
    }
    store<u32>(weightsAt + 4 * made, weight);
  }
}

/** Counts the leaves at each depth, those below the limit at the limit; parents become depths, from the root down. */
function countLengths(used: u32, bitsMax: u32): void {
  memory.fill(perLengthAt, 0, 4 * 16);
  let node: u32 = 2 * used - 2;
  store<u16>(parentsAt + 2 * node, 0);
  while (node > 0) {
    node--;
    const depth: u32 = (load<u16>(parentsAt + 2 * (load<u16>(parentsAt + 2 * node) as u32)) as u32) + 1;
    store<u16>(parentsAt + 2 * node, depth as u16);
    if (node < used) count(perLengthAt, min(depth, bitsMax));
  }
}

/** Lengthens short codes until all fit: the sum of 2^-length may not be above 1. */
function limitLengths(bitsMax: u32): void {
  let total: u32 = 0;
  for (let bits: u32 = 1; bits <= bitsMax; bits++) total += load<u32>(perLengthAt + 4 * bits) << (bitsMax - bits);
  for (; total > u32(1) << bitsMax; total--) {
    // One leaf of the greatest depth goes up next to the deepest leaf above it, which makes room of one unit.
    let bits = bitsMax - 1;
    while (load<u32>(perLengthAt + 4 * bits) == 0) bits--;
    addTo(perLengthAt + 4 * bits, -1);
    addTo(perLengthAt + 4 * (bits + 1), 2);
    addTo(perLengthAt + 4 * bitsMax, -1);
  }
}

@inline
function addTo(at: usize, value: i32): void {
  store<u32>(at, load<u32>(at) + value);
}

/** Gives symbols with lengths their bits: counted up by length, then by symbol (section 3.2.2). */
function numberCodes(code: usize, symbols: u32): void {
  memory.fill(perLengthAt, 0, 4 * 16);
  for (let symbol: u32 = 0; symbol < symbols; symbol++) count(perLengthAt, bitsOf(code, symbol));
  store<u32>(perLengthAt, 0);
  let next: u32 = 0;
  for (let bits: u32 = 1; bits <= codeBitsMax; bits++) {
    next = (next + load<u32>(perLengthAt + 4 * (bits - 1))) << 1;
    store<u32>(nextCodeAt + 4 * bits, next);
  }
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const bits = bitsOf(code, symbol);
    if (bits == 0) continue;
    store<u32>(code + 4 * symbol, (bits << 16) | reversed(load<u32>(nextCodeAt + 4 * bits), bits));
    count(nextCodeAt, bits);
  }
}

function reversed(value: u32, bits: u32): u32 {
  let result: u32 = 0;
  for (let bit: u32 = 0; bit < bits; bit++) result |= ((value >> bit) & 1) << (bits - 1 - bit);
  return result;
}

// The lengths of the codes in a block's header, themselves in runs and coded (section 3.2.7).

let runs: u32 = 0;
let literalsUsed: u32 = 0;
let distancesUsed: u32 = 0;

function makeRuns(): void {
  literalsUsed = usedOf(literalCode, literals, 257);
  distancesUsed = usedOf(distanceCode, distances, 1);
  runs = 0;
  const total = literalsUsed + distancesUsed;
  for (let from: u32 = 0; from < total; ) {
    const bits = headerLength(from);
    let to = from + 1;
    while (to < total && headerLength(to) == bits) to++;
    addRuns(bits, to - from);
    from = to;
  }
}

/** Symbols up to the last that has a code, at least `fewest`. */
function usedOf(code: usize, symbols: u32, fewest: u32): u32 {
  let used = symbols;
  while (used > fewest && bitsOf(code, used - 1) == 0) used--;
  return used;
}

function headerLength(index: u32): u32 {
  return index < literalsUsed ? bitsOf(literalCode, index) : bitsOf(distanceCode, index - literalsUsed);
}

function addRuns(bits: u32, times: u32): void {
  let left = times;
  if (bits == 0) {
    for (; left >= 11; left -= min(left, 138)) addRun(18, min(left, 138) - 11);
    if (left >= 3) {
      addRun(17, left - 3);
      left = 0;
    }
  } else {
    addRun(bits, 0);
    left--;
    for (; left >= 3; left -= min(left, 6)) addRun(16, min(left, 6) - 3);
  }
  for (; left > 0; left--) addRun(bits, 0);
}

function addRun(symbol: u32, extra: u32): void {
  store<u16>(runsAt + 2 * runs++, ((extra << 8) | symbol) as u16);
  count(lengthCodeCounts, symbol);
}

@inline
function runExtra(symbol: u32): u32 {
  return symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
}

function lengthCodesUsed(): u32 {
  let used = lengthCodes;
  while (used > 4 && bitsOf(lengthCodeCode, load<u8>(lengthCodeOrder + used - 1)) == 0) used--;
  return used;
}

function headerBits(): u64 {
  let bits: u64 = 3 + 5 + 5 + 4 + 3 * lengthCodesUsed();
  for (let run: u32 = 0; run < runs; run++) {
    const symbol: u32 = load<u16>(runsAt + 2 * run) & 0xff;
    bits += bitsOf(lengthCodeCode, symbol) + runExtra(symbol);
  }
  return bits;
}

function writeHeader(): void {
  put(0b100, 3);
  put(literalsUsed - 257, 5);
  put(distancesUsed - 1, 5);
  const used = lengthCodesUsed();
  put(used - 4, 4);
  for (let index: u32 = 0; index < used; index++) put(bitsOf(lengthCodeCode, load<u8>(lengthCodeOrder + index)), 3);
  for (let run: u32 = 0; run < runs; run++) {
    const value: u32 = load<u16>(runsAt + 2 * run);
    putSymbol(lengthCodeCode, value & 0xff);
    put(value >> 8, runExtra(value & 0xff));
  }
}

// Writing. Bits gather in a 64-bit buffer, the first to be written lowest.

let out: usize = 0;
let bitBuffer: u64 = 0;
let bitCount: u64 = 0;

/** Writes up to 16 bits. */
function put(value: u32, bits: u32): void {
  bitBuffer |= (value as u64) << bitCount;
  bitCount += bits;
  store<u64>(out, bitBuffer);
  out += (bitCount >> 3) as usize;
  bitBuffer >>= bitCount & 56;
  bitCount &= 7;
}

function putSymbol(code: usize, symbol: u32): void {
  put(load<u32>(code + 4 * symbol) & 0xffff, bitsOf(code, symbol));
}

/** Begins a stored block that is not the last, and fills its first byte. */
function beginStored(): void {
  put(0b000, 3);
  if (bitCount > 0) put(0, 8 - (bitCount as u32));
}

function writeStored(bytes: usize): void {
  for (let at: usize = 0; at < bytes; at += 65_535) {
    const length = min(bytes - at, 65_535);
    beginStored();
    store<u32>(out, ((length ^ 0xffff) << 16 | length) as u32);
    memory.copy(out + 4, inputAt + at, length);
    out += 4 + length;
  }
}

/** Writes all literals and matches, and the end of the block. Between two stores at most 7 + 3 * 15 bits are in the buffer, or 7 + 48. */
function writeTokens(): void {
  joinLengthCodes();
  let buffer = bitBuffer;
  let bits = bitCount;
  let to = out;
  let from = inputAt;
  for (let at = sequencesAt; at < sequences; at += 8) {
    const literalsTo = from + (load<u32>(at) as usize);
    for (; from + 3 <= literalsTo; from += 3) {
      const first = load<u32>(literalCode + ((load<u8>(from) as usize) << 2));
      const second = load<u32>(literalCode + ((load<u8>(from, 1) as usize) << 2));
      const third = load<u32>(literalCode + ((load<u8>(from, 2) as usize) << 2));
      buffer |= ((first & 0xffff) as u64) << bits;
      bits += first >> 16;
      buffer |= ((second & 0xffff) as u64) << bits;
      bits += second >> 16;
      buffer |= ((third & 0xffff) as u64) << bits;
      bits += third >> 16;
      store<u64>(to, buffer);
      to += (bits >> 3) as usize;
      buffer >>= bits & 56;
      bits &= 7;
    }
    for (; from < literalsTo; from++) {
      const code = load<u32>(literalCode + ((load<u8>(from) as usize) << 2));
      buffer |= ((code & 0xffff) as u64) << bits;
      bits += code >> 16;
    }
    store<u64>(to, buffer);
    to += (bits >> 3) as usize;
    buffer >>= bits & 56;
    bits &= 7;
    const match = load<u32>(at, 4);
    if (match == 0) break;
    const length = load<u32>(wholeLengthCode + ((match & 0xffff) << 2));
    buffer |= ((length & 0xffffff) as u64) << bits;
    bits += length >> 24;
    const distance = match >> 16;
    const symbol = distanceSymbol(distance);
    const code = load<u32>(distanceCode + (symbol << 2));
    buffer |= ((code & 0xffff) as u64) << bits;
    bits += code >> 16;
    buffer |= ((distance - distanceBase(symbol)) as u64) << bits;
    bits += distanceExtra(symbol);
    store<u64>(to, buffer);
    to += (bits >> 3) as usize;
    buffer >>= bits & 56;
    bits &= 7;
    from += (match & 0xffff) as usize;
  }
  bitBuffer = buffer;
  bitCount = bits;
  out = to;
  putSymbol(literalCode, endOfBlock);
}

/** Joins the code of each match length with its extra bits. */
function joinLengthCodes(): void {
  for (let length: u32 = 3; length <= 258; length++) {
    const symbol = lengthSymbol(length);
    const code = load<u32>(literalCode + 4 * (257 + symbol));
    const bits = code >> 16;
    const extra = length - (load<u16>(lengthBase + 2 * symbol) as u32);
    store<u32>(wholeLengthCode + 4 * length, ((bits + load<u8>(lengthExtra + symbol)) << 24) | (extra << bits) | (code & 0xffff));
  }
}

/** Bytes of memory that the module needs. */
export function memoryBytes(): usize {
  return memoryEnd;
}
