import type { FastifyReply, FastifyRequest } from 'fastify';
import { formatArtefact } from '../pipelines/caches/definition.ts';
import { errorMessageOf, ServiceError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import { routeOf } from './answer.ts';
import type { BufferPool } from './buffer-pool.ts';
import type { Headers } from './download-plan.ts';
import type { DownloadOutcome, Metrics } from './metrics.ts';
import type { ServedArtefact } from './publication-index.ts';
import type { ByteSpan } from './range.ts';
import { sendSpan, waitForTurn } from './send-file.ts';

/** A download that was decided on: header and bytes of one version. */
export interface Download {
  readonly artefact: ServedArtefact;
  readonly status: number;
  readonly headers: Headers;
  readonly span: ByteSpan;
}

/** Sends downloads, at most `downloadsMax` at a time. */
export class Downloads {
  readonly #downloadsMax: number;
  readonly #buffers: BufferPool;
  readonly #metrics: Metrics;
  readonly #log: Log;
  #running = 0;

  constructor({ downloadsMax, buffers, metrics, log }: { downloadsMax: number; buffers: BufferPool; metrics: Metrics; log: Log }) {
    this.#downloadsMax = downloadsMax;
    this.#buffers = buffers;
    this.#metrics = metrics;
    this.#log = log;
  }

  /**
   * Sends header and bytes, and resolves when the response has ended or its client is gone.
   * Behind other answers of a pipelining client it waits for its turn before it takes one of the places.
   * @throws ServiceError `overloaded` if all places are taken.
   */
  async send(request: FastifyRequest, reply: FastifyReply, download: Download): Promise<void> {
    const letGo = download.artefact.file.hold();
    try {
      if (!(await waitForTurn(reply.raw, request.raw.socket))) return void reply.hijack();
      if (this.#running >= this.#downloadsMax) throw new ServiceError('overloaded', { operation: 'send artefact' });
      await this.#sendNow(request, reply, download);
    } finally {
      letGo();
    }
  }

  async #sendNow(request: FastifyRequest, reply: FastifyReply, { artefact, status, headers, span }: Download): Promise<void> {
    this.#running++;
    this.#metrics.downloadStarted();
    let outcome: DownloadOutcome = 'damaged';
    reply.hijack();
    try {
      reply.raw.writeHead(status, { ...(reply.getHeaders() as Headers), ...headers });
      const onBytes = (bytes: number) => this.#metrics.bytesSent(routeOf(request), bytes);
      const whole = await sendSpan({ response: reply.raw, file: artefact.file, span, buffers: this.#buffers, onBytes });
      outcome = whole ? 'sent' : 'client_gone';
    } catch (error) {
      this.#log.error({ err: error, requestId: request.id, artefact: formatArtefact(artefact.name) }, `a download was cut: ${errorMessageOf(error)}`);
    } finally {
      this.#running--;
      this.#metrics.downloadEnded(outcome);
    }
  }
}
