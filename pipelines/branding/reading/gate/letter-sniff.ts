import type { LetterRefusalCode } from '../../letter-reading.ts';

/** The format of a letter by its bytes, or why it is refused. */
type SniffedLetter =
  { readonly format: 'pdf' | 'png' } | { readonly refusal: LetterRefusalCode; readonly problem: string };

const pdfHead = '%PDF-';
const pngHead = '\x89PNG\r\n\x1a\n';

/** Programs detect a format in the first bytes; browsers sniff 1445 at most, PDF readers 1024. */
const headBytes = 2048;

/** A ZIP ends with a record of 22 bytes and a comment of up to 65,535. */
const zipEndBytes = 22 + 65_535;

/** RAR programs search the first mebibyte for a self-extracting archive. */
const archiveHeadBytes = 1024 * 1024;

/**
 * Detects the type of a letter by its bytes, without parsing them. The header of a PDF must be at the first byte:
 * bytes before it could be a second format. Pure; searches at most about one mebibyte.
 */
export function sniffLetter(bytes: Uint8Array): SniffedLetter {
  if (bytes.length === 0) return { refusal: 'letter_empty', problem: 'The file has no bytes.' };
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const head = buffer.toString('latin1', 0, headBytes);
  const format = head.startsWith(pdfHead) ? 'pdf' : head.startsWith(pngHead) ? 'png' : undefined;
  if (format === undefined) return refuseType(head);
  const other = findSecondFormat(buffer, head);
  return other === undefined ? { format } : { refusal: 'letter_polyglot', problem: `The file is also ${other}.` };
}

function refuseType(head: string): SniffedLetter {
  const found = otherTypes.find(({ pattern }) => pattern.test(head))?.what;
  if (head.includes(pdfHead))
    return {
      refusal: 'letter_polyglot',
      problem: `Other bytes precede the PDF header${found === undefined ? '' : `: the file is also ${found}`}.`,
    };
  return {
    refusal: 'letter_type_refused',
    problem: found === undefined ? 'The file is neither a PDF nor a PNG.' : `The file is ${found}.`,
  };
}

const otherTypes = [
  { pattern: /^PK[\x03\x05\x07]/, what: 'a ZIP archive or an office document' },
  { pattern: /^\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1/, what: 'an office document' },
  { pattern: /^\xff\xd8\xff/, what: 'a JPEG' },
  { pattern: /^(?:II\*\0|MM\0\*|II\+\0|MM\0\+)/, what: 'a TIFF' },
  { pattern: /^GIF8[79]a/, what: 'a GIF' },
  { pattern: /^MZ/, what: 'a Windows program' },
  { pattern: /^\x7fELF/, what: 'a Linux program' },
  { pattern: /^\{\\rtf/, what: 'an RTF document' },
  { pattern: /^RIFF....WEBP/s, what: 'a WebP' },
  { pattern: /^\s*(?:\xef\xbb\xbf\s*)?<(?:!doctype|html|\?xml|svg|script)/i, what: 'an HTML or XML page' },
  { pattern: /^%!PS/, what: 'a PostScript program' },
] as const;

function findSecondFormat(buffer: Buffer, head: string): string | undefined {
  if (buffer.indexOf('PK\x05\x06', Math.max(0, buffer.length - zipEndBytes), 'latin1') >= 0) return 'a ZIP archive';
  if (/<(?:!doctype\s+html|html[\s>]|script[\s>]|body[\s>]|iframe[\s>])/i.test(head)) return 'an HTML page';
  if (head.startsWith('ustar', 257)) return 'a TAR archive';
  const archive = buffer.subarray(0, archiveHeadBytes);
  if (archive.includes('Rar!\x1a\x07', 0, 'latin1')) return 'a RAR archive';
  if (archive.includes('7z\xbc\xaf\x27\x1c', 0, 'latin1')) return 'a 7-Zip archive';
  if (buffer.subarray(0x8001, 0x8006).equals(Buffer.from('CD001'))) return 'an ISO image';
  return undefined;
}
