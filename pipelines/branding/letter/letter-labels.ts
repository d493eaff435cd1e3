import { findDates } from './letter-dates.ts';
import { foldSameLength, type LetterText, type TextLine, pattern } from './letter-text.ts';
import { looksLikePerson } from '../names/name-match.ts';
import type { Box } from '../letter-reading.ts';

/** The field that a label announces. `other`: a label that is not needed, but ends the value before it. */
type LabelKind = 'signature' | 'name' | 'title' | 'date' | 'legal' | 'brand' | 'address' | 'other';

/**
 * Words of labels without accents, as alternatives of a regular expression; English, Spanish, French, German,
 * Portuguese and Italian. `firma` is a signature in Spanish and Italian; in German it is the company (see `labelsOf`).
 */
const labelWords: Readonly<Record<LabelKind, string>> = {
  signature:
    "(?:(?:authori[sz]ed|customer|client|owner'?s?|signer'?s?|officer'?s?|your|electronic) )?(?:signatures?|signatory signature)(?: of [a-z ]{3,40})?" +
    '|signed(?: by)?|sign here|by|x' +
    '|firma(?: autorizada| electronica)?|firmado(?: por)?|signe par|(?:eigenhandige |rechtsverbindliche )?unterschrift|gezeichnet|gez|assinatura|assinado por|firmato(?: da)?',
  name:
    "(?:(?:please )?print(?:ed)?|(?:printed |full |typed |signer'?s? |signator(?:y'?s?|ies) |your |print |officer'?s? |representative'?s? " +
    "|(?:authori[sz]ed (?:signer|signatory|representative|person|officer|agent)(?:'?s)? ))*name" +
    '(?: (?:and|&|/) ?title| ?/ ?title)?(?: of (?:the )?(?:authori[sz]ed )?(?:signer|signatory|representative|officer|person(?: signing)?))?|name and title' +
    '|authori[sz]ed (?:signer|signatory|representative|person|officer)|signer|signatory' +
    '|nombre(?: completo| del firmante| y apellidos?| y cargo)?|firmante|nom(?: complet| du signataire| et prenom| et qualite)?|prenom et nom|signataire' +
    '|name des unterzeichn\\w+|vor- und (?:nach|zu)name|unterzeichner|name in (?:druckbuchstaben|blockschrift)' +
    '|nome(?: completo| do signatario| e cargo| e cognome| del firmatario)?|signatario|firmatario|representante legal|legale rappresentante)',
  title:
    '(?:job |official |business |your )?title|(?:title|position) ?/ ?(?:title|position)|position(?: held)?|role|designation|capacity|cargo|puesto|titulo' +
    '|titre|fonction|qualite|funktion|stellung|berufsbezeichnung|funcao|titolo|carica|qualifica|ruolo|posizione',
  date:
    'date(?: ?/ ?time)?(?: signed| of (?:signature|signing)| de (?:la )?signature)?|dated|(?:signature|signing) date|signed on|executed on' +
    '|fecha(?: de(?: la)? firma)?|firmado el|signe le|fait le|(?:ort,? (?:und )?)?datum(?: der unterschrift)?|unterzeichnet am' +
    '|data(?: d[ae](?:lla)? (?:assinatura|firma))?|luogo e data|lugar y fecha|local e data|lieu et date|place and date|assinado em|firmato il',
  legal:
    '(?:(?:full |registered |complete )?(?:legal|corporate|registered) )(?:(?:business|company|entity|corporate) )?(?:name' +
    '|entity)(?: of (?:the )?(?:business|company|entity|customer|brand))?|(?:company|customer|business|client|organi[sz]ation|entity|corporation|end user' +
    "|subscriber)(?:'s)?(?: legal)?(?: name)?" +
    '|name of (?:the )?(?:company|business|entity|customer|organi[sz]ation)|razon social|(?:nombre (?:legal )?de la )?empresa|nombre legal' +
    '|(?:nom de la )?societe|raison sociale|denomination sociale|firmenname|name (?:des unternehmens|der firma|der gesellschaft)|unternehmen|gesellschaft' +
    '|razao social|ragione sociale|denominazione(?: sociale)?|societa|azienda',
  brand:
    '(?:managed )?brand(?: name)?|brand to (?:be )?display(?:ed)?|d ?[/.] ?b ?[/.] ?a ?\\.?(?: name)?|dba(?: name)?|doing business as|trade ?name' +
    '|trading (?:as|name)|t/a|(?:brand(?:ed)? |call(?:er)? )?display name|name to (?:be )?display(?:ed)?|caller(?: ?id)? name|cnam|nom affiche' +
    '|nombre mostrado|nome exibido|nome visualizzato' +
    '|(?:nombre de la )?marca|nombre comercial|nom commercial|marque|enseigne|handelsname|markenname|marke|anzeigename|nome (?:fantasia|comercial|commerciale)|marchio|insegna',
  address:
    '(?:(?:business|company|street|mailing|service|registered|corporate|physical|head office|principal|legal|full) )?address(?: of [a-z ]{3,30})?' +
    '|registered office|direccion(?: fiscal)?|domicilio(?: social| fiscal)?|adresse(?: postale)?|siege(?: social)?|anschrift|firmensitz|sitz|endereco' +
    '|indirizzo|sede(?: legale)?',
  other:
    '(?:(?:contact|file|country|state|phone|project|campaign|product|service|domain|user|account|bank|department|event|program|first|middle|last)(?: name)?' +
    '|(?:contact |business |office |main |tele|mobile |cell )?(?:phone|telephone|mobile|cell)(?: (?:no|number|numbers))?\\.?|tel|fax|e-?mail(?: address)?' +
    '|web ?site|url|city|zip(?: code)?|postal code|tax id|ein|vat(?: no| number| id)?' +
    '|account(?: (?:no|number))?|reference|re|subject|to|from|attn|attention|witness(?:ed by)?|notary|effective date|expir\\w+(?: date)?|date of birth' +
    '|numbers?|(?:total|count|quantity)(?: of [a-z ]{3,30})?|numero|telefono|telefon|telefone|correo|website|agency|agent|carrier|provider|industry' +
    '|use case|call reasons?)',
};

/** `_____`, `.....`, dashes: what forms print to write on. */
const fill = /[_.\u2026\u00b7\u2022-]{2,}|_/g;

/** Text between two gaps of a line: a column, if the line crosses some. */
interface LabelCell {
  readonly lineIndex: number;
  readonly text: string;
  readonly folded: string;
  /** Offset in its line. */
  readonly start: number;
  readonly box: Box;
}

/** A label and the value next to, under or over it. */
export interface LabelledValue {
  readonly kind: LabelKind;
  /** Without fill; empty if there is none. */
  readonly value: string;
  /** The line of the value, or of the label if there is no value. */
  readonly lineIndex: number;
  /** Offset of the value in its line. */
  readonly start: number;
  readonly label: { readonly lineIndex: number; readonly box: Box };
}

interface Labels {
  readonly inside: RegExp;
  readonly alone: RegExp;
}

const kinds = Object.keys(labelWords) as readonly LabelKind[];
const germanFirma = new Set(['DE', 'AT', 'CH', 'LI', 'LU']);
const compiled = { german: compile(true), other: compile(false) };

function compile(german: boolean): Labels {
  const words: Readonly<Record<LabelKind, string>> = german
    ? {
        ...labelWords,
        legal: `firma|${labelWords.legal}`,
        signature: labelWords.signature.replace('firma(?: autorizada| electronica)?|', ''),
      }
    : labelWords;
  const any = kinds.map((kind) => `(?<${kind}>${words[kind]})`).join('|');
  const note = '(?: ?\\([^()]{1,40}\\))?';
  return {
    inside: new RegExp(`(?<![a-z0-9/&'-])(?:${any})${note} {0,3}(?:[:;](?!//)|(?=[_.\\u2026\\u00b7]{3})| -(?= ))`, 'g'),
    alone: new RegExp(`^[ *\\u2022]{0,4}(?:${any})${note} ?\\*?$`),
  };
}

/** All labels of a letter with their values, in reading order. */
export function labelsOf(letter: LetterText, country: string): readonly LabelledValue[] {
  const labels = germanFirma.has(country) ? compiled.german : compiled.other;
  const page = new CellGrid(letter, labels.alone);
  const inside = page.cells.flatMap((cell) => insideCell(cell, labels.inside));
  const alone = page.cells.flatMap((cell) => {
    const kind = kindOf(labels.alone.exec(cell.folded));
    return kind === null ? [] : [{ kind, cell }];
  });
  const all = [...inside.map((label) => page.complete(label, country)), ...page.readAlone(alone, country)];
  return all.sort((a, b) => a.label.lineIndex - b.label.lineIndex || a.label.box.left - b.label.box.left);
}

function kindOf(match: RegExpExecArray | null): LabelKind | null {
  return match === null ? null : (kinds.find((kind) => match.groups?.[kind] !== undefined) ?? null);
}

interface InsideLabel {
  readonly kind: LabelKind;
  readonly cell: LabelCell;
  readonly value: string;
  readonly start: number;
}

/** Labels with a colon or a fill in a cell: each has the text up to the next. */
function insideCell(cell: LabelCell, inside: RegExp): readonly InsideLabel[] {
  const matches = [...cell.folded.matchAll(inside)];
  return matches.map((match, at) => {
    const from = match.index + match[0].length;
    const raw = cell.text.slice(from, matches[at + 1]?.index ?? cell.text.length);
    const value = withoutFill(raw);
    const offset = value === '' ? 0 : Math.max(0, raw.indexOf(value));
    return { kind: kindOf(match)!, cell, value, start: cell.start + from + offset }; // the match is of one of the kinds
  });
}

const emptyValues = /^(?:n\/?a|none|tbd|x{2,}|\W*)$/i;
const placeholder = /^[[<{(].*[\]>})]$/;

/** A value without the fill of forms; a placeholder (`[Company name]`) is no value. */
function withoutFill(text: string): string {
  const value = text
    .replace(fill, (run) => (run === '--' ? run : ' '))
    .trim()
    .replace(/^[:;,\s]+|[:;,\s]+$/g, '');
  return emptyValues.test(value) || placeholder.test(value) ? '' : value;
}

/** The cells of a letter and their neighbours above, below and to the right. */
class CellGrid {
  readonly cells: readonly LabelCell[];
  private readonly byLine: readonly (readonly LabelCell[])[];
  private readonly letter: LetterText;
  private readonly alone: RegExp;

  constructor(letter: LetterText, alone: RegExp) {
    this.letter = letter;
    this.alone = alone;
    this.byLine = letter.lines.map(cellsOf);
    this.cells = this.byLine.flat();
  }

  /** The value of a label without one in its cell: in the next column, or under it. */
  complete({ kind, cell, value, start }: InsideLabel, country: string): LabelledValue {
    const label = { lineIndex: cell.lineIndex, box: cell.box };
    if (value !== '') return { kind, value, lineIndex: cell.lineIndex, start, label };
    const beside = this.beside(cell);
    if (beside !== null && isPlausible(kind, withoutFill(beside.text), country)) return labelValue(kind, beside, label);
    const under = kind === 'signature' || kind === 'other' ? null : this.vertically(cell, 1);
    if (under !== null && isPlausible(kind, withoutFill(under.text), country)) return labelValue(kind, under, label);
    return { kind, value: '', lineIndex: cell.lineIndex, start: cell.start, label };
  }

  /** Labels that fill their cell: forms print all of them next to, over or under their values. */
  readAlone(labels: readonly { kind: LabelKind; cell: LabelCell }[], country: string): readonly LabelledValue[] {
    const around = labels.map(({ kind, cell }) => ({
      kind,
      cell,
      beside: this.beside(cell),
      over: this.vertically(cell, -1),
      under: this.vertically(cell, 1),
    }));
    const score = (side: Side) =>
      around.reduce(
        (sum, each) => sum + (each[side] === null ? 0 : likelihood(each.kind, withoutFill(each[side].text), country)),
        0,
      );
    const side = sides.reduce((best, next) => (score(next) > score(best) ? next : best));
    return around.map((each) => {
      const label = { lineIndex: each.cell.lineIndex, box: each.cell.box };
      const value =
        [each[side], each.beside].find(
          (cell) => cell !== null && isPlausible(each.kind, withoutFill(cell.text), country),
        ) ?? null;
      return value === null
        ? { kind: each.kind, value: '', lineIndex: each.cell.lineIndex, start: each.cell.start, label }
        : labelValue(each.kind, value, label);
    });
  }

  /** The next cell to the right, in the same line or in another line of the same height. */
  private beside(cell: LabelCell): LabelCell | null {
    const next = this.around(cell)
      .filter((other) => isRightOf(other, cell))
      .sort((a, b) => a.box.left - b.box.left || a.start - b.start)[0];
    return next === undefined || this.isLabel(next) || isFill(next) ? null : next;
  }

  /** The nearest cell over (-1) or under (1) that is no fill; null if it is a label. */
  private vertically(cell: LabelCell, direction: 1 | -1): LabelCell | null {
    const column = this.around(cell).filter(
      (other) => !isFill(other) && overlap(other.box, cell.box) && isBeyond(other, cell, direction),
    );
    const next = column.sort((a, b) => (a.box.top - b.box.top) * direction)[0];
    return next === undefined || this.isLabel(next) ? null : next;
  }

  /** The cells of the lines nearby in reading order, on the same page; columns may part what is side by side. */
  private around(cell: LabelCell): readonly LabelCell[] {
    const from = Math.max(0, cell.lineIndex - linesAround);
    return this.byLine
      .slice(from, cell.lineIndex + linesAround + 1)
      .flat()
      .filter((other) => this.pageOf(other) === this.pageOf(cell));
  }

  private isLabel(cell: LabelCell): boolean {
    return this.alone.test(cell.folded) || /^[a-z /'()]{2,40}:/.test(cell.folded);
  }

  private pageOf({ lineIndex }: LabelCell): number {
    return this.letter.lines[lineIndex]!.page;
  }
}

const linesAround = 10;

/** Possible places of a label's value; of equally likely ones the first. */
const sides = ['beside', 'under', 'over'] as const;
type Side = (typeof sides)[number];

function labelValue(kind: LabelKind, cell: LabelCell, label: LabelledValue['label']): LabelledValue {
  const value = withoutFill(cell.text);
  return { kind, value, lineIndex: cell.lineIndex, start: cell.start + Math.max(0, cell.text.indexOf(value)), label };
}

function cellsOf(line: TextLine, lineIndex: number): readonly LabelCell[] {
  return [...line.text.matchAll(/[^ |]+(?: [^ |]+)*/g)].map((match) => {
    const length = Math.max(1, line.text.length);
    const box = {
      ...line.box,
      left: line.box.left + (line.box.width * match.index) / length,
      width: (line.box.width * match[0].length) / length,
    };
    return {
      lineIndex,
      text: match[0],
      folded: line.folded.slice(match.index, match.index + match[0].length),
      start: match.index,
      box,
    };
  });
}

const isFill = (cell: LabelCell): boolean => /^[\W_]*$/.test(cell.folded) && !/\p{L}/u.test(cell.text);

function overlap(a: Box, b: Box): boolean {
  return a.left < b.left + b.width && b.left < a.left + a.width;
}

function isRightOf(other: LabelCell, cell: LabelCell): boolean {
  if (other.lineIndex === cell.lineIndex) return other.start > cell.start;
  const middle = other.box.top + other.box.height / 2;
  return (
    other.box.left >= cell.box.left + cell.box.width && middle > cell.box.top && middle < cell.box.top + cell.box.height
  );
}

/** In the given direction, and at most four line heights away. */
function isBeyond(other: LabelCell, cell: LabelCell, direction: 1 | -1): boolean {
  const distance = (other.box.top - cell.box.top) * direction;
  return distance > 0 && distance <= Math.max(cell.box.height * 6, 0.08);
}

const titleWords = pattern('')`
  \b(?:chief|c[efotmi]o|officer|president|vice|vp|director|manager|owner|founder|partner|principal|head of|counsel|secretary|treasurer|member|managing
  |administrator|supervisor|controller|executive|chair(?:man|woman|person)?|proprietor|representative|attorney|agent|geschaftsfuhr\w*|prokurist\w*
  |vorstand\w*|inhaber\w*|leiter\w*|gerente|director\w*|presidente|administrador\w*|apoderad\w*|jef[ea]|consejer\w*|gerant\w*|direct(?:eur|rice)
  |president\w*|responsable|socio|socia|diret\w*|procurador\w*|amministrat\w*|titolare|responsabile|direttor\w*)\b
`;

/** True if folded text holds a word of a title that a signer may have. */
export function hasTitleWord(folded: string): boolean {
  return titleWords.test(folded);
}

/** True for a short line, not a sentence, that holds a word of a title. */
export function isTitleLine(text: string): boolean {
  const trimmed = text.trim();
  return (
    /^\p{Lu}/u.test(trimmed) &&
    trimmed.split(/\s+/).length <= 8 &&
    !/[.!?:]$|@/.test(trimmed) &&
    hasTitleWord(foldSameLength(trimmed))
  );
}

function isPlausible(kind: LabelKind, value: string, country: string): boolean {
  if (value === '' || value.length > 120 || !/[\p{L}\p{N}]/u.test(value)) return false;
  if (kind === 'date') return findDates(value, country).length > 0;
  if (kind === 'name' || kind === 'title')
    return /\p{L}{2}/u.test(value) && value.split(' ').length <= 9 && findDates(value, country).length === 0;
  return value.split(' ').length <= 12;
}

function likelihood(kind: LabelKind, value: string, country: string): number {
  if (!isPlausible(kind, value, country)) return 0;
  if (kind === 'date') return 1;
  const isTitle = hasTitleWord(foldSameLength(value));
  if (kind === 'name') return looksLikePerson(value) && !isTitle ? 1 : 0.1;
  if (kind === 'title') return isTitle ? 1 : 0.1;
  return kind === 'signature' ? 0 : 0.1;
}
