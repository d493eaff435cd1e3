import type { Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { checkBrand, needsPerson } from './brand-check.ts';
import type { BrandProfile } from './brand-profile.ts';
import { readProtectedNames } from './names/protected-name-record.ts';

/** A letter that the rules approve has the names of its revision: a person is needed only for what was found about the names themselves. */
export async function judgeNames(client: Queryable, brandId: number, { revision, profile }: { revision: number; profile: BrandProfile }): Promise<void> {
  const findings = checkBrand(profile, await readProtectedNames(client));
  await client.query(sql('branding/judge_revision'), [brandId, revision, JSON.stringify(findings), needsPerson(findings)]);
}
