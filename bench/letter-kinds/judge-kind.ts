import type { LetterRequest } from '../../samples/letters/sample-letters.ts';
import { brandProfileSchema } from '../../pipelines/branding/brand-profile.ts';
import { checkBrand } from '../../pipelines/branding/brand/brand-check.ts';
import { protectedNamesWith } from '../../pipelines/branding/names/protected-names.ts';
import type { Finding, LetterOutcome } from '../../pipelines/branding/finding.ts';
import { decideLetterByRules, refusalFinding } from '../../pipelines/branding/letter/rules/letter-decision.ts';
import { extractFields } from '../../pipelines/branding/letter/letter-fields.ts';
import type { LetterReading, LetterReadingOutcome } from '../../pipelines/branding/letter-reading.ts';
import { letterTextOf } from '../../pipelines/branding/letter/letter-text.ts';
import { readNumberList } from '../../pipelines/branding/number-list.ts';
import { decideFreeLetter } from '../free-letter.ts';
import { draftOf, handedInOn, pagesOf, type DraftRequest, type LetterKind, type WrongPlace } from './letter-draft.ts';

/** What the service makes of a letter of the catalogue. */
export interface JudgedKind {
  readonly kind: LetterKind;
  readonly outcome: LetterOutcome;
  /** Those that hinder an approval. */
  readonly findings: readonly Finding[];
  /** Whether a finding points at the very thing that is wrong; null for an honest letter. */
  readonly isPointedAt: boolean | null;
}

const protectedNames = protectedNamesWith([]);

/** The letter as it would be read from a plain PDF, each line under the one before. Columns are lines of their own. */
export function readAsText(kind: LetterKind): LetterReading {
  const pages = pagesOf(draftOf(kind).draft).map((texts, at) => ({
    page: at + 1,
    width: 612,
    height: 792,
    source: 'text' as const,
    marks: kind.marks,
    lines: texts.flatMap((text, row) =>
      text
        .split(/\t| {3,}/)
        .map((column, place) => ({
          text: column,
          box: { left: 0.1 + 0.18 * place, top: 0.1 + row * 0.02, width: column.length * 0.0085, height: 0.014 },
          confidence: null,
          font: null,
        })),
    ),
  }));
  return { format: 'pdf', pages, signatures: [], revisions: [], embeddedCsv: null };
}

/** Judges a letter as it was read: by the rules, by the check of the shown name, and by the decision of the service. */
export function judgeKind(kind: LetterKind, outcome: LetterReadingOutcome): JudgedKind {
  if (outcome.kind === 'refused')
    return { kind, outcome: 'rejected', findings: [], isPointedAt: kind.wrong === null ? null : true };
  const { request } = draftOf(kind);
  const findings = findingsOn(outcome.reading, request);
  const decided = decideFreeLetter({
    ...request,
    reading: outcome.reading,
    findings,
    submittedAt: new Date(`${handedInOn}T12:00:00Z`),
  });
  return {
    kind,
    findings,
    outcome: decided,
    isPointedAt: kind.wrong === null ? null : pointsAt(kind.wrong, outcome.reading, findings),
  };
}

/** The findings on a sample letter that hinder an approval. */
export async function judgeFree(
  outcome: LetterReadingOutcome,
  { csv, phones, ...brand }: LetterRequest,
): Promise<readonly Finding[]> {
  if (outcome.kind === 'refused') return [refusalFinding(outcome.code, outcome.problem)];
  const csvPhones = csv === null ? null : (await readNumberList(Buffer.from(csv))).flatMap(({ phone }) => phone ?? []);
  return findingsOn(outcome.reading, { brand, phones, csvPhones, phonesOfOtherBrands: [] });
}

function findingsOn(
  reading: LetterReading,
  { brand, phones, csvPhones, phonesOfOtherBrands }: DraftRequest,
): readonly Finding[] {
  const fields = extractFields(reading, {
    country: brand.country,
    names: [brand.legalName, brand.dba, brand.displayName].filter((name) => name !== null),
  });
  const decision = decideLetterByRules({
    submittedOn: handedInOn,
    brand,
    requestedPhones: phones,
    csvPhones,
    phonesOfOtherBrands,
    reading,
    fields,
  });
  return [...decision.findings, ...checkBrand(brandProfileSchema.parse(brand), protectedNames)].filter(
    ({ severity }) => severity === 'review' || severity === 'reject',
  );
}

/** True if a finding has an expected code, or is in a line with the wrong text, or on an object over it. */
function pointsAt(wrong: WrongPlace, reading: LetterReading, findings: readonly Finding[]): boolean {
  if ('findings' in wrong) return findings.some(({ code }) => wrong.findings.includes(code));
  if ('at' in wrong)
    return findings.some(
      ({ code, excerpt }) =>
        code === 'page_plain' && (wrong.at === 'annotation' || excerpt?.includes(wrong.at) === true),
    );
  const letter = letterTextOf(reading);
  const flat = squeezed(letter.text);
  const start = flat.text.indexOf(squeezed(wrong.text).text);
  if (start === -1) return false;
  const [from, to] = [flat.offsets[start]!, flat.offsets[start + squeezed(wrong.text).text.length - 1]!];
  const lines = letter.lines.filter((line) => line.start <= to && line.start + line.text.length > from);
  return findings.some(
    ({ place }) => place !== null && lines.some((line) => line.page === place.page && line.line === place.line),
  );
}

/** A text without white space, and where each of its characters was. */
function squeezed(text: string): { readonly text: string; readonly offsets: readonly number[] } {
  const offsets = [...text.matchAll(/[^\s]/g)].map(({ index }) => index);
  return { text: text.replace(/\s/g, ''), offsets };
}
