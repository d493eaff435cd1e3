import { randomUUID } from 'node:crypto';
import { identifyCaller, type Caller } from '../../pipelines/access/authentication.ts';
import type { KeyTable } from '../../pipelines/access/key-table.ts';
import { artefactHref } from '../../pipelines/caches/format/manifest.ts';
import { findCache } from '../../pipelines/caches/definition.ts';
import { privateHeaders } from '../http/answer.ts';
import { securityHeaders } from '../http/client-errors.ts';
import type { Headers } from '../http/conditional.ts';
import { formatHttpDate } from '../http/http-date.ts';
import type { PublicationIndex, PublicationSnapshot, ServedArtefact } from './publication-index.ts';
import type { SimpleRequest } from '../http/simple-request.ts';

/** A 304 answer for a file or manifest, found by the exact address that the manifest gives. */
interface KnownAnswer {
  readonly etag: string;
  /** Pattern of the route, for metrics and the log. */
  readonly route: string;
  /** Status line and headers, without those that differ between answers. */
  readonly header: string;
}

/** A 304 answer that was sent, for metrics and the log. */
export interface AnsweredUnchanged {
  readonly keyId: string;
  readonly method: string;
  readonly route: string;
  readonly requestId: string;
}

/** Dependencies of {@link Unchanged}. */
export interface UnchangedOptions {
  readonly publications: PublicationIndex;
  readonly keys: KeyTable;
  /** Counts a request; false if it exceeds the limit. */
  readonly admit: (caller: Caller) => Promise<boolean>;
  /** Called for each answer. */
  readonly onAnswer: (answered: AnsweredUnchanged) => void;
  readonly keepAliveSecondsMax: number;
}

/**
 * Answers by far the most common request: a client with a key revalidates a file or a manifest that has not changed. Any
 * other case, such as another tag, an unknown key or a reached limit, is left to the routes.
 */
export class Unchanged {
  readonly #options: UnchangedOptions;
  readonly #known = new WeakMap<PublicationSnapshot, ReadonlyMap<string, KnownAnswer>>();
  #date = '';
  #dateSecond = 0;

  constructor(options: UnchangedOptions) {
    this.#options = options;
  }

  /** The bytes of the answer, or undefined if the routes must answer. */
  async answer({ method, url, authorization, ifNoneMatch }: SimpleRequest): Promise<string | undefined> {
    const { publications, keys, admit, onAnswer, keepAliveSecondsMax } = this.#options;
    const known = publications.known ? this.#answersOf(publications.snapshot).get(url) : undefined;
    if (known?.etag !== ifNoneMatch) return undefined;
    const caller = identifyCaller(authorization, keys);
    if (caller.kind !== 'key' || !caller.principal.scopes.includes('caches:read') || !(await admit(caller)))
      return undefined;
    const requestId = randomUUID();
    onAnswer({ keyId: caller.principal.keyId, method, route: known.route, requestId });
    return `${known.header}X-Request-Id: ${requestId}\r\nDate: ${this.#now()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSecondsMax}\r\n\r\n`;
  }

  /** The current HTTP date, formatted once a second. */
  #now(): string {
    const second = Math.floor(Date.now() / 1000);
    if (second !== this.#dateSecond) this.#date = formatHttpDate(new Date(second * 1000));
    this.#dateSecond = second;
    return this.#date;
  }

  #answersOf(snapshot: PublicationSnapshot): ReadonlyMap<string, KnownAnswer> {
    const known = this.#known.get(snapshot);
    if (known !== undefined) return known;
    const made = new Map([...snapshot.artefacts.values()].flatMap(answersOf));
    this.#known.set(snapshot, made);
    return made;
  }
}

function answersOf({ name, representation, manifestDocument }: ServedArtefact): [string, KnownAnswer][] {
  const route = `/v1/caches/${findCache(name.cache).path}`;
  const href = artefactHref(name);
  const { etag } = manifestDocument;
  return [
    [href, { etag: representation.etag, route, header: writeHeader(representation.versionHeaders) }],
    [
      href.replace(route, `${route}/manifest`),
      { etag, route: `${route}/manifest`, header: writeHeader({ ETag: etag, ...privateHeaders }) },
    ],
  ];
}

function writeHeader(headers: Headers): string {
  const lines = Object.entries({ ...securityHeaders, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 304 Not Modified\r\n${lines.join('')}`;
}
