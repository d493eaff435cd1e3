/** A span of text in a card. */
export interface Span {
  readonly kind: 'text' | 'code' | 'strong';
  readonly text: string;
}

/** A block of a card, as data without markup: pages render their own elements. */
export type CardBlock =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'paragraph'; readonly spans: readonly Span[] }
  | { readonly kind: 'list'; readonly items: readonly (readonly Span[])[] }
  | {
      readonly kind: 'table';
      readonly head: readonly string[];
      readonly rows: readonly (readonly (readonly Span[])[])[];
    }
  | { readonly kind: 'picture'; readonly name: string; readonly description: string };

/** Parses the Markdown subset that evaluation/audio/card/card.ts writes. Anything else stays text. */
export function parseCard(card: string): CardBlock[] {
  const paragraphs = card
    .split(/\n\s*\n/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return paragraphs.flatMap(blocksOf);
}

function blocksOf(part: string): CardBlock[] {
  const heading = /^(#{1,6}) +(.+)$/.exec(part.split('\n')[0]!);
  if (heading !== null) {
    const rest = part.split('\n').slice(1).join('\n').trim();
    return [
      { kind: 'heading', level: heading[1]!.length, text: textOf(heading[2]!) },
      ...(rest === '' ? [] : blocksOf(rest)),
    ];
  }
  const lines = part.split('\n');
  if (lines.length > 1 && lines.every((line) => line.startsWith('|')) && /^[|\s:-]+$/.test(lines[1]!)) {
    return [
      {
        kind: 'table',
        head: cellsOf(lines[0]!).map(textOf),
        rows: lines.slice(2).map((line) => cellsOf(line).map(spansOf)),
      },
    ];
  }
  if (lines.every((line) => /^[-*] /.test(line)))
    return [{ kind: 'list', items: lines.map((line) => spansOf(line.slice(2))) }];
  const picture = /^!\[([^\]]*)\]\(([^)]+)\)$/.exec(part);
  if (picture !== null) return [{ kind: 'picture', description: picture[1]!, name: picture[2]! }];
  return [{ kind: 'paragraph', spans: spansOf(lines.join(' ')) }];
}

function cellsOf(line: string): string[] {
  return line
    .replace(/^\||\|\s*$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.replaceAll('\\|', '|').trim());
}

/** Links become plain text: the linked files are not served. */
function spansOf(text: string): Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (const match of text.matchAll(/`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]*)\]\([^)]*\)/g)) {
    if (match.index > at) spans.push({ kind: 'text', text: text.slice(at, match.index) });
    const [all, code, strong, link] = match;
    if (code !== undefined) spans.push({ kind: 'code', text: code });
    else spans.push({ kind: strong === undefined ? 'text' : 'strong', text: strong ?? link ?? '' });
    at = match.index + all.length;
  }
  if (at < text.length) spans.push({ kind: 'text', text: text.slice(at) });
  return spans;
}

function textOf(text: string): string {
  return spansOf(text)
    .map((span) => span.text)
    .join('');
}

/** Splits a card into the section on prohibited uses and the rest. */
export function splitCard(blocks: readonly CardBlock[]): {
  readonly limits: readonly CardBlock[];
  readonly rest: readonly CardBlock[];
} {
  const start = blocks.findIndex((block) => block.kind === 'heading' && /must not be used|^not for/i.test(block.text));
  if (start === -1) return { limits: [], rest: blocks };
  const { level } = blocks[start] as Extract<CardBlock, { kind: 'heading' }>;
  const after = blocks.findIndex((block, at) => at > start && block.kind === 'heading' && block.level <= level);
  const end = after === -1 ? blocks.length : after;
  return { limits: blocks.slice(start + 1, end), rest: [...blocks.slice(0, start), ...blocks.slice(end)] };
}

/** A part of a card: what follows a heading of the second level, or precedes the first one. */
interface CardPart {
  readonly title: string | null;
  readonly blocks: readonly CardBlock[];
}

/** The parts of a card; its own name, the heading of the first level, is left out. */
export function partsOf(blocks: readonly CardBlock[]): CardPart[] {
  const parts: { title: string | null; blocks: CardBlock[] }[] = [{ title: null, blocks: [] }];
  for (const block of blocks) {
    if (block.kind === 'heading' && block.level === 2) parts.push({ title: block.text, blocks: [] });
    else if (block.kind !== 'heading' || block.level > 2) parts.at(-1)!.blocks.push(block);
  }
  return parts.filter(({ title, blocks: own }) => title !== null || own.length > 0);
}
