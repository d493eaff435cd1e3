import { isDeepStrictEqual } from 'node:util';
import type { Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { checkBrand, needsPerson } from './brand-check.ts';
import { needsApproval, type BrandProfile } from '../brand-profile.ts';
import type { Finding } from '../finding.ts';
import { listOwnProtectedNames, type OwnProtectedName } from '../names/protected-name-record.ts';
import { protectedNamesWith } from '../names/protected-names.ts';

/** The findings on a profile, and the profile and list that they depend on: if either has changed since, they are outdated. */
export interface NameCheck {
  readonly findings: readonly Finding[];
  readonly profile: BrandProfile;
  readonly protectedNames: readonly OwnProtectedName[];
}

/**
 * Checks the names of a profile. The comparison takes milliseconds, so it is done before the lock of changes is
 * taken where possible.
 */
export async function checkNames(db: Queryable, profile: BrandProfile): Promise<NameCheck> {
  const protectedNames = await listOwnProtectedNames(db);
  return { findings: checkBrand(profile, protectedNamesWith(protectedNames)), profile, protectedNames };
}

/** True if a profile is what was checked, and the protected names have not changed since. */
export async function isNameCheckCurrent(db: Queryable, checked: NameCheck, profile: BrandProfile): Promise<boolean> {
  return (
    !needsApproval(checked.profile, profile) &&
    isDeepStrictEqual(await listOwnProtectedNames(db), checked.protectedNames)
  );
}

/** A letter that the rules approve has the names of its revision, so a person is needed only for findings on the names themselves. */
export async function recordNameFindings(
  client: Queryable,
  brandId: number,
  { revision, findings }: { revision: number; findings: readonly Finding[] },
): Promise<void> {
  await client.query(sql('branding/record_revision_findings'), [
    brandId,
    revision,
    JSON.stringify(findings),
    needsPerson(findings),
  ]);
}
