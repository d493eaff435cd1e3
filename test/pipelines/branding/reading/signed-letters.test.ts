import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { makeCertificate, timeStampingPurpose } from '../../../../samples/letters/sample-signatures.ts';
import { readPdfFacts } from '../../../../pipelines/branding/reading/structure-task.ts';
import { letterLimits } from './letter-limits.ts';
import { stream } from './pdf-builder.ts';
import { appendUpdate } from './pdf-update.ts';
import { fieldObject, stampUpdate } from './signed-pdf.ts';

/** One text by four producers, signed by two tools; make-signed-letters.mjs next to the files says how and with which versions. */
const producers = ['libreoffice', 'chromium', 'ghostscript', 'pdf-lib'] as const;
const tools = ['pdfsig', 'signpdf'] as const;
const file = (name: string) => readFileSync(new URL(`../../../support/signed-letters/${name}`, import.meta.url));
const signed = (producer: string, tool: string) => gunzipSync(file(`${producer}-${tool}.pdf.gz`));
const root = file('root.pem').toString();
const letters = producers.flatMap((producer) => tools.map((tool) => [producer, tool] as const));

const read = (bytes: Uint8Array) => readPdfFacts({ bytes, limits: letterLimits, trustRootsPem: root });

/** The catalogue of a file, its number, and the form that it has. */
function catalogueOf(bytes: Buffer): { number: string; entries: string } {
  const text = bytes.toString('latin1');
  const number = [...text.matchAll(/\/Root\s+(\d+) 0 R/g)].at(-1)![1]!;
  const entries = [...text.matchAll(new RegExp(`(?<!\\d)${number} 0 obj\\s*<<([\\s\\S]*?)>>\\s*endobj`, 'g'))].at(
    -1,
  )![1]!;
  return { number, entries };
}

/** The form of a file, an object of its own in all of these letters. */
function formOf(bytes: Buffer): { number: number; withField: (field: string) => string } {
  const text = bytes.toString('latin1');
  const number = Number([...text.matchAll(/\/AcroForm (\d+) 0 R/g)].at(-1)![1]);
  const entries = [...text.matchAll(new RegExp(`(?<!\\d)${number} 0 obj\\s*<<([\\s\\S]*?)>>\\s*endobj`, 'g'))].at(
    -1,
  )![1]!;
  return {
    number,
    withField: (field) =>
      `<<${entries.replace(/\/Fields \[([^\]]*)\]/, (_all, fields: string) => `/Fields [${fields} ${field}]`)}>>`,
  };
}

const authority = makeCertificate({
  commonName: 'Example TSA',
  organization: 'Example Trust Services',
  purpose: timeStampingPurpose,
  validFrom: new Date('2026-01-01T00:00:00Z'),
  validUntil: new Date('2056-01-01T00:00:00Z'),
});

describe('a letter', () => {
  it.each(letters)(
    'by %s, signed with %s, is read, and nothing but the signature was added',
    async (producer, tool) => {
      const { signatures, revisions } = await read(signed(producer, tool));
      expect(revisions.map(({ kind, changes }) => ({ kind, changes }))).toEqual([
        { kind: 'original', changes: [] },
        { kind: 'signature', changes: [] },
      ]);
      expect(signatures).toMatchObject([
        {
          signerName: 'Ines Marwick',
          signerOrganization: 'Wrenfield Tea Traders LLC',
          digestMatches: true,
          signatureValid: true,
          coverage: 'whole',
          chain: 'trusted',
          timeStamp: null,
          problem: null,
        },
      ]);
    },
  );

  it.each(letters)(
    'by %s, signed with %s, keeps its signature when validation data and a time stamp are added, and shows a change',
    async (producer, tool) => {
      const bytes = signed(producer, tool);
      const { number, entries } = catalogueOf(bytes);
      const parts = { root: `${number} 0 R` };
      const longTerm = appendUpdate(bytes, {
        ...parts,
        objects: [
          [Number(number), `<<${entries} /DSS 940 0 R >>`],
          [940, '<< /Type /DSS /Certs [941 0 R] >>'],
          [941, stream('', 'certificate')],
        ],
      });
      expect((await read(longTerm)).signatures[0]).toMatchObject({
        coverage: 'extended',
        timeStamp: null,
        chain: 'trusted',
      });
      const form = formOf(longTerm);
      const time = new Date();
      const archived = stampUpdate(
        longTerm,
        { certificate: authority, time },
        {
          ...parts,
          objects: [
            [form.number, form.withField('930 0 R')],
            [930, fieldObject('Stamp', 931)],
          ],
          value: 931,
        },
      );
      expect((await read(archived)).signatures[0]).toMatchObject({
        coverage: 'extended',
        timeStamp: { authority: 'Example TSA', chain: 'untrusted' },
        chain: 'trusted',
      });
      const changed = appendUpdate(longTerm, {
        ...parts,
        objects: [[Number(number), `<<${entries} /DSS 940 0 R /PageMode /UseOutlines >>`]],
      });
      expect((await read(changed)).signatures[0]).toMatchObject({ coverage: 'changed' });
    },
  );
});

/** The issued form, and a hybrid letter of a word processor, as programs sign them; make-signed-forms.mjs says how. */
describe('a file that a program has signed', () => {
  const formsRoot = file('forms-root.pem').toString();
  const readForm = (name: string) =>
    readPdfFacts({ bytes: gunzipSync(file(`${name}.pdf.gz`)), limits: letterLimits, trustRootsPem: formsRoot });

  it.each<[string, string, number | null]>([
    ['form-pdfbox-existing', 'Signature', null],
    ['form-pdfbox-new', 'Signature1', null],
    ['form-podofo-existing', 'Signature', 1],
    ['form-podofo-new', 'PodofoSignatureField26', null],
    ['form-signpdf', 'Signature2', null],
    ['hybrid-pdfbox', 'Signature1', null],
    ['hybrid-podofo', 'PodofoSignatureField104', null],
  ])('has the signature alone added: %s', async (name, field, page) => {
    const { revisions, signatures } = await readForm(name);
    expect(revisions.map(({ kind, changes }) => ({ kind, changes }))).toEqual([
      { kind: 'original', changes: [] },
      { kind: 'signature', changes: [] },
    ]);
    expect(signatures).toMatchObject([
      {
        field,
        page,
        signerName: 'Ines Marwick',
        digestMatches: true,
        signatureValid: true,
        coverage: 'whole',
        chain: 'trusted',
        problem: null,
      },
    ]);
  });

  it('by a weak digest is not verified, and says so of the one who signed', async () => {
    const { revisions, signatures } = await readForm('form-mupdf');
    expect(revisions.map(({ kind }) => kind)).toEqual(['original', 'signature']);
    expect(signatures).toMatchObject([
      {
        signerName: 'Ines Marwick',
        signerOrganization: 'Wrenfield Tea Traders LLC',
        signatureValid: false,
        chain: 'untrusted',
        problem: 'The signature uses SHA-1, which can be forged.',
      },
    ]);
  });

  it('whose list of fields the program has damaged is read, and says what happened', async () => {
    const { revisions, signatures } = await readForm('form-signpdf-damaged');
    expect(revisions[1]).toMatchObject({
      kind: 'other',
      changes: expect.arrayContaining(['the program that signed damaged the list of form fields']),
    });
    expect(signatures).toMatchObject([{ signatureValid: true, digestMatches: true, chain: 'trusted' }]);
  });

  it('is not said to have no trusted roots to compare with where there are some and its kind is not known', async () => {
    const bytes = gunzipSync(file('form-pdfbox-new.pdf.gz'));
    const unknown = Buffer.from(
      bytes.toString('latin1').replace('/adbe.pkcs7.detached', '/adbe.pkcs7.sha1____'),
      'latin1',
    );
    const { signatures } = await readPdfFacts({ bytes: unknown, limits: letterLimits, trustRootsPem: formsRoot });
    expect(signatures).toMatchObject([{ chain: 'untrusted', problem: 'The type of the signature is not supported.' }]);
    const unconfigured = await readPdfFacts({ bytes: unknown, limits: letterLimits, trustRootsPem: undefined });
    expect(unconfigured.signatures).toMatchObject([{ chain: 'unchecked' }]);
  });
});
