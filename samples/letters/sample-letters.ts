import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeGrayPng } from '../../pipelines/branding/reading/ocr/png.ts';
import {
  alterSigned,
  drawMissingPhone,
  drawOtherBrand,
  FORGERIES,
  type AlteredLetter,
  type Forgery,
} from './forgery.ts';
import {
  drawFacts,
  LAYOUTS,
  letterPhones,
  type BrandNames,
  type Layout,
  type LetterFacts,
  type SigningStyle,
} from './letter-facts.ts';
import { drawLetter, writeCsv, type DrawnLetter } from './letter-layouts.ts';
import { writePdf, type PdfContent } from './pdf-file.ts';
import { PdfPage } from './pdf-page.ts';
import { certifySigner, sampleTrustRootPem } from './sample-keys.ts';
import { toE164, type LetterCountry } from './sample-phones.ts';
import { scanDotsPerInch, scanPdf } from './scan.ts';
import { Seeded } from '../../runtime/seeded.ts';

export { sampleTrustRootPem } from './sample-keys.ts';

/** The parameters of the sample letters; the same options give the same bytes. */
interface SampleLetterOptions {
  readonly seed: number;
  readonly count: number;
  /** The "today" of the letters' dates. */
  readonly asOf: Date;
  /** Two of five letters are scans; the default. */
  readonly scans?: boolean;
  /** The scanner is clean and its feeder straight; default: neither. */
  readonly cleanScans?: boolean;
}

/** How a letter is signed, as its reading reports it. */
type TrueSignature = 'pdf' | 'electronic' | 'undetermined' | 'none';

/** The true content of a letter. */
interface LetterTruth extends BrandNames {
  readonly address: string;
  readonly signerName: string;
  readonly signerTitle: string;
  /** `YYYY-MM-DD`. */
  readonly signedOn: string;
  readonly signature: TrueSignature;
  /** E.164 of all numbers that the letter authorizes, those of its CSV too. */
  readonly phones: readonly string[];
  /** E.164 of numbers on the letter that it does not authorize: the telephone of its letterhead. */
  readonly otherPhones: readonly string[];
}

/** The request of a letter. */
export interface LetterRequest extends BrandNames {
  readonly country: LetterCountry;
  readonly address: string;
  /** E.164. */
  readonly phones: readonly string[];
  /** The CSV that is submitted with the letter. */
  readonly csv: string | null;
}

/** A letter with its request and its true content. */
export interface SampleLetter {
  readonly name: string;
  readonly fileName: string;
  readonly bytes: Uint8Array;
  readonly format: 'pdf' | 'png';
  readonly scanned: boolean;
  readonly layout: Layout;
  readonly forgery: Forgery | null;
  readonly truth: LetterTruth;
  readonly request: LetterRequest;
}

/** Makes letters of authorization of invented companies, three of ten forged, in all layouts, countries and ways to sign. */
export async function makeSampleLetters(options: SampleLetterOptions): Promise<readonly SampleLetter[]> {
  const letters: SampleLetter[] = [];
  for (let index = 0; index < options.count; index++) letters.push(await makeSampleLetter(planLetter(options, index)));
  return letters;
}

/** The letters of a set as a generator, for sets larger than memory. */
export async function* sampleLetters(options: SampleLetterOptions): AsyncGenerator<SampleLetter> {
  for (let index = 0; index < options.count; index++) yield await makeSampleLetter(planLetter(options, index));
}

/** The kind of a letter. */
interface LetterPlan {
  readonly index: number;
  readonly random: Seeded;
  readonly asOf: Date;
  readonly layout: Layout;
  readonly signing: SigningStyle;
  readonly scanned: boolean;
  readonly cleanScans?: boolean;
  readonly forgery: Forgery | null;
  /** Counts the forged letters, so that their kinds alternate. */
  readonly forgedBefore: number;
  readonly country?: LetterCountry;
}

const forgedOfTen = [3, 6, 9];
const scannedShare = 0.4;

function planLetter({ seed, asOf, scans = true, cleanScans = false }: SampleLetterOptions, index: number): LetterPlan {
  const random = new Seeded(seed).fork(index);
  const forgedBefore =
    Math.floor(index / 10) * forgedOfTen.length + forgedOfTen.filter((place) => place < index % 10).length;
  const forgery = forgedOfTen.includes(index % 10) ? FORGERIES[forgedBefore % FORGERIES.length]! : null;
  const isAltered = forgery === 'altered_after_signing';
  const scanned = random.chance(scannedShare) && scans && !isAltered;
  const layout = adaptLayout(LAYOUTS[index % LAYOUTS.length]!, { scanned, isAltered });
  return {
    index,
    random,
    asOf,
    cleanScans,
    layout,
    scanned,
    forgery,
    forgedBefore,
    signing: drawSigning(random, { layout, scanned, forgery }),
  };
}

/** A scan embeds no file, and an altered letter must have its numbers on the page. */
function adaptLayout(layout: Layout, { scanned, isAltered }: { scanned: boolean; isAltered: boolean }): Layout {
  if (scanned && layout === 'csv_embedded') return 'csv_beside';
  return isAltered && !['block_letter', 'number_table', 'two_pages'].includes(layout) ? 'block_letter' : layout;
}

function drawSigning(
  random: Seeded,
  { layout, scanned, forgery }: { layout: Layout; scanned: boolean; forgery: Forgery | null },
): SigningStyle {
  if (forgery === 'unsigned') return 'none';
  if (forgery === 'altered_after_signing') return 'pdf';
  if (layout === 'short_email') return random.pick(['slash_s', 'electronic_text']);
  return random.pick<SigningStyle>(
    scanned
      ? ['picture', 'strokes', 'strokes', 'script', 'slash_s']
      : ['pdf', 'pdf', 'slash_s', 'electronic_text', 'script', 'picture', 'strokes'],
  );
}

const honestDays = [0, -1, -2, -3, -5, -9, -14, -21, -28, -29];
const oldDays = [-31, -45, -200];
const futureDays = [2, 9, 60];

async function makeSampleLetter(plan: LetterPlan): Promise<SampleLetter> {
  const { random, forgery, forgedBefore, layout, signing, asOf, country } = plan;
  const round = Math.floor(forgedBefore / FORGERIES.length);
  const signedDays =
    forgery === 'old_date'
      ? oldDays[round % oldDays.length]!
      : forgery === 'future_date'
        ? futureDays[round % futureDays.length]!
        : random.pick(honestDays);
  const facts = drawFacts(random, { layout, signing, signedDays, asOf, ...(country === undefined ? {} : { country }) });
  const csv = layout.startsWith('csv') ? writeCsv(facts, random) : null;
  const { bytes, format, altered } = await writeLetter(plan, facts, { csv, round });
  const number = String(plan.index + 1).padStart(4, '0');
  return {
    name: [
      number,
      layout,
      facts.country,
      plan.scanned ? 'scan' : 'text',
      `signed-${signing}`,
      ...(forgery === null ? [] : [forgery]),
    ].join(' '),
    fileName: `letter-${number}.${format}`,
    bytes,
    format,
    scanned: plan.scanned,
    layout,
    forgery,
    truth: truthOf(facts, altered),
    request: { ...drawRequest(plan, facts, altered), csv: layout === 'csv_beside' ? csv : null },
  };
}

const trueSignatures: Readonly<Record<SigningStyle, TrueSignature>> = {
  pdf: 'pdf',
  slash_s: 'electronic',
  electronic_text: 'electronic',
  script: 'undetermined',
  picture: 'undetermined',
  strokes: 'undetermined',
  none: 'none',
};

function truthOf(facts: LetterFacts, altered: AlteredLetter | null): LetterTruth {
  return {
    ...namesOf(facts),
    ...altered?.names,
    address: facts.address.join(', '),
    signerName: facts.signerName,
    signerTitle: facts.signerTitle,
    signedOn: facts.signedOn,
    signature: trueSignatures[facts.signing],
    phones: altered?.phones ?? letterPhones(facts),
    otherPhones: facts.contactPhone === null ? [] : [toE164(facts.contactPhone)],
  };
}

function namesOf({ legalName, dba, displayName }: BrandNames): BrandNames {
  return { legalName, dba, displayName };
}

function drawRequest(
  { random, forgery }: LetterPlan,
  facts: LetterFacts,
  altered: AlteredLetter | null,
): Omit<LetterRequest, 'csv'> {
  const names = altered?.names ?? (forgery === 'other_brand' ? drawOtherBrand(random, facts) : namesOf(facts));
  const onLetter = altered?.phones ?? letterPhones(facts);
  const wanted =
    forgery === null && random.chance(0.3) ? onLetter.slice(0, random.whole(1, onLetter.length)) : onLetter;
  return {
    ...names,
    country: facts.country,
    address: facts.address.join(', '),
    phones: forgery === 'number_missing' ? [...wanted, drawMissingPhone(random, facts)] : wanted,
  };
}

interface WrittenLetter {
  readonly bytes: Uint8Array;
  readonly format: 'pdf' | 'png';
  readonly altered: AlteredLetter | null;
}

async function writeLetter(
  plan: LetterPlan,
  facts: LetterFacts,
  { csv, round }: { csv: string | null; round: number },
): Promise<WrittenLetter> {
  const { random, forgery, asOf } = plan;
  const isAltered = forgery === 'altered_after_signing';
  const drawn = drawLetter(facts, random, isAltered ? { runs: 'plain' } : {});
  const content = {
    ...signingOf(facts, drawn),
    pages: drawn.sheet.pages,
    title: 'Letter of authorization',
    created: new Date(`${facts.signedOn}T09:00:00Z`),
    compress: !isAltered,
  };
  if (plan.scanned)
    return { altered: null, ...(await scanLetter(content, { random, asOf, isClean: plan.cleanScans ?? false })) };
  const bytes = writePdf({
    ...content,
    ...(csv !== null && facts.layout === 'csv_embedded' ? { csv: { name: drawn.csvName, text: csv } } : {}),
  });
  if (!isAltered) return { bytes, format: 'pdf', altered: null };
  const altered = alterSigned(bytes, { facts, random, way: round });
  return { bytes: altered.bytes, format: 'pdf', altered };
}

function signingOf(facts: LetterFacts, { signatureBox }: DrawnLetter): Pick<PdfContent, 'signing'> {
  if (signatureBox === null) return {};
  const signedAt = new Date(`${facts.signedOn}T10:24:00Z`);
  const certificate = certifySigner({ name: facts.signerName, organization: facts.legalName });
  const lines = [
    `Digitally signed by ${facts.signerName}`,
    `DN: cn=${facts.signerName}, o=${facts.legalName}`,
    `Date: ${facts.signedOn.replaceAll('-', '.')} 10:24:00 Z`,
  ];
  return { signing: { certificate, signedAt, ...signatureBox, lines } };
}

const pointsPerDot = 72 / scanDotsPerInch;

/** The scan as a PDF of pictures, or every second time as a PNG if it has one page. */
async function scanLetter(
  content: PdfContent,
  { random, asOf, isClean }: { random: Seeded; asOf: Date; isClean: boolean },
): Promise<Omit<WrittenLetter, 'altered'>> {
  const images = await scanPdf(writePdf(content), random, { isClean });
  const [first, ...others] = images;
  if (first !== undefined && others.length === 0 && random.chance(0.5))
    return { bytes: encodeGrayPng(first), format: 'png' };
  const pages = images.map((image) => {
    const page = new PdfPage({ width: image.width * pointsPerDot, height: image.height * pointsPerDot });
    page.image(image, { x: 0, y: 0, width: page.width, height: page.height });
    return page;
  });
  return { bytes: writePdf({ pages, title: 'Scan', created: asOf }), format: 'pdf' };
}

/** Paths of the letters of the demonstration, each with its request as a JSON file. */
export interface WrittenSamples {
  /** Clean, with a PDF signature: to be approved under the sample root. */
  readonly signed: string;
  readonly scan: string;
  /** A digit of a number was changed after it was signed, and its request asks for that number. */
  readonly forged: string;
  /** PEM of the root that the PDF signature verifies under. */
  readonly trustRoot: string;
}

/** Writes a signed letter, a scan and a forged one with their requests, and the root of the signature. */
export async function writeSampleLetters(
  directory: string,
  { seed, asOf }: { seed: number; asOf: Date },
): Promise<WrittenSamples> {
  await mkdir(directory, { recursive: true });
  const write = async (
    name: string,
    plan: Pick<LetterPlan, 'layout' | 'signing' | 'scanned' | 'forgery'>,
    { index, forgedBefore = 0 }: { index: number; forgedBefore?: number },
  ) => {
    const letter = await makeSampleLetter({
      ...plan,
      index,
      random: new Seeded(seed).fork(index),
      asOf,
      forgedBefore,
      country: 'US',
    });
    const path = join(directory, `${name}.${letter.format}`);
    await writeFile(path, letter.bytes);
    const { phones, csv: _csv, ...brand } = letter.request;
    const signer = { name: letter.truth.signerName, title: letter.truth.signerTitle };
    await writeFile(
      join(directory, `${name}.json`),
      `${JSON.stringify({ brand, numbers: phones, signer }, null, 2)}\n`,
    );
    return path;
  };
  const trustRoot = join(directory, 'sample-root.pem');
  await writeFile(trustRoot, sampleTrustRootPem());
  return {
    signed: await write(
      'signed-letter',
      { layout: 'block_letter', signing: 'pdf', scanned: false, forgery: null },
      { index: 0 },
    ),
    scan: await write(
      'scanned-letter',
      { layout: 'number_table', signing: 'strokes', scanned: true, forgery: null },
      { index: 1 },
    ),
    forged: await write(
      'forged-letter',
      { layout: 'block_letter', signing: 'pdf', scanned: false, forgery: 'altered_after_signing' },
      { index: 2, forgedBefore: FORGERIES.length },
    ),
    trustRoot,
  };
}
