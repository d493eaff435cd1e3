/** Longest name that is compared letter by letter, in characters. */
const comparedCharactersMax = 80;

/** True if two names differ by one edit (from 5 letters on) or two (from 12). */
export function isNearSpelling(left: string, right: string): boolean {
  const shorter = Math.min(left.length, right.length);
  if (shorter < 5 || Math.max(left.length, right.length) > comparedCharactersMax) return false;
  return editDistance(left, right, shorter < 12 ? 1 : 2) !== null;
}

/** Insertions, deletions and replacements between two texts, or null if there are more than `max`. */
export function editDistance(left: string, right: string, max: number): number | null {
  if (Math.abs(left.length - right.length) > max) return null;
  const [ours, theirs] = [lettersOf(left), lettersOf(right)];
  if (countBits(ours & ~theirs) > max || countBits(theirs & ~ours) > max) return null;
  let previous = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const replaced = previous[column - 1]! + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, previous[column]! + 1, current[column - 1]! + 1));
    }
    if (Math.min(...current) > max) return null;
    previous = current;
  }
  return previous[right.length]! <= max ? previous[right.length]! : null;
}

/** A set of the letters of a text, in 32 bits that several share. One edit removes at most one, so most texts need no table. */
function lettersOf(text: string): number {
  let letters = 0;
  for (let at = 0; at < text.length; at++) letters |= 1 << (text.charCodeAt(at) & 31);
  return letters;
}

function countBits(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count++;
  return count;
}

/** True if two texts are equal, or differ by one insertion, deletion, replacement or swap of neighbours. */
export function isWithinOneEdit(left: string, right: string): boolean {
  if (Math.abs(left.length - right.length) > 1) return false;
  let start = 0;
  while (start < left.length && left[start] === right[start]) start++;
  let [endLeft, endRight] = [left.length, right.length];
  while (endLeft > start && endRight > start && left[endLeft - 1] === right[endRight - 1])
    [endLeft, endRight] = [endLeft - 1, endRight - 1];
  const [a, b] = [left.slice(start, endLeft), right.slice(start, endRight)];
  return (
    a.length + b.length <= 1 ||
    (a.length === 1 && b.length === 1) ||
    (a.length === 2 && b.length === 2 && a[0] === b[1] && a[1] === b[0])
  );
}
