import { randomBytes } from 'node:crypto';
import type { LetterPage, LetterReading, LetterReadingOutcome } from '../../pipelines/branding/letter-reading.ts';
import { submitOperation, type OperationKind, type OperationRequest } from '../../pipelines/branding/operation.ts';
import type { OperationResult } from '../../pipelines/branding/operation-result.ts';
import { runOperation } from '../../pipelines/branding/run-operation.ts';
import type { EyesPolicy } from '../../pipelines/branding/two-pairs-of-eyes.ts';
import { Vault } from '../../pipelines/vault.ts';
import type { Pool } from '../../runtime/postgres.ts';

export const testVault = new Vault(Buffer.alloc(32, 7));

export const owner = 'Northwind Agency';

/** Another person decides, as it is by default; requests of the tests are handed in by `test`. */
export const eyes: EyesPolicy = { twoPairsOfEyes: 'on', samePersons: undefined };

/** What a letter of the tests says; each field can be replaced. */
export interface LetterText {
  readonly brand: string;
  /** A name under which the company does business. */
  readonly alias?: string;
  readonly signer: string;
  readonly date: string;
  readonly phones: readonly string[];
  /** The line at the place of the signature. */
  readonly signature: string;
}

/** A letter as it would have been read, line by line. */
export function letterReading({ brand, alias = '', signer, date, phones, signature }: LetterText): LetterReading {
  const texts = [
    'LETTER OF AUTHORIZATION', `Legal name: ${brand}`, alias === '' ? '' : `Brand: ${alias}`, 'Address: 12 Harbour Road, Springfield, IL 62701, United States', '',
    `${brand} authorizes the display of its name on calls from the following telephone numbers:`, ...phones, '',
    `Signature: ${signature}`, `Name: ${signer}`, 'Title: Chief Financial Officer', `Date: ${date}`,
  ].filter((text) => text !== '');
  const lines = texts.map((text, at) => ({ text, box: { left: 0.1, top: 0.05 + at * 0.03, width: 0.8, height: 0.02 }, confidence: null, font: 'Helvetica' }));
  return { format: 'pdf', pages: [{ page: 1, width: 612, height: 792, source: 'text', lines, marks: [] }], signatures: [], revisions: [], embeddedCsv: null };
}

/** The pages as they would be drawn and recognised: what they carry, with the confidence of recognition. */
export function drawnAs(letter: LetterReadingOutcome, pages: readonly number[]): LetterPage[] {
  if (letter.kind === 'refused') return [];
  const drawn = letter.reading.pages.filter(({ page }) => pages.includes(page));
  return drawn.map((page) => ({ ...page, source: 'ocr', lines: page.lines.map((line) => ({ ...line, confidence: 95 })) }));
}

/** Two days ago, as letters write it. */
export function recentDate(): string {
  return new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10);
}

export function goodLetter(phones: readonly string[], changes: Partial<LetterText> = {}): LetterReadingOutcome {
  return { kind: 'read', reading: letterReading({ brand: 'Northwind Dental LLC', signer: 'Jane Sample', date: recentDate(), phones, signature: '/s/ Jane Sample', ...changes }) };
}

/** The same without anything at the place of the signature that tells what it is. */
export function letterForReview(phones: readonly string[]): LetterReadingOutcome {
  const outcome = goodLetter(phones, { signature: '' });
  if (outcome.kind !== 'read') return outcome;
  const [page] = outcome.reading.pages;
  const place = page!.lines.find(({ text }) => text.startsWith('Signature:'))!.box;
  return { kind: 'read', reading: { ...outcome.reading, pages: [{ ...page!, marks: [{ kind: 'drawing', box: { ...place, left: 0.3, width: 0.3 } }] }] } };
}

export const profile = { legalName: 'Northwind Dental LLC', displayName: 'Northwind Dental', country: 'US', website: 'https://northwind.example', callReasons: ['Appointment'] };

/** What a test asks for, beside the request itself. */
export interface AskOptions {
  readonly letter?: LetterReadingOutcome;
  readonly numbersFile?: string;
  readonly key?: string;
  readonly owner?: string;
  /** Actor who hands it in, and the person behind one that names none. */
  readonly requestedBy?: string;
  readonly person?: string;
}

/** Hands a request in and carries it out; the letter counts as read with the given outcome. */
export async function ask<Kind extends OperationKind>(db: Pool, kind: Kind, request: OperationRequest<Kind>, options: AskOptions = {}): Promise<OperationResult & { operationId: number }> {
  const key = options.key ?? randomBytes(8).toString('hex');
  const submission = {
    kind, request, key,
    owner: options.owner ?? owner,
    requestedBy: options.requestedBy ?? 'test',
    person: options.person,
    letter: options.letter && Buffer.from(`letter ${key}`),
    numbersFile: options.numbersFile === undefined ? undefined : Buffer.from(options.numbersFile),
  };
  const { operationId } = await submitOperation({ db, vault: testVault }, submission);
  const result = await runOperation({
    db, vault: testVault, operationId,
    readLetter: async () => options.letter!,
    drawPages: async (_bytes, pages) => drawnAs(options.letter!, pages),
    limits: { numbersRowsMax: 100_000, feedLineBytesMax: 65_536 },
    now: () => new Date(),
  });
  return { ...result, operationId };
}

let made = 0;

/** A handle and numbers that no other test of the file has. */
export function fresh(numbers: number): { handle: string; phones: string[] } {
  made += 1;
  return { handle: `brand-${made}`, phones: Array.from({ length: numbers }, (_, at) => `+1212555${String(made * 100 + at).padStart(4, '0')}`) };
}
