import { describe, expect, it } from 'vitest';
import {
  certifySigner,
  certifyStranger,
  revokeSigners,
  sampleTrustRootPem,
} from '../../../samples/letters/sample-keys.ts';
import { signForm } from '../../../samples/letters/sign-form.ts';
import { issueLetterForm } from '../../../pipelines/branding/requests/letter-form.ts';
import { APPROVAL_POLICIES, type ApprovalPolicy } from '../../../pipelines/branding/decision/letter-form-rules.ts';
import type { RevocationData } from '../../../pipelines/branding/letter-trust.ts';
import { submitOperation } from '../../../pipelines/branding/operation.ts';
import { readLetterFile } from '../../../pipelines/branding/reading/letter-reader.ts';
import { runOperation } from '../../../pipelines/branding/requests/run-operation.ts';
import { fresh, operationSettings, owner, profile, signer, testVault } from '../../support/branding.ts';
import { useTestDatabase } from '../../support/database.ts';
import { letterFile } from '../../support/letter-file.ts';

const { db } = await useTestDatabase();
const policies = Object.keys(APPROVAL_POLICIES) as ApprovalPolicy[];

/** Hands a brand in with a file as its letter, read as a worker reads it. */
async function handIn(
  policy: ApprovalPolicy,
  makeFile: (handle: string, phones: readonly string[]) => Promise<Uint8Array>,
  revocationData?: RevocationData,
): Promise<string> {
  const { handle, phones } = fresh(2);
  const letter = await makeFile(handle, phones);
  const { operationId } = await submitOperation(
    { db, vault: testVault },
    {
      kind: 'add_managed_brand',
      request: { handle, brand: profile, numbers: phones },
      owner,
      key: handle,
      requestedBy: 'test',
      letter,
    },
  );
  const result = await runOperation({
    db,
    operationId,
    ...operationSettings,
    policy,
    readLetter: (bytes) => readLetterFile({ bytes, trustRootsPem: sampleTrustRootPem(), revocationData }),
  });
  return result.outcome;
}

async function issue(handle: string, phones: readonly string[]): Promise<Uint8Array> {
  const order = {
    request: { handle, brand: profile, numbers: [...phones], signer },
    owner,
    language: 'en' as const,
    issuedBy: 'test',
  };
  return (await issueLetterForm({ db, now: new Date(Date.now() - 60_000) }, order)).file;
}

const inTheName = { name: signer.name, organization: profile.legalName };
const typed = async (_handle: string, phones: readonly string[]) =>
  letterFile(phones, { date: new Date().toISOString().slice(0, 10) });
const selfMade = async (handle: string, phones: readonly string[]) =>
  signForm(await issue(handle, phones), { certificate: certifyStranger(inTheName), signedAt: new Date() });
const trusted = async (handle: string, phones: readonly string[]) =>
  signForm(await issue(handle, phones), { certificate: certifySigner(inTheName), signedAt: new Date() });

describe('files of strangers, read as a worker reads them', () => {
  it.each(policies)(
    'with a typed signature, an unsigned form or a self-made certificate are approved by no rule under %s',
    async (policy) => {
      const outcomes = [];
      for (const file of [typed, issue, selfMade]) outcomes.push(await handIn(policy, file));
      expect(outcomes).toEqual(['in_review', 'rejected', 'in_review']);
    },
  );

  it('differ from that of an honest business, whose trusted signature on the issued form needs no person', async () => {
    expect(await handIn('signature', trusted)).toBe('approved');
    expect(await handIn('signature+numbers', trusted)).toBe('in_review');
    const list = Buffer.from(revokeSigners([certifySigner(inTheName)], new Date())).toString('base64');
    expect(await handIn('signature', trusted, { crls: [list], ocsps: [] })).toBe('rejected');
  });
});
