import { makeExcerpt } from '../text-cleaning.ts';
import { daysBetween, findDates, roleOfDate, type DateInText, type DateRole } from './letter-dates.ts';
import { labelsOf, type LabelledValue } from './letter-labels.ts';
import { findNumbers, type FoundAttachment, type FoundPhone } from './letter-numbers.ts';
import type { LetterReading, Place } from './letter-reading.ts';
import { findSignature, findSigner, isVerified, signaturePlaces, type FoundSignature, type SignaturePlace, type Signer } from './letter-signer.ts';
import { foldSameLength, foundIn, lineIndexAt, placeOf, textOf, type FoundText, type LetterText, type TextLine } from './letter-text.ts';
import { compareNames, foldWords } from './name-match.ts';

export type { FoundText } from './letter-text.ts';
export type { FoundSignature } from './letter-signer.ts';
export type { FoundAttachment, FoundPhone } from './letter-numbers.ts';

/** A date of a letter. */
export interface FoundDate {
  /** YYYY-MM-DD. */
  readonly date: string;
  /** The other reading of an ambiguous 03/04/2026. */
  readonly alternative: string | null;
  /** `signing`: labelled as the signing date, or at the signature; `other`: labelled as something else; `unlabelled`. */
  readonly role: DateRole;
  readonly place: Place;
  readonly excerpt: string;
}

/** A name of a company or brand; `labelled` by a label, else by "doing business as" in a sentence. */
export interface FoundName extends FoundText {
  readonly labelled: boolean;
}

/** What was found in a letter. Nothing of it is judged yet. */
export interface LetterFields {
  /** "Letter of Authorization", or wording that authorizes. */
  readonly title: FoundText | null;
  /** What stands before the wording that authorizes in its sentence: who authorizes. */
  readonly authorizer: FoundText | null;
  /** Words that say what is authorized: brand, display name, caller name. */
  readonly purpose: FoundText | null;
  /** Words of another authorization: porting. */
  readonly otherPurpose: FoundText | null;
  /** Words that deny, limit or take back an authorization, or mark a draft, a form that is not filled in, or a signer who binds nobody. */
  readonly reservation: FoundText | null;
  readonly brandNames: readonly FoundName[];
  readonly legalName: FoundText | null;
  /** All labelled names of companies, the first of which is `legalName`. */
  readonly companyNames: readonly FoundText[];
  readonly address: FoundText | null;
  readonly signerName: FoundText | null;
  readonly signerTitle: FoundText | null;
  /** What may be meant where no name or title could be told. */
  readonly possibleSignerName: FoundText | null;
  readonly possibleSignerTitle: FoundText | null;
  readonly signingDate: FoundDate | null;
  readonly otherDates: readonly FoundDate[];
  /** When the letter ends by its own words: "valid until", "expires". A year without a day ends on its 31 December. */
  readonly endDates: readonly FoundDate[];
  readonly signature: FoundSignature;
  /** Listed for branding: in the text, in ranges, and in the CSV embedded in the PDF. */
  readonly phones: readonly FoundPhone[];
  /** On the letter, but not listed for branding. */
  readonly otherPhones: readonly FoundPhone[];
  readonly refusedRanges: readonly Place[];
  readonly attachment: FoundAttachment;
  readonly lines: number;
  /** Least mean confidence of a page that OCR read, 0 to 100, weighted by characters; null if all text is the PDF's own. */
  readonly confidence: number | null;
  /** False if the letter has more text or numbers than are read. */
  readonly complete: boolean;
}

/** What is known of the brand that helps to read its letter. */
export interface LetterHints {
  /** ISO 3166-1 alpha-2: the default of numbers without country, and the order of ambiguous dates. */
  readonly country: string;
  /** Legal name, DBA, display name. */
  readonly names: readonly string[];
}

/** Finds the fields of a letter. Never throws; time grows with the length of the text, which is limited. */
export function extractFields(reading: LetterReading, hints: LetterHints): LetterFields {
  const letter = textOf(reading);
  const dates = findDates(letter.text, hints.country);
  const labels = labelsOf(letter, hints.country);
  const places = signaturePlaces(letter, labels);
  const signer = findSigner(letter, labels, hints.names);
  const signature = findSignature(reading, letter, { places, signer, names: hints.names });
  const numbers = findNumbers(reading, letter, dates, hints.country);
  const companyNames = companiesOf(letter, labels);
  return {
    ...wordingOf(letter),
    reservation: reservationOf(letter, signer, hints.names),
    brandNames: brandsOf(letter, labels, hints.names),
    legalName: companyNames[0] ?? null,
    companyNames,
    address: addressOf(letter, labels),
    signerName: signer.name,
    signerTitle: signer.title,
    possibleSignerName: signer.possibleName,
    possibleSignerTitle: signer.possibleTitle,
    ...datesOf({ reading, letter, dates, labels, places, signature, signerName: signer.name }),
    endDates: endDatesOf(letter, dates),
    signature,
    phones: numbers.phones,
    otherPhones: numbers.otherPhones,
    refusedRanges: numbers.refusedRanges,
    attachment: numbers.attachment,
    lines: reading.pages.reduce((sum, { lines }) => sum + lines.length, 0),
    confidence: leastConfidence(reading),
    complete: letter.complete && numbers.complete,
  };
}

const titleWording = new RegExp([
  String.raw`(?<=^|\n)\W{0,10}(?:[a-z ]{0,30} )?(?:letter of (?:authori[sz]ation|agency)|authori[sz]ation letter|loa|carta de autoriza(?:cion|cao)`,
  String.raw`|lettre d['’]autorisation|vollmacht|ermachtigung(?:sschreiben)?|bevollmachtigung|autorisierung(?:sschreiben)?|lettera di autorizzazione`,
  String.raw`|delega)(?: (?:for|form|to|fur|para|pour|per|\()[^\n]{0,60})?[^a-z\n]{0,10}(?=\n|$)`,
].join(''));
const authorizingWording = new RegExp([
  String.raw`(?<![a-z])(?:(?:hereby |do |duly )?(?:authori[sz](?:e|es|ing)|grants? (?:[a-z ]{0,40} )?(?:permission|authori(?:ty|[sz]ation)|consent|the right)`,
  String.raw`|gives? (?:[a-z ]{0,40} )?(?:permission|authori(?:ty|[sz]ation)|consent)|consents? to|permits?)|autoriza(?:mos)?|permite|permet|donn(?:e`,
  String.raw`|ons) (?:[a-z ]{0,40} )?l['’]autorisation|erlaub(?:t|en)|autoris(?:e|ons|ent)|(?:ermachtig|bevollmachtig|autorisier)(?:t|en|e)|autorizz(?:a|o|iamo)`,
  String.raw`|autorizo)(?![a-z])`,
].join(''));
const brandingWording = new RegExp([
  String.raw`(?<![a-z])(?:brand(?:s|ed|ing)?|display(?:s|ed|ing)?|caller ?(?:id|name)|call(?:er)? identification|cnam|rich call data|rcd|logo|call reasons?`,
  String.raw`|reputation|marca|mostrar|afficher|affichage|marque|anzeig\w+|anruferkennung|marken\w*|exibi\w+|identifica\w+|visualizza\w*|marchio)(?![a-z])`,
].join(''));
const portingWording = new RegExp([
  String.raw`(?<![a-z])(?:port(?:ing|ed)? (?:of |out |in |my |our |the |these )?(?:the |following |telephone |phone )*numbers?|number port\w*|porting|port-?(?:in`,
  String.raw`|out)|resp ?org|winning carrier|losing carrier|change (?:of )?carrier|switch (?:my|our) (?:carrier|provider)|portabilidad|portabilite`,
  String.raw`|rufnummernmitnahme|portabilidade|portabilita)(?![a-z])`,
].join(''));
/** Any spaces between two words, as wrapping and columns leave them. */
function wording(...alternatives: readonly string[]): RegExp {
  return new RegExp(`(?<![a-z])(?:${alternatives.join('|').replaceAll(' ', ' +')})(?![a-z])`, 'g');
}

const words = (max: number) => String.raw`(?:[\w'’,()-]+ ){0,${max}}`;
const takesBack = String.raw`(?:revo[ckgq]\w*|revocation|widerruf\w*|withdr[ae]w\w*|rescind\w*|rescission|cancel\w*|terminat\w*)`;

/**
 * What honest letters say of an end that has not come, and of calls that are not theirs: "until revoked", "unless we revoke
 * it in writing", "we may withdraw it at any time", "sauf révocation écrite", "so that our calls are not marked as spam".
 */
const honestWording = wording(
  String.raw`(?:until|unless|till)(?: (?:we|it|i|this|that|the|is|are|has|have|been|be|and|expressly|otherwise|sooner|earlier|authori[sz]ation|letter|consent|permission|either|party|you|such|time|as|or|in|writing`
    + String.raw`|expires?|company|customer|undersigned|notice|of|written)){0,9} ${takesBack}`,
  String.raw`(?:may|can|right to|entitled to|free to|option to|puede|podemos|podra|podremos|derecho a|pouvons|peut|pourra|pourrons|droit de|kann|konnen|jederzeit|podemos|pode|podera|poderemos|direito de|puo|possiamo|potra|potremo`
    + String.raw`|diritto di|salvo|hasta|sauf|jusqu['’]a|sofern|soweit|solange|bis|vorbehaltlich|caso|ate|fino a|fino alla|finche)(?: (?!has|have|had|was|were|since|hereby|hat|haben|wurde|ete|sido|stata?)[\w'’,-]+){0,5} ${takesBack}`,
  String.raw`(?:notice|receipt|right|prior notice|event|case) of ${takesBack}`, String.raw`revocation (?:must|shall|will|takes|notice|by|in writing)\w*`, 'unless (?:otherwise|renewed|extended)', 'revocable|revocavel|revocabile|widerruflich',
  String.raw`subject to (?:all |any |the |our )*(?:applicable |relevant )*(?:laws?|regulations?|rules)`, String.raw`(?:prohibited|forbidden) by (?:the |any )?(?:applicable )?(?:laws?|regulations?)`,
  String.raw`(?:prevent\w*|avoid\w*|reduc\w+|stop\w*|protect\w*|fight\w*|combat\w*|against|distinguish\w*|not|wrongly|mistakenly|incorrectly|instead of|rather than|or) ${words(8)}(?:spam|scams?|fraud\w*|spoof\w*|fake|impersonat\w*|block\w*)`,
);
const authorizes = String.raw`(?:authori[sz]\w*|permit(?:s|ted)?|grant\w*|allow(?:s|ed)?|consents?|approv\w+)`;
const permission = '(?:authori[sz]ations?|letters?|permissions?|consents?|loa|approvals?|mandates?)';
const negation = '(?:not|never|neither|nor|nothing|nobody|no one|none|cannot|no longer|don[\'’]t|doesn[\'’]t|didn[\'’]t|isn[\'’]t|hasn[\'’]t)';
/** Words that deny, limit or take back what the letter authorizes, or say that it is not meant. In doubt a person reads it. */
const reservationWordings: readonly RegExp[] = [
  wording( // denied
    String.raw`${negation} ${words(6)}(?:${authorizes}|valid|effective|binding|executed|signed|real|genuine|in force|in effect|any effect|given|issued|obtained)`, String.raw`(?:refus\w+|declin\w+) to ${authorizes}`,
    'unauthori[sz]ed to', String.raw`den(?:y|ies|ied) ${words(3)}${permission}`, 'prohibits?|prohibited|prohibiting|forbids?|forbidden|disallows?|disallowed', '(?:who|which|that|we|and) objects?|objects? to|objected|objections? to',
    String.raw`(?:consider\w*|whether|intends?|intending|plan(?:s|ning)|propos\w*|would|might|could|if) ${words(4)}authori[sz](?:e|es|ing)`, 'no (?:legal )?(?:authority|power|right) (?:to|of)',
    String.raw`without (?:(?:her|his|their|the|our|my|its|any|legal|proper) ){0,3}(?:knowledge|authority)|without (?:her|his|their) (?:consent|permission|approval|authori[sz]ation)`,
    String.raw`block(?:s|ing)? (?:(?:of|the|all|any|our|its|these|such|following) ){0,4}(?:calls?|numbers?|brands?)`, String.raw`(?:mark|label|flag|tag|treat|report)\w* ${words(5)}(?:spam|scams?|fraud\w*)`,
    String.raw`(?:is|are|was|were) (?:an? )?(?:spam|scams?|fraud\w*|forg\w+|fake|stolen|falsified)`, 'forged|forgery|counterfeit|falsified|fake (?:letter|document|authori[sz]ation)', String.raw`reject (?:it|this|the)|(?:disregard|ignore) (?:it|this|the)`,
    String.raw`competitors?|(?<!we |they |i )do not (?:brand|use|display|show|register|process|approve|rely|accept)`,
  ),
  wording( // conditional
    String.raw`subject to|contingent (?:up)?on|conditional (?:up)?on|conditioned on|on (?:the )?condition|provided that|only (?:if|when|once|after|upon)|unless|awaiting`, String.raw`pending(?! (?:orders?|payments?|appointments?|claims?|requests?|invoices?))`,
    String.raw`sujet[oa]s? a(?! (?:la |las )?ley)|siempre que|a menos que|condicionad[oa]s?|pendientes? de`, String.raw`sous reserve|a condition|a moins que|soumise? a(?! (?:la )?loi)|en attente de`,
    String.raw`vorbehaltlich|unter (?:der |dem )?(?:bedingung|vorbehalt)|nur (?:wenn|falls|nach|mit zustimmung)|erst (?:wenn|nach)|es sei denn|steht noch aus|ausstehend\w*`,
    String.raw`sujeit[oa]s? a(?! lei)|desde que|a menos que|condicionad[oa]s?|pendente de`, String.raw`subordinat[oa] a|soggett[oa] a(?! legge)|a condizione|purche|a meno che|in attesa di`,
  ),
  wording( // ended or taken back
    String.raw`revo[ckgq]\w*|rescind\w*|rescission|widerruf\w*`, String.raw`(?:hereby )?(?:withdr[ae]w\w*|cancel\w*|terminat\w*|suspend\w*|annul\w*|supersed(?:ed)) ${words(6)}${permission}`,
    String.raw`${permission} ${words(6)}(?:withdrawn|cancel\w*|terminated|suspended|annulled|superseded|lapsed|expired|ended|ceased|invalid|void)`, 'hereby (?:withdraw|cancel|terminate)s?', 'no longer (?:authori[sz]\\w*|valid|effective|in force|in effect|applies|apply)',
    String.raw`expired|null and void|no (?:legal )?(?:effect|force|validity)|without (?:legal )?(?:effect|force|validity)|non-binding|void (?:if|unless|until|after|ab)|(?:is|are|be|becomes?|declared) (?:invalid|void|ineffective|inoperative)`,
    String.raw`sin (?:efecto|validez|valor|vigor|autorizacion|su conocimiento)|(?:autorizacion|carta|permiso) ${words(6)}(?:vencid[oa]|vencio|expirad[oa]|expiro|caducad[oa]|caduco|cancelad[oa]|anulad[oa]|retirad[oa])|nul[oa] y sin`,
    String.raw`sans (?:effet|valeur|validite|autorisation)|expiree|perimee?|caduque|nulle?s? et (?:non avenue?|sans effet)|(?:autorisation|lettre) ${words(5)}(?:annulee?|retiree?|suspendue?|echue)|a expire`,
    String.raw`abgelaufen\w*|erloschen\w*|ungultig\w*|unwirksam\w*|null und nichtig|(?:vollmacht|genehmigung|erlaubnis) ${words(5)}(?:zuruckgezogen|aufgehoben|beendet|ausgesetzt)|ohne (?:wirkung|gultigkeit|sein wissen|ihr wissen)`,
    String.raw`sem (?:efeito|validade|valor|autorizacao|seu conhecimento)|(?:autorizacao|carta) ${words(5)}(?:expirou|venceu|expirad[oa]|vencid[oa]|cancelad[oa]|anulad[oa]|caducou)|nul[oa] e sem`,
    String.raw`senza (?:effetto|valore|validita|efficacia|autorizzazione)|scadut[oa]|(?:autorizzazione|lettera) ${words(5)}(?:annullat[oa]|ritirat[oa]|sospes[oa])|null[oa] e priv[oa]`,
  ),
  wording( // denied, in other languages
    String.raw`(?:no|nunca|jamas|nada|ningun\w*) ${words(5)}(?:autori[cz]\w*|permit\w*|consient\w*|concede\w*|valid[oa]|vigente|vinculante|firmad[oa]|efecto)`, String.raw`prohib\w+|proib\w+|falsificad[oa]|simulacro|estudia\w* si|considera\w* (?:si|autorizar)`,
    String.raw`(?:ne|jamais|rien|aucune?) ${words(5)}(?:autoris\w*|permet\w*|consent\w*|vaut|effet|valeur|valable|valide|signee?)|n['’](?:autoris\w*|est ${words(3)}(?:valable|valide|signee?|autorise\w*)|a ${words(3)}(?:effet|valeur|autorise))`,
    String.raw`interdi\w+|contrefaite?|falsifiee?|envisage\w* d['’]autoris\w*|etudie\w* si`,
    String.raw`(?:nicht|nie|niemals|nichts|keine?\w{0,2}) ${words(6)}(?:ermachtig\w*|bevollmachtig\w*|autorisier\w*|erlaub\w*|gestatt\w*|genehmig\w*|gultig\w*|wirksam\w*|unterschrieben|unterzeichnet|erteilt|verbindlich|vollmacht)`,
    String.raw`(?:ermachtig|bevollmachtig|autorisier|erlaub|gestatt)\w* [^.;:]{0,60}(?:nicht|niemals|keines\w*)|untersag\w*|verbiet\w*|verboten|gefalscht\w*|falschung|(?:erwagt?|erwagen|pruft|prufen),? ob`,
    String.raw`(?:nao|nunca|jamais|nada|nenhum\w*) ${words(5)}(?:autori[sz]\w*|permit\w*|concede\w*|valid[oa]|efeito|vigor|assinad[oa])`,
    String.raw`(?:non|mai|niente|nulla|nessun\w*) ${words(5)}(?:autorizz\w*|permett\w*|consent\w*|concede\w*|valid[oa]|effett\w*|firmat[oa])|viet\w+|contraffatt[oa]`,
  ),
  wording( // not meant
    'lorem ipsum', String.raw`for illustration|discussion (?:purposes?|only|draft)|(?:training|test|testing|demonstration|demo|discussion|illustration|illustrative|educational|review|reference) (?:purposes? )?only|(?:training|testing|test|demonstration) (?:purposes|exercise)`,
    'not for (?:execution|use|release|distribution|signature|publication)|hypothetical|fictitious|fictional|unsigned|for review only', String.raw`draft (?:v\.?\d\w*|version|copy|only|for|of|letter|not|no)|(?:is|a|in|as|still|first|working|preliminary) draft`,
    String.raw`(?:solo|unicamente|exclusivamente) (?:para|con fines de) (?:discusion|prueba|pruebas|formacion)|ejercicio de (?:formacion|capacitacion)|es un borrador|borrador (?:para|de|v\d)`, String.raw`projet de lettre|exercice de (?:formation|simulation)|a (?:des )?fins de (?:discussion|test|formation)|brouillon`,
    String.raw`entwurf\w*|diskussionsentwurf|(?:ubungs|schulungs|test|diskussions)zwecke\w*|nur zur (?:ansicht|diskussion|probe)`, String.raw`rascunho|minuta (?:para|de)|exercicio de (?:formacao|treinamento)|apenas para (?:discussao|teste)`, String.raw`bozza|esercitazione|solo a (?:fini|scopo) di (?:discussione|prova|test)`,
  ),
];
const placeholderField = new RegExp([
  String.raw`[[<{](?:your |insert |enter |company |legal |business |brand |signer'?s? |full |customer |phone |date|name|title|address)[a-z /'-]{0,40}[\]>}]`,
].join(''), 'g');
const draftMark = /(?<=^|\n)\W{0,6}(?:sample|specimen|draft|template|void|example|muster|entwurf|borrador|brouillon|rascunho|bozza)\W{0,6}(?=\n|$)/;
/** Whose the numbers are said to be: fine for the brand itself, not for anybody else. */
const ownerWording = wording(
  String.raw`(?:owned|held) by|belong(?:s|ing)? to|(?:the )?property of|on behalf of another|propiedad de|pertenecen? a|appartien\w+ a|propriete de|gehor(?:t|en)|eigentum (?:der|des|von)|pertencem? a|propriedade de|appartengono a|proprieta di`,
);
const ownerItself = /^[\s:(]*(?:(?:to )?(?:us|me|our(?:selves)?(?! (?:competitor|rival|former))|my|the (?:company|undersigned|customer|subscriber|business|brand)|it|itself|nosotros|nuestra|nous|notre|uns|unserem?r?|nossa|noi|nostra)(?![a-z])|$)/;
/** Titles that bind no company. */
const titleWithoutAuthority = wording(
  String.raw`former|formerly|ex|retired|past|ousted|interns?|trainee|apprentice|student|volunteer|no authority|without authority|not authori[sz]ed|pending|suspended|dismissed|on leave|deceased|until`,
  String.raw`antigu[oa]|becari[oa]|ancienne?|stagiaire|ehemalig\w*|praktikant\w*|auszubildende\w*|werkstudent\w*|estagiari[oa]|antig[oa]|tirocinante|stagista`, 'sin poder|sans pouvoir|ohne vertretungsmacht|sem poderes|senza poteri',
);

/** The words that make it an authorization. */
function wordingOf(letter: LetterText): Pick<LetterFields, 'title' | 'authorizer' | 'purpose' | 'otherPurpose'> {
  const find = (searched: RegExp) => findWording(letter, letter.flat, searched);
  const findLine = (searched: RegExp) => findWording(letter, letter.folded, searched);
  return {
    title: find(authorizingWording) ?? findLine(titleWording),
    authorizer: authorizerOf(letter),
    purpose: find(brandingWording),
    otherPurpose: find(portingWording),
  };
}

/** The words that make it none, or that of somebody who cannot give one. */
function reservationOf(letter: LetterText, { title }: Signer, names: readonly string[]): FoundText | null {
  const flat = letter.flat.replace(honestWording, (honest) => '.'.repeat(honest.length));
  for (const searched of [...reservationWordings, placeholderField]) {
    const found = findWording(letter, flat, searched);
    if (found !== null) return found;
  }
  return findWording(letter, letter.folded, draftMark) ?? strangeOwner(letter, names) ?? (title !== null && foldSameLength(title.value).search(titleWithoutAuthority) !== -1 ? title : null);
}

/** "owned by Bravo LLC", where the letter is of Acme. */
function strangeOwner(letter: LetterText, names: readonly string[]): FoundText | null {
  const match = [...letter.flat.matchAll(ownerWording)].find((each) => {
    const after = letter.text.slice(each.index + each[0].length, each.index + each[0].length + nameCharactersMax).replaceAll('\n', ' ');
    if (ownerItself.test(foldSameLength(after))) return false;
    const name = nameAtStart(after.replace(/^\s*(?:the|la|le|der|die|das|a|o|il)\s/i, ''), names);
    return name === null || !names.some((own) => compareNames(name, own) === 'same');
  });
  return match === undefined ? null : foundIn(letter.lines[lineIndexAt(letter, match.index)]!, match[0]);
}

/** A line of this length is likely to be continued by the next. */
const fullLineCharacters = 60;
const sentenceEnd = /(?<!(?:^|[^a-z])(?:inc|corp|ltd|co|llc|sa|no|st|mr|mrs|ms|dr|[a-z]))[.!?;:]\s/g;

/** The words before the wording that authorizes, from the start of its sentence on; at most two lines. */
function authorizerOf(letter: LetterText): FoundText | null {
  const match = authorizingWording.exec(letter.flat);
  if (match === null) return null;
  const at = lineIndexAt(letter, match.index);
  const line = letter.lines[at]!;
  const above = letter.lines[at - 1];
  const from = above !== undefined && above.text.length >= fullLineCharacters ? above.start : line.start;
  const before = letter.text.slice(from, match.index).replaceAll('\n', ' ');
  const end = [...foldSameLength(before).matchAll(sentenceEnd)].at(-1);
  const value = before.slice(end === undefined ? 0 : end.index + 1).trim();
  return value === '' ? null : foundIn(line, value);
}

function findWording(letter: LetterText, text: string, searched: RegExp): FoundText | null {
  searched.lastIndex = 0; // of a global one, which goes on where it found something before
  const match = searched.exec(text);
  if (match === null) return null;
  const start = match.index + (/^[^\p{L}\p{N}[<{]*/u.exec(match[0])?.[0].length ?? 0);
  return foundIn(letter.lines[lineIndexAt(letter, start)]!, letter.text.slice(start, match.index + match[0].length).trim());
}

const doingBusiness = new RegExp([
  String.raw`(?<![a-z])(?:doing business as|d ?\/ ?b ?\/ ?a|d\.b\.a\.?|dba|trading as|t\/a|operating as|que opera como|conocida como|exercant sous le nom`,
  String.raw`|firmierend als|handelnd unter|nome fantasia)(?:\s{0,2}\((?:dba|d\/b\/a)\))?\s{0,3}:?\s{0,3}`,
].join(''));

function companiesOf(letter: LetterText, labels: readonly LabelledValue[]): readonly FoundText[] {
  return labels.filter(({ kind, value }) => kind === 'legal' && value !== '').map((label) => {
    const cut = doingBusiness.exec(foldSameLength(label.value));
    return foundIn(letter.lines[label.lineIndex]!, tidyName(cut === null ? label.value : label.value.slice(0, cut.index)));
  }).filter(({ value }) => foldWords(value).length > 0);
}

/** Names with a label, and names after "doing business as". */
function brandsOf(letter: LetterText, labels: readonly LabelledValue[], names: readonly string[]): readonly FoundName[] {
  const labelled = labels.filter(({ kind, value }) => kind === 'brand' && value !== '')
    .map((label) => ({ ...foundIn(letter.lines[label.lineIndex]!, tidyName(label.value)), labelled: true }));
  const seen = new Set(labelled.map(({ value }) => foldWords(value).join(' ')));
  const inText = [...letter.flat.matchAll(new RegExp(doingBusiness, 'g'))].slice(0, namesMax).flatMap((match) => {
    const start = match.index + match[0].length;
    const value = nameAtStart(letter.text.slice(start, start + nameCharactersMax), names);
    if (value === null || seen.has(foldWords(value).join(' '))) return [];
    return [{ ...foundIn(letter.lines[lineIndexAt(letter, match.index)]!, value), labelled: false }];
  });
  return [...labelled, ...inText, ...displayedNames(letter, names).filter(({ value }) => !seen.has(foldWords(value).join(' ')))];
}

/** Announces the name that calls show: "display the name", "show ... as", "afficher le nom", "den Namen ... anzeigen". */
const displayWording = wording(
  String.raw`(?:display|show|present)(?:s|ing|ed)? (?:the|its|our|their|my|your) (?:(?:brand|display|caller|id|company|business|trade|trading|calling) ){0,3}names?(?: of)?(?: is| as|:)?`, String.raw`(?<=to )(?:display|show|present)|(?:display|show|present)(?:s|ing|ed)?(?= ?["“«„])`,
  String.raw`(?:appear|shown?|displayed|branded|branding|identif(?:y|ied)|presented|registered)(?: on calls| themselves)? as|(?:under|with|by) the (?:brand |display |caller )?names?(?: of)?`,
  String.raw`(?:mostrar|muestre|exhibir) (?:(?:el|su|nuestro|la|nuestra) )?(?:nombre|marca)(?: comercial)?(?: de)?`, String.raw`affich\w+ (?:(?:le|son|notre|la) )?(?:nom|marque)(?: commercial)?(?: de)?`,
  String.raw`den (?:marken|anzeige|handels)?namen`, String.raw`exibi\w+ (?:(?:o|seu|nosso|a) )?(?:nome|marca)(?: comercial)?(?: de| da)?`, String.raw`(?:visualizza\w*|mostra\w*) (?:(?:il|suo|nostro) )?(?:nome|marchio)(?: commerciale)?(?: di)?`,
);
/** Capitalized words of forms that are no name. */
const genericNameWords = new Set('caller call calls id name names brand brands branded calling display company business logo legal the our its your rcd cnam reason reasons of and authorized telephone phone numbers number on for'.split(' '));
const furtherName = /^["“”'’»\s]{0,3}(?:,\s)?(?:and|or|und|oder|et|ou|y|o|e)\s(?:the\s(?:name\s)?)?(?=["“«„]|\p{Lu})/u;

/** The names that the letter wants to be shown; more than one if "and" stands between. */
function displayedNames(letter: LetterText, names: readonly string[]): readonly FoundName[] {
  return [...letter.flat.matchAll(displayWording)].slice(0, namesMax).flatMap((match) => {
    const from = match.index + match[0].length;
    let rest = letter.text.slice(from, from + displayedCharactersMax).replaceAll('\n', ' ');
    const found: FoundName[] = [];
    for (let value = displayedAtStart(rest, names); value !== null; value = displayedAtStart(rest, names)) {
      found.push({ ...foundIn(letter.lines[lineIndexAt(letter, match.index)]!, value), labelled: false });
      rest = rest.slice(rest.indexOf(value) + value.length);
      const further = furtherName.exec(rest);
      if (further === null) break;
      rest = rest.slice(further[0].length);
    }
    return found.filter(({ value }) => !foldWords(value).every((word) => genericNameWords.has(word)));
  });
}

const displayedCharactersMax = 300;
const quotedName = /^["“«„]\s?([^"“”«»„]{2,80}?)\s?["“”»]/;

/** A name at the start of a text: quoted, one of the brand's, or words with a capital. */
function displayedAtStart(text: string, names: readonly string[]): string | null {
  const start = text.replace(/^[\s:,]{1,3}(?!\s)/, '');
  return quotedName.exec(start)?.[1] ?? nameAtStart(start, names);
}

const namesMax = 50;
const nameCharactersMax = 100;

/** One of the brand's names, if the text begins with it and it does not go on, else its leading words with a capital. */
function nameAtStart(text: string, names: readonly string[]): string | null {
  const start = text.replace(/^["“”'‘«„(\s]+/, '');
  for (const name of names) {
    const value = start.slice(0, name.length);
    if (compareNames(value, name) === 'same' && !/^[\p{L}\p{N}]|^ (?:& )?\p{Lu}/u.test(start.slice(name.length))) return value.replace(/\n/g, ' ');
  }
  const capitalized = /^\p{Lu}[^\s,;:()"”»]*(?: (?:and |of |the |& |de |del |la )?[\p{Lu}\p{N}][^\s,;:()"”»]*)*/u.exec(start);
  return capitalized === null ? null : tidyName(capitalized[0]);
}

function tidyName(value: string): string {
  return value.replace(/^["“”'‘’«\s(]+|["“”'‘’»\s),;]+$/g, '').trim();
}

const street = new RegExp([
  String.raw`\d{1,6}[a-z]?,? [\p{L} .'-]{2,40}(?:street|st|avenue|ave|road|rd|boulevard|blvd|lane|ln|drive|dr|way|court|ct|place|pl|square|parkway|pkwy|highway|hwy`,
  String.raw`|suite|floor|terrace|close)(?![a-z])|(?:calle|avenida|avda|paseo|plaza|rue|boulevard|rua|via|viale|piazza|corso|platz)\.? [\p{L} .'-]{2,40},? ?\d`,
  String.raw`|\p{L}{3,30}(?:str\.|straße|strasse|weg|gasse|allee|platz) ?\d|p\.? ?o\.? box \d`,
].join(''), 'u');
const postalCode = /(?:[a-z]{2},? \d{5}(?:-\d{4})?(?!\d))|(?:(?<!\d)\d{4,5} \p{L}{3})|(?:[a-z]{1,2}\d[a-z\d]? ?\d[a-z]{2}(?![a-z]))/u;

function addressOf(letter: LetterText, labels: readonly LabelledValue[]): FoundText | null {
  const labelled = labels.find(({ kind, value }) => kind === 'address' && value !== '');
  if (labelled !== undefined) return foundIn(letter.lines[labelled.lineIndex]!, labelled.value);
  const line = letter.lines.find(({ folded }) => street.test(folded.slice(0, addressCharactersMax)))
    ?? letter.lines.find(({ folded }) => folded.length < 80 && postalCode.test(folded));
  return line === undefined ? null : foundIn(line, line.text.trim());
}

const addressCharactersMax = 300;

interface DateSearch {
  readonly reading: LetterReading;
  readonly letter: LetterText;
  readonly dates: readonly DateInText[];
  readonly labels: readonly LabelledValue[];
  readonly places: readonly SignaturePlace[];
  readonly signature: FoundSignature;
  readonly signerName: FoundText | null;
}

interface DateCandidate {
  readonly found: FoundDate;
  /** Smaller is better: labelled at the signature, at the signature, labelled elsewhere; null: not a signing date. */
  readonly rank: number | null;
  readonly distance: number;
  /** Nothing else stands in its line but a place, as in "Paris, 3 March 2026". */
  readonly alone: boolean;
}

/**
 * The signing date is labelled so or stands at the signature; without one, a verified PDF signature's own date is, or the
 * date of the letter: the only one in it, alone in its line.
 */
function datesOf(search: DateSearch): Pick<LetterFields, 'signingDate' | 'otherDates'> {
  const candidates = candidatesOf(search);
  const best = candidates.filter(({ rank }) => rank !== null).sort((a, b) => a.rank! - b.rank! || a.distance - b.distance)[0];
  const ofLetter = best === undefined ? dateOfLetter(candidates) : undefined;
  const signingDate = best?.found ?? dateOfPdfSignature(search.reading) ?? (ofLetter === undefined ? null : { ...ofLetter.found, role: 'signing' });
  const used = best ?? (signingDate?.place === ofLetter?.found.place ? ofLetter : undefined);
  return { signingDate, otherDates: candidates.filter((candidate) => candidate !== used).map(({ found }) => found) };
}

const endWords = String.raw`(?:expir\w*|until|till|through|thru|ends?|ended|ending|terminat\w*|no later than|up to|vence\w*|vencimiento|vigente hasta|hasta|caduca\w*|jusqu\w*|echeance|expire\w*|bis|ablauf\w*|endet\w*`
  + String.raw`|ate|validade|vencimento|scade\w*|scadenza|fino|termina)`;
/** In the line of the date, or at the end of the one before, unless the date has a label of its own. */
const endBefore = new RegExp(`(?:^|[^a-z])${endWords}(?![a-z])\\.?[^.;\\n\\d]{0,40}(?:\\n(?! *(?:date|signed|executed|fecha|firmad|fait|signe|datum|unter|data|firmat|assinad|luogo|local))[^.;:\\n\\d]{0,30})?$`);
/** `March 1, 2025 to March 1, 2026`: what stands between two dates. */
const betweenDates = /^\s*(?:,\s)?(?:to|until|through|thru|-|\u2013|al?|au|bis(?: zum)?|ate|hasta(?: el)?|fino al)\s*(?:the\s|el\s|le\s|il\s|den\s)?$/;
/** `until 2021`; not the last digits of a range of numbers, `555 1000 through 1999`. */
const endYear = new RegExp(`(?<![a-z])(?<!\\d[ ).-]{0,2}\\d{4} {0,3})${endWords}(?![a-z])(?<between>[^.;\\d]{0,40})(?<year>(?:19|20)\\d{2})(?![\\d/.-]\\d|\\d)`, 'g');
const endContextCharacters = 80;

/** Dates at which the letter ends, whatever else they are. */
function endDatesOf(letter: LetterText, dates: readonly DateInText[]): readonly FoundDate[] {
  const found = dates.filter((_, at) => isEnd(letter, dates, at));
  const years = [...letter.flat.matchAll(endYear)].filter((match) => !dates.some(({ start, end }) => start < match.index + match[0].length && end > match.index));
  return [
    ...found.map(({ date, alternative, start }): FoundDate => ({ date, alternative, ...dateSeenAt(letter, start) })),
    ...years.map((match): FoundDate => ({ date: `${match.groups!.year!}-12-31`, alternative: null, ...dateSeenAt(letter, match.index) })),
  ];
}

function isEnd({ folded }: LetterText, dates: readonly DateInText[], at: number): boolean {
  const [start, previous] = [dates[at]!.start, dates[at - 1]?.end ?? 0];
  const between = folded.slice(Math.max(previous, start - endContextCharacters), start);
  return endBefore.test(between) || (at > 0 && start - previous < endContextCharacters && betweenDates.test(between));
}

function dateSeenAt(letter: LetterText, offset: number): Pick<FoundDate, 'role' | 'place' | 'excerpt'> {
  const line = letter.lines[lineIndexAt(letter, offset)]!;
  return { role: 'other', place: placeOf(line), excerpt: makeExcerpt(line.text) };
}

/** Of several dates without a label none is known to be that of the letter. */
function dateOfLetter(candidates: readonly DateCandidate[]): DateCandidate | undefined {
  const [only, ...others] = candidates.filter(({ found }) => found.role === 'unlabelled');
  return others.length === 0 && only?.alone === true ? only : undefined;
}

function candidatesOf({ letter, dates, labels, places, signature, signerName }: DateSearch): readonly DateCandidate[] {
  const anchors = anchorsOf(letter, { places, signature, signerName });
  const labelledLines = labels.filter(({ kind, value }) => kind === 'date' && value !== '');
  let before = 0;
  return dates.map((date, at) => {
    const lineIndex = lineIndexAt(letter, date.start);
    const line = letter.lines[lineIndex]!;
    const context = letter.folded.slice(Math.max(before, line.start, date.start - 80), date.start);
    before = date.end;
    const wrapped = context.trim() === '' && lineIndex > 0 ? `${letter.lines[lineIndex - 1]!.folded.slice(-80)} ` : context;
    const direct = roleOfDate(context, letter.folded.slice(date.end, Math.min(date.end + 40, line.start + line.text.length)));
    const overWrap = roleOfDate(wrapped, '');
    const byLabel = labelledLines.some((label) => label.lineIndex === lineIndex && isWithin(date.start - line.start, label));
    const role = isEnd(letter, dates, at) ? 'other' : direct !== 'unlabelled' ? direct : byLabel ? 'signing' : overWrap;
    const distance = Math.min(...anchors.map((anchor) => distanceBetween(letter, anchor, lineIndex)), Number.POSITIVE_INFINITY);
    return candidateOf({ date, line, role, distance });
  });
}

/** True for an offset in a line that is in the value of a label, or two characters before it. */
function isWithin(offset: number, { start, value }: LabelledValue): boolean {
  return offset >= start - 2 && offset <= start + value.length;
}

/** How far from the signature its date may stand. */
const signatureLines = 5;

function candidateOf({ date, line, role, distance }: { date: DateInText; line: TextLine; role: DateRole; distance: number }): DateCandidate {
  const atSignature = distance <= signatureLines && (role === 'signing' || isShort(line));
  const rank = role === 'other' ? null : role === 'signing' ? (atSignature ? 0 : 2) : atSignature ? 1 : null;
  const found = { date: date.date, alternative: date.alternative, role: rank === null ? role : 'signing', place: placeOf(line), excerpt: makeExcerpt(line.text) } as const;
  return { found, rank, distance, alone: isAlone(line, date) };
}

const placeBeforeDateCharactersMax = 30;

/** Of a line: the date, and before it at most a place with a comma. */
function isAlone({ start, text }: TextLine, date: DateInText): boolean {
  const [before, after] = [text.slice(0, Math.max(0, date.start - start)).trim(), text.slice(date.end - start).trim()];
  return /^\.?$/.test(after) && (before === '' || (before.length <= placeBeforeDateCharactersMax && /^[\p{L} .'’-]+,(?: (?:the|le|den|am|il|el|em))?$/iu.test(before)));
}

const abbreviations = /(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|inc|ltd|corp|co)\./g;
const wordsOfBlockLineMax = 14;

/** A line of a signature block, not of a sentence. */
function isShort({ text, folded }: TextLine): boolean {
  return text.trim().split(/\s+/).length <= wordsOfBlockLineMax && !/[a-z]{2}\.(?:\s|$)/.test(folded.replace(abbreviations, ''));
}

function anchorsOf(letter: LetterText, { places, signature, signerName }: Pick<DateSearch, 'places' | 'signature' | 'signerName'>): readonly number[] {
  const byPlace = [signature.place, signerName?.place ?? null].flatMap((place) => {
    const at = place === null ? -1 : letter.lines.findIndex((line) => line.page === place.page && line.line === place.line);
    return at === -1 ? [] : [at];
  });
  return [...places.map(({ lineIndex }) => lineIndex), ...(places.length === 0 && signature.kind === 'none' ? [] : byPlace)];
}

/** In lines of usual spacing on the page, whatever the order in which they are read; infinite on another page. */
function distanceBetween({ lines }: LetterText, anchor: number, lineIndex: number): number {
  const [from, to] = [lines[anchor]!, lines[lineIndex]!];
  if (from.page !== to.page) return Number.POSITIVE_INFINITY;
  return Math.abs(from.box.top - to.box.top) / (1.5 * Math.max(0.008, from.box.height, to.box.height));
}

function dateOfPdfSignature({ signatures }: LetterReading): FoundDate | null {
  const signature = signatures.findLast((each) => isVerified(each) && each.signedAt !== null);
  const date = /^\d{4}-\d{2}-\d{2}/.exec(signature?.signedAt ?? '')?.[0];
  if (signature === undefined || date === undefined || Number.isNaN(daysBetween(date, date))) return null;
  return { date, alternative: null, role: 'signing', place: { page: signature.page ?? 1, line: 0, box: null }, excerpt: makeExcerpt(signature.signedAt!) };
}

function leastConfidence({ pages }: LetterReading): number | null {
  const means = pages.flatMap(({ source, lines }) => (source === 'ocr' && lines.length > 0 ? [meanConfidence(lines)] : []));
  return means.length === 0 ? null : Math.min(...means);
}

function meanConfidence(lines: readonly { readonly text: string; readonly confidence: number | null }[]): number {
  const characters = lines.reduce((sum, { text }) => sum + Math.max(1, text.length), 0);
  return lines.reduce((sum, { text, confidence }) => sum + Math.max(1, text.length) * (confidence ?? 0), 0) / characters;
}
