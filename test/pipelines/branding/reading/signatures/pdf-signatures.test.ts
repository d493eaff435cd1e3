import { describe, expect, it } from 'vitest';
import type { PdfSignature } from '../../../../../pipelines/branding/letter-reading.ts';
import { makeCertificate, timeStampingPurpose } from '../../../../../samples/letters/sample-signatures.ts';
import { readPdfFacts } from '../../../../../pipelines/branding/reading/structure-task.ts';
import { pdfTime } from '../../../../../pipelines/branding/reading/signatures/pdf-signatures.ts';
import { letterLimits } from '../letter-limits.ts';
import { letterPdf, stream } from '../pdf-builder.ts';
import { appendUpdate } from '../pdf-update.ts';
import { addRevision, fieldObject, signAgain, signedPdf, stampUpdate } from '../signed-pdf.ts';

const [validFrom, validUntil] = [new Date('2025-01-01T00:00:00Z'), new Date('2035-01-01T00:00:00Z')];
const root = makeCertificate({
  commonName: 'Example Root',
  organization: 'Example Trust Services',
  validFrom,
  validUntil,
  ca: true,
});
const certificate = makeCertificate({
  commonName: 'Marta Vance',
  organization: 'Example Harbor Bank LLC',
  issuer: root,
  validFrom,
  validUntil,
});
const signedAt = new Date('2026-03-02T09:30:00Z');
const plan = { certificate, signedAt };

async function signaturesOf(bytes: Uint8Array, trustRootsPem?: string): Promise<readonly PdfSignature[]> {
  return (await readPdfFacts({ bytes, limits: letterLimits, trustRootsPem })).signatures;
}

describe('the signatures of a letter', () => {
  it('are none where nobody signed digitally', async () => {
    expect(await signaturesOf(letterPdf())).toEqual([]);
  });

  it('are verified, with their signer, time, field and page', async () => {
    expect(await signaturesOf(signedPdf(plan))).toEqual([
      {
        field: 'Signature1',
        page: 1,
        box: { left: 0.1176, top: 0.8359, width: 0.3725, height: 0.0505 },
        timeStamp: null,
        subFilter: 'adbe.pkcs7.detached',
        signerName: 'Marta Vance',
        signerOrganization: 'Example Harbor Bank LLC',
        signerCountry: null,
        signerOrganizationId: null,
        signedAt: '2026-03-02T09:30:00.000Z',
        digestMatches: true,
        signatureValid: true,
        coverage: 'whole',
        chain: 'unchecked',
        revocation: 'unknown',
        problem: null,
      },
    ]);
  });

  it('lead to a configured root, or do not', async () => {
    const other = makeCertificate({ commonName: 'Other Root', organization: 'Other', validFrom, validUntil, ca: true });
    const bytes = signedPdf(plan);
    expect((await signaturesOf(bytes, root.pem))[0]).toMatchObject({ chain: 'trusted', signatureValid: true });
    expect((await signaturesOf(bytes, other.pem))[0]).toMatchObject({ chain: 'untrusted', signatureValid: true });
  });

  it('of CAdES take their time from the dictionary where they hold none', async () => {
    const [signature] = await signaturesOf(
      signedPdf({
        certificate,
        signedAt: null,
        subFilter: 'ETSI.CAdES.detached',
        entries: "/M (D:20260302103000+01'00')",
      }),
    );
    expect(signature).toMatchObject({
      subFilter: 'ETSI.CAdES.detached',
      digestMatches: true,
      signatureValid: true,
      signedAt: '2026-03-02T09:30:00.000Z',
    });
  });

  it('show a byte that was changed after signing', async () => {
    const bytes = signedPdf(plan);
    bytes.write('Zxample', bytes.indexOf('Example'));
    expect((await signaturesOf(bytes))[0]).toMatchObject({ digestMatches: false, coverage: 'whole' });
  });

  it('say that the letter was changed when something was added later', async () => {
    const [signature] = await signaturesOf(addRevision(signedPdf(plan), '30 0 obj\n(a later change)\nendobj\n'));
    expect(signature).toMatchObject({ digestMatches: true, signatureValid: true, coverage: 'changed' });
  });

  it.each<[string, (range: number[]) => number[]]>([
    ['does not begin at 0', ([, length, second, rest]) => [1, length! - 1, second!, rest!]],
    ['leaves out more than the signature', ([start, length, second, rest]) => [start!, length! - 10, second!, rest!]],
    [
      'leaves out bytes behind the signature',
      ([start, length, second, rest]) => [start!, length!, second! + 10, rest! - 10],
    ],
    ['ends before the end of the file', ([start, length, second, rest]) => [start!, length!, second!, rest! - 8]],
  ])('leave out a part when the byte range %s', async (_name, range) => {
    expect((await signaturesOf(signedPdf({ ...plan, range })))[0]).toMatchObject({
      coverage: 'partial',
      digestMatches: false,
    });
  });

  it('of two revisions both count when the later one covers the whole file', async () => {
    const second = makeCertificate({
      commonName: 'Teo Lindqvist',
      organization: 'Example Agency',
      issuer: root,
      validFrom,
      validUntil,
    });
    const signatures = await signaturesOf(signAgain(signedPdf(plan), { certificate: second, signedAt }), root.pem);
    expect(
      signatures.map(({ field, signerName, digestMatches, coverage, chain }) => ({
        field,
        signerName,
        digestMatches,
        coverage,
        chain,
      })),
    ).toEqual([
      { field: 'Signature1', signerName: 'Marta Vance', digestMatches: true, coverage: 'extended', chain: 'trusted' },
      { field: 'Signature2', signerName: 'Teo Lindqvist', digestMatches: true, coverage: 'whole', chain: 'trusted' },
    ]);
  });

  it('with validation data and a document time stamp (levels B-LT and B-LTA) hold for a certificate that has expired since', async () => {
    const shortLived = makeCertificate({
      commonName: 'Marta Vance',
      organization: 'Example Harbor Bank LLC',
      issuer: root,
      validFrom,
      validUntil: new Date('2026-06-01T00:00:00Z'),
    });
    const authority = makeCertificate({
      commonName: 'Example TSA',
      organization: 'Example Trust Services',
      issuer: root,
      validFrom,
      validUntil,
      purpose: timeStampingPurpose,
    });
    const baseline = signedPdf({ certificate: shortLived, signedAt, subFilter: 'ETSI.CAdES.detached' });
    const catalogue = (fields: string) =>
      `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [${fields}] /SigFlags 3 >> /DSS 40 0 R >>`;
    const longTerm = appendUpdate(baseline, {
      objects: [
        [1, catalogue('6 0 R')],
        [40, '<< /Type /DSS /Certs [41 0 R] >>'],
        [41, stream('', Buffer.from(shortLived.der))],
      ],
    });
    const archived = stampUpdate(
      longTerm,
      { certificate: authority, time: new Date('2026-03-03T00:00:00Z') },
      {
        objects: [
          [1, catalogue('6 0 R 30 0 R')],
          [30, fieldObject('Stamp', 31)],
        ],
      },
    );
    expect(await signaturesOf(longTerm, root.pem)).toMatchObject([
      { coverage: 'extended', timeStamp: null, chain: 'untrusted' },
    ]);
    expect(await signaturesOf(archived, root.pem)).toMatchObject([
      {
        coverage: 'extended',
        signedAt: '2026-03-02T09:30:00.000Z',
        timeStamp: { time: '2026-03-03T00:00:00.000Z', authority: 'Example TSA', chain: 'trusted' },
        chain: 'trusted',
        problem: null,
      },
    ]);
  });

  it('with a time stamp (level B-T) are not dated later than it', async () => {
    const authority = makeCertificate({
      commonName: 'Example TSA',
      organization: 'Example Trust Services',
      issuer: root,
      validFrom,
      validUntil,
      purpose: timeStampingPurpose,
    });
    const stamp = { certificate: authority, time: new Date('2026-03-01T00:00:00Z') };
    expect(await signaturesOf(signedPdf({ ...plan, stamp }), root.pem)).toMatchObject([
      {
        signedAt: '2026-03-01T00:00:00.000Z',
        timeStamp: { authority: 'Example TSA', chain: 'trusted' },
        chain: 'trusted',
      },
    ]);
  });

  it('of a type that is not supported have a problem', async () => {
    expect((await signaturesOf(signedPdf({ ...plan, subFilter: 'adbe.x509.rsa_sha1' })))[0]).toMatchObject({
      digestMatches: false,
      signatureValid: false,
      problem: 'The type of the signature is not supported.',
    });
  });
});

describe('a time of a PDF', () => {
  it.each([
    ['D:20260302093000Z', '2026-03-02T09:30:00.000Z'],
    ["D:20260302103000+01'00'", '2026-03-02T09:30:00.000Z'],
    ["D:20260302043000-05'00", '2026-03-02T09:30:00.000Z'],
    ['D:2026', '2026-01-01T00:00:00.000Z'],
    ['D:20261345', null],
    ['2 March 2026', null],
  ])('%s is %s', (text, time) => {
    expect(pdfTime(text)).toBe(time);
  });
});
