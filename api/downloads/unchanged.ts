import { randomUUID } from 'node:crypto';
import { identifyCaller, type Caller } from '../../pipelines/access/authentication.ts';
import type { KeyTable } from '../../pipelines/access/key-table.ts';
import { artefactHref } from '../../pipelines/caches/format/manifest.ts';
import { findCache } from '../../pipelines/caches/definition.ts';
import { documentHeaders } from './cache-routes.ts';
import { securityHeaders } from '../http/client-errors.ts';
import type { Headers } from '../http/conditional.ts';
import { formatHttpDate } from '../http/http-date.ts';
import type { PublicationIndex, PublicationSnapshot, ServedArtefact } from './publication-index.ts';
import type { SimpleRequest } from '../http/simple-request.ts';

/** A thing that a client may have already, by the one address that its manifest gives. */
interface KnownAnswer {
  readonly etag: string;
  /** Pattern of the route, for metrics and the log. */
  readonly route: string;
  /** First line and header of the answer, but what changes from one to the next. */
  readonly header: string;
}

/** An answer that is given: by whom it was asked for, and what is told of it. */
export interface AnsweredUnchanged {
  readonly keyId: string;
  readonly method: string;
  readonly route: string;
  readonly requestId: string;
}

/** What {@link Unchanged} answers from. */
export interface UnchangedOptions {
  readonly publications: PublicationIndex;
  readonly keys: KeyTable;
  /** Counts a request; false if it is one too many. */
  readonly admit: (caller: Caller) => Promise<boolean>;
  /** Told of each answer. */
  readonly onAnswer: (answered: AnsweredUnchanged) => void;
  readonly keepAliveSecondsMax: number;
}

/**
 * Answers by far the commonest request: a client with a key asks, with the tag that it has, whether a file or a manifest
 * has changed, and it has not. Whatever is unusual, another tag, an unknown key or a limit that is reached, is left to
 * the routes.
 */
export class Unchanged {
  readonly #options: UnchangedOptions;
  readonly #known = new WeakMap<PublicationSnapshot, ReadonlyMap<string, KnownAnswer>>();
  #date = '';
  #dateSecond = 0;

  constructor(options: UnchangedOptions) {
    this.#options = options;
  }

  /** The bytes of the answer, or undefined if a route is to give it. */
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

  /** The time as HTTP writes it, made once a second. */
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
      { etag, route: `${route}/manifest`, header: writeHeader({ ETag: etag, ...documentHeaders }) },
    ],
  ];
}

function writeHeader(headers: Headers): string {
  const lines = Object.entries({ ...securityHeaders, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 304 Not Modified\r\n${lines.join('')}`;
}
