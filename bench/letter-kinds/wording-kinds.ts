import { honestDraft, kindOf, type CarefulOutcome, type LetterKind } from './letter-draft.ts';

/** A letter whose wording is replaced. */
function wording(name: string, careful: CarefulOutcome, text: string): LetterKind {
  return kindOf('wording', name, careful, { change: { wording: [text] }, wrong: { text } });
}

/** A letter with one more sentence. */
function sentence(group: string, name: string, careful: CarefulOutcome, text: string): LetterKind {
  return kindOf(group, name, careful, { change: { after: [...honestDraft.after, text] }, wrong: { text } });
}

/** A letter with another line in its signature block. */
function block(
  name: string,
  careful: CarefulOutcome,
  part: 'signature' | 'name' | 'job' | 'foot',
  text: string,
): LetterKind {
  return kindOf('signer', name, careful, { change: { [part]: [text] }, wrong: { text } });
}

const company = 'Brindlewick Roofing LLC';
const display = 'Brindlewick Roofing';

/** Letters whose words say something else than that the company authorizes the display of its name on these calls. */
export const wordingKinds: readonly LetterKind[] = [
  wording(
    'authorizes to stop the display',
    'reject',
    `${company} authorizes Caller Trust to stop the display of the name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'authorizes to discontinue the display',
    'reject',
    `${company} authorizes Caller Trust to discontinue showing the name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'asks to remove the brand',
    'reject',
    `${company} authorizes Caller Trust to remove the brand name ${display} from calls from the following telephone numbers:`,
  ),
  wording(
    'asks to delete the registration',
    'reject',
    `${company} authorizes Caller Trust to delete the branding ${display} of the following telephone numbers:`,
  ),
  wording(
    'asks to take the name down',
    'reject',
    `${company} authorizes Caller Trust to see that the display name ${display} is taken down from the following telephone numbers:`,
  ),
  wording(
    'asks to switch the display off',
    'reject',
    `${company} authorizes Caller Trust to switch off the display of ${display} for the following telephone numbers:`,
  ),
  wording(
    'asks to block the calls',
    'reject',
    `${company} authorizes Caller Trust to block calls that display ${display} and come from the following telephone numbers:`,
  ),
  wording(
    'asks to label the calls as spam',
    'reject',
    `${company} authorizes Caller Trust to display the label scam on calls in the name of ${display} from the following telephone numbers:`,
  ),
  wording(
    'denies',
    'reject',
    `${company} does not authorize Caller Trust to display the name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'never authorizes',
    'reject',
    `${company} never authorizes Caller Trust to display the name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'refuses',
    'reject',
    `${company} refuses to authorize Caller Trust to display the name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'prohibits',
    'reject',
    `${company} prohibits Caller Trust, whom it authorizes to display other names, to display ${display} on calls from the following numbers:`,
  ),
  wording(
    'is considering',
    'ask',
    `${company} is considering whether it authorizes Caller Trust to display the name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'intends to',
    'ask',
    `${company} intends to issue a letter that authorizes Caller Trust to display the name ${display} on calls from the following numbers:`,
  ),
  wording(
    'is for another provider',
    'reject',
    `${company} authorizes Signal Crest Branding to display the name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'is for another provider by a role',
    'ask',
    `${company} authorizes our previous provider Ringmark to display the name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'is for one test call',
    'ask',
    `${company} authorizes Caller Trust to display the name ${display} on one test call from the following telephone numbers:`,
  ),
  wording(
    'is for a trial',
    'ask',
    `${company} authorizes Caller Trust, for the purpose of a trial, to display ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'is for texts only',
    'reject',
    `${company} authorizes Caller Trust to display the name ${display} on text messages only, from the following telephone numbers:`,
  ),
  wording(
    'is for numbers that are called',
    'reject',
    `${company} authorizes Caller Trust to display the name ${display} on calls to the following telephone numbers:`,
  ),
  wording(
    'is a porting letter',
    'reject',
    `${company} authorizes the porting of the following telephone numbers to a new carrier:`,
  ),
  wording(
    'is for porting and branding',
    'ask',
    `${company} authorizes Caller Trust to display its name, and number porting of the following telephone numbers:`,
  ),
  wording(
    'another company authorizes',
    'reject',
    `Varnholt Telecom LLC authorizes Caller Trust to display the name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'an agency authorizes',
    'ask',
    `Varnholt Calls, an agency, authorizes Caller Trust to display the name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'on behalf of a client',
    'ask',
    `On behalf of our client we authorize Caller Trust to display the name ${display} on calls from the following telephone numbers:`,
  ),
  wording(
    'displays another name',
    'reject',
    `${company} authorizes Caller Trust to display the name Harrowmere Credit Union on calls from the following telephone numbers:`,
  ),
  wording(
    'displays another name beside its own',
    'ask',
    `${company} authorizes Caller Trust to display “${display}” and “Harrowmere Bank” on calls from the following telephone numbers:`,
  ),
  wording(
    'Spanish: asks to stop',
    'reject',
    `${company} autoriza a Caller Trust a dejar de mostrar el nombre ${display} en las llamadas desde los siguientes números:`,
  ),
  wording(
    'Spanish: denies',
    'reject',
    `${company} no autoriza a Caller Trust a mostrar el nombre ${display} en las llamadas desde los siguientes números:`,
  ),
  wording(
    'French: asks to stop',
    'reject',
    `La société ${company} autorise Caller Trust à cesser d'afficher le nom ${display} lors des appels depuis les numéros suivants :`,
  ),
  wording(
    'French: denies',
    'reject',
    `La société ${company} n'autorise pas Caller Trust à afficher le nom ${display} lors des appels depuis les numéros suivants :`,
  ),
  wording(
    'German: asks to remove',
    'reject',
    `Die ${company} ermächtigt Caller Trust, den Namen ${display} bei Anrufen von den folgenden Rufnummern zu entfernen:`,
  ),
  wording(
    'German: denies',
    'reject',
    `Die ${company} ermächtigt Caller Trust nicht, den Namen ${display} bei Anrufen von den folgenden Rufnummern anzuzeigen:`,
  ),
  sentence(
    'limits',
    'two numbers are excluded',
    'ask',
    'The numbers +1 614 555 0142 and +1 614 555 0143 are excluded.',
  ),
  sentence('limits', 'except the last number', 'ask', 'This holds for all of them except +1 614 555 0143.'),
  sentence('limits', 'depends on the board', 'ask', 'This authorization is subject to approval by our board.'),
  sentence('limits', 'depends on a payment', 'ask', 'It takes effect once the invoice has been paid.'),
  sentence('limits', 'needs a second signature', 'ask', 'Not valid without the countersignature of our President.'),
  sentence(
    'limits',
    'void unless countersigned',
    'ask',
    'This letter is void unless countersigned by our Chief Financial Officer.',
  ),
  sentence('limits', 'only in one state', 'ask', 'It applies only to calls within Ohio.'),
  sentence('limits', 'only for a pilot', 'ask', 'This is limited to our pilot in June.'),
  sentence('limits', 'ended before', 'reject', 'This authorization is valid until April 30, 2026.'),
  sentence('limits', 'ended last year', 'reject', 'It was in force through 2025.'),
  sentence('takes back', 'revoked', 'reject', 'We have since revoked this authorization.'),
  sentence('takes back', 'withdrawn', 'reject', 'With this letter we withdraw the above.'),
  sentence('takes back', 'superseded', 'reject', 'This letter was superseded by ours of May 19.'),
  sentence('takes back', 'no longer', 'reject', 'The above no longer applies.'),
  sentence('takes back', 'no effect', 'reject', 'The above is without legal effect.'),
  sentence('takes back', 'cancelled in German', 'reject', 'Diese Vollmacht wurde widerrufen.'),
  sentence('takes back', 'without effect in French', 'reject', 'Cette lettre est sans effet.'),
  sentence('takes back', 'without effect in Spanish', 'reject', 'Esta carta queda sin efecto.'),
  sentence('numbers', 'retired', 'reject', 'The last two of these numbers have been retired.'),
  sentence('numbers', 'disconnected', 'reject', '+1 614 555 0142 and +1 614 555 0143 were disconnected in March.'),
  sentence('numbers', 'not owned', 'reject', 'We do not own the numbers +1 614 555 0142 and +1 614 555 0143.'),
  sentence('numbers', 'are called', 'reject', 'These are the numbers which we call, and not those from which we call.'),
  sentence('numbers', 'belong to another', 'reject', 'The numbers belong to Varnholt Telecom LLC.'),
  sentence('numbers', 'are leased', 'ask', 'The numbers are leased from month to month.'),
  sentence(
    'numbers',
    'are of customers',
    'reject',
    'The first of these is the number of one of our customers, who is to be called back.',
  ),
  sentence('numbers', 'are inbound', 'ask', 'These lines are for incoming calls.'),
  sentence('numbers', 'private', 'ask', 'The last is the private number of an employee.'),
  sentence('not meant', 'a training exercise', 'reject', 'This letter is a training exercise.'),
  sentence('not meant', 'for discussion', 'ask', 'For discussion.'),
  sentence('not meant', 'forged, quoted', 'reject', 'We received the above, which is forged, from an unknown sender.'),
  sentence('not meant', 'lorem ipsum', 'ask', 'Lorem ipsum dolor sit amet, consectetur adipiscing elit.'),
  kindOf('not meant', 'a draft', 'ask', {
    change: { title: ['DRAFT', 'LETTER OF AUTHORIZATION'] },
    wrong: { text: 'DRAFT' },
  }),
  kindOf('not meant', 'void', 'reject', {
    change: { title: ['VOID', 'LETTER OF AUTHORIZATION'] },
    wrong: { text: 'VOID' },
  }),
  kindOf('not meant', 'a specimen', 'reject', {
    change: { title: ['SPECIMEN', 'LETTER OF AUTHORIZATION'] },
    wrong: { text: 'SPECIMEN' },
  }),
  kindOf('not meant', 'a field that was not filled in', 'ask', {
    change: { title: ['LETTER OF AUTHORIZATION of [Company Name]'] },
    wrong: { text: '[Company Name]' },
  }),
  kindOf('not meant', 'a revocation by its title', 'reject', {
    change: { title: ['REVOCATION OF LETTER OF AUTHORIZATION'] },
    wrong: { text: 'REVOCATION' },
  }),
  block('the sales agent of another company', 'reject', 'job', 'Title: Sales Agent, Varnholt Telecom LLC'),
  block('a former officer', 'reject', 'job', 'Title: Former Managing Director'),
  block('an intern', 'ask', 'job', 'Title: Summer intern'),
  block('an assistant', 'ask', 'job', 'Title: Assistant of the Managing Director'),
  block('by a proxy', 'ask', 'signature', 'Signature: /s/ Leona Thornquill, by her assistant Tobias Marsh'),
  block('p.p.', 'ask', 'signature', 'Signature: p.p. Leona Thornquill'),
  block('another name than the signer', 'ask', 'signature', 'Signature: /s/ Walter Ashgrove'),
  block('initials', 'ask', 'signature', 'Signature: /s/ L.T.'),
  block('not yet signed', 'reject', 'signature', 'Signature: /s/ Leona Thornquill (not yet signed)'),
  block('an empty line to sign on', 'reject', 'signature', 'Signature: ______________'),
  block('a typed name', 'ask', 'signature', 'Signature: Leona Thornquill'),
  block('a printed PDF signature', 'ask', 'signature', 'Digitally signed by Leona Thornquill'),
  block('one word as a name', 'ask', 'name', 'Name: Leona'),
  kindOf('signer', 'no title', 'ask', {
    change: { job: ['Title: ______________'] },
    wrong: { findings: ['signer_title_given'] },
  }),
  block('a note under the signature', 'ask', 'foot', 'Signed under protest, without authority.'),
];
