import { isDeepStrictEqual } from 'node:util';
import type { Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { checkBrand, needsPerson } from './brand-check.ts';
import type { BrandProfile } from '../brand-profile.ts';
import type { Finding } from '../finding.ts';
import { listOwnProtectedNames, type OwnProtectedName } from '../names/protected-name-record.ts';
import { protectedNameIn, protectedNamesWith } from '../names/protected-names.ts';

/** The findings on the names of a brand, and the names and list that they depend on: if either has changed since, they are outdated. */
export interface NameCheck {
  readonly findings: readonly Finding[];
  readonly profile: BrandProfile;
  readonly protectedNames: readonly OwnProtectedName[];
  /** Call reasons, of the profile or of some numbers, that are near a protected name. */
  readonly protectedReasons: readonly string[];
}

/**
 * Checks the names of a profile. The comparison takes milliseconds, so it is done before the lock of changes is
 * taken where possible.
 */
export async function checkNames(
  db: Queryable,
  profile: BrandProfile,
  callReason: string | null = null,
): Promise<NameCheck> {
  const protectedNames = await listOwnProtectedNames(db);
  const ready = protectedNamesWith(protectedNames);
  const protectedReasons = [...profile.callReasons, callReason].filter(
    (reason) => reason !== null && protectedNameIn(reason, ready) !== null,
  ) as string[];
  return { findings: checkBrand(profile, ready), profile, protectedNames, protectedReasons };
}

/** True if the names of a profile are those that were checked, and the protected names have not changed since. */
export async function isNameCheckCurrent(
  db: Queryable,
  checked: NameCheck,
  { displayName, legalName, dba, callReasons }: BrandProfile,
): Promise<boolean> {
  const { profile, protectedNames } = checked;
  const sameNames =
    profile.displayName === displayName &&
    profile.legalName === legalName &&
    profile.dba === dba &&
    isDeepStrictEqual(profile.callReasons, callReasons);
  return sameNames && isDeepStrictEqual(await listOwnProtectedNames(db), protectedNames);
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
