import { foldSameLength, foundIn, lineIndexAt, type FoundText, type LetterText, pattern } from './letter-text.ts';

const titleWording = pattern('')`
  (?<=^|\n)\W{0,10}(?:[a-z ]{0,30} )?(?:letter of (?:authori[sz]ation|agency)|authori[sz]ation letter|loa|carta de autoriza(?:cion|cao)
  |lettre d['’]autorisation|vollmacht|ermachtigung(?:sschreiben)?|bevollmachtigung|autorisierung(?:sschreiben)?|lettera di autorizzazione
  |delega)(?: (?:for|form|to|fur|para|pour|per|\()[^\n]{0,60})?[^a-z\n]{0,10}(?=\n|$)
`;
const authorizingWording = pattern('')`
  (?<![a-z])(?:(?:hereby |do |duly )?(?:authori[sz](?:e|es|ing)|grants? (?:[a-z ]{0,40} )?(?:permission|authori(?:ty|[sz]ation)|consent|the right)
  |gives? (?:[a-z ]{0,40} )?(?:permission|authori(?:ty|[sz]ation)|consent)|consents? to|permits?)|autoriza(?:mos)?|permite|permet|donn(?:e
  |ons) (?:[a-z ]{0,40} )?l['’]autorisation|erlaub(?:t|en)|autoris(?:e|ons|ent)|(?:ermachtig|bevollmachtig|autorisier)(?:t|en|e)|autorizz(?:a|o|iamo)
  |autorizo)(?![a-z])
`;
const brandingWording = pattern('')`
  (?<![a-z])(?:brand(?:s|ed|ing)?|display(?:s|ed|ing)?|caller ?(?:id|name)|call(?:er)? identification|cnam|rich call data|rcd|logo|call reasons?
  |reputation|marca|mostrar|afficher|affichage|marque|an(?:zu)?zeig\w+|anruferkennung|marken\w*|exibi\w+|identifica\w+|visualizza\w*|marchio)(?![a-z])
`;
const portingWording = pattern('')`
  (?<![a-z])(?:port(?:ing|ed)? (?:of |out |in |my |our |the |these )?(?:the |following |telephone |phone )*numbers?|number port\w*|porting|port-?(?:in
  |out)|resp ?org|winning carrier|losing carrier|change (?:of )?carrier|switch (?:my|our) (?:carrier|provider)|portabilidad|portabilite
  |rufnummernmitnahme|portabilidade|portabilita)(?![a-z])
`;

/** The words of a letter that make it an authorization, or one of another kind. */
export interface AuthorizingWords {
  /** "Letter of Authorization", or wording that authorizes. */
  readonly title: FoundText | null;
  /** The words before the wording that authorizes in its sentence: who authorizes. */
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
  const match = searched.exec(text);
  if (match === null) return null;
  const start = match.index + (/^[^\p{L}\p{N}[<{]*/u.exec(match[0])?.[0].length ?? 0);
  return foundIn(
    letter.lines[lineIndexAt(letter, start)]!,
    letter.text.slice(start, match.index + match[0].length).trim(),
  );
}
