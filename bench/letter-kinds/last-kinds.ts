import { honestDraft, kindOf, type CarefulOutcome, type LetterKind } from './letter-draft.ts';

const company = 'Brindlewick Roofing LLC';
const display = 'Brindlewick Roofing';

function wording(name: string, careful: CarefulOutcome, text: string): LetterKind {
  return kindOf('last wording', name, careful, { change: { wording: [text] }, wrong: { text } });
}

function sentence(name: string, careful: CarefulOutcome, text: string): LetterKind {
  return kindOf('last sentence', name, careful, { change: { after: [...honestDraft.after, text] }, wrong: { text } });
}

/**
 * Impostors and forgeries that were written last, some in nothing but the usual words; what was missed in their first run is not
 * corrected.
 */
export const lastKinds: readonly LetterKind[] = [
  wording(
    'erase',
    'reject',
    `${company} authorizes Caller Trust to erase the name ${display} from the screens of those who get calls from the following numbers:`,
  ),
  wording(
    'replace by another name',
    'reject',
    `${company} authorizes Caller Trust to replace ${display} by Larkspur Savings on calls from the following telephone numbers:`,
  ),
  wording(
    'the other way round',
    'reject',
    `Caller Trust authorizes ${company} to display the name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'the customers display',
    'ask',
    `${company} authorizes its customers to display the name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'all calls of the carrier',
    'reject',
    `${company} authorizes Caller Trust to display the name ${display} on all calls of the carrier of the following telephone numbers:`,
  ),
  wording(
    'their names',
    'reject',
    `${company} authorizes Caller Trust to display the names of the persons who own the following telephone numbers:`,
  ),
  wording(
    'a question',
    'ask',
    `Should ${company} authorize Caller Trust to display the name ${display} on calls from the following telephone numbers?`,
  ),
  wording(
    'a wish',
    'ask',
    `${company} hopes one day to authorize Caller Trust to display the name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'last year',
    'ask',
    `Last year ${company} authorized Caller Trust to display the name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'a promise of somebody else',
    'reject',
    `A neighbor of ${company} says that it authorizes Caller Trust to display ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'faxes',
    'reject',
    `${company} authorizes Caller Trust to display the name ${display} on faxes from the following telephone numbers:`,
  ),
  wording(
    'Spanish: erase',
    'reject',
    `${company} autoriza a Caller Trust a borrar el nombre ${display} de las llamadas desde los siguientes números:`,
  ),
  wording(
    'German: hide',
    'reject',
    `Die ${company} ermächtigt Caller Trust, den Namen ${display} bei Anrufen von den folgenden Rufnummern zu verbergen:`,
  ),
  wording(
    'French: hide',
    'reject',
    `La société ${company} autorise Caller Trust à masquer le nom ${display} lors des appels depuis les numéros suivants :`,
  ),
  sentence('of Caller Trust', 'ask', 'These are the numbers of Caller Trust.'),
  sentence('the customers hold them', 'reject', 'Our customers hold the right to use these numbers.'),
  sentence('they call us', 'reject', 'These numbers call us, and our customers place the calls.'),
  sentence('signed for us', 'ask', 'The carrier has signed this letter for us.'),
  sentence('two days', 'ask', 'It remains in force for two days.'),
  sentence('borrowed', 'reject', 'We borrowed these lines from a friend.'),
  sentence('bought the form', 'ask', 'This form was bought on the internet.'),
  sentence('a bet', 'reject', 'We lost a bet and must send this.'),
  sentence('under pressure', 'ask', 'Our director was pressed to sign.'),
  sentence('mistyped', 'ask', 'One digit above is mistyped.'),
  sentence('a spare copy for the files', 'ask', 'Keep this for your files and act on the next one.'),
  sentence('the owner died', 'ask', 'The owner passed away in April.'),
  kindOf('last signer', 'a plumber', 'ask', { change: { job: ['Title: Plumber'] }, wrong: { text: 'Title: Plumber' } }),
  kindOf('last signer', 'director of another company', 'reject', {
    change: { job: ['Title: Director, Pellwyn Partners'] },
    wrong: { text: 'Title: Director, Pellwyn Partners' },
  }),
  kindOf('last signer', 'a machine', 'ask', {
    change: { signature: ['Signature: /s/ Automatic Signing Service'] },
    wrong: { text: 'Signature: /s/ Automatic Signing Service' },
  }),
  kindOf('last signer', 'two signers', 'ask', {
    change: { foot: ['/s/ Tobias Marsh-Tilley'] },
    wrong: { text: '/s/ Tobias Marsh-Tilley' },
  }),
  kindOf('last page', 'the company crossed out', 'reject', {
    tricks: [{ kind: 'cross_out', text: 'Brindlewick Roofing LLC' }],
    wrong: { at: 'Brindlewick Roofing LLC' },
  }),
  kindOf('last page', 'a slanted line through the name of the signer', 'ask', {
    tricks: [{ kind: 'cross_out', text: 'Name:', slanted: true }],
    wrong: { at: 'Name:' },
  }),
  kindOf('last page', 'a picture over the date', 'ask', {
    tricks: [{ kind: 'picture', over: 'Date:' }],
    wrong: { at: 'Date:' },
  }),
  kindOf('last number', 'a list that begins on another page', 'ask', {
    change: { pages: [['Numbers of a friend:', '+1 614 555 0147']] },
    wrong: { text: 'Numbers of a friend' },
  }),
  kindOf('last number', 'two digits turned', 'ask', {
    request: { phones: ['+16145550114'] },
    wrong: { findings: ['numbers_authorized'] },
  }),
];
