import type {
  BrandingEvent,
  BrandNumber,
  BrandRecord,
  BrandSummary,
  LetterRecord,
} from '../../pipelines/branding/brand/brand-record.ts';
import type { BrandProfile } from '../../pipelines/branding/brand-profile.ts';
import type { SealedReading } from '../../pipelines/branding/brand/letter-record.ts';
import { shownFinds, type ShownFind } from '../../pipelines/branding/letter/shown-finds.ts';
import { operationTitles, type Operation, type OperationRow } from '../../pipelines/branding/operation.ts';
import type { PublicFinding } from '../../pipelines/branding/operation-result.ts';
import { makeExcerpt } from '../../pipelines/phone/text-cleaning.ts';
import { formatCount, formatFacts, formatTable, formatTime, formatParagraphs } from '../table.ts';

/** An operation with its outcome; `refused` are the rows of its numbers that were refused. */
export function formatOperation(operation: Operation, refused: readonly OperationRow[]): string {
  const { result, failure } = operation;
  const facts = formatFacts([
    ['operation', `${operation.operationId} ${operationTitles[operation.kind]}`],
    ['owner', operation.owner],
    ['key', operation.key],
    ['asked for', `${formatTime(operation.requestedAt)} by ${operation.requestedBy}`],
    ['state', operation.state],
    ['outcome', result?.outcome],
    ['failure', failure && `${failure.reason} [${failure.code}]`],
    ['brand', result && `${result.brand.handle} is ${result.brand.state}${revisionWords(result.brand)}`],
    [
      'letter',
      result?.letter &&
        `${result.letter.letterId} is ${result.letter.state}${result.letter.validUntil === null ? '' : ` until ${formatTime(result.letter.validUntil)}`}`,
    ],
    ...numberFacts(result?.numbers ?? null),
  ]);
  const findings = [...(result?.brand.findings ?? []), ...(result?.letter?.findings ?? [])].filter(
    ({ severity }) => severity !== 'pass',
  );
  return formatParagraphs(facts, formatFindings(findings), refused.length === 0 ? '' : formatRows(refused));
}

function revisionWords({
  approvedRevision,
  pendingRevision,
}: {
  approvedRevision: number | null;
  pendingRevision: number | null;
}): string {
  const words = [
    approvedRevision === null ? '' : `revision ${approvedRevision} is approved`,
    pendingRevision === null ? '' : `revision ${pendingRevision} waits`,
  ].filter((word) => word !== '');
  return words.length === 0 ? '' : ` (${words.join(', ')})`;
}

function numberFacts(numbers: NonNullable<Operation['result']>['numbers']): [string, string | number][] {
  if (numbers === null) return [];
  return [
    ['numbers given', numbers.given],
    ['accepted', numbers.accepted],
    ['known', numbers.known],
    ['rejected', numbers.rejected],
    ['their states', formatCounts(numbers.states)],
  ];
}

function formatCounts(counts: Partial<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${formatCount(count ?? 0)}`)
    .join(', ');
}

/** Findings with their locations; empty text without findings. */
function formatFindings(findings: readonly PublicFinding[]): string {
  if (findings.length === 0) return '';
  return formatTable(findings, [
    { title: 'severity', value: ({ severity }) => severity },
    { title: 'finding', value: ({ code }) => code },
    { title: 'page', value: ({ page }) => page },
    { title: 'line', value: ({ line }) => line },
    { title: 'what was found', value: ({ message }) => message },
  ]);
}

/** Rows of a request's numbers. */
export function formatRows(rows: readonly OperationRow[]): string {
  return formatTable(rows, [
    { title: 'line', value: ({ line }) => String(line) },
    { title: 'phone', value: ({ phone }) => phone },
    { title: 'outcome', value: ({ outcome }) => outcome },
    { title: 'reason', value: ({ reason }) => reason },
    { title: 'state now', value: ({ state }) => state },
  ]);
}

export function formatBrands(brands: readonly BrandSummary[]): string {
  return formatTable(brands, [
    { title: 'handle', value: ({ handle }) => handle },
    { title: 'owner', value: ({ owner }) => owner },
    { title: 'state', value: ({ state }) => state },
    { title: 'display name', value: ({ displayName }) => displayName },
    {
      title: 'pending name',
      value: ({ pendingDisplayName, displayName }) => (pendingDisplayName === displayName ? null : pendingDisplayName),
    },
    { title: 'verified', value: ({ verifiedNumbers }) => verifiedNumbers },
    { title: 'changed', value: ({ changedAt }) => formatTime(changedAt) },
  ]);
}

/** A profile for display: contact and tax id only on request. */
export type ShownProfile = Omit<BrandProfile, 'contact' | 'taxId'> & Partial<Pick<BrandProfile, 'contact' | 'taxId'>>;

/** A brand for display. */
export type ShownBrand = Omit<BrandRecord, 'profile' | 'pendingProfile'> & {
  readonly profile: ShownProfile;
  readonly pendingProfile: ShownProfile | null;
};

/** A brand with its profiles, numbers, findings and letters. */
export function formatBrand(brand: ShownBrand): string {
  const { profile, pendingProfile } = brand;
  const facts = formatFacts([
    ['handle', brand.handle],
    ['owner', brand.owner],
    ['state', `${brand.state}${revisionWords(brand)}`],
    ['created', formatTime(brand.createdAt)],
    ['changed', formatTime(brand.changedAt)],
    ['approved', formatTime(brand.approvedAt)],
    ['numbers', formatCounts(brand.numbers)],
    ...profileFacts(profile),
  ]);
  const pending =
    pendingProfile === null || brand.approvedRevision === null
      ? ''
      : `The revision that waits:\n${formatFacts(profileFacts(pendingProfile))}`;
  return formatParagraphs(
    facts,
    pending,
    formatFindings(brand.findings),
    brand.letters.length === 0 ? '' : formatLetters(brand.letters),
  );
}

function profileFacts(profile: ShownProfile): [string, string | null | undefined][] {
  const { contact } = profile;
  return [
    ['display name', profile.displayName],
    ['legal name', profile.legalName],
    ['doing business as', profile.dba],
    ['country', profile.country],
    ['website', profile.website],
    ['address', profile.address],
    ['logo', profile.logo],
    ['SHA-256 of the logo', profile.logoSha256],
    ['relationship', profile.relationship],
    ['call reasons', profile.callReasons.join('; ')],
    ['tax id', profile.taxId],
    ['contact', contact && [contact.name, contact.email, contact.phone].filter((part) => part !== null).join(', ')],
  ];
}

/** The audit trail as a table. */
export function formatEvents(events: readonly BrandingEvent[]): string {
  return formatTable(events, [
    { title: 'event', value: ({ eventId }) => String(eventId) },
    { title: 'when', value: ({ at }) => formatTime(at) },
    {
      title: 'what',
      value: ({ subject, letterId, phone }) =>
        subject === 'brand' ? 'brand' : `${subject} ${letterId ?? phone ?? ''}`,
    },
    { title: 'action', value: ({ action }) => action },
    { title: 'before', value: ({ before }) => before },
    { title: 'after', value: ({ after }) => after },
    { title: 'operation', value: ({ operationId }) => (operationId === null ? null : String(operationId)) },
    { title: 'who', value: ({ actor }) => actor },
    { title: 'why', value: ({ reason }) => reason },
  ]);
}

export function formatNumbers(numbers: readonly BrandNumber[]): string {
  return formatTable(numbers, [
    { title: 'phone', value: ({ phone }) => phone },
    { title: 'country', value: ({ country }) => country },
    { title: 'state', value: ({ state }) => state },
    { title: 'call reason', value: ({ callReason }) => callReason },
    { title: 'verified', value: ({ verifiedAt }) => formatTime(verifiedAt) },
    { title: 'shown until', value: ({ liveUntil }) => formatTime(liveUntil) },
  ]);
}

export function formatLetters(letters: readonly LetterRecord[]): string {
  return formatTable(letters, [
    { title: 'letter', value: ({ letterId }) => String(letterId) },
    { title: 'brand', value: ({ handle }) => handle },
    { title: 'state', value: ({ state }) => state },
    { title: 'signed', value: ({ signedOn }) => signedOn },
    { title: 'valid until', value: ({ validUntil }) => formatTime(validUntil) },
    { title: 'numbers', value: ({ numbers }) => numbers },
    { title: 'submitted', value: ({ submittedAt }) => formatTime(submittedAt) },
    { title: 'decided by', value: ({ decidedBy }) => decidedBy },
  ]);
}

/** A letter with its findings. */
export function formatLetter(letter: LetterRecord & { readonly findings: readonly PublicFinding[] }): string {
  const { document } = letter;
  const facts = formatFacts([
    ['letter', letter.letterId],
    ['brand', `${letter.handle} (revision ${letter.revision}, owner ${letter.owner})`],
    ['state', letter.state],
    ['submitted', `${formatTime(letter.submittedAt)} with operation ${letter.operationId}`],
    ['rules', letter.ruleVersion],
    [
      'document',
      `${letter.format ?? 'not read'}, ${letter.pages === null ? '' : `${letter.pages === 1 ? '1 page' : `${letter.pages} pages`}, `}${formatCount(document.bytes)} bytes, sha256 ${document.sha256}`,
    ],
    ['deleted', formatTime(document.destroyedAt)],
    ['signed', letter.signedOn],
    ['decided', letter.decidedAt && `${formatTime(letter.decidedAt)} by ${letter.decidedBy}: ${letter.decisionReason}`],
    ['valid', letter.validFrom && `${formatTime(letter.validFrom)} until ${formatTime(letter.validUntil)}`],
    ['numbers', letter.numbers],
  ]);
  return formatParagraphs(facts, formatFindings(letter.findings));
}

/** What was found on a letter, for users who may see it. */
export function formatReading({ finds }: SealedReading): string {
  return finds === null ? '' : formatTable(shownFinds(finds), findColumns);
}

const findColumns = [
  { title: 'looked for', value: ({ name }: ShownFind) => name },
  { title: 'result', value: ({ state }: ShownFind) => state },
  { title: 'page', value: ({ place }: ShownFind) => place?.page },
  { title: 'line', value: ({ place }: ShownFind) => place?.line },
  { title: 'requested', value: ({ asked }: ShownFind) => asked },
  { title: 'as it reads', value: ({ value }: ShownFind) => makeExcerpt(value) }, // removes control characters
];
