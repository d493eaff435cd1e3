import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { formatArtefact } from '../../pipelines/caches/definition.ts';
import { formatStoredName } from '../../pipelines/caches/store/stored-name.ts';
import { errorMessageOf, ServiceError } from '../../runtime/errors.ts';
import type { Log } from '../../runtime/log.ts';
import { allHeaders, routeOf } from '../http/answer.ts';
import type { BufferPool } from './buffer-pool.ts';
import { decideDelivery, proxyHeaders, redirectHeaders, type DeliverySettings } from './delivery.ts';
import type { Headers } from '../http/conditional.ts';
import type { DownloadOutcome, Metrics } from '../http/metrics.ts';
import type { ServedArtefact } from './publication-index.ts';
import type { ByteSpan } from './range.ts';
import { ReaderPace, type PaceLimits } from '../http/reader-pace.ts';
import { buffersPerWriteMax, sendSpan, waitForTurn } from './send-file.ts';

/**
 * Seconds for which a signed URL of the object store can be opened: clients follow a redirect at once, and a URL that is found
 * later no longer works.
 */
const signedUrlSeconds = 300;

/** A planned download: headers and bytes of one version. */
interface Download {
  readonly artefact: Pick<ServedArtefact, 'name' | 'file'>;
  readonly status: number;
  readonly headers: Headers;
  readonly span: ByteSpan;
}

/** Dependencies of {@link Downloads}. */
interface DownloadsOptions {
  readonly downloadsMax: number;
  readonly buffers: BufferPool;
  readonly pace: PaceLimits;
  readonly delivery: DeliverySettings;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Interval between checks for readers that are too slow. */
const paceCheckMs = 1000;

/** A download that is being sent. */
interface RunningDownload {
  readonly pace: ReaderPace;
  readonly response: ServerResponse;
  tooSlow: boolean;
}

/** Sends at most `downloadsMax` downloads at a time, and disconnects readers that are too slow. */
export class Downloads {
  readonly #options: DownloadsOptions;
  readonly #running = new Set<RunningDownload>();
  #checking: NodeJS.Timeout | undefined;

  constructor(options: DownloadsOptions) {
    this.#options = options;
  }

  /**
   * Sends headers and bytes, and resolves when the response has ended or its client has disconnected.
   * A pipelined request waits for its turn on the connection before it takes a slot.
   * @throws ServiceError `overloaded` if all slots are taken.
   */
  async send(request: FastifyRequest, reply: FastifyReply, download: Download): Promise<void> {
    const letGo = download.artefact.file.hold();
    try {
      if (!(await waitForTurn(reply.raw, request.raw.socket))) return void reply.hijack();
      const { stored } = download.artefact.file;
      const delivery = decideDelivery(request.headers, this.#options.delivery, stored.signUrl !== undefined);
      if (delivery !== 'api') return await this.#sendFromElsewhere(reply, download, delivery);
      if (this.#running.size >= this.#options.downloadsMax)
        throw new ServiceError('overloaded', { operation: 'send artefact' });
      await this.#sendNow(request, reply, download);
    } finally {
      letGo();
    }
  }

  /** Answers with the location of the bytes. */
  async #sendFromElsewhere(
    reply: FastifyReply,
    { artefact, headers }: Download,
    delivery: 'proxy' | 'object store',
  ): Promise<void> {
    const { stored } = artefact.file;
    const url =
      delivery === 'proxy'
        ? undefined
        : await stored.signUrl?.({
            seconds: signedUrlSeconds,
            contentType: String(headers['Content-Type']),
            contentDisposition: String(headers['Content-Disposition']),
          });
    reply.hijack();
    if (url === undefined) {
      const path = formatStoredName(stored.name);
      const prefix = this.#options.delivery.apiDelivery ?? '';
      reply.raw.writeHead(200, allHeaders(reply, proxyHeaders(headers, { prefix, path })));
    } else reply.raw.writeHead(307, allHeaders(reply, redirectHeaders(headers, url)));
    reply.raw.end();
  }

  async #sendNow(
    request: FastifyRequest,
    reply: FastifyReply,
    { artefact, status, headers, span }: Download,
  ): Promise<void> {
    const { buffers, pace: limits, metrics, log } = this.#options;
    const pace = new ReaderPace(limits, buffers.bufferBytes * buffersPerWriteMax);
    const running = this.#begin({ pace, response: reply.raw, tooSlow: false });
    let outcome: DownloadOutcome = 'damaged';
    const { file } = artefact;
    const reader = file.stored.readSpan(span);
    try {
      await reader.begin?.();
      reply.hijack();
      reply.raw.writeHead(status, allHeaders(reply, headers));
      const onBytes = (bytes: number) => metrics.bytesSent(routeOf(request), bytes);
      const whole = await sendSpan({ response: reply.raw, file, span, reader, buffers, pace, onBytes });
      outcome = whole ? 'sent' : running.tooSlow ? 'too_slow' : 'client_gone';
    } catch (error) {
      if (!reply.sent) {
        reader.close();
        throw error; // answered as an error
      }
      log.error(
        { err: error, requestId: request.id, artefact: formatArtefact(artefact.name) },
        `a download was cut: ${errorMessageOf(error)}`,
      );
    } finally {
      this.#end(running, outcome);
    }
  }

  #begin(running: RunningDownload): RunningDownload {
    this.#options.metrics.downloadStarted();
    this.#running.add(running);
    this.#checking ??= setInterval(() => this.#cutSlowReaders(), paceCheckMs).unref();
    return running;
  }

  #end(running: RunningDownload, outcome: DownloadOutcome): void {
    this.#options.metrics.downloadEnded(outcome);
    this.#running.delete(running);
    if (this.#running.size > 0) return;
    clearInterval(this.#checking);
    this.#checking = undefined;
  }

  #cutSlowReaders(): void {
    const now = performance.now();
    for (const running of this.#running) {
      if (!running.pace.isTooSlow(now)) continue;
      running.tooSlow = true;
      running.response.destroy();
    }
  }
}
