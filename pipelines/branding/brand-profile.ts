import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isPhoneRefusal, judgePhone } from '../phone/phone-number.ts';
import { cleanText } from '../phone/text-cleaning.ts';
import { foldWords } from './names/name-folding.ts';

/** Limits of a brand's fields, in characters unless named otherwise. */
export const brandLimits = {
  displayNameCharactersMax: 32,
  callReasonsMax: 10,
  callReasonCharactersMax: 50,
  nameCharactersMax: 128,
  addressCharactersMax: 300,
  taxIdCharactersMax: 40,
  urlBytesMax: 512,
} as const;

/** The capacity in which the registrant of a brand acts. */
export const RELATIONSHIPS = ['owner', 'agency', 'reseller'] as const;

/** Text of a profile: clean, not empty, of limited length. */
export const profileText = (charactersMax: number) =>
  z
    .string()
    .transform((value) => cleanText(value) ?? '')
    .refine((value) => value !== '', 'is empty')
    .refine((value) => [...value].length <= charactersMax, `is longer than ${charactersMax} characters`);

const endings =
  'com|net|org|info|biz|io|co|us|uk|eu|de|fr|es|it|nl|ca|au|in|br|ru|cn|jp|ai|app|dev|me|tv|cc|ly|gl|gg|xyz|shop|store|site|online|club|top|link|live';
const urlLike = new RegExp(`://|\\bwww\\.|\\b[\\p{L}\\p{N}-]+\\.(?:${endings})(?![\\p{L}\\p{N}])`, 'iu');
/** Pictographs but the three signs of ordinary text, flags, keycaps and the selector that turns a sign into a picture. */
const emoji = /(?![©®™])\p{Extended_Pictographic}|[\u{1F1E6}-\u{1F1FF}\u20E3\uFE0F]/u;

const displayName = profileText(brandLimits.displayNameCharactersMax)
  .refine((value) => /\p{L}/u.test(value), 'has no letter: it may not be digits and signs only')
  .refine((value) => !urlLike.test(value), 'holds an address of the web')
  .refine((value) => !emoji.test(value), 'holds an emoji');

function isUrl(value: string, protocols: readonly string[]): boolean {
  if (/\s/.test(value) || !URL.canParse(value)) return false;
  const { protocol, username, password, hostname } = new URL(value);
  return protocols.includes(protocol) && username === '' && password === '' && hostname.includes('.');
}

const url = (...protocols: string[]) =>
  z
    .string()
    .trim()
    .refine(
      (value) => Buffer.byteLength(value) <= brandLimits.urlBytesMax,
      `is longer than ${brandLimits.urlBytesMax} bytes`,
    )
    .refine(
      (value) => cleanText(value) === value && isUrl(value, protocols),
      `is not an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    );

const regions = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });

/** Codes that the language data of Node names too, but that are no countries. */
const noCountries = new Set(['EU', 'EZ', 'UN', 'ZZ', 'QO', 'XA', 'XB']);

const country = z
  .string()
  .refine(
    (code) => /^[A-Z]{2}$/.test(code) && regions.of(code) !== undefined && !noCountries.has(code),
    'is not the two upper-case letters of a country in ISO 3166-1',
  );

const phone = z.string().transform((value, context) => {
  const judged = judgePhone(value);
  if (!isPhoneRefusal(judged)) return judged.phone;
  context.addIssue({ code: 'custom', message: 'is not a phone number in international form' });
  return z.NEVER;
});

const contact = z.strictObject({
  name: profileText(brandLimits.nameCharactersMax),
  email: z
    .string()
    .trim()
    .max(254)
    .regex(/^[^\s@"<>\\\p{C}]+@[^\s@"<>\\\p{C}]+\.[^\s@"<>\\.\p{C}]+$/u, 'is not an e-mail address'),
  phone: phone.nullable().default(null),
});

const callReasons = z
  .array(profileText(brandLimits.callReasonCharactersMax))
  .max(brandLimits.callReasonsMax, `has more than ${brandLimits.callReasonsMax} entries`);

const fields = {
  legalName: profileText(brandLimits.nameCharactersMax),
  dba: profileText(brandLimits.nameCharactersMax).nullable(),
  displayName,
  website: url('https:', 'http:').nullable(),
  country,
  taxId: profileText(brandLimits.taxIdCharactersMax).nullable(),
  contact: contact.nullable(),
  address: profileText(brandLimits.addressCharactersMax).nullable(),
  callReasons,
  logo: url('https:').nullable(),
  logoSha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'is not a SHA-256 of 64 lower-case hex digits')
    .nullable(),
  relationship: z.enum(RELATIONSHIPS),
} as const;

/** The profile of a managed brand, without its handle, owner and state. Texts are clean. */
export const brandProfileSchema = z.strictObject({
  ...fields,
  dba: fields.dba.default(null),
  website: fields.website.default(null),
  taxId: fields.taxId.default(null),
  contact: fields.contact.default(null),
  address: fields.address.default(null),
  callReasons: fields.callReasons.default([]),
  logo: fields.logo.default(null),
  logoSha256: fields.logoSha256.default(null),
  relationship: fields.relationship.default('owner'),
});

/** Changes to a profile: fields that are absent stay as they are. */
export const brandChangesSchema = z.strictObject(fields).partial();

export type BrandProfile = z.output<typeof brandProfileSchema>;

/** A brand's name in paths, commands and reports: lower-case letters, digits and single hyphens, 2 to 63 characters. */
export const handleSchema = z
  .string()
  .max(63)
  .regex(/^[a-z0-9](-?[a-z0-9])+$/, 'is not made of lower-case letters, digits and single hyphens, 2 to 63 characters');

/** A reason for calls with one number. */
export const callReasonSchema = profileText(brandLimits.callReasonCharactersMax);

/** The handle that a display name suggests; empty if it has no letter or digit of ASCII. */
export function suggestHandle(name: string): string {
  const words = foldWords(name.replace(/[&+]/g, ' ')).join(' ');
  return words
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()
    .replaceAll(' ', '-')
    .slice(0, 60)
    .replace(/-+$/, '');
}

/** The part of a profile that is approved: all but who registered it, which is neither published nor decided by. */
export type ApprovedProfile = Omit<BrandProfile, 'contact' | 'relationship'>;

/** A field that is approved. */
export type ApprovedField = keyof ApprovedProfile;

/**
 * The fields that are approved, with their words in findings, in the order of the issued form, which prints each of them: all that
 * called persons see, and all that a decision rests on. A change of one needs an approval.
 */
export const APPROVED_FIELDS = {
  legalName: 'legal name',
  dba: 'DBA',
  displayName: 'display name',
  website: 'website',
  logo: 'logo',
  logoSha256: 'SHA-256 of the logo',
  callReasons: 'call reasons',
  country: 'country',
  taxId: 'tax id',
  address: 'address',
} as const satisfies Readonly<Record<ApprovedField, string>>;

export const approvedFields = Object.keys(APPROVED_FIELDS) as ApprovedField[];

/** The approved fields in which two profiles differ. */
export function changedFields(before: ApprovedProfile, after: ApprovedProfile): readonly ApprovedField[] {
  return approvedFields.filter((field) => !isDeepStrictEqual(before[field], after[field]));
}

/** True if the change of a profile must be approved before it is published. */
export function needsApproval(before: ApprovedProfile, after: ApprovedProfile): boolean {
  return changedFields(before, after).length > 0;
}

/**
 * Reasons for calls that need no person. Another one is free text that called persons read beside the brand's name, so a person
 * decides it. None claims an office, a payment or a warning.
 */
export const CALL_REASONS: readonly string[] =
  'Appointment;Appointment confirmation;Appointment reminder;Callback;Customer service;Customer support;Delivery;Delivery update;Estimate;Event information;Feedback request;Follow-up;Installation;Interview;Job application;Maintenance;Meeting;Order confirmation;Order update;Pickup reminder;Project update;Quote;Rental information;Repair update;Reservation;Reservation confirmation;Sales;Scheduling;Service appointment;Service reminder;Service update;Survey;Visit'.split(
    ';',
  );

/** True for a reason of the closed list, in any letter case. */
export function isKnownCallReason(reason: string): boolean {
  return CALL_REASONS.some((known) => known.toLowerCase() === reason.toLowerCase());
}
