import { type LetterText, type TextLine, pattern } from './letter-text.ts';
import { looksLikePerson } from '../names/name-match.ts';

const nameEnd = /\s{2,}|[,;|(]|\s+(?:on|at|date|dated|title|name|its|for|am|el|le|em|il)\b|\s-\s|\d/i;

/** The name at the start of a text, up to what cannot belong to it. */
export function leadingName(text: string): string {
  const trimmed = text.replace(/^[\s:_.]+/, '').slice(0, 80);
  return trimmed
    .slice(0, nameEnd.exec(trimmed)?.index ?? trimmed.length)
    .replace(/[\s_.,]+$/, '')
    .trim();
}

/** `/s/` and the wording of services that sign with a name. */
export const electronicWords = pattern('iu')`
  (?:^|[\s:_])(?:\/s\/|\/\/s\/\/|s\/)|(?:(?:electronically|e-?)\s?signed|signed\s(?:electronically|digitally\svia\s\w{3,20}|via\s\w{3,20}
  |with\s\w{3,20})|docusigned)(?:\sby)?\s?:?|firmado\selectr[oó]nicamente\spor\s?:?|sign[eé](?:e)?\s[eé]lectroniquement\spar\s?:?
  |elektronisch\s(?:unterzeichnet|unterschrieben|signiert)\s(?:von|durch)\s?:?|assinado\seletr[oô]nicamente\spor\s?:?|firmato\selettronicamente\sda\s?:?
`;

interface ElectronicSignature {
  readonly line: TextLine;
  readonly at: number;
  readonly name: string;
  /** The text after the name in its line. */
  readonly rest: string;
}

/** `Leona Thornquill (May 18, 2026 09:24 EDT)`, as one signing service prints it. */
const stampedName =
  /^(\p{Lu}[\p{L}\p{M}.'’ -]{3,58}?)\s?\(([^()]{6,30} (?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)? ?[A-Z]{1,5}[^()]{0,12})\)$/u;

/** The box of another one: "Signed by:", the name, and the start of a seal in hexadecimal digits. */
const signedBy = /^\s*signed by\s?:\s*$/i;

const sealAfterName = /^[0-9A-F]{8,32}\.{3}$/;

/** Lines with wording of an electronic signature and a name, in the same line or the next. */
export function electronicSignatures({ lines }: LetterText): readonly ElectronicSignature[] {
  return lines.flatMap((line, at) => {
    const stamped = stampedName.exec(line.text);
    if (stamped !== null && looksLikePerson(stamped[1]!)) return [{ line, at, name: stamped[1]!, rest: stamped[2]! }];
    const match =
      electronicWords.exec(line.text) ??
      (sealAfterName.test(lines[at + 2]?.text ?? '') ? signedBy.exec(line.text) : null);
    if (match === null) return [];
    const same = leadingName(line.text.slice(match.index + match[0].length));
    const next = lines[at + 1]?.page === line.page ? lines[at + 1]!.text : '';
    const name = same.length >= 3 ? same : leadingName(next);
    const nameLine = same.length >= 3 ? line.text.slice(match.index + match[0].length) : next;
    const rest = nameLine.slice(nameLine.indexOf(name) + name.length);
    return looksLikePerson(name) || /^\p{Lu}\p{L}+$/u.test(name) ? [{ line, at, name, rest }] : [];
  });
}
