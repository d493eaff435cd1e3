import { nameAtStart, nameCharactersMax } from './letter-names.ts';
import type { Signer } from './letter-signer.ts';
import { foldSameLength, foundIn, lineIndexAt, wording, type FoundText, type LetterText } from './letter-text.ts';
import { compareNames } from './name-match.ts';

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

/** The words of a letter that make it an authorization, or one of another kind. */
export interface AuthorizingWords {
  /** "Letter of Authorization", or wording that authorizes. */
  readonly title: FoundText | null;
  /** What stands before the wording that authorizes in its sentence: who authorizes. */
  readonly authorizer: FoundText | null;
  /** Words that say what is authorized: brand, display name, caller name. */
  readonly purpose: FoundText | null;
  /** Words of another authorization: porting. */
  readonly otherPurpose: FoundText | null;
}

/** The words that make it an authorization. */
export function wordingOf(letter: LetterText): AuthorizingWords {
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
export function reservationOf(letter: LetterText, { title }: Signer, names: readonly string[]): FoundText | null {
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

