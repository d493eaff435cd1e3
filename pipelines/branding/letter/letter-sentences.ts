import { nameAtStart } from './letter-names.ts';
import {
  foldSameLength,
  foundIn,
  lineIndexAt,
  wording,
  type FoundText,
  type LetterText,
  type TextLine,
} from './letter-text.ts';
import { namesCompany } from '../names/name-match.ts';
import { splitLegalForm } from '../names/company-words.ts';
import { foldWords } from '../names/name-folding.ts';

/** Why a sentence is worth a careful reading. Each is a case of the rule `sentences_to_read`. */
type SentenceKind =
  'ends' | 'limits' | 'denies' | 'not_meant' | 'numbers' | 'another_party' | 'another_company' | 'unusual';

/** A sentence that a person should read, at the notable word. */
export interface FoundSentence extends FoundText {
  readonly kind: SentenceKind;
}

/**
 * Words that a careful clerk would stop at, folded; English, Spanish, French, German, Portuguese and Italian. They interpret
 * nothing and only mark where to look. bench/letters.ts counts how often they mark what is wrong, and how many
 * sentences of honest letters they mark.
 */
const stoppingWords: Readonly<Record<Exclude<SentenceKind, 'another_company' | 'unusual'>, RegExp>> = {
  ends: wording(
    String.raw`stop(?:s|ped|ping)?|discontinu\w+|ceas(?:e|es|ed|ing)|remov(?:e|es|ed|ing|al)|delet\w+|de-?activat\w+|disabl\w+|de-?regist\w+|unregist\w+|unpublish\w*|suppress\w*|hide|block\w*|withhold\w*`,
    String.raw`revo[ckgq]\w*|rescin\w+|withdr[ae]w\w*|cancel\w*|terminat\w*|suspend\w*|annul\w*|supersed\w+|expired|lapsed|no longer|opt\w* out|taken? down|(?:turn|switch)\w* off|end(?:s|ed|ing)? (?:the|our|this|all|of)`,
    String.raw`retir(?:ar|e|en|amos)|dejar de|cese|cesar|elimin\w+|cancela\w*|suspend\w*|anula\w*|supprim\w+|cesser|arret\w+|retir(?:er|ez|ons)|annul\w+|resili\w+|entfern\w+|losch\w+|beend\w+|einstell\w+|widerruf\w*|kundig\w*`,
    String.raw`abgelaufen\w*|erloschen\w*|unwirksam\w*|caduc\w*|vencid\w*|venc(?:io|eu)|perimee?|expiree?|encerr\w+|rimuov\w+|cessa\w*|disattiv\w+|scadut\w+`,
  ),
  limits: wording(
    String.raw`only|solely|merely|except\w*|exclud\w+|exclusion|exempt\w*|other than|but not|apart from|save for|limited to|until|till|unless|provided that|subject to|condition\w*|contingent|pending|awaiting|once|as soon as|(?:one|single) (?:time|call|test|number|day|week|campaign)`,
    String.raw`tests?|testing|trial|pilot|proof of concept|temporar\w+|provisional\w*|tentative\w*|not before|starting`,
    String.raw`solo|solamente|unicamente|excepto|salvo|hasta|prueba|uniquement|seulement|sauf|jusqu\w*|essai|nur|ausschliesslich|sous reserve|a condition|suje[it]*[oa]s? a|subordinat[oa]|condizion\w+|ausser|ausgenommen|bis(?: zum)?|vorbehaltlich|probe\w*|apenas|somente|exceto|ate|teste|soltanto|tranne|eccetto|fino|prova`,
  ),
  denies: wording(
    String.raw`not|never|neither|nor|nobody|none|nothing|cannot|without|no(?! ?[.:]? ?\d)(?![.:])|refus\w+|declin\w+|den(?:y|ies|ied|ial)|prohibit\w*|forbid\w*|forbad\w+|object(?:s|ed|ion|ions)?|disput\w+|unauthori[sz]ed|\w{2,7}n['’]t|unaware|reject\w*|disregard|ignore|whether|consider\w*|intend\w*|propos\w+|might|could`,
    String.raw`prohib\w+|proib\w+|interdi\w+|viet\w+|untersag\w*|verbiet\w*|verboten|n['’][a-z]\w+|nunca|jamas|ningun\w*|sin|no|ne|pas|jamais|aucune?|sans|nicht|kein\w*|niemals|nie|ohne|nao|sem|nenhum\w*|non|senza|nessun\w*`,
  ),
  not_meant: wording(
    String.raw`draft\w*|sample|specimen|void|template|examples?|lorem ipsum|unsigned|fictitious|fictional|hypothetical|illustrat\w+|demo|demonstration|training|for (?:review|discussion|information)|not for|tbd|placeholder|copy|invalid|forged|forgery|fake|counterfeit|stolen|fraud\w*|scams?|spam`,
    String.raw`muster|entwurf\w*|kopie|ungultig\w*|borrador|ejemplo|muestra|nul[oa]|brouillon|exemple|specimen|projet|nulle?|rascunho|modelo|bozza|esempio|fac-?simile`,
  ),
  numbers: wording(
    String.raw`retired|disconnected|inactive|decommission\w*|out of service|unassigned|spare|unused|reserved|dormant|surrender\w*|return(?:ed)? to|released|sold|transferr\w+|ported|leas\w+|rent\w+|borrow\w+|shared?|belong\w*|own(?:s|ed|er|ers)? (?!customers?|business|calls|clients)|held by|property of|assigned to`,
    String.raw`numbers? (?:that |which |whom )?(?:we|our \w+|they|agents?|you) (?:may |will |can )?(?:call|dial|reach|ring|contact)\w*|called|dial+ed|recipients?|destinations?|callees?|inbound|incoming|calls? to (?:the|these|those|this|our)|receiv\w+|personal|private|home|for reference|contact numbers?|emergency|hotline`,
    String.raw`propiedad|pertenec\w+|desconectad\w*|appartien\w*|propriete|gehor(?:t|en)|eigentum|abgeschaltet\w*|stillgelegt\w*|angerufene\w*|pertencem?|propriedade|appart[ei]\w+|proprieta`,
  ),
  another_party: wording(
    String.raw`on behalf of|behalf|agents?|agency|reseller\w*|vendor\w*|intermediar\w+|broker\w*|consultan\w+|contractor\w*|p\.p\.?|per pro\w*|proxy|(?:power of )?attorney|subsidiar\w+|affiliat\w+|parent company|third[ -]part\w+|another|(?:our|a|the|its) clients?|(?:other|different|new|previous) (?:provider|service|company|carrier|vendor|party|brand)s?|competitor\w*|franchis\w+|licensee`,
    String.raw`former|formerly|ex|acting|interim|interns?|trainee|apprentice|student|volunteer|retiree|dismissed|deceased|assistant|receptionist|for the (?:owner|director|president|ceo|company)|no authority|knowledge`,
    String.raw`en nombre de|por orden|agente|au nom de|par ordre|mandataire|im auftrag|im namen|i\. ?a\.|i\. ?v\.|vertret\w+|ehemalig\w*|praktikant\w*|stagi\w+|ancienne?|becari[oa]|em nome de|per conto di|tirocinante|antig(?:o|a|uo|ua)`,
  ),
};

/** Wording of nearly every honest letter: a future end, the ownership of the numbers, and calls that are not spam. */
const usualWordings: readonly RegExp[] = [
  wording(
    String.raw`(?:until|unless|till|may|can|right to|entitled to|notice of|puede|podemos|poderemos|pouvons|peut|kann|konnen|jederzeit|possiamo|salvo|hasta|sauf|jusqu['’]a|sofern|soweit|bis|fino|ate)(?: [a-z'’,]+){0,8} (?:revo[cgk]\w*|withdr\w+|rescind\w*|cancel\w*|terminat\w*|widerruf\w*)(?: it)?`,
    String.raw`(?:not|prevent\w*|protect\w*|against|fight\w*)(?: [a-z]+){0,5} (?:spam|scams?|fraud\w*)`,
    'do not call (?:list|registry)',
    String.raw`(?:property of|belongs? to|owned by|assigned to) (?:us|our (?:own )?company|the company|the undersigned)`,
  ),
  wording(
    String.raw`(?:valid|force|effect|gilt|valable|vigente|vigor) (?:until|bis|jusqu\w*|hasta)(?: (?:zum|au|el))?`,
    String.raw`(?:until|till|bis(?: zum)?|hasta(?: el)?|jusqu['’]au|ate|fino al?)(?= [+\d(])`,
    String.raw`(?:calls? to |nur |que |solo llamamos a )?(?:our |nos |eigene |nuestros )?(?:own |propres |propios )?(?:customers?|clients|kunden|clientes)(?: only| an)?`,
    String.raw`n['’]appelons`,
    'den angerufenen',
    'subscriber of record',
    'whichever comes first',
    String.raw`subject to (?:all |any |the )*(?:applicable )?(?:laws?|regulations?|rules)`,
    'soumise? a la loi',
    String.raw`managing agent`,
  ),
];

const placeholderField =
  /[[<{](?:your |insert |enter |company |legal |business |brand |signer'?s? |full |customer |phone |date|name|title|address)[a-z /'-]{0,40}[\]>}]/g;
const ofKindMax = 4;

/**
 * The sentences of a letter that a person should read with care, in reading order; at most four of a kind. The names are those of
 * the brand and of the signer, whose words say nothing.
 */
export function sentencesOf(letter: LetterText, names: readonly string[]): readonly FoundSentence[] {
  const usual = [address, ...usualWordings].reduce(
    (text, searched) => text.replace(searched, blank),
    withoutOwnNames(letter, names),
  );
  const kinds = Object.entries(stoppingWords) as [SentenceKind, RegExp][];
  const words = kinds.flatMap(([kind, searched]) => sentencesAt(letter, kind, [...usual.matchAll(searched)]));
  const empty = sentencesAt(letter, 'not_meant', [...letter.flat.matchAll(placeholderField)]);
  const all = [...words, ...empty, ...otherCompanies(letter, names), ...unusualLines(letter, names)];
  return all.sort((a, b) => a.place.page - b.place.page || a.place.line - b.place.line);
}

/** One per line, up to a maximum. */
function sentencesAt(letter: LetterText, kind: SentenceKind, matches: readonly RegExpMatchArray[]): FoundSentence[] {
  const found = new Map<number, FoundSentence>();
  for (const match of matches) {
    const at = lineIndexAt(letter, match.index!);
    if (found.size === ofKindMax) break;
    if (!found.has(at))
      found.set(at, {
        kind,
        ...foundIn(
          letter.lines[at]!,
          letter.text
            .slice(match.index, match.index! + match[0].length)
            .replaceAll('\n', ' ')
            .trim(),
        ),
      });
  }
  return [...found.values()];
}

/** Addresses of mail and of the web, whose parts are no words. */
const address = /\S+@\S+|(?:www\.|https?:)\S+/g;
const blank = (text: string): string => '.'.repeat(text.length);

/**
 * The folded text with the brand's own names blanked out, and what may precede them ("on behalf of Acme"), character for
 * character.
 */
function withoutOwnNames({ flat, text }: LetterText, names: readonly string[]): string {
  const before =
    '(?:(?:for and )?on behalf of |(?:en|em) nom[eb]r?e? de |au nom de |im namen der |per conto di |belong\\w* to |owned by |owner of )?(?:the )?';
  return namePatterns(names).reduce(
    (folded, name) =>
      folded.replace(new RegExp(before + name, 'g'), (found: string, at: number) => {
        const after = text.slice(at + found.length, at + found.length + 30);
        const goesOn = /^ \p{Lu}\p{Ll}/u.test(after) && !namesCompany(`Own${after.split(/[,;.] |\n/)[0]!}`);
        return goesOn ? found : blank(found);
      }),
    flat,
  );
}

/** Patterns of the distinctive words of names in folded text. */
function namePatterns(names: readonly string[]): string[] {
  return names
    .map((name) => splitLegalForm(foldWords(name)).core)
    .filter((core) => core.length > 0 && core.join('').length > 2)
    .map((core) =>
      core
        .map((word) =>
          word
            .replace(/[^\p{L}\p{N}]/gu, '')
            .replace(/ss|[aou]e/g, (pair) => (pair === 'ss' ? '(?:ss|ß)' : `${pair[0]}e?`)),
        )
        .join('[^a-z0-9]{1,3}'),
    );
}

/** Lines that name a company by its legal form, and not the one of the brand. */
function otherCompanies(letter: LetterText, names: readonly string[]): FoundSentence[] {
  const patterns = namePatterns(names).map((name) => new RegExp(name, 'g'));
  const found = letter.lines.filter(({ text, folded }) => {
    let rest = text;
    for (const pattern of patterns)
      for (const match of folded.matchAll(pattern))
        rest = rest.slice(0, match.index) + 'o'.repeat(match[0].length) + rest.slice(match.index + match[0].length);
    return namesCompany(rest);
  });
  return found.slice(0, ofKindMax).map((line) => ({ kind: 'another_company', ...foundIn(line, line.text.trim()) }));
}

/** Lines are not judged by their words if less than this share of the letter's words is known: its language is another one. */
const knownShareMin = 0.6;
const lettersMin = 3;

/** Lines with a lower-case word that letters of authorization seldom have; none if the language is unknown. */
function unusualLines(letter: LetterText, names: readonly string[]): FoundSentence[] {
  const own = new Set(names.flatMap((name) => foldWords(name)));
  const lines = letter.lines.map((line) => ({ line, words: smallWords(line) }));
  const all = lines.flatMap(({ words }) => words);
  const isKnown = (word: string) => usualWords.has(word) || own.has(word);
  if (all.filter(isKnown).length < knownShareMin * all.length) return [];
  return lines
    .flatMap(({ line, words }): FoundSentence[] => {
      const unusual = words.find((word) => !isKnown(word));
      return unusual === undefined ? [] : [{ kind: 'unusual', ...foundIn(line, unusual) }];
    })
    .slice(0, 2 * ofKindMax);
}

/** The words of a line that begin with a small letter, without those of addresses of mail and of the web. */
function smallWords({ text, folded }: TextLine): string[] {
  const plain = text.replace(address, blank);
  return [...plain.matchAll(/(?<![\p{L}\p{N}])\p{Ll}[\p{L}\p{M}]*/gu)]
    .map(({ 0: word, index }) => folded.slice(index, index + word.length))
    .filter((word) => word.length >= lettersMin);
}

const authorizes =
  /(?<![a-z])(?:authori[sz](?:es?|ing)|permits?|grants?|autoris(?:e|ons)|autoriza(?:mos)?|erlaubt|bevollmachtigt|ermachtigt|autorizza)\s{1,3}/g;
const serviceName = /caller ?trust/;

/** The name of another party that the letter authorizes; null if it names this service or nobody. */
export function otherProviderOf(letter: LetterText, names: readonly string[]): FoundText | null {
  if (serviceName.test(letter.flat)) return null;
  for (const match of letter.flat.matchAll(authorizes)) {
    const value = nameAtStart(
      letter.text.slice(match.index + match[0].length, match.index + match[0].length + 100).replaceAll('\n', ' '),
      names,
    );
    const isOwn = value === null || namePatterns(names).some((name) => new RegExp(name).test(foldSameLength(value)));
    if (!isOwn) return foundIn(letter.lines[lineIndexAt(letter, match.index)]!, value);
  }
  return null;
}

/**
 * Words that letters of authorization usually have, folded; English, German, French and Spanish. A sentence with another
 * word is marked, whatever it means. Written from the wording that docs/letters.md suggests and similar ones.
 */
const usualWordLists: readonly string[] = [
  'a an the of and or to in for on by with from as at is are be been was were will shall may can has have had do does this that these those it its we our us i my me you your they their them who whom which whose',
  'when where what all any each every other others such same both also if than then there here so up about through between under over into upon within no not out one two unless until whichever comes first last later',
  'authorize authorizes authorized authorizing authorization authorise authorises authorised authorising authorisation hereby letter letters grant grants granted permission consent consents permit permits give gives allow allows agree agrees',
  'display displays displayed displaying show shows shown showing present presents presented register registers registered registration brand brands branded branding name names caller call calls calling number numbers telephone phone listed list lists',
  'following below above attached enclosed file schedule annex appendix page next part see further company companies business businesses customer customers subscriber record carrier assigned hold holds right rights use uses used using outbound outgoing',
  'originate originates originating originated place placed made make makes making comply complies law laws apply applies applicable regulation regulations valid remain remains force effect date dated signature signatures signed sign signer undersigned',
  'duly behalf confirm confirms certify certifies represent represents own owned owner employees people persons twelve months year years writing written notice revoke revoked withdraw withdrawn time contact questions question information please service services',
  'partners logo reason reasons dear sir madam sincerely yours faithfully regards kind respectfully best truly concern attention subject address office full legal doing identify identified identification consumers telecommunications effective electronic electronically',
  'thereof hereto including include includes want recognized recognize marked spam trust email mail tel fax description title printed role print position capacity document id envelope billing appointments appointment support sales main line lines delivery notices claims',
  'named covers covered numbers csv please see irrevocable property protect honor honour port unseres stehen affichage apres autorises figurent sociale affiche client quien corresponda han sido usarlos durante autorizados figuran forma comprende vease primer saluda social mostrado cliente qualsiasi',
  'day may through since count total in hand register documents corporation organization entity usage campaign purpose purposes program calling-name id new contact-center center management behalf only now hereinafter request requests requested add needed need thank thanks',
  'der die das den dem des ein eine einer eines einem einen und oder mit von vom fur bei auf in im zu zum zur ist sind wird werden wir uns unser unsere unserer unseren unserem sie ihr ihre hiermit bevollmachtigt bevollmachtigen erlaubt erlauben ermachtigt ermachtigen diesem dieser dieses diese',
  'schreiben genannten genannte genannt hier rufnummern nummern registrieren angerufenen namen anzuzeigen anzeigen angezeigt anrufen anrufe anruf ausgehende ausgehenden verwenden berechtigt netzbetreiber zugeteilt inhaber damit nur eigene kunden an gilt zwolf monate ab tag unterschrift bis sofern nicht vorher schriftlich widerrufen',
  'lauten umfasst folgende folgenden folgender beigefugten beigefugte datei siehe anlage erste letzte nachsten seite teil handelnd unter elektronisch unterzeichnet am um freundlichen gruen grußen sehr geehrte damen herren jederzeit konnen kann dass er rufen als alle es firma gesellschaft vollmacht',
  'le la les l un une des du de d et ou avec pour par dans sur en au aux est sont sera nous notre nos vous votre vos il elle ils elles par presente presentes autorise autorisons autorisation enregistrer numeros numero telephone indiques indiquee cette ce ces lettre afficher nom aupres personnes appelees donne lors appels emis depuis ci-apres',
  'attribues operateur avons droit utiliser sortants sommes titulaires qui que qu a ont etre valable douze mois compter date signature reste jusqu sauf revocation ecrite suivants suivantes sont concernes telephoniques fichier joint ci-joint voir piece jointe premier dernier annexe page suivante fait partie concerne veuillez agreer salutations distinguees societe sous commercial madame monsieur tous signe electroniquement n appelons propres clients',
  'el los las un una unos unas y o con para por en al del es son sera nosotros nuestro nuestra nuestros nuestras su sus autoriza autorizo autorizamos autorizacion registrar mostrar nombre marca numeros numero telefono llamadas llamada desde siguientes siguiente esta este estas estos carta indicados personas llamamos hagan titulares tenemos derecho utilizar propios clientes',
  'janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre rue calle general generale directora directeur operaciones unico telecommunications responsable',
  'solo valida vigor doce meses partir fecha firma permanece salvo revocacion escrito hasta adjunto archivo lista primero ultimo anexo pagina parte atentamente estimados senores cualquier momento podemos revocarla asignados operador entre presente en nombre que se a actua bajo comercial todos firmado electronicamente como salientes salvo',
];

const usualWords: ReadonlySet<string> = new Set(usualWordLists.flatMap((list) => list.split(' ')));
