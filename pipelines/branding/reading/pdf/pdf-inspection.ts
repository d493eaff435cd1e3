import type { LetterReading } from '../../letter-reading.ts';
import { LetterRefused } from '../gate/letter-refused.ts';
import { isPictureFilter, measureFilters } from './pdf-filters.ts';
import { decodedBytesMax, type PdfFile, type PdfObject } from './pdf-file.ts';
import {
  isArray,
  isDict,
  isName,
  isRef,
  isString,
  pdfText,
  visitValues,
  type PdfDict,
  type PdfValue,
} from './pdf-syntax.ts';

/** Actions (ISO 32000-1 table 198) that run, send, fetch or open something; links that a person must click are allowed. */
const activeActions = new Set(
  (
    'JavaScript Launch SubmitForm ImportData ResetForm GoToR GoToE Rendition Movie Sound GoTo3DView RichMediaExecute ' +
    'Trans SetOCGState Hide'
  ).split(' '),
);

/** Keys that only active content has: name trees of scripts, XML forms, media. */
const activeKeys = new Set(['JavaScript', 'XFA', 'RichMediaContent', 'RichMediaSettings', 'RichMedia', '3DD', '3DA']);

/** Annotations that play, show or start something. */
const activeSubtypes = new Set(['RichMedia', 'Movie', 'Sound', 'Screen', '3D', 'PS']);

/** What all streams of a letter together may unpack to: 20 pages of scans in colour at 200 dots an inch have 220 MB. */
const unpackedBytesMax = 320 * 1024 * 1024;

/** A CSV of 50,000 numbers with names. */
const csvBytesMax = 2 * 1024 * 1024;

const streamsMax = 5_000;

/** Most bytes of a pixel: four colours of 16 bits. */
const bytesPerPixelMax = 8;

/**
 * Looks at every object of a PDF, also at those of older revisions and those that nothing refers to, and returns the one
 * CSV that it may embed.
 * @throws LetterRefused `letter_active_content`, `letter_embedded_file`, `letter_page_too_large`, `letter_limit_exceeded`,
 * `letter_damaged`
 */
export async function inspectPdf(
  file: PdfFile,
  { pixelsMax }: { pixelsMax: number },
): Promise<LetterReading['embeddedCsv']> {
  for (const value of [...file.trailers, ...file.all.map((object) => object.value)])
    visitValues(value, (each) => {
      if (isDict(each)) inspectDict(file, each);
    });
  for (const object of file.all) if (file.object(object.number) === object) checkGenerations(file, object.value);
  const csv = readEmbeddedCsv(file);
  await measureStreams(file, pixelsMax);
  return csv;
}

/** Readers differ in what they show for a reference that has another generation than its object. */
function checkGenerations(file: PdfFile, value: PdfValue): void {
  visitValues(value, (each) => {
    if (isRef(each) && (file.object(each.number)?.generation ?? each.generation) !== each.generation)
      throw new LetterRefused('letter_damaged', 'A reference of the PDF has another generation than its object.');
  });
}

function inspectDict(file: PdfFile, dict: PdfDict): void {
  for (const key of dict.entries.keys()) if (activeKeys.has(key)) throw active(`it has ${key}`);
  if (isScript(file, dict.entries.get('JS'))) throw active('it has a script');
  if (isActionTable(file, file.entry(dict, 'AA')))
    throw active('it does something when it is opened, printed or filled in');
  const action = file.entry(dict, 'S');
  if (isName(action) && activeActions.has(action.name)) throw active(`it has an action ${action.name}`);
  const subtype = file.entry(dict, 'Subtype');
  if (isName(subtype) && activeSubtypes.has(subtype.name)) throw active(`it has an object ${subtype.name}`);
  if (dict.entries.has('OpenAction')) inspectOpening(file, file.entry(dict, 'OpenAction'));
  if (dict.entries.has('Collection'))
    throw new LetterRefused('letter_embedded_file', 'The PDF is a portfolio of files.');
  if (dict.entries.has('Encrypt')) throw new LetterRefused('letter_encrypted', 'The PDF is encrypted.');
}

/** JS and AA may also be the names of fonts, which are neither text nor tables of actions. */
function isScript(file: PdfFile, value: PdfValue | undefined): boolean {
  return isString(file.resolve(value)) || (isRef(value) && (file.object(value.number)?.stream ?? null) !== null);
}

function isActionTable(file: PdfFile, value: PdfValue): boolean {
  return isDict(value) && [...value.entries.keys()].some((key) => file.entry(file.dictAt(value, key), 'S') !== null);
}

/** On opening, a PDF may go to a place in itself. */
function inspectOpening(file: PdfFile, action: PdfValue): void {
  if (!isDict(action)) return;
  const type = file.entry(action, 'S');
  if (!isName(type, 'GoTo') || action.entries.has('Next')) throw active('it does something when it is opened');
}

function active(what: string): LetterRefused {
  return new LetterRefused('letter_active_content', `The PDF is not a plain document: ${what}.`);
}

async function measureStreams(file: PdfFile, pixelsMax: number): Promise<void> {
  const streams = file.all.filter(({ stream }) => stream !== null);
  if (streams.length > streamsMax)
    throw new LetterRefused('letter_limit_exceeded', `The PDF has more than ${streamsMax} streams.`);
  let left = unpackedBytesMax;
  for (const object of streams) {
    left -= await measureStream(file, object, pixelsMax);
    if (left < 0)
      throw new LetterRefused(
        'letter_limit_exceeded',
        `The streams of the PDF unpack to more than ${unpackedBytesMax} bytes.`,
      );
  }
}

async function measureStream(file: PdfFile, { value, stream }: PdfObject, pixelsMax: number): Promise<number> {
  if (stream === null || !isDict(value)) return 0;
  const external = value.entries.get('F');
  if (isString(external) || isDict(external) || isRef(external)) throw active('a stream lies in another file');
  const isPicture = file.hasName(value, 'Subtype', 'Image');
  if (isPicture) checkPixels(file, value, pixelsMax);
  if (isName(value.entries.get('Type'), 'XRef')) checkCrossReferences(file, value);
  const filters = file.filtersOf(value);
  const before = filters.findIndex(isPictureFilter);
  const isRaster = isPicture && before < 0;
  return measureFilters(
    file.bytes.subarray(stream.start, stream.end),
    before < 0 ? filters : filters.slice(0, before),
    {
      stepBytesMax: decodedBytesMax,
      bytesMax: isRaster ? Math.min(unpackedBytesMax, pixelsMax * bytesPerPixelMax) : decodedBytesMax,
    },
  );
}

function checkPixels(file: PdfFile, dict: PdfDict, pixelsMax: number): void {
  const [width, height] = [file.entry(dict, 'Width'), file.entry(dict, 'Height')];
  if (typeof width !== 'number' || typeof height !== 'number' || !(width > 0 && height > 0))
    throw new LetterRefused('letter_damaged', 'A picture of the PDF has no size.');
  if (width * height > pixelsMax)
    throw new LetterRefused('letter_page_too_large', `A picture of the PDF has more than ${pixelsMax} pixels.`);
}

/** Readers allocate memory for the declared entries of a cross-reference stream before they read them. */
function checkCrossReferences(file: PdfFile, dict: PdfDict): void {
  const widths = file.entry(dict, 'W');
  const total = isArray(widths)
    ? widths.items.reduce(
        (sum: number, each) => sum + (typeof each === 'number' && each >= 0 && each <= 8 ? each : Number.NaN),
        0,
      )
    : Number.NaN;
  const index = file.entry(dict, 'Index');
  const counts = isArray(index) ? index.items.filter((_each, place) => place % 2 === 1) : [file.entry(dict, 'Size')];
  const entries = counts.reduce(
    (sum: number, each) => sum + (typeof each === 'number' && each >= 0 ? each : Number.NaN),
    0,
  );
  if (!(total >= 1)) throw new LetterRefused('letter_damaged', 'A cross-reference stream of the PDF has no fields.');
  if (!(entries <= 200_000))
    throw new LetterRefused(
      'letter_limit_exceeded',
      'A cross-reference stream of the PDF names more objects than a letter has.',
    );
}

/** The embedded file, whether a file specification names it or not. */
function readEmbeddedCsv(file: PdfFile): LetterReading['embeddedCsv'] {
  const found = new Map<PdfObject, string>();
  for (const { value } of file.all) collectFiles(file, value, found);
  for (const object of file.all) {
    const type = isDict(object.value) ? object.value.entries.get('Type') : undefined;
    if (isName(type, 'EmbeddedFile') && !found.has(object)) found.set(object, '');
  }
  const [first, ...more] = found;
  if (first === undefined) return null;
  if (more.length > 0) throw new LetterRefused('letter_embedded_file', 'The PDF embeds more than one file.');
  return { name: first[1], text: readCsv(file, first[0], first[1]) };
}

function collectFiles(file: PdfFile, value: PdfValue, found: Map<PdfObject, string>): void {
  visitValues(value, (each) => {
    if (!isDict(each)) return;
    for (const embedded of file.dictAt(each, 'EF').entries.values())
      noteFile(file, embedded, { name: fileName(file, each), found });
  });
}

function noteFile(
  file: PdfFile,
  value: PdfValue,
  { name, found }: { name: string; found: Map<PdfObject, string> },
): void {
  const object = isRef(value) ? file.object(value.number) : undefined;
  if (object === undefined || object.stream === null)
    throw new LetterRefused('letter_embedded_file', 'The PDF names an embedded file that it does not hold.');
  found.set(object, name);
}

function fileName(file: PdfFile, specification: PdfDict): string {
  const name = [file.entry(specification, 'UF'), file.entry(specification, 'F')].find((each) => isString(each));
  return isString(name)
    ? pdfText(name)
        .replace(/[\p{C}/\\]/gu, '')
        .slice(0, 255)
    : '';
}

function readCsv(file: PdfFile, object: PdfObject, name: string): string {
  if (!/\.csv$/i.test(name))
    throw new LetterRefused('letter_embedded_file', 'The PDF embeds a file that is not a CSV.');
  const bytes = file.decode(object);
  if (bytes.length > csvBytesMax)
    throw new LetterRefused('letter_embedded_file', `The embedded CSV is larger than ${csvBytesMax} bytes.`);
  const text = new TextDecoder('utf-8').decode(bytes);
  // A CSV of numbers is text: no control bytes, and it begins like no other format.
  if (/[\0-\x08\x0e-\x1f]/.test(text) || /^\s*(?:%PDF|PK|MZ|<|\{\\rtf)/.test(text))
    throw new LetterRefused('letter_embedded_file', 'The embedded file is named CSV but is not one.');
  return text;
}
