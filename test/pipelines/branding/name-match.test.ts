import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareNames, comparePeople, editDistance, findName, foldWords, isNear, looksLikePerson, splitLegalForm, wordsOf } from '../../../pipelines/branding/name-match.ts';

const find = (text: string, name: string, near = false) => findName(text, wordsOf(text), name, { near })?.kind ?? null;

describe('words of a name', () => {
  it.each([
    ['Café «Müller», Inc.', 'cafe muller inc'], ["O'Brien’s", 'obriens'], ['A&B + C', 'a and b and c'], ['Straße', 'strasse'], ['ＡＣＭＥ', 'acme'], ['Łódź Ørsted', 'lodz orsted'], ['Ромашка', 'ромашка'], ['  ', ''], ['AT-T', 'at t'],
  ])('%j are %j', (text, words) => {
    expect(foldWords(text).join(' ')).toBe(words);
  });

  it('do not change when they are folded again', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const once = foldWords(text);
      expect(foldWords(once.join(' '))).toEqual(once);
    }));
  });

  it.each([
    ['Acme Inc', 'acme', 'inc'], ['Acme, S.A. de C.V.', 'acme', 'sa de cv'], ['Acme GmbH & Co. KG', 'acme', 'gmbh and co kg'], ['Acme Corporation', 'acme', 'corp'], ['Acme', 'acme', null], ['Inc', 'inc', null], ['Acme L.L.C.', 'acme', 'llc'],
  ])('of %j are %j with the form %j', (name, core, form) => {
    expect(splitLegalForm(foldWords(name))).toEqual({ core: core.split(' '), form });
  });
});

describe('two names of companies', () => {
  it.each([
    ['Acme Widgets, Inc.', 'ACME WIDGETS INC'], ['Acme Widgets', 'Acme Widgets, Inc.'], ['The Acme Company', 'Acme'], ['Café Müller GmbH', 'Cafe Muller'], ['FooBar', 'Foo Bar'], ['A & B Ltd', 'A and B Limited'], ['Acme S.A.', 'ACME SA'],
  ])('%j and %j are the same', (left, right) => {
    expect([compareNames(left, right), compareNames(right, left)]).toEqual(['same', 'same']);
  });

  it.each([
    ['Acme Inc.', 'Acme LLC', 'other_form'], ['Acme GmbH', 'Acme AG', 'other_form'], ['Acme Widgets', 'Acme Widgcts', 'near'], ['Northwind', 'Northwlnd Inc', 'near'], ['Acme', 'Acne', 'other'], ['Acme Widgets', 'Acme Gadgets', 'other'],
    ['Acme', 'Acme Rivals', 'other'], ['Acme', '', 'other'], ['Inc', 'LLC', 'other'], ['Acme Widgets', 'Widgets Acme', 'other'], ['Асме Widgets', 'Acme Widgets', 'other'],
  ])('%j and %j are %s', (left, right, expected) => {
    expect([compareNames(left, right), compareNames(right, left)]).toEqual([expected, expected]);
  });

  it('are near within one edit up to 11 letters, within two from 12 on', () => {
    expect([isNear('abcd', 'abcx'), isNear('abcde', 'abcdx'), isNear('abcde', 'abcxx')]).toEqual([false, true, false]);
    expect([isNear('abcdefghijk', 'abcdefghixx'), isNear('abcdefghijkl', 'abcdefghijxx'), isNear('abcdefghijkl', 'abcdefghixxx')]).toEqual([false, true, false]);
  });

  it('have the edits between them counted up to the limit', () => {
    fc.assert(fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (left, right) => {
      const counted = editDistance(left, right, 24)!;
      expect(counted).toBe(plainDistance(left, right));
      expect([editDistance(left, right, counted), editDistance(left, right, counted - 1)]).toEqual([counted, null]);
    }));

    function plainDistance(left: string, right: string): number {
      const row = Array.from({ length: left.length + 1 }, (_, i) => Array.from({ length: right.length + 1 }, (__, j) => (i === 0 ? j : j === 0 ? i : 0)));
      for (let i = 1; i <= left.length; i++) for (let j = 1; j <= right.length; j++) row[i]![j] = Math.min(row[i - 1]![j]! + 1, row[i]![j - 1]! + 1, row[i - 1]![j - 1]! + Number(left[i - 1] !== right[j - 1]));
      return row[left.length]![right.length]!;
    }
  });
});

describe('a name in a text', () => {
  it.each([
    ['Acme Widgets, Inc. hereby authorizes', 'Acme Widgets, Inc.', 'whole'], ['we, ACME WIDGETS INC, authorize', 'Acme Widgets, Inc.', 'whole'], ['on behalf of Acme\nWidgets.', 'Acme Widgets, Inc.', 'whole'], ['Letter of Acme Widgets', 'Acme Widgets', 'whole'],
    ['the brand Target on calls', 'Target', 'whole'], ['TARGET hereby', 'Target', 'whole'], ['Café Müller is', 'Cafe Muller', 'whole'], ['calls of Acme S.A. de C.V.', 'Acme S.A. de C.V.', 'whole'], ['by AT&T today', 'AT&T', 'whole'],
    ['the target date', 'Target', 'longer'], ['Acme Rivals Inc. hereby', 'Acme', 'longer'], ['Big Acme is here', 'Acme', 'longer'], ['ACME WIDGETS RIVALS', 'Acme Widgets', 'longer'], ['Acme & Sons', 'Acme', 'longer'],
    ['Acme Widgets LLC hereby', 'Acme Widgets, Inc.', 'other_form'], ['Acme Widgcts hereby', 'Acme Widgets', null], ['Acmes of the world', 'Acme', null], ['superacme', 'Acme', null], ['', 'Acme', null], ['Acme', '---', null],
  ])('%j has %j: %s', (text, name, expected) => {
    expect(find(text, name)).toBe(expected);
  });

  it('is taken from the place where it stands best', () => {
    expect(find('Acme Rivals and others. Signed by Acme.', 'Acme')).toBe('whole');
  });

  it('is looked for with a misread letter only on request', () => {
    expect([find('Acme Widgcts hereby', 'Acme Widgets', true), find('AcmeWidgets hereby', 'Acme Widgets', true)]).toEqual(['near', 'near']);
    expect(find('Acme Gadgets hereby', 'Acme Widgets', true)).toBe(null);
  });
});

describe('two names of people', () => {
  it.each([
    ['Jane Doe', 'JANE DOE', 'same'], ['Jane Q. Doe', 'Jane Doe', 'same'], ['Jane Q Doe', 'Jane Quinn Doe', 'same'], ['Dr. Jane Doe, PhD', 'Jane Doe', 'same'], ['Doe, Jane', 'Jane Doe', 'same'], ['María José Ibarrondo', 'Maria Jose Ibarrondo', 'same'],
    ['J. Doe', 'Jane Doe', 'near'], ['Jane Dde', 'Jane Doe', 'near'], ['Jane Thornquill', 'Jane Thornquili', 'near'], ['Janet Doe', 'Jane Doe', 'near'],
    ['John Roe', 'Jane Doe', 'other'], ['Jane Roe', 'Mary Doe', 'other'], ['', 'Jane Doe', 'other'], ['Doe', 'Roe', 'other'], ['Mary Doe', 'Jane Doe', 'other'],
  ])('%j and %j are %s', (left, right, expected) => {
    expect([comparePeople(left, right), comparePeople(right, left)]).toEqual([expected, expected]);
  });
});

describe("a person's name", () => {
  it.each(['Jane Doe', 'JANE DOE', 'Jane Q. Doe', "Maeve O'Dorran", 'Jan van der Berg', 'María José Castañuela Ruiz', 'Doe, Jane', 'Étienne Lagrève'])('is %j', (text) => {
    expect(looksLikePerson(text)).toBe(true);
  });

  it.each(['Jane', 'jane doe', 'Acme Widgets, Inc.', 'Title: CFO', '1 Main Street', 'Jane Doe 2', 'a@b.c', 'An Officer Of The Company With Many Words', '', '____'])('is not %j', (text) => {
    expect(looksLikePerson(text)).toBe(false);
  });
});
