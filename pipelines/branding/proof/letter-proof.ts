import { queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { BrandProfile } from '../brand-profile.ts';
import { checkNames, recordNameFindings } from '../brand/brand-revision.ts';
import { provenFinding, waitsForProofOnly, type KeptFinding } from '../decision/letter-approval.ts';
import type { ApprovalPolicy } from '../decision/letter-form-rules.ts';
import { moveLetter } from '../brand/letter-record.ts';
import { letterRuleVersion } from '../letter/rules/letter-rules.ts';
import { readProvenPhones } from '../brand/proven-numbers.ts';
import type { Cause } from '../brand/settle.ts';

interface WaitingLetter extends Record<string, unknown> {
  readonly letterId: number;
  readonly revision: number;
  readonly profile: BrandProfile;
  readonly isPending: boolean;
  readonly signedOn: string | null;
  readonly phones: readonly string[];
  readonly findings: readonly KeptFinding[];
}

/**
 * Approves the letters of a brand that waited for nothing but the proof of their numbers, now that all are proven; returns their ids.
 * No letter is read again: its stored findings show what else it would wait for. Under the lock of the brand; the
 * caller settles the brand afterwards.
 */
export async function approveProvenLetters(
  client: Queryable,
  { brandId, policy, at }: { brandId: number; policy: ApprovalPolicy; at: Date },
): Promise<readonly number[]> {
  if (policy === 'signature') return [];
  const approved: number[] = [];
  for (const letter of await queryRows<WaitingLetter>(client, sql('branding/list_letters_to_prove'), [brandId])) {
    const { letterId, phones, findings } = letter;
    if (!waitsForProofOnly(findings, policy) || phones.length === 0) continue;
    const proven = await readProvenPhones(client, brandId, phones);
    if (!phones.every((phone) => proven.has(phone))) continue;
    await client.query(sql('branding/pass_finding'), [letterId, provenFinding.code, provenFinding.message]);
    const cause: Cause = {
      actor: letterRuleVersion,
      reason: 'Every rule passed: the last of its numbers was proven.',
      operationId: null,
    };
    await moveLetter(
      client,
      { letterId, state: 'in_review', signedOn: letter.signedOn },
      { action: 'approve', at, cause },
    );
    if (letter.isPending)
      await recordNameFindings(client, brandId, {
        revision: letter.revision,
        ...(await checkNames(client, letter.profile)),
      });
    approved.push(letterId);
  }
  return approved;
}
