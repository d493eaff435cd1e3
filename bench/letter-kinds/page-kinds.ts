import {
  honestDraft,
  kindOf,
  type CarefulOutcome,
  type FileSigning,
  type LetterKind,
  type PageTrick,
} from './letter-draft.ts';

/** A letter with something on its page that is not in its text. */
function page(name: string, careful: CarefulOutcome, at: string, ...tricks: readonly PageTrick[]): LetterKind {
  return kindOf('page', name, careful, { tricks, wrong: { at } });
}

const signatureLine = honestDraft.signature[0]!;
const [first, second] = honestDraft.numbers as [string, string];
const company = 'Brindlewick Roofing LLC';

function signed(name: string, careful: CarefulOutcome, signing: FileSigning): LetterKind {
  return kindOf('pdf signature', name, careful, {
    change: { signature: [] },
    signing,
    wrong: { findings: ['pdf_signature_valid'] },
  });
}

/** Letters with something wrong in the page or the file, made as PDFs. */
export const pageKinds: readonly LetterKind[] = [
  page('the signature crossed out', 'reject', signatureLine, { kind: 'cross_out', text: signatureLine }),
  page('the signature crossed out slantwise', 'reject', signatureLine, {
    kind: 'cross_out',
    text: signatureLine,
    slanted: true,
  }),
  page('the signature scribbled over', 'reject', signatureLine, { kind: 'scribble', text: signatureLine }),
  page('a number crossed out', 'ask', second, { kind: 'cross_out', text: second }),
  page('the wording crossed out', 'reject', 'following telephone numbers', {
    kind: 'cross_out',
    text: 'following telephone numbers',
  }),
  page('void as a see-through picture', 'reject', 'Brindlewick Roofing LLC authorizes', {
    kind: 'see_through',
    over: first,
  }),
  page('void as a picture', 'reject', 'Brindlewick Roofing LLC authorizes', { kind: 'picture', over: first }),
  page('a number in a comment', 'ask', 'annotation', { kind: 'comment', text: '+1 614 555 0144', at: first }),
  page('a name in a comment', 'ask', 'annotation', {
    kind: 'comment',
    text: 'Harrowmere Bank',
    at: 'LETTER OF AUTHORIZATION',
  }),
  page('a stamp', 'reject', 'annotation', { kind: 'stamp', text: 'Cancelled', at: 'LETTER OF AUTHORIZATION' }),
  page('a drawing beside the numbers', 'ask', first, { kind: 'scribble', text: first }),
  kindOf('page', 'white text', 'ask', {
    tricks: [{ kind: 'hidden', text: '+1 614 555 0149', how: 'white' }],
    request: { phones: ['+16145550141', '+16145550149'] },
    wrong: { findings: ['numbers_authorized'] },
  }),
  kindOf('page', 'tiny text', 'ask', {
    tricks: [{ kind: 'hidden', text: '+1 614 555 0149', how: 'tiny' }],
    request: { phones: ['+16145550141', '+16145550149'] },
    wrong: { findings: ['text_visible'] },
  }),
  kindOf('page', 'text outside of the page', 'ask', {
    tricks: [{ kind: 'hidden', text: '+1 614 555 0149', how: 'outside' }],
    request: { phones: ['+16145550141', '+16145550149'] },
    wrong: { findings: ['numbers_authorized'] },
  }),
  signed('a number changed after signing', 'reject', {
    name: 'Leona Thornquill',
    organization: company,
    then: 'digit_changed',
  }),
  signed('a number added after signing', 'reject', {
    name: 'Leona Thornquill',
    organization: company,
    then: 'number_added',
  }),
  signed('another person', 'ask', { name: 'Walter Ashgrove', organization: company }),
  signed('another company', 'ask', { name: 'Leona Thornquill', organization: 'Varnholt Telecom LLC' }),
  signed('a certificate of its own making', 'ask', {
    name: 'Leona Thornquill',
    organization: company,
    untrusted: true,
  }),
];
