import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { StoredName } from '../../pipelines/caches/store/stored-name.ts';
import { findCache, formatArtefact, isCountryCode, type ArtefactName } from '../../pipelines/caches/definition.ts';
import { readWhole, type StoredFile } from '../../pipelines/caches/store/stored-file.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { recordAction } from '../access/guard.ts';
import {
  listArtefacts,
  listArtefactVersions,
  readArtefact,
  readBuildTrend,
  readPublished,
} from '../answers/artefact-answers.ts';
import { ArtefactChecks } from '../answers/artefact-checks.ts';
import { parseBody } from '../http/body.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { sendLive } from '../http/live.ts';

const artefactParams = z.looseObject({ cache: z.string().max(40), country: z.string().max(2) });
const deltaParams = z.looseObject({
  from: z.coerce
    .number()
    .int()
    .positive()
    .max(2 ** 31 - 1),
});
const versionsQuery = z.strictObject({
  before: z.coerce
    .number()
    .int()
    .positive()
    .max(2 ** 31 - 1)
    .optional(),
  limit: z.coerce.number().int().min(1).max(366).default(90),
});

const path = '/api/artefacts/:cache/:country';

/** `/api/artefacts`: lists, sizes over time, downloads, and checks of stored files. The country is `-` for a cache that is not split. */
export function registerArtefactRoutes(app: FastifyInstance, work: ConsoleWork): void {
  const { db } = work;
  const checks = new ArtefactChecks(work);
  const viewer = { config: { access: 'viewer' } } as const;
  const operator = { config: { access: 'operator' } } as const;
  app.get('/api/artefacts', viewer, async () => ({ artefacts: await listArtefacts(db) }));
  app.get('/api/artefacts/check/live', viewer, (request, reply) =>
    sendLive(request, reply, {
      work,
      read: async () => ({ check: checks.latest('current') }),
      isLast: ({ check }) => check?.state !== 'running',
    }),
  );
  app.post('/api/artefacts/check', operator, async (request, reply) => {
    await recordAction(db, request, { action: 'verify_artefacts', object: 'current versions' });
    return reply.code(202).send({ check: await checks.start('current') });
  });
  app.get(path, viewer, ({ params }) => readArtefact(db, nameIn(params)));
  app.get(`${path}/versions`, viewer, ({ params, query }) =>
    listArtefactVersions(db, nameIn(params), parseBody(versionsQuery, query)),
  );
  app.get(`${path}/builds`, viewer, ({ params }) => readBuildTrend(db, nameIn(params)));
  app.get(`${path}/check/live`, viewer, (request, reply) => {
    const name = nameIn(request.params);
    return sendLive(request, reply, {
      work,
      read: async () => ({ check: checks.latest(name) }),
      isLast: ({ check }) => check?.state !== 'running',
    });
  });
  app.post(`${path}/check`, operator, async (request, reply) => {
    const name = nameIn(request.params);
    await recordAction(db, request, { action: 'verify_artefacts', object: formatArtefact(name) });
    return reply.code(202).send({ check: await checks.start(name) });
  });
  registerDownloads(app, work);
}

/** Downloads of the current file and its deltas. */
function registerDownloads(app: FastifyInstance, work: ConsoleWork): void {
  const options = { config: { access: 'viewer' }, exposeHeadRoute: false } as const;
  app.get(`${path}/file`, options, async (request, reply) => {
    const name = nameIn(request.params);
    const { version, file } = await readPublished(work.db, name);
    return sendStored(work, {
      request,
      reply,
      stored: { ...name, sha256: file.sha256 },
      fileName: `${fileStem(name)}-v${version}.tsv.gz`,
      detail: { version },
    });
  });
  app.get(`${path}/deltas/:from`, options, async (request, reply) => {
    const name = nameIn(request.params);
    const { from } = parseBody(deltaParams, request.params);
    const { version, deltas } = await readPublished(work.db, name);
    const delta = deltas.find((each) => each.from === from);
    if (delta === undefined)
      throw new ServiceError('delta_gone', {
        operation: 'find delta',
        object: formatArtefact(name),
        hint: 'Take the whole file.',
      });
    return sendStored(work, {
      request,
      reply,
      stored: { ...name, sha256: delta.sha256, kind: 'delta' },
      fileName: `${fileStem(name)}-v${from}-v${version}.delta.tsv.gz`,
      detail: { version, from },
    });
  });
}

/** A stored file to download. */
interface StoredDownload {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly stored: StoredName;
  readonly fileName: string;
  readonly detail: Readonly<Record<string, number>>;
}

async function sendStored(
  { db, store }: Pick<ConsoleWork, 'db' | 'store'>,
  { request, reply, stored, fileName, detail }: StoredDownload,
): Promise<FastifyReply> {
  const file = await store.openToServe(stored).catch((cause: unknown) => {
    throw (cause as NodeJS.ErrnoException).code === 'ENOENT'
      ? new ServiceError('artefact_damaged', {
          operation: 'open artefact',
          object: formatArtefact(stored),
          problem: 'The file is not in the store.',
          hint: 'Run a night, which writes it again.',
          cause,
        })
      : cause;
  });
  const body = Readable.from(piecesOf(file), { objectMode: false });
  body.once('close', () => void file.close());
  try {
    await recordAction(db, request, { action: 'download_artefact', object: formatArtefact(stored), detail });
  } catch (error) {
    body.destroy();
    throw error;
  }
  return reply
    .headers({
      'Content-Type': 'application/gzip',
      'Content-Length': file.size,
      'Content-Disposition': `attachment; filename="${fileName}"`,
      ETag: `"${stored.sha256}"`,
      'Repr-Digest': `sha-256=:${Buffer.from(stored.sha256, 'hex').toString('base64')}:`,
    })
    .send(body);
}

/** Fails on a truncated file, which must not end like a complete one. */
async function* piecesOf(file: StoredFile): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of readWhole(file)) {
    bytes += piece.length;
    yield piece;
  }
  if (bytes < file.size)
    throw new ServiceError('artefact_damaged', {
      operation: 'read artefact',
      problem: 'The stored file ends too early.',
    });
}

/** @throws ServiceError `cache_unknown`, `country_invalid`, `parameter_invalid` */
function nameIn(params: unknown): ArtefactName {
  const { cache: given, country } = parseBody(artefactParams, params);
  const cache = findCache(given);
  if (cache.perCountry ? !isCountryCode(country) : country !== '-') {
    throw new ServiceError('country_invalid', {
      operation: 'read artefact name',
      problem: cache.perCountry ? undefined : `${cache.name} is not split by country: write - for the country.`,
    });
  }
  return { cache: cache.name, country: cache.perCountry ? country : '' };
}

/** File names as in the API: `phones-US`. */
function fileStem({ cache, country }: ArtefactName): string {
  return country === '' ? cache : `${cache}-${country}`;
}
