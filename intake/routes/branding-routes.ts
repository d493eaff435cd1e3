import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { requestBranding } from '../../jobs/queues/branding-producer.ts';
import {
  OPERATIONS,
  readOperationRecord,
  type OperationKind,
  type OperationRecord,
  type OperationRequest,
} from '../../pipelines/branding/operation.ts';
import { readSubmittedFile } from '../../pipelines/branding/submitted-file.ts';
import type { Requester } from '../../pipelines/submissions/request-ledger.ts';
import { removeUploadFiles, uploadPath } from '../../pipelines/submissions/upload-file.ts';
import { forgetUploads, useCompleteUploads } from '../../pipelines/submissions/upload.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { exampleId, exampleTime, useCodes } from '../http/operations.ts';
import { acceptRequest, actorOf, parseJsonBody } from '../http/request-reading.ts';
import { registerSubmission } from '../http/submission-routes.ts';
import type { IntakeWork } from '../work/intake-work.ts';

const kinds = Object.keys(OPERATIONS) as OperationKind[];

const files = {
  letter: z.string().max(64).optional().describe('Id of a complete upload for a letter.'),
  numbersFile: z.string().max(64).optional().describe('Id of a complete upload for numbers: a CSV.'),
};

/** What the intake reads of a request; the submission checks the fields of the operation. */
const envelopeSchema = z.looseObject({ operation: z.enum(kinds), ...files });

/** A request for branding, as `request.json` of a dropped folder, with its files as uploads. */
const brandingSchema = z.discriminatedUnion(
  'operation',
  kinds.map((kind) =>
    z.strictObject({ operation: z.literal(kind), ...files, ...OPERATIONS[kind].shape }),
  ) as unknown as [z.ZodObject, ...z.ZodObject[]],
);

const answer = {
  request: 12,
  operation: 'add_phone_number',
  handle: 'northwind-dental',
  state: 'queued',
  requestedAt: exampleTime,
  finishedAt: null,
  outcome: null,
  result: null,
  failure: null,
};

/** `/v1/branding-requests`: branding requests with their letters, and their outcomes. */
export function registerBrandingRoutes(app: FastifyInstance, work: IntakeWork): void {
  registerSubmission(app, work, {
    kind: 'branding',
    scope: 'branding:write',
    tag: 'Branding',
    answer,
    submission: {
      path: '/v1/branding-requests',
      operationId: 'submitBrandingRequest',
      summary: 'Add or update a managed brand, or add phone numbers for branding',
      location: 'The brand at the API: `/v1/brands/{handle}`.',
      schema: brandingSchema,
      example: {
        operation: 'add_phone_number',
        handle: 'northwind-dental',
        numbers: ['+12025550123'],
        letter: exampleId,
      },
      codes: [...useCodes, 'brand_request_invalid', 'letter_file_invalid', 'numbers_file_invalid'],
      submit: (request, requester) => submitBranding(work, request, requester),
    },
    outcome: {
      path: '/v1/branding-requests',
      noun: 'request',
      operationId: 'getBrandingRequest',
      summary: 'Outcome of a branding request',
      unknown: 'operation_unknown',
      read: async (id) => shownOperation(await readOperationRecord(work.db, id)),
      pathAtApi: ({ handle }) => `/v1/brands/${handle}`,
    },
  });
}

async function submitBranding(work: IntakeWork, request: FastifyRequest, requester: Requester) {
  const { config, room } = work;
  const body = parseJsonBody(envelopeSchema, request.body, 'brand_request_invalid');
  requireOwnBrand(requester, body['handle']);
  const ids = [body.letter, body.numbersFile].filter((id) => id !== undefined);
  const accepted = await acceptRequest(work, request, { requester, kind: 'branding', content: body }, (key, record) =>
    room.run('branding', async () => {
      const { operation: kind, letter, numbersFile, ...fields } = body;
      const submitted = await requestBranding(work, {
        kind,
        request: fields as OperationRequest, // checked by the submission
        owner: requester.client,
        key,
        requestedBy: actorOf(requester),
        letter: await readUpload(work, requester, { kind: 'letter', id: letter }),
        numbersFile: await readUpload(work, requester, { kind: 'numbers', id: numbersFile }),
        record: async (client, operationId) => {
          await record(client, String(operationId));
          await forgetUploads(client, ids);
        },
      });
      return String(submitted.operationId);
    }),
  );
  await removeUploadFiles(config.intakeDir, ids);
  return accepted;
}

export async function readUpload(
  { db, config }: IntakeWork,
  { client }: Requester,
  { kind, id }: { readonly kind: 'letter' | 'numbers'; readonly id: string | undefined },
): Promise<Buffer | undefined> {
  if (id === undefined) return undefined;
  await useCompleteUploads(db, { client, kind }, [id]);
  return readSubmittedFile(uploadPath(config.intakeDir, id), kind);
}

/** A key that is bound to a brand asks for this brand alone. */
export function requireOwnBrand({ brand }: Requester, handle: unknown): void {
  if (brand === null || handle === brand) return;
  throw new ServiceError('forbidden', {
    operation: 'authorise',
    problem: `The key is bound to the brand ${brand}, which the request must name as its handle.`,
  });
}

function shownOperation(operation: OperationRecord) {
  const { operationId, kind, request, state, requestedAt, finishedAt, result, failure } = operation;
  return {
    request: operationId,
    operation: kind,
    handle: request.handle,
    state,
    requestedAt,
    finishedAt,
    outcome: result?.outcome ?? null,
    result,
    failure,
  };
}
