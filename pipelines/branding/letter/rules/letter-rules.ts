import type { Finding, Severity } from '../../finding.ts';
import type { LetterPlace } from '../../letter-reading.ts';

/** A change of any rule, limit or severity is a new version; a decided letter keeps the one it was decided by. */
export const letterRuleVersion = 'letter-rules/2';

/** Figures of the rules. */
export const letterRuleLimits = {
  /** Most days between signing and submission. */
  ageDaysMax: 30,
  /** Most numbers that may be requested without a CSV. */
  numbersWithoutCsvMax: 15,
  /** Most numbers that a letter may list itself, one by one and in ranges. */
  listedNumbersMax: 100,
  /** Mean OCR confidence of a page, 0 to 100, below which its text proves neither that something is present nor that it is missing. */
  pageConfidenceMin: 75,
  /** The same for a line that a field was read from. */
  lineConfidenceMin: 60,
  /** Share of a page; text under a larger picture may not be what a reader sees. */
  pictureAreaMax: 0.5,
  /** Share of a page's height; smaller text cannot be read by a person (3 points on letter paper have 0.0038). */
  textHeightMin: 0.0038,
} as const;

/** One way in which a rule fails: its severity, and the text for the customer. `{...}` is replaced by a figure. */
interface RuleCase {
  readonly severity: Exclude<Severity, 'pass'>;
  readonly message: string;
}

const caseOf =
  (severity: RuleCase['severity']) =>
  (message: string): RuleCase => ({ severity, message });
/** A case of each severity. */
export const [reject, review, note] = [caseOf('reject'), caseOf('review'), caseOf('note')];

/** A rule of the decision on a letter. */
export interface LetterRule {
  /** The code of its findings. */
  readonly id: string;
  /** What it checks, in one sentence. */
  readonly checks: string;
  /** The text of the finding when it passes. */
  readonly passed: string;
  readonly cases: Readonly<Record<string, RuleCase>>;
}

/**
 * All rules, in the order of the findings. docs/letters.md has a row for each. They help a person decide. `reject` is used
 * only for what no honest letter has and was found with certainty; what could not be found or understood is `review`.
 */
export const LETTER_RULES = [
  {
    id: 'text_readable',
    checks: 'The whole text of the letter could be read with certainty.',
    passed: 'The text of the letter could be read.',
    cases: {
      blank: review(
        'The reader found nothing on the pages of the letter. A person looks at it; a PDF with text, or a scan of at least 200 dots per inch, is decided faster.',
      ),
      no_text: review(
        'No text could be read in the letter. A person looks at it; a PDF with text, or a scan of at least 200 dots per inch, is decided faster.',
      ),
      unsure: review('The scan is hard to read. A person looks at it; a sharper scan is decided faster.'),
      unsure_line: review('A line that the decision depends on is hard to read. A person looks at it.'),
      too_long: review('The letter has more text than is read automatically. A person looks at it.'),
    },
  },
  {
    id: 'text_visible',
    checks: 'The text that was read is the text that a reader of the page sees.',
    passed: 'No text was found that the page hides.',
    cases: {
      under_picture: review(
        'A picture covers a page that has text of its own, so that the text may not be what the page shows. A person compares them.',
      ),
      hidden: review('The letter has text that is too small to be read or outside of the page. A person looks at it.'),
    },
  },
  {
    id: 'page_plain',
    checks:
      'The pages contain nothing besides their printed text: no annotations, see-through pictures, lines through text, stray ink, other alphabets, or numbers behind the signature.',
    passed: 'Nothing was found on the pages besides their printed text.',
    cases: {
      annotation: review('A comment, stamp or drawing was laid over the page. A person looks at it.'),
      see_through: review('A picture is drawn half transparent over text. A person looks at it.'),
      crossed_out: review('A line is drawn through text or through a drawing. A person looks at it.'),
      mark_elsewhere: review(
        'Ink, a picture or a drawing is neither in the letterhead nor at the place of the signature. A person looks at it.',
      ),
      behind_signature: review(
        'Numbers are listed under the signature or on a page behind it. A person looks at whether they were there when it was signed.',
      ),
      other_script: review(
        'A line has letters of another alphabet that may look like Latin ones. A person looks at it.',
      ),
    },
  },
  {
    id: 'sentences_to_read',
    checks:
      'No sentence stands out by words that may end, limit or deny the authorization, or speak of other numbers, parties or companies.',
    passed: 'No sentence stood out by its words.',
    cases: {
      ends: review('A sentence speaks of stopping, removing or taking back something. A person looks at it.'),
      limits: review('A sentence has words that limit something: only, except, until, a test. A person looks at it.'),
      denies: review('A sentence has words that deny or doubt something. A person looks at it.'),
      not_meant: review(
        'Words mark a draft, a sample or a copy, or a field of a form was not filled in. A person looks at it.',
      ),
      numbers: review(
        'A sentence says more of numbers than that they are listed: whose they are, or who calls whom. A person looks at it.',
      ),
      another_party: review(
        'A sentence speaks of somebody else who acts, or of a signer who may have no authority. A person looks at it.',
      ),
      unusual: review('A line has a word that letters of authorization seldom have. A person looks at it.'),
      another_company: review('A line names a company that is not that of the brand. A person looks at it.'),
    },
  },
  {
    id: 'authorization_given',
    checks: 'The letter authorizes something in the name of the company, and this service by its name.',
    passed: 'Wording that authorizes was found.',
    cases: {
      missing: review('The reader found no wording that authorizes. A person looks at it.'),
      by_another: review(
        'Another company than that of the brand seems to give the authorization. A person looks at it.',
      ),
      another_provider: review(
        'The letter seems to authorize another provider than this service. A person looks at it.',
      ),
      ended: review('By its own words the authorization ended before the letter was submitted. A person looks at it.'),
    },
  },
  {
    id: 'purpose_branding',
    checks: 'What the letter authorizes is that calls show a name, not that numbers are ported.',
    passed: 'Wording about the name that calls show was found.',
    cases: {
      porting: reject(
        'The letter authorizes the porting of numbers, not the branding of calls. Send a letter that authorizes branding.',
      ),
      both: review('The letter speaks of porting. A person looks at it.'),
      unclear: review('The reader found no wording about branding or the name that calls show. A person looks at it.'),
    },
  },
  {
    id: 'brand_named',
    checks: 'The letter names the brand by its legal name, its DBA or its display name, as whole words.',
    passed: 'The letter names the brand.',
    cases: {
      missing: review(
        'The reader found neither the legal name, nor the DBA, nor the display name of the brand. A person looks at it.',
      ),
      another: reject(
        'The letter gives another brand in the labelled place than the one that was submitted, which the reader found nowhere in it.',
      ),
      another_beside: review(
        'The letter seems to name another brand, or one besides this brand. A person looks at it.',
      ),
      near: review('A name in the letter differs from the brand in a letter or two. A person compares them.'),
      part: review(
        'The name of the brand is in the letter, but perhaps as a part of a longer name or as a common word. A person looks at it.',
      ),
    },
  },
  {
    id: 'legal_name_given',
    checks: 'The letter names the company by its legal name.',
    passed: 'The letter gives the legal name.',
    cases: {
      missing: review('The reader did not find the legal name of the company. A person looks at it.'),
      another: reject(
        'The letter gives another company in the labelled place than the one that was submitted, which the reader found nowhere in it.',
      ),
      another_beside: review(
        'The letter seems to give the legal name of another company, or of one besides this company. A person looks at it.',
      ),
      near: review(
        'The legal name in the letter differs from the submitted one in a letter or two. A person compares them.',
      ),
      other_form: review(
        'The legal name in the letter has another legal form (such as Inc. or LLC) than the submitted one. A person compares them.',
      ),
      brand_only: review(
        'Instead of the legal name the letter gives the DBA or the display name. A person looks at it.',
      ),
      part: review('The legal name is in the letter, but perhaps as a part of a longer name. A person looks at it.'),
    },
  },
  {
    id: 'address_given',
    checks: 'The letter gives an address of the company.',
    passed: 'The letter gives an address.',
    cases: { missing: note('The reader found no address of the company.') },
  },
  {
    id: 'signer_named',
    checks: 'The letter names the person who signs it.',
    passed: 'The letter names its signer.',
    cases: {
      missing: review(
        'The reader did not find who signs the letter. A person looks at it; a name printed under the signature is found.',
      ),
      unclear: review('It could not be determined who signs the letter. A person looks at it.'),
    },
  },
  {
    id: 'signer_title_given',
    checks: 'The letter gives the title of the person who signs it.',
    passed: 'The letter gives the title of its signer.',
    cases: {
      missing: review(
        'The reader did not find the title of the signer. A person looks at it; a title printed next to the name is found.',
      ),
      unclear: review('It could not be determined which title the signer has. A person looks at it.'),
    },
  },
  {
    id: 'letter_signed',
    checks: 'The letter has a PDF signature, or an electronic signature in the name of its signer.',
    passed: 'A signature was found.',
    cases: {
      missing: review('The reader found no signature. A person looks at it.'),
      undetermined: review(
        'The letter has a mark or text where the signature belongs. Ink, a picture and a stamp cannot be distinguished automatically: a person looks at it.',
      ),
      another_name: review(
        'The electronic signature is in another name than that of the signer. A person looks at it.',
      ),
    },
  },
  {
    id: 'pdf_signature_valid',
    checks:
      'Each PDF signature fits the file, covers it up to what validation, time stamps and further signatures added, has a trusted certificate where trusted roots are configured, and is that of the signer and of the company.',
    passed: 'The PDF signature is valid, or the letter has none.',
    cases: {
      altered: reject(
        'The file was changed after it was signed. Sign it again as the last step, and send it unchanged.',
      ),
      partial: reject(
        'The PDF signature leaves out a part of the file that it was made for. Sign the letter again, with another program if it happens twice.',
      ),
      changed: review(
        'The letter was changed after it was signed, by more than validation data, time stamps or further signatures. A person looks at what was changed.',
      ),
      unverified: review('The PDF signature is of a kind that could not be verified. A person looks at it.'),
      untrusted: review('The certificate of the PDF signature is not from a trusted authority. A person looks at it.'),
      unchecked: note(
        'The PDF signature fits the file. Who issued its certificate was not checked: no trusted roots are configured.',
      ),
      another_name: review(
        'The certificate of the PDF signature is in another name than that of the signer, or of another company. A person looks at it.',
      ),
      another_time: review(
        'By the time of the PDF signature the letter would be too old, or signed after it was submitted. A person looks at it.',
      ),
    },
  },
  {
    id: 'date_given',
    checks:
      'The letter has a signing date: labelled as such, at the signature, or the only date of the letter, alone in its line.',
    passed: 'The letter has a signing date.',
    cases: {
      missing: review(
        'The reader found no date of signing. A person looks at it; a date next to the signature is found.',
      ),
      unclear: review(
        'The letter has a date, but neither at the signature nor labelled as the date of signing. A person looks at it.',
      ),
    },
  },
  {
    id: 'date_unambiguous',
    checks:
      'The signing date can be read in one way only, or all its readings and all signing dates of the letter decide the same.',
    passed: 'The signing date is unambiguous.',
    cases: {
      two_readings: review(
        'It is not clear which number of the signing date is the day and which the month, and it matters. A person looks at it; write the month as a word.',
      ),
      two_dates: review(
        'The letter or its PDF signature has several dates of signing, and it matters which one counts. A person looks at it.',
      ),
    },
  },
  {
    id: 'date_not_future',
    checks: 'The signing date is not after the day of submission, anywhere on Earth (UTC+14).',
    passed: 'The signing date is not in the future.',
    cases: {
      future: reject('The signing date is after the day on which the letter was submitted.'),
      unsure: review(
        'By a date that may be that of its signing the letter was signed after it was submitted. A person looks at it.',
      ),
    },
  },
  {
    id: 'date_recent',
    checks: `The signing date is at most ${letterRuleLimits.ageDaysMax} days before the day of submission (UTC).`,
    passed: 'The letter was signed recently enough.',
    cases: {
      too_old: reject(
        `The letter was signed {days} days before it was submitted; at most ${letterRuleLimits.ageDaysMax} are allowed. Have a new letter signed.`,
      ),
      unsure: review('By a date that may be that of its signing the letter is too old. A person looks at it.'),
    },
  },
  {
    id: 'numbers_authorized',
    checks: 'Every requested number is listed for branding in the letter or in its CSV.',
    passed: 'Every requested number was found in the letter or in its CSV.',
    cases: {
      none_requested: note('No numbers were requested with the letter.'),
      missing: review(
        'The reader did not find {missing} of {requested} requested numbers in the letter or its CSV (ending in {endings}). A person looks at it.',
      ),
      not_listed: review(
        '{missing} of {requested} requested numbers are in the letter, but outside of what reads as the list of numbers to be branded (ending in {endings}). A person looks at it.',
      ),
      range_unclear: review(
        'A range of numbers in the letter is too long, or its ends do not fit together. A person looks at it.',
      ),
    },
  },
  {
    id: 'csv_for_many',
    checks: `More than ${letterRuleLimits.numbersWithoutCsvMax} requested numbers are listed in a CSV, and the letter itself lists at most ${letterRuleLimits.listedNumbersMax}.`,
    passed: 'The numbers are few enough, or there is a CSV.',
    cases: {
      missing: reject(
        `{requested} numbers were requested; more than ${letterRuleLimits.numbersWithoutCsvMax} need a CSV that lists them.`,
      ),
      many_listed: review(
        `The letter itself lists {listed} numbers, with those of its ranges; more than ${letterRuleLimits.listedNumbersMax} belong in a CSV. A person looks at it.`,
      ),
    },
  },
  {
    id: 'csv_agrees',
    checks: 'The letter refers to the CSV, and states its smallest number, its largest number and their count.',
    passed: 'The CSV is the one that the letter refers to, or there is none.',
    cases: {
      disagrees: review(
        'The first number, the last number or the count that was read in the letter is not that of the CSV. A person looks at it.',
      ),
      not_stated: review(
        'The letter does not refer to a list of numbers, but a CSV came with it. A person looks at it.',
      ),
      not_pinned: review(
        'The letter refers to a list, but does not state its smallest number, its largest number and their count. A person looks at it.',
      ),
      no_csv: review('The letter refers to a list of numbers, but no CSV came with it. A person looks at it.'),
      two_lists: review('The CSV in the PDF and the CSV that came with it differ. A person looks at it.'),
    },
  },
  {
    id: 'numbers_of_one_brand',
    checks: 'No requested number belongs to another live brand.',
    passed: 'No requested number belongs to another brand.',
    cases: { taken: reject('{taken} of {requested} requested numbers belong to another brand (ending in {endings}).') },
  },
] as const satisfies readonly LetterRule[];

/** The place of a finding, and the text there. */
export interface FindingSource {
  readonly place?: LetterPlace | null;
  readonly excerpt?: string | null;
}

type CaseOf<Rule extends LetterRule, Id> = keyof Extract<Rule, { readonly id: Id }>['cases'] & string;

/** Functions that make the findings of a list of rules; the compiler knows the rules and the cases of each. */
export function findingsBy<Rule extends LetterRule>(rules: readonly Rule[]) {
  const byId = new Map<string, LetterRule>(rules.map((rule) => [rule.id, rule]));
  const finding = (
    code: string,
    { severity, message }: Pick<Finding, 'severity' | 'message'>,
    source: FindingSource | null,
  ): Finding => ({ code, severity, message, place: source?.place ?? null, excerpt: source?.excerpt ?? null });
  const pass = (id: Rule['id'], source: FindingSource | null = null): Finding =>
    finding(id, { severity: 'pass', message: byId.get(id)!.passed }, source);
  return {
    pass,
    /** The finding of a case of a rule; `figures` replace their names in its message. */
    report<Id extends Rule['id']>(
      id: Id,
      name: CaseOf<Rule, Id>,
      source: FindingSource | null = null,
      figures: Readonly<Record<string, string | number>> = {},
    ): Finding {
      const { severity, message } = byId.get(id)!.cases[name]!; // the type knows the names of a rule's cases
      const text = message.replace(/\{(\w+)\}/g, (_, figure: string) => String(figures[figure]));
      return finding(id, { severity, message: text }, source);
    },
    /** The findings, or a pass if there are none. */
    orPass(id: Rule['id'], findings: readonly Finding[], source: FindingSource | null = null): readonly Finding[] {
      return findings.length === 0 ? [pass(id, source)] : findings;
    },
  };
}
