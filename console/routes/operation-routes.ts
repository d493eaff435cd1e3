import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { requestBranding } from '../../jobs/queues/branding-producer.ts';
import { handleSchema } from '../../pipelines/branding/brand-profile.ts';
import {
  listOperationRows,
  OPERATIONS,
  readOperation,
  type OperationKind,
  type OperationRequest,
} from '../../pipelines/branding/operation.ts';
import { parseRequestFile, type RequestFields } from '../../pipelines/branding/requests/request-file.ts';
import { readSubmittedFile, SUBMITTED_FILES } from '../../pipelines/branding/submitted-file.ts';
import { cleanText } from '../../pipelines/phone/text-cleaning.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { Queryable } from '../../runtime/postgres.ts';
import { actorOf, recordAction } from '../access/guard.ts';
import { parseBody } from '../http/body.ts';
import { pageOf } from '../http/paging.ts';
import { flagParameter, idOf, idParameter, limitParameter, lineParameter, ownerParameter } from '../http/parameters.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { sendLive } from '../http/live.ts';
import { maySee, ownersSeen, readSeenBrand, readSeenOperation } from '../access/own-data.ts';
import { listOperations, OPERATION_STANDINGS, writeRejects } from '../answers/operation-answers.ts';
import { withForm, type UploadedFile } from '../http/uploads.ts';

const listQuery = z.strictObject({
  before: idParameter.optional(),
  owner: ownerParameter,
  standing: z.enum(OPERATION_STANDINGS).optional(),
  handle: handleSchema.optional(),
  limit: limitParameter,
});
const rowsQuery = z.strictObject({ refused: flagParameter, after: lineParameter, limit: limitParameter });
const submission = z.strictObject({
  kind: z.enum(Object.keys(OPERATIONS) as [OperationKind, ...OperationKind[]]),
  owner: z.string().max(256).default(''),
  key: z.string().max(256),
  request: z.string(),
});

/** One byte more than the larger file may have, so that the submission reports which of the two is exceeded. */
const fileBytesMax = Math.max(SUBMITTED_FILES.letter.bytesMax, SUBMITTED_FILES.numbers.bytesMax) + 1;

/** `/api/operations`: submission of branding requests, as by the CLI, and their outcomes. */
export function registerOperationRoutes(app: FastifyInstance, work: ConsoleWork): void {
  const { db } = work;
  app.get('/api/operations', { config: { access: 'viewer', forAgencies: true } }, async (request) => {
    const { owner, ...query } = parseBody(listQuery, request.query);
    const { rows: operations, next } = pageOf(
      await listOperations(db, { ...query, owners: ownersSeen(request, owner), limit: query.limit + 1 }),
      query.limit,
      ({ operationId }) => String(operationId),
    );
    return { operations, next };
  });
  app.post('/api/operations', { config: { access: 'reviewer', forAgencies: true } }, (request) =>
    withForm(request, { filesMax: 2, fileBytesMax }, async ({ fields, files }) => {
      const { kind, owner, key, request: text } = parseBody(submission, fields);
      const fieldsOfRequest = parseRequestFile(Buffer.from(text));
      const asked = fieldsOfRequest as OperationRequest; // validated by the submission
      const record = (client: Queryable, operationId: number) =>
        recordAction(client, request, {
          action: 'request_branding',
          object: `operation ${operationId}`,
          detail: { kind },
        });
      return requestBranding(work, {
        kind,
        request: asked,
        owner: await ownerOf(work, request, { kind, owner, fields: fieldsOfRequest }),
        key,
        requestedBy: actorOf(request),
        record,
        ...(await readFiles(files)),
      });
    }),
  );
  app.get('/api/operations/:id', { config: { access: 'viewer', forAgencies: true } }, (request) =>
    readSeenOperation(db, request, idOf(request)),
  );
  app.get('/api/operations/:id/live', { config: { access: 'viewer', forAgencies: true } }, async (request, reply) => {
    const id = idOf(request);
    await readSeenOperation(db, request, id); // checks access; the followed value is read once for all followers
    return sendLive(request, reply, {
      work,
      read: () => readOperation(db, id),
      isLast: ({ state }) => state !== 'queued',
    });
  });
  app.get('/api/operations/:id/rows', { config: { access: 'viewer', forAgencies: true } }, async (request) => {
    const { refused, after, limit } = parseBody(rowsQuery, request.query);
    const { operationId } = await readSeenOperation(db, request, idOf(request)); // an unknown operation is an error, not an empty list
    const { rows, next } = pageOf(
      await listOperationRows(db, operationId, { refused, after, limit: limit + 1 }),
      limit,
      ({ line }) => String(line),
    );
    return { rows, next };
  });
  app.get(
    '/api/operations/:id/rejects.csv',
    { config: { access: 'viewer', forAgencies: true }, exposeHeadRoute: false },
    async (request, reply) => {
      const { operationId } = await readSeenOperation(db, request, idOf(request));
      await recordAction(db, request, { action: 'save_rejects', object: `operation ${operationId}` });
      void reply.header('Content-Disposition', `attachment; filename="operation-${operationId}-rejects.csv"`);
      return reply.type('text/csv; charset=utf-8').send(Readable.from(writeRejects(db, operationId)));
    },
  );
}

/**
 * The owner named in the form, else that of the existing brand, else the only owner that the user acts for.
 * @throws ServiceError `forbidden`, `brand_unknown` for requests that an agency may not make
 */
async function ownerOf(
  { db }: ConsoleWork,
  request: FastifyRequest,
  { kind, owner: given, fields: { handle } }: { kind: OperationKind; owner: string; fields: RequestFields },
): Promise<string> {
  const owner = cleanText(given);
  if (owner !== null) {
    if (maySee(request, owner)) return owner;
    throw new ServiceError('forbidden', {
      operation: 'submit branding request',
      problem: 'You act for another owner.',
      hint: 'Leave the owner out, or name one that you act for.',
    });
  }
  const parsed = handleSchema.safeParse(handle);
  if (kind !== 'add_managed_brand' && parsed.success) return (await readSeenBrand(db, request, parsed.data)).owner;
  const owners = ownersSeen(request);
  return owners?.length === 1 ? owners[0]! : given;
}

async function readFiles(files: readonly UploadedFile[]): Promise<{ letter?: Buffer; numbersFile?: Buffer }> {
  const wrong = files.find(
    ({ field }, at) => !['letter', 'numbers'].includes(field) || files.findIndex((each) => each.field === field) !== at,
  );
  if (wrong !== undefined)
    throw new ServiceError('parameter_invalid', {
      operation: 'receive form',
      problem: 'The files are one letter and one CSV of numbers, under the names letter and numbers.',
    });
  const [letter, numbers] = ['letter', 'numbers'].map((name) => files.find(({ field }) => field === name));
  return {
    ...(letter && { letter: await readSubmittedFile(letter.path, 'letter') }),
    ...(numbers && { numbersFile: await readSubmittedFile(numbers.path, 'numbers') }),
  };
}
