import type { Finding } from '../../finding.ts';
import {
  LETTER_REFUSALS,
  type LetterReading,
  type LetterRefusalCode,
  type PdfSignature,
} from '../../letter-reading.ts';
import { dayOf } from '../letter-dates.ts';
import type { LetterFinds } from '../letter-finds.ts';
import { LETTER_RULES, letterRuleLimits, reportBy } from './letter-rules.ts';

const report = reportBy(LETTER_RULES);

/** The finding on a letter that was refused unread. */
export function refusalFinding(code: LetterRefusalCode, problem: string): Finding {
  const more = problem.trim() === '' || LETTER_REFUSALS[code].includes(problem.trim()) ? '' : ` ${problem.trim()}`;
  return { code, severity: 'reject', message: `${LETTER_REFUSALS[code]}${more}`, place: null, excerpt: null };
}

/** A letter that was read, and the request that it came with. */
interface LetterCase {
  readonly reading: LetterReading;
  readonly finds: LetterFinds;
  readonly requested: number;
  /** Requested numbers that belong to another live brand. */
  readonly phonesOfOtherBrands: readonly string[];
}

/** Says what was found on a free letter, and what was not. */
export function findingsOnLetter(letterCase: LetterCase): readonly Finding[] {
  const { reading, finds, requested, phonesOfOtherBrands: taken } = letterCase;
  const { others, dates } = finds;
  return [
    ...readability(letterCase),
    ...numbers(letterCase),
    ...(others.length === 0
      ? []
      : [report('other_numbers', 'found', { place: others[0]!.place }, { others: others.length })]),
    ...names(finds),
    dates.length === 0
      ? report('dates_found', 'missing')
      : report('dates_found', 'found', { place: dates[0]!.place }, { dates: dates.length }),
    signature(finds),
    ...reading.signatures.map((each) => pdfSignature(each, reading)),
    ...(taken.length === 0
      ? []
      : [
          report('numbers_of_one_brand', 'taken', null, {
            taken: taken.length,
            requested,
            endings: endingsOf(taken, taken.length),
          }),
        ]),
  ];
}

/** Width of a sheet in inches, by which the resolution of a picture is told. */
const sheetInches = 8.5;

function readability({ reading: { format, pages }, finds: { confidence } }: LetterCase): readonly Finding[] {
  if (confidence === null) return [report('pages_readable', 'blank')];
  const dots = format === 'pdf' ? null : Math.round(Math.min(pages[0]!.width, pages[0]!.height) / sheetInches);
  if (dots !== null && dots < letterRuleLimits.dotsPerInchMin)
    return [report('pages_readable', 'coarse', null, { dots })];
  return confidence < letterRuleLimits.pageConfidenceMin ? [report('pages_readable', 'unsure')] : [];
}

function numbers({ finds, requested }: LetterCase): readonly Finding[] {
  if (requested === 0) return [report('numbers_found', 'none_requested')];
  const found = finds.requested.filter(({ where }) => where !== 'range');
  const ranged = finds.requested.filter(({ where }) => where === 'range');
  const at = (list: typeof found) => ({ place: list[0]?.place ?? null });
  return [
    ...(found.length === 0 ? [] : [report('numbers_found', 'found', at(found), { found: found.length, requested })]),
    ...(finds.missingCount === 0
      ? []
      : [
          report('numbers_found', 'missing', null, {
            missing: finds.missingCount,
            requested,
            endings: endingsOf(finds.missing, finds.missingCount),
          }),
        ]),
    ...(ranged.length === 0
      ? []
      : [report('numbers_found', 'in_range', at(ranged), { ranged: ranged.length, requested })]),
  ];
}

const endingsMax = 5;

/** The last four digits of some numbers: 0143, 0144 and 3 more. */
function endingsOf(phones: readonly string[], count: number): string {
  const shown = phones
    .slice(0, endingsMax)
    .map((phone) => phone.slice(-4))
    .join(', ');
  return count > endingsMax ? `${shown} and ${count - endingsMax} more` : shown;
}

const namesInWords = { legalName: 'legal name', dba: 'DBA', displayName: 'display name' } as const;

function names({ names: found }: LetterFinds): readonly Finding[] {
  return found.map(({ kind, how, seen }) =>
    report(
      'names_found',
      how === null ? 'missing' : how === 'whole' ? 'found' : how,
      seen === null ? null : { place: seen.place, excerpt: seen.value },
      { name: namesInWords[kind] },
    ),
  );
}

function signature({ signing: { place, signer } }: LetterFinds): Finding {
  if (place === null) return report('signature_found', 'missing');
  return signer === null
    ? report('signature_found', 'unnamed', { place })
    : report('signature_found', 'named', { place: signer.place, excerpt: signer.value });
}

function pdfSignature(signed: PdfSignature, { revisions }: LetterReading): Finding {
  const { page, box, signedAt, signerName, signerOrganization, coverage } = signed;
  const place = page === null ? null : { page, line: 0, box };
  if (!signed.signatureValid) return report('pdf_signature_found', 'unverified', { place, excerpt: signed.problem });
  const figures = {
    time: signedAt === null ? 'an unknown time' : dayOf(new Date(signedAt)),
    signer: [signerName, signerOrganization].filter((name) => name !== null).join(', ') || 'nobody by name',
  };
  if (coverage === 'whole') return report('pdf_signature_found', 'unchanged', { place }, figures);
  if (coverage === 'extended') return report('pdf_signature_found', 'extended', { place }, figures);
  const changes = revisions.flatMap((revision) => revision.changes).join('; ');
  return report(
    'pdf_signature_found',
    'changed',
    { place, excerpt: changes === '' ? null : changes.slice(0, 200) },
    figures,
  );
}
