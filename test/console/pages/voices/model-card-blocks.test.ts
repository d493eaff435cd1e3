import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseCard, partsOf, splitCard } from '../../../../console/pages/voices/model-card-blocks.ts';

describe('the blocks of a card', () => {
  it('are headings, paragraphs, lists, tables and pictures, with links as their words', () => {
    expect(
      parseCard(
        '# a/b\n\nSome `code`, **strong** and [words](../x.md).\ngoes on\n\n- one\n- two\n\n| a | b |\n| --- | --- |\n| 1 | `x|y` |\n| 2 |  |\n\n![Curve](det.svg)\n',
      ),
    ).toEqual([
      { kind: 'heading', level: 1, text: 'a/b' },
      {
        kind: 'paragraph',
        spans: [
          { kind: 'text', text: 'Some ' },
          { kind: 'code', text: 'code' },
          { kind: 'text', text: ', ' },
          { kind: 'strong', text: 'strong' },
          { kind: 'text', text: ' and ' },
          { kind: 'text', text: 'words' },
          { kind: 'text', text: '. goes on' },
        ],
      },
      { kind: 'list', items: [[{ kind: 'text', text: 'one' }], [{ kind: 'text', text: 'two' }]] },
      {
        kind: 'table',
        head: ['a', 'b'],
        rows: [
          [[{ kind: 'text', text: '1' }], [{ kind: 'text', text: '`x' }], [{ kind: 'text', text: 'y`' }]],
          [[{ kind: 'text', text: '2' }], []],
        ],
      },
      { kind: 'picture', description: 'Curve', name: 'det.svg' },
    ]);
  });

  it('are parted at the headings of the second level, without the name of the model', () => {
    expect(partsOf(parseCard('# a/b\n\nopening\n\n## One\n\n### Deeper\n\ntext\n\n## Two'))).toEqual([
      { title: null, blocks: [{ kind: 'paragraph', spans: [{ kind: 'text', text: 'opening' }] }] },
      {
        title: 'One',
        blocks: [
          { kind: 'heading', level: 3, text: 'Deeper' },
          { kind: 'paragraph', spans: [{ kind: 'text', text: 'text' }] },
        ],
      },
      { title: 'Two', blocks: [] },
    ]);
  });

  it('hold markup as text: nothing of a card becomes an element', () => {
    const [paragraph] = parseCard('<img src=x onerror=alert(1)> [x](javascript:alert(1))');
    expect(paragraph).toEqual({
      kind: 'paragraph',
      spans: [
        { kind: 'text', text: '<img src=x onerror=alert(1)> ' },
        { kind: 'text', text: 'x' },
        { kind: 'text', text: ')' },
      ],
    });
  });

  it.each(['phone-v8', 'phone-v1.1', 'digital-v3', 'voiceprint-2'])(
    'of the shipped card of %s keep every word, and know what the model must not be used for',
    (directory) => {
      const card = readFileSync(`models/${directory}/card.md`, 'utf8');
      const blocks = parseCard(card);
      const words = JSON.stringify(blocks);
      for (const [, cell] of card.matchAll(/^\| ([^|`[\]*]+) \|/gm))
        if (!/^-+$/.test(cell!.trim())) expect(words).toContain(JSON.stringify(cell!.trim()).slice(1, -1));
      const { limits, rest } = splitCard(blocks);
      expect(JSON.stringify(limits)).toMatch(/decision about a person|only lock on anything/);
      expect(rest.length + limits.length + 1).toBe(blocks.length);
    },
  );
});
