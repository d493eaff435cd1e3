import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ServiceError, type ErrorCode } from '../../runtime/errors.ts';
import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../runtime/postgres.ts';
import { isStorableText } from '../../runtime/stored-text.ts';
import { sql } from '../../sql/sql.ts';
import { cleanText } from '../phone/text-cleaning.ts';
import type { Vault } from '../../runtime/secrets/vault.ts';
import {
  brandChangesSchema,
  brandLimits,
  brandProfileSchema,
  callReasonSchema,
  handleSchema,
  profileText,
  suggestHandle,
} from './brand-profile.ts';
import { storeDocument } from './document-store.ts';
import type { OperationResult } from './operation-result.ts';
import { jsonWithSortedKeys, sha256Of } from '../../runtime/digest.ts';
import { isIdempotencyKey, idempotencyKeyForm, requireSameRequest } from '../../runtime/idempotency-key.ts';

/** Numbers that a request may name itself; more are submitted as a CSV. */
export const namedNumbersMax = 1000;

const wellFormed = z.string().max(64).refine(isStorableText, 'holds characters that no number has');
/** Numbers that a request names, as their sender writes them. */
export const requestNumbersSchema = z
  .array(wellFormed)
  .max(namedNumbersMax, `names more than ${namedNumbersMax} numbers: use a CSV`)
  .default([]);
const callReason = callReasonSchema.nullable().default(null);

/** Who signs the letter: printed on the form that is issued for the request. */
export const signerSchema = z.strictObject({
  name: profileText(brandLimits.nameCharactersMax),
  title: profileText(brandLimits.nameCharactersMax),
});

const numbers = requestNumbersSchema;
const signer = signerSchema.optional();

/** The closed list of operations, under the specification's names, with the form of their requests. */
export const OPERATIONS = {
  add_managed_brand: z.strictObject({
    handle: handleSchema.optional(),
    brand: brandProfileSchema,
    numbers,
    callReason,
    signer,
  }),
  update_managed_brand: z.strictObject({
    handle: handleSchema,
    changes: brandChangesSchema.default({}),
    numbers,
    callReason,
    signer,
  }),
  add_phone_number: z.strictObject({ handle: handleSchema, numbers, callReason, signer }),
} as const;

export type OperationKind = keyof typeof OPERATIONS;

/** Titles of the operations as the specification has them. */
export const operationTitles = {
  add_managed_brand: 'Add Managed Brand',
  update_managed_brand: 'Update Managed Brand',
  add_phone_number: 'Add Phone number for Branding',
} as const satisfies { readonly [Kind in OperationKind]: string };

/** A request as its sender writes it. */
export type OperationRequest<Kind extends OperationKind = OperationKind> = z.input<(typeof OPERATIONS)[Kind]>;

/** A request that was checked: texts are clean, defaults are filled in. */
type CheckedOperationRequest<Kind extends OperationKind = OperationKind> = z.output<(typeof OPERATIONS)[Kind]> & {
  readonly handle: string;
};

/** An operation to submit. */
export interface Submission<Kind extends OperationKind = OperationKind> {
  readonly kind: Kind;
  readonly request: OperationRequest<Kind>;
  /** The client whose brand it is, as API keys name it. */
  readonly owner: string;
  /** Printable ASCII without spaces, at most 128 characters. The same key of the same owner gives the same answer. */
  readonly key: string;
  readonly requestedBy: string;
  /** Name of the person who submits it, where `requestedBy` does not identify the person: another one decides it. */
  readonly person?: string | undefined;
  /** Bytes of the letter of authorization. */
  readonly letter?: Uint8Array | undefined;
  /** Bytes of a CSV of numbers. */
  readonly numbersFile?: Uint8Array | undefined;
  /**
   * Writes the caller's record in the transaction that stores the request, unless that was stored before; if it fails, nothing is
   * stored.
   */
  readonly record?: (client: Queryable, operationId: number) => Promise<void>;
}

/** An operation with its state. */
export interface Operation {
  readonly operationId: number;
  readonly kind: OperationKind;
  readonly owner: string;
  readonly key: string;
  readonly requestedBy: string;
  readonly requestedAt: Date;
  readonly state: 'queued' | 'done' | 'failed';
  readonly finishedAt: Date | null;
  readonly result: OperationResult | null;
  readonly failure: { readonly code: ErrorCode; readonly reason: string } | null;
}

/** The outcome of one row of a request's numbers. */
export interface OperationRow {
  readonly line: number;
  readonly phone: string | null;
  /** `accepted`, `known`, or the code of a refusal. */
  readonly outcome: string;
  readonly reason: string;
  /** State of the number now, where it has one with the brand. */
  readonly state: string | null;
}

/** The operation with everything that running it needs. */
export interface OperationRecord extends Operation {
  readonly request: CheckedOperationRequest;
  readonly letterDocumentId: number | null;
  readonly numbersDocumentId: number | null;
}

/**
 * Checks a request, stores it with its files, and returns the id of its operation, which a job runs. The same
 * request under the same key of its owner returns the same operation.
 * @throws ServiceError `brand_request_invalid`, `idempotency_conflict`
 */
export async function submitOperation(
  { db, vault }: { db: Pool; vault: Vault },
  submission: Submission,
): Promise<{ operationId: number; repeated: boolean }> {
  const { kind, key, letter, numbersFile } = submission;
  const requestedBy = cleanText(submission.requestedBy) ?? 'unknown';
  const request = checkOperationRequest(kind, submission.request);
  const owner = checkOwner(submission.owner);
  if (!isIdempotencyKey(key)) throw operationInvalid(kind, `The idempotency key is not ${idempotencyKeyForm}.`);
  requireNumbers(kind, request, numbersFile);
  const digest = digestOfOperation(request, letter, numbersFile);
  const repeated = await findRepeated(db, { owner, key, digest });
  if (repeated !== undefined) return { operationId: repeated, repeated: true };
  const recorded = await inTransaction(db, async (client) => {
    const letterDocument = letter && (await storeDocument({ db: client, vault }, { kind: 'letter', content: letter }));
    const numbersDocument =
      numbersFile && (await storeDocument({ db: client, vault }, { kind: 'numbers', content: numbersFile }));
    const values = [
      owner,
      key,
      kind,
      JSON.stringify(request),
      digest,
      letterDocument?.documentId ?? null,
      numbersDocument?.documentId ?? null,
      requestedBy,
      cleanText(submission.person ?? ''),
    ];
    const row = await queryRow<{ operationId: number }>(client, sql('branding/insert_operation'), values);
    if (row === undefined) throw new RepeatedMeanwhile();
    await submission.record?.(client, row.operationId);
    return row.operationId;
  }).catch((error: unknown) => {
    if (error instanceof RepeatedMeanwhile) return undefined;
    throw error;
  });
  if (recorded !== undefined) return { operationId: recorded, repeated: false };
  return { operationId: (await findRepeated(db, { owner, key, digest }))!, repeated: true };
}

/** Rolls the documents of a request back that another process submitted at the same time. */
class RepeatedMeanwhile extends Error {}

async function findRepeated(
  db: Queryable,
  { owner, key, digest }: { owner: string; key: string; digest: string },
): Promise<number | undefined> {
  const row = await queryRow<{ operationId: number; requestSha256: string }>(db, sql('branding/find_operation'), [
    owner,
    key,
  ]);
  if (row === undefined) return undefined;
  requireSameRequest(row, digest, {
    operation: 'submit branding request',
    object: key,
    hint: `Its operation is ${row.operationId}. Use another key for another request.`,
  });
  return row.operationId;
}

function checkOperationRequest(kind: OperationKind, request: unknown): CheckedOperationRequest {
  const schema = Object.hasOwn(OPERATIONS, kind) ? (OPERATIONS[kind] as z.ZodType<CheckedOperationRequest>) : undefined;
  if (schema === undefined)
    throw operationInvalid(String(kind), `The operations are ${Object.keys(OPERATIONS).join(', ')}.`);
  const parsed = schema.safeParse(request);
  if (!parsed.success)
    throw operationInvalid(
      kind,
      parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'request'}: ${message}`).join('; ') + '.',
    );
  return { ...parsed.data, handle: parsed.data.handle ?? suggestedHandle(kind, parsed.data) };
}

function suggestedHandle(kind: OperationKind, request: CheckedOperationRequest): string {
  const suggestion = 'brand' in request ? suggestHandle(request.brand.displayName) : '';
  const parsed = handleSchema.safeParse(suggestion);
  if (parsed.success) return parsed.data;
  throw operationInvalid(kind, 'handle: is missing, and the display name suggests none.');
}

function checkOwner(text: unknown): string {
  const owner = typeof text === 'string' ? cleanText(text) : null;
  if (owner !== null && owner.length <= 128) return owner;
  throw operationInvalid('request', 'owner: is missing or longer than 128 characters.');
}

function requireNumbers(
  kind: OperationKind,
  { numbers: named }: CheckedOperationRequest,
  numbersFile: Uint8Array | undefined,
): void {
  if (named.length > 0 && numbersFile !== undefined)
    throw operationInvalid(kind, 'numbers: are named in the request and given as a CSV; give one of the two.');
  if (kind === 'add_phone_number' && named.length === 0 && numbersFile === undefined)
    throw operationInvalid(kind, 'numbers: are missing.');
}

function operationInvalid(kind: string, problem: string): ServiceError {
  return new ServiceError('brand_request_invalid', {
    operation: 'submit branding request',
    object: kind,
    problem,
    hint: 'docs/branding.md lists the fields with their limits.',
  });
}

/** Digest of the checked request and the files, independent of how the request was written. */
function digestOfOperation(request: CheckedOperationRequest, ...files: (Uint8Array | undefined)[]): string {
  const hash = createHash('sha256').update(jsonWithSortedKeys(request));
  for (const file of files) hash.update(file === undefined ? '\n-' : `\n${sha256Of(file)}`);
  return hash.digest('hex');
}

/** The error for an operation that does not exist or that the caller may not see. */
export function operationUnknown(operationId: number): ServiceError {
  return new ServiceError('operation_unknown', { operation: 'read branding operation', object: String(operationId) });
}

/** @throws ServiceError `operation_unknown` */
export async function readOperationRecord(db: Queryable, operationId: number): Promise<OperationRecord> {
  const record = await queryRow<OperationRecord>(db, sql('branding/read_operation'), [operationId]);
  if (record === undefined) throw operationUnknown(operationId);
  return record;
}

/**
 * An operation with its state.
 * @throws ServiceError `operation_unknown`
 */
export async function readOperation(db: Queryable, operationId: number): Promise<Operation> {
  const {
    request: _request,
    letterDocumentId: _letter,
    numbersDocumentId: _numbers,
    ...operation
  } = await readOperationRecord(db, operationId);
  return operation;
}

/** Rows of a request's numbers in the order of the file. */
export async function listOperationRows(
  db: Queryable,
  operationId: number,
  { refused, after, limit }: { refused: boolean; after: number; limit: number },
): Promise<OperationRow[]> {
  return queryRows<OperationRow>(db, sql('branding/list_operation_rows'), [operationId, refused, after, limit]);
}

/** Ends an operation that failed permanently; the same key gives this answer from then on. */
export async function failOperation(
  db: Queryable,
  operationId: number,
  { code, reason }: { code: ErrorCode; reason: string },
): Promise<void> {
  await db.query(sql('branding/fail_operation'), [operationId, code, reason]);
}
