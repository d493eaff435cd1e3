import { describe, expect, it } from 'vitest';
import { formKinds } from '../../../bench/letter-kinds/form-kinds.ts';
import { judgeForm } from '../../../bench/letter-kinds/judge-form.ts';
import { sampleTrustRootPem } from '../../../samples/letters/sample-letters.ts';
import type { LetterReadingOutcome } from '../../../pipelines/branding/letter-reading.ts';
import type { RevocationData } from '../../../pipelines/branding/letter-trust.ts';
import { letterLimits } from '../../../pipelines/branding/reading/gate/letter-limits.ts';
import { readLetterFile } from '../../../pipelines/branding/reading/letter-reader.ts';
import { readPdfFacts } from '../../../pipelines/branding/reading/structure-task.ts';

const trustRootsPem = sampleTrustRootPem();

/** Without the drawn pages, by which no form is approved. */
async function readFacts(bytes: Uint8Array, revocationData?: RevocationData): Promise<LetterReadingOutcome> {
  const facts = await readPdfFacts({ bytes, limits: letterLimits, trustRootsPem, revocationData });
  return { kind: 'read', reading: { format: 'pdf', pages: [], ...facts } };
}

/** A form that is not the issued file is known by the code on its page. */
const isKnownByCode = (name: string) => /printed|saved again/.test(name);

describe('an issued form', () => {
  const kinds = formKinds.map((kind) => [kind.name, kind] as const);

  it.each(kinds.filter(([, { careful }]) => careful === 'approve'))('%s: is approved', async (_name, kind) => {
    const { findings, outcome } = await judgeForm(kind, readFacts);
    expect(findings.filter(({ severity }) => severity !== 'pass')).toEqual([]);
    expect(outcome).toBe('approved');
  });

  it.each(kinds.filter(([, { careful }]) => careful !== 'approve'))(
    '%s: is not approved, and the rule that it breaks says so',
    async (name, kind) => {
      const read = isKnownByCode(name) ? (bytes: Uint8Array) => readLetterFile({ bytes, trustRootsPem }) : readFacts;
      const { outcome, isPointedAt } = await judgeForm(kind, read);
      expect([outcome, isPointedAt]).toEqual([kind.careful === 'reject' ? 'rejected' : 'in_review', true]);
    },
  );
});
