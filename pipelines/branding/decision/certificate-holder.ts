import type { FormContent } from '../form/letter-form-pdf.ts';
import type { PdfSignature } from '../letter-reading.ts';
import { compareNames, isSamePerson } from '../names/name-match.ts';

/** The holder of a signing certificate. */
type Holder = Pick<PdfSignature, 'signerName' | 'signerOrganization' | 'signerCountry' | 'signerOrganizationId'>;

/** How the holder of a certificate differs from the signer and the company of a form. */
type HolderDifference =
  'another_person' | 'no_company' | 'another_company' | 'no_country' | 'another_country' | 'another_number';

/**
 * How the holder of a certificate differs from the signer and the company of a form, or null. The DBA and the display name are the
 * sender's claims: a certificate for one of them does not prove the company.
 */
export function compareHolder(
  { signerName, signerOrganization, signerCountry, signerOrganizationId }: Holder,
  form: FormContent,
): HolderDifference | null {
  if (signerName === null || !isSamePerson(signerName, form.signerName)) return 'another_person';
  if (signerOrganization === null) return 'no_company';
  if (compareNames(signerOrganization, form.legalName) !== 'same') return 'another_company';
  if (signerCountry === null) return 'no_country';
  if (signerCountry.toUpperCase() !== form.country) return 'another_country';
  return signerOrganizationId === null || isIdentifierOf(signerOrganizationId, form) ? null : 'another_number';
}

/** ETSI EN 319 412-1 section 5.1.4: kind, country (and in the United States a state), number, as in NTRUS+CA-123 and VATDE-123. */
const identifierForm = /^[A-Z]{3}([A-Z]{2})(?:\+[A-Z]{2})?-(.+)$/;

/** Country codes in identifiers that are not those of ISO 3166-1: Greece and Northern Ireland in VAT numbers, and none in an LEI. */
const otherCodes: Readonly<Record<string, string>> = { EL: 'GR', XI: 'GB' };
const anyCountry = 'XG';

/** True if the identifier of an organization is of the form's country, and of its number where the form has one. */
function isIdentifierOf(identifier: string, { country, taxId }: Pick<FormContent, 'country' | 'taxId'>): boolean {
  const [, code = country, number = identifier] = identifierForm.exec(identifier.trim().toUpperCase()) ?? [];
  if (code !== anyCountry && (otherCodes[code] ?? code) !== country) return false;
  const plain = (text: string) => text.toUpperCase().replace(/[^\p{L}\p{N}]/gu, '');
  return taxId === null || [number, code + number, identifier].some((each) => plain(each) === plain(taxId));
}
