import type { LetterBrand } from '../../pipelines/branding/letter/rules/letter-case.ts';
import type { PageMark } from '../../pipelines/branding/letter-reading.ts';

/** A letter in the making, line by line; a kind replaces some of its parts. All names and numbers are invented. */
export interface LetterDraft {
  readonly head: readonly string[];
  readonly title: readonly string[];
  readonly wording: readonly string[];
  readonly numbers: readonly string[];
  readonly after: readonly string[];
  readonly signature: readonly string[];
  readonly name: readonly string[];
  readonly job: readonly string[];
  readonly date: readonly string[];
  /** Under the signature block. */
  readonly foot: readonly string[];
  /** Further pages. */
  readonly pages: readonly (readonly string[])[];
}

/** What is asked for with the letter. */
export interface DraftRequest {
  readonly brand: LetterBrand;
  /** E.164. */
  readonly phones: readonly string[];
  readonly csvPhones: readonly string[] | null;
  readonly phonesOfOtherBrands: readonly string[];
}

/** The day of submission of all letters of the catalogue. */
export const handedInOn = '2026-05-20';

export const honestDraft: LetterDraft = {
  head: ['Brindlewick Roofing LLC', '471 Heron Street, Brackett Junction, OH 43999'],
  title: ['LETTER OF AUTHORIZATION'],
  wording: [
    'Brindlewick Roofing LLC authorizes Caller Trust to display the name Brindlewick Roofing on calls from the following telephone numbers:',
  ],
  numbers: ['+1 614 555 0141', '+1 614 555 0142', '+1 614 555 0143'],
  after: ['We are the subscriber of record of these numbers.'],
  signature: ['Signature: /s/ Leona Thornquill'],
  name: ['Name: Leona Thornquill'],
  job: ['Title: Managing Director'],
  date: ['Date: May 18, 2026'],
  foot: [],
  pages: [],
};

export const honestRequest: DraftRequest = {
  brand: {
    legalName: 'Brindlewick Roofing LLC',
    dba: null,
    displayName: 'Brindlewick Roofing',
    country: 'US',
    address: null,
  },
  phones: ['+16145550141', '+16145550142', '+16145550143'],
  csvPhones: null,
  phonesOfOtherBrands: [],
};

/** What a kind does to the drawn page besides its text. */
export type PageTrick =
  | { readonly kind: 'cross_out'; readonly text: string; readonly slanted?: boolean }
  | { readonly kind: 'scribble'; readonly text: string }
  | { readonly kind: 'see_through'; readonly over: string }
  | { readonly kind: 'picture'; readonly over: string }
  | { readonly kind: 'ink_signature'; readonly at: string }
  | { readonly kind: 'comment' | 'stamp'; readonly text: string; readonly at: string }
  | { readonly kind: 'hidden'; readonly text: string; readonly how: 'white' | 'tiny' | 'outside' }
  | { readonly kind: 'field'; readonly label: string; readonly value: string };

/** How the file is signed, if it is. */
export interface FileSigning {
  readonly name: string;
  readonly organization: string | null;
  /** What somebody did to it afterwards. */
  readonly then?: 'digit_changed' | 'number_added';
  /** Under a root that is not configured. */
  readonly untrusted?: boolean;
}

/** Where the wrong thing is: a text of the letter, findings that say so (where it is not on the page), or the mark of a trick. */
export type WrongPlace = { readonly text: string } | { readonly findings: readonly string[] } | { readonly at: string };

/** What a careful clerk makes of a letter. */
export type CarefulOutcome = 'reject' | 'ask' | 'approve';

/** One kind of letter: how it is made, what a careful clerk would do, and where the wrong thing is. */
export interface LetterKind {
  readonly name: string;
  readonly group: string;
  readonly careful: CarefulOutcome;
  readonly change: Partial<LetterDraft>;
  readonly request: Partial<Omit<DraftRequest, 'brand'>> & { readonly brand?: Partial<LetterBrand> };
  readonly tricks: readonly PageTrick[];
  readonly signing: FileSigning | null;
  /** Marks that a reader of the page finds, where the kind is read as text alone. */
  readonly marks: readonly PageMark[];
  readonly scripts: boolean;
  readonly wrong: WrongPlace | null;
}

type KindParts = Partial<Omit<LetterKind, 'name' | 'group' | 'careful'>>;

/** A kind from what it changes. */
export function kindOf(group: string, name: string, careful: CarefulOutcome, parts: KindParts = {}): LetterKind {
  const texts = Object.values(parts.change ?? {})
    .flat(2)
    .join('');
  const legible = /^[\t\n -~\u00a0-\u00ff€„…Œ‘’“”•–—™œ]*$/u.test(texts);
  return {
    name,
    group,
    careful,
    change: {},
    request: {},
    tricks: [],
    signing: null,
    marks: [],
    scripts: !legible,
    wrong: null,
    ...parts,
  };
}

/** The letter of a kind, and what is asked for with it. */
export function draftOf({ change, request }: LetterKind): {
  readonly draft: LetterDraft;
  readonly request: DraftRequest;
} {
  return {
    draft: { ...honestDraft, ...change },
    request: { ...honestRequest, ...request, brand: { ...honestRequest.brand, ...request.brand } },
  };
}

/** The lines of the pages of a letter, the first with all parts in their order. */
export function pagesOf({
  head,
  title,
  wording,
  numbers,
  after,
  signature,
  name,
  job,
  date,
  foot,
  pages,
}: LetterDraft): readonly (readonly string[])[] {
  return [
    [...head, ...title, ...wording, ...numbers, ...after, ...signature, ...name, ...job, ...date, ...foot],
    ...pages,
  ];
}
