/** Text that needs no cleaning: printable ASCII without a backslash, with single inner spaces only. */
const alreadyClean = /^[!-[\]-~]+(?: [!-[\]-~]+)*$/;

/**
 * Removed: C0 and C1 controls other than white space, bidi controls, the byte order mark, lone surrogates, and unassigned
 * code points, which might compose under a newer Unicode version of the database, so that it refuses the text as not NFC.
 */
const removed = /[\0-\x08\x0E-\x1F\x7F-\x84\x86-\x9F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF\p{Cs}\p{Cn}]/gu;

const whiteSpaceRuns = /[\s\x85]+/gu;

/**
 * Text for the domain `clean_text`, or null if nothing is left: NFC, a single space for each run of white space, no controls,
 * a slash for each backslash. Idempotent.
 */
export function cleanText(value: string): string | null {
  if (alreadyClean.test(value)) return value;
  const text = value.replace(removed, '').replace(whiteSpaceRuns, ' ').replaceAll('\\', '/').trim().normalize('NFC');
  return text === '' ? null : text;
}

/** Longest excerpt of a row, in characters. */
export const excerptCharactersMax = 200;

const unprintable = /[\p{C}\p{Zl}\p{Zp}\\]/gu;

/** The start of a text with every unprintable character and backslash escaped: `\x00`, `\u{202E}`, `\\`. */
export function makeExcerpt(text: string): string {
  const start = text.slice(0, excerptCharactersMax);
  return shorten(start.replace(unprintable, escapeCharacter), text.length > start.length);
}

/** The start of raw bytes as an excerpt; every byte beyond printable ASCII becomes `\xHH`. */
export function makeExcerptOfBytes(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, excerptCharactersMax)).toString('latin1');
  return shorten(start.replace(/[^ -[\]-~]/g, escapeCharacter), bytes.length > start.length);
}

function escapeCharacter(character: string): string {
  if (character === '\\') return '\\\\';
  const code = character.codePointAt(0) ?? 0;
  return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16).toUpperCase()}}`;
}

function shorten(escaped: string, cut: boolean): string {
  const fits = escaped.length <= excerptCharactersMax;
  return fits && !cut ? escaped : `${escaped.slice(0, excerptCharactersMax).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
