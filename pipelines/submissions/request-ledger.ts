import { requireSameRequest } from '../../runtime/idempotency-key.ts';
import { queryRow, queryRows, type Queryable } from '../../runtime/postgres.ts';
import { pruneRows } from '../../sql/prune.ts';
import { sql } from '../../sql/sql.ts';

/** What a request became. */
export type RequestKind = 'batch' | 'branding' | 'load' | 'dispute';

/** Who asks: the client of a key, the id of the key, and the brand that it is bound to. */
export interface Requester {
  readonly client: string;
  readonly keyId: string;
  readonly brand: string | null;
  readonly address: string | null;
}

/** A request under its idempotency key. */
interface RemoteRequest {
  readonly requester: Requester;
  readonly kind: RequestKind;
  /** A valid idempotency key. */
  readonly key: string;
  /** Of the request, as hex digits. */
  readonly sha256: string;
}

/** Records an accepted request with the id of what it became, in the transaction that stores that. */
export type RecordRequest = (client: Queryable, object: string) => Promise<void>;

/** An accepted request, for the operator. */
export interface AcceptedRequest {
  readonly requestId: number;
  readonly client: string;
  readonly keyId: string;
  readonly brand: string | null;
  readonly key: string;
  readonly kind: RequestKind;
  readonly object: string;
  readonly address: string | null;
  readonly acceptedAt: Date;
}

/** Rolls a submission back whose key another request has used meanwhile. */
class RepeatedMeanwhile extends Error {}

/**
 * Accepts a request once: `submit` stores what it becomes, and records it in the same transaction. A repeated request gets the id
 * of what the first one became.
 * @throws ServiceError `idempotency_conflict` if the key was used for another request; and what `submit` throws
 */
export async function acceptOnce(
  db: Queryable,
  request: RemoteRequest,
  submit: (record: RecordRequest) => Promise<string>,
): Promise<{ object: string; repeated: boolean }> {
  const before = await findRequest(db, request);
  if (before !== undefined) return { object: before, repeated: true };
  try {
    return { object: await submit((client, object) => recordRequest(client, request, object)), repeated: false };
  } catch (error) {
    const meanwhile = error instanceof RepeatedMeanwhile ? await findRequest(db, request) : undefined;
    if (meanwhile === undefined) throw error;
    return { object: meanwhile, repeated: true };
  }
}

async function findRequest(
  db: Queryable,
  { requester, kind, key, sha256 }: RemoteRequest,
): Promise<string | undefined> {
  const row = await queryRow<{ kind: RequestKind; requestSha256: string; object: string }>(
    db,
    sql('submissions/find_request'),
    [requester.client, key],
  );
  if (row === undefined) return undefined;
  const detail = { operation: 'accept request', object: key, hint: 'Use another key for another request.' };
  requireSameRequest(row.kind === kind ? row : { requestSha256: '' }, sha256, detail);
  return row.object;
}

async function recordRequest(
  client: Queryable,
  { requester, kind, key, sha256 }: RemoteRequest,
  object: string,
): Promise<void> {
  const { client: owner, keyId, brand, address } = requester;
  const values = [owner, keyId, brand, key, kind, sha256, object, address];
  if ((await queryRow(client, sql('submissions/insert_request'), values)) === undefined) throw new RepeatedMeanwhile();
}

/** True if the client has asked for this through the intake, with a key of the same brand if the key is bound to one. */
export async function hasAskedFor(
  db: Queryable,
  { client, brand }: Pick<Requester, 'client' | 'brand'>,
  { kind, object }: { readonly kind: RequestKind; readonly object: string },
): Promise<boolean> {
  return (await queryRow(db, sql('submissions/find_own_request'), [client, brand, kind, object])) !== undefined;
}

/** Accepted requests, newest first. */
export function listAcceptedRequests(
  db: Queryable,
  { client, before, limit }: { client?: string | undefined; before?: number | undefined; limit: number },
): Promise<AcceptedRequest[]> {
  return queryRows<AcceptedRequest>(db, sql('submissions/list_requests'), [client ?? null, before ?? null, limit]);
}

/** Requests that one statement deletes. */
const prunedAtOnce = 5000;

/** Forgets requests that were accepted more than `retentionDays` before `at`. Returns their number. */
export function pruneRequests(
  db: Queryable,
  retention: { readonly retentionDays: number; readonly at: Date },
): Promise<number> {
  return pruneRows(db, sql('submissions/prune_requests'), { ...retention, atOnce: prunedAtOnce });
}
