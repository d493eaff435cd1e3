import type { Pool } from '../../../runtime/postgres.ts';
import { submitOperation } from '../../../pipelines/branding/operation.ts';
import type { OperationResult } from '../../../pipelines/branding/operation-result.ts';
import { readLetterFile } from '../../../pipelines/branding/reading/letter-reader.ts';
import { runOperation } from '../../../pipelines/branding/requests/run-operation.ts';
import { operationSettings, owner, profile, testVault } from '../../support/branding.ts';
import { letterFile } from '../../support/letter-file.ts';

/** The setting with which a console opens what the tests have sealed. */
export const testMasterKey = '07'.repeat(32);

/** Carries an operation out as a worker does. */
export function carryOut(db: Pool, operationId: number): Promise<OperationResult> {
  return runOperation({ db, operationId, ...operationSettings, readLetter: (bytes) => readLetterFile({ bytes }) });
}

/**
 * Submits a brand with a free letter, which waits for a person. Returns the letter's id.
 */
export async function handInLetter(db: Pool, handle: string, phones: readonly string[]): Promise<number> {
  const letter = letterFile(phones, { signature: 'J. Sample' });
  const { operationId } = await submitOperation(
    { db, vault: testVault },
    {
      kind: 'add_managed_brand',
      request: { handle, brand: profile, numbers: [...phones] },
      owner,
      key: handle,
      requestedBy: 'test',
      letter,
    },
  );
  return (await carryOut(db, operationId)).letter!.letterId;
}
