import { LetterRefused } from '../../gate/letter-refused.ts';
import type { PdfFile, PdfObject } from '../pdf-file.ts';
import { revisionLimits } from './pdf-revisions.ts';
import { isArray, isDict, isName, isRef, isString, type PdfDict, type PdfValue } from '../pdf-syntax.ts';

/** How many values may still be compared; shared by all revisions of one letter. */
export interface ComparisonBudget {
  values: number;
}

/** Programs that write an object again round its numbers; a reader sees no difference of a millionth of a point. */
const roundingMax = 1e-6;

/** References that are followed from one compared value. */
const hopsMax = 8;

/** Compares values before and after a revision. */
export class ValueComparison {
  private readonly before: PdfFile;
  private readonly after: PdfFile;
  private readonly budget: ComparisonBudget;

  constructor(before: PdfFile, after: PdfFile, budget: ComparisonBudget) {
    [this.before, this.after, this.budget] = [before, after, budget];
  }

  /** True for the same object, its stream included. */
  isUnchanged(old: PdfObject, object: PdfObject): boolean {
    if ((old.stream === null) !== (object.stream === null) || !this.isSame(old.value, object.value)) return false;
    return old.stream === null || this.before.rawStream(old).equals(this.after.rawStream(object));
  }

  changedKeys(before: PdfDict, after: PdfDict): string[] {
    const keys = new Set([...before.entries.keys(), ...after.entries.keys()]);
    return [...keys].filter((key) => !this.isSame(before.entries.get(key), after.entries.get(key)));
  }

  isSameList(before: readonly PdfValue[], after: readonly PdfValue[], hops = 0): boolean {
    return before.length === after.length && before.every((item, at) => this.isSame(item, after[at], hops));
  }

  /**
   * True for the same value before and after. The target of a reference to the same number is compared as an object of its own.
   * @throws LetterRefused `letter_limit_exceeded`
   */
  isSame(before: PdfValue | undefined, after: PdfValue | undefined, hops = 0): boolean {
    if (--this.budget.values < 0)
      throw new LetterRefused(
        'letter_limit_exceeded',
        `Comparing the revisions of the PDF takes more than ${revisionLimits.comparedValuesMax} values.`,
      );
    if (isRef(before) && isRef(after) && before.number === after.number) return before.generation === after.generation;
    if (isRef(before) || isRef(after)) return hops < hopsMax && this.isSameTarget(before, after, hops + 1);
    if (isDict(before) && isDict(after)) {
      const has = (key: string, value: PdfValue) =>
        after.entries.has(key) && this.isSame(value, after.entries.get(key), hops);
      return before.entries.size === after.entries.size && [...before.entries].every(([key, value]) => has(key, value));
    }
    if (isArray(before) && isArray(after)) return this.isSameList(before.items, after.items, hops);
    if (isString(before) && isString(after)) return Buffer.compare(before.bytes, after.bytes) === 0;
    if (isName(before) && isName(after)) return before.name === after.name;
    if (typeof before === 'number' && typeof after === 'number') return Math.abs(before - after) <= roundingMax;
    return (before ?? null) === (after ?? null);
  }

  private isSameTarget(before: PdfValue | undefined, after: PdfValue | undefined, hops: number): boolean {
    const old = isRef(before) ? this.before.object(before.number) : undefined;
    const now = isRef(after) ? this.after.object(after.number) : undefined;
    if (isFixed(old) || isFixed(now)) return false; // a copy under another number is another page
    return this.isSame(isRef(before) ? old?.value : before, isRef(after) ? now?.value : after, hops);
  }
}

/** True for an object that is identified by its number: a stream, a page, the tree of pages, the catalogue. */
function isFixed(object: PdfObject | undefined): boolean {
  return (
    object !== undefined &&
    (object.stream !== null || ['Catalog', 'Pages', 'Page'].some((type) => isOfType(object, type)))
  );
}

/** True for an object whose dictionary states this type. */
export function isOfType({ value }: PdfObject, type: string): boolean {
  return isDict(value) && isName(value.entries.get('Type'), type);
}
