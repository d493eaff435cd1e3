import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import {
  newestRelease,
  RELEASE_SERVICES,
  RELEASES,
  type ReleaseService,
} from '../../pipelines/audio/models/releases.ts';
import { sendDocument } from '../http/answer.ts';
import { describeDocument } from '../documents/descriptions.ts';
import { makeJsonDocument, type JsonDocument } from '../http/json-document.ts';
import type { Metrics } from '../http/metrics.ts';
import { releaseListSchema } from '../documents/schemas.ts';

const releaseQuery = z.strictObject({
  service: z.enum(RELEASE_SERVICES).optional().describe('Releases of this service only.'),
});

/** The releases of the services; needs neither a key nor the database. */
export function registerReleaseRoutes(app: FastifyInstance, { metrics }: { metrics: Metrics }): void {
  const documents = new Map<ReleaseService | undefined, JsonDocument>(
    [undefined, ...RELEASE_SERVICES].map((service) => [service, describeReleases(service)]),
  );
  const description = describeDocument({
    operationId: 'listReleases',
    summary: 'Releases of the services',
    tag: 'Releases',
    schema: releaseListSchema,
    codes: ['parameter_invalid'],
    access: 'open',
  });
  app.get('/v1/releases', { schema: { querystring: releaseQuery, ...description } }, async (request, reply) => {
    const { service } = request.query as z.output<typeof releaseQuery>;
    sendDocument(request, reply, documents.get(service) as JsonDocument, {
      headers: { 'Cache-Control': 'no-cache' },
      metrics,
    }); // the schema of the query allows only these services
  });
}

function describeReleases(service: ReleaseService | undefined): JsonDocument {
  const services = RELEASE_SERVICES.filter((each) => service === undefined || each === service);
  return makeJsonDocument({
    current: Object.fromEntries(services.map((each) => [each, newestRelease(each)?.name])),
    releases: RELEASES.filter((release) => services.includes(release.service)),
  } satisfies z.input<typeof releaseListSchema>);
}
