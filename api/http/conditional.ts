import { parseHttpDate } from './http-date.ts';

/** The preconditions of a request, as they arrived. */
export interface ConditionalHeaders {
  readonly 'if-match'?: string | undefined;
  readonly 'if-none-match'?: string | undefined;
  readonly 'if-modified-since'?: string | undefined;
  readonly 'if-unmodified-since'?: string | undefined;
}

/** What a request is compared with. */
export interface Validators {
  /** Strong entity tag with its quotes. */
  readonly etag: string;
  /** Only its whole seconds count. Undefined: the resource has no such date. */
  readonly lastModified: Date | undefined;
}

/** What the preconditions of a GET or HEAD ask for. */
export type Precondition = 'proceed' | 'not_modified' | 'failed';

/** Evaluates the preconditions of a GET or HEAD in the order of RFC 9110 section 13.2.2. */
export function decidePrecondition(
  headers: ConditionalHeaders,
  { etag, lastModified }: Validators,
  now: number,
): Precondition {
  if (headers['if-match'] !== undefined) {
    if (!listHolds(headers['if-match'], etag, 'strong')) return 'failed';
  } else if (isModifiedAfter(lastModified, headers['if-unmodified-since'], now) === true) {
    return 'failed';
  }
  if (headers['if-none-match'] !== undefined) {
    if (listHolds(headers['if-none-match'], etag, 'weak')) return 'not_modified';
  } else if (isModifiedAfter(lastModified, headers['if-modified-since'], now) === false) {
    return 'not_modified';
  }
  return 'proceed';
}

/**
 * True if an If-Range header still names this representation (RFC 9110 section 13.1.5): the same strong entity tag,
 * or exactly its date where `dateIsStrong` says that no two versions share that second.
 */
export function ifRangeHolds(
  ifRange: string,
  { etag, lastModified, dateIsStrong }: Validators & { dateIsStrong: boolean },
  now: number,
): boolean {
  if (ifRange === etag) return true;
  if (!dateIsStrong || lastModified === undefined) return false;
  return parseHttpDate(ifRange, now) === wholeSeconds(lastModified);
}

/** Whether the list of entity tags, or `*`, holds this strong tag. A malformed list holds none. */
function listHolds(list: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (list.trim() === '*') return true;
  const tags = parseEntityTags(list);
  return tags.includes(etag) || (comparison === 'weak' && tags.includes(`W/${etag}`));
}

const listElement = /[ \t]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;

/** The entity tags of a list (RFC 9110 section 5.6.1: empty elements are allowed); none if it is malformed. */
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

/** Undefined where there is no date, or none that can be read: the header is ignored then. */
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
