import fc from 'fast-check';

/** A range of rows as the definition of segments gives it: by counting under every prefix. */
export interface Leaf {
  readonly prefix: string;
  readonly phones: readonly string[];
}

/** The segments of ascending phones, straight from their definition and without any streaming. */
export function leavesOf(phones: readonly string[], rowsMax: number, prefix = '+'): Leaf[] {
  const under = phones.filter((phone) => phone.startsWith(prefix));
  if (under.length === 0) return [];
  if (under.length <= rowsMax) return [{ prefix, phones: under }];
  const own = under.filter((phone) => phone === prefix).map((phone) => ({ prefix, phones: [phone] }));
  return [...own, ...Array.from('0123456789').flatMap((digit) => leavesOf(under, rowsMax, prefix + digit))];
}

/** Ascending phones of few digits, so that many share long beginnings and some are beginnings of others. */
export const phonesOf = (digits: string, { maxLength = 120 } = {}) =>
  fc
    .uniqueArray(
      fc.string({ unit: fc.constantFrom(...digits), minLength: 8, maxLength: 11 }).map((text) => `+${text}`),
      { maxLength, size: 'max' },
    )
    .map((phones) => phones.sort());
