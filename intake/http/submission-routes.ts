import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Requester, RequestKind } from '../../pipelines/submissions/request-ledger.ts';
import type { ErrorCode } from '../../runtime/errors.ts';
import type { IntakeWork } from '../work/intake-work.ts';
import { sendJson } from './answers.ts';
import {
  describeSubmission,
  guardedCodes,
  jsonAnswer,
  keyNeeded,
  pathParameter,
  problems,
  type SubmissionDescription,
} from './operations.ts';
import { idOf, requireOwn, requireRequester } from './request-reading.ts';

/** Two routes: one takes a request, the other answers with what it has led to. */
interface SubmissionRoutes<Shown> extends Pick<SubmissionDescription, 'scope' | 'tag' | 'answer'> {
  readonly kind: RequestKind;
  readonly submission: Omit<SubmissionDescription, 'scope' | 'tag' | 'answer'> & {
    readonly path: string;
    submit(request: FastifyRequest, requester: Requester): Promise<{ object: string; repeated: boolean }>;
  };
  readonly outcome: {
    /** Without the id, which follows it. */
    readonly path: string;
    /** What the id is of; in the answer the id has this name. */
    readonly noun: string;
    readonly operationId: string;
    readonly summary: string;
    /** The error where the client has asked for nothing of this id. */
    readonly unknown: ErrorCode;
    read(id: number): Promise<Shown>;
    /** The path of its subject at the API, which `Location` of the submission names; without it, that of the outcome. */
    pathAtApi?(shown: Shown): string;
  };
}

/** Registers what takes requests of one kind, and what reads their outcome for the client that made them. */
export function registerSubmission<Shown extends object>(
  app: FastifyInstance,
  work: IntakeWork,
  { kind, scope, tag, answer, submission, outcome }: SubmissionRoutes<Shown>,
): void {
  const { path, submit, ...described } = submission;
  const { noun, operationId, summary, unknown, read, pathAtApi } = outcome;
  const statusOf = (object: string) => `${outcome.path}/${object}`;
  const exampleStatus = pathAtApi && { status: statusOf(String(answer[noun])) };
  const post = describeSubmission({ ...described, scope, tag, answer: { ...answer, ...exampleStatus } });
  app.post(path, { config: { operations: { post } } }, async (request, reply) => {
    const requester = requireRequester(request, scope);
    const { object, repeated } = await submit(request, requester);
    const shown = await read(idOf(object));
    const status = statusOf(object);
    return pathAtApi === undefined
      ? sendJson(reply, { status: 202, headers: { Location: status }, body: { ...shown, repeated } })
      : sendJson(reply, {
          status: 202,
          headers: { Location: `${work.config.intakeApiOrigin ?? ''}${pathAtApi(shown)}` },
          body: { ...shown, status, repeated },
        });
  });
  const get = {
    operationId,
    tags: [tag],
    security: keyNeeded,
    summary,
    description: `Needs the scope \`${scope}\`. Only what the client has sent through the intake.`,
    parameters: [pathParameter('id', `Id of the ${noun}.`)],
    responses: { 200: { description: summary, content: jsonAnswer(answer) }, ...problems([...guardedCodes, unknown]) },
  };
  app.get(`${outcome.path}/:id`, { config: { operations: { get } } }, async (request, reply) => {
    const requester = requireRequester(request, scope);
    const { id } = request.params as { id: string };
    await requireOwn(work, requester, { kind, object: id, code: unknown });
    return sendJson(reply, { status: 200, body: await read(idOf(id)) });
  });
}
