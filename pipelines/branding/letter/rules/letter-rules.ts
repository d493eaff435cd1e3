import type { Finding, Severity } from '../../finding.ts';
import type { LetterPlace } from '../../letter-reading.ts';

/** A change of any rule, limit or severity is a new version; a decided letter keeps the one it was decided by. */
export const letterRuleVersion = 'letter-rules/3';

/** Figures of the rules. */
export const letterRuleLimits = {
  /** Most days between signing and submission of an issued form. */
  ageDaysMax: 30,
  /** Mean confidence of recognition of a page, 0 to 100, below which something on it may not have been found. */
  pageConfidenceMin: 75,
  /** Dots an inch of a picture of a letter's width, below which numbers are misread or missed. */
  dotsPerInchMin: 150,
} as const;

/** One case of a rule: its severity, and the text for the customer. `{...}` is replaced by a figure. */
interface RuleCase {
  readonly severity: Exclude<Severity, 'pass'>;
  readonly message: string;
}

const caseOf =
  (severity: RuleCase['severity']) =>
  (message: string): RuleCase => ({ severity, message });
/** A case of each severity. */
export const [reject, review, note] = [caseOf('reject'), caseOf('review'), caseOf('note')];

/** What is looked for on a free letter. No finding says that something is in order. */
export interface FreeLetterRule {
  /** The code of its findings. */
  readonly id: string;
  /** What it checks, in one sentence. */
  readonly checks: string;
  readonly cases: Readonly<Record<string, RuleCase>>;
}

/** A rule of the decision on an issued form. */
export interface LetterRule extends FreeLetterRule {
  /** The text of the finding when it passes. */
  readonly passed: string;
}

/**
 * All that is said of a free letter, in the order of the findings. docs/letters.md has a row for each. A person decides the letter;
 * `review` points at what was not found, `note` says what was.
 */
export const LETTER_RULES = [
  {
    id: 'pages_readable',
    checks: 'The drawn pages can be recognised well enough that what is on them is found.',
    cases: {
      blank: review(
        'Nothing could be read on the pages. A PDF as the program wrote it, or a scan of at least 200 dots per inch, is read.',
      ),
      unsure: review('A page is hard to read: numbers and names on it may be missed. A sharper scan is read better.'),
      coarse: review(
        'The picture has about {dots} dots per inch; below 150 numbers are misread or missed. Send a scan of 200.',
      ),
    },
  },
  {
    id: 'numbers_found',
    checks: 'Which requested numbers are printed on the pages, or are in the list that the PDF embeds.',
    cases: {
      none_requested: note('No numbers were requested with the letter.'),
      found: note('{found} of {requested} requested numbers were found.'),
      missing: review('{missing} of {requested} requested numbers were not found (ending in {endings}).'),
      in_range: review(
        '{ranged} of {requested} requested numbers are not printed, but lie between two numbers of one line that may be the ends of a range.',
      ),
    },
  },
  {
    id: 'other_numbers',
    checks: 'Which other numbers are on the pages.',
    cases: { found: note('{others} numbers that were not requested are on the pages.') },
  },
  {
    id: 'names_found',
    checks: 'Whether the legal name, the DBA and the display name are on the pages.',
    cases: {
      found: note('The {name} was found.'),
      missing: review('The {name} was not found.'),
      other_form: review('The {name} was found with another legal form (such as Inc. or LLC).'),
      longer: review('The {name} was found, but perhaps as a part of a longer name or as a common word.'),
      near: review('A name that differs from the {name} in a letter or two was found.'),
    },
  },
  {
    id: 'dates_found',
    checks: 'Which dates are on the pages.',
    cases: { found: note('{dates} dates were found.'), missing: review('No date was found.') },
  },
  {
    id: 'signature_found',
    checks: 'Whether there is ink, a typed signature or the field of a PDF signature, and a name near it.',
    cases: {
      named: note('Something that may be a signature was found, with a name near it.'),
      unnamed: review('Something that may be a signature was found, but no name near it.'),
      missing: review('Neither ink nor another sign of a signature was found.'),
    },
  },
  {
    id: 'pdf_signature_found',
    checks: 'Whether the file has PDF signatures, and whether bytes changed after them.',
    cases: {
      unchanged: note('No bytes changed after the PDF signature of {time}, of a certificate for {signer}.'),
      extended: note(
        'After the PDF signature of {time}, of a certificate for {signer}, only signatures, time stamps or validation data were added.',
      ),
      changed: review(
        'Bytes changed after the PDF signature of {time}, of a certificate for {signer}. A person looks at what was changed.',
      ),
      unverified: review('The file has a PDF signature that could not be verified.'),
    },
  },
  {
    id: 'numbers_of_one_brand',
    checks: 'No requested number belongs to another live brand.',
    cases: { taken: reject('{taken} of {requested} requested numbers belong to another brand (ending in {endings}).') },
  },
] as const satisfies readonly FreeLetterRule[];

/** The place of a finding, and the text there. */
export interface FindingSource {
  readonly place?: LetterPlace | null;
  readonly excerpt?: string | null;
}

type CaseOf<Rule extends FreeLetterRule, Id> = keyof Extract<Rule, { readonly id: Id }>['cases'] & string;

type Figures = Readonly<Record<string, string | number>>;

const findingOf = (
  code: string,
  { severity, message }: Pick<Finding, 'severity' | 'message'>,
  source: FindingSource | null,
): Finding => ({ code, severity, message, place: source?.place ?? null, excerpt: source?.excerpt ?? null });

/** The function that makes the finding of a case of a rule; `figures` replace their names in its message. */
export function reportBy<Rule extends FreeLetterRule>(rules: readonly Rule[]) {
  const byId = new Map<string, FreeLetterRule>(rules.map((rule) => [rule.id, rule]));
  return <Id extends Rule['id']>(
    id: Id,
    name: CaseOf<Rule, Id>,
    source: FindingSource | null = null,
    figures: Figures = {},
  ): Finding => {
    const { severity, message } = byId.get(id)!.cases[name]!; // the type knows the names of a rule's cases
    const text = message.replace(/\{(\w+)\}/g, (_, figure: string) => String(figures[figure]));
    return findingOf(id, { severity, message: text }, source);
  };
}

/** Functions that make the findings of a list of rules; the compiler knows the rules and the cases of each. */
export function findingsBy<Rule extends LetterRule>(rules: readonly Rule[]) {
  const passes = new Map<string, string>(rules.map(({ id, passed }) => [id, passed]));
  const pass = (id: Rule['id'], source: FindingSource | null = null): Finding =>
    findingOf(id, { severity: 'pass', message: passes.get(id)! }, source);
  return {
    pass,
    report: reportBy(rules),
    /** The findings, or a pass if there are none. */
    orPass(id: Rule['id'], findings: readonly Finding[], source: FindingSource | null = null): readonly Finding[] {
      return findings.length === 0 ? [pass(id, source)] : findings;
    },
  };
}
