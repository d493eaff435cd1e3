import { createHash, randomBytes } from 'node:crypto';
import { issueLetterForm, type LetterFormRequest } from '../../pipelines/branding/requests/letter-form.ts';
import type { ApprovalPolicy } from '../../pipelines/branding/decision/letter-form-rules.ts';
import type { RevocationPolicy } from '../../pipelines/branding/letter-trust.ts';
import type {
  LetterReading,
  LetterReadingOutcome,
  PdfRevision,
  PdfSignature,
} from '../../pipelines/branding/letter-reading.ts';
import { decideLetterText, type LetterTextFacts } from '../../pipelines/branding/decision/letter-text-decision.ts';
import {
  namedNumbersMax,
  submitOperation,
  type OperationKind,
  type OperationRequest,
} from '../../pipelines/branding/operation.ts';
import type { OperationResult } from '../../pipelines/branding/operation-result.ts';
import { runOperation } from '../../pipelines/branding/requests/run-operation.ts';
import type { EyesPolicy } from '../../pipelines/access/two-pairs-of-eyes.ts';
import { Vault } from '../../runtime/secrets/vault.ts';
import type { Pool } from '../../runtime/postgres.ts';
import { nextFresh } from './fresh-count.ts';
import { readLetter } from './letter-reading.ts';

export const testVault = new Vault(Buffer.alloc(32, 7));

export const owner = 'Northwind Agency';

/** Another person decides, as it is by default; `test` submits the requests of the tests. */
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
    'LETTER OF AUTHORIZATION',
    `Legal name: ${brand}`,
    alias === '' ? '' : `Brand: ${alias}`,
    'Address: 12 Harbour Road, Springfield, IL 62701, United States',
    '',
    `${brand} authorizes the display of its name on calls from the following telephone numbers:`,
    ...phones,
    '',
    `Signature: ${signature}`,
    `Name: ${signer}`,
    'Title: Chief Financial Officer',
    `Date: ${date}`,
  ].filter((text) => text !== '');
  return readLetter(texts);
}

/** Two days ago, as letters write it. */
function recentDate(): string {
  return new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10);
}

export function goodLetter(phones: readonly string[], changes: Partial<LetterText> = {}): LetterReadingOutcome {
  return {
    kind: 'read',
    reading: letterReading({
      brand: 'Northwind Dental LLC',
      signer: 'Jane Sample',
      date: recentDate(),
      phones,
      signature: '/s/ Jane Sample',
      ...changes,
    }),
  };
}

/** The same, signed with ink. */
export function letterForReview(phones: readonly string[]): LetterReadingOutcome {
  const outcome = goodLetter(phones, { signature: '' });
  if (outcome.kind !== 'read') return outcome;
  const [page] = outcome.reading.pages;
  const place = page!.lines.find(({ text }) => text.startsWith('Signature:'))!.box;
  return {
    kind: 'read',
    reading: { ...outcome.reading, pages: [{ ...page!, ink: [{ ...place, left: 0.3, width: 0.3 }] }] },
  };
}

export const profile = {
  legalName: 'Northwind Dental LLC',
  displayName: 'Northwind Dental',
  country: 'US',
  website: 'https://northwind.example',
  callReasons: ['Appointment'],
};

/** The person who signs the forms of the tests. */
export const signer = { name: 'Jane Sample', title: 'Chief Financial Officer' };

/** A letter on the issued form: signed by its signer under a trusted root, unless something else is said. */
interface FormLetter {
  readonly phones: readonly string[];
  readonly signature: Partial<PdfSignature>;
  /** Whose client the form was issued to, where that is not who asks. */
  readonly issuedTo?: string;
  /** More of what was issued: another brand or other changes than those of the request. */
  readonly request?: Partial<LetterFormRequest>;
  /** What follows the signature in the file. */
  readonly later?: readonly Omit<PdfRevision, 'end' | 'sha256'>[];
}

/** The form that is issued for the request and comes back signed: what the rules approve. */
export function signedForm(phones: readonly string[], changes: Partial<FormLetter> = {}): FormLetter {
  return { phones, signature: {}, ...changes };
}

/** What a test asks for, besides the request itself. */
export interface AskOptions {
  readonly letter?: LetterReadingOutcome | FormLetter;
  readonly policy?: ApprovalPolicy;
  readonly revocation?: RevocationPolicy;
  readonly numbersFile?: string;
  readonly key?: string;
  /** Runs when the letter exists and the request is not submitted yet. */
  readonly beforeSubmission?: () => Promise<void>;
  readonly owner?: string;
  readonly numbersWaitingMax?: number;
  readonly signal?: AbortSignal;
  /** Actor who submits it, and the person behind one that names none. */
  readonly requestedBy?: string;
  readonly person?: string;
}

/** A letter of a test: its bytes, and what reading them gives. */
interface TestLetter {
  readonly bytes: Buffer;
  readonly reading: LetterReadingOutcome;
}

/** Issues the form of a request, and returns it as if it had been signed. */
async function issueSigned(
  db: Pool,
  request: LetterFormRequest,
  { form, numbersFile, owner: asks }: { form: FormLetter; numbersFile: Buffer | undefined; owner: string },
): Promise<TestLetter> {
  const { file, content, signaturePlace } = await issueLetterForm(
    { db, now: new Date(Date.now() - 60_000) },
    { request, numbersFile, owner: form.issuedTo ?? asks, language: 'en', issuedBy: 'test' },
  );
  const bytes = Buffer.concat([file, Buffer.from(`signed ${randomBytes(8).toString('hex')}`)]);
  const after: PdfRevision = {
    end: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    kind: 'signature',
    changes: [],
  };
  const signature: PdfSignature = {
    field: 'Signature',
    page: signaturePlace.page,
    box: signaturePlace.box,
    subFilter: 'ETSI.CAdES.detached',
    signerName: signer.name,
    signerOrganization: content.legalName,
    signerCountry: content.country,
    signerOrganizationId: null,
    signedAt: new Date().toISOString(),
    timeStamp: null,
    digestMatches: true,
    signatureValid: true,
    coverage: 'whole',
    chain: 'trusted',
    revocation: 'good',
    problem: null,
    ...form.signature,
  };
  const first: PdfRevision = {
    end: file.length,
    sha256: createHash('sha256').update(file).digest('hex'),
    kind: 'original',
    changes: [],
  };
  const reading = letterReading({
    brand: content.legalName,
    signer: signer.name,
    date: '',
    phones: content.phones.slice(0, 15), // as the form lists them
    signature: '',
  });
  return {
    bytes,
    reading: {
      kind: 'read',
      reading: {
        ...reading,
        signatures: [signature],
        revisions: [first, after, ...(form.later ?? []).map((later) => ({ ...after, ...later }))],
      },
    },
  };
}

/** Submits a request and runs it; the letter counts as read with the given outcome. */
export async function ask<Kind extends OperationKind>(
  db: Pool,
  kind: Kind,
  request: OperationRequest<Kind>,
  options: AskOptions = {},
): Promise<OperationResult & { operationId: number }> {
  const key = options.key ?? randomBytes(8).toString('hex');
  const letter = await testLetter(db, kind, request, { ...options, key });
  await options.beforeSubmission?.();
  const submission = {
    kind,
    request,
    key,
    owner: options.owner ?? owner,
    requestedBy: options.requestedBy ?? 'test',
    person: options.person,
    letter: letter?.bytes,
    numbersFile: options.numbersFile === undefined ? undefined : Buffer.from(options.numbersFile),
  };
  const { operationId } = await submitOperation({ db, vault: testVault }, submission);
  const result = await runOperation({
    db,
    operationId,
    ...operationSettings,
    policy: options.policy ?? 'signature',
    numbersWaitingMax: options.numbersWaitingMax ?? operationSettings.numbersWaitingMax,
    signal: options.signal,
    revocation: options.revocation ?? 'check',
    readLetter: async () => letter!.reading,
  });
  return { ...result, operationId };
}

/** Settings and services that run the operations of the tests, but for their letters. */
export const operationSettings = {
  vault: testVault,
  policy: 'signature',
  numbersWaitingMax: 200_000,
  revocation: 'check',
  now: () => new Date(),
  decideText: async (facts: LetterTextFacts) => decideLetterText(facts),
} as const;

async function testLetter(
  db: Pool,
  kind: OperationKind,
  request: OperationRequest,
  { letter, key, numbersFile, owner: asks = owner }: AskOptions & { key: string },
): Promise<TestLetter | undefined> {
  if (letter === undefined) return undefined;
  if ('kind' in letter) return { bytes: Buffer.from(`letter ${key}`), reading: letter };
  const changes = kind === 'update_managed_brand' ? { changes: {} } : {};
  const isLong = letter.phones.length > namedNumbersMax;
  return issueSigned(
    db,
    { ...changes, ...request, signer, ...letter.request, numbers: isLong ? [] : [...letter.phones] },
    { form: letter, numbersFile: isLong ? Buffer.from(numbersFile!) : undefined, owner: asks },
  );
}

/** A handle and numbers that no other test of the file has. */
export function fresh(numbers: number): { handle: string; phones: string[] } {
  const made = nextFresh();
  return {
    handle: `brand-${made}`,
    phones: Array.from({ length: numbers }, (_, at) => `+1212555${String(made * 100 + at).padStart(4, '0')}`),
  };
}
