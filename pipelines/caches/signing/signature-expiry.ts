import { queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { Role } from '../../../format/trust/metadata.ts';

/** When the signed metadata of a role expires. */
export interface SignatureExpiry {
  readonly role: Role;
  /** ISO 8601 in UTC. */
  readonly expires: string;
}

/** A signature that a person must look at. */
interface EndingSignature extends SignatureExpiry {
  /** True: clients refuse what is served. */
  readonly expired: boolean;
}

/**
 * Hours before the expiry from which on a person must look. The root needs people to meet; the scheduler renews the others long
 * before (the timestamp with 36 hours left, snapshot and targets at half of their time), so less means that it does not.
 */
export const expirySoonHours: Readonly<Record<Role, number>> = {
  root: 30 * 24,
  targets: 7 * 24,
  snapshot: 3 * 24,
  timestamp: 24,
};

const hourMs = 3_600_000;

/** When the present signatures expire; empty while the service does not sign. */
export function listSignatureExpiries(db: Queryable): Promise<SignatureExpiry[]> {
  return queryRows<SignatureExpiry>(db, sql('signing/list_expiries'));
}

/** The signatures that have expired or soon will, the most urgent first. Pure. */
export function findEndingSignatures(expiries: readonly SignatureExpiry[], now: number): EndingSignature[] {
  return expiries
    .map(({ role, expires }) => ({ role, expires, leftMs: Date.parse(expires) - now }))
    .filter(({ role, leftMs }) => leftMs < expirySoonHours[role] * hourMs)
    .sort((a, b) => a.leftMs - b.leftMs)
    .map(({ role, expires, leftMs }) => ({ role, expires, expired: leftMs <= 0 }));
}

/** What an ending signature means, and what to do. */
export function describeEndingSignature({ role, expires, expired }: EndingSignature): string {
  const what = expired
    ? `The ${role} metadata expired at ${expires}: clients refuse what is served.`
    : `The ${role} metadata expires at ${expires}.`;
  return `${what} ${role === 'root' ? 'Renew it with `caller-trust trust rotate`, which takes its keys.' : 'The scheduler renews it: look whether one runs, and what its log says of signatures.'}`;
}
