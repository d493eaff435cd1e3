import { honestDraft, kindOf, type LetterDraft, type LetterKind, type PageTrick } from './letter-draft.ts';
import type { LetterBrand } from '../../pipelines/branding/letter/rules/letter-case.ts';

interface Abroad {
  readonly brand: LetterBrand;
  readonly change: Partial<LetterDraft>;
  readonly phones: readonly string[];
}

function honest(
  name: string,
  change: Partial<LetterDraft>,
  parts: {
    readonly tricks?: readonly PageTrick[];
    readonly phones?: readonly string[];
    readonly csvPhones?: readonly string[];
    readonly scripts?: boolean;
  } = {},
): LetterKind {
  const { tricks = [], phones, csvPhones } = parts;
  return kindOf('honest', name, 'approve', {
    change,
    tricks,
    request: { ...(phones === undefined ? {} : { phones }), ...(csvPhones === undefined ? {} : { csvPhones }) },
  });
}

function abroad(name: string, { brand, change, phones }: Abroad): LetterKind {
  return kindOf('honest', name, 'approve', { change, request: { brand, phones } });
}

const block = { signature: [], name: [], job: [], date: [] };
const csv = Array.from({ length: 20 }, (_, at) => `+1614555${String(100 + at).padStart(4, '0')}`);

/** Honest letters: layouts, countries, languages, ways to sign. None may be refused; that a person looks is the price. */
export const honestKinds: readonly LetterKind[] = [
  honest('plain', {}),
  honest('numbers with dots', { numbers: ['614.555.0141', '614.555.0142', '614.555.0143'] }),
  honest('numbers with hyphens', { numbers: ['(614) 555-0141', '(614) 555-0142', '(614) 555-0143'] }),
  honest('numbers in one line', { numbers: ['614-555-0141, 614-555-0142 and 614-555-0143'] }),
  honest('numbers with bullets', { numbers: ['• 614-555-0141', '• 614-555-0142', '• 614-555-0143'] }),
  honest('numbers with a count', { numbers: ['1. 614-555-0141', '2. 614-555-0142', '3. 614-555-0143'] }),
  honest('numbers broken by a tab', { numbers: ['+1 614\t555\t0141', '+1 614\t555\t0142', '+1 614\t555\t0143'] }),
  honest('area code and number in two columns', { numbers: ['614\t555-0141', '614\t555-0142', '614\t555-0143'] }),
  honest('country code in a column', { numbers: ['+1\t(614) 555-0141', '+1\t(614) 555-0142', '+1\t(614) 555-0143'] }),
  honest('numbers broken by several spaces', {
    numbers: ['+1   614   555   0141', '+1   614   555   0142', '+1   614   555   0143'],
  }),
  honest('numbers wrapped at a line end', {
    numbers: ['The numbers are +1 614 555 0141, +1 614 555 0142 and then also +1 614', '555 0143.'],
  }),
  honest('numbers wrapped at a hyphen', {
    numbers: ['The numbers are 614-555-0141, 614-555-0142 and then also, not least, 614-555-', '0143.'],
  }),
  honest('a range', { numbers: ['+1 614 555 0141 through 0143'] }),
  honest('a table with uses', {
    numbers: [
      'Telephone number   Used for',
      '614-555-0141   Customer service',
      '614-555-0142   Billing',
      '614-555-0143   Appointments',
    ],
  }),
  honest('a table with an index', {
    numbers: ['#   Telephone number', '1   614-555-0141', '2   614-555-0142', '3   614-555-0143'],
  }),
  honest(
    'a list with a CSV',
    {
      wording: [
        'Brindlewick Roofing LLC authorizes Caller Trust to display the name Brindlewick Roofing on its calls.',
      ],
      numbers: ['The numbers are in the attached list, from +1 614 555 0100 to +1 614 555 0119, 20 numbers.'],
    },
    { phones: csv, csvPhones: csv },
  ),
  honest('a schedule on the next page', {
    numbers: ['The telephone numbers are listed in Schedule A on the next page.'],
    pages: [['Schedule A: Authorized Telephone Numbers', '614-555-0141', '614-555-0142', '614-555-0143']],
  }),
  honest('until revoked', { after: ['This authorization remains valid until revoked by us in writing.'] }),
  honest('may be withdrawn', { after: ['We may withdraw this authorization at any time by written notice.'] }),
  honest('not marked as spam', { after: ['We want our calls to be recognized, and not to be marked as spam.'] }),
  honest('calls that comply', {
    after: ['All calls comply with the laws that apply and are made to our own customers only.'],
  }),
  honest('on behalf of the company', {
    wording: [
      'On behalf of Brindlewick Roofing LLC, I authorize Caller Trust to display “Brindlewick Roofing” on calls from the following telephone numbers:',
    ],
  }),
  honest('in the first person', {
    wording: [
      'I, Leona Thornquill, Managing Director of Brindlewick Roofing LLC, authorize Caller Trust to display the name Brindlewick Roofing on calls from the following telephone numbers:',
    ],
  }),
  honest('closing words', {
    ...block,
    date: [
      'May 18, 2026',
      'Sincerely,',
      '/s/ Leona Thornquill',
      'Leona Thornquill',
      'Managing Director',
      'Brindlewick Roofing LLC',
    ],
  }),
  honest('a date on top', { head: [...honestDraft.head, 'May 18, 2026'], date: [] }),
  honest('a date in figures', { date: ['Date: 05/18/2026'] }),
  honest('an ISO date', { date: ['Date: 2026-05-18'] }),
  honest('an ordinal date', { date: ['Signed this 18th day of May, 2026'] }),
  honest(
    'a signature of ink',
    { signature: ['Signature: ____________________'] },
    { tricks: [{ kind: 'ink_signature', at: 'Signature:' }] },
  ),
  honest('electronically signed', { signature: ['Electronically signed by Leona Thornquill on May 18, 2026'] }),
  honest('DocuSign', {
    head: ['DocuSign Envelope ID: 4F2C9A10-77D1-4C3E-9B0A-5D21E8A6C001', ...honestDraft.head],
    signature: ['Signature:', 'DocuSigned by:', 'Leona Thornquill', '9C41F27AB0E2487...'],
    name: ['Printed name:', 'Leona Thornquill'],
    job: ['Title:', 'Managing Director'],
    date: ['Date:', '5/18/2026 | 9:24 AM EDT'],
  }),
  honest('DocuSign with the name elsewhere', {
    head: [
      'Docusign Envelope ID: 4F2C9A10-77D1-4C3E-9B0A-5D21E8A6C001',
      ...honestDraft.head,
      'Attention: Priya Okerlund, Registration',
    ],
    signature: ['Signed by:', 'Leona Thornquill', '9C41F27AB0E2487...', '5/18/2026'],
    name: ['Authorized signer'],
    job: ['Leona Thornquill, Managing Director'],
    date: [],
  }),
  honest('Adobe Sign', {
    signature: ['Signature: Leona Thornquill', 'Leona Thornquill (May 18, 2026 09:24 EDT)'],
    foot: [
      'Email: leona@brindlewick.example',
      'Final Audit Report 2026-05-18',
      'Created: 2026-05-18  By: Priya Okerlund  Status: Signed',
    ],
  }),
  honest('HelloSign', {
    signature: ['Signature: Leona Thornquill'],
    date: ['05 / 18 / 2026'],
    foot: ['Audit trail. Document ID 77ab02. Completed. Signed by Leona Thornquill (leona@brindlewick.example)'],
  }),
  honest(
    'an unflattened form',
    {
      ...block,
      wording: ['The company authorizes Caller Trust to display its brand name on calls from its telephone numbers.'],
      numbers: [],
      head: ['Authorization'],
      signature: ['Signature: /s/ Leona Thornquill'],
    },
    {
      tricks: [
        { kind: 'field', label: 'Legal name', value: 'Brindlewick Roofing LLC' },
        { kind: 'field', label: 'Display name', value: 'Brindlewick Roofing' },
        { kind: 'field', label: 'Telephone numbers', value: '614-555-0141, 614-555-0142, 614-555-0143' },
        { kind: 'field', label: 'Name', value: 'Leona Thornquill' },
        { kind: 'field', label: 'Title', value: 'Managing Director' },
        { kind: 'field', label: 'Date', value: '05/18/2026' },
      ],
    },
  ),
  honest('a form in two columns', {
    head: [
      'Legal name:   Brindlewick Roofing LLC',
      'Display name:   Brindlewick Roofing',
      'Address:   471 Heron Street, Brackett Junction, OH 43999',
    ],
    ...block,
    signature: ['Signature:   /s/ Leona Thornquill'],
    name: ['Name:   Leona Thornquill'],
    job: ['Title:   Managing Director'],
    date: ['Date:   May 18, 2026'],
  }),
  honest('values over their labels', {
    signature: ['/s/ Leona Thornquill', 'Signature'],
    name: ['Leona Thornquill', 'Name'],
    job: ['Managing Director', 'Title'],
    date: ['May 18, 2026', 'Date'],
  }),
  honest('British spelling', {
    title: ['LETTER OF AUTHORISATION'],
    wording: [
      'Brindlewick Roofing LLC authorises Caller Trust to display the name Brindlewick Roofing on calls from the following telephone numbers:',
    ],
  }),
  honest('without a title line', { title: [] }),
  honest('an e-mail', {
    head: [
      'From: Leona Thornquill <leona@brindlewick.example>',
      'To: letters@caller-trust.example',
      'Subject: Letter of authorization',
      'Date: May 18, 2026',
    ],
    title: [],
    date: [],
  }),
  honest('capital letters', {
    head: ['BRINDLEWICK ROOFING LLC', honestDraft.head[1]!],
    wording: [
      'BRINDLEWICK ROOFING LLC HEREBY AUTHORIZES CALLER TRUST TO DISPLAY THE NAME BRINDLEWICK ROOFING ON CALLS FROM THE FOLLOWING TELEPHONE NUMBERS:',
    ],
  }),
  honest('wording that the reader does not know', {
    title: [],
    wording: [
      'Brindlewick Roofing LLC is glad for Caller Trust to put Brindlewick Roofing on the screens of those whom these lines ring:',
    ],
  }),
  abroad('German', {
    brand: {
      legalName: 'Dunmarrow Spedition GmbH',
      dba: null,
      displayName: 'Dunmarrow Spedition',
      country: 'DE',
      address: null,
    },
    phones: ['+498999998426', '+498999998427'],
    change: {
      head: ['Dunmarrow Spedition GmbH', 'Lindengrund 12, 99998 Altweiler'],
      title: ['VOLLMACHT'],
      wording: [
        'hiermit bevollmächtigt die Dunmarrow Spedition GmbH Caller Trust, bei Anrufen von folgenden Rufnummern den Namen „Dunmarrow Spedition“ anzuzeigen:',
      ],
      numbers: ['089 99998-426', '089 99998-427'],
      after: ['Sie gilt, bis wir sie schriftlich widerrufen.'],
      signature: ['Unterschrift: /s/ Jürgen Wiesenthaler'],
      name: ['Name: Jürgen Wiesenthaler'],
      job: ['Funktion: Geschäftsführer'],
      date: ['Datum: 18. Mai 2026'],
    },
  }),
  abroad('French', {
    brand: {
      legalName: 'Corvanne Assurances SARL',
      dba: null,
      displayName: 'Corvanne Assurances',
      country: 'FR',
      address: null,
    },
    phones: ['+33353013672', '+33353013673'],
    change: {
      head: ['Corvanne Assurances SARL', '12, rue des Tilleuls, 99123 Vauclères'],
      title: ["LETTRE D'AUTORISATION"],
      wording: [
        'La société Corvanne Assurances SARL autorise Caller Trust à afficher le nom « Corvanne Assurances » lors des appels depuis les numéros suivants :',
      ],
      numbers: ['03 53 01 36 72', '03 53 01 36 73'],
      after: ['Ces numéros nous sont attribués par notre opérateur.'],
      signature: ['Signature : /s/ Hélène Vauclerc'],
      name: ['Nom : Hélène Vauclerc'],
      job: ['Fonction : Directrice générale'],
      date: ['Fait à Vauclères, le 18 mai 2026'],
    },
  }),
  abroad('Spanish', {
    brand: {
      legalName: 'Estrelar Seguros S.L.',
      dba: null,
      displayName: 'Estrelar Seguros',
      country: 'ES',
      address: null,
    },
    phones: ['+34912345641', '+34912345642'],
    change: {
      head: ['Estrelar Seguros S.L.', 'Calle del Olmo 12, 52999 Villar Nuevo'],
      title: ['CARTA DE AUTORIZACIÓN'],
      wording: [
        'Estrelar Seguros S.L. autoriza a Caller Trust a mostrar el nombre «Estrelar Seguros» en las llamadas desde los siguientes números:',
      ],
      numbers: ['912 345 641', '912 345 642'],
      after: ['Podemos revocarla en cualquier momento.'],
      signature: ['Firma: /s/ Lucía Ibarrondo'],
      name: ['Nombre: Lucía Ibarrondo'],
      job: ['Cargo: Directora general'],
      date: ['Fecha: 18 de mayo de 2026'],
    },
  }),
  abroad('Polish, which the reader does not know', {
    brand: { legalName: 'Lumeris Sp. z o.o.', dba: null, displayName: 'Lumeris', country: 'PL', address: null },
    phones: ['+48223456789'],
    change: {
      head: ['Lumeris Sp. z o.o.', 'ul. Lipowa 4, 00-999 Nowa'],
      title: ['UPOWAŻNIENIE'],
      wording: ['Lumeris Sp. z o.o. upoważnia Caller Trust do wyświetlania nazwy Lumeris przy połączeniach z numerów:'],
      numbers: ['22 345 67 89'],
      after: [],
      signature: ['Podpis: /s/ Anna Kowal'],
      name: ['Imię i nazwisko: Anna Kowal'],
      job: ['Stanowisko: Prezes'],
      date: ['Data: 18 maja 2026'],
    },
  }),
  abroad('umlauts in the shown name', {
    brand: { legalName: 'Bäckerei Weiß GmbH', dba: null, displayName: 'Baeckerei Weiss', country: 'DE', address: null },
    phones: ['+498999998426'],
    change: {
      head: ['Bäckerei Weiß GmbH', 'Lindengrund 12, 99998 Altweiler'],
      title: ['VOLLMACHT'],
      wording: [
        'Die Bäckerei Weiß GmbH ermächtigt Caller Trust, bei Anrufen von folgenden Rufnummern den Namen „Baeckerei Weiss“ anzuzeigen:',
      ],
      numbers: ['089 99998-426'],
      after: [],
      signature: ['Unterschrift: /s/ Käthe Weiß'],
      name: ['Name: Käthe Weiß'],
      job: ['Funktion: Inhaberin'],
      date: ['Datum: 18.05.2026'],
    },
  }),
];
