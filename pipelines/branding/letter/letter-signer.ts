import { hasTitleWord, isTitleLine, type LabelledValue } from './letter-labels.ts';
import { foldSameLength, foundIn, lineIndexAt, type FoundText, type LetterText, pattern } from './letter-text.ts';
import { compareNames, looksLikePerson } from '../names/name-match.ts';
import { leadingName, electronicWords, electronicSignatures } from './letter-electronic-signature.ts';

/** The signer that the letter names. */
export interface Signer {
  readonly name: FoundText | null;
  readonly title: FoundText | null;
  /** Candidates for name and title, where none was certain. */
  readonly possibleName: FoundText | null;
  readonly possibleTitle: FoundText | null;
}

/** A line of closing words, such as "Sincerely", folded. */
export const closing = pattern('')`
  ^\W{0,3}(?:(?:very |yours )?(?:sincerely|truly|faithfully|respectfully)(?: (?:yours|submitted))?|(?:best|kind|warm)?(?: |est )?regards|with (?:best
  |kind) regards|(?:many )?thanks|thank you|(?:(?:le|les) saludan? )?(?:muy )?atentamente|(?:reciban? )?(?:un )?cordial(?:es)? saludos?
  |saludos(?: cordiales)?|cordialement|(?:bien )?a vous|veuillez agreer.{0,80}|mit freundlichen gru(?:ss|ß)en|hochachtungsvoll|freundliche gru(?:ss|ß)e
  |atenciosamente|cordialmente|respeitosamente|(?:cordiali|distinti) saluti|in faith|in witness whereof.{0,80})\W{0,3}$
`;

/** `Jane Doe, Chief Financial Officer` is a name and a title. */
export function splitNameAndTitle(value: string): { readonly name: string; readonly title: string | null } {
  const match = /^(.{3,60}?)(?:\s*[,/|;(]\s*|\s+-\s+|\s+–\s+)(.{2,80})$/.exec(value);
  return match !== null && hasTitleWord(foldSameLength(match[2]!))
    ? { name: match[1]!.trim(), title: match[2]!.replace(/\)$/, '').trim() }
    : { name: value, title: null };
}

/** Name and title of the person who signs: labelled, after the closing words, or "I, Jane Doe, ...". */
export function findSigner(
  letter: LetterText,
  labels: readonly LabelledValue[],
  companyNames: readonly string[],
): Signer {
  const isCompany = (text: string) => companyNames.some((name) => compareNames(text, name) !== 'other');
  const block = signerInBlock(letter, isCompany);
  const signed = signerOfElectronic(letter);
  const prose = signerInProse(letter);
  const labelled = labels.filter(({ kind, value }) => kind === 'name' && value !== '' && !isCompany(value));
  const inBlock = labelled
    .map((label) => ({ ...splitNameAndTitle(label.value), line: letter.lines[label.lineIndex]! }))
    .find(({ name }) => /\p{L}{2}/u.test(name));
  const title = labels.find(({ kind, value }) => kind === 'title' && /\p{L}{2}/u.test(value));
  const byName = inBlock === undefined ? null : foundIn(inBlock.line, leadingOrAll(inBlock.name));
  const byTitle = title === undefined ? null : foundIn(letter.lines[title.lineIndex]!, title.value);
  const titleOfBlock = inBlock?.title == null ? null : foundIn(inBlock.line, inBlock.title);
  return {
    name: byName ?? block.name ?? prose.name ?? signed.name,
    title: byTitle ?? titleOfBlock ?? block.title ?? prose.title ?? signed.title,
    possibleName: possibleName(letter, isCompany),
    possibleTitle: possibleTitle(letter),
  };
}

const leadingOrAll = (name: string): string => (looksLikePerson(leadingName(name)) ? leadingName(name) : name);

interface NameAndTitle {
  readonly name: FoundText | null;
  readonly title: FoundText | null;
}

/** Lines after the closing words that may name the signer. */
export const blockLines = 6;

/**
 * In the lines after "Sincerely" or an electronic signature: the first that is a person's name, and the first after it that names a
 * title.
 */
function signerInBlock({ lines }: LetterText, isCompany: (text: string) => boolean): NameAndTitle {
  const at = lines.findLastIndex(({ folded, text }) => closing.test(folded) || electronicWords.test(text));
  const block =
    at === -1
      ? []
      : lines
          .slice(at + 1, at + 1 + blockLines)
          .filter(({ text }) => !/[:@]/.test(text) && !electronicWords.test(text));
  const parts = block.map((line) => ({ line, ...splitNameAndTitle(line.text.trim()) }));
  const named = parts.findIndex(
    ({ name }) => looksLikePerson(name) && !hasTitleWord(foldSameLength(name)) && !isCompany(name),
  );
  if (named === -1) return { name: null, title: null };
  const { line, name, title } = parts[named]!;
  const below = title === null ? parts.slice(named + 1).find((part) => isTitleLine(part.line.text))?.line : undefined;
  return {
    name: foundIn(line, name),
    title: title !== null ? foundIn(line, title) : below === undefined ? null : foundIn(below, below.text.trim()),
  };
}

/** An electronic signature names its signer itself, and perhaps the title behind a comma or in the next line. */
function signerOfElectronic(letter: LetterText): NameAndTitle {
  const [signature] = electronicSignatures(letter);
  if (signature === undefined || !looksLikePerson(signature.name)) return { name: null, title: null };
  const { line, name, at } = signature;
  const rest = line.text.slice(line.text.indexOf(name) + name.length);
  const behind = /^\s*[,(-]\s*([\p{L}][\p{L} &/-]{1,60}?)(?:[,;)]|\s+(?:on|at|of)\s|\s{2}|$)/u.exec(rest)?.[1] ?? '';
  if (hasTitleWord(foldSameLength(behind))) return { name: foundIn(line, name), title: foundIn(line, behind) };
  const next = letter.lines.slice(at + 1, at + 3).find(({ text, page }) => page === line.page && isTitleLine(text));
  return { name: foundIn(line, name), title: next === undefined ? null : foundIn(next, next.text.trim()) };
}

const firstPerson = pattern('u')`
  (?<![\p{L}\d])(?:I|Yo|Je soussigné(?:e)?|Je|Ich|Eu|Io|The undersigned)\s?,\s(?:the undersigned,\s)?(\p{Lu}[\p{L}\p{M}.'’ -]{3,58}?)\s?,\s(?:(?:am|as
  |in my capacity as|acting as|being|the|duly authorized|en calidad de|als|na qualidade de|in qualita di
  |en qualité de)\s){0,3}([\p{L}][\p{L} ,&/-]{1,60}?)\s(?:of|at|for|de|der|von|da|di|do)\s
`;

function signerInProse(letter: LetterText): NameAndTitle {
  const match = firstPerson.exec(letter.text.slice(0, proseCharactersMax));
  if (match === null || !looksLikePerson(match[1]!)) return { name: null, title: null };
  const line = letter.lines[lineIndexAt(letter, match.index)]!;
  return {
    name: foundIn(line, match[1]!),
    title: hasTitleWord(foldSameLength(match[2]!)) ? foundIn(line, match[2]!) : null,
  };
}

const proseCharactersMax = 20_000;

function possibleName({ lines }: LetterText, isCompany: (text: string) => boolean): FoundText | null {
  const line = lines.findLast(
    ({ text, folded }) =>
      looksLikePerson(splitNameAndTitle(text.trim()).name) &&
      !isCompany(text) &&
      !hasTitleWord(folded) &&
      !/letter|authori|number|sincerely|regards/.test(folded),
  );
  return line === undefined ? null : foundIn(line, line.text.trim());
}

function possibleTitle({ lines }: LetterText): FoundText | null {
  const line = lines.findLast(({ folded }) => hasTitleWord(folded));
  return line === undefined ? null : foundIn(line, line.text.trim());
}
