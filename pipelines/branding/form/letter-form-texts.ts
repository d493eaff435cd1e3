/** The texts of an issued form; `{...}` is replaced. */
const english = {
  title: 'Letter of authorization for branded calls',
  authorizes:
    '{legalName} authorizes the operator of this service, and the carriers that it supplies, to show the name below on calls from the telephone numbers below.',
  legalName: 'Legal name',
  dba: 'Doing business as',
  displayName: 'Name shown on calls',
  website: 'Website shown on calls',
  logo: 'Logo shown on calls (address)',
  logoSha256: 'SHA-256 of the logo',
  callReasons: 'Call reasons shown on calls',
  country: 'Country (ISO 3166-1)',
  taxId: 'Tax or registration number',
  address: 'Address',
  none: 'None',
  signerName: 'Name of the signer',
  signerTitle: 'Title of the signer',
  numbers: 'Telephone numbers',
  noNumbers: 'None: this letter is for the name alone.',
  listed: '{count} numbers, in the list that is handed in with this letter',
  firstNumber: 'First number',
  lastNumber: 'Last number',
  digest:
    'SHA-256 of the list: each number once in E.164 format, in ascending order, one per line, each followed by a line feed',
  declares:
    'The signer declares that they are authorized to sign for the company, and that the company holds these numbers.',
  validity: 'This authorization is valid for 12 months from the day of the signature, unless it is revoked earlier.',
  howToSign:
    'Sign this PDF in the field below with a certificate that names the signer and the company, and return the file unchanged by {until}. A printed or changed copy is checked by a person, which takes longer.',
  signature: 'Digital signature',
  footer: 'Form {version}, code {code}, issued on {issued}',
  page: 'Page {page} of {pages}',
};

/** The texts in one language. */
export type FormTexts = Readonly<Record<keyof typeof english, string>>;

/** The languages of the form, by ISO 639-1. A change of any text is a new version of the form. */
export const FORM_TEXTS = {
  en: english,
  de: {
    title: 'Ermächtigung zur Anzeige des Namens bei Anrufen',
    authorizes:
      '{legalName} ermächtigt den Betreiber dieses Dienstes und die von ihm belieferten Netzbetreiber, bei Anrufen von den unten genannten Rufnummern den unten genannten Namen anzuzeigen.',
    legalName: 'Firma',
    dba: 'Geschäftsbezeichnung',
    displayName: 'Angezeigter Name',
    website: 'Bei Anrufen gezeigte Website',
    logo: 'Bei Anrufen gezeigtes Logo (Adresse)',
    logoSha256: 'SHA-256 des Logos',
    callReasons: 'Bei Anrufen gezeigte Anrufgründe',
    country: 'Land (ISO 3166-1)',
    taxId: 'Steuer- oder Registernummer',
    address: 'Anschrift',
    none: 'Keine Angabe',
    signerName: 'Name der unterzeichnenden Person',
    signerTitle: 'Funktion der unterzeichnenden Person',
    numbers: 'Rufnummern',
    noNumbers: 'Keine: Diese Ermächtigung gilt nur für den Namen.',
    listed: '{count} Rufnummern in der Liste, die mit dieser Ermächtigung eingereicht wird',
    firstNumber: 'Erste Rufnummer',
    lastNumber: 'Letzte Rufnummer',
    digest:
      'SHA-256 der Liste: jede Rufnummer einmal im E.164-Format, aufsteigend sortiert, eine je Zeile, nach jeder ein Zeilenvorschub',
    declares:
      'Die unterzeichnende Person erklärt, dass sie für das Unternehmen zeichnungsberechtigt ist und dass diese Rufnummern dem Unternehmen zugeteilt sind.',
    validity: 'Diese Ermächtigung gilt 12 Monate ab dem Tag der Unterschrift, sofern sie nicht früher widerrufen wird.',
    howToSign:
      'Signieren Sie dieses PDF im Feld unten mit einem Zertifikat, das die unterzeichnende Person und das Unternehmen nennt, und senden Sie die Datei bis zum {until} unverändert zurück. Eine ausgedruckte oder geänderte Fassung wird von einer Person geprüft, was länger dauert.',
    signature: 'Digitale Signatur',
    footer: 'Formular {version}, Code {code}, ausgestellt am {issued}',
    page: 'Seite {page} von {pages}',
  },
  es: {
    title: 'Carta de autorización para mostrar el nombre en las llamadas',
    authorizes:
      '{legalName} autoriza al operador de este servicio, y a los operadores de telefonía a los que este presta servicio, a mostrar el nombre indicado más abajo en las llamadas realizadas desde los números de teléfono indicados más abajo.',
    legalName: 'Razón social',
    dba: 'Nombre comercial',
    displayName: 'Nombre visible en las llamadas',
    website: 'Sitio web visible en las llamadas',
    logo: 'Logotipo visible en las llamadas (dirección)',
    logoSha256: 'SHA-256 del logotipo',
    callReasons: 'Motivos visibles en las llamadas',
    country: 'País (ISO 3166-1)',
    taxId: 'Número fiscal o de registro',
    address: 'Dirección',
    none: 'Sin indicar',
    signerName: 'Nombre del firmante',
    signerTitle: 'Cargo del firmante',
    numbers: 'Números de teléfono',
    noNumbers: 'Ninguno: esta carta se refiere solo al nombre.',
    listed: '{count} números, en la lista que se presenta con esta carta',
    firstNumber: 'Primer número',
    lastNumber: 'Último número',
    digest:
      'SHA-256 de la lista: cada número una vez en formato E.164, en orden ascendente, uno por línea, con un salto de línea tras cada uno',
    declares:
      'El firmante declara que está facultado para firmar en nombre de la empresa y que la empresa es titular de estos números.',
    validity: 'Esta autorización es válida durante 12 meses a partir del día de la firma, salvo que se revoque antes.',
    howToSign:
      'Firme este PDF en el campo de abajo con un certificado en el que consten el firmante y la empresa, y devuelva el archivo sin cambios a más tardar el {until}. Las copias impresas o modificadas las revisa una persona, lo que lleva más tiempo.',
    signature: 'Firma digital',
    footer: 'Formulario {version}, código {code}, emitido el {issued}',
    page: 'Página {page} de {pages}',
  },
  fr: {
    title: 'Lettre d’autorisation d’affichage du nom lors des appels',
    authorizes:
      '{legalName} autorise l’exploitant de ce service, et les opérateurs téléphoniques qu’il dessert, à afficher le nom ci-dessous lors des appels émis depuis les numéros de téléphone ci-dessous.',
    legalName: 'Dénomination sociale',
    dba: 'Nom commercial',
    displayName: 'Nom affiché lors des appels',
    website: 'Site web affiché lors des appels',
    logo: 'Logo affiché lors des appels (adresse)',
    logoSha256: 'SHA-256 du logo',
    callReasons: 'Motifs affichés lors des appels',
    country: 'Pays (ISO 3166-1)',
    taxId: 'Numéro fiscal ou d’immatriculation',
    address: 'Adresse',
    none: 'Sans objet',
    signerName: 'Nom du signataire',
    signerTitle: 'Fonction du signataire',
    numbers: 'Numéros de téléphone',
    noNumbers: 'Aucun : cette lettre ne porte que sur le nom.',
    listed: '{count} numéros, dans la liste remise avec cette lettre',
    firstNumber: 'Premier numéro',
    lastNumber: 'Dernier numéro',
    digest:
      'SHA-256 de la liste : chaque numéro une fois au format E.164, en ordre croissant, un par ligne, un saut de ligne après chacun',
    declares:
      'Le signataire déclare qu’il est habilité à signer au nom de la société et que celle-ci est titulaire de ces numéros.',
    validity:
      'Cette autorisation est valable pendant 12 mois à compter du jour de la signature, sauf révocation antérieure.',
    howToSign:
      'Signez ce PDF dans le champ ci-dessous avec un certificat au nom du signataire et de la société, et renvoyez le fichier sans modification au plus tard le {until}. Une copie imprimée ou modifiée est vérifiée par une personne, ce qui prend plus de temps.',
    signature: 'Signature numérique',
    footer: 'Formulaire {version}, code {code}, émis le {issued}',
    page: 'Page {page} sur {pages}',
  },
  it: {
    title: 'Lettera di autorizzazione alla visualizzazione del nome nelle chiamate',
    authorizes:
      '{legalName} autorizza il gestore di questo servizio, e gli operatori telefonici ai quali questi fornisce il servizio, a mostrare il nome indicato di seguito nelle chiamate effettuate dai numeri di telefono indicati di seguito.',
    legalName: 'Ragione sociale',
    dba: 'Nome commerciale',
    displayName: 'Nome mostrato nelle chiamate',
    website: 'Sito web mostrato nelle chiamate',
    logo: 'Logo mostrato nelle chiamate (indirizzo)',
    logoSha256: 'SHA-256 del logo',
    callReasons: 'Motivi mostrati nelle chiamate',
    country: 'Paese (ISO 3166-1)',
    taxId: 'Numero fiscale o di registro',
    address: 'Indirizzo',
    none: 'Non indicato',
    signerName: 'Nome del firmatario',
    signerTitle: 'Carica del firmatario',
    numbers: 'Numeri di telefono',
    noNumbers: 'Nessuno: questa lettera riguarda solo il nome.',
    listed: '{count} numeri, nell’elenco consegnato con questa lettera',
    firstNumber: 'Primo numero',
    lastNumber: 'Ultimo numero',
    digest:
      'SHA-256 dell’elenco: ogni numero una volta in formato E.164, in ordine crescente, uno per riga, con un ritorno a capo dopo ciascuno',
    declares:
      'Il firmatario dichiara di essere autorizzato a firmare in nome della società e che la società è titolare di questi numeri.',
    validity: 'Questa autorizzazione è valida per 12 mesi dal giorno della firma, salvo revoca anticipata.',
    howToSign:
      'Firmare questo PDF nel campo sottostante con un certificato che indichi il firmatario e la società, e restituire il file senza modifiche entro il {until}. Una copia stampata o modificata viene controllata da una persona, il che richiede più tempo.',
    signature: 'Firma digitale',
    footer: 'Modulo {version}, codice {code}, emesso il {issued}',
    page: 'Pagina {page} di {pages}',
  },
  pt: {
    title: 'Carta de autorização para mostrar o nome nas chamadas',
    authorizes:
      '{legalName} autoriza o operador deste serviço, e as operadoras às quais este presta serviço, a mostrar o nome indicado abaixo nas chamadas feitas a partir dos números de telefone indicados abaixo.',
    legalName: 'Razão social',
    dba: 'Nome comercial',
    displayName: 'Nome mostrado nas chamadas',
    website: 'Sítio web mostrado nas chamadas',
    logo: 'Logótipo mostrado nas chamadas (endereço)',
    logoSha256: 'SHA-256 do logótipo',
    callReasons: 'Motivos mostrados nas chamadas',
    country: 'País (ISO 3166-1)',
    taxId: 'Número fiscal ou de registo',
    address: 'Endereço',
    none: 'Não indicado',
    signerName: 'Nome do signatário',
    signerTitle: 'Cargo do signatário',
    numbers: 'Números de telefone',
    noNumbers: 'Nenhum: esta carta refere-se apenas ao nome.',
    listed: '{count} números, na lista entregue com esta carta',
    firstNumber: 'Primeiro número',
    lastNumber: 'Último número',
    digest:
      'SHA-256 da lista: cada número uma vez no formato E.164, em ordem crescente, um por linha, com uma quebra de linha após cada um',
    declares:
      'O signatário declara que está habilitado a assinar em nome da empresa e que esta é titular destes números.',
    validity: 'Esta autorização é válida por 12 meses a contar do dia da assinatura, salvo revogação anterior.',
    howToSign:
      'Assine este PDF no campo abaixo com um certificado que identifique o signatário e a empresa, e devolva o documento sem alterações até {until}, inclusive. As cópias impressas ou alteradas são verificadas por uma pessoa, o que demora mais.',
    signature: 'Assinatura digital',
    footer: 'Formulário {version}, código {code}, emitido em {issued}',
    page: 'Página {page} de {pages}',
  },
} as const satisfies Record<string, FormTexts>;

/** A language that a form can be issued in. */
export type FormLanguage = keyof typeof FORM_TEXTS;

export const FORM_LANGUAGES = Object.keys(FORM_TEXTS) as FormLanguage[];
