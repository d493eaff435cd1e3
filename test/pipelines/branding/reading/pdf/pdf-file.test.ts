import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeFilters, measureFilters } from '../../../../../pipelines/branding/reading/pdf/pdf-filters.ts';
import { readPdfFile } from '../../../../../pipelines/branding/reading/pdf/pdf-file.ts';
import {
  nestingMax,
  PdfParser,
  pdfText,
  type PdfDict,
  type PdfString,
} from '../../../../../pipelines/branding/reading/pdf/pdf-syntax.ts';
import { letterPdf, packedPdf, stream } from '../pdf-builder.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const parse = (text: string, values = 1000) => new PdfParser(latin1(text), 0, { values }).next();
const name = (text: string) => ({ kind: 'name', name: text });
const named = (...names: readonly string[]) => names.map((name) => ({ name }));

/** The numbers from 1 to 200 without gaps, by Ghostscript 10.0: `file << /EarlyChange 0 >> /LZWEncode filter`. */
const lateLzw = Buffer.from(
  'gAxGQzGg1Gw3HA5GIwGMNGQxGYxGgxGoxGwxG4xHAxHIyGEPGUhGYyGgyGoyGwyG4yHAyHIzGERkYzmg0GY1GY2GY3GY4GY5Ggwi' +
    'clmw0ow1Gg2Gg3Gg4Gg5GowisnnFIGtXGw1G41HA1HI2GEXlM6pVZG1nG42HA2HI3GEZlc8plbtI3uw4G45HAwjctn1OrtrvA4wg' +
    '5HIwhUdl9AqFftt6w0LhkMhcPmMLidShcXt8LjeIhuUhsChsRiUNisWhsZjUNhUe0kCkERkkCisogUZlkChUwiGlh80iETm8Qi87' +
    'iEbn8ShkTiUPm0SocVpMSjNNiUKqMU1EPnEUidXikXrUUjdei0Mi8Wh86i0TrMWsUZtUWhVujGrh88jETrcYRddkYRteUaQxG0aQ' +
    '9PkaRNXUaRdeEaX1iUMQpHEPS9HETVBHEXW1HEbYZHgwQEA=',
  'base64',
);

describe('a value of a PDF', () => {
  it.each<[string, unknown]>([
    ['12', 12],
    ['-.5', -0.5],
    ['+7.', 7],
    ['--3', -3],
    ['true', true],
    ['null', null],
    ['/Name', name('Name')],
    ['/J#61v#61', name('Java')],
    ['/', name('')],
    ['12 0 R', { kind: 'ref', number: 12, generation: 0 }],
    ['[1 2 0 R 3]', { kind: 'array', items: [1, { kind: 'ref', number: 2, generation: 0 }, 3] }],
    ['<< /A 1 % a comment\n/B << /C (x) >> >>', expect.objectContaining({ kind: 'dict' })],
  ])('%s is read', (text, value) => {
    expect(parse(text)).toEqual(value);
  });

  it.each([
    ['(plain)', 'plain'],
    ['(a (nested) one)', 'a (nested) one'],
    [String.raw`(\101\n\)\\\53)`, 'A\n)\\+'],
    ['(a\\\nb)', 'ab'],
    ['<48 65 6C6c6>', 'Hell`'],
    ['<FEFF00D6>', 'Ö'],
    ['<EFBBBFC396>', 'Ö'],
  ])('%s is the text %j', (text, value) => {
    expect(pdfText(parse(text) as PdfString)).toBe(value);
  });

  it('says where a string is', () => {
    expect(parse('  <414243>')).toMatchObject({ hex: true, start: 2, end: 10 });
  });

  it.each(['[1', '<< /A', '<< 1 2 >>', '(a', '<41', '[ >> ]', '<< /A 1 /A 2 >>'])('%s is no value', (text) => {
    expect(() => parse(text)).toThrow();
  });

  it(`may nest ${nestingMax} deep and no deeper`, () => {
    expect(parse('['.repeat(nestingMax) + ']'.repeat(nestingMax))).toMatchObject({ kind: 'array' });
    expect(() => parse('['.repeat(nestingMax + 1) + ']'.repeat(nestingMax + 1))).toThrow(/deeper/);
  });

  it('takes from the budget, and is refused beyond it', () => {
    expect(parse('[1 2]', 4)).toMatchObject({ kind: 'array' });
    expect(() => parse('[1 2]', 3)).toThrow(/more values/);
  });
});

describe('the filters of a stream', () => {
  it.each<[string, readonly string[], Buffer, string]>([
    ['none', [], latin1('abc'), 'abc'],
    ['Flate', ['FlateDecode'], deflateSync('abc'), 'abc'],
    ['hexadecimal', ['ASCIIHexDecode'], latin1('61 62 6>'), 'ab`'],
    ['ASCII85', ['ASCII85Decode'], latin1('87cURD]i,"Ebo80~>'), 'Hello World!'],
    ['run lengths', ['RunLengthDecode'], Buffer.from([2, 97, 98, 99, 254, 100, 128]), 'abcddd'],
    // The example of ISO 32000-1 section 7.4.4.2.
    ['LZW', ['LZWDecode'], Buffer.from('800b6050220c0c8501', 'hex'), '-----A---B'],
    ['two in a row', ['AHx', 'Fl'], latin1(`${deflateSync('abc').toString('hex')}>`), 'abc'],
    ['a picture', ['Fl', 'DCTDecode'], deflateSync('jpeg'), 'jpeg'],
  ])('%s are undone', (_name, names, raw, text) => {
    expect(Buffer.from(decodeFilters(raw, named(...names), 100)).toString('latin1')).toBe(text);
  });

  it('LZW is read with /EarlyChange 0, by itself and as one of several filters', () => {
    const text = Array.from({ length: 200 }, (_none, at) => at + 1).join('');
    const late = stream('/Filter /LZWDecode /DecodeParms << /EarlyChange 0 >>', lateLzw);
    const hexadecimal = stream(
      '/Filter [/AHx /LZW] /DecodeParms [null << /EarlyChange 0 >>]',
      `${lateLzw.toString('hex')}>`,
    );
    for (const contentObject of [late, hexadecimal]) {
      const file = readPdfFile(letterPdf({ contentObject }));
      expect(Buffer.from(file.decode(file.object(5)!)).toString()).toBe(text);
    }
    const early = readPdfFile(letterPdf({ contentObject: stream('/Filter /LZWDecode', lateLzw) }));
    expect(() => early.decode(early.object(5)!)).toThrow(/damaged/);
  });

  it.each([
    ['FlateDecode', deflateSync(Buffer.alloc(100)), deflateSync(Buffer.alloc(101))],
    ['RunLengthDecode', Buffer.from([157, 7, 128]), Buffer.from([156, 7, 128])],
    ['ASCIIHexDecode', latin1('00'.repeat(100)), latin1('00'.repeat(101))],
    ['ASCII85Decode', latin1('z'.repeat(25)), latin1('z'.repeat(26))],
  ])('%s may make as many bytes as the limit and no more', (filter, within, beyond) => {
    expect(decodeFilters(within, named(filter), 100)).toHaveLength(100);
    expect(() => decodeFilters(beyond, named(filter), 100)).toThrow(/more than 100/);
  });

  it('are measured without keeping the bytes', async () => {
    const raw = deflateSync(Buffer.alloc(1_000_000));
    const flate = named('FlateDecode');
    expect(await measureFilters(raw, flate, { stepBytesMax: 10, bytesMax: 1_000_000 })).toBe(1_000_000);
    await expect(measureFilters(raw, flate, { stepBytesMax: 10, bytesMax: 999_999 })).rejects.toMatchObject({
      code: 'letter_limit_exceeded',
    });
  });
});

describe('the objects of a PDF', () => {
  it('are found by their headers, also where the table lies', () => {
    const bytes = letterPdf();
    const lying = Buffer.from(bytes.toString('latin1').replace(/^\d{10} 00000 n/gm, '0000000007 00000 n'), 'latin1');
    expect(readPdfFile(lying).all).toHaveLength(5);
  });

  it('of a number that occurs twice are both kept, and the later one counts', () => {
    const file = readPdfFile(
      Buffer.concat([letterPdf(), latin1('4 0 obj\n/Newer\nendobj\ntrailer << /Root 1 0 R >>\nstartxref\n0\n%%EOF\n')]),
    );
    expect(file.all.filter(({ number }) => number === 4)).toHaveLength(2);
    expect(file.object(4)!.value).toEqual(name('Newer'));
  });

  it('come out of object streams', () => {
    const file = readPdfFile(packedPdf(['<< /Type /Catalog >>', '(text)']));
    expect(file.object(1)).toMatchObject({ packed: { container: 3, index: 0 }, stream: null });
    expect(pdfText(file.object(2)!.value as PdfString)).toBe('text');
  });

  it('with streams say where these are', () => {
    const bytes = letterPdf({ contentObject: stream('', 'some bytes') });
    const file = readPdfFile(bytes);
    const { value, stream: place } = file.object(5)!;
    expect(bytes.subarray(place!.start, place!.end).toString()).toBe('some bytes');
    expect((value as PdfDict).entries.get('Length')).toBe(10);
    expect(Buffer.from(file.decode(file.object(5)!)).toString()).toBe('some bytes');
  });
});
