import type { LetterRefusalCode } from '../../letter-reading.ts';

/** Thrown inside a reading child where a letter is not read; the child prints it as its outcome. */
export class LetterRefused extends Error {
  override readonly name = 'LetterRefused';
  readonly code: LetterRefusalCode;

  constructor(code: LetterRefusalCode, problem: string) {
    super(problem);
    this.code = code;
  }
}
