import { PDFiumLibrary } from '@hyzyla/pdfium';
import { describe, expect, it } from 'vitest';
import {
  digestPhones,
  formNumbersListedMax,
  formVersion,
  renderLetterForm,
  signatureFieldName,
  writeCode,
  type FormContent,
} from '../../../../pipelines/branding/form/letter-form-pdf.ts';
import { approvedFields } from '../../../../pipelines/branding/brand-profile.ts';
import { FORM_LANGUAGES, FORM_TEXTS } from '../../../../pipelines/branding/form/letter-form-texts.ts';

const code = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const issue = { code, issuedAt: new Date('2026-05-01T10:00:00Z'), validUntil: new Date('2026-05-31T10:00:00Z') };
const content: FormContent = {
  legalName: 'Northwind Dental LLC',
  dba: null,
  displayName: 'Northwind Dental',
  website: 'https://northwind.example/visit',
  logo: 'https://northwind.example/logo.png',
  logoSha256: '0123456789abcdef'.repeat(4),
  callReasons: ['Appointment reminder', 'Survey'],
  country: 'US',
  taxId: '52-1234567',
  address: '12 Harbour Road, Springfield',
  signerName: 'Jane Sample',
  signerTitle: 'Chief Financial Officer',
  phones: ['+12125550100', '+12125550101'],
};

const phonesOf = (count: number) => Array.from({ length: count }, (_, at) => `+1212555${String(at).padStart(4, '0')}`);

/** The text that the PDF carries, as PDFium reads it. */
async function textOf(bytes: Uint8Array): Promise<{ text: string; pages: number }> {
  const library = await PDFiumLibrary.init();
  try {
    const pages = [...(await library.loadDocument(bytes)).pages()];
    const text = pages.map((page) => page.getText()).join(' ');
    return { text: text.replace(/\s+/g, ' '), pages: pages.length };
  } finally {
    library.destroy();
  }
}

describe('an issued form', () => {
  it('says in each language who authorizes what, for which numbers, and how it is sent back', async () => {
    expect(FORM_LANGUAGES.length).toBeGreaterThanOrEqual(5);
    for (const language of FORM_LANGUAGES) {
      const { text, pages } = await textOf((await renderLetterForm(content, issue, language)).bytes);
      expect(pages).toBe(1);
      for (const part of [
        FORM_TEXTS[language].title,
        'Northwind Dental LLC',
        '12 Harbour Road',
        'Jane Sample',
        'Chief Financial Officer',
        ...content.phones,
        '2026-05-31',
        writeCode(code),
        formVersion,
      ])
        expect(text).toContain(part);
    }
  });

  it('prints every field that is approved with it, and says of each that is missing that it is', async () => {
    const { text } = await textOf((await renderLetterForm(content, issue, 'en')).bytes);
    for (const field of approvedFields) {
      expect(text).toContain(FORM_TEXTS.en[field]);
      for (const value of [content[field] ?? []].flat())
        expect(text.replaceAll(' ', '')).toContain(value.replaceAll(' ', ''));
    }
    const empty = {
      dba: null,
      website: null,
      logo: null,
      logoSha256: null,
      callReasons: [],
      taxId: null,
      address: null,
    };
    const bare = await textOf((await renderLetterForm({ ...content, ...empty }, issue, 'en')).bytes);
    for (const field of Object.keys(empty) as (keyof typeof empty)[])
      expect(bare.text).toContain(`${FORM_TEXTS.en[field]} ${FORM_TEXTS.en.none}`);
  });

  it('has the same bytes for the same content, and one empty signature field in the place that it names', async () => {
    const [one, again] = [await renderLetterForm(content, issue, 'en'), await renderLetterForm(content, issue, 'en')];
    expect(Buffer.from(one.bytes).equals(again.bytes)).toBe(true);
    const file = Buffer.from(one.bytes).toString('latin1');
    expect(file.match(/\/FT \/Sig/g)).toHaveLength(1);
    expect(file).toContain(`/T (${signatureFieldName})`);
    expect(file).not.toMatch(/\/NeedAppearances|\/JavaScript|\/URI|\/ByteRange/);
    const { left, top, width, height } = one.signaturePlace.box!;
    const [x1, y1, x2, y2] = /\/Rect \[([\d. ]+)\]/.exec(file)![1]!.split(' ').map(Number);
    expect([left * 612, (1 - top - height) * 792, (left + width) * 612, (1 - top) * 792].map(Math.round)).toEqual([
      x1,
      y1,
      x2,
      y2,
    ]);
  });

  it(`lists ${formNumbersListedMax} numbers, and of one more the count, the first, the last and the digest`, async () => {
    const listed = await textOf(
      (await renderLetterForm({ ...content, phones: phonesOf(formNumbersListedMax) }, issue, 'en')).bytes,
    );
    for (const phone of phonesOf(formNumbersListedMax)) expect(listed.text).toContain(phone);
    const phones = phonesOf(formNumbersListedMax + 1);
    const counted = await textOf((await renderLetterForm({ ...content, phones }, issue, 'en')).bytes);
    for (const part of [`${phones.length} numbers`, phones[0]!, phones.at(-1)!, digestPhones(phones)])
      expect(counted.text).toContain(part);
    expect(counted.text).not.toContain(phones[7]);
  });

  it('wraps the longest names and addresses, with Latin, Greek, Turkish and Cyrillic letters', async () => {
    const long = {
      legalName: 'Bäckerei Żółć Ωμέγα Пример İpek GmbH '.repeat(4).slice(0, 128).trim(),
      dba: 'W'.repeat(128),
      address: 'Łąkowa 12, '.repeat(28).slice(0, 300).trim(),
      website: `https://northwind.example/${'w'.repeat(486)}`,
      logo: `https://northwind.example/${'l'.repeat(486)}`,
      callReasons: Array.from({ length: 10 }, (_, at) => `${at}`.repeat(50)),
      signerName: 'Ğ'.repeat(128),
      signerTitle: 'T'.repeat(128),
    };
    const { text, pages } = await textOf(
      (
        await renderLetterForm(
          { ...content, ...long, country: 'DE', phones: phonesOf(formNumbersListedMax) },
          issue,
          'de',
        )
      ).bytes,
    );
    expect(pages).toBeLessThanOrEqual(2);
    for (const part of [long.legalName, long.address]) expect(text).toContain(part);
    for (const part of [long.dba, long.signerName, long.signerTitle, long.website, long.logo, ...long.callReasons])
      expect(text.replaceAll(' ', '')).toContain(part);
  });

  it.each(['株式会社ノースウィンド', 'شركة المثال', '𝔅akery', 'Bakery \u2603\uFE0E🏦'])(
    'refuses a name that it cannot show: %s',
    async (legalName) => {
      await expect(renderLetterForm({ ...content, legalName }, issue, 'en')).rejects.toMatchObject({
        code: 'form_text_unsupported',
        object: 'legalName',
      });
    },
  );
});
