import type { LetterRefusalCode } from '../../letter-reading.ts';

/** Thrown where a letter is not read; a reading child prints it as its outcome. */
export class LetterRefused extends Error {
  override readonly name = 'LetterRefused';
  readonly code: LetterRefusalCode;

  constructor(code: LetterRefusalCode, problem: string) {
    super(problem);
    this.code = code;
  }
}
