import { describe, expect, it } from 'vitest';
import { readPdfText, type PdfTextReading } from '../../../../../pipelines/branding/reading/text-task.ts';
import { letterLimits } from '../letter-limits.ts';
import { at, flate, letterPdf, plainText, stream, textAt } from '../pdf-builder.ts';

const read = (parts: Parameters<typeof letterPdf>[0]): Promise<PdfTextReading> =>
  readPdfText({ bytes: letterPdf(parts), limits: letterLimits, trustRootsPem: undefined });
const linesOf = async (parts: Parameters<typeof letterPdf>[0]) =>
  (await read(parts)).pages[0]!.lines.map(({ text }) => text);
const marksOf = async (parts: Parameters<typeof letterPdf>[0]) =>
  (await read(parts)).pages[0]!.marks.map(({ kind }) => kind);

const shown = (content: string, y: number) => `BT 0 Tr /F1 10 Tf 72 ${y} Td (${content}) Tj ET\n`;
const hidden = (content: string, y: number) => `BT 3 Tr /F1 10 Tf 72 ${y} Td (${content}) Tj ET\n`;
const form = (content: string, entries = '') =>
  stream(
    `/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F1 4 0 R >> >> ${entries}`,
    content,
  );
const picture = (entries = '') =>
  flate(
    `/Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceGray /BitsPerComponent 8 ${entries}`,
    Buffer.alloc(4),
  );

describe('the text of a page', () => {
  it.each([
    ['in its own dictionary', '/Span << /ActualText (+1 212 555 0199) >>', ''],
    ['in the resources', '/Span /Other', '/Properties << /Other << /ActualText (+1 212 555 0199) >> >>'],
  ])('is what is drawn, whatever its author says that it means %s', async (_name, mark, resources) => {
    const content = `${mark} BDC ${textAt(72, 600, '+1 212 555 0100')} EMC`;
    expect(await linesOf({ content, resources })).toEqual(['+1 212 555 0100']);
  });

  it('is what is drawn in a form as well', async () => {
    const inner = `/Span << /ActualText (other) >> BDC ${textAt(72, 600, 'drawn')} EMC ${hidden('hidden', 500)}`;
    const parts = { content: '/X Do', resources: `/XObject << /X ${at.more} 0 R >>`, more: [form(inner)] };
    expect(await linesOf(parts)).toEqual(['drawn']);
  });

  it('is read where hidden text lies under it or over it', async () => {
    const content = hidden('SAME', 600) + shown('SAME', 600) + shown('SEEN', 560) + hidden('SEEN', 560);
    expect(await linesOf({ content: content + hidden('SECRET', 500) + shown('VISION', 500) })).toEqual([
      'SAME',
      'SEEN',
      'VISION',
    ]);
  });

  it('keeps a hyphen at the end of a line', async () => {
    expect(await linesOf({ content: textAt(72, 700, 'a syn-') + textAt(72, 686, 'thetic line') })).toEqual([
      'a syn-',
      'thetic line',
    ]);
  });

  it('has the words of one operator apart that a gap divides, and not letters that are spaced', async () => {
    const content =
      'BT 3 Tc /F1 12 Tf 72 600 Td (HEADING) Tj ET BT 0 Tc /F1 10 Tf 72 560 Td [(the)-300(next)-4000(far)] TJ ET';
    expect(await linesOf({ content })).toEqual(['HEADING', 'the next', 'far']);
  });

  it('whose letters have no meaning is recognised from its picture', async () => {
    const content = shown('\\001\\002\\003'.repeat(20) + 'ABCDEFGH'.repeat(5), 600);
    expect((await read({ content })).scans).toEqual([1]);
  });

  it('that is white or painted with a shading pattern is recognised from its picture', async () => {
    const shading =
      '<< /PatternType 2 /Shading << /ShadingType 2 /ColorSpace /DeviceRGB /Coords [0 0 600 0] /Function << /FunctionType 2 /Domain [0 1] /C0 [1 0 0] /C1 [0 0 1] /N 1 >> >> >>';
    const content = `${plainText} /Pattern cs /P scn ${textAt(72, 500, 'but never before 2031')}`;
    expect((await read({ content, resources: `/Pattern << /P ${shading} >>` })).scans).toEqual([1]);
    expect((await read({ content: plainText, resources: `/Pattern << /P ${shading} >>` })).scans).toEqual([]);
  });
});

describe('a picture over text', () => {
  const content = `${plainText} /G gs q 400 0 0 300 72 500 cm /X Do Q`;
  const drawn = (opacity: number, more: readonly Buffer[]) => ({
    content,
    resources: `/ExtGState << /G << /ca ${opacity} >> >> /XObject << /X ${at.more} 0 R >>`,
    more,
  });

  it('is distinguished from a transparent one by its opacity', async () => {
    expect(await marksOf(drawn(1, [picture()]))).toEqual(['image']);
    expect(await marksOf(drawn(0.5, [picture()]))).toEqual(['image', 'see_through']);
  });

  it('is seen through where it has a mask', async () => {
    expect(await marksOf(drawn(1, [picture(`/SMask ${at.more + 1} 0 R`), picture()]))).toEqual([
      'image',
      'see_through',
    ]);
  });

  it('is seen through in a group of less opacity', async () => {
    const group = form(`q 1 0 0 1 0 0 cm /X Do Q`, `/Group << /S /Transparency >>`);
    const inner = Buffer.from(
      group.toString('latin1').replace('/Font << /F1 4 0 R >>', `/XObject << /X ${at.more + 1} 0 R >>`),
      'latin1',
    );
    expect(await marksOf(drawn(0.5, [inner, picture()]))).toEqual(['image', 'see_through']);
  });
});
