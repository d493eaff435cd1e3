import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  makeSampleLetters,
  sampleTrustRootPem,
  writeSampleLetters,
  type SampleLetter,
} from '../../../samples/letters/sample-letters.ts';
import { openPdfium } from '../../../pipelines/branding/reading/pdf/pdfium.ts';
import { verifyDetachedCms, type CmsVerdict } from '../../../pipelines/branding/reading/signatures/cms.ts';
import { isPhoneRefusal, judgePhone } from '../../../pipelines/phone/phone-number.ts';

const asOf = new Date('2026-05-20T12:00:00Z');
const texts = await makeSampleLetters({ seed: 5, count: 180, asOf, scans: false });

function daysSinceSigning({ truth }: SampleLetter): number {
  return (Date.parse(asOf.toISOString().slice(0, 10)) - Date.parse(truth.signedOn)) / 86_400_000;
}

function forged(kind: SampleLetter['forgery']): SampleLetter[] {
  return texts.filter(({ forgery }) => forgery === kind);
}

/** The PDF signature of a letter held against the bytes that its byte range covers. */
async function verifySignature(bytes: Uint8Array): Promise<CmsVerdict & { readonly coversWholeFile: boolean }> {
  const text = Buffer.from(bytes).toString('latin1');
  const [start = 0, end = 0, rest = 0] = /\/ByteRange \[0 (\d+) (\d+) (\d+)\]/.exec(text)!.slice(1).map(Number);
  const cms = Buffer.from(text.slice(start + 1, end - 1), 'hex');
  const content = Buffer.concat([bytes.subarray(0, start), bytes.subarray(end, end + rest)]);
  return {
    ...(await verifyDetachedCms({ cms, content, trustRootsPem: sampleTrustRootPem() })),
    coversWholeFile: end + rest === bytes.length,
  };
}

describe('the sample letters', () => {
  it('are the same bytes for the same seed, and others for another', async () => {
    const make = async (seed: number) =>
      (await makeSampleLetters({ seed, count: 4, asOf })).map(({ bytes, ...facts }) => ({
        ...facts,
        digest: createHash('sha256').update(bytes).digest('hex'),
      }));
    const first = await make(8);
    expect(await make(8)).toEqual(first);
    expect((await make(9)).map(({ digest }) => digest)).not.toContain(first[0]!.digest);
  });

  it('have every layout, way to sign, and kind of forgery', () => {
    expect(new Set(texts.map(({ layout }) => layout)).size).toBe(9);
    expect(new Set(texts.map(({ truth }) => truth.signature))).toEqual(
      new Set(['pdf', 'electronic', 'undetermined', 'none']),
    );
    expect(new Set(texts.map(({ forgery }) => forgery)).size).toBe(7);
    expect(texts.filter(({ forgery }) => forgery !== null)).toHaveLength(54);
  });

  it('open in PDFium, with the pages that their layout has', async () => {
    for (const { bytes, layout } of texts.slice(0, 40)) {
      const document = await openPdfium(bytes);
      expect(document.pageCount).toBeGreaterThanOrEqual(layout === 'two_pages' ? 2 : 1);
      document.close();
    }
  });

  it('name numbers that the service takes, each once, and ask for numbers of theirs if they are honest', () => {
    for (const { truth, request, forgery } of texts) {
      for (const phone of [...truth.phones, ...request.phones]) expect(isPhoneRefusal(judgePhone(phone))).toBe(false);
      expect(new Set(truth.phones).size).toBe(truth.phones.length);
      expect(truth.phones.some((phone) => truth.otherPhones.includes(phone))).toBe(false);
      if (forgery === null) expect(request.phones.filter((phone) => !truth.phones.includes(phone))).toEqual([]);
    }
  });

  it('are signed within the last 30 days if they are honest', () => {
    const days = forged(null).map(daysSinceSigning);
    expect([Math.min(...days), Math.max(...days)]).toEqual([0, 29]);
  });

  it('have a PDF signature that verifies under the sample root where the truth says so', async () => {
    const signed = texts.filter(
      ({ truth, forgery }) => truth.signature === 'pdf' && forgery !== 'altered_after_signing',
    );
    expect(signed.length).toBeGreaterThan(10);
    for (const { bytes, truth } of signed) {
      expect(await verifySignature(bytes)).toMatchObject({
        digestMatches: true,
        signatureValid: true,
        chain: 'trusted',
        coversWholeFile: true,
        signerName: truth.signerName,
        signerOrganization: truth.legalName,
        problem: null,
      });
    }
  });
});

describe('a forged sample letter', () => {
  it('lacks one of the requested numbers', () => {
    for (const { truth, request } of forged('number_missing'))
      expect(request.phones.filter((phone) => ![...truth.phones, ...truth.otherPhones].includes(phone))).toHaveLength(
        1,
      );
  });

  it('is of another brand', () => {
    for (const { truth, request } of forged('other_brand')) {
      const names = [truth.legalName, truth.dba, truth.displayName];
      expect([request.legalName, request.displayName].some((name) => names.includes(name))).toBe(false);
    }
  });

  it('is too old by a day at least, or is signed in two days at the earliest', () => {
    expect(Math.min(...forged('old_date').map(daysSinceSigning))).toBe(31);
    expect(Math.max(...forged('future_date').map(daysSinceSigning))).toBe(-2);
  });

  it('is not signed', () => {
    expect(forged('unsigned').map(({ truth }) => truth.signature)).toEqual(forged('unsigned').map(() => 'none'));
  });

  it('was altered after signing: its signature is of other bytes, or not of all', async () => {
    const ways = { altered: 0, appended: 0 };
    for (const { bytes } of forged('altered_after_signing')) {
      const { digestMatches, coversWholeFile } = await verifySignature(bytes);
      expect(digestMatches && coversWholeFile).toBe(false);
      ways[digestMatches ? 'appended' : 'altered']++;
    }
    expect(ways.altered).toBeGreaterThan(0);
    expect(ways.appended).toBeGreaterThan(0);
  });
});

describe('the scans of letters', () => {
  it('are pictures of 200 dots an inch on slightly grey paper, as PNG or in a PDF without text', async () => {
    const scans = (await makeSampleLetters({ seed: 5, count: 12, asOf })).filter(({ scanned }) => scanned);
    expect(scans.length).toBeGreaterThan(2);
    for (const { bytes, format } of scans) {
      const head = Buffer.from(bytes).toString('latin1', 0, 8);
      expect(head).toBe(format === 'png' ? '\x89PNG\r\n\x1a\n' : '%PDF-1.7');
      expect(bytes.length).toBeLessThan(10 * 1024 * 1024);
      if (format === 'pdf')
        expect(Buffer.from(bytes).toString('latin1')).toMatch(/\/Subtype \/Image \/Width 1[67]\d\d /);
    }
  });
});

describe('the letters of the demonstration', () => {
  it('are a signed one, a scan and a forged one, each with its request, and the root of the signature', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'caller-trust-letters-'));
    try {
      const paths = await writeSampleLetters(directory, { seed: 1, asOf });
      expect((await readdir(directory)).filter((name) => name.endsWith('.json'))).toEqual([
        'forged-letter.json',
        'scanned-letter.json',
        'signed-letter.json',
      ]);
      expect(await verifySignature(await readFile(paths.signed))).toMatchObject({
        digestMatches: true,
        chain: 'trusted',
      });
      const request = JSON.parse(await readFile(join(directory, 'signed-letter.json'), 'utf8')) as {
        numbers: string[];
        brand: object;
      };
      expect(request).toMatchObject({
        brand: { legalName: expect.any(String), displayName: expect.any(String) },
        numbers: expect.arrayContaining([expect.stringMatching(/^\+\d+$/)]),
      });
      expect(await readFile(paths.trustRoot, 'utf8')).toBe(sampleTrustRootPem());
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
