/**
 * Ranges of phones by prefix. Phones are digits after a plus sign and compare by bytes, so the phones with a prefix are those
 * from the prefix to the prefix with a colon, the character after 9.
 */

/** The prefix of every phone. */
export const allPhones = '+';

/** The exclusive upper limit of the phones with a prefix. */
export function endOfPrefix(prefix: string): string {
  return `${prefix}:`;
}

/** The exclusive upper limit of one phone, below all longer ones that begin with it. */
export function endOfKey(key: string): string {
  return `${key}!`;
}

/** Length of the common prefix of two texts. */
export function sharedLength(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; at++) if (a.charCodeAt(at) !== b.charCodeAt(at)) return at;
  return end;
}

/** Index of the first item of an ascending list for which `isBefore` is false. */
export function firstNotBefore<Item>(items: readonly Item[], isBefore: (item: Item) => boolean): number {
  let from = 0;
  let to = items.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (isBefore(items[middle]!)) from = middle + 1;
    else to = middle;
  }
  return from;
}
