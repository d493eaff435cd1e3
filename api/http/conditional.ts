import { parseHttpDate } from './http-date.ts';

/** The precondition headers of a request. */
export interface ConditionalHeaders {
  readonly 'if-match'?: string | undefined;
  readonly 'if-none-match'?: string | undefined;
  readonly 'if-modified-since'?: string | undefined;
  readonly 'if-unmodified-since'?: string | undefined;
}

/** The validators of a representation (RFC 9110 section 8.8). */
interface Validators {
  /** Strong entity tag with its quotes. */
  readonly etag: string;
  /** Compared in whole seconds. Undefined: the resource has no such date. */
  readonly lastModified: Date | undefined;
}

/** The result of the preconditions of a GET or HEAD. */
export type Precondition = 'proceed' | 'not_modified' | 'failed';

/** Evaluates the preconditions of a GET or HEAD in the order of RFC 9110 section 13.2.2. */
export function decidePrecondition(
  headers: ConditionalHeaders,
  { etag, lastModified }: Validators,
  now: number,
): Precondition {
  if (headers['if-match'] !== undefined) {
    if (!listContains(headers['if-match'], etag, 'strong')) return 'failed';
  } else if (isModifiedAfter(lastModified, headers['if-unmodified-since'], now) === true) {
    return 'failed';
  }
  if (headers['if-none-match'] !== undefined) {
    if (listContains(headers['if-none-match'], etag, 'weak')) return 'not_modified';
  } else if (isModifiedAfter(lastModified, headers['if-modified-since'], now) === false) {
    return 'not_modified';
  }
  return 'proceed';
}

/**
 * True if an If-Range header matches this representation (RFC 9110 section 13.1.5): the same strong entity tag, or its
 * exact date if `dateIsStrong`, that is, if no two versions share that second.
 */
export function ifRangeMatches(
  ifRange: string,
  { etag, lastModified, dateIsStrong }: Validators & { dateIsStrong: boolean },
  now: number,
): boolean {
  if (ifRange === etag) return true;
  if (!dateIsStrong || lastModified === undefined) return false;
  return parseHttpDate(ifRange, now) === wholeSeconds(lastModified);
}

/** True if the list of entity tags, or `*`, contains this strong tag. A malformed list contains none. */
function listContains(list: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (list.trim() === '*') return true;
  const tags = parseEntityTags(list);
  return tags.includes(etag) || (comparison === 'weak' && tags.includes(`W/${etag}`));
}

const listElement = /[ \t]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;

/** The entity tags of a list (RFC 9110 section 5.6.1 allows empty elements); an empty array if it is malformed. */
export function parseEntityTags(list: string): string[] {
  const tags: string[] = [];
  listElement.lastIndex = 0;
  while (listElement.lastIndex < list.length) {
    const element = listElement.exec(list);
    if (element === null) return [];
    if (element[1] !== undefined) tags.push(element[1]);
  }
  return tags;
}

/** Undefined without a date, or with one that cannot be parsed: the header is then ignored. */
function isModifiedAfter(lastModified: Date | undefined, header: string | undefined, now: number): boolean | undefined {
  if (header === undefined || lastModified === undefined) return undefined;
  const since = parseHttpDate(header, now);
  return since === undefined ? undefined : wholeSeconds(lastModified) > since;
}

function wholeSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000) * 1000;
}

/** Header fields by name. */
export type Headers = Readonly<Record<string, string | number>>;
