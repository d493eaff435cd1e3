import type { RenderedPage } from '../../pipelines/branding/reading/letter-reader.ts';
import { Turns } from '../http/turns.ts';

/** Most letters with drawn pages in memory, and for how long: a reviewer reads one letter at a time, and returns to the previous one. */
export const drawnLettersMax = 6;
export const drawnSecondsMax = 300;

/** Most bytes of drawn pages in memory, not counting the newest letter. A noisy page has 1.6 megabytes. */
export const drawnBytesMax = 64 * 1024 * 1024;

/** Letters that may wait or be drawn. One is drawn at a time, since each takes a process of half a gigabyte. */
export const waitingLettersMax = 10;

interface Drawn {
  readonly pages: Promise<readonly RenderedPage[]>;
  readonly at: number;
  bytes: number;
}

/** Draws the pages of a document. */
type DrawPages = (documentId: number) => Promise<readonly RenderedPage[]>;

/**
 * Pages of letters as pictures, drawn on the first request and kept in memory for some minutes, never on disk. Concurrent
 * requests for a letter share one drawing.
 */
export class LetterPages {
  private readonly draw: DrawPages;
  private readonly now: () => number;
  /** Least recently used first. */
  private readonly drawn = new Map<number, Drawn>();
  private readonly turns = new Turns({
    runningMax: 1,
    waitingMax: waitingLettersMax - 1,
    refusal: {
      code: 'overloaded',
      operation: 'draw letter',
      problem: 'Many letters wait to be drawn.',
      hint: 'Load the page again in a minute.',
    },
  });

  constructor(draw: DrawPages, now: () => number = Date.now) {
    this.draw = draw;
    this.now = now;
  }

  /**
   * All pages of a document; an empty array if it cannot be drawn.
   * @throws ServiceError `overloaded` if {@link waitingLettersMax} letters wait to be drawn, and the errors of drawing
   */
  async pagesOf(documentId: number): Promise<readonly RenderedPage[]> {
    this.forgetOld();
    const kept = this.drawn.get(documentId) ?? {
      pages: this.turns.take(() => this.draw(documentId)),
      at: this.now(),
      bytes: 0,
    };
    this.drawn.delete(documentId);
    this.drawn.set(documentId, kept);
    try {
      const pages = await kept.pages;
      kept.bytes = pages.reduce((sum, { png }) => sum + png.length, 0);
      this.forgetMany();
      setTimeout(() => this.forgetOld(), drawnSecondsMax * 1000 + 1).unref(); // also if no further letter is opened
      return pages;
    } catch (error) {
      if (this.drawn.get(documentId) === kept) this.drawn.delete(documentId);
      throw error;
    }
  }

  /** Drops the pages of a document that must not be shown any more. */
  forget(documentId: number): void {
    this.drawn.delete(documentId);
  }

  private forgetOld(): void {
    for (const [documentId, { at }] of this.drawn)
      if (this.now() - at > drawnSecondsMax * 1000) this.drawn.delete(documentId);
  }

  private forgetMany(): void {
    const total = () => [...this.drawn.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    for (const documentId of [...this.drawn.keys()].slice(0, -1)) {
      if (this.drawn.size <= drawnLettersMax && total() <= drawnBytesMax) return;
      this.drawn.delete(documentId);
    }
  }
}
