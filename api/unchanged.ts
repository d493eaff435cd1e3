import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { artefactHref } from '../pipelines/caches/manifest.ts';
import { findCache } from '../pipelines/caches/definition.ts';
import { identifyCaller, type Caller } from './authentication.ts';
import { documentHeaders } from './cache-routes.ts';
import { securityHeaders } from './client-errors.ts';
import type { Headers } from './download-plan.ts';
import type { KeyTable } from './key-table.ts';
import type { PublicationIndex, PublicationSnapshot, ServedArtefact } from './publication-index.ts';

/** A thing that a client may have already, by the one address that its manifest gives. */
interface KnownAnswer {
  readonly etag: string;
  /** Pattern of the route, for metrics and the log. */
  readonly route: string;
  /** Names and values of the header, one after the other. */
  readonly header: readonly string[];
}

/** A request that is answered here: who made it, and what is told of it. */
export interface AnsweredUnchanged {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly caller: Caller & { readonly kind: 'key' };
  readonly route: string;
  readonly requestId: string;
}

/** What {@link Unchanged} answers from. */
export interface UnchangedOptions {
  readonly publications: PublicationIndex;
  readonly keys: KeyTable;
  /** Counts the request; false if it is one too many. */
  readonly admit: (caller: Caller, request: IncomingMessage) => Promise<boolean>;
  /** Told of each answer before it is sent. */
  readonly onAnswer: (answered: AnsweredUnchanged) => void;
}

/**
 * Answers by far the commonest request, before it reaches the framework: a client with a key asks, with the tag that it
 * has, whether a file or a manifest has changed, and it has not. That takes half the time (bench/serve.ts). Whatever is
 * unusual about a request, an unknown key or a second condition, leaves it to the routes, which decide the same.
 */
export class Unchanged {
  readonly #options: UnchangedOptions;
  readonly #known = new WeakMap<PublicationSnapshot, ReadonlyMap<string, KnownAnswer>>();

  constructor(options: UnchangedOptions) {
    this.#options = options;
  }

  /** Takes the request over, or returns false. `refuse` is called where it was counted and is one too many. */
  take(request: IncomingMessage, response: ServerResponse, refuse: () => void): boolean {
    const answer = this.#answerTo(request);
    if (answer === undefined) return false;
    const caller = identifyCaller(request.headers.authorization, this.#options.keys);
    if (caller.kind !== 'key' || !caller.principal.scopes.includes('caches:read')) return false;
    this.#options.admit(caller, request).then((admitted) => {
      if (!admitted) return refuse();
      const requestId = randomUUID();
      this.#options.onAnswer({ request, response, caller, route: answer.route, requestId });
      response.writeHead(304, [...answer.header, 'X-Request-Id', requestId]);
      response.end();
    }, refuse);
    return true;
  }

  #answerTo({ method, url, headers, httpVersion }: IncomingMessage): KnownAnswer | undefined {
    const tag = headers['if-none-match'];
    if (tag === undefined || (method !== 'GET' && method !== 'HEAD') || (httpVersion === '1.1' && headers.host === undefined)) return undefined;
    if (headers['if-match'] !== undefined || headers['if-unmodified-since'] !== undefined || !this.#options.publications.known) return undefined;
    const answer = this.#answersOf(this.#options.publications.snapshot).get(url ?? '');
    return answer?.etag === tag ? answer : undefined;
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
    [href, { etag: representation.etag, route, header: listHeader(representation.versionHeaders) }],
    [href.replace(route, `${route}/manifest`), { etag, route: `${route}/manifest`, header: listHeader({ ETag: etag, ...documentHeaders }) }],
  ];
}

function listHeader(headers: Headers): string[] {
  return Object.entries({ ...securityHeaders, ...headers }).flatMap(([name, value]) => [name, String(value)]);
}
