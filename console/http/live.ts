import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../runtime/errors.ts';
import { userOf } from '../access/guard.ts';
import type { ConsoleWork } from './console-work.ts';
import { shareReading, type LiveReading } from './live-reading.ts';

/** Milliseconds between two looks. */
const lookMs = 1000;

/** Reads without a change after which a comment line is sent, so that proxies do not take the connection for dead. */
const quietLooksMax = 15;

/** Live connections of the whole process, and of one user: each looks after its session once a second. */
export const liveConnectionsMax = 200;
export const liveConnectionsPerUserMax = 30;

/** Looks after which a browser that takes nothing is left alone. */
const unreadLooksMax = 60;

/** Open connections, by user. */
const open = new Map<string, number>();

/** What a live answer is made of. */
export interface LiveSource<Value> {
  readonly work: Pick<ConsoleWork, 'signal' | 'log'>;
  /** Reads the value as it stands, which is the same for all who may use the route: it is read once for those who follow the same path. */
  readonly read: () => Promise<Value>;
  /** True for a value that will not change any more: it is sent, and the stream ends. */
  readonly isLast?: (value: Value) => boolean;
}

/**
 * Answers with server-sent events (HTML Living Standard, section 9.2): the value at once as an event `value`, then again whenever it has
 * changed, and an event `end` after the last one. Ends when the browser leaves or takes nothing for long, when the session ends or its
 * user may not use the route any more, and when the process stops. While a browser is behind, nothing is kept for it but the newest value.
 * @throws ServiceError `overloaded` if {@link liveConnectionsMax} are open, or {@link liveConnectionsPerUserMax} of the user
 */
export async function sendLive<Value>(
  request: FastifyRequest,
  reply: FastifyReply,
  source: LiveSource<Value>,
): Promise<void> {
  const leave = takePlace(userOf(request).name);
  const { reading, letGo } = shareReading(source.work.signal, request.url, source.read);
  try {
    const value = await reading.now(); // an error is answered as one, before the stream begins
    if (request.method === 'HEAD') return void (await reply.type(eventStream).send());
    await follow(request, reply, { ...source, reading, first: value });
  } finally {
    letGo();
    leave();
  }
}

const eventStream = 'text/event-stream; charset=utf-8';

interface Followed<Value> extends Omit<LiveSource<Value>, 'read'> {
  readonly reading: LiveReading<Value>;
  readonly first: Value;
}

async function follow<Value>(
  request: FastifyRequest,
  reply: FastifyReply,
  { work, reading, isLast = () => false, first }: Followed<Value>,
): Promise<void> {
  const left = new AbortController();
  const stopped = AbortSignal.any([left.signal, work.signal]);
  reply.hijack();
  const { raw } = reply;
  if (raw.destroyed) return;
  raw.once('close', () => left.abort());
  raw.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'Content-Type': eventStream,
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  });
  try {
    for (let [value, sent, quiet, unread] = [first, '', 0, 0]; !stopped.aborted;) {
      const text = JSON.stringify(value);
      const digest = createHash('sha256').update(text).digest('base64');
      const isLastOne = isLast(value);
      if (raw.writableNeedDrain && !isLastOne) {
        if (++unread === unreadLooksMax) return void raw.destroy();
      } else if (digest !== sent) {
        raw.write(`event: value\ndata: ${text}\n\n`);
        [sent, unread] = [digest, 0];
      } else if (++quiet % quietLooksMax === 0) raw.write(': still here\n\n');
      if (isLastOne) break;
      await sleep(lookMs, undefined, { signal: stopped });
      if (!(await request.isStillAllowed())) return; // without `end`: the browser asks again, and the answer says why not
      value = await reading.next();
    }
    if (!stopped.aborted) raw.write('event: end\ndata: {}\n\n'); // else the browser asks again
  } catch (error) {
    if (!stopped.aborted) work.log.warn({ err: error, requestId: request.id }, 'a live answer broke off'); // the browser connects again
  } finally {
    raw.end();
  }
}

/** @throws ServiceError `overloaded` */
function takePlace(user: string): () => void {
  const ofUser = open.get(user) ?? 0;
  const ofAll = [...open.values()].reduce((sum, each) => sum + each, 0);
  if (ofAll >= liveConnectionsMax || ofUser >= liveConnectionsPerUserMax) {
    throw new ServiceError('overloaded', {
      operation: 'follow',
      problem: `${Math.max(ofUser, Math.min(ofAll, liveConnectionsMax))} pages are followed already.`,
      hint: 'Close some, or load the page again later.',
    });
  }
  open.set(user, ofUser + 1);
  return () => void (open.get(user) === 1 ? open.delete(user) : open.set(user, open.get(user)! - 1));
}
