import { describe, expect, it } from 'vitest';
import { fill, nameWords, phrases } from '../../../../samples/letters/letter-words.ts';
import { extractFields } from '../../../../pipelines/branding/letter/letter-fields.ts';
import type { PageMark } from '../../../../pipelines/branding/letter-reading.ts';
import { compareNames } from '../../../../pipelines/branding/names/name-match.ts';
import { pdfSignature, readLetter, topOf, type TestLetter, type TestLine } from '../../../support/letter-reading.ts';

const names = ['Acme Widgets, Inc.', 'Acme Fast'];
const body = [
  'Acme Widgets, Inc.',
  '1 Main Street, Springfield, IL 62701',
  'LETTER OF AUTHORIZATION',
  'Acme Widgets, Inc. hereby authorizes Caller Trust to display its brand on calls.',
  '',
];

function fieldsOf(lines: readonly TestLine[], { country = 'US', ...letter }: TestLetter & { country?: string } = {}) {
  return extractFields(readLetter(lines, letter), { country, names });
}

/** What a letter says of its signer, its date and its signature. */
function signingOf(lines: readonly TestLine[], letter: TestLetter & { country?: string } = {}) {
  const { signerName, signerTitle, signingDate, signature } = fieldsOf([...body, ...lines], letter);
  return {
    name: signerName?.value,
    title: signerTitle?.value,
    date: signingDate?.date,
    kind: signature.kind,
    signed: signature.name,
  };
}

const inkAt = (row: number, more: Partial<PageMark> = {}): PageMark => ({
  kind: 'ink',
  box: { left: 0.12, top: topOf(body.length + row), width: 0.2, height: 0.025 },
  ...more,
});

describe('a signature block', () => {
  const layouts: Readonly<Record<string, readonly TestLine[]>> = {
    'labels with colons': ['Signature: /s/ Jane Doe', 'Name: Jane Doe', 'Title: CFO', 'Date: March 3, 2026'],
    'labels in upper case': [
      'SIGNATURE: /s/ Jane Doe',
      'PRINTED NAME: Jane Doe',
      'TITLE: CFO',
      'DATE SIGNED: 03/03/2026',
    ],
    'all in one line': ['By: /s/ Jane Doe   Name: Jane Doe   Title: CFO   Date: 3 March 2026'],
    'all in one line with single spaces': ['By: /s/ Jane Doe Name: Jane Doe Title: CFO Dated: 2026-03-03'],
    underscores: [
      'By: ____/s/ Jane Doe____',
      'Name: ____Jane Doe____',
      'Title: ____CFO____',
      'Date: __March 3, 2026__',
    ],
    dots: [
      'Signature ............ /s/ Jane Doe',
      'Name ........... Jane Doe',
      'Title .......... CFO',
      'Date ......... 03-Mar-2026',
    ],
    'captions under the values': [
      '/s/ Jane Doe',
      '______________',
      'Signature',
      'Jane Doe',
      '______________',
      'Name',
      'CFO',
      '_____________',
      'Title',
      'March 3, 2026',
      '_____________',
      'Date',
    ],
    'captions over the values': [
      'Signature',
      '/s/ Jane Doe',
      'Printed Name',
      'Jane Doe',
      'Title',
      'CFO',
      'Date',
      'March 3, 2026',
    ],
    'two columns, captions under': [
      ['/s/ Jane Doe', 'March 3, 2026'],
      ['______', '_______'],
      ['Signature', 'Date'],
      ['Jane Doe', 'CFO'],
      ['_____', '_____'],
      ['Name', 'Title'],
    ],
    'two columns, captions over': [
      ['Signature', 'Date'],
      ['/s/ Jane Doe', 'March 3, 2026'],
      ['Name', 'Title'],
      ['Jane Doe', 'CFO'],
    ],
    'four columns': [
      ['/s/ Jane Doe', 'Jane Doe', 'CFO', '3 March 2026'],
      ['Signature', 'Name', 'Title', 'Date'],
    ],
    'two columns of labels': [
      ['By: /s/ Jane Doe', 'Date: March 3, 2026'],
      ['Name: Jane Doe', 'Title: CFO'],
    ],
    'labels with the value in the next column': [
      ['Signature:', '/s/ Jane Doe'],
      ['Name:', 'Jane Doe'],
      ['Title:', 'CFO'],
      ['Date:', 'March 3, 2026'],
    ],
    'labels with the value in the next line': [
      '/s/ Jane Doe',
      'Name:',
      'Jane Doe',
      'Title:',
      'CFO',
      'Date:',
      'March 3, 2026',
    ],
    'gaps in one line': ['Signature: /s/ Jane Doe      Date: March 3, 2026', 'Name: Jane Doe              Title: CFO'],
    'name and title together': ['By: /s/ Jane Doe', 'Name and title: Jane Doe, CFO', 'Date: March 3, 2026'],
    'notes in parentheses': [
      'Signature (authorized): /s/ Jane Doe',
      'Name (please print): Jane Doe',
      'Title (position): CFO',
      'Date (of signature): March 3, 2026',
    ],
    'a person of authority': [
      'Authorized Signature: /s/ Jane Doe',
      'Authorized Representative Name: Jane Doe',
      'Job Title: CFO',
      'Signature Date: March 3, 2026',
    ],
    'closing words': ['Sincerely,', '', '/s/ Jane Doe', 'Jane Doe', 'CFO', 'March 3, 2026'],
    'closing words, name and title in one line': [
      'Best regards,',
      '/s/ Jane Doe',
      'Jane Doe, CFO',
      'Dated: March 3, 2026',
    ],
    'wording of a statute': [
      'IN WITNESS WHEREOF, signed this 3rd day of',
      'March, 2026.',
      'By: /s/ Jane Doe',
      'Name: Jane Doe, CFO',
    ],
    'a sentence': [
      'I, Jane Doe, CFO of Acme Widgets, Inc., sign this on my own.',
      'Dated this 3rd day of March 2026',
      '/s/ Jane Doe',
    ],
    'a middle name in the signature': [
      'Signature: /s/ Jane Doe',
      'Name: Jane Doe',
      'Its: CFO',
      'Title: CFO',
      'Date: 2026/03/03',
    ],
    'other labels between': [
      'Signature: /s/ Jane Doe',
      'Email: jane@acme.example',
      'Name: Jane Doe',
      'Phone: 202-555-0199',
      'Title: CFO',
      'Date: March 3, 2026',
    ],
    'the company first': [
      'Company Name: Acme Widgets, Inc.',
      'By: /s/ Jane Doe',
      'Name: Jane Doe',
      'Title: CFO',
      'Date: March 3, 2026',
    ],
  };

  it.each(Object.keys(layouts))('of %s is read', (layout) => {
    expect(signingOf(layouts[layout]!)).toEqual({
      name: 'Jane Doe',
      title: 'CFO',
      date: '2026-03-03',
      kind: 'electronic',
      signed: 'Jane Doe',
    });
  });

  const languages: Readonly<Record<string, { country: string; lines: readonly TestLine[]; title: string }>> = {
    Spanish: {
      country: 'ES',
      lines: ['Firma: /s/ Jane Doe', 'Nombre: Jane Doe', 'Cargo: Directora general', 'Fecha: 3 de marzo de 2026'],
      title: 'Directora general',
    },
    French: {
      country: 'FR',
      lines: [
        'Fait à Paris, le 3 mars 2026',
        'Signé électroniquement par : Jane Doe',
        'Nom : Jane Doe',
        'Fonction : Gérante',
      ],
      title: 'Gérante',
    },
    German: {
      country: 'DE',
      lines: [
        'Ort, Datum: Berlin, den 3. März 2026',
        'Unterschrift: /s/ Jane Doe',
        'Name in Druckbuchstaben: Jane Doe',
        'Funktion: Geschäftsführerin',
      ],
      title: 'Geschäftsführerin',
    },
    'German, after closing words': {
      country: 'DE',
      lines: ['Mit freundlichen Grüßen', '/s/ Jane Doe', 'Jane Doe', 'Geschäftsführerin', 'Berlin, den 3. März 2026'],
      title: 'Geschäftsführerin',
    },
    Portuguese: {
      country: 'BR',
      lines: ['Assinatura: /s/ Jane Doe', 'Nome: Jane Doe', 'Cargo: Diretora', 'Data: 03/03/2026'],
      title: 'Diretora',
    },
    Italian: {
      country: 'IT',
      lines: [
        'Luogo e data: Milano, 3 marzo 2026',
        'Firmato elettronicamente da: Jane Doe',
        'Nome e cognome: Jane Doe',
        'Qualifica: Amministratrice',
      ],
      title: 'Amministratrice',
    },
  };

  it.each(Object.keys(languages))('in %s is read', (language) => {
    const { country, lines, title } = languages[language]!;
    expect(signingOf(lines, { country })).toEqual({
      name: 'Jane Doe',
      title,
      date: '2026-03-03',
      kind: 'electronic',
      signed: 'Jane Doe',
    });
  });

  it('gives the place and the line that each field was read from', () => {
    const { signerName, signingDate } = fieldsOf([...body, `Name: Jane Doe ${'x'.repeat(300)}`, 'Date: March 3, 2026']);
    expect(signerName?.excerpt.length).toBe(201);
    expect(signingDate).toMatchObject({
      place: { page: 1, line: body.length + 1, box: { left: 0.1 } },
      excerpt: 'Date: March 3, 2026',
      role: 'signing',
    });
  });

  it.each([
    ['Name: ____________', 'Title: ............'],
    ['Name: [Your name]', 'Title: <title>'],
    ['Name:', 'Title:'],
    ['Name: N/A', 'Title: TBD'],
    ['Company Name: Acme Widgets, Inc.', 'Subtitle: CFO?'],
  ])('of %j and %j names nobody', (name, title) => {
    expect(signingOf([name, title])).toMatchObject({ name: undefined, title: undefined });
  });

  it('takes no company for the signer', () => {
    expect(signingOf(['Company', 'Name: Acme Widgets, Inc.', 'Signer name: Jane Doe'])).toMatchObject({
      name: 'Jane Doe',
    });
  });
});

describe('a signature', () => {
  const block = ['Name: Jane Doe', 'Title: CFO', 'Date: March 3, 2026'];

  it.each([
    ['/s/ Jane Doe', 'Jane Doe'],
    ['/S/ JANE DOE', 'JANE DOE'],
    ['s/ Jane Doe', 'Jane Doe'],
    ['//s// Jane Doe', 'Jane Doe'],
    ['Electronically signed by Jane Doe on March 3, 2026', 'Jane Doe'],
    ['Signed electronically by: Jane Doe', 'Jane Doe'],
    ['DocuSigned by: Jane Doe', 'Jane Doe'],
    ['e-signed by Jane Doe, CFO', 'Jane Doe'],
    ['Firmado electrónicamente por Jane Doe', 'Jane Doe'],
    ['Elektronisch signiert von Jane Doe', 'Jane Doe'],
    ['Assinado eletronicamente por Jane Doe', 'Jane Doe'],
  ])('written as %j is electronic', (line, name) => {
    expect(signingOf([line, ...block])).toMatchObject({ kind: 'electronic', signed: name });
  });

  it.each([
    ['09:24', 'electronic'],
    ['23:59:59', 'electronic'],
    ['1:60', 'none'],
    ['24:00', 'none'],
  ])('with the time %s beside the printed name is %s', (time, kind) => {
    expect(signingOf([`Jane Doe (Mar 3, 2026 ${time} EDT)`, ...block])).toMatchObject({ kind });
  });

  it('may have its name in the next line', () => {
    expect(signingOf(['DocuSigned by:', 'Jane Doe', '4F2A9B1C3D', ...block])).toMatchObject({
      kind: 'electronic',
      signed: 'Jane Doe',
    });
  });

  it('that is a verified PDF signature is one, whatever the page shows', () => {
    expect(signingOf(['Signature: ______', ...block], { signatures: [pdfSignature()] })).toMatchObject({
      kind: 'pdf',
      signed: 'Jane Doe',
    });
  });

  it.each([
    { digestMatches: false },
    { signatureValid: false },
    { coverage: 'partial' },
    { coverage: 'changed' },
  ] as const)('in the PDF that has %j is not taken for one', (change) => {
    expect(signingOf(['Signature: ______', ...block], { signatures: [pdfSignature(change)] })).toMatchObject({
      kind: 'undetermined',
    });
  });

  const undetermined: Readonly<Record<string, readonly [readonly TestLine[], TestLetter]>> = {
    'ink next to its label': [['', 'Signature: ____________', ...block], { marks: [inkAt(1)] }],
    'ink over its label': [['', '', '______', 'Signature', ...block], { marks: [inkAt(1)] }],
    'a picture under closing words': [
      ['Sincerely,', '', '', 'Jane Doe', 'CFO'],
      { marks: [inkAt(1, { kind: 'image' })] },
    ],
    'drawn strokes': [['', 'By: ____________', ...block], { marks: [inkAt(1, { kind: 'drawing' })] }],
    'a name in a script font': [['Signature:', { text: 'Jane Doe', font: 'ABCDEF+SegoeScript' }, ...block], {}],
    'a name in italics': [['Sincerely,', { text: 'Jane Doe', font: 'Times-Italic' }, 'CFO'], {}],
    'a typed name': [['Signature: Jane Doe', ...block], {}],
    'the name twice under closing words': [['Sincerely,', 'Jane Doe', 'Jane Doe', 'CFO'], {}],
    'the name over the labelled name': [['Sincerely,', 'Jane Doe', ...block], { source: 'ocr' }],
    'the name over the labelled name, misread': [['Sincerely,', 'Jane Dde', ...block], { source: 'ocr' }],
    'letters that OCR makes of ink': [['Signature: Jqmc Dfe', ...block], { source: 'ocr' }],
    'the printed picture of a PDF signature': [
      ['Digitally signed by Jane Doe', 'Date: 2026.03.03 12:00:00', ...block],
      {},
    ],
    'ink without a label': [
      ['', '', 'Jane Doe', 'CFO'],
      { marks: [inkAt(0, { box: { left: 0.1, top: 0.5, width: 0.2, height: 0.03 } })] },
    ],
    'a stamp at the label': [['', 'Signature', '', ...block], { marks: [inkAt(1, { kind: 'image' })] }],
  };

  it.each(Object.keys(undetermined))('that is %s is for a person to look at', (kind) => {
    const [lines, letter] = undetermined[kind]!;
    expect(signingOf(lines, letter)).toMatchObject({ kind: 'undetermined' });
  });

  const none: Readonly<Record<string, readonly [readonly TestLine[], TestLetter]>> = {
    'an empty line to sign on': [['Signature: ____________', ...block], {}],
    'the drawn line to sign on': [
      ['', 'Signature', ...block],
      {
        marks: [
          inkAt(1, { kind: 'drawing', box: { left: 0.1, top: topOf(body.length + 1), width: 0.4, height: 0.002 } }),
        ],
      },
    ],
    'a logo in the letterhead': [
      ['Signature:', ...block],
      { marks: [inkAt(0, { kind: 'image', box: { left: 0.1, top: 0.02, width: 0.2, height: 0.04 } })] },
    ],
    'a logo without a place to sign': [
      block,
      { marks: [inkAt(0, { kind: 'image', box: { left: 0.1, top: 0.02, width: 0.2, height: 0.04 } })] },
    ],
    'a picture under the whole page': [
      ['Signature:', ...block],
      { marks: [inkAt(0, { kind: 'image', box: { left: 0, top: 0, width: 1, height: 1 } })] },
    ],
    'nothing after closing words': [['Sincerely,', '', 'Jane Doe', 'CFO'], {}],
    'a wish to sign': [['Please sign with /s/ and your full legal name below.', 'Signature: ____'], {}],
    'no place at all': [['Name: Jane Doe'], {}],
    'ink on another page': [[], { pages: [[...body, 'Signature: ______', ...block], ['Notes']], marks: [inkAt(0)] }],
  };

  it.each(Object.keys(none))('is not %s', (kind) => {
    const [lines, letter] = none[kind]!;
    expect(signingOf(lines, letter)).toMatchObject({ kind: 'none' });
  });
});

describe('the signing date', () => {
  const dateOf = (lines: readonly TestLine[], letter: TestLetter & { country?: string } = {}) =>
    fieldsOf([...body, ...lines], letter).signingDate?.date;
  const block = ['Signature: /s/ Jane Doe', 'Name: Jane Doe', 'Title: CFO'];

  it.each([
    [['Date: March 3, 2026', 'This letter expires on March 3, 2027.', ...block]],
    [['Effective date: January 1, 2026', ...block, 'Date: March 3, 2026']],
    [['Valid until 2027-03-03', ...block, 'March 3, 2026']],
    [[...block, 'Dated this 3rd day of March, 2026']],
    [['March 1, 2026', '', '', '', '', '', '', ...block, 'Date: March 3, 2026']],
    [['Electronically signed by Jane Doe on March 3, 2026', 'Form updated January 5, 2020']],
    [['Date', 'March 3, 2026', ...block]],
    [
      [
        ['Signature: /s/ Jane Doe', '03/03/2026'],
        ['Jane Doe', ''],
      ],
    ],
    [['March 3, 2026', '', '', '', '', '', '', '', ...block]],
    [['Springfield, March 3, 2026', '', '', '', '', '', '', '', ...block, 'Expires: March 3, 2027']],
    [['Date:', '', 'March 3, 2026', ...block]],
    [['Dated:', 'March 3, 2026', 'Expires:', 'March 3, 2027', ...block]],
    [['Date: 03/03/2026 Expiration: 03/03/2027', ...block]],
  ])('of %j is 3 March', (lines) => {
    expect(dateOf(lines)).toBe('2026-03-03');
  });

  it.each([
    [['March 3, 2026', 'March 1, 2026', '', '', '', '', '', '', '', ...block]],
    [['We met on March 3, 2026', '', '', '', '', '', '', ...block]],
    [[...block, 'This authorization is effective March 3, 2026.']],
    [[...block, 'Expires: March 3, 2026']],
    [[...block, 'We have spoken with your team about this letter and the calls on March 3, 2026 in person.']],
    [block],
    [[...block, 'Date: ________']],
  ])('of %j is not read', (lines) => {
    expect(dateOf(lines)).toBe(undefined);
  });

  it('that is elsewhere is kept as another date with its role', () => {
    expect(
      fieldsOf(['We met on March 3, 2026', 'Expires on March 4, 2027', '', '', '', '', '', ...block]).otherDates.map(
        ({ date, role }) => [date, role],
      ),
    ).toEqual([
      ['2026-03-03', 'unlabelled'],
      ['2027-03-04', 'other'],
    ]);
  });

  it('of a PDF signature counts where the text has none', () => {
    expect(dateOf(block, { signatures: [pdfSignature()] })).toBe('2026-03-03');
    expect(dateOf(block, { signatures: [pdfSignature({ signedAt: null })] })).toBe(undefined);
    expect(dateOf(block, { signatures: [pdfSignature({ digestMatches: false })] })).toBe(undefined);
  });
});

describe('names of the company and the brand', () => {
  it.each([
    [['Legal name: Acme Widgets, Inc.', 'DBA: Acme Fast'], 'Acme Widgets, Inc.', ['Acme Fast']],
    [['Company: Acme Widgets, Inc. d/b/a Acme Fast'], 'Acme Widgets, Inc.', ['Acme Fast']],
    [['Acme Widgets, Inc. doing business as Acme Fast authorizes'], undefined, ['Acme Fast']],
    [['Acme Widgets, Inc. doing business as', '“Acme Fast” authorizes'], undefined, ['Acme Fast']],
    [['Acme Widgets, Inc. dba Other Brand, authorizes'], undefined, ['Other Brand']],
    [['Brand name: Acme Fast   Display name: Acme'], undefined, ['Acme Fast', 'Acme']],
    [['Legal Business Name', 'Acme Widgets, Inc.', 'Trade name', 'Acme Fast'], 'Acme Widgets, Inc.', ['Acme Fast']],
    [['Company name: ________'], undefined, []],
    [['Name of company: Acme Widgets, Inc.', 'Caller ID name: ACME FAST'], 'Acme Widgets, Inc.', ['ACME FAST']],
  ])('of %j are found', (lines, legalName, brands) => {
    const fields = fieldsOf(lines);
    expect([fields.legalName?.value, fields.brandNames.map(({ value }) => value)]).toEqual([legalName, brands]);
  });

  it('a label Firma names the company in German, and is a place to sign in Spanish', () => {
    expect(fieldsOf(['Firma: Acme Widgets'], { country: 'DE' })).toMatchObject({
      legalName: { value: 'Acme Widgets' },
      signature: { kind: 'none' },
    });
    expect(fieldsOf(['Firma: Jane Doe'], { country: 'ES' })).toMatchObject({
      legalName: null,
      signature: { kind: 'undetermined' },
    });
  });
});

describe('wording', () => {
  it.each([
    'LETTER OF AUTHORIZATION',
    'Letter of Authorisation for branded calling',
    'we hereby authorize you',
    'Acme authorises',
    'grants Caller Trust permission',
    'Carta de autorización',
    'autorizamos a',
    'nous autorisons',
    'ermächtigt hiermit',
    'Vollmacht',
    'autorizziamo',
  ])('%j authorizes', (text) => {
    expect(fieldsOf([text]).title).not.toBe(null);
  });

  it.each([
    'Dear Sir or Madam',
    'An authorized dealer',
    'Please find our letter of authorization in the mail on Monday',
    'the author',
    '',
  ])('%j does not', (text) => {
    expect(fieldsOf([text]).title).toBe(null);
  });

  it.each([
    'SAMPLE',
    'DRAFT',
    'we do not authorize',
    'no longer authorized',
    'hereby revokes',
    '[Company Name]',
    '<your name>',
    'No autorizamos',
    'Entwurf',
  ])('%j makes it no valid letter', (text) => {
    expect(fieldsOf([text]).sentences).not.toEqual([]);
  });

  it.each(['the numbers in [this list]', 'we authorize'])('%j does not', (text) => {
    expect(fieldsOf([text]).sentences).toEqual([]);
  });
});

describe('wording that denies, limits or takes back', () => {
  const name = 'Acme Widgets, Inc.';
  it.each([
    'Acme never authorizes Caller Trust to display it',
    'nothing in this letter authorizes Caller Trust',
    'is still considering whether to authorize you',
    'This authorization expired on January 31, 2026 and has no effect.',
    'Acme does  not authorize it',
    "We don't authorize it",
    'Subject to approval by the board, which has not been given,',
    'This letter is null and void unless countersigned by the CEO.',
    'Acme has since revoked the above authorization in full.',
    'We may call you; Acme revoked it.',
    'We withdraw this letter.',
    'The letter was cancelled.',
    'This is a training exercise.',
    'None of what follows is real or has any effect.',
    'We received the following forged letter and ask you to reject it:',
    'DRAFT v3 for discussion purposes only',
    'Not for execution.',
    'Acme hereby prohibits and forbids anyone to display its brand',
    'authorizes Caller Trust to block calls from',
    'authorizes Caller Trust to mark as spam and',
    'numbers, which are fraudulent:',
    'The numbers are owned by our competitor Bravo LLC, who objects to this.',
    '+1 202 555 0101 (pending, do not brand)',
    '+1 202 555 0101 - owned by Bravo LLC',
    'The numbers belong to Acme Widgets Rivals.',
    '/s/ Jane Doe, by her assistant Bob Roe without her knowledge',
    '/s/ Jane Doe (signature pending, not yet signed)',
    'Title: Summer intern (no authority to bind the company)',
    'Title: Former Chief Financial Officer',
    'The last of these is not authorized.',
    'Title: Directora (sin poder)',
    'Titre : Ancienne directrice',
    'Funktion: Ehemaliger Geschäftsführer',
    'Funktion: Praktikant der Leitung',
    'Cargo: Antigo diretor',
    'Qualifica: Stagista',
    'Acme nunca autoriza a Caller Trust',
    'Acme no les autoriza a mostrar',
    'La autorización ya fue revocada.',
    'Esta carta queda sin efecto.',
    'sujeta a la aprobación del consejo',
    'Se prohíbe mostrar la marca.',
    'La autorización ha caducado.',
    'Es un borrador.',
    "La société n'autorise personne",
    'ne vous autorise pas à afficher',
    'sous réserve de validation par le conseil',
    'Cette autorisation a été révoquée.',
    'Cette lettre est sans effet.',
    'Il est interdit de marquer les appels.',
    "L'autorisation est expirée.",
    'Ceci est un projet de lettre.',
    'Wir ermächtigen Caller Trust nicht, den Namen anzuzeigen.',
    'Es wird keine Vollmacht erteilt.',
    'Die Vollmacht wurde widerrufen.',
    'Diese Vollmacht ist abgelaufen.',
    'vorbehaltlich der Zustimmung des Beirats',
    'Wir untersagen die Anzeige.',
    'Dies ist ein Entwurf.',
    'Das Schreiben ist unwirksam.',
    'A empresa não autoriza a Caller Trust',
    'A autorização foi revogada.',
    'Esta carta está sem efeito.',
    'sujeito a aprovação do conselho',
    'É proibido exibir a marca.',
    'Isto é um rascunho da carta.',
    'A autorização venceu.',
    'La società non autorizza Caller Trust',
    "L'autorizzazione è stata revocata.",
    'Lettera senza effetto.',
    'subordinata a approvazione del consiglio',
    'È vietato mostrare il marchio.',
    'Questa è una bozza.',
    "L'autorizzazione è scaduta.",
  ])('%j is for a person', (text) => {
    expect(fieldsOf([text]).sentences).not.toEqual([]);
  });

  it.each([
    'We may revoke this authorization at any time by written notice.',
    'This authorization remains valid until revoked.',
    'It is valid until it is revoked in writing by us or until we withdraw it.',
    'unless sooner terminated by either party',
    'This letter expires on March 3, 2027.',
    'all calls comply with the laws that apply',
    'subject to applicable law',
    'We confirm that we hold the right to use each of these numbers',
    'These numbers are owned by Acme Widgets, Inc. and used by it.',
    'The numbers belong to us.',
    `The numbers are the property of the company, ${name}`,
    'so that our calls are not marked as spam',
    'We honor the Do Not Call list.',
    'Title: Owner',
    'Title: VP, International Sales',
    'This authorization is irrevocable for one year.',
    'We have the right to revoke it.',
    'Esta autorización es válida salvo revocación por escrito.',
    'Podemos revocarla en cualquier momento.',
    "Elle reste valable jusqu'au 3 mars 2027, sauf révocation écrite.",
    'Wir können die Vollmacht jederzeit widerrufen.',
    'sofern wir sie nicht vorher schriftlich widerrufen',
    'Podemos revogá-la a qualquer momento.',
    'Possiamo revocarla in qualsiasi momento.',
  ])('%j is not', (text) => {
    expect(fieldsOf([text]).sentences).toEqual([]);
  });

  const facts: Readonly<Record<string, string>> = {
    legal: name,
    display: 'Acme Fast',
    dba: 'Acme Fast',
    until: 'March 3, 2027',
    numbers: '+1 202 555 0100',
    count: '20',
    file: 'numbers.csv',
    first: '+1 202 555 0100',
    last: '+1 202 555 0119',
    phone: '+1 202 555 0100',
    name: 'Jane Doe',
    date: 'March 3, 2026',
    tradingAs: ', doing business as Acme Fast,',
  };
  const honest = Object.entries(phrases).flatMap(([language, words]) =>
    Object.values(words)
      .flat()
      .flatMap((value): string[] =>
        typeof value === 'object' ? Object.values(value as Record<string, string>) : [value as string],
      )
      .map((sentence) => [language, fill(sentence, facts)] as const),
  );

  it.each(honest)('no phrase of a sample letter in %s is: %j', (_, sentence) => {
    const { sentences, brandNames } = fieldsOf([sentence]);
    expect([
      sentences,
      brandNames.filter(({ value }) => !names.some((own) => compareNames(own, value) === 'same')),
    ]).toEqual([[], []]);
  });

  it('no title of a sample letter is', () => {
    expect(
      Object.values(nameWords.titles)
        .flat()
        .filter((title) => fieldsOf([`Title: ${title}`]).sentences.length > 0),
    ).toEqual([]);
  });
});

describe('a name to be displayed', () => {
  const shown = (...lines: readonly string[]) => fieldsOf(lines).brandNames.map(({ value }) => value);

  it.each([
    ['to display the name First National Bank on calls', ['First National Bank']],
    ['to show “first national bank” to people', ['first national bank']],
    ['presents the display name of Acme Fast on calls', ['Acme Fast']],
    ['to display Zenith Loans on calls', ['Zenith Loans']],
    ['branded as Zenith Loans on calls', ['Zenith Loans']],
    ['to display the names Acme Fast and Zenith Loans', ['Acme Fast', 'Zenith Loans']],
    ['den Namen „Zenith Loans“ anzuzeigen', ['Zenith Loans']],
    ['à afficher le nom « Zenith Loans » auprès', ['Zenith Loans']],
    ['a mostrar el nombre «Zenith Loans» a las personas', ['Zenith Loans']],
    ['exibir o nome “Zenith Loans” nas chamadas', ['Zenith Loans']],
    ['visualizzare il nome “Zenith Loans” nelle chiamate', ['Zenith Loans']],
  ])('is read in %j', (line, expected) => {
    expect(shown(line)).toEqual(expected);
  });

  it.each([
    'to display its brand name on calls from',
    'to show our name',
    'to display the Caller Name',
    'to display Caller ID and Logo',
    'Display name',
    'to display the name of the company',
  ])('is not in %j', (line) => {
    expect(shown(line)).toEqual([]);
  });
});

describe('what follows the name of an electronic signature', () => {
  const kindOf = (rest: string) =>
    fieldsOf([...body, `Signature: /s/ Jane Doe${rest}`, 'Name: Jane Doe', 'Title: CFO', 'Date: March 3, 2026'])
      .signature.kind;

  it.each([
    '',
    ', CFO',
    ', Chief Financial Officer, Acme Widgets, Inc.',
    ', CFO of Acme Widgets, Inc.',
    ' on March 3, 2026',
    ' on March 3, 2026 at 10:15 am UTC',
    ' (CFO)',
    '   March 3, 2026',
    ', VP, Customer Operations',
    ' Title: CFO Date: March 3, 2026',
    '____',
  ])('%j may', (rest) => {
    expect(kindOf(rest)).toBe('electronic');
  });

  it.each([
    ', by her assistant Bob Roe',
    ' (signature pending)',
    ', for Bob Roe, President',
    ' - not yet',
    ' (copy)',
    ', 12345',
    ', CFO (unsigned)',
    '   void',
    ', Bravo LLC',
  ])('%j is for a person', (rest) => {
    expect(kindOf(rest)).toBe('undetermined');
  });
});

describe('the end that a letter states', () => {
  it('may go over the end of a line, and is not the date of signing under it', () => {
    const datesOf = (...lines: readonly string[]) => fieldsOf([...body, ...lines]).endDates.map(({ date }) => date);
    expect(datesOf('This letter is valid until', 'March 3, 2027.')).toEqual(['2027-03-03']);
    expect(datesOf('This letter is valid until revoked', 'Date: March 3, 2026')).toEqual([]);
    expect(datesOf('It ends when we say so', 'Signed on March 3, 2026')).toEqual([]);
  });

  it.each([
    ['This letter expires on March 3, 2027.', ['2027-03-03']],
    ['valid from January 1, 2020 until December 31, 2021 only', ['2021-12-31']],
    ['from January 1, 2020 to December 31, 2021', ['2021-12-31']],
    ['valid through 2021', ['2021-12-31']],
    ['Sie gilt bis zum 3. März 2027', ['2027-03-03']],
    ["jusqu'au 3 mars 2027", ['2027-03-03']],
    ['hasta el 3 de marzo de 2027', ['2027-03-03']],
    ['+1 202 555 1000 through 1999', []],
    ['Date: March 3, 2026', []],
    ['since 2019', []],
    ['We met on March 3, 2020.', []],
    ['Expiration date: March 3, 2027', ['2027-03-03']],
    ['Expires: 03/03/2027', ['2027-03-03']],
  ])('is read in %j', (line, expected) => {
    expect(fieldsOf([line]).endDates.map(({ date }) => date)).toEqual(expected);
  });
});

describe('an address', () => {
  it.each([
    'Address: 12 Harbor Way',
    '1 Main Street, Springfield, IL 62701',
    'Hauptstraße 5, 10115 Berlin',
    '12 rue de la Paix, 75002 Paris',
    'Calle Mayor 5, 28013 Madrid',
    'PO Box 12',
    '10 High Street',
    'London SW1A 1AA',
  ])('%j is found', (text) => {
    expect(fieldsOf([text]).address).not.toBe(null);
  });

  it.each(['Acme Widgets', '202-555-0100', 'March 3, 2026', '12 numbers'])('%j is none', (text) => {
    expect(fieldsOf([text]).address).toBe(null);
  });
});

describe('how sure the reading is', () => {
  it('is the mean of the worst page that OCR read, weighted by characters', () => {
    const pages = [
      [
        { text: 'aaaa', confidence: 90 },
        { text: 'bb', confidence: 60 },
      ],
      [{ text: 'cc', confidence: 85 }],
    ];
    expect(fieldsOf([], { pages, source: 'ocr' })).toMatchObject({ confidence: 80, lines: 3 });
    expect(fieldsOf(['text'])).toMatchObject({ confidence: null, lines: 1 });
  });
});
