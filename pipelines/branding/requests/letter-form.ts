import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { ServiceError } from '../../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { cleanText } from '../../phone/text-cleaning.ts';
import { brandChangesSchema, brandProfileSchema, handleSchema, type BrandProfile } from '../brand-profile.ts';
import { readBrandProfiles, type BrandRecord } from '../brand/brand-record.ts';
import { formVersion, renderLetterForm, type FormContent } from '../form/letter-form-pdf.ts';
import type { FormLanguage } from '../form/letter-form-texts.ts';
import { judgeNumberTexts, readNumberList } from '../number-list.ts';
import { requestNumbersSchema, signerSchema } from '../operation.ts';
import type { IssuedForm, KnownForm } from '../form/issued-form.ts';
import { sha256Of } from '../../../runtime/digest.ts';

/** Days within which a form must be returned signed. */
export const formValidDays = 30;

/** Bits of a code: it cannot be guessed. */
const codeBits = 128;

/** The request of a form: that of the operation that its letter will be submitted with, and the signer. */
export const letterFormRequestSchema = z.strictObject({
  handle: handleSchema.optional(),
  brand: brandProfileSchema.optional(),
  changes: brandChangesSchema.optional(),
  numbers: requestNumbersSchema,
  callReason: z.unknown().optional(),
  signer: signerSchema,
});

/** A request of a form before it is checked. */
export type LetterFormRequest = z.input<typeof letterFormRequestSchema>;

export interface FormOrder {
  readonly request: LetterFormRequest;
  /** The owner of the brand; null for the owner of the brand that the request names. */
  readonly owner: string | null;
  readonly numbersFile?: Uint8Array | undefined;
  readonly language: FormLanguage;
  readonly issuedBy: string;
}

/** What a form for a registered brand is issued for. */
interface BrandFormOrder
  extends Pick<LetterFormRequest, 'signer' | 'numbers'>, Pick<FormOrder, 'language' | 'issuedBy'> {
  readonly brand: Pick<BrandRecord, 'brandId' | 'handle' | 'owner' | 'state'>;
}

/** The same with its bytes. */
interface NewForm extends IssuedForm {
  readonly file: Uint8Array;
}

interface FormServices {
  readonly db: Queryable;
  readonly now: Date;
}

/**
 * Issues the form of a letter: renders it from the request, and stores its digest, its code and its content, but not its bytes.
 * @throws ServiceError `brand_request_invalid`, `brand_unknown`, `numbers_file_invalid`, `form_text_unsupported`
 */
export async function issueLetterForm({ db, now }: FormServices, order: FormOrder): Promise<NewForm> {
  const parsed = letterFormRequestSchema.safeParse(order.request);
  if (!parsed.success)
    throw formRequestInvalid(
      parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'request'}: ${message}`).join('; ') + '.',
    );
  const { signer, ...request } = parsed.data;
  const { profile, owner } = await profileOf(db, request, {
    owner: order.owner,
    hasNumbersFile: order.numbersFile !== undefined,
  });
  const phones = await requestedPhonesOf({ file: order.numbersFile, named: request.numbers, country: profile.country });
  const { contact: _contact, relationship: _relationship, ...approved } = profile;
  const content: FormContent = { ...approved, signerName: signer.name, signerTitle: signer.title, phones };
  const issue = { code: makeCode(), issuedAt: now, validUntil: new Date(now.getTime() + formValidDays * 86_400_000) };
  const { bytes: file, signaturePlace } = await renderLetterForm(content, issue, order.language);
  const form = {
    ...issue,
    owner,
    sha256: sha256Of(file),
    bytes: file.length,
    formVersion,
    language: order.language,
    content,
    signaturePlace,
  };
  const values = [
    form.code,
    owner,
    form.sha256,
    form.bytes,
    formVersion,
    form.language,
    JSON.stringify(content),
    JSON.stringify(signaturePlace),
    form.issuedAt,
    cleanText(order.issuedBy) ?? 'unknown',
    form.validUntil,
    request.handle ?? null,
  ];
  const row = await queryRow<{ formId: number }>(db, sql('branding/insert_issued_form'), values);
  return { ...form, formId: row!.formId, file };
}

/**
 * Issues the form for a brand that is registered; without numbers in the order, for those that no letter in force names.
 * @throws ServiceError `brand_request_invalid`, `brand_withdrawn`, `numbers_file_invalid`, `form_text_unsupported`
 */
export async function issueFormOfBrand(
  services: FormServices,
  { brand: { brandId, handle, owner, state }, signer, numbers = [], ...order }: BrandFormOrder,
): Promise<NewForm> {
  if (state === 'withdrawn')
    throw new ServiceError('brand_withdrawn', { operation: 'issue letter form', object: handle });
  const waiting =
    numbers.length > 0
      ? []
      : await queryRows<{ phone: string }>(services.db, sql('branding/list_waiting_numbers'), [brandId]);
  const numbersFile = waiting.length === 0 ? undefined : Buffer.from(waiting.map(({ phone }) => `${phone}\n`).join('')); // may be more than a request names
  return issueLetterForm(services, { ...order, owner, request: { handle, numbers, signer }, numbersFile });
}

type ParsedRequest = Omit<z.output<typeof letterFormRequestSchema>, 'signer'>;

/** The profile that the letter will be checked against, and the owner of its brand. */
async function profileOf(
  db: Queryable,
  { handle, brand, changes, numbers }: ParsedRequest,
  { owner, hasNumbersFile }: { owner: string | null; hasNumbersFile: boolean },
): Promise<{ profile: BrandProfile; owner: string }> {
  if (brand !== undefined) {
    if (changes !== undefined) throw formRequestInvalid('brand: is given together with changes; give one of the two.');
    const clean = owner === null ? null : cleanText(owner);
    if (clean === null || clean.length > 128)
      throw formRequestInvalid('owner: is missing or longer than 128 characters.');
    return { profile: brand, owner: clean };
  }
  if (handle === undefined)
    throw formRequestInvalid('brand: is missing; give it, or the handle of a brand that is registered.');
  const known = await readBrandProfiles(db, handle);
  if (owner !== null && known.owner !== owner)
    throw new ServiceError('brand_unknown', { operation: 'issue letter form', object: handle });
  const forNumbersOnly =
    changes === undefined && (numbers.length > 0 || hasNumbersFile) && known.approvedRevision !== null;
  const profile = forNumbersOnly ? known.profile : (known.pendingProfile ?? known.profile);
  return { profile: brandProfileSchema.parse({ ...profile, ...changes }), owner: known.owner };
}

interface RequestedNumbers {
  readonly file: Uint8Array | undefined;
  readonly named: readonly string[];
  /** Of the brand: its national form of numbers is read. */
  readonly country: string;
}

const refusedNumbersShownMax = 10;

/** Each number once, in ascending order of its bytes. @throws ServiceError with each refused one, as it was given */
async function requestedPhonesOf({ file, named, country }: RequestedNumbers): Promise<readonly string[]> {
  if (file !== undefined && named.length > 0)
    throw formRequestInvalid('numbers: are named in the request and given as a CSV; give one of the two.');
  const rows = file === undefined ? judgeNumberTexts(named, country) : await readNumberList(file, country);
  const refused = rows.flatMap((row) => (row.phone === null ? [row] : []));
  const shown = refused
    .slice(0, refusedNumbersShownMax)
    .map(
      ({ line, text, reason }) =>
        `${file === undefined ? 'place' : 'line'} ${line}, "${cleanText(text) ?? ''}": ${reason}`,
    );
  if (refused.length > 0)
    throw formRequestInvalid(`numbers: ${refused.length} of ${rows.length} are refused. ${shown.join(' ')}`);
  return [...new Set(rows.flatMap(({ phone }) => phone ?? []))].sort();
}

/** Base32 of RFC 4648. */
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function makeCode(): string {
  let bits = BigInt(`0x${randomBytes(codeBits / 8).toString('hex')}`);
  let code = '';
  for (let at = 0; at < Math.ceil(codeBits / 5); at++, bits >>= 5n) code = alphabet[Number(bits & 31n)]! + code;
  return code;
}

/** The issued form that a letter is, by the digest of its first revision, or shows, by its code; null if none. */
export async function findIssuedForm(
  db: Queryable,
  { digests, codes }: { digests: readonly string[]; codes: readonly string[] },
): Promise<KnownForm | null> {
  return (await queryRow<KnownForm>(db, sql('branding/find_issued_form'), [digests, codes])) ?? null;
}

function formRequestInvalid(problem: string): ServiceError {
  return new ServiceError('brand_request_invalid', {
    operation: 'issue letter form',
    problem,
    hint: 'docs/letter-forms.md shows a request with its signer.',
  });
}
