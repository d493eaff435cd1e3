/** What PostgreSQL stores neither as text nor in JSON: NUL, and half of a surrogate pair. */
const unstorable = /[\0\p{Cs}]/u;

/** True for a text that PostgreSQL can store. */
export function isStorableText(text: string): boolean {
  return !unstorable.test(text);
}

/** The problem of a value with a text that PostgreSQL cannot store. */
export const unstorableProblem = 'A text holds NUL or half of a surrogate pair, which cannot be stored.';

/** True if PostgreSQL can store every text of a value, names of fields included. Iterative, since a value may be nested deeply. */
export function isStorable(value: unknown): boolean {
  for (const left = [value]; left.length > 0;) {
    const each = left.pop();
    if (typeof each === 'string' && !isStorableText(each)) return false;
    if (typeof each === 'object' && each !== null)
      for (const [name, inner] of Object.entries(each)) left.push(name, inner);
  }
  return true;
}

/** The value of a text in JSON. @throws SyntaxError if it is not JSON, or PostgreSQL cannot store a text of it */
export function parseStorableJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!isStorable(value)) throw new SyntaxError(unstorableProblem);
  return value;
}
