import { createHash } from 'node:crypto';
import { z } from 'zod';

/** Longest cursor; the cursor of the longest handle has 139 characters. */
export const cursorCharactersMax = 256;

const version = 1;
const bindingCharacters = 12;

/** A paged list: its name, and everything that decides which rows it has. */
export interface PagedList {
  readonly list: string;
  /** The client, the brand, the filters. A cursor is valid for one list only. */
  readonly of: readonly (string | null)[];
}

const content = z.tuple([z.literal(version), z.string(), z.string(), z.string()]);

/** The cursor of the position after the row with this key: base64url, opaque to clients. */
export function formatCursor(list: PagedList, key: string): string {
  return Buffer.from(JSON.stringify([version, list.list, bindingOf(list), key])).toString('base64url');
}

/** The key in a cursor, or undefined if the text is malformed, of another version or of another list. */
export function parseCursor(list: PagedList, text: string): string | undefined {
  if (text.length > cursorCharactersMax) return undefined;
  const parsed = content.safeParse(parseJson(Buffer.from(text, 'base64url').toString()));
  if (!parsed.success) return undefined;
  const key = parsed.data[3];
  return formatCursor(list, key) === text ? key : undefined; // only the canonical text of a cursor is accepted
}

function bindingOf({ of }: PagedList): string {
  return createHash('sha256').update(JSON.stringify(of)).digest('base64url').slice(0, bindingCharacters);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
