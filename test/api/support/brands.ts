import { createHash, randomBytes } from 'node:crypto';
import type { BrandState, LetterState, NumberState } from '../../../pipelines/branding/states.ts';
import { sql } from '../../../sql/sql.ts';
import type { Pool } from '../../../runtime/postgres.ts';

interface BrandToAdd {
  readonly handle: string;
  readonly owner: string;
  readonly state?: BrandState;
  readonly displayName?: string;
  /** Display name of a revision that waits in addition to the approved one. */
  readonly pending?: string;
  readonly profile?: Record<string, unknown>;
}

const approvedStates: readonly BrandState[] = ['approved', 'suspended', 'expired', 'withdrawn'];

/** What no answer of the API may hold. */
export const secrets = {
  taxId: '00-0000123',
  email: 'jane.sample@example.com',
  contact: 'Jane Sample',
  address: '12 Harbour Road',
};

/** Adds a brand with its revisions as rows, without the operations that make one. Returns its id. */
export async function addBrand(
  db: Pool,
  { handle, owner, state = 'approved', displayName = 'Northwind Dental', pending, profile = {} }: BrandToAdd,
): Promise<number> {
  const approved = approvedStates.includes(state) ? 1 : null;
  const { rows } = await db.query<{ brand_id: number }>(
    `INSERT INTO brand (handle, owner, state, approved_revision, pending_revision, approved_at, created_at)
     VALUES ($1, $2, $3, $4, $5, CASE WHEN $4::integer IS NULL THEN NULL ELSE timestamptz '2026-02-01T00:00:00Z' END, '2026-01-31T12:00:00Z') RETURNING brand_id`,
    [handle, owner, state, approved, pending === undefined ? (approved === null ? 1 : null) : 2],
  );
  const brandId = rows[0]!.brand_id;
  const full = {
    legalName: 'Northwind Dental LLC',
    dba: null,
    displayName,
    website: 'https://northwind.example',
    country: 'US',
    taxId: secrets.taxId,
    contact: { name: secrets.contact, email: secrets.email, phone: null },
    address: secrets.address,
    callReasons: ['Appointments'],
    logo: null,
    logoSha256: null,
    relationship: 'owner',
    ...profile,
  };
  for (const [revision, name] of [
    [1, displayName],
    ...(pending === undefined ? [] : [[2, pending] as const]),
  ] as const) {
    await db.query(
      'INSERT INTO brand_revision (brand_id, revision, profile, display_name, needs_decision, operation_id) VALUES ($1, $2, $3, $4, false, $5)',
      [brandId, revision, { ...full, displayName: name }, name, await addOperation(db, owner)],
    );
  }
  return brandId;
}

/** Adds a request for branding. Returns its id. */
async function addOperation(db: Pool, owner: string): Promise<number> {
  const { rows } = await db.query<{ operation_id: number }>(
    "INSERT INTO branding_operation (owner, idempotency_key, kind, request, request_sha256, requested_by) VALUES ($1, gen_random_uuid()::text, 'update_managed_brand', '{}', repeat('0', 64), 'test') RETURNING operation_id",
    [owner],
  );
  return rows[0]!.operation_id;
}

/** The n-th invented number: no area code is 555. */
export const phoneOf = (n: number) => `+1555${String(n).padStart(7, '0')}`;

/** Adds numbers `phoneOf(from)` to `phoneOf(to)`, every `step`-th of them. */
export async function addNumbers(
  db: Pool,
  brandId: number,
  { from, to, step = 1, state = 'verified' }: { from: number; to: number; step?: number; state?: NumberState },
): Promise<void> {
  await db.query(
    `INSERT INTO brand_number (brand_id, phone, country, call_reason, state, verified_at)
     SELECT $1, '+1555' || lpad(n::text, 7, '0'), 'US', NULL, $5, CASE WHEN $5 IN ('verified', 'expired', 'suspended') THEN timestamptz '2026-03-01T00:00:00Z' END
     FROM generate_series($2::integer, $3::integer, $4::integer) AS n`,
    [brandId, from, to, step, state],
  );
}

interface LetterToAdd {
  readonly brandId: number;
  readonly owner: string;
  readonly state?: LetterState;
  /** `letters/1` for the rules, else a person. Null: not decided. */
  readonly decidedBy?: string | null;
  readonly validUntil?: string | null;
  readonly phones?: readonly string[];
  readonly findings?: readonly {
    code: string;
    severity: string;
    message: string;
    page: number | null;
    line: number | null;
  }[];
}

/** Brings the branded cache's rows of a brand to what its rows say, as every operation does at its end. */
export async function publishNumbers(db: Pool, brandId: number): Promise<void> {
  await db.query(sql('branding/publish_numbers'), [brandId]);
}

export const ruleVersion = 'letters/1';

/** Adds a letter as rows, with a document that holds nothing. Returns its id. */
export async function addLetter(
  db: Pool,
  {
    brandId,
    owner,
    state = 'approved',
    decidedBy = ruleVersion,
    validUntil = '2027-03-01T00:00:00Z',
    phones = [],
    findings = [],
  }: LetterToAdd,
): Promise<number> {
  const sha256 = createHash('sha256').update(randomBytes(8)).digest('hex');
  const document = await db.query<{ document_id: number }>(
    "INSERT INTO document (kind, sha256, bytes, sealed_content, wrapped_key, master_key_id) VALUES ('letter', $1, 1, 'x', 'x', 'test') RETURNING document_id",
    [sha256],
  );
  const decided =
    decidedBy === null
      ? [null, null, null]
      : ['2026-03-01T08:00:00Z', decidedBy, decidedBy === ruleVersion ? 'Every rule passed.' : 'Checked by telephone.'];
  const { rows } = await db.query<{ letter_id: number }>(
    `INSERT INTO letter (brand_id, revision, legal_name, document_id, operation_id, state, submitted_at, rule_version, format, pages, signed_on, decided_at, decided_by, decision_reason, valid_from, valid_until)
     VALUES ($1, 1, (SELECT profile ->> 'legalName' FROM brand_revision WHERE brand_id = $1 AND revision = 1), $2, $3, $4, '2026-03-01T07:00:00Z', $5, 'pdf', 2, '2026-02-28', $6, $7, $8, CASE WHEN $9::timestamptz IS NULL THEN NULL ELSE timestamptz '2026-03-01T08:00:00Z' END, $9) RETURNING letter_id`,
    [brandId, document.rows[0]!.document_id, await addOperation(db, owner), state, ruleVersion, ...decided, validUntil],
  );
  const letterId = rows[0]!.letter_id;
  for (const phone of phones)
    await db.query('INSERT INTO letter_number (letter_id, phone) VALUES ($1, $2)', [letterId, phone]);
  for (const [position, { code, severity, message, page, line }] of findings.entries()) {
    await db.query(
      'INSERT INTO letter_finding (letter_id, position, code, severity, message, page, line) VALUES ($1, $2, $3, $4, $5, $6, $7)',
      [letterId, position, code, severity, message, page, line],
    );
  }
  return letterId;
}
