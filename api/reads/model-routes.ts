import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { FAMILIES } from '../../pipelines/audio/models/manifest.ts';
import type { RegistryEntry } from '../../pipelines/audio/models/registry.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { ApiErrorCode } from '../http/error-codes.ts';
import { sendDocument } from '../http/answer.ts';
import { describeDocument } from '../documents/descriptions.ts';
import { makeJsonDocument } from '../http/json-document.ts';
import type { Metrics } from '../http/metrics.ts';
import { keepRegistry, modelAnswer, type ModelRecords } from './model-records.ts';
import { familyParameters, modelListSchema, modelParameters, modelQuery, modelSchema } from './model-schemas.ts';
import type { RequestReads } from '../http/request-reads.ts';

/** Dependencies of the model routes. */
interface ModelRoutesOptions {
  readonly reads: RequestReads;
  /** Directory of added models. */
  readonly modelDir: string;
  readonly metrics: Metrics;
  readonly now: () => number;
}

const readCodes = [
  'parameter_invalid',
  'release_unknown',
  'not_ready',
  'database_unavailable',
  'database_unsuitable',
] as const satisfies readonly ApiErrorCode[];
const describe = (description: Omit<Parameters<typeof describeDocument>[0], 'tag' | 'access'>) =>
  describeDocument({
    ...description,
    tag: 'Models',
    access: 'open',
    codes: [...(description.codes ?? []), ...readCodes],
  });

/**
 * The model registry; needs no key. A removed model is answered with 200 and its state, since the registry keeps its
 * history; only scoring with it is refused, with `model_removed`.
 */
export function registerModelRoutes(app: FastifyInstance, { reads, modelDir, metrics, now }: ModelRoutesOptions): void {
  const records = keepRegistry({ modelDir, read: (work) => reads.read(work), now });
  const send = (request: FastifyRequest, reply: FastifyReply, body: unknown) =>
    sendDocument(request, reply, makeJsonDocument(body), { headers: { 'Cache-Control': 'no-cache' }, metrics });

  const list = describe({
    operationId: 'listModels',
    summary: 'Models of the registry, oldest first',
    schema: modelListSchema,
  });
  app.get('/v1/models', { schema: { querystring: modelQuery, ...list } }, async (request, reply) => {
    const known = await records();
    const release = releaseOf(request) ?? known.registry.newestRelease;
    const models = known.registry.models(release).map((entry) => modelAnswer(entry, known));
    send(request, reply, { release, models } satisfies z.input<typeof modelListSchema>);
  });

  const family = describe({
    operationId: 'getDefaultModel',
    summary: 'The default model of a family',
    schema: modelSchema,
    codes: ['model_unknown'],
  });
  app.get(
    '/v1/models/:family',
    { schema: { params: familyParameters, querystring: modelQuery, ...family } },
    async (request, reply) => {
      const asked = (request.params as { family: string }).family.toLowerCase();
      const known = await records();
      const found = FAMILIES.find((each) => each === asked);
      send(
        request,
        reply,
        shownModelOf(found === undefined ? undefined : known.registry.defaultOf(found, releaseOf(request)), known),
      );
    },
  );

  const one = describe({
    operationId: 'getModel',
    summary: 'A model, also one that was removed',
    schema: modelSchema,
    codes: ['model_unknown'],
  });
  app.get(
    '/v1/models/:family/:version',
    { schema: { params: modelParameters, querystring: modelQuery, ...one } },
    async (request, reply) => {
      const asked = request.params as { family: string; version: string };
      const model = `${asked.family}/${asked.version}`.toLowerCase();
      const known = await records();
      send(
        request,
        reply,
        shownModelOf(
          known.registry.models(releaseOf(request)).find((each) => each.model === model),
          known,
        ),
      );
    },
  );
}

function releaseOf(request: FastifyRequest): string | undefined {
  return (request.query as z.output<typeof modelQuery>).release;
}

function shownModelOf(entry: RegistryEntry | undefined, known: ModelRecords) {
  if (entry === undefined)
    throw new ServiceError('model_unknown', { operation: 'find model', hint: '`/v1/models` lists them.' });
  return modelAnswer(entry, known);
}
