import { BRAND_CHECKS } from '../../pipelines/branding/brand/brand-check.ts';
import { listRivalClaims, type RivalClaim } from '../../pipelines/branding/brand/number-claims.ts';
import { readLetterRecord, type LetterRecord } from '../../pipelines/branding/brand/brand-record.ts';
import { FORM_RULES } from '../../pipelines/branding/decision/letter-form-rules.ts';
import type { Finding } from '../../pipelines/branding/finding.ts';
import { LETTER_REFUSALS, type LetterReading, type LetterPlace } from '../../pipelines/branding/letter-reading.ts';
import type { LetterFields } from '../../pipelines/branding/letter/letter-fields.ts';
import type { SealedReading } from '../../pipelines/branding/brand/letter-record.ts';
import { LETTER_RULES } from '../../pipelines/branding/letter/rules/letter-rules.ts';
import type { OperationKind } from '../../pipelines/branding/operation.ts';
import type { PublicFinding } from '../../pipelines/branding/operation-result.ts';
import type { BrandState, NumberState } from '../../pipelines/branding/states.ts';
import type { BrandProfile } from '../../pipelines/branding/brand-profile.ts';
import { queryRow, queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { shownProfile, type ShownProfile } from './brand-answers.ts';
import type { Listed } from './json.ts';
export type { LetterRecord, LetterPlace as Place, PublicFinding };
export type { Severity } from '../../pipelines/branding/finding.ts';
export type { PdfSignature } from '../../pipelines/branding/letter-reading.ts';
export type { LetterState } from '../../pipelines/branding/states.ts';

/** A letter in review. */
export interface WaitingLetter {
  readonly letterId: number;
  readonly handle: string;
  readonly owner: string;
  readonly displayName: string;
  readonly submittedAt: Date;
  readonly format: string | null;
  readonly pages: number | null;
  /** Numbers that were requested with it. */
  readonly requested: number;
  /** Codes of the findings to review. */
  readonly findings: readonly string[];
}

/** A brand in review, or with a pending revision. */
export interface WaitingBrand {
  readonly handle: string;
  readonly owner: string;
  readonly state: BrandState;
  readonly approvedDisplayName: string | null;
  readonly pendingDisplayName: string;
  readonly waitingSince: Date;
  readonly findings: readonly string[];
}

/** Letters in review, oldest first. */
export async function listWaitingLetters(
  db: Queryable,
  { after, limit }: { after: number; limit: number },
): Promise<WaitingLetter[]> {
  return queryRows<WaitingLetter>(db, sql('console/list_waiting_letters'), [after, limit]);
}

/** Brands in review, by handle. */
export async function listWaitingBrands(
  db: Queryable,
  { after, limit }: { after: string; limit: number },
): Promise<WaitingBrand[]> {
  return queryRows<WaitingBrand>(db, sql('console/list_waiting_brands'), [after, limit]);
}

/** The numbers of letters, brands and disputes that wait for a person. */
export interface WaitingCounts {
  readonly letters: number;
  readonly brands: number;
  readonly disputes: number;
}

export async function countWaiting(db: Queryable): Promise<WaitingCounts> {
  return (await queryRow<WaitingCounts>(db, sql('console/count_waiting')))!; // always one row
}

/** The request that a letter came with. */
export interface LetterRequest {
  readonly kind: OperationKind;
  readonly requestedBy: string;
  readonly requestedAt: Date;
  readonly callReason: string | null;
  readonly profile: ShownProfile;
  readonly brandState: BrandState;
  readonly requested: number;
  /** The requested numbers that the letter authorizes. */
  readonly authorized: number;
}

/** Reads the request of an existing letter. */
async function readLetterRequest(db: Queryable, letterId: number): Promise<LetterRequest> {
  const row = (await queryRow<Omit<LetterRequest, 'profile'> & { profile: BrandProfile }>(
    db,
    sql('console/read_letter_request'),
    [letterId],
  ))!; // each letter has an operation
  return { ...row, profile: shownProfile(row.profile) };
}

/** A number that was requested with a letter. */
export interface RequestedNumber {
  readonly line: number;
  readonly phone: string;
  readonly authorized: boolean;
  readonly state: NumberState | null;
}

/** Numbers requested with a letter, in the order of the request; `missing`: only those that it does not authorize. */
export async function listRequestedNumbers(
  db: Queryable,
  letterId: number,
  { after, missing, limit }: { after: number; missing: boolean; limit: number },
): Promise<RequestedNumber[]> {
  return queryRows<RequestedNumber>(db, sql('console/list_letter_numbers'), [letterId, after, missing, limit]);
}

/** The meaning of each finding code. */
const meanings: ReadonlyMap<string, string> = new Map([
  ...[...LETTER_RULES, ...FORM_RULES].map(({ id, checks }) => [id, checks] as const),
  ...Object.entries(LETTER_REFUSALS),
  ...Object.entries(BRAND_CHECKS).map(([code, { pass }]) => [code, pass] as const),
]);

/** A public finding with the meaning of its code. */
function explained<Any extends PublicFinding>(finding: Any): Any & { readonly meaning: string } {
  return { ...finding, meaning: meanings.get(finding.code) ?? '' };
}

/** A letter with its findings and its request, without its text. */
export type ShownLetter = LetterRecord & {
  readonly findings: readonly (PublicFinding & { readonly meaning: string })[];
  readonly request: LetterRequest;
};

/** @throws ServiceError `letter_unknown` */
export async function readShownLetter(db: Queryable, letterId: number): Promise<ShownLetter> {
  const { opened: _nothing, ...letter } = await readLetterRecord(db, letterId);
  return { ...letter, findings: letter.findings.map(explained), request: await readLetterRequest(db, letterId) };
}

/** A finding with its text and its location. */
export interface PlacedFinding extends PublicFinding {
  readonly meaning: string;
  readonly excerpt: string | null;
  readonly place: LetterPlace | null;
}

/** A field that was found in a letter, with its location. */
export interface ShownField {
  readonly name: string;
  readonly value: string;
  readonly excerpt: string | null;
  readonly place: LetterPlace | null;
}

/** The size of a page, for its layout, and its text, for screen readers. */
export interface ShownPage {
  readonly page: number;
  readonly width: number;
  readonly height: number;
  readonly source: 'text' | 'ocr';
  /** Clockwise rotation of its picture in degrees; marks refer to the rotated page. */
  readonly turned: number;
  readonly lines: readonly { readonly text: string; readonly confidence: number | null }[];
}

/** The text and fields that were read from a letter. */
interface ShownReading {
  readonly findings: readonly PlacedFinding[];
  readonly fields: readonly ShownField[];
  readonly numberPlaces: readonly LetterPlace[];
  readonly confidence: number | null;
  readonly pages: readonly ShownPage[];
  readonly signatures: LetterReading['signatures'];
  readonly embeddedCsv: string | null;
}

/** A letter for the person who decides it. */
export interface ReviewedLetter {
  readonly letter: LetterRecord;
  readonly request: LetterRequest;
  readonly reading: ShownReading;
  /** Other brands that claim numbers of its brand. */
  readonly rivals: readonly RivalClaim[];
  /** Why the viewing user may not decide it; null if the user may. */
  readonly whyNotDecide: string | null;
}

/** Combines an opened letter with what a decision needs. */
export async function reviewedLetter(
  db: Queryable,
  { opened, findings, ...letter }: Awaited<ReturnType<typeof readLetterRecord>>,
  whyNot: string | null,
): Promise<ReviewedLetter> {
  return {
    whyNotDecide: whyNot,
    letter,
    request: await readLetterRequest(db, letter.letterId),
    rivals: await listRivalClaims(db, letter.handle),
    reading: shownReading(opened, findings),
  };
}

/** What was read from a letter; only the findings if its text is not stored. */
function shownReading(opened: SealedReading | null, findings: readonly PublicFinding[]): ShownReading {
  if (opened === null)
    return {
      findings: findings.map((finding) => ({ ...explained(finding), excerpt: null, place: null })),
      fields: [],
      numberPlaces: [],
      confidence: null,
      pages: [],
      signatures: [],
      embeddedCsv: null,
    };
  const { fields, reading } = opened;
  return {
    findings: opened.findings.map(placed),
    fields: fields === null ? [] : foundFields(fields),
    numberPlaces: (fields?.phones ?? []).flatMap(({ place }) => place ?? []),
    confidence: fields?.confidence ?? null,
    pages: (reading?.pages ?? []).map(({ page, width, height, source, turned = 0, lines }) => ({
      page,
      width,
      height,
      source,
      turned,
      lines: lines.map(({ text, confidence }) => ({ text, confidence })),
    })),
    signatures: reading?.signatures ?? [],
    embeddedCsv: reading?.embeddedCsv?.name ?? null,
  };
}

function placed({ code, severity, message, place, excerpt }: Finding): PlacedFinding {
  return {
    ...explained({ code, severity, message, page: place?.page ?? null, line: place?.line ?? null }),
    place,
    excerpt,
  };
}

/** The fields that were found in a letter, with labels for people. */
function foundFields(fields: LetterFields): ShownField[] {
  const { signature, attachment, phones, otherPhones } = fields;
  const one = (name: string, found: { value: string; excerpt: string; place: LetterPlace } | null): ShownField[] =>
    found === null ? [] : [{ name, ...pick(found) }];
  const date = (name: string, found: LetterFields['signingDate']): ShownField[] =>
    found === null
      ? []
      : [
          {
            name,
            value: found.alternative === null ? found.date : `${found.date} or ${found.alternative}`,
            excerpt: found.excerpt,
            place: found.place,
          },
        ];
  return [
    ...one('Authorizes by', fields.title),
    ...one('Who authorizes', fields.authorizer),
    ...one('For', fields.purpose),
    ...one('Another purpose', fields.otherPurpose),
    ...fields.companyNames.flatMap((name) => one('Legal name', name)),
    ...fields.brandNames.flatMap((name) => one('Brand', name)),
    ...one('Address', fields.address),
    ...one('Signer', fields.signerName ?? fields.possibleSignerName),
    ...one('Title of the signer', fields.signerTitle ?? fields.possibleSignerTitle),
    {
      name: 'Signature',
      value: `${signature.kind}: ${signature.reason}`,
      excerpt: signature.excerpt,
      place: signature.place,
    },
    ...date('Signing date', fields.signingDate),
    ...fields.otherDates.flatMap((each) => date('Another date', each)),
    ...fields.endDates.flatMap((each) => date('Ends', each)),
    {
      name: 'Numbers listed for branding',
      value: String(phones.length),
      excerpt: null,
      place: phones[0]?.place ?? null,
    },
    ...(otherPhones.length === 0
      ? []
      : [
          {
            name: 'Other numbers on the letter',
            value: String(otherPhones.length),
            excerpt: null,
            place: otherPhones[0]?.place ?? null,
          },
        ]),
    ...(attachment.stated
      ? [
          {
            name: 'List of numbers',
            value: `${attachment.first ?? '?'} to ${attachment.last ?? '?'}, ${attachment.count ?? '?'} numbers`,
            excerpt: null,
            place: attachment.place,
          },
        ]
      : []),
  ];
}

function pick({
  value,
  excerpt,
  place,
}: {
  value: string;
  excerpt: string;
  place: LetterPlace;
}): Omit<ShownField, 'name'> {
  return { value, excerpt, place };
}

/** Numbers that were requested with a letter. */
export type RequestedNumberPage = Listed & { readonly numbers: readonly RequestedNumber[] };

/** Letters, newest first. */
export type LetterRecordPage = Listed & { readonly letters: readonly LetterRecord[] };

/** Letters in review, oldest first. */
export type WaitingLetterPage = Listed & { readonly letters: readonly WaitingLetter[] };

/** Brands in review, by handle. */
export type WaitingBrandPage = Listed & { readonly brands: readonly WaitingBrand[] };
