// Reads letters one after another in one process: 4 bytes of length and the letter on standard input, a line with what it
// ended in on standard output. For the long run of test/faults/hostile-letters-mutated.test.ts, which starts it as a
// reading child is started.
import { decodePng } from '../../pipelines/branding/reading/ocr/png.ts';
import { renderPage } from '../../pipelines/branding/reading/ocr/page-image.ts';
import { openCheckedPdf } from '../../pipelines/branding/reading/pdf/checked-pdf.ts';
import type { LetterLimits } from '../../pipelines/branding/reading/gate/letter-limits.ts';
import { readPdfFacts } from '../../pipelines/branding/reading/structure-task.ts';

const limits = JSON.parse(process.argv[2]!) as LetterLimits;

async function read(bytes: Buffer): Promise<string> {
  if (bytes[0] === 0x89) decodePng(bytes, { pixelsMax: limits.letterPixelsMax });
  else {
    await readPdfFacts({ bytes, limits, trustRootsPem: undefined });
    const { pages, document } = await openCheckedPdf(bytes, limits);
    for (const [at, { width, height }] of pages.entries()) renderPage(document, { page: at + 1, width, height }, 20);
    document.close();
  }
  return 'read';
}

let held = Buffer.alloc(0);
for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
  held = Buffer.concat([held, chunk]);
  while (held.length >= 4 && held.length >= 4 + held.readUInt32BE(0)) {
    const end = 4 + held.readUInt32BE(0);
    const outcome = await read(held.subarray(4, end)).catch(
      (error: { code?: string }) => error.code ?? 'letter_damaged',
    );
    held = held.subarray(end);
    process.stdout.write(`${outcome}\n`);
  }
}
