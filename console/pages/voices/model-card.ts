import { Facts, Notice, Section, Table } from '../shell/components.ts';
import { type CardBlock, type Span, parseCard, partsOf, splitCard } from './model-card-blocks.ts';
import { visible } from '../shell/text.ts';
import { html, type Shown, type VNode } from '../shell/view.ts';

/** A model's card, with the prohibited uses first. `pictures`: the path of its pictures. */
export function ModelCard({ card, pictures }: { card: string; pictures: string }): VNode {
  const { limits, rest } = splitCard(parseCard(card));
  return html`<div class="page">
    ${limits.length === 0 ? null : html`<${Section} title="What it must not be used for"><${Notice} kind="warn">${limits.map((block) => showBlock(block, { caption: '', pictures }))}</${Notice}></${Section}>`}
    <${Section} title="Card"><div class="card-text">${showParts(rest, pictures)}</div></${Section}>
  </div>`;
}

/** The opening of the card, then its parts, each folded: together they are as long as ten screens. */
function showParts(blocks: readonly CardBlock[], pictures: string): Shown {
  let tables = 0;
  return partsOf(blocks).map(({ title, blocks: own }) => {
    let heading = title ?? 'Card';
    const shown = own.map((block) => {
      if (block.kind === 'heading') heading = block.text;
      return showBlock(block, { caption: block.kind === 'table' ? `${heading}, table ${++tables}` : '', pictures });
    });
    return title === null ? shown : html`<details><summary>${visible(title)}</summary>${shown}</details>`;
  });
}

function showBlock(block: CardBlock, { caption, pictures }: { caption: string; pictures: string }): VNode {
  switch (block.kind) {
    case 'heading':
      return html`<h3>${visible(block.text)}</h3>`;
    case 'paragraph':
      return html`<p>${block.spans.map(showSpan)}</p>`;
    case 'list':
      return html`<ul>${block.items.map((item) => html`<li>${item.map(showSpan)}</li>`)}</ul>`;
    case 'picture':
      return html`<figure class="picture"><img src=${`${pictures}/${encodeURIComponent(block.name)}`} alt=${`${visible(block.description)}; the tables above have its figures`} loading="lazy" /></figure>`;
    case 'table':
      return block.head.every((title) => title === '')
        ? html`<${Facts} entries=${block.rows.map(([name, ...values]) => [name!.map(({ text }) => visible(text)).join(''), values.map((value) => value.map(showSpan))])} />`
        : showTable(block, caption);
  }
}

type CardRow = readonly (readonly Span[])[];

function showTable({ head, rows }: Extract<CardBlock, { kind: 'table' }>, caption: string): VNode {
  const columns = head.map(
    (title, at) =>
      [
        visible(title),
        (row: CardRow) => (row[at] ?? []).map(showSpan),
        rows.every((row) => isFigure(row[at])) ? 'number' : undefined,
      ] as const,
  );
  return html`<${Table} caption=${caption} rows=${rows.map((row, at) => Object.assign([...row], { at }))} keyOf=${({ at }: CardRow & { at: number }) => at} columns=${columns} />`;
}

function isFigure(cell: readonly Span[] | undefined): boolean {
  return (
    cell !== undefined && /^-?\d[\d.,]*( %)?( \([^)]*\))?$|^not defined$/.test(cell.map(({ text }) => text).join(''))
  );
}

function showSpan({ kind, text }: Span): Shown {
  if (kind === 'code') return html`<code>${visible(text)}</code>`;
  return kind === 'strong' ? html`<strong>${visible(text)}</strong>` : visible(text);
}
