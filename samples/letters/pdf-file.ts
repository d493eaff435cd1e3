import { deflateSync } from 'node:zlib';
import { signDetachedCms, type OwnCertificate } from './sample-signatures.ts';
import type { GrayImage } from '../../pipelines/branding/reading/ocr/picture.ts';
import { fonts, textWidth } from './font-metrics.ts';
import { literal, number, type PageBox, type PdfPage } from './pdf-page.ts';
import { sha256Of } from '../../runtime/digest.ts';

/** A filled signature field. */
interface PdfSigning {
  readonly certificate: OwnCertificate;
  readonly signedAt: Date;
  /** From 1. */
  readonly page: number;
  readonly box: PageBox;
  /** The text of the field. */
  readonly lines: readonly string[];
}

/** The content of a PDF. */
export interface PdfContent {
  readonly pages: readonly PdfPage[];
  readonly title: string;
  readonly created: Date;
  /** Deflates the content streams; the default. */
  readonly compress?: boolean;
  readonly csv?: { readonly name: string; readonly text: string };
  readonly signing?: PdfSigning;
}

/** Room for the signature in bytes; as hexadecimal digits it takes twice as much. */
const signatureBytesMax = 8192;
/** A placeholder for the offsets of a file up to 10 GB; the real ones are filled in at the end. */
const byteRangeRoom = '[0 0000000000 0000000000 0000000000]';

/** Writes a PDF 1.7 (ISO 32000-1) with a cross-reference table. The same content gives the same bytes. */
export function writePdf(content: PdfContent): Uint8Array {
  const file = new PdfObjects();
  const catalog = file.reserve();
  const tree = file.reserve();
  const fontIds = Object.entries(fonts).map(
    ([name, font]) =>
      `/${name} ${file.add(`<< /Type /Font /Subtype /Type1 /BaseFont /${font} /Encoding /WinAnsiEncoding >>`)} 0 R`,
  );
  const pageIds = content.pages.map(() => file.reserve());
  const { signing } = content;
  const signedPage = (signing?.page ?? 1) - 1;
  const field =
    signing === undefined
      ? null
      : addSignature(file, {
          signing,
          page: { id: pageIds[signedPage]!, height: content.pages[signedPage]!.height },
          fontIds,
        });
  const formFields = field === null ? [] : [field];
  for (const [index, page] of content.pages.entries()) {
    const laidOver = page.annotations.map((entries) => file.add(`<< /Type /Annot ${entries} >>`));
    const fields = page.fields.map(({ name, value, box }) =>
      file.add(
        `<< /Type /Annot /Subtype /Widget /FT /Tx /T (${literal(name)}) /V (${literal(value)}) /DA (/sans 10 Tf 0 g) /F 4 /Rect [${page.rect(box)}] >>`,
      ),
    );
    formFields.push(...fields);
    const own = [...(field !== null && signedPage === index ? [field] : []), ...laidOver, ...fields];
    const annotations = own.length === 0 ? '' : ` /Annots [${own.map((id) => `${id} 0 R`).join(' ')}]`;
    const pictures = page.images.map((image, place) => `/Im${place + 1} ${addImage(file, image)} 0 R`).join(' ');
    const stream = file.addStream('', Buffer.from(page.content, 'latin1'), content.compress ?? true);
    const resources = `<< /Font << ${fontIds.join(' ')} >> /XObject << ${pictures} >> /ExtGState << /pale << /ca 0.3 /CA 0.3 >> >> >>`;
    const paper = `[0 0 ${number(page.width)} ${number(page.height)}]`;
    file.set(
      pageIds[index]!,
      `<< /Type /Page /Parent ${tree} 0 R /MediaBox ${paper} /Resources ${resources} /Contents ${stream} 0 R${annotations} >>`,
    );
  }
  const names =
    content.csv === undefined
      ? ''
      : ` /Names << /EmbeddedFiles << /Names [(${literal(content.csv.name)}) ${addCsv(file, content.csv)} 0 R] >> >>`;
  const form =
    formFields.length === 0
      ? ''
      : ` /AcroForm << /Fields [${formFields.map((id) => `${id} 0 R`).join(' ')}]${field === null ? '' : ' /SigFlags 3'} >>`;
  file.set(tree, `<< /Type /Pages /Kids [${pageIds.map((id) => `${id} 0 R`).join(' ')}] /Count ${pageIds.length} >>`);
  file.set(catalog, `<< /Type /Catalog /Pages ${tree} 0 R${names}${form} >>`);
  const info = file.add(
    `<< /Title (${literal(content.title)}) /Producer (Caller Trust sample letters) /CreationDate (${pdfDate(content.created)}) >>`,
  );
  const bytes = file.build({ catalog, info });
  return signing === undefined ? bytes : fillSignature(bytes, signing);
}

/**
 * Appends a change to a PDF as an incremental update (ISO 32000-1, section 7.5.6): new versions of objects, a table of
 * them and a trailer that points back. The earlier bytes are not changed.
 */
export function appendToPdf(bytes: Uint8Array, objects: ReadonlyMap<number, string>): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1');
  const previous = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(text)?.[1];
  const trailer = /trailer\s*<<(.*)>>\s*startxref/s.exec(text.slice(text.lastIndexOf('trailer')))?.[1];
  if (previous === undefined || trailer === undefined) throw new Error('The file does not end with a trailer.');
  const size = Math.max(Number(/\/Size (\d+)/.exec(trailer)?.[1] ?? 0), ...[...objects.keys()].map((id) => id + 1));
  let update = '';
  const rows = [...objects].map(([id, body]) => {
    const row = `${id} 1\n${String(text.length + update.length).padStart(10, '0')} 00000 n \n`;
    update += `${id} 0 obj\n${body}\nendobj\n`;
    return row;
  });
  const start = text.length + update.length;
  update += `xref\n${rows.join('')}trailer\n<<${trailer.replace(/\/Size \d+/, `/Size ${size}`).replace(/\/Prev \d+/, '')} /Prev ${previous} >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.concat([bytes, Buffer.from(update, 'latin1')]);
}

/** A PDF date (ISO 32000-1, section 7.9.4), in UTC. */
function pdfDate(at: Date): string {
  return `D:${at.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
}

/** The objects of a file, numbered from 1. */
class PdfObjects {
  private readonly bodies: (Buffer | null)[] = [];

  reserve(): number {
    return this.bodies.push(null);
  }

  set(id: number, body: string): void {
    this.bodies[id - 1] = Buffer.from(body, 'latin1');
  }

  add(body: string): number {
    return this.bodies.push(Buffer.from(body, 'latin1'));
  }

  addStream(entries: string, data: Uint8Array, compress: boolean): number {
    const bytes = compress ? deflateSync(data) : data;
    const head = `<< /Length ${bytes.length}${compress ? ' /Filter /FlateDecode' : ''}${entries} >>\nstream\n`;
    return this.bodies.push(Buffer.concat([Buffer.from(head, 'latin1'), bytes, Buffer.from('\nendstream', 'latin1')]));
  }

  build({ catalog, info }: { catalog: number; info: number }): Uint8Array {
    const parts: Buffer[] = [Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')];
    let length = parts[0]!.length;
    const offsets = this.bodies.map((body, index) => {
      const offset = length;
      const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), body!, Buffer.from('\nendobj\n')]);
      parts.push(part);
      length += part.length;
      return offset;
    });
    const id = sha256Of(Buffer.concat(parts)).slice(0, 32);
    const table = [
      `xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n`,
      ...offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`),
    ].join('');
    const trailer = `trailer\n<< /Size ${offsets.length + 1} /Root ${catalog} 0 R /Info ${info} 0 R /ID [<${id}> <${id}>] >>\nstartxref\n${length}\n%%EOF\n`;
    return Buffer.concat([...parts, Buffer.from(table + trailer, 'latin1')]);
  }
}

/** An image of 8-bit grey, with the differences of rows that a PNG has too: the filter Up. */
function addImage(file: PdfObjects, { width, height, gray }: GrayImage): number {
  const rows = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; row++) {
    rows[row * (width + 1)] = 2;
    for (let x = 0; x < width; x++)
      rows[row * (width + 1) + 1 + x] = gray[row * width + x]! - (row === 0 ? 0 : gray[(row - 1) * width + x]!);
  }
  const differences = `/DecodeParms << /Predictor 12 /Colors 1 /BitsPerComponent 8 /Columns ${width} >>`;
  const entries = ` /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8 ${differences}`;
  return file.addStream(entries, rows, true);
}

function addCsv(file: PdfObjects, { name, text }: { name: string; text: string }): number {
  const bytes = Buffer.from(text, 'utf8');
  const embedded = file.addStream(
    ` /Type /EmbeddedFile /Subtype /text#2Fcsv /Params << /Size ${bytes.length} >>`,
    bytes,
    true,
  );
  return file.add(
    `<< /Type /Filespec /F (${literal(name)}) /UF (${literal(name)}) /EF << /F ${embedded} 0 R >> /AFRelationship /Data >>`,
  );
}

interface SignatureRoom {
  readonly signing: PdfSigning;
  readonly page: { readonly id: number; readonly height: number };
  readonly fontIds: readonly string[];
}

/** A signature field with its widget. */
function addSignature(file: PdfObjects, { signing, page, fontIds }: SignatureRoom): number {
  const { signedAt, box } = signing;
  const entries = ` /Type /XObject /Subtype /Form /BBox [0 0 ${number(box.width)} ${number(box.height)}] /Resources << /Font << ${fontIds.join(' ')} >> >>`;
  const appearance = file.addStream(entries, Buffer.from(drawAppearance(signing), 'latin1'), false);
  const value = file.add(signatureRoom(signedAt));
  const corners = [box.x, page.height - box.y - box.height, box.x + box.width, page.height - box.y]
    .map(number)
    .join(' ');
  return file.add(
    `<< /Type /Annot /Subtype /Widget /FT /Sig /T (Signature1) /F 132 /Rect [${corners}] /P ${page.id} 0 R /V ${value} 0 R /AP << /N ${appearance} 0 R >> >>`,
  );
}

/** The value of a signature with placeholders that are filled in at the end. */
export function signatureRoom(signedAt: Date): string {
  const kind = '/Type /Sig /Filter /Adobe.PPKLite /SubFilter /adbe.pkcs7.detached';
  return `<< ${kind} /ByteRange ${byteRangeRoom} /Contents <${'0'.repeat(signatureBytesMax * 2)}> /M (${pdfDate(signedAt)}) /Reason (Letter of authorization) >>`;
}

function drawAppearance({ box, lines }: PdfSigning): string {
  const frame = `0.7 G 0.5 w 0.5 0.5 ${number(box.width - 1)} ${number(box.height - 1)} re S 0 g`;
  return `${frame}\n${drawSignatureLines(lines, box)}`;
}

/** The text of a signature field, in the largest size up to 9 points in which its longest line fits. */
export function drawSignatureLines(
  lines: readonly string[],
  { width, height }: Pick<PageBox, 'width' | 'height'>,
): string {
  const longest = Math.max(...lines.map((line) => textWidth(line, 'sans', 1)));
  const size = Math.min(9, (width - 8) / longest);
  return lines
    .map((line, at) => {
      const y = number(height - (at + 1) * (size + 3));
      return `BT /sans ${number(size)} Tf 1 0 0 1 4 ${y} Tm (${literal(line)}) Tj ET`;
    })
    .join('\n');
}

/** Signs the file without the place of the signature, and writes the signature there (ISO 32000-1, section 12.8.1). */
export function fillSignature(
  bytes: Uint8Array,
  { certificate, signedAt }: Pick<PdfSigning, 'certificate' | 'signedAt'>,
): Uint8Array {
  const filled = Buffer.from(bytes);
  const start = filled.lastIndexOf('/Contents <0000', undefined, 'latin1') + '/Contents '.length;
  const end = filled.indexOf('>', start, 'latin1') + 1;
  const range = [start, end, filled.length - end].map((offset) => String(offset).padStart(10, '0'));
  filled.write(`[0 ${range.join(' ')}]`, filled.lastIndexOf(byteRangeRoom, undefined, 'latin1'), 'latin1');
  const signature = signDetachedCms({
    content: Buffer.concat([filled.subarray(0, start), filled.subarray(end)]),
    certificate,
    signedAt,
  });
  if (signature.length > signatureBytesMax)
    throw new RangeError(`The signature has ${signature.length} bytes, more than its room of ${signatureBytesMax}.`);
  filled.write(Buffer.from(signature).toString('hex'), start + 1, 'latin1');
  return filled;
}
