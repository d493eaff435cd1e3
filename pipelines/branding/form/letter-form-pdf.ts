import { createRequire } from 'node:module';
import { buffer } from 'node:stream/consumers';
import { ServiceError } from '../../../runtime/errors.ts';
import { approvedFields, type ApprovedProfile } from '../brand-profile.ts';
import { dayOf } from '../letter/letter-dates.ts';
import type { LetterPlace } from '../letter-reading.ts';
import { FORM_TEXTS, type FormLanguage, type FormTexts } from './letter-form-texts.ts';
import { sha256Of } from '../../../runtime/digest.ts';

/** The layout and the texts of the form; a change of either is a new version. */
export const formVersion = 'letter-form/3';

/** Most numbers that the form lists; for more it has their count, the first, the last and a digest. */
export const formNumbersListedMax = 15;

/** The content of a form, except its language: all that is approved with it. The country also decides the size of the paper. */
export interface FormContent extends ApprovedProfile {
  readonly signerName: string;
  readonly signerTitle: string;
  /** E.164, each once, ascending by bytes. */
  readonly phones: readonly string[];
}

/** The identity of one issued form. */
interface FormIssue {
  readonly code: string;
  readonly issuedAt: Date;
  readonly validUntil: Date;
}

/** A rendered form. */
interface RenderedForm {
  readonly bytes: Uint8Array;
  /** The rectangle that the signature's appearance must be in. */
  readonly signaturePlace: LetterPlace;
}

/** Name of the form's one field. */
export const signatureFieldName = 'Signature';

const paths = createRequire(import.meta.url);
const fonts = {
  text: 'dejavu-fonts-ttf/ttf/DejaVuSans.ttf',
  bold: 'dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf',
} as const;

/** Countries whose letters are on US letter paper; all others use A4. */
const letterPaper = new Set(['US', 'CA', 'MX', 'PR', 'PH', 'CO', 'CL', 'VE', 'CR', 'PA', 'GT', 'DO']);

const margin = 56;
const sizes = { title: 15, text: 9.5, label: 8, digest: 7.5, footer: 7 } as const;
const labelWidth = 150;
const signatureBox = { width: 300, height: 64 } as const;
/** From the bottom of the page to the bottom of the signature's box. */
const signatureBottom = 84;
const footerBottom = 40;

/**
 * Digest of a list of numbers: each once in E.164, ascending by bytes, a line feed after each. `LC_ALL=C sort -u` of a column of
 * numbers, piped into `sha256sum`, gives the same.
 */
export function digestPhones(phones: readonly string[]): string {
  return sha256Of(phones.map((phone) => `${phone}\n`).join(''));
}

/**
 * Renders a letter of authorization as a PDF with embedded fonts and one empty signature field. The same content and issue give the
 * same bytes.
 * @throws ServiceError `form_text_unsupported` if a text has a character that the form's fonts or its left-to-right lines cannot show
 */
export async function renderLetterForm(
  content: FormContent,
  issue: FormIssue,
  language: FormLanguage,
): Promise<RenderedForm> {
  const texts = FORM_TEXTS[language];
  const size = letterPaper.has(content.country) ? 'LETTER' : 'A4';
  const { default: PDFDocument } = await import('pdfkit'); // takes 0.2 s of processor time to load
  const doc = new PDFDocument({
    size,
    margin,
    bufferPages: true,
    pdfVersion: '1.7',
    lang: language,
    info: {
      Title: texts.title,
      Producer: `Caller Trust ${formVersion}`,
      Creator: 'Caller Trust',
      CreationDate: issue.issuedAt,
    },
  });
  for (const [name, path] of Object.entries(fonts)) doc.registerFont(name, paths.resolve(path));
  checkCharacters(doc, content);
  const bytes = buffer(doc);
  writeBody(doc, { content, texts, issue });
  const signaturePlace = addSignatureField(doc, texts);
  writeFooters(doc, { texts, issue });
  doc.end();
  return { bytes: await bytes, signaturePlace };
}

/** Scripts that run from left to right without shaping, and that the fonts have. */
const supportedText = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}\p{Script=Inherited}]*$/u;

function checkCharacters(doc: PDFKit.PDFDocument, { phones: _digits, ...content }: FormContent): void {
  doc.font('bold');
  const { font } = (doc as unknown as { _font: { font: { hasGlyphForCodePoint(codePoint: number): boolean } } })._font; // pdfkit shows no glyph without asking
  for (const [field, value] of Object.entries(content)) {
    const text = textOf(value);
    if (
      supportedText.test(text) &&
      [...text].every((character) => character === '\n' || font.hasGlyphForCodePoint(character.codePointAt(0)!))
    )
      continue;
    throw new ServiceError('form_text_unsupported', {
      operation: 'render letter form',
      object: field,
      problem: 'The text has characters that the form cannot show.',
      hint: 'The form shows Latin, Greek and Cyrillic text. Submit a letter of your own: a person decides it.',
    });
  }
}

/** A value as it is printed; empty for none. */
function textOf(value: string | readonly string[] | null): string {
  return typeof value === 'object' ? (value?.join('\n') ?? '') : value;
}

interface Body {
  readonly content: FormContent;
  readonly texts: FormTexts;
  readonly issue: FormIssue;
}

function writeBody(doc: PDFKit.PDFDocument, { content, texts, issue }: Body): void {
  doc.font('bold').fontSize(sizes.title).text(texts.title).moveDown(0.8);
  paragraph(doc, fill(texts.authorizes, { legalName: content.legalName }));
  for (const field of approvedFields) row(doc, texts[field], textOf(content[field]) || texts.none);
  writeNumbers(doc, content.phones, texts);
  row(doc, texts.signerName, content.signerName);
  row(doc, texts.signerTitle, content.signerTitle);
  doc.moveDown(0.5);
  for (const text of [texts.declares, texts.validity, fill(texts.howToSign, { until: dayOf(issue.validUntil) })])
    paragraph(doc, text);
}

function paragraph(doc: PDFKit.PDFDocument, text: string): void {
  doc.font('text').fontSize(sizes.text).text(text, margin).moveDown(0.6);
}

function writeNumbers(doc: PDFKit.PDFDocument, phones: readonly string[], texts: FormTexts): void {
  if (phones.length === 0) return row(doc, texts.numbers, texts.noNumbers);
  if (phones.length <= formNumbersListedMax) return row(doc, texts.numbers, phones.join('\n'));
  row(doc, texts.numbers, fill(texts.listed, { count: String(phones.length) }));
  row(doc, texts.firstNumber, phones[0]!);
  row(doc, texts.lastNumber, phones.at(-1)!);
  doc.font('text').fontSize(sizes.label).text(texts.digest, margin);
  doc.font('bold').fontSize(sizes.digest).text(digestPhones(phones), margin).moveDown(0.5);
}

/** A label and its value side by side; the value wraps, and continues on the next page where it must. */
function row(doc: PDFKit.PDFDocument, label: string, value: string): void {
  const width = doc.page.width - 2 * margin - labelWidth;
  doc.font('bold').fontSize(sizes.text);
  const height = Math.max(
    doc.heightOfString(value, { width }),
    doc
      .font('text')
      .fontSize(sizes.label)
      .heightOfString(label, { width: labelWidth - 10 }),
  );
  if (doc.y + height > doc.page.height - margin - footerBottom) doc.addPage();
  const top = doc.y;
  doc
    .font('text')
    .fontSize(sizes.label)
    .text(label, margin, top + 1, { width: labelWidth - 10 });
  doc
    .font('bold')
    .fontSize(sizes.text)
    .text(value, margin + labelWidth, top, { width });
  doc.x = margin;
  doc.y = top + height + 5;
}

/** An empty signature field (ISO 32000-1 section 12.7.4.5) at the bottom of the last page, and the box that is drawn around it. */
function addSignatureField(doc: PDFKit.PDFDocument, texts: FormTexts): LetterPlace {
  const top = () => doc.page.height - signatureBottom - signatureBox.height;
  if (doc.y + 2 * sizes.text > top()) doc.addPage();
  const { width, height } = doc.page;
  const box = { left: margin, top: top(), ...signatureBox };
  doc
    .font('text')
    .fontSize(sizes.label)
    .text(texts.signature, margin, box.top - sizes.label - 5, { lineBreak: false });
  doc.lineWidth(0.6).strokeColor('#777777').rect(box.left, box.top, box.width, box.height).stroke();
  const field = doc.ref({
    Type: 'Annot',
    Subtype: 'Widget',
    FT: 'Sig',
    T: new String(signatureFieldName),
    F: 132, // printed, and locked in its place
    Rect: [box.left, height - box.top - box.height, box.left + box.width, height - box.top],
    P: doc.page.dictionary,
  });
  (field as unknown as { end(): void }).end(); // the types ask for a chunk of a stream, which a field does not have
  doc.initForm();
  const { _root: root } = doc as unknown as { _root: { data: { AcroForm: { data: Record<string, unknown> } } } }; // pdfkit has no signature fields
  const { NeedAppearances: _redrawn, ...form } = root.data.AcroForm.data; // viewers need not redraw fields
  // Programs append, and do not rewrite. Some look for the type, at this place, and damage the list of fields without it.
  root.data.AcroForm.data = { Type: 'AcroForm', ...form, Fields: [field], SigFlags: 3 };
  doc.page.dictionary.data['Annots'] = [field];
  const { left, top: boxTop } = box;
  return {
    page: doc.bufferedPageRange().count,
    line: 0,
    box: { left: left / width, top: boxTop / height, width: box.width / width, height: box.height / height },
  };
}

function writeFooters(doc: PDFKit.PDFDocument, { texts, issue }: Omit<Body, 'content'>): void {
  const { count } = doc.bufferedPageRange();
  const what = fill(texts.footer, { version: formVersion, code: writeCode(issue.code), issued: dayOf(issue.issuedAt) });
  for (let page = 0; page < count; page++) {
    doc.switchToPage(page);
    doc.page.margins.bottom = 0; // text below it would begin a page
    doc
      .font('text')
      .fontSize(sizes.footer)
      .fillColor('#000000')
      .text(what, margin, doc.page.height - footerBottom, { lineBreak: false });
    doc.text(
      fill(texts.page, { page: String(page + 1), pages: String(count) }),
      margin,
      doc.page.height - footerBottom + 10,
      { lineBreak: false },
    );
  }
}

/** A code as it is printed: groups of four. */
export function writeCode(code: string): string {
  return code.match(/.{1,4}/g)!.join('-');
}

function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => values[name]!);
}
