import { appendToPdf } from '../../samples/letters/pdf-file.ts';
import { certifySigner, certifyStranger, revokeSigners } from '../../samples/letters/sample-keys.ts';
import { signForm, type FormSigning } from '../../samples/letters/sign-form.ts';
import type { ApprovedProfile } from '../../pipelines/branding/brand-profile.ts';
import type { BRAND_CHECKS } from '../../pipelines/branding/brand/brand-check.ts';
import type { ApprovalFacts } from '../../pipelines/branding/decision/letter-approval.ts';
import type { RevocationData } from '../../pipelines/branding/letter-trust.ts';
import type { KnownForm } from '../../pipelines/branding/form/issued-form.ts';
import type { FormContent } from '../../pipelines/branding/form/letter-form-pdf.ts';
import type { FormRuleId } from '../../pipelines/branding/decision/letter-form-rules.ts';

/** The day of submission of all forms of the catalogue. */
export const handedInOn = '2026-05-20';

/** What a careful clerk would do. */
type CarefulOutcome = 'approve' | 'ask' | 'reject';

/** What the forms of the catalogue say, and who signs them. */
export const formContent: FormContent = {
  legalName: 'Brindlewick Roofing LLC',
  dba: null,
  displayName: 'Brindlewick Roofing',
  website: null,
  logo: null,
  logoSha256: null,
  callReasons: [],
  country: 'US',
  taxId: null,
  address: null,
  signerName: 'Leona Thornquill',
  signerTitle: 'Managing Director',
  phones: ['+16145550141', '+16145550142', '+16145550143'],
};

/** An issued form, and the same form rendered at another time, as by a program that saves it again. */
interface RenderedForms {
  readonly issued: Uint8Array;
  readonly savedAnew: Uint8Array;
}

/**
 * One kind of letter on an issued form: how the file comes back, what a careful clerk would do, and the rule that must say what is
 * wrong.
 */
export interface FormKind {
  readonly name: string;
  readonly careful: CarefulOutcome;
  readonly make: (forms: RenderedForms) => Uint8Array;
  /** The state of the form, if not as issued to this client and in date. */
  readonly known: Partial<KnownForm>;
  readonly phones: readonly string[];
  /** What the form shows besides {@link formContent}. */
  readonly content: Partial<FormContent>;
  /** What the request has besides what the form shows. */
  readonly requested: Partial<ApprovedProfile>;
  /** Settings and facts of the decision, where they are not the usual ones. */
  readonly facts: Partial<Pick<ApprovalFacts, 'policy' | 'revocation' | 'provenPhones'>> & {
    readonly isApprovedProfile?: boolean;
  };
  /** Lists and answers of the operator. */
  readonly revocationData: RevocationData;
  readonly wrong: FormRuleId | keyof typeof BRAND_CHECKS | null;
}

/** A form on which every field has a value. */
const details = {
  website: 'https://brand.example',
  logo: 'https://brand.example/logo.png',
  logoSha256: 'a'.repeat(64),
  callReasons: ['Appointment reminder', 'Survey'],
  taxId: '52-1234567',
  address: '1 Main Street, Springfield, OH',
};

/** A list of the authority that revokes these certificates. */
function revocationsOf(...certificates: Parameters<typeof revokeSigners>[0]): RevocationData {
  return { crls: [Buffer.from(revokeSigners(certificates, new Date())).toString('base64')], ocsps: [] };
}

const noRevocationData: RevocationData = { crls: [], ocsps: [] };

const ownSigner = { name: formContent.signerName, organization: formContent.legalName };
const honestSigning: FormSigning = {
  certificate: certifySigner(ownSigner),
  signedAt: new Date('2026-05-18T10:24:00Z'),
  lines: [`Digitally signed by ${formContent.signerName}`],
};

function signed(change: Partial<FormSigning> = {}): FormKind['make'] {
  return ({ issued }) => signForm(issued, { ...honestSigning, ...change });
}

/** Number and body of the object of a form that has an entry. */
function objectWith(form: Uint8Array, entry: string): readonly [number, string] {
  const objects = Buffer.from(form)
    .toString('latin1')
    .matchAll(/\n(\d+) 0 obj\n<<\n((?:(?!endobj)[\s\S])*)>>\nendobj/g);
  const [, id, body] = [...objects].find(([, , text]) => text!.includes(entry))!;
  return [Number(id), body!];
}

/** An object of a form with an entry replaced by another text. */
function replaced(form: Uint8Array, holder: string, change: (body: string) => string): readonly [number, string] {
  const [id, body] = objectWith(form, holder);
  return [id, `<<\n${change(body)}>>`];
}

type Objects = readonly (readonly [number, string])[];

const text = 'BT /F3 12 Tf 72 500 Td (+1 614 555 0149) Tj ET';
const changes = {
  textDrawnOver: (form: Uint8Array): Objects => [
    replaced(form, '/Type /Page\n', (body) => body.replace(/\/Contents (\d+ 0 R)/, '/Contents [$1 40 0 R]')),
    [40, `<< /Length ${text.length} >>\nstream\n${text}\nendstream`],
  ],
  fieldValue: (form: Uint8Array): Objects => [
    replaced(form, '/Type /Page\n', (body) => body.replace('/Annots [', '/Annots [40 0 R ')),
    replaced(form, '/Fields [', (body) => body.replace('/Fields [', '/Fields [40 0 R ')),
    [
      40,
      `<< /Type /Annot /Subtype /Widget /FT /Tx /T (Number) /V (+1 614 555 0149) /F 4 /Rect [72 480 300 500] /P ${objectWith(form, '/Type /Page\n')[0]} 0 R >>`,
    ],
  ],
  extraPage: (form: Uint8Array): Objects => [
    replaced(form, '/Type /Pages', (body) =>
      body.replace(/\/Count 1/, '/Count 2').replace(/\/Kids \[/, '/Kids [40 0 R '),
    ),
    [40, `<< /Type /Page /Parent ${objectWith(form, '/Type /Pages')[0]} 0 R /MediaBox [0 0 612 792] >>`],
  ],
  fieldOverText: (form: Uint8Array): Objects => {
    // it shares the value that the signature will have
    const value = /\/Size (\d+)(?![\s\S]*\/Size)/.exec(Buffer.from(form).toString('latin1'))![1]!;
    return [
      replaced(form, '/Type /Page\n', (body) => body.replace('/Annots [', '/Annots [90 0 R ')),
      replaced(form, '/Fields [', (body) => body.replace('/Fields [', '/Fields [90 0 R ')),
      [
        90,
        `<< /Type /Annot /Subtype /Widget /FT /Sig /T (More) /V ${value} 0 R /F 4 /Rect [56 400 356 464] /P ${objectWith(form, '/Type /Page\n')[0]} 0 R >>`,
      ],
    ];
  },
  validation: (form: Uint8Array): Objects => [
    replaced(form, '/Type /Catalog', (body) => `${body}/DSS 40 0 R\n`),
    [40, '<< /Type /DSS /Certs [] >>'],
  ],
  validationWithList: (form: Uint8Array): Objects => {
    const list = Buffer.from(revokeSigners([honestSigning.certificate], new Date()));
    return [
      replaced(form, '/Type /Catalog', (body) => `${body}/DSS 40 0 R\n`),
      [40, '<< /Type /DSS /CRLs [41 0 R] >>'],
      [41, `<< /Filter /ASCIIHexDecode /Length ${2 * list.length + 1} >>\nstream\n${list.toString('hex')}>\nendstream`],
    ];
  },
  validationWithFont: (form: Uint8Array): Objects => [
    ...changes.validation(form),
    [
      objectWith(form, '/Subtype /Type0')[0],
      '<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>',
    ],
  ],
};

/** The form is changed in the update that signs it. */
function signedWith(change: (form: Uint8Array) => Objects): FormKind['make'] {
  return ({ issued }) => signForm(issued, { ...honestSigning, more: new Map(change(issued)) });
}

/** The form is changed after it was signed. */
function changedAfter(change: (form: Uint8Array) => Objects): FormKind['make'] {
  return ({ issued }) => appendToPdf(signed()({ issued, savedAnew: issued }), new Map(change(issued)));
}

function formKind(
  name: string,
  careful: CarefulOutcome,
  wrong: FormKind['wrong'],
  parts: Partial<FormKind> = {},
): FormKind {
  return {
    name,
    careful,
    wrong,
    make: signed(),
    known: {},
    phones: formContent.phones,
    content: {},
    requested: {},
    facts: {},
    revocationData: revocationsOf(),
    ...parts,
  };
}

/** Letters on issued forms, honest and forged. */
export const formKinds: readonly FormKind[] = [
  formKind('signed in its field', 'approve', null),
  formKind('signed without showing it', 'approve', null, { make: signed({ lines: [] }) }),
  formKind('signed, with validation data', 'approve', null, { make: changedAfter(changes.validation) }),
  formKind('with every detail, the number of the company in the certificate', 'approve', null, {
    content: details,
    make: signed({ certificate: certifySigner({ ...ownSigner, organizationId: 'NTRUS+OH-52-1234567' }) }),
  }),
  formKind('not signed', 'reject', 'form_signed', { make: ({ issued }) => issued }),
  formKind('printed to a new file, not signed', 'ask', 'form_issued', { make: ({ savedAnew }) => savedAnew }),
  formKind('saved again, then signed', 'ask', 'form_issued', {
    make: ({ savedAnew }) => signForm(savedAnew, honestSigning),
  }),
  formKind('another signer', 'ask', 'form_signer_fits', {
    make: signed({ certificate: certifySigner({ ...ownSigner, name: 'Walter Ashgrove' }) }),
  }),
  formKind('a certificate of another company', 'ask', 'form_signer_fits', {
    make: signed({ certificate: certifySigner({ ...ownSigner, organization: 'Varnholt Telecom LLC' }) }),
  }),
  formKind('a certificate of its own making', 'ask', 'form_signature_trusted', {
    make: signed({ certificate: certifyStranger(ownSigner) }),
  }),
  formKind('text drawn over it while signing', 'ask', 'form_unchanged', { make: signedWith(changes.textDrawnOver) }),
  formKind('text drawn over it after signing', 'ask', 'form_unchanged', { make: changedAfter(changes.textDrawnOver) }),
  formKind('a field with a value', 'ask', 'form_unchanged', { make: signedWith(changes.fieldValue) }),
  formKind('an extra page', 'ask', 'form_unchanged', { make: signedWith(changes.extraPage) }),
  formKind('validation data that redefine a font', 'ask', 'form_unchanged', {
    make: changedAfter(changes.validationWithFont),
  }),
  formKind('a signature drawn over the text', 'ask', 'form_unchanged', { make: signed({ rect: [56, 400, 356, 464] }) }),
  formKind('a second field with the same signature, drawn over the text', 'ask', 'form_unchanged', {
    make: signedWith(changes.fieldOverText),
  }),
  formKind('a certificate of a company that has the display name', 'ask', 'form_signer_fits', {
    make: signed({ certificate: certifySigner({ ...ownSigner, organization: `${formContent.displayName} GmbH` }) }),
  }),
  formKind('returned too late', 'ask', 'form_issued', { known: { validUntil: new Date(`${handedInOn}T11:59:59Z`) } }),
  formKind('signed before it was issued', 'ask', 'form_signed_in_time', {
    make: signed({ signedAt: new Date('2026-05-14T10:00:00Z') }),
  }),
  formKind('revoked after it was issued', 'ask', 'form_issued', { known: { revoked: true } }),
  formKind('issued to another client', 'ask', 'form_issued', { known: { owner: 'another client' } }),
  formKind('another number is asked for', 'ask', 'form_fits_request', {
    phones: [...formContent.phones, '+16145550149'],
  }),
  ...Object.entries({
    'another website': { website: 'https://elsewhere.example' },
    'a website that it has not': { website: null },
    'another logo': { logo: 'https://elsewhere.example/logo.png' },
    'another picture at the same address': { logoSha256: 'b'.repeat(64) },
    'another call reason': { callReasons: ['Delivery update'] },
    'another order of the call reasons, of which the first is shown': {
      callReasons: [...details.callReasons].reverse(),
    },
    'another country': { country: 'CA' },
    'another tax id': { taxId: '98-7654321' },
    'another address': { address: '9 Elsewhere Street' },
    'a DBA': { dba: 'Kaufman Orthopedics' },
  }).map(([what, requested]) =>
    formKind(`a request with ${what}`, 'ask', 'form_fits_request', { content: details, requested }),
  ),
  formKind('a call reason in its own words', 'ask', 'call_reasons_known', {
    content: { callReasons: ['Your card is blocked'] },
  }),
  formKind('a logo whose picture is not fixed', 'ask', 'logo_fixed', { content: { logo: details.logo } }),
  formKind('a logo in the name of a bank', 'ask', 'name_not_protected', {
    content: { ...details, logo: 'https://pictures.example/a/chase-logo.png' },
  }),
  formKind('a website in the name of a payment company', 'ask', 'name_not_protected', {
    content: { website: 'https://paypal-help.example' },
  }),
  formKind('a display name that is the DBA alone', 'ask', 'display_name_related', {
    content: { dba: 'Kaufman Orthopedics', displayName: 'Kaufman Orthopedics' },
  }),
  formKind('a revoked certificate', 'reject', 'form_certificate_not_revoked', {
    revocationData: revocationsOf(honestSigning.certificate),
  }),
  formKind('a revoked certificate, by the list that the file brings along', 'reject', 'form_certificate_not_revoked', {
    make: changedAfter(changes.validationWithList),
    revocationData: noRevocationData,
  }),
  formKind('a certificate of which nothing is known, where that is required', 'ask', 'form_certificate_not_revoked', {
    facts: { revocation: 'require' },
    revocationData: noRevocationData,
  }),
  formKind('a company of the same name in another country', 'ask', 'form_signer_fits', {
    make: signed({ certificate: certifySigner({ ...ownSigner, country: 'MD' }) }),
  }),
  formKind('a company of the same name with another number', 'ask', 'form_signer_fits', {
    content: details,
    make: signed({ certificate: certifySigner({ ...ownSigner, organizationId: 'NTRUS-98-7654321' }) }),
  }),
  formKind('a company whose number is of another country', 'ask', 'form_signer_fits', {
    make: signed({ certificate: certifySigner({ ...ownSigner, organizationId: 'VATMD-521234567' }) }),
  }),
  formKind('a signer with one more name', 'ask', 'form_signer_fits', {
    make: signed({ certificate: certifySigner({ ...ownSigner, name: 'Leona Mallory Thornquill' }) }),
  }),
  formKind('a trusted certificate of no company and proven numbers', 'ask', 'form_signer_fits', {
    make: signed({ certificate: certifySigner({ ...ownSigner, organization: undefined }) }),
    facts: { policy: 'form+numbers', provenPhones: new Set(formContent.phones) },
  }),
  formKind('a certificate of its own making and proven numbers', 'ask', 'form_signature_trusted', {
    make: signed({ certificate: certifyStranger({ ...ownSigner, organization: undefined }) }),
    facts: { policy: 'form+numbers', provenPhones: new Set(formContent.phones) },
  }),
];
