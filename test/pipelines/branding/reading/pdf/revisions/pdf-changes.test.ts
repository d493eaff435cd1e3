import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeCertificate, timeStampingPurpose } from '../../../../../../samples/letters/sample-signatures.ts';
import type { PdfRevision, PdfSignature } from '../../../../../../pipelines/branding/letter-reading.ts';
import { compareRevisions } from '../../../../../../pipelines/branding/reading/pdf/revisions/pdf-changes.ts';
import { renderPage } from '../../../../../../pipelines/branding/reading/ocr/page-image.ts';
import { openCheckedPdf } from '../../../../../../pipelines/branding/reading/pdf/checked-pdf.ts';
import { readPdfFile } from '../../../../../../pipelines/branding/reading/pdf/pdf-file.ts';
import { readPdfPages } from '../../../../../../pipelines/branding/reading/pdf/pdf-pages.ts';
import { revisionLimits } from '../../../../../../pipelines/branding/reading/pdf/revisions/pdf-revisions.ts';
import { readPdfFacts } from '../../../../../../pipelines/branding/reading/structure-task.ts';
import { letterLimits } from '../../letter-limits.ts';
import { appendHybridEnd, hybridPdf, letterPdf, pdf, plainText, stream } from '../../pdf-builder.ts';
import { appendPackedUpdate, appendUpdate, lastTable, object, type UpdateParts } from '../../pdf-update.ts';
import { fieldObject, signAgain, signedPdf, signUpdate, stampUpdate } from '../../signed-pdf.ts';

const [validFrom, validUntil] = [new Date('2025-01-01T00:00:00Z'), new Date('2045-01-01T00:00:00Z')];
const organization = 'Example Harbor Bank LLC';
const certificate = makeCertificate({ commonName: 'Marta Vance', organization, validFrom, validUntil });
const second = makeCertificate({ commonName: 'Teo Lindqvist', organization, validFrom, validUntil });
const authority = makeCertificate({
  commonName: 'Example TSA',
  organization: 'Example Trust Services',
  validFrom,
  validUntil,
  purpose: timeStampingPurpose,
});
const plan = { certificate, signedAt: new Date('2026-03-02T09:30:00Z') };
const later = { certificate: second, signedAt: new Date('2026-03-03T09:30:00Z') };
const stamping = { certificate: authority, time: new Date('2026-03-02T09:31:00Z') };

async function read(
  bytes: Uint8Array,
): Promise<{ revisions: readonly PdfRevision[]; signatures: readonly PdfSignature[] }> {
  return readPdfFacts({ bytes, limits: letterLimits, trustRootsPem: undefined });
}

/** Objects of a signed letter: 1 catalogue, 2 tree of pages, 3 page, 4 font, 5 content, 6 field, 7 its value. */
const signed = signedPdf(plan);
const page = (more = '/Annots [6 0 R]', content = '5 0 R') =>
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 4 0 R >>  >> /Contents ${content} ${more} >>`;
const catalogue = (more = '', fields = '6 0 R', form = '') =>
  `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [${fields}] /SigFlags 3 ${form} >> ${more} >>`;
const forged = stream('', plainText.replace('Harbor', 'Robber'));
const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>';
const dss = [
  '/DSS 40 0 R',
  [
    object(40, '<< /Type /DSS /Certs [41 0 R] /VRI << /00 << /Cert [41 0 R] >> >> >>'),
    object(41, stream('', 'certificate')),
  ],
] as const;
const update = (objects: UpdateParts['objects'], more: UpdateParts = {}) =>
  appendUpdate(signed, { ...more, ...(objects === undefined ? {} : { objects }) });
const look = stream('/Type /XObject /Subtype /Form /BBox [0 0 100 40]', 'q 0.9 g 0 0 100 40 re f Q');
const widget = (rect: string, more = '', value = '/V 21 0 R') =>
  `<< /Type /Annot /Subtype /Widget /FT /Sig /T (Signature2) /Rect [${rect}] /P 3 0 R ${value} /AP << /N 23 0 R >> ${more} >>`;
/** A second signature with a widget on the page. */
const signVisibly = (rect: string, { base = signed, more = '' }: { base?: Buffer; more?: string } = {}) =>
  signUpdate(base, later, {
    objects: [
      object(1, catalogue('', '6 0 R 22 0 R')),
      object(3, page('/Annots [6 0 R 22 0 R]')),
      object(22, widget(rect, more)),
      object(23, look),
    ],
  });
/** A second signature whose value has widgets of two fields, or two widgets of one. */
const signTwice = (objects: readonly (readonly [number, string])[], fields = '6 0 R 22 0 R 24 0 R') =>
  signUpdate(signed, later, {
    objects: [
      object(1, catalogue('', fields)),
      object(3, page('/Annots [6 0 R 22 0 R 24 0 R]')),
      ...objects,
      object(23, look),
    ],
  });
const kid = (rect: string, more = '') =>
  `<< /Type /Annot /Subtype /Widget /Rect [${rect}] /P 3 0 R /Parent 25 0 R /AP << /N 23 0 R >> ${more} >>`;
const stampShown = (objects: readonly (readonly [number, string])[], fields = '30 0 R') =>
  stampUpdate(signed, stamping, {
    objects: [
      object(1, catalogue('', `6 0 R ${fields}`)),
      object(3, page(`/Annots [6 0 R ${fields}]`)),
      ...objects,
      object(23, look),
    ],
  });
const [blank, text] = ['320 90 540 130', '60 690 560 720'] as const;

/** A letter with a form: a text field, a signature field that waits, and one that is signed. */
function formLetter(waiting = '320 90 540 130'): Buffer {
  const base = letterPdf({
    catalog: '/AcroForm << /Fields [6 0 R 7 0 R] /SigFlags 1 >>',
    page: '/Annots [6 0 R 7 0 R]',
    more: [
      '<< /Type /Annot /Subtype /Widget /FT /Tx /T (Company) /V (Example Harbor Bank LLC) /Rect [72 300 300 320] /P 3 0 R /F 4 >>',
      `<< /Type /Annot /Subtype /Widget /FT /Sig /T (Waiting) /Rect [${waiting}] /P 3 0 R /F 4 >>`,
    ],
  });
  const objects = [
    object(1, '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R 7 0 R 20 0 R] /SigFlags 3 >> >>'),
    object(20, fieldObject('Signature1', 19)),
  ] as const;
  return signUpdate(base, plan, { objects, value: 19 });
}
const companyField = (value: string, more = '/F 4') =>
  `<< /Type /Annot /Subtype /Widget /FT /Tx /T (Company) /V (${value}) /Rect [72 300 300 320] /P 3 0 R ${more} >>`;

describe('a later revision', () => {
  it.each<[string, () => Buffer, PdfRevision['kind'][]]>([
    ['none', () => signed, ['original']],
    ['a second signature that shows nothing', () => signAgain(signed, later), ['original', 'signature']],
    [
      'a second signature that shows itself where there is nothing',
      () => signVisibly('320 90 540 130'),
      ['original', 'signature'],
    ],
    ['a second signature outside the page', () => signVisibly('700 900 800 940'), ['original', 'signature']],
    ['validation data', () => update([object(1, catalogue(dss[0])), ...dss[1]]), ['original', 'validation']],
    [
      'validation data in a stream of objects',
      () =>
        appendPackedUpdate(signed, [
          object(1, catalogue('/DSS 40 0 R /Extensions << /ESIC << /BaseVersion /1.7 /ExtensionLevel 5 >> >>')),
          object(40, '<< /Type /DSS /Certs [] >>'),
        ]),
      ['original', 'validation'],
    ],
    [
      'validation data twice',
      () =>
        appendUpdate(update([object(1, catalogue(dss[0])), ...dss[1]]), {
          objects: [object(40, '<< /Type /DSS /Certs [41 0 R] /OCSPs [42 0 R] >>'), object(42, stream('', 'answer'))],
        }),
      ['original', 'validation', 'validation'],
    ],
    [
      'a document time stamp',
      () =>
        stampUpdate(signed, stamping, {
          objects: [object(1, catalogue('', '6 0 R 30 0 R')), object(30, fieldObject('Stamp', 31))],
        }),
      ['original', 'time_stamp'],
    ],
    [
      'a signature with new document properties',
      () =>
        signUpdate(signed, later, {
          objects: [
            object(1, catalogue('', '6 0 R 20 0 R')),
            object(20, fieldObject('Signature2', 21)),
            object(60, '<< /ModDate (D:20260303) >>'),
          ],
          trailer: '/Info 60 0 R',
        }),
      ['original', 'signature'],
    ],
    [
      'a field that was locked',
      () =>
        appendUpdate(formLetter(), { objects: [object(6, companyField('Example Harbor Bank LLC', '/F 132 /Ff 1'))] }),
      ['original', 'signature', 'validation'],
    ],
    [
      'a field that waited for its signature',
      () =>
        signUpdate(formLetter(), later, {
          objects: [
            object(
              7,
              '<< /Type /Annot /Subtype /Widget /FT /Sig /T (Waiting) /Rect [320 90 540 130] /P 3 0 R /F 132 /V 21 0 R /AP << /N 23 0 R >> >>',
            ),
            object(23, look),
          ],
        }),
      ['original', 'signature', 'signature'],
    ],
    ...(['0 0 0 0', '320 60 500 88'] as const).map((rect): [string, () => Buffer, PdfRevision['kind'][]] => [
      `a field that waited for its signature, whose rectangle became ${rect}`,
      () =>
        signUpdate(formLetter(), later, {
          objects: [object(7, widget(rect).replace('Signature2', 'Waiting')), object(23, look)],
        }),
      ['original', 'signature', 'signature'],
    ]),
    [
      'validation data behind a hybrid file',
      () => appendUpdate(signedHybrid(), { objects: [object(1, catalogue(dss[0], '20 0 R')), ...dss[1]] }),
      ['original', 'signature', 'validation'],
    ],
  ])('of %s leaves the letter as it was signed', async (_name, make, kinds) => {
    const { revisions, signatures } = await read(make());
    expect(revisions.map(({ kind }) => kind)).toEqual(kinds);
    expect(revisions.flatMap(({ changes }) => changes)).toEqual([]);
    expect(signatures.map(({ coverage }) => coverage)).toEqual(
      signatures.map((_each, at) =>
        at === signatures.length - 1 && !kinds.slice(1).some((kind) => kind === 'validation' || kind === 'time_stamp')
          ? 'whole'
          : 'extended',
      ),
    );
    expect(signatures.every(({ digestMatches, signatureValid }) => digestMatches && signatureValid)).toBe(true);
  });

  it('is identified by its end and the digest of all bytes up to there', async () => {
    const bytes = signAgain(signed, later);
    const { revisions } = await read(bytes);
    expect(revisions.map(({ end }) => end)).toEqual([signed.length, bytes.length]);
    expect(revisions[0]!.sha256).toBe(createHash('sha256').update(signed).digest('hex'));
  });
});

/** A letter that holds another text which no table lists (the preparation of "hide and replace"). */
const withHidden = (() => {
  const hidden = signedPdf(plan, {
    header: '%PDF-1.7\n5 0 obj\n<< /Length 10 >>\nstream\nBT ET BT E\nendstream\nendobj\n',
  });
  return { bytes: hidden, offset: hidden.indexOf('5 0 obj') };
})();

/** A letter with a stream of a table that nothing names, which shows another content. */
const withHiddenTable = (() => {
  const place = Buffer.alloc(5);
  place[0] = 1;
  place.writeUInt32BE(withHidden.offset, 1);
  const table = stream('/Type /XRef /Size 100 /W [1 4 0] /Index [5 1] /Root 1 0 R', place);
  const header = Buffer.concat([Buffer.from('%PDF-1.7\n60 0 obj\n'), table, Buffer.from('\nendobj\n')]);
  const bytes = signedPdf(plan, { header: header.toString('latin1') });
  return { bytes, offset: bytes.indexOf('60 0 obj') };
})();

describe('an attack on a signed letter', () => {
  it.each<[string, () => Buffer, RegExp]>([
    // Incremental saving attacks (Mladenov, Mainka, Meyer zu Selhausen, Grothe, Schwenk 2019, section 4.2).
    ['incremental saving: the content is replaced', () => update([object(5, forged)]), /page 1: content/],
    [
      'incremental saving: the page gets other content',
      () => update([object(3, page('/Annots [6 0 R]', '50 0 R')), object(50, forged)]),
      /page 1: content/,
    ],
    [
      'incremental saving: the catalogue gets other pages',
      () =>
        update([
          object(1, catalogue('').replace('2 0 R', '51 0 R')),
          object(51, '<< /Type /Pages /Count 1 /Kids [52 0 R] >>'),
          object(52, page()),
        ]),
      /the tree of pages/,
    ],
    [
      'incremental saving: no table',
      () => Buffer.concat([signed, Buffer.from('5 0 obj\n'), forged, Buffer.from('\nendobj\n%%EOF\n')]),
      /no table of objects/,
    ],
    [
      'incremental saving: a trailer without a table',
      () =>
        Buffer.concat([
          signed,
          Buffer.from('5 0 obj\n'),
          forged,
          Buffer.from('\nendobj\ntrailer\n<< /Root 1 0 R /Size 100 >>\n%%EOF\n'),
        ]),
      /no table of objects/,
    ],
    [
      'incremental saving: the old table is named again',
      () => update([object(5, forged)], { startxref: lastTable(signed) }),
      /table of objects lies outside/,
    ],
    [
      'incremental saving: the signature is copied along',
      () =>
        update([object(5, forged), object(7, signed.toString('latin1').match(/\n7 0 obj\n([\s\S]*?)\nendobj/)![1]!)]),
      /page 1: content/,
    ],
    // Shadow attacks (Mainka, Mladenov, Rohlmann 2021): hide, replace, hide and replace.
    [
      'shadow, hide: an object is freed',
      () => update([], { rows: () => [{ number: 5, offset: 0, generation: 1, kind: 'f' }] }),
      /page 1: content was taken away/,
    ],
    ['shadow, hide: an object becomes nothing', () => update([object(5, 'null')]), /page 1: content/],
    ['shadow, replace: a font', () => update([object(4, font)]), /page 1: resources/],
    [
      'shadow, replace: the value of a field',
      () => appendUpdate(formLetter(), { objects: [object(6, companyField('Robber Bank'))] }),
      /form field Company: "Example Harbor Bank LLC" became "Robber Bank"/,
    ],
    [
      'shadow, replace: what a field shows',
      () =>
        appendUpdate(formLetter(), {
          objects: [object(6, companyField('Example Harbor Bank LLC', '/F 4 /AP << /N 60 0 R >>')), object(60, look)],
        }),
      /form field Company: its appearance/,
    ],
    [
      'shadow, hide and replace: the table alone brings a hidden object up',
      () =>
        appendUpdate(withHidden.bytes, {
          rows: () => [{ number: 5, offset: withHidden.offset, generation: 0, kind: 'n' }],
        }),
      /replaced through the table/,
    ],
    [
      'shadow: an object is defined that the letter referred to in vain',
      () => appendUpdate(signedPdf(plan, { resources: '/XObject << /X 50 0 R >>' }), { objects: [object(50, look)] }),
      /object 50, which the letter referred to/,
    ],
    // Attacks on certification (Rohlmann, Mladenov, Mainka, Schwenk 2021).
    [
      'evil annotation: a free text',
      () =>
        update([
          object(3, page('/Annots [6 0 R 50 0 R]')),
          object(
            50,
            '<< /Type /Annot /Subtype /FreeText /Rect [72 600 400 650] /Contents (Also +1 202 555 0199) /DA (/Helv 12 Tf) >>',
          ),
        ]),
      /annotation added on page 1/,
    ],
    [
      'evil annotation: a stamp at the place of a field',
      () =>
        signUpdate(signed, later, {
          objects: [
            object(1, catalogue('', '6 0 R 22 0 R')),
            object(3, page('/Annots [6 0 R 22 0 R]')),
            object(22, widget('320 90 540 130').replace('/Widget', '/Stamp')),
            object(23, look),
          ],
        }),
      /at the place of a signature field/,
    ],
    [
      'sneaky signature: it is drawn over the text',
      () => signVisibly('60 690 560 720'),
      /drawn over the text or a picture of page 1/,
    ],
    [
      'sneaky signature: a waiting field over the text is filled',
      () =>
        signUpdate(formLetter('60 690 560 720'), later, {
          objects: [object(7, widget('60 690 560 720').replace('Signature2', 'Waiting')), object(23, look)],
        }),
      /drawn over the text/,
    ],
    [
      'sneaky signature: a waiting field that is filled is moved over the text',
      () =>
        signUpdate(formLetter(), later, {
          objects: [object(7, widget('60 690 560 720').replace('Signature2', 'Waiting')), object(23, look)],
        }),
      /drawn over the text/,
    ],
    [
      'a rectangle of a waiting field that is moved without a signature',
      () =>
        appendUpdate(formLetter(), {
          objects: [object(7, widget('320 60 500 88', '', '').replace('Signature2', 'Waiting')), object(23, look)],
        }),
      /form field Waiting was changed without a signature/,
    ],
    [
      'a hybrid trailer that brings hidden objects up',
      () => appendHybridEnd(withHiddenTable.bytes, withHiddenTable.offset),
      /table of objects|stream of objects|no table|outside/,
    ],
    [
      'sneaky signature: a second field shares the value and is drawn over the text',
      () => signTwice([object(22, widget(blank)), object(24, widget(text).replace('Signature2', 'Signature3'))]),
      /drawn in 2 places.*drawn over the text/,
    ],
    [
      'sneaky signature: a second widget, which is `Invisible`, over the text',
      () =>
        signTwice(
          [
            object(25, '<< /FT /Sig /T (Signature2) /V 21 0 R /Kids [22 0 R 24 0 R] >>'),
            object(22, kid(blank)),
            object(24, kid(text, '/F 1')),
          ],
          '6 0 R 25 0 R',
        ),
      /drawn in 2 places.*drawn over the text/,
    ],
    [
      'sneaky signature: a second widget, which its field does not know',
      () =>
        signTwice(
          [
            object(25, '<< /FT /Sig /T (Signature2) /V 21 0 R /Kids [22 0 R] >>'),
            object(22, kid(blank)),
            object(24, kid(text)),
          ],
          '6 0 R 25 0 R',
        ),
      /drawn in 2 places.*drawn over the text/,
    ],
    [
      'sneaky signature: over the text where it is printed, and not where it is viewed',
      () => signVisibly(text, { more: '/F 36' }),
      /drawn over the text/,
    ],
    [
      'sneaky signature: a time stamp that shows something',
      () => stampShown([object(30, widget(blank, '', '/V 31 0 R'))]),
      /the time stamp Signature2 is drawn on page 1/,
    ],
    [
      'sneaky signature: a field that shares the value of a time stamp',
      () =>
        stampShown([object(30, fieldObject('Stamp', 31)), object(22, widget(text, '', '/V 31 0 R'))], '30 0 R 22 0 R'),
      /drawn over the text/,
    ],
    [
      'a signature after a certification that forbids it',
      () =>
        signAgain(
          signedPdf(
            {
              ...plan,
              entries: '/Reference [<< /Type /SigRef /TransformMethod /DocMDP /TransformParams << /P 1 /V /1.2 >> >>]',
            },
            { catalog: '/Perms << /DocMDP 7 0 R >>' },
          ),
          later,
          '/Perms << /DocMDP 7 0 R >>',
        ),
      /certified to stay/,
    ],
    // Numbers, generations, tables.
    [
      'an object that the table does not list',
      () =>
        update([object(1, catalogue(dss[0])), ...dss[1], object(5, forged)], {
          rows: (rows) => rows.filter(({ number }) => number !== 5),
        }),
      /object 5 is not where the table says/,
    ],
    [
      'an object twice',
      () =>
        update([object(40, '<< /Type /DSS >>'), object(40, '<< /Type /DSS >>'), object(1, catalogue(dss[0]))], {
          rows: (rows) => rows.slice(1),
        }),
      /defined twice/,
    ],
    [
      'a table that lists another place',
      () =>
        update([object(1, catalogue('/DSS 40 0 R')), object(40, '<< /Type /DSS >>')], {
          rows: (rows) => rows.map((row) => (row.number === 40 ? { ...row, offset: row.offset - 3 } : row)),
        }),
      /object 40 is not where the table says/,
    ],
    [
      'a table with a row of 19 bytes',
      () => shortRow(update([object(1, catalogue(dss[0])), ...dss[1]])),
      /a row of the table of objects is damaged/,
    ],
    [
      'a table that leaves out the one before',
      () => update([object(1, catalogue(dss[0])), ...dss[1]], { previous: 9 }),
      /does not continue/,
    ],
    ['another catalogue', () => update([object(50, catalogue(''))], { root: '50 0 R' }), /another catalogue/],
    [
      'two ends in one update',
      () => update([object(1, catalogue(dss[0])), ...dss[1]], { after: 'startxref\n9\n%%EOF\n' }),
      /table of objects/,
    ],
    [
      'bytes between the revisions',
      () => update([object(1, catalogue(dss[0])), ...dss[1]], { before: 'hello\n' }),
      /bytes that belong to no object/,
    ],
    [
      'an object in a comment',
      () => update([object(1, catalogue(dss[0])), ...dss[1]], { before: '% 5 0 obj << >> endobj\n' }),
      /object 5 is not where/,
    ],
    [
      'a hybrid table that lists a hidden object',
      () =>
        appendUpdate(withHidden.bytes, {
          objects: [
            object(
              60,
              stream('/Type /XRef /Size 6 /W [1 4 1] /Index [5 1]', Buffer.from([1, 0, 0, 0, withHidden.offset, 0])),
            ),
          ],
          trailer: `/XRefStm ${withHidden.bytes.length}`,
        }),
      /replaced through the table|two things|not/,
    ],
    [
      'a hybrid stream that contradicts its table',
      () => hybrid({ entry: 5, listed: signed.indexOf('\n5 0 obj') + 1 }),
      /two tables of one revision do not agree/,
    ],
    [
      'a hybrid stream that shows what its table has as free',
      () => hybrid({ entry: 70, free: true }),
      /two tables of one revision do not agree/,
    ],
    [
      'a hybrid stream that leads to other tables',
      () => hybrid({ entry: 60, previous: 9 }),
      /two tables of one revision do not agree/,
    ],
    // Roles: an object that is two things.
    [
      'validation data that replace a font too',
      () => update([object(1, catalogue(dss[0])), ...dss[1], object(4, font)]),
      /page 1: resources/,
    ],
    [
      'validation data under the number of the font',
      () => update([object(1, catalogue('/DSS 4 0 R')), object(4, '<< /Type /DSS /Certs [] >>')]),
      /page 1: resources/,
    ],
    [
      'validation data that are the font, changed later',
      () =>
        appendUpdate(appendUpdate(signed, { objects: [object(1, catalogue('/DSS 4 0 R'))] }), {
          objects: [object(4, '<< /Type /DSS /Certs [] >>')],
        }),
      /Font|resources|used for two things|validation data/,
    ],
    [
      'validation data with something else in them',
      () => update([object(1, catalogue('/DSS 40 0 R')), object(40, '<< /Type /DSS /Certs [] /Contents 5 0 R >>')]),
      /validation data: Contents/,
    ],
    [
      'properties that are the font',
      () =>
        appendUpdate(signedPdf(plan, { trailer: '/Info 4 0 R' }), {
          objects: [object(4, font)],
          trailer: '/Info 4 0 R',
        }),
      /resources/,
    ],
    [
      'properties alone',
      () => appendUpdate(withProperties(), { objects: [object(6, '<< /Title (Other) >>')], trailer: '/Info 6 0 R' }),
      /^document properties$/,
    ],
    [
      'metadata that are the content',
      () =>
        appendUpdate(metadataAsContent(), {
          objects: [object(5, stream('/Type /Metadata /Subtype /XML', plainText.replace('Harbor', 'Robber')))],
        }),
      /page 1: content|two things/,
    ],
    [
      'metadata that are the content of a page inside the catalogue',
      () =>
        appendUpdate(pageInCatalogue(), {
          objects: [
            object(2, stream('/Type /Metadata /Subtype /XML', plainText.replace('Harbor', 'Robber'))),
            object(40, '<< /Type /DSS /Certs [] >>'),
            object(1, catalogueWithPage('/DSS 40 0 R')),
          ],
        }),
      /used for two things/,
    ],
    [
      'validation data with a picture in a field that waits',
      () =>
        appendUpdate(formLetter(), {
          objects: [
            object(
              1,
              '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R 7 0 R 20 0 R] /SigFlags 3 >> /DSS 40 0 R >>',
            ),
            object(40, '<< /Type /DSS /Certs [] >>'),
            object(7, widget('320 90 540 130', '', '').replace('Signature2', 'Waiting')),
            object(23, look),
          ],
        }),
      /form field Waiting was changed without a signature/,
    ],
    // Other changes.
    [
      'a field that waits',
      () =>
        update([
          object(1, catalogue('', '6 0 R 22 0 R')),
          object(22, widget('320 90 540 130', '', '')),
          object(23, look),
        ]),
      /form field Signature2 was added/,
    ],
    [
      'a field of text',
      () => update([object(1, catalogue('', '6 0 R 50 0 R')), object(50, '<< /FT /Tx /T (More) /V (text) >>')]),
      /form fields were added/,
    ],
    [
      'a form that draws its fields again',
      () => update([object(1, catalogue('', '6 0 R', '/NeedAppearances true'))]),
      /form: NeedAppearances/,
    ],
    [
      'a signature field that takes over another',
      () =>
        signUpdate(formLetter(), later, {
          objects: [
            object(
              1,
              '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R 7 0 R 20 0 R 22 0 R] /SigFlags 3 >> >>',
            ),
            object(22, '<< /FT /Sig /T (S) /V 21 0 R /Kids [6 0 R] >>'),
          ],
        }),
      /takes over a place/,
    ],
    [
      'a signature with an action',
      () => signVisibly('320 90 540 130', { more: '/A << /S /GoTo /D [3 0 R /Fit] >>' }),
      /form field Signature2: A/,
    ],
    [
      'a layer',
      () =>
        update([
          object(1, catalogue('/OCProperties << /OCGs [50 0 R] /D << /OFF [50 0 R] >> >>')),
          object(50, '<< /Type /OCG /Name (x) >>'),
        ]),
      /layers/,
    ],
    ['a table of names', () => update([object(1, catalogue('/Names << /Dests << >> >>'))]), /table of names/],
    ['permissions', () => update([object(1, catalogue('/Perms << /UR3 7 0 R >>'))]), /permissions: UR3/],
    ['a page that is turned', () => update([object(3, page('/Annots [6 0 R] /Rotate 180'))]), /page 1: Rotate/],
    ['a page without the signature', () => update([object(3, page(''))]), /annotation taken away on page 1/],
    [
      'a signature that is replaced',
      () =>
        update([
          object(
            7,
            '<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /adbe.pkcs7.detached /Contents <00> /ByteRange [0 1 2 3] >>',
          ),
        ]),
      /a signature/,
    ],
    ['objects that nothing shows', () => update([object(50, '<< >>')]), /objects that nothing shows/],
    ['an update of nothing', () => update([]), /objects that nothing shows/],
  ])('is seen: %s', async (_name, make, words) => {
    const { revisions, signatures } = await read(make());
    expect(revisions.flatMap(({ changes }) => changes).join('; ')).toMatch(words);
    expect(revisions.some(({ kind }) => kind === 'other')).toBe(true);
    expect(['changed', 'partial']).toContain(signatures[0]!.coverage);
  });

  it('by another generation of an object is refused: readers do not agree on it', async () => {
    await expect(read(update([object(5, forged)], { generation: 1 }))).rejects.toThrow(/generation/);
    const file = readPdfFile(update([object(5, forged)], { generation: 1 }));
    expect(compareRevisions({ file, pages: readPdfPages(file, { pagesMax: 1, inchesMax: 50 }) })[1]).toMatchObject({
      kind: 'other',
      changes: [expect.stringContaining('another generation'), expect.stringContaining('page 1: content')],
    });
  });

  it('by a claim that the letter is linearized to the end of the update leaves a signature that covers a part', async () => {
    expect((await read(claimLinearized())).signatures).toMatchObject([{ coverage: 'partial' }]);
  });

  // Signature wrapping and universal forgery (Mladenov et al. 2019, sections 4.3 and 4.4): no bytes are left out.
  it.each<[string, (bytes: Buffer) => Buffer]>([
    [
      'wrapping: the second stretch is moved behind other bytes',
      (bytes) => withRange(bytes, ([start, length, next, rest]) => [start!, length!, next! + 40, rest! - 40]),
    ],
    [
      'wrapping: the first stretch ends early',
      (bytes) => withRange(bytes, ([start, length, next, rest]) => [start!, length! - 20, next!, rest!]),
    ],
    [
      'forgery: a negative range',
      (bytes) =>
        Buffer.from(bytes.toString('latin1').replace(/\/ByteRange \[ {9}0/, '/ByteRange [        -1'), 'latin1'),
    ],
    [
      'forgery: a range of nothing',
      (bytes) =>
        Buffer.from(
          bytes
            .toString('latin1')
            .replace(/\/ByteRange \[[^\]]*\]/, (text) => `/ByteRange null${' '.repeat(text.length - 15)}`),
          'latin1',
        ),
    ],
    [
      'forgery: contents of zeros',
      (bytes) =>
        Buffer.from(
          bytes
            .toString('latin1')
            .replace(/\/Contents <[0-9a-f]+>/, (text) => `/Contents <${'0'.repeat(text.length - 12)}>`),
          'latin1',
        ),
    ],
    [
      'forgery: no contents',
      (bytes) => Buffer.from(bytes.toString('latin1').replace('/Contents <', '/Contentz <'), 'latin1'),
    ],
    [
      'forgery: no kind of signature',
      (bytes) => Buffer.from(bytes.toString('latin1').replace('/SubFilter', '/SubFilteR'), 'latin1'),
    ],
  ])('proves nothing: %s', async (_name, change) => {
    const { signatures } = await read(change(Buffer.from(signed)));
    expect(
      signatures.some(
        ({ digestMatches, signatureValid, coverage }) => digestMatches && signatureValid && coverage !== 'partial',
      ),
    ).toBe(false);
    expect(signatures).not.toEqual([]);
  });
});

describe('any change of bytes behind a signature', () => {
  const base = stampUpdate(update([object(1, catalogue(dss[0])), ...dss[1]]), stamping, {
    objects: [object(1, catalogue(dss[0], '6 0 R 30 0 R')), object(30, fieldObject('Stamp', 31))],
  });
  // The hexadecimal digits of the stamp are most of the bytes, and change nothing that a page shows.
  const places = Array.from({ length: base.length - signed.length }, (_each, at) => signed.length + at).filter(
    (place) => !/[0-9a-f]{24}/.test(base.toString('latin1', place - 12, place + 12)),
  );
  const byte = fc.oneof(fc.constantFrom(...Buffer.from('0123456789 /<>[]\nRf')), fc.integer({ min: 0, max: 255 }));

  it('alters nothing of what is read while the signature still counts', async () => {
    const draw = async (bytes: Buffer) => {
      const { pages, document } = await openCheckedPdf(bytes, letterLimits);
      const { gray } = renderPage(document, { page: 1, ...pages[0]! }, 36);
      document.close();
      return Buffer.from(gray);
    };
    const original = await draw(base);
    let counted = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...places), byte), { minLength: 1, maxLength: 3 }),
        async (changes) => {
          const bytes = Buffer.from(base);
          for (const [place, value] of changes) bytes[place] = value;
          const reading = await read(bytes).catch(() => null);
          const [first] = reading?.signatures ?? [];
          if (reading === null || first === undefined || first.coverage === 'changed' || first.coverage === 'partial')
            return;
          counted++;
          expect((await draw(bytes)).equals(original)).toBe(true);
        },
      ),
      { numRuns: 400 },
    );
    expect(counted).toBeGreaterThan(0);
  });
});

describe('the limits of revisions', () => {
  const revised = (count: number) =>
    Array.from({ length: count - 1 }).reduce<Buffer>(
      (file) => appendUpdate(file, { objects: [object(50, '<< >>')] }),
      letterPdf(),
    );

  it('are reached by as many as the limit, and not by one more', async () => {
    expect((await read(revised(revisionLimits.revisionsMax))).revisions).toHaveLength(revisionLimits.revisionsMax);
    await expect(read(revised(revisionLimits.revisionsMax + 1))).rejects.toMatchObject({
      code: 'letter_limit_exceeded',
    });
  });

  it('bound the time of comparing', async () => {
    const objects = Array.from({ length: 400 }, (_each, at) => [100 + at, `[${'0 '.repeat(400)}]`] as const);
    const file = Array.from({ length: 5 }).reduce<Buffer>(
      (bytes) => appendUpdate(bytes, { objects }),
      pdf([
        '<< /Type /Catalog /Pages 2 0 R >>',
        '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
        '<< /Type /Page /Parent 2 0 R >>',
      ]),
    );
    const start = performance.now();
    await read(file).catch(() => undefined);
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});

function withRange(bytes: Buffer, change: (range: number[]) => number[]): Buffer {
  return Buffer.from(
    bytes.toString('latin1').replace(/\/ByteRange \[([^\]]*)\]/, (text, numbers: string) =>
      `/ByteRange [${change(numbers.trim().split(/\s+/).map(Number))
        .map((each) => String(each).padStart(10))
        .join(' ')}]`.padEnd(text.length),
    ),
    'latin1',
  );
}

/** The first object says that the file is linearized and ends with the attacker's update. */
function claimLinearized(): Buffer {
  const header = (length: number) =>
    `%PDF-1.7\n80 0 obj\n<< /Linearized 1 /L ${String(length).padStart(8, '0')} >>\nendobj\n`;
  const size = appendUpdate(signedPdf(plan, { header: header(0) }), { objects: [object(5, forged)] }).length;
  return appendUpdate(signedPdf(plan, { header: header(size) }), { objects: [object(5, forged)] });
}

/** Validation data in a hybrid update: its stream lists an object at the place of itself, and may lead to other tables. */
function hybrid({
  entry,
  listed,
  free = false,
  previous,
}: {
  entry: number;
  listed?: number;
  free?: boolean;
  previous?: number;
}): Buffer {
  const place = Buffer.alloc(6, 0);
  place[0] = 1;
  place.writeUInt32BE(signed.length, 1);
  const body = stream(
    `/Type /XRef /Size 100 /W [1 4 1] /Index [${entry} 1] ${previous === undefined ? '' : `/Prev ${previous}`}`,
    place,
  );
  const row = listed === undefined ? [] : [{ number: entry, offset: listed, generation: 0, kind: 'n' as const }];
  const rows: NonNullable<UpdateParts['rows']> = (own) => [
    ...own,
    ...row,
    ...(free ? [{ number: entry, offset: 0, generation: 1, kind: 'f' as const }] : []),
  ];
  return update([object(60, body), object(1, catalogue(dss[0])), ...dss[1]], {
    trailer: `/XRefStm ${signed.length}`,
    rows,
  });
}

/** A hybrid letter that is signed. */
function signedHybrid(): Buffer {
  return signUpdate(hybridPdf(), plan, {
    objects: [object(1, catalogue('', '20 0 R')), object(20, fieldObject('Signature1', 21))],
  });
}

/** The last row of the newest table has one byte less than it must have; some readers count on 20. */
function shortRow(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf(' \ntrailer');
  return Buffer.concat([bytes.subarray(0, end), bytes.subarray(end + 1)]);
}

function withProperties(): Buffer {
  const base = letterPdf({ trailer: '/Info 6 0 R', more: ['<< /Title (Letter) >>'] });
  return signUpdate(base, plan, {
    objects: [object(1, catalogue('', '20 0 R')), object(20, fieldObject('Signature1', 21))],
    trailer: '/Info 6 0 R',
  });
}

const catalogueWithPage = (more: string) =>
  `<< /Type /Catalog /Metadata 2 0 R ${more} /Pages << /Type /Pages /Count 1 /Kids [<< /Type /Page /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents 2 0 R >>] >> /AcroForm << /Fields [20 0 R] /SigFlags 3 >> >>`;

/** A letter whose only page is a part of the catalogue, so that one object refers to its content twice. */
function pageInCatalogue(): Buffer {
  const base = pdf([
    catalogueWithPage(''),
    stream('/Type /Metadata /Subtype /XML', plainText),
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]);
  return signUpdate(base, plan, { objects: [object(20, fieldObject('Signature1', 21))] });
}

function metadataAsContent(): Buffer {
  return signedPdf(plan, {
    catalog: '/Metadata 5 0 R',
    contentObject: stream('/Type /Metadata /Subtype /XML', plainText),
  });
}
