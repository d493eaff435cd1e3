import { deflateSync } from 'node:zlib';

/** The text or the bytes of one object, without its number. */
export type ObjectBody = string | Buffer;

interface PdfParts {
  /** More entries of the trailer. */
  readonly trailer?: string;
  readonly header?: string;
  /** Put behind the end mark. */
  readonly tail?: string;
}

/** A PDF of objects 1 to n with a cross-reference table; the first one is its catalogue. */
export function pdf(
  objects: readonly ObjectBody[],
  { trailer = '', header = '%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', tail = '' }: PdfParts = {},
): Buffer {
  const parts = [Buffer.from(header, 'latin1')];
  const offsets: number[] = [];
  let length = parts[0]!.length;
  for (const [at, body] of objects.entries()) {
    offsets.push(length);
    const object = Buffer.concat([
      Buffer.from(`${at + 1} 0 obj\n`),
      Buffer.from(body as string, 'latin1'),
      Buffer.from('\nendobj\n'),
    ]);
    parts.push(object);
    length += object.length;
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  parts.push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${length}\n%%EOF\n${tail}`,
      'latin1',
    ),
  );
  return Buffer.concat(parts);
}

/** A stream object; its length is added. */
export function stream(dict: string, data: ObjectBody, length: number | string = data.length): Buffer {
  return Buffer.concat([
    Buffer.from(`<< ${dict} /Length ${length} >>\nstream\n`, 'latin1'),
    Buffer.from(data as string, 'latin1'),
    Buffer.from('\nendstream'),
  ]);
}

/** A stream object compressed with Flate. */
export function flate(dict: string, data: ObjectBody): Buffer {
  return stream(`${dict} /Filter /FlateDecode`, deflateSync(Buffer.from(data as string, 'latin1')));
}

export interface LetterParts extends PdfParts {
  /** Operators of the page. */
  readonly content?: ObjectBody;
  /** The whole object of the page's content. */
  readonly contentObject?: ObjectBody;
  /** More entries of the catalogue, of the page, and of its resources. */
  readonly catalog?: string;
  readonly page?: string;
  readonly resources?: string;
  readonly mediaBox?: string;
  /** Objects from number 6 on. */
  readonly more?: readonly ObjectBody[];
}

/** Numbers of the objects of {@link letterPdf}. */
export const at = { catalog: 1, pages: 2, page: 3, font: 4, content: 5, more: 6 } as const;

/** A plain sentence in Helvetica, for letters where only the structure matters. */
export const plainText =
  'BT /F1 11 Tf 72 700 Td (Letter of authorization of Example Harbor Bank LLC for its own numbers, in plain words.) Tj ET';

/** A letter of one page. */
export function letterPdf({
  content = plainText,
  contentObject,
  catalog = '',
  page = '',
  resources = '',
  mediaBox = '[0 0 612 792]',
  more = [],
  ...parts
}: LetterParts = {}): Buffer {
  return pdf(
    [
      `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
      '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
      `<< /Type /Page /Parent 2 0 R /MediaBox ${mediaBox} /Resources << /Font << /F1 4 0 R >> ${resources} >> /Contents 5 0 R ${page} >>`,
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
      contentObject ?? stream('', content),
      ...more,
    ],
    parts,
  );
}

/** A letter of several pages, each with operators of its own. */
export function pagesPdf(contents: readonly string[]): Buffer {
  const kids = contents.map((_content, index) => `${4 + 2 * index} 0 R`).join(' ');
  const pages = contents.flatMap((content, index) => [
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * index} 0 R >>`,
    stream('', content),
  ]);
  return pdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${contents.length} /Kids [${kids}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    ...pages,
  ]);
}

/** Text at a place, in points from the lower left corner. */
export function textAt(x: number, y: number, text: string, size = 10): string {
  return `BT /F1 ${size} Tf ${x} ${y} Td (${text.replace(/[\\()]/g, '\\$&')}) Tj ET\n`;
}

/** A PDF whose only table of objects is a stream, with the objects in an object stream; numbers start at 1. */
export function packedPdf(
  objects: readonly string[],
  {
    index,
    trailer = '',
    objectStream = (body: string) => flate(`/Type /ObjStm /N ${objects.length} /First ${firstOf(objects)}`, body),
  }: { index?: string; trailer?: string; objectStream?: (body: string) => Buffer } = {},
): Buffer {
  const count = objects.length;
  const header = Buffer.from('%PDF-1.7\n', 'latin1');
  const container = Buffer.concat([
    Buffer.from(`${count + 1} 0 obj\n`),
    objectStream(headOf(objects) + objects.join(' ')),
    Buffer.from('\nendobj\n'),
  ]);
  const start = header.length + container.length;
  const rows = Buffer.alloc((count + 3) * 6);
  const put = (number: number, values: readonly [number, number, number]) => {
    rows[number * 6] = values[0];
    rows.writeUInt32BE(values[1], number * 6 + 1);
    rows[number * 6 + 5] = values[2];
  };
  for (let each = 0; each < count; each++) put(each + 1, [2, count + 1, each]);
  put(count + 1, [1, header.length, 0]);
  put(count + 2, [1, start, 0]);
  const table = stream(`/Type /XRef /Size ${count + 3} /W [1 4 1] ${index ?? ''} /Root 1 0 R ${trailer}`, rows);
  return Buffer.concat([
    header,
    container,
    Buffer.from(`${count + 2} 0 obj\n`),
    table,
    Buffer.from(`\nendobj\nstartxref\n${start}\n%%EOF\n`),
  ]);
}

/**
 * A letter of one page as a word processor writes a hybrid file (ISO 32000-1 section 7.5.8.4): its table has the font as free, which is
 * in a stream of objects, and a second trailer, which lists nothing, names the stream of the table that shows it.
 */
export function hybridPdf(): Buffer {
  const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>';
  const head = '7 0 ';
  const table = pdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 7 0 R >> >> /Contents 4 0 R >>',
    stream('', plainText),
    stream(`/Type /ObjStm /N 1 /First ${head.length}`, head + font),
    stream('/Type /XRef /Size 8 /W [1 1 1] /Index [7 1] /Root 1 0 R', Buffer.of(2, 5, 0)),
  ]);
  const text = table.toString('latin1').replace('xref\n0 7\n', 'xref\n0 8\n').replace('/Size 7', '/Size 8');
  const file = Buffer.from(text.replace('trailer', '0000000000 65535 f \ntrailer'), 'latin1');
  return appendHybridEnd(file, file.indexOf('6 0 obj'));
}

/** The file with a second trailer that lists nothing and names a stream of the table. */
export function appendHybridEnd(file: Buffer, streamAt: number): Buffer {
  const previous = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(file.toString('latin1'))![1];
  const trailer = `<< /Size 100 /Root 1 0 R /Prev ${previous} /XRefStm ${streamAt} >>`;
  const end = `xref\n0 0\ntrailer\n${trailer}\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.concat([file, Buffer.from(end)]);
}

function headOf(objects: readonly string[]): string {
  let offset = 0;
  const pairs = objects.map((object, index) => {
    const pair = `${index + 1} ${offset}`;
    offset += object.length + 1;
    return pair;
  });
  return `${pairs.join(' ')} `;
}

function firstOf(objects: readonly string[]): number {
  return headOf(objects).length;
}
