import { BRAND_CHECKS } from '../../pipelines/branding/brand/brand-check.ts';
import { listRivalClaims, type RivalClaim } from '../../pipelines/branding/brand/number-claims.ts';
import { readLetterRecord, type LetterRecord } from '../../pipelines/branding/brand/brand-record.ts';
import { FORM_RULES } from '../../pipelines/branding/decision/letter-form-rules.ts';
import type { Finding } from '../../pipelines/branding/finding.ts';
import { LETTER_REFUSALS, type LetterReading, type LetterPlace } from '../../pipelines/branding/letter-reading.ts';
import type { SealedReading } from '../../pipelines/branding/brand/letter-record.ts';
import { LETTER_RULES } from '../../pipelines/branding/letter/rules/letter-rules.ts';
import { shownFinds, type ShownFind } from '../../pipelines/branding/letter/shown-finds.ts';
import type { OperationKind } from '../../pipelines/branding/operation.ts';
import type { PublicFinding } from '../../pipelines/branding/operation-result.ts';
import type { BrandState, NumberState } from '../../pipelines/branding/states.ts';
import type { BrandProfile } from '../../pipelines/branding/brand-profile.ts';
import { queryRow, queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { shownProfile, type ShownProfile } from './brand-answers.ts';
import type { Listed } from './json.ts';
export type { LetterRecord, LetterPlace as Place, PublicFinding, ShownFind };
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

/** The size of a page, for its layout, and its text, for screen readers. */
export interface ShownPage {
  readonly page: number;
  readonly width: number;
  readonly height: number;
  /** Clockwise rotation of its picture in degrees; marks refer to the rotated page. */
  readonly turned: number;
  readonly lines: readonly { readonly text: string; readonly confidence: number }[];
}

/** What was found on a letter. */
interface ShownReading {
  /** Without those that only repeat the list of finds. */
  readonly findings: readonly PlacedFinding[];
  readonly finds: readonly ShownFind[];
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
  /** The letters that wait before and after it. */
  readonly neighbours: LetterNeighbours;
}

/** Ids of letters that wait for a person. */
interface LetterNeighbours {
  readonly previous: number | null;
  readonly next: number | null;
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
    neighbours: (await queryRow<LetterNeighbours>(db, sql('console/read_waiting_neighbours'), [letter.letterId]))!, // always one row
  };
}

/** Findings that say in numbers what the list of finds shows one by one. */
const shownAsFinds = new Set<string>([
  'numbers_found',
  'other_numbers',
  'names_found',
  'dates_found',
  'signature_found',
]);

/** What was found on a letter; only the findings if nothing of its pages is stored. */
function shownReading(opened: SealedReading | null, findings: readonly PublicFinding[]): ShownReading {
  if (opened === null)
    return {
      findings: findings.map((finding) => ({ ...explained(finding), excerpt: null, place: null })),
      finds: [],
      confidence: null,
      pages: [],
      signatures: [],
      embeddedCsv: null,
    };
  const { finds, reading } = opened;
  return {
    findings: opened.findings.filter(({ code }) => finds === null || !shownAsFinds.has(code)).map(placed),
    finds: finds === null ? [] : shownFinds(finds),
    confidence: finds?.confidence ?? null,
    pages: (reading?.pages ?? []).map(({ page, width, height, turned, lines }) => ({
      page,
      width,
      height,
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

/** Numbers that were requested with a letter. */
export type RequestedNumberPage = Listed & { readonly numbers: readonly RequestedNumber[] };

/** Letters, newest first. */
export type LetterRecordPage = Listed & { readonly letters: readonly LetterRecord[] };

/** Letters in review, oldest first. */
export type WaitingLetterPage = Listed & { readonly letters: readonly WaitingLetter[] };

/** Brands in review, by handle. */
export type WaitingBrandPage = Listed & { readonly brands: readonly WaitingBrand[] };
