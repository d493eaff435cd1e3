import { letterRuleLimits, note, reject, review, type LetterRule } from '../letter/rules/letter-rules.ts';

/** The requirements of approval by rules besides an issued form that was returned unchanged (setting LETTER_APPROVAL). */
export const APPROVAL_POLICIES = {
  signature: 'A signature whose certificate leads to a configured root and names the signer and the company.',
  'signature+numbers': 'The same, and every number on the form proven.',
  'form+numbers':
    'Every number on the form proven, and for a brand as it is approved already a valid signature in the name of the signer from any issuer of certificates; a brand that is not is approved as under `signature+numbers`, since a proof of numbers proves no name.',
} as const;

export type ApprovalPolicy = keyof typeof APPROVAL_POLICIES;

/** Figures of these rules. */
export const formRuleLimits = {
  /** How far a signer's clock may be behind when it signs a form that was issued just before. */
  clockMinutesMax: 10,
} as const;

/** The rules by which an issued form is approved, in the order of their findings. docs/letters.md has a row for each. */
export const FORM_RULES = [
  {
    id: 'form_issued',
    checks:
      'The first revision of the file is byte for byte a form that the service issued to this client, in date, not revoked, for no other brand, and not decided against before.',
    passed: 'The letter is the form that was issued.',
    cases: {
      not_issued: review(
        'The letter is not a form that this service issued. A person decides it; a form of `letter form`, signed digitally, is decided at once.',
      ),
      printed: review(
        'The letter shows the code of a form that was issued, but is not the file itself: it was printed, or saved again. A person decides it.',
      ),
      other_client: review('The form was issued to another client. A person looks at it.'),
      other_brand: review(
        'The form has become the letter of another brand. A person looks at it; have a form issued for this one.',
      ),
      out_of_date: review('The form was to be returned by {until}. A person looks at it; have a new form issued.'),
      revoked: review('The form was revoked after it was issued. A person looks at it; have a new form issued.'),
      decided_against: review(
        'A person has rejected or withdrawn this form before. A person looks at it; have a new form issued.',
      ),
    },
  },
  {
    id: 'form_fits_request',
    checks:
      'The form shows the brand as the request has it, in every field that is published or decided by, and its numbers are the requested ones; numbers that the brand has already may be on it too.',
    passed: 'The form says what was requested.',
    cases: {
      other_details: review(
        'The form shows other details than the request: {fields}. A person compares them; have a form issued for this request.',
      ),
      missing_numbers: review(
        '{missing} of {requested} requested numbers are not on the form or in the list that it has the digest of. A person looks at it; have a form issued for these numbers.',
      ),
      more_numbers: review(
        'The form has {more} numbers that were neither requested nor belong to the brand. A person looks at it; submit the list that the form was issued for.',
      ),
    },
  },
  {
    id: 'form_unchanged',
    checks:
      'Nothing follows the form in the file but signatures in the place reserved for them, validation data and time stamps.',
    passed: 'Nothing but signatures was added to the form.',
    cases: {
      changed: review(
        'The form was changed in other ways than by signing it: {changes}. A person looks at it; return the file as it was signed.',
      ),
      drawn_elsewhere: review(
        'A signature is drawn outside of the place that the form reserves for it, and may cover text. A person looks at it.',
      ),
    },
  },
  {
    id: 'form_signed',
    checks: 'The form has a PDF signature, and every signature fits the file and covers the form.',
    passed: 'The form is signed.',
    cases: {
      missing: reject(
        'The form came back without a signature. Sign the PDF itself in its signature field, and send the signed file.',
      ),
      missing_beside_changes: review(
        'The form has no digital signature, but something was added to it. A person looks at it.',
      ),
      altered: reject(
        'The file was changed after it was signed. Sign the form again as the last step, and send it unchanged.',
      ),
      unverified: review('The signature of the form could not be verified. A person looks at it.'),
    },
  },
  {
    id: 'form_signature_trusted',
    checks: 'The certificate of every signature leads to a configured root, and was valid when it signed.',
    passed: 'The certificate of the signature is from a trusted authority.',
    cases: {
      untrusted: review(
        'The certificate of the signature is not from a trusted authority, or was not valid when it signed. A person looks at it.',
      ),
      no_roots: review(
        'No trusted roots are configured, so that nothing says who issued the certificate of the signature. A person looks at it.',
      ),
      name_unproven: review(
        'Nothing trusted says who signed: proven numbers prove numbers, and not the name of the company. A person decides it.',
      ),
      not_needed: note(
        'It is not known who issued the certificate of the signature. The brand is approved already, and the numbers are proven.',
      ),
    },
  },
  {
    id: 'form_certificate_not_revoked',
    checks:
      'No certificate of a signature was revoked, by the lists and answers that operators have configured and that the file brings.',
    passed: 'No certificate of the signature was revoked.',
    cases: {
      revoked: reject(
        'A certificate of the signature was revoked by the authority that issued it. Sign the form with a valid one.',
      ),
      unknown: review(
        'Nothing at hand says whether the certificate of the signature was revoked. A person looks at it.',
      ),
      unknown_noted: note('Nothing at hand says whether the certificate of the signature was revoked.'),
      not_checked: note('Whether the certificate of the signature was revoked is not checked.'),
    },
  },
  {
    id: 'form_signer_fits',
    checks:
      'Every certificate is in the whole name of the signer on the form, and of the company: its name, its country, and its tax or registration number where certificate and form have one.',
    passed: 'The certificate names the signer and the company.',
    cases: {
      another_person: review(
        'The certificate of a signature does not name the signer of the form. A person looks at it.',
      ),
      another_company: review(
        'The certificate of a signature names another company than the form. A person looks at it.',
      ),
      another_country: review(
        'The certificate of a signature names a company of another country than the form. A person looks at it.',
      ),
      no_country: review('The certificate of a signature names no country of the company. A person looks at it.'),
      another_number: review(
        'The certificate of a signature has another registration number of the company than the form. A person looks at it.',
      ),
      no_company: review(
        'The certificate of the signature names the signer, but no company that the signer acts for. A person looks at it.',
      ),
      company_not_needed: note(
        'The certificate of the signature names no company. The brand is approved already, and the numbers are proven.',
      ),
    },
  },
  {
    id: 'form_signed_in_time',
    checks: `Every signature was made after the form was issued, not in the future, and at most ${letterRuleLimits.ageDaysMax} days before the submission.`,
    passed: 'The form was signed in time.',
    cases: {
      no_time: review('The signature does not say when it was made. A person looks at it.'),
      before_issue: review('By its time the signature was made before the form was issued. A person looks at it.'),
      future: review('By its time the signature was made after the form was submitted. A person looks at it.'),
      too_old: review(
        `The form was signed {days} days before it was submitted; at most ${letterRuleLimits.ageDaysMax} are allowed. A person looks at it.`,
      ),
    },
  },
  {
    id: 'numbers_proven',
    checks: 'Where the setting asks for it, the brand has proven to answer every number on the form.',
    passed: 'Every number is proven, or need not be.',
    cases: {
      unproven: review(
        '{missing} of {requested} numbers are not proven. The letter is decided when they are, or by a person.',
      ),
      none: review('The form has no number that could be proven. A person looks at it.'),
    },
  },
] as const satisfies readonly LetterRule[];

/** Id of a rule of issued forms. */
export type FormRuleId = (typeof FORM_RULES)[number]['id'];
