import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitLegalForm } from '../../../../pipelines/branding/names/company-words.ts';
import { foldWords, foldWordsBothWays, isSameWord } from '../../../../pipelines/branding/names/name-folding.ts';

describe('words of a name', () => {
  it.each([
    ['Café «Müller», Inc.', 'cafe muller inc'],
    ["O'Brien’s", 'obriens'],
    ['A&B + C', 'a and b and c'],
    ['Straße', 'strasse'],
    ['ＡＣＭＥ', 'acme'],
    ['Łódź Ørsted', 'lodz orsted'],
    ['Ромашка', 'ромашка'],
    ['  ', ''],
    ['AT-T', 'at t'],
    ['ﬁne ℡ ①', 'fine tel 1'],
    ['Acme® GmbH™', 'acme gmbh'],
    ['İstanbul Işık', 'istanbul isik'],
    ['Þór Ðæ', 'thor dae'],
    ['P\u200Bay\u00ADPal', 'paypal'],
    ['ガス', 'ガス'],
    ['हिन्दी', 'हिन्दी'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['株式会社さくら', '株式会社 さくら'],
  ])('%j are %j', (text, words) => {
    expect(foldWords(text).join(' ')).toBe(words);
  });

  it('do not change when they are folded again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const once = foldWords(text);
        expect(foldWords(once.join(' '))).toEqual(once);
      }),
    );
  });

  it.each([
    ['Acme Inc', 'acme', 'inc'],
    ['Acme, S.A. de C.V.', 'acme', 'sa de cv'],
    ['Acme GmbH & Co. KG', 'acme', 'gmbh and co kg'],
    ['Acme Corporation', 'acme', 'corp'],
    ['Acme', 'acme', null],
    ['Inc', 'inc', null],
    ['Acme L.L.C.', 'acme', 'llc'],
    ['Acme Sp. z o.o.', 'acme', 'sp z o o'],
    ['ООО «Ромашка»', 'ромашка', 'ооо'],
    ['PT Mawar', 'mawar', 'pt'],
    ['Acme S.p.A.', 'acme', 'spa'],
    ['Acme Sdn. Bhd.', 'acme', 'sdn bhd'],
    ['Ao Smith', 'ao smith', null],
  ])('of %j are %j with the form %j', (name, core, form) => {
    expect(splitLegalForm(foldWords(name))).toEqual({ core: core.split(' '), form });
  });
});

describe('a word with an umlaut', () => {
  it.each([
    ['Müller', 'Mueller', true],
    ['Müller', 'Muller', true],
    ['Mueller', 'Muller', false],
    ['Ørsted', 'Oersted', true],
    ['Århus', 'Aarhus', true],
    ['Weiß', 'WEISS', true],
    ['Weiẞ', 'weiss', true],
    ['Blue', 'Blu', false],
  ])('%s is %s: %s', (left, right, same) => {
    expect(isSameWord(foldWordsBothWays(left)[0]!, foldWordsBothWays(right)[0]!)).toBe(same);
  });
});
