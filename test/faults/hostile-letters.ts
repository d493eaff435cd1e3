import { constants, deflateRawSync, deflateSync } from 'node:zlib';
import type { LetterRefusalCode } from '../../pipelines/branding/letter-reading.ts';
import {
  at,
  flate,
  letterPdf,
  packedPdf,
  pagesPdf,
  pdf,
  plainText,
  stream,
  textAt,
} from '../pipelines/branding/reading/pdf-builder.ts';
import { png, pngChunk } from '../pipelines/branding/reading/png-builder.ts';

/** A letter made to do harm, and what reading it must end in. `any`: some outcome, within the limits. */
interface HostileLetter {
  readonly name: string;
  readonly bytes: () => Buffer;
  readonly outcome: LetterRefusalCode | 'read' | 'any';
}

const mebibyte = 1024 * 1024;

const zeroBlock = deflateRawSync(Buffer.alloc(4 * mebibyte), { finishFlush: constants.Z_FULL_FLUSH });

/** Flate data that unpacks to zeros, made of blocks that are packed once: packing them all would take longer than the test. */
function packedZeros(mebibytes: number): Buffer {
  return Buffer.concat([Buffer.from([0x78, 0x9c]), ...Array.from({ length: mebibytes / 4 }, () => zeroBlock)]);
}

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const zeros = (bytes: number) => Buffer.alloc(bytes);
const action = (body: string) => letterPdf({ catalog: `/OpenAction << ${body} >>` });
const annotation = (body: string) => letterPdf({ page: `/Annots [<< /Type /Annot /Rect [10 10 90 30] ${body} >>]` });
const file = (name: string, data: Buffer | string, type = '/Type /EmbeddedFile') =>
  letterPdf({
    catalog: `/Names << /EmbeddedFiles << /Names [(${name}) ${at.more} 0 R] >> >>`,
    more: [`<< /Type /Filespec /F (${name}) /UF (${name}) /EF << /F ${at.more + 1} 0 R >> >>`, stream(type, data)],
  });
const squarePng = (rows: number, more: object = {}) => png({ width: 8, height: 8, rows: zeros(rows), ...more });
const scan = (image: Buffer) =>
  letterPdf({
    content: 'q 612 0 0 792 0 0 cm /Im Do Q',
    resources: `/XObject << /Im ${at.more} 0 R >>`,
    more: [image],
  });
const image = (width: number, height: number) =>
  `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8`;
/** A page whose font, object 4, is given. */
const withFont = (font: string, content: string, more: readonly Buffer[] = []) =>
  pdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>',
    `<< /Type /Font ${font} >>`,
    flate('', content),
    ...more,
  ]);
const mapped = (map: string, content: string) =>
  withFont('/Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R', content, [flate('', map)]);

/** Forms that each draw the next one ten times. */
function formLadder(steps: number): Buffer {
  const form = (step: number) =>
    stream(
      `/Type /XObject /Subtype /Form /BBox [0 0 9 9] ${step < steps ? `/Resources << /XObject << /X ${at.more + step} 0 R >> >>` : ''}`,
      step < steps ? '/X Do '.repeat(10) : '0 0 1 1 re f',
    );
  return letterPdf({
    content: '/X Do',
    resources: `/XObject << /X ${at.more} 0 R >>`,
    more: Array.from({ length: steps }, (_none, index) => form(index + 1)),
  });
}

/** LZW codes for ever longer runs of one byte: 4096 codes make 8 MB. */
function lzwBomb(rounds: number): Buffer {
  const bits: number[] = [];
  const put = (code: number, width: number) => {
    for (let bit = width - 1; bit >= 0; bit--) bits.push((code >> bit) & 1);
  };
  for (let round = 0; round < rounds; round++) {
    put(256, round === 0 ? 9 : 12);
    let [next, width] = [258, 9];
    put(0, width);
    while (next < 4094) {
      put(next, width);
      next++;
      if (next + 1 >= 1 << width && width < 12) width++;
    }
  }
  const bytes = zeros(Math.ceil(bits.length / 8));
  for (const [place, bit] of bits.entries()) bytes[place >> 3]! |= bit << (7 - (place & 7));
  return bytes;
}

const signature = (entries: string) =>
  letterPdf({
    catalog: `/AcroForm << /Fields [${at.more} 0 R] /SigFlags 3 >>`,
    more: [
      `<< /FT /Sig /T (Signature) /V ${at.more + 1} 0 R >>`,
      `<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /adbe.pkcs7.detached ${entries} >>`,
    ],
  });

const packed = (catalog: string, more: readonly string[] = []) =>
  packedPdf([
    `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>',
    ...more,
  ]);

const types: HostileLetter[] = [
  { name: 'no bytes', bytes: () => zeros(0), outcome: 'letter_empty' },
  { name: 'a word processor file', bytes: () => latin1('PK\x03\x04word/document.xml'), outcome: 'letter_type_refused' },
  {
    name: 'an old word processor file',
    bytes: () => latin1('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1aaaa'),
    outcome: 'letter_type_refused',
  },
  { name: 'a JPEG', bytes: () => latin1('\xff\xd8\xff\xe0\0\x10JFIF'), outcome: 'letter_type_refused' },
  { name: 'a TIFF', bytes: () => latin1('II*\0aaaa'), outcome: 'letter_type_refused' },
  {
    name: 'a web page',
    bytes: () => latin1('<!DOCTYPE html><html><script>alert(1)</script>'),
    outcome: 'letter_type_refused',
  },
  { name: 'a program', bytes: () => latin1('\x7fELF\x02\x01\x01'), outcome: 'letter_type_refused' },
  { name: 'the name of a PDF only', bytes: () => latin1('%PDF'), outcome: 'letter_type_refused' },
  {
    name: 'a PDF and a ZIP',
    bytes: () => letterPdf({ tail: 'PK\x05\x06' + '\0'.repeat(18) }),
    outcome: 'letter_polyglot',
  },
  {
    name: 'a PDF whose first comment is a web page',
    bytes: () => letterPdf({ header: '%PDF-1.7\n%<html><script>1</script>\n' }),
    outcome: 'letter_polyglot',
  },
  {
    name: 'a JPEG that is a PDF further on',
    bytes: () => Buffer.concat([latin1('\xff\xd8\xff\xe0\0\x10JFIF\0'), letterPdf()]),
    outcome: 'letter_polyglot',
  },
  {
    name: 'a program with a PDF header behind it',
    bytes: () => Buffer.concat([latin1('MZ\x90\0'), letterPdf()]),
    outcome: 'letter_polyglot',
  },
  {
    name: 'a TAR archive whose first file is named like a PDF',
    bytes: () => letterPdf({ header: `%PDF-1.7\n${'%'.repeat(248)}ustar\n` }),
    outcome: 'letter_polyglot',
  },
  {
    name: 'a PDF with a RAR archive in it',
    bytes: () => letterPdf({ content: `${plainText}\n%Rar!\x1a\x07\x01\n` }),
    outcome: 'letter_polyglot',
  },
  {
    name: 'a PDF with other bytes behind its end',
    bytes: () => letterPdf({ tail: '<script>alert(1)</script>' }),
    outcome: 'letter_polyglot',
  },
  { name: 'a PDF with much behind its end', bytes: () => letterPdf({ tail: 'a'.repeat(3000) }), outcome: 'any' },
  { name: 'a PDF with line ends behind its end', bytes: () => letterPdf({ tail: '\r\n\0\0' }), outcome: 'read' },
  {
    name: 'a byte more than the limit',
    bytes: () => Buffer.concat([letterPdf(), zeros(10 * mebibyte)]).subarray(0, 10 * mebibyte + 1),
    outcome: 'letter_too_large',
  },
];

const structures: HostileLetter[] = [
  { name: 'a header and an end', bytes: () => latin1('%PDF-1.7\n%%EOF\n'), outcome: 'letter_damaged' },
  { name: 'a PDF that is cut off', bytes: () => letterPdf().subarray(0, 500), outcome: 'letter_damaged' },
  { name: 'no catalogue', bytes: () => pdf(['<< /Type /Pages /Count 0 /Kids [] >>']), outcome: 'letter_damaged' },
  { name: 'a catalogue without pages', bytes: () => pdf(['<< /Type /Catalog >>']), outcome: 'letter_damaged' },
  {
    name: 'a page tree with no page',
    bytes: () => pdf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Count 0 /Kids [] >>']),
    outcome: 'letter_damaged',
  },
  {
    name: 'a page tree that holds itself',
    bytes: () => pdf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Count 1 /Kids [2 0 R] >>']),
    outcome: 'letter_damaged',
  },
  {
    name: 'a page tree in a circle',
    bytes: () =>
      pdf([
        '<< /Type /Catalog /Pages 2 0 R >>',
        '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
        '<< /Type /Pages /Count 1 /Kids [2 0 R] >>',
      ]),
    outcome: 'letter_damaged',
  },
  {
    name: 'one page many times',
    bytes: () =>
      pdf([
        '<< /Type /Catalog /Pages 2 0 R >>',
        `<< /Type /Pages /Count 9 /Kids [${'3 0 R '.repeat(100_000)}] >>`,
        '<< /Type /Page /Parent 2 0 R >>',
      ]),
    outcome: 'letter_damaged',
  },
  {
    name: 'a count of pages that is not true',
    bytes: () =>
      pdf([
        '<< /Type /Catalog /Pages 2 0 R >>',
        '<< /Type /Pages /Count 1000000000 /Kids [3 0 R] >>',
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>',
      ]),
    outcome: 'read',
  },
  { name: 'twenty pages', bytes: () => pagesPdf(Array.from({ length: 20 }, () => plainText)), outcome: 'read' },
  {
    name: 'twenty-one pages',
    bytes: () => pagesPdf(Array.from({ length: 21 }, () => plainText)),
    outcome: 'letter_too_many_pages',
  },
  { name: 'a page of the longest side', bytes: () => letterPdf({ mediaBox: '[0 0 612 3600]' }), outcome: 'read' },
  {
    name: 'a page one point longer',
    bytes: () => letterPdf({ mediaBox: '[0 0 612 3601]' }),
    outcome: 'letter_page_too_large',
  },
  {
    name: 'a page of a million miles',
    bytes: () => letterPdf({ mediaBox: '[0 0 99999999999 99999999999]' }),
    outcome: 'letter_page_too_large',
  },
  {
    name: 'a page made large by its unit',
    bytes: () => letterPdf({ page: '/UserUnit 75' }),
    outcome: 'letter_page_too_large',
  },
  { name: 'a page without area', bytes: () => letterPdf({ mediaBox: '[0 0 0 0]' }), outcome: 'letter_damaged' },
  {
    name: 'a hundred thousand brackets',
    bytes: () => letterPdf({ more: ['['.repeat(100_000) + ']'.repeat(100_000)] }),
    outcome: 'letter_limit_exceeded',
  },
  {
    name: 'a hundred thousand dictionaries in each other',
    bytes: () => letterPdf({ more: ['<< /A '.repeat(100_000) + '0' + ' >>'.repeat(100_000)] }),
    outcome: 'letter_limit_exceeded',
  },
  {
    name: 'two million numbers',
    bytes: () => letterPdf({ more: [`[${'7 '.repeat(2_000_000)}]`] }),
    outcome: 'letter_limit_exceeded',
  },
  {
    name: 'sixty thousand objects',
    bytes: () => letterPdf({ more: Array.from({ length: 60_000 }, () => '0') }),
    outcome: 'letter_limit_exceeded',
  },
  { name: 'a reference to itself as the content', bytes: () => letterPdf({ contentObject: '5 0 R' }), outcome: 'any' },
  {
    name: 'a number that refers to itself where a length is due',
    bytes: () => letterPdf({ contentObject: stream('', plainText, '6 0 R'), more: ['6 0 R'] }),
    outcome: 'letter_damaged',
  },
  {
    name: 'a length below zero',
    bytes: () => letterPdf({ contentObject: stream('', plainText, -5) }),
    outcome: 'read',
  },
  {
    name: 'a length beyond the file',
    bytes: () => letterPdf({ contentObject: stream('', plainText, 999_999_999_999) }),
    outcome: 'read',
  },
  {
    name: 'a stream with two ends',
    bytes: () =>
      letterPdf({
        contentObject: stream('', `${plainText}\nendstream\n${plainText}`, '6 0 R'),
        more: [String(plainText.length * 2 + 11)],
      }),
    outcome: 'letter_damaged',
  },
  {
    name: 'a stream without an end',
    bytes: () => letterPdf({ more: ['<< /Length 5 >>\nstream\nabc'] }),
    outcome: 'letter_damaged',
  },
  { name: 'a key twice', bytes: () => letterPdf({ more: ['<< /A 1 /A 2 >>'] }), outcome: 'letter_damaged' },
  { name: 'a string without an end', bytes: () => letterPdf({ more: ['(abc'] }), outcome: 'letter_damaged' },
  {
    name: 'a hexadecimal string without an end',
    bytes: () => latin1(`%PDF-1.7\n1 0 obj\n${'<41'.repeat(10)}\n%%EOF\n`),
    outcome: 'letter_damaged',
  },
  {
    name: 'an object inside the bytes of a stream',
    bytes: () => letterPdf({ content: `${plainText}\n9 0 obj << /S /JavaScript >> endobj` }),
    outcome: 'letter_damaged',
  },
  {
    name: 'an object inside a string',
    bytes: () => letterPdf({ more: ['(9 0 obj << /S /JavaScript >> endobj)'] }),
    outcome: 'letter_damaged',
  },
  {
    name: 'an object whose number is behind a comment',
    bytes: () => letterPdf({ content: `${plainText}\n9 %a\n0 %b\nobj << /S /JavaScript >> endobj` }),
    outcome: 'letter_damaged',
  },
  {
    name: 'an object without a number',
    bytes: () => Buffer.concat([latin1('%PDF-1.7\nobj << >> endobj\n'), letterPdf().subarray(9)]),
    outcome: 'letter_damaged',
  },
  {
    name: 'numbers of a kilobyte each',
    bytes: () => letterPdf({ content: `${'9'.repeat(1024)} 0 0 ${'9'.repeat(1024)} 0 0 cm ${plainText}` }),
    outcome: 'any',
  },
];

const encrypted: HostileLetter[] = [
  {
    name: 'an encrypted PDF',
    bytes: () =>
      letterPdf({ trailer: '/Encrypt 6 0 R', more: ['<< /Filter /Standard /V 1 /R 2 /O (a) /U (b) /P -4 >>'] }),
    outcome: 'letter_encrypted',
  },
  {
    name: 'an encrypted PDF whose key is escaped',
    bytes: () => letterPdf({ trailer: '/Encr#79pt 6 0 R', more: ['<< /Filter /Standard >>'] }),
    outcome: 'letter_encrypted',
  },
  {
    name: 'an encrypted PDF with a table in a stream',
    bytes: () =>
      packedPdf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Count 0 /Kids [] >>'], {
        trailer: '/Encrypt << /Filter /Standard >>',
      }),
    outcome: 'letter_encrypted',
  },
  {
    name: 'a stream that is encrypted by itself',
    bytes: () => letterPdf({ contentObject: stream('/Filter /Crypt', plainText) }),
    outcome: 'letter_encrypted',
  },
];

const active: HostileLetter[] = [
  {
    name: 'a script on opening',
    bytes: () => action('/S /JavaScript /JS (app.alert\\(1\\))'),
    outcome: 'letter_active_content',
  },
  {
    name: 'a script whose name is escaped',
    bytes: () => action('/#53 /J#61v#61Script /J#53 (1)'),
    outcome: 'letter_active_content',
  },
  {
    name: 'a script in an object that nothing refers to',
    bytes: () => letterPdf({ more: ['<< /S /JavaScript /JS (1) >>'] }),
    outcome: 'letter_active_content',
  },
  {
    name: 'a script whose type is elsewhere',
    bytes: () => letterPdf({ more: [`<< /S ${at.more + 1} 0 R >>`, '/JavaScript'] }),
    outcome: 'letter_active_content',
  },
  {
    name: 'a script in a stream',
    bytes: () => letterPdf({ more: [`<< /JS ${at.more + 1} 0 R >>`, stream('', 'app.alert(1)')] }),
    outcome: 'letter_active_content',
  },
  {
    name: 'a script in an object stream',
    bytes: () => packed('/OpenAction << /S /JavaScript /JS (1) >>'),
    outcome: 'letter_active_content',
  },
  {
    name: 'a script in an older revision',
    bytes: () =>
      Buffer.concat([
        action('/S /JavaScript /JS (1)'),
        latin1('1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\ntrailer\n<< /Root 1 0 R >>\nstartxref\n0\n%%EOF\n'),
      ]),
    outcome: 'letter_active_content',
  },
  {
    name: 'named scripts',
    bytes: () => letterPdf({ catalog: '/Names << /JavaScript << /Names [(a) << >>] >> >>' }),
    outcome: 'letter_active_content',
  },
  {
    name: 'a script when a field is left',
    bytes: () => annotation('/Subtype /Widget /FT /Tx /T (a) /AA << /K << /S /JavaScript /JS (1) >> >>'),
    outcome: 'letter_active_content',
  },
  {
    name: 'another action when a page is opened',
    bytes: () => letterPdf({ page: '/AA << /O << /S /URI /URI (https://example.com) >> >>' }),
    outcome: 'letter_active_content',
  },
  {
    name: 'a program that is started',
    bytes: () => action('/S /Launch /F (calc.exe)'),
    outcome: 'letter_active_content',
  },
  {
    name: 'a form that is sent',
    bytes: () => annotation('/Subtype /Widget /A << /S /SubmitForm /F (https://example.com) >>'),
    outcome: 'letter_active_content',
  },
  {
    name: 'data that is fetched',
    bytes: () => annotation('/Subtype /Link /A << /S /ImportData /F (a.fdf) >>'),
    outcome: 'letter_active_content',
  },
  {
    name: 'a link into another file',
    bytes: () => annotation('/Subtype /Link /A << /S /GoToR /F (\\\\\\\\host\\\\share) /D [0 /Fit] >>'),
    outcome: 'letter_active_content',
  },
  {
    name: 'a link into an embedded file',
    bytes: () => annotation('/Subtype /Link /A << /S /GoToE /T << /R /C >> >>'),
    outcome: 'letter_active_content',
  },
  {
    name: 'an address that is opened at once',
    bytes: () => action('/S /URI /URI (https://example.com)'),
    outcome: 'letter_active_content',
  },
  {
    name: 'an action after a harmless one',
    bytes: () => action('/S /GoTo /D [3 0 R /Fit] /Next << /S /URI /URI (https://example.com) >>'),
    outcome: 'letter_active_content',
  },
  {
    name: 'a link that a person must click',
    bytes: () => annotation('/Subtype /Link /A << /S /URI /URI (https://example.com) >>'),
    outcome: 'read',
  },
  { name: 'a place to open at', bytes: () => letterPdf({ catalog: '/OpenAction [3 0 R /Fit]' }), outcome: 'read' },
  {
    name: 'a film',
    bytes: () => annotation('/Subtype /RichMedia /RichMediaContent << >>'),
    outcome: 'letter_active_content',
  },
  { name: 'a sound', bytes: () => annotation('/Subtype /Sound /Sound 6 0 R'), outcome: 'letter_active_content' },
  {
    name: 'an XML form',
    bytes: () => letterPdf({ catalog: '/AcroForm << /XFA 6 0 R /Fields [] >>', more: [stream('', '<xdp/>')] }),
    outcome: 'letter_active_content',
  },
  {
    name: 'a PostScript program',
    bytes: () => letterPdf({ more: [stream('/Type /XObject /Subtype /PS', '(a) run')] }),
    outcome: 'letter_active_content',
  },
  {
    name: 'a stream in another file',
    bytes: () => letterPdf({ more: [stream('/F (/etc/passwd)', '')] }),
    outcome: 'letter_active_content',
  },
];

const embedded: HostileLetter[] = [
  { name: 'a CSV of numbers', bytes: () => file('numbers.csv', 'phone\n+12125550123\n'), outcome: 'read' },
  { name: 'an embedded program', bytes: () => file('numbers.exe', 'MZ'), outcome: 'letter_embedded_file' },
  {
    name: 'an embedded program named CSV',
    bytes: () => file('numbers.csv', 'MZ\x90\0\x03'),
    outcome: 'letter_embedded_file',
  },
  {
    name: 'an embedded web page named CSV',
    bytes: () => file('numbers.csv', '<svg onload=1>'),
    outcome: 'letter_embedded_file',
  },
  { name: 'an embedded PDF', bytes: () => file('letter.pdf', 'x'), outcome: 'letter_embedded_file' },
  {
    name: 'two embedded CSVs',
    bytes: () =>
      letterPdf({
        more: [0, 2].flatMap((place) => [
          `<< /Type /Filespec /F (a.csv) /EF << /F ${at.more + place + 1} 0 R >> >>`,
          stream('/Type /EmbeddedFile', `a${place}`),
        ]),
      }),
    outcome: 'letter_embedded_file',
  },
  {
    name: 'an embedded file that nothing names',
    bytes: () => letterPdf({ more: [stream('/Type /EmbeddedFile', 'a')] }),
    outcome: 'letter_embedded_file',
  },
  {
    name: 'an embedded file that is missing',
    bytes: () => letterPdf({ more: ['<< /Type /Filespec /F (a.csv) /EF << /F 99 0 R >> >>'] }),
    outcome: 'letter_embedded_file',
  },
  {
    name: 'a portfolio',
    bytes: () => letterPdf({ catalog: '/Collection << /View /D >>' }),
    outcome: 'letter_embedded_file',
  },
  {
    name: 'an embedded CSV of three mebibytes',
    bytes: () => file('numbers.csv', '1'.repeat(3 * mebibyte)),
    outcome: 'letter_embedded_file',
  },
];

const bombs: HostileLetter[] = [
  {
    name: 'a content that unpacks to a hundred megabytes',
    bytes: () => letterPdf({ contentObject: stream('/Filter /FlateDecode', packedZeros(100)) }),
    outcome: 'letter_limit_exceeded',
  },
  {
    name: 'a content packed twice',
    bytes: () =>
      letterPdf({ contentObject: stream('/Filter [/FlateDecode /FlateDecode]', deflateSync(packedZeros(200))) }),
    outcome: 'letter_limit_exceeded',
  },
  {
    name: 'a content packed four times',
    bytes: () => letterPdf({ contentObject: stream(`/Filter [${'/FlateDecode '.repeat(4)}]`, deflateSync(zeros(10))) }),
    outcome: 'letter_limit_exceeded',
  },
  {
    name: 'run lengths of run lengths',
    bytes: () =>
      letterPdf({
        contentObject: stream(
          '/Filter [/FlateDecode /RunLengthDecode /RunLengthDecode]',
          deflateSync(Buffer.alloc(4_000_000, 0x81)),
        ),
      }),
    outcome: 'letter_limit_exceeded',
  },
  {
    name: 'LZW that unpacks to 160 megabytes',
    bytes: () => letterPdf({ contentObject: stream('/Filter /LZWDecode', lzwBomb(20)) }),
    outcome: 'letter_limit_exceeded',
  },
  {
    name: 'an object stream that unpacks to a hundred megabytes',
    bytes: () =>
      packedPdf(['<< >>'], {
        objectStream: () => stream('/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode', packedZeros(100)),
      }),
    outcome: 'letter_limit_exceeded',
  },
  {
    name: 'an object stream of a billion objects',
    bytes: () =>
      packedPdf(['<< >>'], { objectStream: () => flate('/Type /ObjStm /N 1000000000 /First 4', '1 0 << >>') }),
    outcome: 'letter_damaged',
  },
  {
    name: 'objects that are the same large value',
    bytes: () => {
      const head = Array.from({ length: 20_000 }, (_none, index) => `${index + 10} 0`).join(' ');
      return packedPdf(['<< >>'], {
        objectStream: () =>
          flate(`/Type /ObjStm /N 20000 /First ${head.length + 1}`, `${head} [${'1 '.repeat(10_000)}]`),
      });
    },
    outcome: 'letter_limit_exceeded',
  },
  {
    name: 'a cross-reference stream of a billion entries',
    bytes: () =>
      packedPdf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Count 0 /Kids [] >>'], {
        index: '/Index [0 1000000000]',
      }),
    outcome: 'letter_limit_exceeded',
  },
  {
    name: 'a cross-reference stream of entries without bytes',
    bytes: () => letterPdf({ more: [stream('/Type /XRef /Size 100000000 /W [0 0 0]', '')] }),
    outcome: 'letter_damaged',
  },
  {
    name: 'many streams that are small bombs',
    bytes: () => letterPdf({ more: Array.from({ length: 60 }, () => stream('/Filter /FlateDecode', packedZeros(16))) }),
    outcome: 'letter_limit_exceeded',
  },
  {
    name: 'a filter that does not exist',
    bytes: () => letterPdf({ contentObject: stream('/Filter /constructor', plainText) }),
    outcome: 'letter_damaged',
  },
  {
    name: 'damaged compressed data',
    bytes: () => letterPdf({ contentObject: stream('/Filter /FlateDecode', 'not compressed at all') }),
    outcome: 'letter_damaged',
  },
  {
    name: 'a predictor of a billion columns',
    bytes: () =>
      packedPdf(['<< >>'], {
        objectStream: () =>
          flate('/Type /ObjStm /N 1 /First 4 /DecodeParms << /Predictor 12 /Columns 1000000000 >>', '1 0 << >>'),
      }),
    outcome: 'letter_damaged',
  },
];

const contents: HostileLetter[] = [
  {
    name: 'a form that draws itself',
    bytes: () =>
      letterPdf({
        content: `/X Do ${plainText}`,
        resources: `/XObject << /X ${at.more} 0 R >>`,
        more: [
          stream(
            `/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X ${at.more} 0 R >> >>`,
            '/X Do',
          ),
        ],
      }),
    outcome: 'any',
  },
  { name: 'forms that each draw ten of the next', bytes: () => formLadder(7), outcome: 'letter_limit_exceeded' },
  { name: 'forms fifty deep', bytes: () => formLadder(50), outcome: 'letter_limit_exceeded' },
  {
    name: 'a million states that are saved',
    bytes: () => letterPdf({ content: 'q '.repeat(1_000_000) }),
    outcome: 'letter_limit_exceeded',
  },
  {
    name: 'five million operators',
    bytes: () => letterPdf({ contentObject: flate('', 'q Q '.repeat(2_500_000)) }),
    outcome: 'letter_limit_exceeded',
  },
  {
    name: 'a million open brackets in the content',
    bytes: () => letterPdf({ content: '['.repeat(1_000_000) }),
    outcome: 'letter_limit_exceeded',
  },
  {
    name: 'a million open angles in the content',
    bytes: () => letterPdf({ content: '< '.repeat(1_000_000) }),
    outcome: 'any',
  },
  {
    name: 'a million inline pictures without an end',
    bytes: () => letterPdf({ content: 'BI ID '.repeat(1_000_000) }),
    outcome: 'any',
  },
  {
    name: 'forty thousand pieces of text',
    bytes: () =>
      letterPdf({
        content: Array.from({ length: 40_000 }, (_none, index) =>
          textAt(index % 600, (index * 7) % 790, `w${index}`),
        ).join(''),
      }),
    outcome: 'any',
  },
  {
    name: 'letters that each mean a page of text',
    bytes: () =>
      mapped(
        `1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <41> <${'0042'.repeat(30_000)}> endbfchar`,
        `BT /F1 9 Tf 9 700 Td (${'A'.repeat(20_000)}) Tj ET`,
      ),
    outcome: 'any',
  },
  {
    name: 'a table of letters without end',
    bytes: () =>
      mapped(
        '1 begincodespacerange <00000000> <FFFFFFFF> endcodespacerange 1 beginbfrange <00000000> <FFFFFFFF> <0041> endbfrange',
        plainText,
      ),
    outcome: 'any',
  },
  {
    name: 'a font of a type 3 letter that draws itself',
    bytes: () =>
      withFont(
        '/Subtype /Type3 /FontBBox [0 0 9 9] /FontMatrix [1 0 0 1 0 0] /FirstChar 65 /LastChar 65 /Widths [9] /Encoding << /Differences [65 /A] >> /CharProcs << /A 6 0 R >> /Resources << /Font << /F1 4 0 R >> >>',
        'BT /F1 9 Tf 9 700 Td (AAAA) Tj ET',
        [stream('', '9 0 d0 BT /F1 9 Tf (A) Tj ET')],
      ),
    outcome: 'any',
  },
  {
    name: 'a font with a billion widths',
    bytes: () =>
      withFont(
        '/Subtype /Type0 /BaseFont /A /Encoding /Identity-H /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A /CIDSystemInfo << /Registry (A) /Ordering (B) /Supplement 0 >> /W [0 1000000000 500] >>]',
        plainText,
      ),
    outcome: 'any',
  },
  {
    name: 'a font file of rubbish',
    bytes: () =>
      withFont(
        '/Subtype /TrueType /BaseFont /A /FontDescriptor << /Type /FontDescriptor /FontName /A /Flags 4 /FontFile2 6 0 R >>',
        plainText,
        [stream('', Buffer.alloc(50_000, Buffer.from('00010000ffffffff', 'hex')))],
      ),
    outcome: 'any',
  },
  {
    name: 'text outside the page',
    bytes: () => letterPdf({ content: plainText + textAt(-5000, 9000, 'nobody sees this') }),
    outcome: 'read',
  },
  { name: 'a page turned by 45 degrees', bytes: () => letterPdf({ page: '/Rotate 45' }), outcome: 'read' },
];

const signed: HostileLetter[] = [
  {
    name: 'a signature of rubbish',
    bytes: () => signature(`/ByteRange [0 10 20 10] /Contents <${'ff'.repeat(500)}>`),
    outcome: 'read',
  },
  {
    name: 'a signature that covers what is not there',
    bytes: () => signature('/ByteRange [0 99999999 999999999 9] /Contents <00>'),
    outcome: 'read',
  },
  {
    name: 'a signature with a range below zero',
    bytes: () => signature('/ByteRange [-1 -1 -1 -1] /Contents <00>'),
    outcome: 'read',
  },
  {
    name: 'a signature that is a depth of brackets',
    bytes: () => signature(`/ByteRange [0 1 2 3] /Contents <${'3080'.repeat(5000)}>`),
    outcome: 'read',
  },
  {
    name: 'a field that is above itself',
    bytes: () => letterPdf({ more: [`<< /FT /Sig /Parent ${at.more} 0 R >>`] }),
    outcome: 'read',
  },
  {
    name: 'nine signatures',
    bytes: () =>
      letterPdf({
        more: Array.from(
          { length: 9 },
          (_none, index) => `<< /FT /Sig /T (S${index}) /V << /Type /Sig /ByteRange [0 1 2 3] /Contents <00> >> >>`,
        ),
      }),
    outcome: 'letter_limit_exceeded',
  },
];

const pictures: HostileLetter[] = [
  {
    name: 'a PNG of sixty thousand pixels square',
    bytes: () => squarePng(0, { width: 60_000, height: 60_000 }),
    outcome: 'letter_page_too_large',
  },
  {
    name: 'a PNG of four billion pixels in a row',
    bytes: () => squarePng(0, { width: 0xffffffff, height: 1 }),
    outcome: 'letter_page_too_large',
  },
  { name: 'a PNG without pixels', bytes: () => squarePng(0, { width: 0 }), outcome: 'letter_damaged' },
  {
    name: 'a PNG whose data is a bomb',
    bytes: () => squarePng(0, { data: packedZeros(100) }),
    outcome: 'letter_damaged',
  },
  { name: 'a PNG with too few rows', bytes: () => squarePng(20), outcome: 'letter_damaged' },
  {
    name: 'a PNG with data that is not packed',
    bytes: () => squarePng(0, { data: latin1('rubbish') }),
    outcome: 'letter_damaged',
  },
  {
    name: 'a PNG with a wrong checksum',
    bytes: () => {
      const bytes = squarePng(72);
      bytes[30]! ^= 1;
      return bytes;
    },
    outcome: 'letter_damaged',
  },
  { name: 'a PNG of a form that does not exist', bytes: () => squarePng(72, { colour: 5 }), outcome: 'letter_damaged' },
  {
    name: 'a PNG with a filter that does not exist',
    bytes: () => squarePng(72, { rows: Buffer.alloc(72, 9) }),
    outcome: 'letter_damaged',
  },
  { name: 'a PNG with a palette and none', bytes: () => squarePng(72, { colour: 3 }), outcome: 'letter_damaged' },
  {
    name: 'a PNG with an unknown part that must be known',
    bytes: () => squarePng(72, { chunks: [pngChunk('ABCD', zeros(4))] }),
    outcome: 'letter_damaged',
  },
  {
    name: 'a PNG with a text of a mebibyte',
    bytes: () => squarePng(72, { chunks: [pngChunk('tEXt', zeros(mebibyte))] }),
    outcome: 'read',
  },
  { name: 'a PNG with a PDF behind it', bytes: () => squarePng(72, { tail: letterPdf() }), outcome: 'letter_polyglot' },
  { name: 'a PNG that is cut off', bytes: () => squarePng(72).subarray(0, 60), outcome: 'letter_damaged' },
  {
    name: 'a part of a PNG longer than the file',
    bytes: () => {
      const bytes = squarePng(72);
      bytes.writeUInt32BE(0x7fffffff, 33);
      return bytes;
    },
    outcome: 'letter_damaged',
  },
  { name: 'a PNG of one pixel', bytes: () => png({ width: 1, height: 1, rows: zeros(2) }), outcome: 'read' },
  {
    name: 'a picture in a PDF of ten billion pixels',
    bytes: () => scan(flate(image(100_000, 100_000), zeros(10))),
    outcome: 'letter_page_too_large',
  },
  {
    name: 'a picture in a PDF with more data than pixels',
    bytes: () => scan(stream(`${image(10, 10)} /Filter /FlateDecode`, packedZeros(400))),
    outcome: 'letter_limit_exceeded',
  },
  {
    name: 'a picture in a PDF that is no JPEG',
    bytes: () => scan(stream(`${image(1000, 1000)} /Filter /DCTDecode`, 'rubbish')),
    outcome: 'any',
  },
  {
    name: 'a picture in a PDF that is no JPEG 2000',
    bytes: () =>
      scan(
        stream(
          `${image(1000, 1000)} /Filter /JPXDecode`,
          latin1('\0\0\0\x0cjP  \r\n\x87\n\xff\x4f\xff\x51' + '\xff'.repeat(200)),
        ),
      ),
    outcome: 'any',
  },
  {
    name: 'a picture in a PDF that is no JBIG2',
    bytes: () =>
      scan(
        stream(
          `${image(1000, 1000)} /Filter /JBIG2Decode`,
          latin1('\0\0\0\0\x30\0\x01\0\0\0\x13\xff\xff\xff\xff\xff\xff\xff\xff'),
        ),
      ),
    outcome: 'any',
  },
  {
    name: 'a picture in a PDF that is no fax',
    bytes: () =>
      scan(
        stream(
          `${image(1728, 2200)} /Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns 1728 /Rows 1000000000 >>`,
          Buffer.alloc(1000, 0xa5),
        ),
      ),
    outcome: 'any',
  },
];

/** All of them. */
export const hostileLetters: readonly HostileLetter[] = [
  ...types,
  ...structures,
  ...encrypted,
  ...active,
  ...embedded,
  ...bombs,
  ...contents,
  ...signed,
  ...pictures,
];
