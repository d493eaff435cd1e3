import { describe, expect, it } from 'vitest';
import { sniffLetter } from '../../../../../pipelines/branding/reading/gate/letter-sniff.ts';
import { letterPdf } from '../pdf-builder.ts';
import { png } from '../png-builder.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');

describe('the type of a letter', () => {
  it.each<[string, Buffer, unknown]>([
    ['a PDF', letterPdf(), { format: 'pdf' }],
    ['a PNG', png({ width: 1, height: 1, rows: Buffer.alloc(2) }), { format: 'png' }],
    ['nothing', Buffer.alloc(0), { refusal: 'letter_empty' }],
    [
      'an office document',
      latin1('PK\x03\x04'),
      { refusal: 'letter_type_refused', problem: 'The file is a ZIP archive or an office document.' },
    ],
    ['a JPEG', latin1('\xff\xd8\xff\xe0'), { refusal: 'letter_type_refused', problem: 'The file is a JPEG.' }],
    ['a text', latin1('Dear Sir'), { refusal: 'letter_type_refused', problem: 'The file is neither a PDF nor a PNG.' }],
    ['a PDF behind a line end', latin1('\n%PDF-1.7'), { refusal: 'letter_polyglot' }],
    [
      'a PDF that is a web page',
      latin1('%PDF-1.7\n<HTML >'),
      { refusal: 'letter_polyglot', problem: 'The file is also an HTML page.' },
    ],
    [
      'a PDF that is an ISO image',
      Buffer.concat([latin1('%PDF-1.7\n'.padEnd(0x8001)), latin1('CD001')]),
      { refusal: 'letter_polyglot' },
    ],
    [
      'a PNG that is a ZIP',
      Buffer.concat([png({ width: 1, height: 1, rows: Buffer.alloc(2) }), latin1('PK\x05\x06'), Buffer.alloc(18)]),
      { refusal: 'letter_polyglot' },
    ],
  ])('%s is known by the bytes', (_name, bytes, sniffed) => {
    expect(sniffLetter(bytes)).toMatchObject(sniffed as object);
  });

  it('is not a ZIP archive for four bytes in the middle of a large file', () => {
    expect(sniffLetter(Buffer.concat([latin1('%PDF-1.7\nPK\x05\x06'), Buffer.alloc(70_000)]))).toEqual({
      format: 'pdf',
    });
  });
});
