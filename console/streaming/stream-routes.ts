import fastifyWebsocket from '@fastify/websocket';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { requestVerification } from '../../jobs/queues/verification-producer.ts';
import { identifyCaller, requireScope } from '../../pipelines/access/authentication.ts';
import { findKeySecret } from '../../pipelines/access/key-secret.ts';
import { consoleClient } from '../../pipelines/access/keys.ts';
import { KeyTable } from '../../pipelines/access/key-table.ts';
import { streamPath } from '../../pipelines/audio/streaming/stream-protocol.ts';
import { StreamService, type StreamOwner } from '../../pipelines/audio/streaming/stream-service.ts';
import { isServiceError, ServiceError } from '../../runtime/errors.ts';
import { cookieName, requireOwnOrigin, type GuardOptions } from '../access/guard.ts';
import { recordEvent } from '../access/audit.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { mayActAs } from '../access/roles.ts';
import { findSession, type Session } from '../access/sessions.ts';
import { StreamConnection } from './stream-connection.ts';
import { streamLimits } from '../../pipelines/audio/streaming/stream-limits.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The owner of the requested stream; set before the upgrade to a WebSocket. */
    streamOwner: StreamOwner | undefined;
  }
}

/** Slack over the audio limit of messages, so that a slightly larger one gets an error message instead of a disconnect. */
const frameMarginBytes = 64 * 1024;

/** Milliseconds for the upgrade to a WebSocket, or its refusal. */
const upgradeMs = 10_000;

/** Dependencies of streams. */
type StreamingWork = Pick<ConsoleWork, 'config' | 'db' | 'queues' | 'log'>;

/** Options of streams. */
type StreamingGuard = Pick<GuardOptions, 'address'>;

/**
 * Accepts audio streams from pages of the console, identified by their session, and from programs with an API key of the scope
 * `verifications:stream`. Submits streams that a killed console left behind.
 */
export async function registerStreaming(
  app: FastifyInstance,
  work: StreamingWork,
  { address }: StreamingGuard,
): Promise<StreamService> {
  const { config, db, queues, log } = work;
  const service = await StreamService.start({
    db,
    config,
    log,
    requestVerification: (submission) => requestVerification({ db, config, queues, log }, submission),
  });
  const connections = new Set<StreamConnection>();
  const pending = new Set<Duplex>();
  await app.register(fastifyWebsocket, {
    options: {
      maxPayload: { ...streamLimits, ...config }.streamFrameBytesMax + frameMarginBytes,
      perMessageDeflate: false,
    },
    errorHandler: (_error, socket) => socket.terminate(), // a broken frame or connection: the received audio is verified at the close
    preClose: async () => {
      for (const connection of connections) connection.stop();
      await service.close(config.shutdownGraceSeconds);
      for (const client of app.websocketServer.clients) client.terminate();
      for (const socket of pending) socket.destroy();
    },
  });
  const keys = new FreshKeys(work);
  app.decorateRequest('streamOwner');
  cutOffRefused(app, pending);
  const authenticate = async (request: FastifyRequest) =>
    void (request.streamOwner = await ownerOf(request, request.session, { keys, address }));
  app.get(
    streamPath,
    { websocket: true, config: { access: 'nobody', readsSession: true }, preValidation: authenticate },
    (socket, request) => {
      const { streamOwner: owner, ip } = request;
      const onBegin = (id: string) =>
        recordEvent(db, {
          actor: owner!.requestedBy.replace(/^console /, ''),
          action: 'stream_audio',
          object: `stream ${id}`,
          address: ip,
        });
      const isStillAllowed = async () => {
        const session = await findSession(db, request.cookies[cookieName(address())] ?? '', config); // a stream extends its session
        return ownerOf(request, session, { keys, address }).then(() => true, refusedOnly);
      };
      const connection = new StreamConnection({ socket, service, owner: owner!, onBegin, isStillAllowed, config, log });
      connections.add(connection);
      socket.on('close', () => connections.delete(connection));
    },
  );
  return service;
}

/**
 * Destroys connections whose upgrade was refused, on any route: nothing reads them any more, so their end would go
 * unnoticed and they would never close.
 */
function cutOffRefused(app: FastifyInstance, pending: Set<Duplex>): void {
  app.server.on('upgrade', (_request, socket: Duplex) => {
    pending.add(socket);
    const timer = setTimeout(() => pending.has(socket) && socket.destroy(), upgradeMs).unref();
    socket.once('close', () => {
      pending.delete(socket);
      clearTimeout(timer);
    });
  });
  app.websocketServer.on('connection', (_socket, { socket }) => pending.delete(socket));
}

/** The owner by API key, or by session for pages of this console. @throws ServiceError `unauthenticated`, `forbidden` */
async function ownerOf(
  request: FastifyRequest,
  session: Session | undefined,
  { keys, address }: StreamingGuard & { readonly keys: FreshKeys },
): Promise<StreamOwner> {
  const { authorization } = request.headers;
  if (authorization !== undefined) {
    const { client } = requireScope(identifyCaller(authorization, await keys.fresh()), 'verifications:stream');
    return { owner: client, requestedBy: `key of ${client}`, mode: 'api' };
  }
  if (session === undefined)
    throw new ServiceError('unauthenticated', {
      operation: 'open stream',
      problem: 'This needs a key, or a session of the console.',
      hint: 'Send `Authorization: Bearer <key>`; the key needs the scope verifications:stream.',
    });
  requireOwnOrigin(request, address()); // any page may open a WebSocket to any host with its cookies; only the Origin header identifies the page
  const { name, role } = session.user;
  if (!mayActAs(role, 'reviewer'))
    throw new ServiceError('forbidden', {
      operation: 'open stream',
      problem: `This needs the role reviewer; ${name} has the role ${role}.`,
      hint: '`caller-trust console users role` gives a user another role.',
    });
  return { owner: consoleClient, requestedBy: `console ${name}`, mode: 'webDemo' };
}

/** False if access has ended. @throws other errors */
function refusedOnly(error: unknown): false {
  if (isServiceError(error, 'unauthenticated') || isServiceError(error, 'forbidden')) return false;
  throw error;
}

/** The keys, reloaded when they may have changed. */
class FreshKeys {
  private readonly work: StreamingWork;
  private readonly keys: KeyTable;
  private readAt = -Infinity;

  constructor(work: StreamingWork) {
    this.work = work;
    this.keys = new KeyTable({ secret: () => findKeySecret(work.config) });
  }

  async fresh(): Promise<KeyTable> {
    const { config, db } = this.work;
    if (performance.now() - this.readAt > config.pollMs) {
      const readAt = performance.now();
      await this.keys.refresh(db);
      this.readAt = readAt;
    }
    return this.keys;
  }
}
