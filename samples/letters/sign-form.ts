import type { OwnCertificate } from './sample-signatures.ts';
import { appendToPdf, drawSignatureLines, fillSignature, signatureRoom } from './pdf-file.ts';
import { number } from './pdf-page.ts';

/** How an issued form is signed. */
export interface FormSigning {
  readonly certificate: OwnCertificate;
  readonly signedAt: Date;
  /** The text of the field; absent: the signature shows nothing. */
  readonly lines?: readonly string[];
  /** Another rectangle of the field, for a forgery. */
  readonly rect?: readonly [number, number, number, number];
  /** More objects of the same update, for a forgery. */
  readonly more?: ReadonlyMap<number, string>;
}

/**
 * Signs an issued form in its signature field, as signing programs do: an incremental update with the field, the signature's
 * value and its appearance (ISO 32000-1 sections 12.7.4.5 and 12.8.1).
 */
export function signForm(
  form: Uint8Array,
  { certificate, signedAt, lines = [], rect, more = new Map() }: FormSigning,
): Uint8Array {
  const text = Buffer.from(form).toString('latin1');
  const field = /(?:^|\n)(\d+) 0 obj\n<<((?:(?!endobj)[\s\S])*\/FT \/Sig(?:(?!endobj)[\s\S])*)>>\nendobj/.exec(text);
  const size = Number(/\/Size (\d+)(?![\s\S]*\/Size)/.exec(text)?.[1]);
  if (field === null || Number.isNaN(size)) throw new Error('The file has no signature field.');
  const [value, appearance] = [size, size + 1];
  const entries = field[2]!.replace(/\/Rect \[[^\]]*\]/, (own) =>
    rect === undefined ? own : `/Rect [${rect.map(number).join(' ')}]`,
  );
  const [x1, y1, x2, y2] = /\/Rect \[([^\]]*)\]/.exec(entries)![1]!.split(' ').map(Number) as [
    number,
    number,
    number,
    number,
  ];
  const shown = lines.length === 0 ? '' : ` /AP << /N ${appearance} 0 R >>`;
  const objects = new Map([
    [Number(field[1]), `<<${entries}/V ${value} 0 R${shown} >>`],
    [value, signatureRoom(signedAt)],
    ...(lines.length === 0 ? [] : [[appearance, drawField(lines, x2 - x1, y2 - y1)] as const]),
    ...more,
  ]);
  return fillSignature(appendToPdf(form, objects), { certificate, signedAt });
}

function drawField(lines: readonly string[], width: number, height: number): string {
  const shown = drawSignatureLines(lines, { width, height });
  const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>';
  const head = `<< /Type /XObject /Subtype /Form /BBox [0 0 ${number(width)} ${number(height)}] /Resources << /Font << /sans ${font} >> >> /Length ${shown.length} >>`;
  return `${head}\nstream\n${shown}\nendstream`;
}
