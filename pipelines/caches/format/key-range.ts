/**
 * Ranges of phones by prefix. Phones are digits after a plus sign and compare by bytes, so everything that begins with a
 * prefix lies between the prefix and the prefix with a colon, the character after 9.
 */

/** The prefix of every phone. */
export const allPhones = '+';

/** The least text that comes after everything that begins with the prefix. */
export function endOfPrefix(prefix: string): string {
  return `${prefix}:`;
}

/** Length of the beginning that two texts share. */
export function sharedLength(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; at++) if (a.charCodeAt(at) !== b.charCodeAt(at)) return at;
  return end;
}

/** Place of the first item of an ascending list for which `isBefore` is false. */
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
