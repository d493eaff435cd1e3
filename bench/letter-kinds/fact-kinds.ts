import { honestDraft, kindOf, type CarefulOutcome, type LetterKind } from './letter-draft.ts';
import type { LetterBrand } from '../../pipelines/branding/letter/rules/letter-case.ts';

/** A self-consistent letter of a company under a shown name that is not plainly its own. */
function shown(name: string, legalName: string, displayName: string, dba: string | null = null): LetterKind {
  const doingBusiness = dba === null ? '' : `, doing business as ${dba},`;
  const brand: Partial<LetterBrand> = { legalName, displayName, dba };
  const change = {
    head: [legalName, ...honestDraft.head.slice(1)],
    wording: [
      `${legalName}${doingBusiness} authorizes Caller Trust to display the name ${displayName} on calls from the following telephone numbers:`,
    ],
  };
  return kindOf('shown name', name, 'ask', {
    change,
    request: { brand },
    wrong: { findings: ['display_name_related', 'name_not_protected'] },
  });
}

function dated(name: string, careful: CarefulOutcome, date: string): LetterKind {
  return kindOf('date', name, careful, { change: { date: [date] }, wrong: { text: date } });
}

function head(name: string, careful: CarefulOutcome, line: string): LetterKind {
  return kindOf('company', name, careful, {
    change: {
      head: [line, honestDraft.head[1]!],
      wording: ['We authorize Caller Trust to display our name on calls from the following telephone numbers:'],
    },
    wrong: { text: line },
  });
}

const csv = Array.from({ length: 20 }, (_, at) => `+1614555${String(100 + at).padStart(4, '0')}`);

function listed(name: string, careful: CarefulOutcome, text: string): LetterKind {
  return kindOf('csv', name, careful, {
    change: {
      numbers: [text],
      wording: [
        'Brindlewick Roofing LLC authorizes Caller Trust to display the name Brindlewick Roofing on its calls.',
      ],
    },
    request: { phones: csv, csvPhones: csv },
    wrong: { findings: ['csv_agrees'] },
  });
}

/** Letters whose names, dates and numbers are not those of the request. */
export const factKinds: readonly LetterKind[] = [
  shown('FBI for a bakery', 'Fresh Bakery Inc.', 'FBI'),
  shown('IRS for a software house', 'Ivan Radoslav Systems', 'IRS'),
  shown('PayPal of a Smith', 'Smith Incorporated', 'PayPal Incorporated'),
  shown('Visa of a Rainbow', 'Rainbow International', 'Visa International'),
  shown('Volvo of an Evil', 'Evil AB', 'Volvo AB'),
  shown('a bank of a cleaner', 'Joe Bank Cleaning LLC', 'Chase Bank'),
  shown('a bank as the DBA of an unknown company', 'Tarnhollow Ventures LLC', 'Chase Bank', 'Chase Bank'),
  shown('another word than the company’s', 'Brindlewick Roofing LLC', 'Harrowmere'),
  shown('initials', 'Brindlewick Roofing LLC', 'BR'),
  shown('one shared word of two', 'Brindlewick Roofing LLC', 'Brindlewick Bank'),
  kindOf('shown name', 'mixed alphabets', 'reject', {
    change: {
      wording: [
        'Brindlewick Roofing LLC authorizes Caller Trust to display the name Brindl\u0435wick Roofing on calls from the following telephone numbers:',
      ],
    },
    wrong: { text: 'Brindl\u0435wick' },
  }),
  kindOf('shown name', 'mixed alphabets in the request', 'reject', {
    request: { brand: { displayName: 'Brindl\u0435wick Roofing' } },
    wrong: { findings: ['display_name_related', 'name_not_protected'] },
  }),
  kindOf('company', 'another legal name with a label', 'reject', {
    change: {
      head: ['Legal name: Harrowmere Freight LLC'],
      wording: ['We authorize Caller Trust to display our name on calls from the following telephone numbers:'],
    },
    wrong: { text: 'Harrowmere Freight LLC' },
  }),
  kindOf('company', 'another brand with a label', 'reject', {
    change: {
      head: ['Brand name: Harrowmere Loans'],
      wording: ['We authorize Caller Trust to display it on calls from the following telephone numbers:'],
    },
    wrong: { text: 'Harrowmere Loans' },
  }),
  head('another legal form', 'ask', 'Legal name: Brindlewick Roofing Inc.'),
  head('two letters changed', 'ask', 'Legal name: Brindlevvick Roofing LLC'),
  head('a longer name', 'ask', 'Legal name: Brindlewick Roofing Rivals LLC'),
  head('a family of the name', 'reject', 'Legal name: Brindlewick Insurance LLC'),
  kindOf('company', 'a second company', 'ask', {
    change: { head: [...honestDraft.head, 'Customer: Harrowmere Freight LLC'] },
    wrong: { text: 'Harrowmere Freight LLC' },
  }),
  dated('too old by a day', 'reject', 'Date: April 19, 2026'),
  dated('too old by years', 'reject', 'Date: May 18, 2021'),
  dated('in the future', 'reject', 'Date: May 25, 2026'),
  dated('day and month unclear', 'ask', 'Date: 04/05/2026'),
  kindOf('date', 'two dates', 'ask', {
    change: { date: ['Date: May 18, 2026', 'Date: May 18, 2024'] },
    wrong: { text: 'May 18, 2024' },
  }),
  kindOf('date', 'none', 'ask', { change: { date: [] }, wrong: { findings: ['date_given'] } }),
  dated('an expiry in its place', 'ask', 'Expires: May 18, 2027'),
  kindOf('number', 'not on the letter', 'ask', {
    request: { phones: ['+16145550141', '+13125550177'] },
    wrong: { findings: ['numbers_authorized'] },
  }),
  kindOf('number', 'one digit off', 'ask', {
    request: { phones: ['+16145550141', '+16145550148'] },
    wrong: { findings: ['numbers_authorized'] },
  }),
  kindOf('number', 'in the letterhead only', 'ask', {
    change: { head: [...honestDraft.head, 'Tel. +1 614 555 0190'] },
    request: { phones: ['+16145550141', '+16145550190'] },
    wrong: { text: 'Tel. +1 614 555 0190' },
  }),
  kindOf('number', 'a fax', 'ask', {
    change: { after: ['Fax: +1 614 555 0191'] },
    request: { phones: ['+16145550141', '+16145550191'] },
    wrong: { text: 'Fax: +1 614 555 0191' },
  }),
  kindOf('number', 'one past a range', 'ask', {
    change: { numbers: ['+1 614 555 0141 through 0149'] },
    request: { phones: ['+16145550150'] },
    wrong: { findings: ['numbers_authorized'] },
  }),
  kindOf('number', 'a range of thousands', 'ask', {
    change: { numbers: ['+1 614 555 0141', '+1 614 555 2000 through +1 614 555 9999'] },
    request: { phones: ['+16145550141'] },
    wrong: { text: 'through +1 614 555 9999' },
  }),
  kindOf('number', 'a range of a thousand', 'ask', {
    change: { numbers: ['+1 614 555 0000 through 0999'] },
    wrong: { text: 'through 0999' },
  }),
  kindOf('number', 'of another brand', 'reject', {
    request: { phonesOfOtherBrands: ['+16145550141'] },
    wrong: { findings: ['numbers_of_one_brand'] },
  }),
  kindOf('number', 'sixteen without a CSV', 'reject', {
    change: { numbers: ['+1 614 555 0100 through 0119'] },
    request: { phones: csv.slice(0, 16) },
    wrong: { findings: ['csv_for_many'] },
  }),
  kindOf('number', 'crossed by words', 'ask', {
    change: { numbers: ['+1 614 555 0141', '+1 614 555 0142 (inactive)', '+1 614 555 0143'] },
    wrong: { text: '+1 614 555 0142 (inactive)' },
  }),
  kindOf('number', 'below the signature', 'ask', {
    change: { foot: ['Further telephone numbers:', '+1 614 555 0144'] },
    request: { phones: ['+16145550141', '+16145550144'] },
    wrong: { text: '+1 614 555 0144' },
  }),
  kindOf('number', 'on a page behind the signature', 'ask', {
    change: { pages: [['Telephone numbers:', '+1 614 555 0144', '+1 614 555 0145']] },
    request: { phones: ['+16145550141', '+16145550144'] },
    wrong: { text: '+1 614 555 0144' },
  }),
  listed(
    'another count',
    'ask',
    'The numbers are in the attached list, from +1 614 555 0100 to +1 614 555 0119, 19 numbers.',
  ),
  listed(
    'another last number',
    'ask',
    'The numbers are in the attached list, from +1 614 555 0100 to +1 614 555 0118, 20 numbers.',
  ),
  listed('no ends', 'ask', 'The numbers are in the attached list.'),
  kindOf('csv', 'not mentioned', 'ask', {
    request: { csvPhones: honestDraft.numbers.map((text) => text.replaceAll(' ', '')) },
    wrong: { findings: ['csv_agrees'] },
  }),
  kindOf('csv', 'missing', 'ask', {
    change: { after: ['Further numbers are in the attached list.'] },
    wrong: { text: 'Further numbers are in the attached list.' },
  }),
];
