import type { LabelledValue } from './letter-labels.ts';
import {
  foldSameLength,
  foundIn,
  lineIndexAt,
  wording,
  type FoundText,
  type LetterText,
  pattern,
} from './letter-text.ts';
import { compareNames } from '../names/name-match.ts';
import { foldWords } from '../names/name-folding.ts';

/** A name of a company or brand; `labelled` by a label, else by "doing business as" in a sentence. */
export interface FoundName extends FoundText {
  readonly labelled: boolean;
}

const doingBusiness = pattern('')`
  (?<![a-z])(?:doing business as|d ?\/ ?b ?\/ ?a|d\.b\.a\.?|dba|trading as|t\/a|operating as|que opera como|conocida como|exercant sous le nom
  |firmierend als|handelnd unter|nome fantasia)(?:\s{0,2}\((?:dba|d\/b\/a)\))?\s{0,3}:?\s{0,3}
`;

/** Labelled names of companies, without the trade name behind them. */
export function companiesOf(letter: LetterText, labels: readonly LabelledValue[]): readonly FoundText[] {
  return labels
    .filter(({ kind, value }) => kind === 'legal' && value !== '')
    .map((label) => {
      const cut = doingBusiness.exec(foldSameLength(label.value));
      return foundIn(
        letter.lines[label.lineIndex]!,
        tidyName(cut === null ? label.value : label.value.slice(0, cut.index)),
      );
    })
    .filter(({ value }) => foldWords(value).length > 0);
}

/** Names with a label, and names after "doing business as". */
export function brandsOf(
  letter: LetterText,
  labels: readonly LabelledValue[],
  names: readonly string[],
): readonly FoundName[] {
  const labelled = labels
    .filter(({ kind, value }) => kind === 'brand' && value !== '')
    .map((label) => ({ ...foundIn(letter.lines[label.lineIndex]!, tidyName(label.value)), labelled: true }));
  const seen = new Set(labelled.map(({ value }) => foldWords(value).join(' ')));
  const inText = [...letter.flat.matchAll(new RegExp(doingBusiness, 'g'))].slice(0, namesMax).flatMap((match) => {
    const start = match.index + match[0].length;
    const value = nameAtStart(letter.text.slice(start, start + nameCharactersMax), names);
    if (value === null || seen.has(foldWords(value).join(' '))) return [];
    return [{ ...foundIn(letter.lines[lineIndexAt(letter, match.index)]!, value), labelled: false }];
  });
  return [
    ...labelled,
    ...inText,
    ...displayedNames(letter, names).filter(({ value }) => !seen.has(foldWords(value).join(' '))),
  ];
}

/** Announces the name that calls show: "display the name", "show ... as", "afficher le nom", "den Namen ... anzeigen". */
const displayWording = wording(
  String.raw`(?:display|show|present)(?:s|ing|ed)? (?:the|its|our|their|my|your) (?:(?:brand|display|caller|id|company|business|trade|trading|calling) ){0,3}names?(?: of)?(?: is| as|:)?`,
  String.raw`(?<=to )(?:display|show|present)|(?:display|show|present)(?:s|ing|ed)?(?= ?["“«„])`,
  String.raw`(?:appear|shown?|displayed|branded|branding|identif(?:y|ied)|presented|registered)(?: on calls| themselves)? as|(?:under|with|by) the (?:brand |display |caller )?names?(?: of)?`,
  String.raw`(?:mostrar|muestre|exhibir) (?:(?:el|su|nuestro|la|nuestra) )?(?:nombre|marca)(?: comercial)?(?: de)?`,
  String.raw`affich\w+ (?:(?:le|son|notre|la) )?(?:nom|marque)(?: commercial)?(?: de)?`,
  String.raw`den (?:marken|anzeige|handels)?namen`,
  String.raw`exibi\w+ (?:(?:o|seu|nosso|a) )?(?:nome|marca)(?: comercial)?(?: de| da)?`,
  String.raw`(?:visualizza\w*|mostra\w*) (?:(?:il|suo|nostro) )?(?:nome|marchio)(?: commerciale)?(?: di)?`,
);
/** Capitalized words of forms that are no name. */
const genericNameWords = new Set(
  'caller call calls id name names brand brands branded calling display company business logo legal the our its your rcd cnam reason reasons of and authorized telephone phone numbers number on for'.split(
    ' ',
  ),
);
const furtherName = /^["“”'’»\s]{0,3}(?:,\s)?(?:and|or|und|oder|et|ou|y|o|e)\s(?:the\s(?:name\s)?)?(?=["“«„]|\p{Lu})/u;

/** The names that the letter wants to be shown; more than one if "and" is between. */
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
/** The longest name that is looked for. */
const nameCharactersMax = 100;

/** One of the brand's names, if the text begins with it and no further word of a name follows, else the leading words with a capital. */
export function nameAtStart(text: string, names: readonly string[]): string | null {
  const start = text.replace(/^["“”'‘«„(\s]+/, '');
  for (const name of names) {
    const value = start.slice(0, name.length);
    if (
      compareNames(value, name) === 'same' &&
      !/^[\p{L}\p{N}]|^ (?!(?:ON|FOR|TO|FROM|WHEN|DURING|IN|AT|AND)\b)(?:& )?\p{Lu}/u.test(start.slice(name.length))
    )
      return value.replace(/\n/g, ' ');
  }
  const capitalized = /^\p{Lu}[^\s,;:()"”»]*(?: (?:and |of |the |& |de |del |la )?[\p{Lu}\p{N}][^\s,;:()"”»]*)*/u.exec(
    start,
  );
  return capitalized === null ? null : tidyName(capitalized[0]);
}

function tidyName(value: string): string {
  return value.replace(/^["“”'‘’«\s(]+|["“”'‘’»\s),;]+$/g, '').trim();
}
