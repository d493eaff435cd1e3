import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { drawDrift } from '../../pipelines/audio/drift/drift-picture.ts';
import { FAMILIES } from '../../pipelines/audio/models/manifest.ts';
import { loadRegistry, type RegistryEntry } from '../../pipelines/audio/models/registry.ts';
import { requireEntry } from '../../pipelines/audio/models/named-model.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { parseBody } from '../http/body.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import {
  listReports,
  readNextToManifest,
  readModel,
  readRegistry,
  readReport,
  readVoiceModel,
  shownReport,
} from '../answers/model-answers.ts';

/** An SVG opened on its own is a document: it may run no script and load nothing. */
const pictureSecurityPolicy = "default-src 'none'; sandbox; frame-ancestors 'none'";

const releaseForm = z.strictObject({ release: z.string().min(1).max(40).optional() });
const modelForm = z.strictObject({ family: z.enum(FAMILIES), version: z.string().max(60) });
const reportsForm = z.strictObject({
  before: z.coerce.number().int().positive().optional(),
  model: z.string().max(60).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
const reportForm = z.strictObject({ report: z.coerce.number().int().positive() });

/** `/api/models` and `/api/drift-reports`: the registry, its cards, and how models differ; for every user. */
export function registerModelRoutes(app: FastifyInstance, work: Pick<ConsoleWork, 'db' | 'config'>): void {
  const { db, config } = work;
  const entryOf = async (params: unknown): Promise<RegistryEntry> => {
    const { family, version } = parseBody(modelForm, params);
    return requireEntry(await loadRegistry(db, config), `${family}/${version}`);
  };

  app.get('/api/models', { config: { access: 'viewer' } }, async (request) => {
    const { release } = parseBody(releaseForm, request.query);
    return readRegistry(db, await loadRegistry(db, config), release);
  });

  app.get('/api/models/:family/:version', { config: { access: 'viewer' } }, async (request) =>
    readModel(db, await entryOf(request.params)),
  );

  app.get('/api/models/:family/:version/det.svg', { config: { access: 'viewer' } }, async (request, reply) => {
    const { model, directory } = await entryOf(request.params);
    const picture = await readNextToManifest(directory, 'det.svg');
    if (picture === null)
      throw new ServiceError('route_unknown', {
        operation: 'show card',
        object: model,
        problem: 'The model has no picture of its error rates.',
      });
    return sendPicture(reply, picture);
  });

  app.get('/api/voiceprint-model', { config: { access: 'viewer' } }, () => readVoiceModel());

  app.get('/api/drift-reports', { config: { access: 'viewer' } }, async (request) =>
    listReports(db, parseBody(reportsForm, request.query)),
  );

  app.get('/api/drift-reports/:report', { config: { access: 'viewer' } }, async (request) =>
    shownReport(await readReport(db, parseBody(reportForm, request.params).report)),
  );

  app.get('/api/drift-reports/:report/picture.svg', { config: { access: 'viewer' } }, async (request, reply) => {
    const { report } = await readReport(db, parseBody(reportForm, request.params).report);
    return sendPicture(reply, drawDrift(report));
  });
}

function sendPicture(reply: FastifyReply, picture: string): FastifyReply {
  return reply.header('Content-Security-Policy', pictureSecurityPolicy).type('image/svg+xml').send(picture);
}
