import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { writePdf } from '../../../../../samples/letters/pdf-file.ts';
import { PdfPage } from '../../../../../samples/letters/pdf-page.ts';
import { certifySigner } from '../../../../../samples/letters/sample-keys.ts';
import { renderPage, renderPixelsMax } from '../../../../../pipelines/branding/reading/ocr/page-image.ts';
import type { GrayImage } from '../../../../../pipelines/branding/reading/ocr/picture.ts';
import { openCheckedPdf } from '../../../../../pipelines/branding/reading/pdf/checked-pdf.ts';
import { openPdfium } from '../../../../../pipelines/branding/reading/pdf/pdfium.ts';
import { letterLimits } from '../letter-limits.ts';

const created = new Date('2026-05-01T10:00:00Z');

function pdfOf(...pages: PdfPage[]): Uint8Array {
  return writePdf({ pages, title: 'Test', created });
}

function pageWithBox(): PdfPage {
  const page = new PdfPage({ width: 200, height: 100 });
  page.box({ x: 50, y: 10, width: 100, height: 20 }, { fill: 0 });
  return page;
}

/** Pixel at a part of the width and height. */
function pixelAt({ width, height, gray }: GrayImage, x: number, y: number): number {
  return gray[Math.floor(y * height) * width + Math.floor(x * width)]!;
}

describe('a page as a picture', () => {
  it('has the size of the page at the resolution, on white', async () => {
    const { pages, document } = await openCheckedPdf(
      pdfOf(pageWithBox(), new PdfPage({ width: 72, height: 144 })),
      letterLimits,
    );
    expect(document.pageCount).toBe(2);
    expect(pages[0]).toMatchObject({ width: 200, height: 100 });
    const picture = renderPage(document, { page: 1, ...pages[0]! }, 144);
    expect([picture.width, picture.height, picture.gray.length]).toEqual([400, 200, 80_000]);
    expect(pixelAt(picture, 0.5, 0.2)).toBe(0);
    expect(pixelAt(picture, 0.5, 0.8)).toBe(255);
    expect(renderPage(document, { page: 2, ...pages[1]! }, 36)).toMatchObject({ width: 36, height: 72 });
    document.close();
  });

  it('is the same each time it is drawn', async () => {
    const document = await openPdfium(pdfOf(pageWithBox()));
    const page = { page: 1, width: 200, height: 100 };
    expect(renderPage(document, page, 100)).toEqual(renderPage(document, page, 100));
    document.close();
  });

  it('shows the text in a signature field', async () => {
    const page = new PdfPage({ width: 300, height: 200 });
    const certificate = certifySigner({ name: 'Leona Thornquill', organization: 'Brindlewick Freight LLC' });
    const signing = {
      certificate,
      signedAt: created,
      page: 1,
      box: { x: 20, y: 20, width: 200, height: 50 },
      lines: ['Digitally signed by Leona Thornquill'],
    };
    const document = await openPdfium(writePdf({ pages: [page], title: 'Test', created, signing }));
    const { gray } = renderPage(document, { page: 1, width: 300, height: 200 }, 144);
    expect(gray.filter((value) => value < 100).length).toBeGreaterThan(200);
    document.close();
  });

  it('may have as many pixels as the limit and no more', async () => {
    const size = { width: 8000, height: renderPixelsMax / 8000 };
    const document = await openPdfium(pdfOf(new PdfPage(size)));
    expect(renderPage(document, { page: 1, ...size }, 72)).toMatchObject(size);
    expect(() => renderPage(document, { page: 1, ...size }, 72.01)).toThrow(/larger than 40000000 pixels/);
    document.close();
  });

  it.each([0, 3, 1.5, Number.NaN])('is refused for page %d of a document of two', async (page) => {
    const document = await openPdfium(pdfOf(pageWithBox(), pageWithBox()));
    expect(() => renderPage(document, { page, width: 200, height: 100 }, 72)).toThrow('PDFium cannot read page');
    document.close();
  });

  it.each<[string, Uint8Array]>([
    ['no bytes', new Uint8Array()],
    ['text', Buffer.from('Dear Sir or Madam')],
    ['the head alone', Buffer.from('%PDF-1.7\n')],
    ['a cut-off start', pdfOf(pageWithBox()).subarray(0, 100)],
  ])('ends in an ordinary error for %s', async (_, bytes) => {
    await expect(openPdfium(bytes)).rejects.toThrow('PDFium cannot read the document.');
  });

  it('is drawn in a process that may read the packages and nothing else', async () => {
    const root = fileURLToPath(new URL('../../../../../', import.meta.url));
    const directory = await mkdtemp(join(tmpdir(), 'caller-trust-page-image-'));
    try {
      await writeFile(join(directory, 'page.pdf'), pdfOf(pageWithBox()));
      const script = `
        import { readFileSync } from 'node:fs';
        import { openPdfium, renderPage } from ${JSON.stringify(`${root}dist/test/pipelines/branding/reading/ocr/page-image-program.js`)};
        const document = await openPdfium(readFileSync(${JSON.stringify(join(directory, 'page.pdf'))}));
        const { width, height } = renderPage(document, { page: 1, width: 200, height: 100 }, 72);
        console.log(width, height);`;
      const permission = process.allowedNodeEnvironmentFlags.has('--permission')
        ? '--permission'
        : '--experimental-permission';
      const reads = [`${root}*`, `${directory}/*`].map((path) => `--allow-fs-read=${path}`);
      const { stdout } = await promisify(execFile)(process.execPath, [
        permission,
        '--no-warnings',
        ...reads,
        '--max-old-space-size=96',
        '--input-type=module',
        '--eval',
        script,
      ]);
      expect(stdout).toBe('200 100\n');
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
