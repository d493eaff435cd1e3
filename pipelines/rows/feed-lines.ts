import { isAscii, isUtf8 } from 'node:buffer';
import { excerptCharactersMax, makeExcerpt, makeExcerptOfBytes } from '../phone/text-cleaning.ts';
import { refuse, type Refusal } from './reject.ts';

/** A line of a feed without its line end, or why its bytes are not text. Lines are numbered from 1. */
export type FeedLine = { readonly number: number; readonly text: string } | BrokenLine;

/** A line that is refused before it is split. */
export interface BrokenLine {
  readonly number: number;
  readonly refusal: Refusal;
  readonly excerpt: string;
}

/** Successive lines of a feed. */
export interface LineBlock {
  readonly lines: FeedLine[];
  /** False if no line has a quote, so that each can be split directly. */
  readonly quotes: boolean;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const quote = 0x22;

/**
 * Splits chunks into lines (LF or CRLF; the last may lack one) without a byte order mark. A line longer than `lineBytesMax` is
 * refused; at most that and one chunk are held in memory.
 */
export async function* readLines(chunks: AsyncIterable<Buffer>, lineBytesMax: number): AsyncGenerator<LineBlock> {
  const cutter = new LineCutter(lineBytesMax);
  for await (const chunk of chunks) {
    const block = cutter.take(chunk);
    if (block.lines.length > 0) yield block;
  }
  const rest = cutter.end();
  if (rest.lines.length > 0) yield rest;
}

class LineCutter {
  private readonly lineBytesMax: number;
  private number = 0;
  /** The unfinished line, or only its start while the rest of a too long line is skipped. */
  private open: Buffer[] = [];
  private openBytes = 0;
  private skipping = false;
  private atStart = true;

  constructor(lineBytesMax: number) {
    this.lineBytesMax = lineBytesMax;
  }

  take(chunk: Buffer): LineBlock {
    const lines: FeedLine[] = [];
    const rest = this.skipping ? this.skip(chunk, lines) : chunk;
    const end = rest.lastIndexOf(lineFeed) + 1;
    const quotes =
      end > 0 &&
      this.cut(
        this.open.length === 0 ? rest.subarray(0, end) : Buffer.concat([...this.close(), rest.subarray(0, end)]),
        lines,
      );
    this.hold(rest.subarray(end));
    return { lines, quotes };
  }

  end(): LineBlock {
    const lines: FeedLine[] = [];
    if (this.skipping) lines.push(this.tooLong(this.close()[0]!));
    const quotes = this.openBytes > 0 && this.cut(Buffer.concat([...this.close(), Buffer.from('\n')]), lines);
    return { lines, quotes };
  }

  /** Keeps an unfinished line; of a too long one, only the start for its excerpt. */
  private hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.open.push(bytes);
    this.openBytes += bytes.length;
    if (this.openBytes <= this.lineBytesMax + 1) return; // 1 for a carriage return of the line end
    const start = Buffer.from(Buffer.concat(this.open).subarray(0, excerptCharactersMax + 1));
    this.open = [start];
    this.openBytes = start.length;
    this.skipping = true;
  }

  private close(): Buffer[] {
    const { open } = this;
    this.open = [];
    this.openBytes = 0;
    return open;
  }

  /** Skips the rest of a too long line; returns the bytes after it. */
  private skip(chunk: Buffer, lines: FeedLine[]): Buffer {
    const end = chunk.indexOf(lineFeed);
    if (end === -1) return chunk.subarray(chunk.length);
    this.skipping = false;
    lines.push(this.tooLong(this.close()[0]!));
    return chunk.subarray(end + 1);
  }

  /** Splits bytes that end with a line feed. Returns true if they have a quote. */
  private cut(given: Buffer, lines: FeedLine[]): boolean {
    const bytes = this.atStart ? withoutByteOrderMark(given) : given;
    this.atStart = false;
    const ascii = isAscii(bytes);
    if ((ascii || isUtf8(bytes)) && !bytes.includes(0))
      this.cutText(ascii ? bytes.toString('latin1') : bytes.toString(), ascii, lines);
    else this.cutBytes(bytes, lines);
    return bytes.includes(quote);
  }

  private cutText(text: string, ascii: boolean, lines: FeedLine[]): void {
    for (let start = 0, end = text.indexOf('\n'); end !== -1; start = end + 1, end = text.indexOf('\n', start)) {
      const line = text.slice(start, end > start && text.charCodeAt(end - 1) === carriageReturn ? end - 1 : end);
      if (this.fits(line, ascii)) lines.push({ number: ++this.number, text: line });
      else lines.push(this.tooLong(Buffer.from(line.slice(0, excerptCharactersMax + 1))));
    }
  }

  /** Splits bytes with invalid text, line by line. */
  private cutBytes(bytes: Buffer, lines: FeedLine[]): void {
    for (
      let start = 0, end = bytes.indexOf(lineFeed);
      end !== -1;
      start = end + 1, end = bytes.indexOf(lineFeed, start)
    ) {
      lines.push(
        this.lineOfBytes(bytes.subarray(start, end > start && bytes[end - 1] === carriageReturn ? end - 1 : end)),
      );
    }
  }

  private lineOfBytes(line: Buffer): FeedLine {
    if (line.length > this.lineBytesMax) return this.tooLong(line);
    if (line.includes(0))
      return { number: ++this.number, refusal: refuse('nul_byte'), excerpt: makeExcerptOfBytes(line) };
    if (!isUtf8(line))
      return { number: ++this.number, refusal: refuse('utf8_invalid'), excerpt: makeExcerptOfBytes(line) };
    return { number: ++this.number, text: line.toString() };
  }

  private fits(line: string, ascii: boolean): boolean {
    return (
      line.length <= this.lineBytesMax &&
      (ascii || line.length * 3 <= this.lineBytesMax || Buffer.byteLength(line) <= this.lineBytesMax)
    );
  }

  private tooLong(start: Buffer): FeedLine {
    const shown = start.subarray(0, Math.min(this.lineBytesMax, excerptCharactersMax));
    const excerpt = isUtf8(shown) ? makeExcerpt(shown.toString()) : makeExcerptOfBytes(shown);
    return {
      number: ++this.number,
      refusal: refuse('line_too_long', `The line is longer than ${this.lineBytesMax} bytes.`),
      excerpt: `${excerpt}…`,
    };
  }
}

function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
