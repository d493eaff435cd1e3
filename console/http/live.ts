import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../runtime/errors.ts';
import { userOf } from '../access/guard.ts';
import type { ConsoleWork } from './console-work.ts';
import { shareReading, type LiveReading } from './live-reading.ts';

/** Milliseconds between polls. */
const pollMs = 1000;

/** Polls without a change after which a comment line keeps the connection alive through proxies. */
const quietPollsMax = 15;

/** Most live connections of the process, and of a user: each checks its session once a second. */
const liveConnectionsMax = 200;
export const liveConnectionsPerUserMax = 30;

/** Polls after which a browser that reads nothing is disconnected. */
const unreadPollsMax = 60;

/** Open connections, by user. */
const open = new Map<string, number>();

/** The source of a live answer. */
interface LiveSource<Value> {
  readonly work: Pick<ConsoleWork, 'signal' | 'log'>;
  /** Reads the current value, which must be the same for all users of the route: followers of the same path share one read. */
  readonly read: () => Promise<Value>;
  /** True for a final value: it is sent, and the stream ends. */
  readonly isLast?: (value: Value) => boolean;
}

/**
 * Answers with server-sent events (HTML Living Standard, section 9.2): an event `value` immediately and after each change, and
 * an event `end` after the final value. Ends when the browser disconnects or stops reading, when the session ends or its user
 * loses access to the route, and when the process stops. For a slow browser only the newest value is kept.
 * @throws ServiceError `overloaded` if {@link liveConnectionsMax} are open, or {@link liveConnectionsPerUserMax} of the user
 */
export async function sendLive<Value>(
  request: FastifyRequest,
  reply: FastifyReply,
  source: LiveSource<Value>,
): Promise<void> {
  const leave = takeConnection(userOf(request).name);
  const { reading, release } = shareReading(source.work.signal, request.url, source.read);
  try {
    const value = await reading.now(); // an error before the stream begins becomes an ordinary answer
    if (request.method === 'HEAD') return void (await reply.type(eventStream).send());
    await follow(request, reply, { ...source, reading, first: value });
  } finally {
    release();
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
        if (++unread === unreadPollsMax) return void raw.destroy();
      } else if (digest !== sent) {
        raw.write(`event: value\ndata: ${text}\n\n`);
        [sent, unread] = [digest, 0];
      } else if (++quiet % quietPollsMax === 0) raw.write(': still here\n\n');
      if (isLastOne) break;
      await sleep(pollMs, undefined, { signal: stopped });
      if (!(await request.isStillAllowed())) return; // without `end` the browser reconnects, and that answer has the reason
      value = await reading.next();
    }
    if (!stopped.aborted) raw.write('event: end\ndata: {}\n\n'); // without `end` the browser reconnects
  } catch (error) {
    if (!stopped.aborted) work.log.warn({ err: error, requestId: request.id }, 'a live answer failed'); // the browser reconnects
  } finally {
    raw.end();
  }
}

/** @throws ServiceError `overloaded` */
function takeConnection(user: string): () => void {
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
