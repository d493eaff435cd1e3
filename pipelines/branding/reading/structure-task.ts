import { sha256Of } from '../../../runtime/digest.ts';
import type { LetterReading } from '../letter-reading.ts';
import type { RevocationData } from '../letter-trust.ts';
import type { LetterLimits } from './gate/letter-limits.ts';
import { checkPdf } from './pdf/checked-pdf.ts';
import { judgeDrawnOver } from './drawn-over.ts';
import { compareRevisions } from './pdf/revisions/pdf-changes.ts';
import { readSignatures } from './signatures/pdf-signatures.ts';

export interface StructureTask {
  readonly bytes: Uint8Array;
  readonly limits: LetterLimits;
  readonly trustRootsPem: string | undefined;
  readonly revocationData?: RevocationData | undefined;
}

/** What the structure of a PDF says, besides what its pages show. */
export type PdfFacts = Pick<LetterReading, 'signatures' | 'revisions' | 'embeddedCsv'>;

/**
 * Checks the structure of a PDF, and reads its revisions, its signatures and its list of numbers.
 * @throws LetterRefused
 */
export async function readPdfFacts({ bytes, limits, trustRootsPem, revocationData }: StructureTask): Promise<PdfFacts> {
  const { file, pages, embeddedCsv } = await checkPdf(bytes, limits);
  const revisions = await judgeDrawnOver({ bytes, pages, revisions: compareRevisions({ file, pages }) });
  const signatures = await readSignatures({ file, pages, revisions, trustRootsPem, revocationData });
  return {
    signatures,
    revisions: revisions.map(({ end, kind, changes }) => ({
      end,
      sha256: sha256Of(bytes.subarray(0, end)),
      kind,
      changes,
    })),
    embeddedCsv,
  };
}
