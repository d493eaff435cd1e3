import { honestDraft, kindOf, type CarefulOutcome, type LetterKind } from './letter-draft.ts';

const company = 'Brindlewick Roofing LLC';
const display = 'Brindlewick Roofing';
const [first, second] = honestDraft.numbers as [string, string];

function wording(name: string, careful: CarefulOutcome, text: string): LetterKind {
  return kindOf('later wording', name, careful, { change: { wording: [text] }, wrong: { text } });
}

function sentence(name: string, careful: CarefulOutcome, text: string): LetterKind {
  return kindOf('later sentence', name, careful, { change: { after: [...honestDraft.after, text] }, wrong: { text } });
}

function block(
  name: string,
  careful: CarefulOutcome,
  part: 'signature' | 'name' | 'job' | 'foot',
  text: string,
): LetterKind {
  return kindOf('later signer', name, careful, { change: { [part]: [text] }, wrong: { text } });
}

function shown(name: string, legalName: string, displayName: string): LetterKind {
  const change = {
    head: [legalName, honestDraft.head[1]!],
    wording: [
      `${legalName} authorizes Caller Trust to display the name ${displayName} on calls from the following telephone numbers:`,
    ],
  };
  return kindOf('later shown name', name, 'ask', {
    change,
    request: { brand: { legalName, displayName } },
    wrong: { findings: ['display_name_related', 'name_not_protected'] },
  });
}

/** Impostors and forgeries that were written after the marks, and judged once before anything was changed. */
export const laterKinds: readonly LetterKind[] = [
  wording(
    'wind down',
    'reject',
    `${company} authorizes Caller Trust to wind down the presentation of the name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'retire the name',
    'reject',
    `${company} authorizes Caller Trust to retire the caller name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'drop the name',
    'reject',
    `${company} authorizes Caller Trust to drop the name ${display} from calls from the following telephone numbers:`,
  ),
  wording(
    'pull the brand',
    'reject',
    `${company} authorizes Caller Trust to pull its brand ${display} from the following telephone numbers:`,
  ),
  wording(
    'let it lapse',
    'reject',
    `${company} authorizes Caller Trust to let the display of ${display} lapse on calls from the following telephone numbers:`,
  ),
  wording(
    'under no circumstances',
    'reject',
    `Under no circumstances ${company} authorizes Caller Trust to display the name ${display} on calls from the following numbers:`,
  ),
  wording(
    'far from it',
    'reject',
    `Far be it from ${company} that it authorizes Caller Trust to display the name ${display} on calls from the following numbers:`,
  ),
  wording(
    'any carrier',
    'ask',
    `${company} authorizes any carrier of its choice to display the name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'a provider of a like name',
    'reject',
    `${company} authorizes CallerTrust Solutions GmbH to display the name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'Italian: no more',
    'reject',
    `${company} autorizza Caller Trust a non mostrare più il nome ${display} nelle chiamate dai seguenti numeri:`,
  ),
  wording(
    'Portuguese: take away',
    'reject',
    `A empresa ${company} autoriza a Caller Trust a retirar o nome ${display} das chamadas a partir dos seguintes números:`,
  ),
  wording(
    'French: on trial',
    'ask',
    `La société ${company} autorise Caller Trust à afficher, à titre d'essai, le nom ${display} lors des appels depuis les numéros suivants :`,
  ),
  wording(
    'German: as a test',
    'ask',
    `Die ${company} ermächtigt Caller Trust testweise, den Namen ${display} bei Anrufen von den folgenden Rufnummern anzuzeigen:`,
  ),
  sentence('please wait', 'ask', 'Our lawyers still look at this letter; please wait for them.'),
  sentence('do nothing', 'ask', 'Please file this letter and do nothing.'),
  sentence('at weekends', 'ask', 'It applies to calls at weekends.'),
  sentence('one state alone', 'ask', 'It applies to calls to Ohio alone.'),
  sentence('during June', 'ask', 'The display is for the month of June.'),
  sentence('of the landlord', 'reject', 'The first number is that of our landlord.'),
  sentence('rings at home', 'ask', 'The last number rings at my home.'),
  sentence('given back', 'reject', 'The second number was given back to the carrier last year.'),
  sentence('customers reach us', 'ask', 'These are toll-free lines on which customers reach us.'),
  sentence('a fax machine', 'ask', 'At +1 614 555 0143 stands our fax machine.'),
  sentence('a revocation is under way', 'reject', 'A letter that takes this back is in the mail.'),
  sentence('signed in error', 'reject', 'This was signed in error.'),
  block('an agency without a legal form', 'reject', 'job', 'Title: Marketing Lead, Pellwyn & Partners'),
  block('a caretaker', 'ask', 'job', 'Title: Caretaker'),
  block('on file', 'ask', 'signature', 'Signature: on file'),
  block('the office of', 'ask', 'signature', "Signature: /s/ Leona Thornquill's office"),
  block('care of', 'ask', 'name', 'Name: c/o Tobias Marsh-Tilley'),
  block('prepared by another', 'ask', 'foot', 'Prepared by Pellwyn Partners; Brindlewick has seen none of it.'),
  shown('a digit for a letter', 'Amaz0n Roofing LLC', 'Amaz0n Roofing'),
  shown('a brand in two words', 'Micro Soft Support LLC', 'Micro Soft Support'),
  shown('a tax office', 'Internal Revenue Roofing LLC', 'Internal Revenue'),
  kindOf('later page', 'the date crossed out', 'ask', {
    tricks: [{ kind: 'cross_out', text: 'Date:' }],
    wrong: { at: 'Date:' },
  }),
  kindOf('later page', 'a comment over the signature', 'ask', {
    tricks: [{ kind: 'comment', text: 'Bob signs', at: 'Signature:' }],
    wrong: { at: 'annotation' },
  }),
  kindOf('later page', 'a scrawl over a number', 'ask', {
    tricks: [{ kind: 'scribble', text: second }],
    wrong: { at: first },
  }),
  kindOf('later page', 'a revocation on the second page', 'reject', {
    change: { pages: [['To Caller Trust: we hereby take back what is written on the first page.']] },
    wrong: { text: 'we hereby take back what is written on the first page' },
  }),
  kindOf('later page', 'a second letter of another company', 'reject', {
    change: { pages: [['Harrowmere Freight LLC authorizes Caller Trust to display its name, too.']] },
    wrong: { text: 'Harrowmere Freight LLC' },
  }),
  kindOf('later number', 'another country code', 'ask', {
    change: { numbers: ['+44 614 555 0141', first] },
    request: { phones: ['+16145550141', '+446145550141'] },
    wrong: { findings: ['numbers_authorized'] },
  }),
];
