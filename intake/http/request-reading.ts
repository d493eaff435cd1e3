import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Principal } from '../../pipelines/access/key-table.ts';
import { requireScope } from '../../pipelines/access/authentication.ts';
import type { Scope } from '../../pipelines/access/keys.ts';
import {
  acceptOnce,
  hasAskedFor,
  type RecordRequest,
  type Requester,
  type RequestKind,
} from '../../pipelines/submissions/request-ledger.ts';
import { jsonWithSortedKeys, sha256Of } from '../../runtime/digest.ts';
import { ServiceError, type ErrorCode } from '../../runtime/errors.ts';
import { idempotencyKeyForm, isIdempotencyKey } from '../../runtime/idempotency-key.ts';
import { isStorable, unstorableProblem } from '../../runtime/stored-text.ts';
import type { IntakeWork } from '../work/intake-work.ts';

/** A client with a key that has the scope. @throws ServiceError as {@link requireScope} */
export function requireRequester(request: FastifyRequest, scope: Scope): Requester {
  const { client, keyId, brand }: Principal = requireScope(request.caller, scope);
  return { client, keyId, brand, address: request.ip ?? null };
}

/** The actor of a client's requests in audit trails. */
export function actorOf({ client }: Pick<Requester, 'client'>): string {
  return `intake ${client}`;
}

/**
 * A body in JSON, checked by its schema.
 * @throws ServiceError of the code, naming the fields that are not valid
 */
export function parseJsonBody<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
  code: ErrorCode,
): z.output<Schema> {
  const operation = 'read request';
  if (!isStorable(body)) throw new ServiceError(code, { operation, problem: unstorableProblem });
  const parsed = schema.safeParse(body ?? {});
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, 10).map((issue) => {
    const field = issue.path.join('.');
    return `${field === '' ? 'the request' : field}: ${issue.message}`;
  });
  throw new ServiceError(code, {
    operation,
    problem: `${problems.join('; ')}.`,
    hint: 'docs/intake.md shows the fields.',
  });
}

/** What a request asks for. */
interface Acceptance {
  readonly requester: Requester;
  readonly kind: RequestKind;
  /** What must be the same when the request is repeated. */
  readonly content: unknown;
}

/**
 * Accepts a request under its Idempotency-Key, once.
 * @throws ServiceError `idempotency_key_required`, `idempotency_conflict`; and what `submit` throws
 */
export async function acceptRequest(
  { db, log }: Pick<IntakeWork, 'db' | 'log'>,
  request: FastifyRequest,
  { requester, kind, content }: Acceptance,
  submit: (key: string, record: RecordRequest) => Promise<string>,
): Promise<{ object: string; repeated: boolean; key: string }> {
  const key = readIdempotencyKey(request);
  const sha256 = sha256Of(jsonWithSortedKeys([kind, content]));
  const accepted = await acceptOnce(db, { requester, kind, key, sha256 }, (record) => submit(key, record));
  const { client, keyId } = requester;
  log.info({ requestId: request.id, kind, ...accepted, client, keyId }, 'a request is accepted');
  return { ...accepted, key };
}

/** The key in the header field, with or without the quotes of a structured field. */
function readIdempotencyKey({ headers }: FastifyRequest): string {
  const given = headers['idempotency-key'];
  const key = typeof given === 'string' ? given.trim().replace(/^"(.*)"$/, '$1') : '';
  if (isIdempotencyKey(key)) return key;
  throw new ServiceError('idempotency_key_required', {
    operation: 'read request',
    hint: `Send Idempotency-Key with ${idempotencyKeyForm}, a new one for each request.`,
  });
}

/**
 * Lets a client see only what it has asked for itself.
 * @throws ServiceError of the code, as for something that does not exist
 */
export async function requireOwn(
  { db }: Pick<IntakeWork, 'db'>,
  requester: Requester,
  { kind, object, code }: { readonly kind: RequestKind; readonly object: string; readonly code: ErrorCode },
): Promise<void> {
  if (!(await hasAskedFor(db, requester, { kind, object })))
    throw new ServiceError(code, { operation: `read ${kind}`, object });
}

/** The id in a path, for statements; 0, which nothing has, for a text that is no id. */
export function idOf(text: string): number {
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0;
}
