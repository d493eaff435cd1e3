/** Languages of the sample letters. */
export type LetterLanguage = 'en' | 'de' | 'fr' | 'es';

/** The parts of names and addresses. All are invented and refer to no company or public person. */
export const nameWords = {
  firms: [
    'Brindlewick',
    'Talvora',
    'Quenby Vale',
    'Oskerley',
    'Marrowfen',
    'Ellistane',
    'Harrowmere',
    'Pellwyn',
    'Tarnhollow',
    'Wexcombe Hill',
    'Dunmarrow',
    'Skellbrook',
    'Varnholt',
    'Lumeris',
    'Corvanne',
    'Estrelar',
  ],
  trades: {
    en: [
      'Dental Care',
      'Logistics',
      'Insurance Agency',
      'Home Health',
      'Credit Union',
      'Roofing',
      'Auto Glass',
      'Pharmacy',
      'Energy',
      'Legal Services',
      'Freight',
      'Optical',
    ],
    de: ['Zahntechnik', 'Spedition', 'Versicherungsmakler', 'Gebäudedienste', 'Hörgeräte', 'Möbelhaus'],
    fr: ['Assurances', 'Santé', 'Énergie', 'Transports', 'Menuiserie', 'Optique'],
    es: ['Seguros', 'Energía', 'Logística', 'Clínica Dental', 'Reformas', 'Mudanzas'],
  },
  suffixes: {
    US: ['LLC', 'Inc.', 'Corp.', 'L.L.C.', ', Inc.'],
    CA: ['Inc.', 'Ltd.', 'Corp.'],
    GB: ['Ltd', 'Limited', 'plc'],
    DE: ['GmbH', 'AG', 'GmbH & Co. KG'],
    FR: ['SARL', 'SAS', 'SA'],
    ES: ['S.L.', 'S.A.', 'S.L.U.'],
  },
  first: {
    en: ['Margaret', 'Dorian', 'Priya', 'Walter', 'Leona', 'Marcus', 'Ingrid', 'Tobias', 'Naomi', 'Calvin'],
    de: ['Annegret', 'Jürgen', 'Käthe', 'Matthias', 'Sabine'],
    fr: ['Hélène', 'François', 'Maëlle', 'Étienne', 'Solène'],
    es: ['María José', 'Íñigo', 'Lucía', 'Ramón', 'Begoña'],
  },
  last: {
    en: [
      'Thornquill',
      'Vastergaard',
      'Okerlund',
      'Pemberlain',
      'Ashgrove',
      'Delacray',
      'Whitcombe',
      "O'Dorran",
      'Marsh-Tilley',
      'Ferrowby',
    ],
    de: ['Rübenkamp', 'Altmühler', 'Großhardt', 'Wiesenthaler', 'von Ahrensbök'],
    fr: ['Vauclerc', 'Desbruyères', 'Montfaçon', 'Lagrève', 'Péruchet'],
    es: ['Ibarrondo', 'Castañuela Ruiz', 'Peñalba', 'Olmedilla', 'Zubiarrain'],
  },
  titles: {
    en: [
      'Chief Operating Officer',
      'VP, Customer Operations',
      'Director of Telecommunications',
      'Owner',
      'General Counsel',
      'Managing Director',
      'Head of Contact Center',
      'President',
      'Chief Executive Officer',
    ],
    de: ['Geschäftsführer', 'Geschäftsführerin', 'Prokurist', 'Leiter Kundenservice'],
    fr: ['Directrice générale', 'Gérant', 'Responsable des télécommunications', 'Président'],
    es: ['Directora general', 'Administrador único', 'Director de operaciones', 'Gerente'],
  },
} as const;

/** Sentences and labels of the letters, with facts of the letter as `{...}`. */
interface Phrases {
  readonly heading: readonly string[];
  readonly subject: string;
  readonly greeting: readonly string[];
  readonly grant: readonly string[];
  readonly ownership: readonly string[];
  readonly validity: readonly string[];
  readonly numbersBelow: readonly string[];
  readonly numbersInline: string;
  readonly numbersOnNextPage: string;
  /** The first does not state where the list begins and ends. */
  readonly numbersAttached: readonly string[];
  readonly range: string;
  readonly closing: readonly string[];
  readonly contact: string;
  readonly schedule: string;
  readonly tradingAs: string;
  readonly electronically: string;
  readonly labels: {
    readonly company: string;
    readonly dba: string;
    readonly display: string;
    readonly address: string;
    readonly signer: string;
    readonly title: string;
    readonly signature: string;
    readonly date: string;
    readonly numbers: string;
    readonly number: string;
    readonly use: string;
    readonly phone: string;
    readonly from: string;
    readonly to: string;
    readonly about: string;
  };
  readonly uses: readonly string[];
}

export const phrases: Readonly<Record<LetterLanguage, Phrases>> = {
  en: {
    heading: ['LETTER OF AUTHORIZATION', 'Letter of Authorization', 'LETTER OF AUTHORIZATION FOR BRANDED CALLING'],
    subject: 'Letter of authorization for branded calling',
    greeting: ['To whom it may concern:', 'Dear Registration Team,', 'Dear Sir or Madam,'],
    grant: [
      '{legal}{tradingAs} authorizes Caller Trust to register the telephone numbers named in this letter for branded calling, and to show the name “{display}” to the people whom we call.',
      'On behalf of {legal}{tradingAs}, I authorize Caller Trust to display “{display}” as the caller name on outgoing calls from the telephone numbers named in this letter.',
      'This letter confirms that {legal}{tradingAs} permits Caller Trust and its partners to present the display name “{display}” on calls that originate from our telephone numbers.',
    ],
    ownership: [
      'We are the subscriber of record of these numbers and use them for calls to our own customers only.',
      'The numbers are assigned to us by our carrier, and we have the right to use them for outbound calls.',
      'We confirm that we hold the right to use each of these numbers and that all calls comply with the laws that apply.',
    ],
    validity: [
      'This authorization is valid for twelve months from the date of signature unless we revoke it in writing.',
      'It remains in force until {until} or until we withdraw it, whichever comes first.',
      'We may revoke this authorization at any time by written notice.',
    ],
    numbersBelow: [
      'The telephone numbers are:',
      'Authorized telephone numbers:',
      'This authorization covers the following numbers:',
    ],
    numbersInline: 'The authorized telephone numbers are {numbers}.',
    numbersOnNextPage: 'The telephone numbers are listed in Schedule A on the next page, which is part of this letter.',
    numbersAttached: [
      'This authorization covers the {count} telephone numbers listed in the attached file {file}. Please see attached.',
      'This authorization covers the {count} telephone numbers listed in the attached file {file}, from {first} (first number) to {last} (last number).',
      'Please see attached list {file}: {count} numbers, first number {first}, last number {last}.',
    ],
    range: 'All numbers from {first} through {last}',
    closing: ['Sincerely,', 'Yours faithfully,', 'Kind regards,', 'Respectfully,'],
    contact: 'Tel. {phone}',
    schedule: 'Schedule A: Authorized Telephone Numbers',
    tradingAs: ', doing business as {dba},',
    electronically: 'Electronically signed by {name} on {date}',
    labels: {
      company: 'Legal company name',
      dba: 'Doing business as (DBA)',
      display: 'Display name',
      address: 'Business address',
      signer: 'Authorized signer',
      title: 'Title',
      signature: 'Signature',
      date: 'Date',
      numbers: 'Telephone numbers',
      number: 'Telephone number',
      use: 'Used for',
      phone: 'Phone',
      from: 'From',
      to: 'To',
      about: 'Subject',
    },
    uses: ['Customer service', 'Appointments', 'Billing', 'Delivery notices', 'Main line', 'Claims', 'Sales'],
  },
  de: {
    heading: ['VOLLMACHT', 'Vollmacht für die Anrufkennzeichnung'],
    subject: 'Vollmacht für die Anzeige unseres Namens bei Anrufen',
    greeting: ['Sehr geehrte Damen und Herren,'],
    grant: [
      'hiermit bevollmächtigt die {legal}{tradingAs} Caller Trust, die in diesem Schreiben genannten Rufnummern zu registrieren und den Angerufenen den Namen „{display}“ anzuzeigen.',
      'die {legal}{tradingAs} erlaubt Caller Trust, bei Anrufen von den hier genannten Rufnummern den Namen „{display}“ anzuzeigen.',
    ],
    ownership: [
      'Die Rufnummern sind uns von unserem Netzbetreiber zugeteilt, und wir sind berechtigt, sie für ausgehende Anrufe zu verwenden.',
      'Wir sind Inhaber dieser Rufnummern und rufen damit nur eigene Kunden an.',
    ],
    validity: [
      'Diese Vollmacht gilt zwölf Monate ab dem Tag der Unterschrift.',
      'Sie gilt bis zum {until}, sofern wir sie nicht vorher schriftlich widerrufen.',
    ],
    numbersBelow: ['Die Rufnummern lauten:', 'Die Vollmacht umfasst folgende Rufnummern:'],
    numbersInline: 'Die Vollmacht umfasst die Rufnummern {numbers}.',
    numbersOnNextPage: 'Die Rufnummern stehen in der Anlage A auf der nächsten Seite, die Teil dieses Schreibens ist.',
    numbersAttached: [
      'Diese Vollmacht umfasst die {count} Rufnummern in der beigefügten Datei {file} (siehe Anlage).',
      'Die Vollmacht umfasst die {count} Rufnummern der beigefügten Datei {file}; erste Rufnummer {first}, letzte Rufnummer {last}.',
    ],
    range: 'Alle Rufnummern von {first} bis {last}',
    closing: ['Mit freundlichen Grüßen'],
    contact: 'Telefon {phone}',
    schedule: 'Anlage A: Rufnummern',
    tradingAs: ', handelnd unter {dba},',
    electronically: 'Elektronisch unterzeichnet von {name} am {date}',
    labels: {
      company: 'Firma',
      dba: 'Handelsname',
      display: 'Anzeigename',
      address: 'Anschrift',
      signer: 'Unterzeichner',
      title: 'Funktion',
      signature: 'Unterschrift',
      date: 'Datum',
      numbers: 'Rufnummern',
      number: 'Rufnummer',
      use: 'Verwendung',
      phone: 'Telefon',
      from: 'Von',
      to: 'An',
      about: 'Betreff',
    },
    uses: ['Kundendienst', 'Terminvergabe', 'Buchhaltung', 'Zentrale', 'Vertrieb'],
  },
  fr: {
    heading: ["LETTRE D'AUTORISATION", "Lettre d'autorisation"],
    subject: "Lettre d'autorisation pour l'affichage de notre nom lors des appels",
    greeting: ['Madame, Monsieur,'],
    grant: [
      'Par la présente, la société {legal}{tradingAs} autorise Caller Trust à enregistrer les numéros de téléphone indiqués dans cette lettre et à afficher le nom « {display} » auprès des personnes appelées.',
      "La société {legal}{tradingAs} donne à Caller Trust l'autorisation d'afficher le nom « {display} » lors des appels émis depuis les numéros ci-après.",
    ],
    ownership: [
      'Ces numéros nous sont attribués par notre opérateur et nous avons le droit de les utiliser pour nos appels sortants.',
      "Nous sommes titulaires de ces numéros et n'appelons que nos propres clients.",
    ],
    validity: [
      'Cette autorisation est valable douze mois à compter de la date de signature.',
      "Elle reste valable jusqu'au {until}, sauf révocation écrite.",
    ],
    numbersBelow: ['Les numéros concernés sont les suivants :', 'Numéros de téléphone autorisés :'],
    numbersInline: 'Les numéros autorisés sont {numbers}.',
    numbersOnNextPage: "Les numéros figurent dans l'annexe A à la page suivante, qui fait partie de cette lettre.",
    numbersAttached: [
      'Cette autorisation concerne les {count} numéros du fichier {file} ci-joint (voir pièce jointe).',
      'Elle concerne les {count} numéros du fichier {file} ci-joint : premier numéro {first}, dernier numéro {last}.',
    ],
    range: 'Tous les numéros de {first} à {last}',
    closing: ['Veuillez agréer, Madame, Monsieur, nos salutations distinguées.', 'Cordialement,'],
    contact: 'Tél. {phone}',
    schedule: 'Annexe A : numéros de téléphone autorisés',
    tradingAs: ', sous le nom commercial {dba},',
    electronically: 'Signé électroniquement par {name} le {date}',
    labels: {
      company: 'Raison sociale',
      dba: 'Nom commercial',
      display: 'Nom affiché',
      address: 'Adresse',
      signer: 'Signataire',
      title: 'Fonction',
      signature: 'Signature',
      date: 'Date',
      numbers: 'Numéros de téléphone',
      number: 'Numéro de téléphone',
      use: 'Usage',
      phone: 'Téléphone',
      from: 'De',
      to: 'À',
      about: 'Objet',
    },
    uses: ['Service client', 'Rendez-vous', 'Facturation', 'Standard', 'Ventes'],
  },
  es: {
    heading: ['CARTA DE AUTORIZACIÓN', 'Carta de autorización'],
    subject: 'Carta de autorización para mostrar nuestro nombre en las llamadas',
    greeting: ['A quien corresponda:', 'Estimados señores:'],
    grant: [
      'Por la presente, {legal}{tradingAs} autoriza a Caller Trust a registrar los números de teléfono indicados en esta carta y a mostrar el nombre «{display}» a las personas a las que llamamos.',
      'En nombre de {legal}{tradingAs} autorizo a Caller Trust a mostrar el nombre «{display}» en las llamadas que se hagan desde los números indicados.',
    ],
    ownership: [
      'Estos números nos han sido asignados por nuestro operador y tenemos derecho a usarlos para llamadas salientes.',
      'Somos titulares de estos números y solo llamamos a nuestros propios clientes.',
    ],
    validity: [
      'Esta autorización es válida durante doce meses a partir de la fecha de la firma.',
      'Permanece en vigor hasta el {until}, salvo revocación por escrito.',
    ],
    numbersBelow: ['Los números autorizados son los siguientes:', 'Números de teléfono autorizados:'],
    numbersInline: 'Los números autorizados son {numbers}.',
    numbersOnNextPage: 'Los números figuran en el anexo A de la página siguiente, que forma parte de esta carta.',
    numbersAttached: [
      'Esta autorización comprende los {count} números del archivo adjunto {file} (véase adjunto).',
      'Comprende los {count} números del archivo adjunto {file}: primer número {first}, último número {last}.',
    ],
    range: 'Todos los números desde {first} hasta {last}',
    closing: ['Atentamente,', 'Le saluda atentamente,'],
    contact: 'Tel. {phone}',
    schedule: 'Anexo A: números de teléfono autorizados',
    tradingAs: ', con nombre comercial {dba},',
    electronically: 'Firmado electrónicamente por {name} el {date}',
    labels: {
      company: 'Razón social',
      dba: 'Nombre comercial',
      display: 'Nombre mostrado',
      address: 'Domicilio',
      signer: 'Firmante',
      title: 'Cargo',
      signature: 'Firma',
      date: 'Fecha',
      numbers: 'Números de teléfono',
      number: 'Número de teléfono',
      use: 'Uso',
      phone: 'Teléfono',
      from: 'De',
      to: 'Para',
      about: 'Asunto',
    },
    uses: ['Atención al cliente', 'Citas', 'Facturación', 'Centralita', 'Ventas'],
  },
};

/** A sentence with its placeholders filled; one without a fact is kept. */
export function fill(sentence: string, facts: Readonly<Record<string, string>>): string {
  return sentence.replace(/\{(\w+)\}/g, (place, name: string) => facts[name] ?? place);
}
