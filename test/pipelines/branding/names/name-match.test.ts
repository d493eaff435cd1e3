import { describe, expect, it } from 'vitest';
import {
  compareNames,
  findName,
  isSamePerson,
  looksLikePerson,
  wordsInText,
} from '../../../../pipelines/branding/names/name-match.ts';

const find = (text: string, name: string, near = false) =>
  findName(text, wordsInText(text), name, { near })?.kind ?? null;

describe('two names of companies', () => {
  it.each([
    ['Acme Widgets, Inc.', 'ACME WIDGETS INC'],
    ['Acme Widgets', 'Acme Widgets, Inc.'],
    ['The Acme Company', 'Acme'],
    ['Café Müller GmbH', 'Cafe Muller'],
    ['FooBar', 'Foo Bar'],
    ['A & B Ltd', 'A and B Limited'],
    ['Acme S.A.', 'ACME SA'],
    ['Bäckerei Weiß GmbH', 'Baeckerei Weiss'],
    ['株式会社さくら', 'さくら'],
  ])('%j and %j are the same', (left, right) => {
    expect([compareNames(left, right), compareNames(right, left)]).toEqual(['same', 'same']);
  });

  it.each([
    ['Acme Inc.', 'Acme LLC', 'other_form'],
    ['Acme GmbH', 'Acme AG', 'other_form'],
    ['Acme Widgets', 'Acme Widgcts', 'near'],
    ['Northwind', 'Northwlnd Inc', 'near'],
    ['Acme', 'Acne', 'other'],
    ['Acme Widgets', 'Acme Gadgets', 'other'],
    ['Acme', 'Acme Rivals', 'other'],
    ['Acme', '', 'other'],
    ['Inc', 'LLC', 'other'],
    ['Acme Widgets', 'Widgets Acme', 'other'],
    ['Асме Widgets', 'Acme Widgets', 'other'],
  ])('%j and %j are %s', (left, right, expected) => {
    expect([compareNames(left, right), compareNames(right, left)]).toEqual([expected, expected]);
  });
});

describe('a name in a text', () => {
  it.each([
    ['Acme Widgets, Inc. hereby authorizes', 'Acme Widgets, Inc.', 'whole'],
    ['we, ACME WIDGETS INC, authorize', 'Acme Widgets, Inc.', 'whole'],
    ['on behalf of Acme\nWidgets.', 'Acme Widgets, Inc.', 'whole'],
    ['Letter of Acme Widgets', 'Acme Widgets', 'whole'],
    ['the brand Target on calls', 'Target', 'whole'],
    ['TARGET hereby', 'Target', 'whole'],
    ['Café Müller is', 'Cafe Muller', 'whole'],
    ['calls of Acme S.A. de C.V.', 'Acme S.A. de C.V.', 'whole'],
    ['by AT&T today', 'AT&T', 'whole'],
    ['der Baeckerei Weiss GmbH', 'Bäckerei Weiß GmbH', 'whole'],
    ['der Bäckerei Weiß GmbH', 'Baeckerei Weiss', 'whole'],
    ['the target date', 'Target', 'longer'],
    ['Acme Rivals Inc. hereby', 'Acme', 'longer'],
    ['Big Acme is here', 'Acme', 'longer'],
    ['ACME WIDGETS RIVALS', 'Acme Widgets', 'longer'],
    ['Acme & Sons', 'Acme', 'longer'],
    ['Acme Widgets LLC hereby', 'Acme Widgets, Inc.', 'other_form'],
    ['Acme Widgcts hereby', 'Acme Widgets', null],
    ['Acmes of the world', 'Acme', null],
    ['superacme', 'Acme', null],
    ['', 'Acme', null],
    ['Acme', '---', null],
  ])('%j has %j: %s', (text, name, expected) => {
    expect(find(text, name)).toBe(expected);
  });

  it('is taken from the place where it fits best', () => {
    expect(find('Acme Rivals and others. Signed by Acme.', 'Acme')).toBe('whole');
  });

  it('is looked for with a misread letter only on request', () => {
    expect([
      find('Acme Widgcts hereby', 'Acme Widgets', true),
      find('AcmeWidgets hereby', 'Acme Widgets', true),
    ]).toEqual(['near', 'near']);
    expect(find('Acme Gadgets hereby', 'Acme Widgets', true)).toBe(null);
  });
});

describe('a person', () => {
  it.each([
    ['Jane Sample', 'JANE SAMPLE', true],
    ['Dr. Jane Sample, PhD', 'Jane Sample', true],
    ['Sample, Jane', 'Jane Sample', true],
    ['María José Ibarrondo', 'Maria Jose Ibarrondo', true],
    ['Jane Mallory Sample', 'Jane Sample', false],
    ['Jane M. Sample', 'Jane Sample', false],
    ['Jane Sample Jr.', 'Jane Sample', false],
    ['Sample Jane', 'Jane Sample', false],
    ['Mr.', 'Mrs.', false],
    ['', '', false],
  ])('named %j and one named %j are the same: %s', (left, right, same) => {
    expect([isSamePerson(left, right), isSamePerson(right, left)]).toEqual([same, same]);
  });
});

describe("a person's name", () => {
  it.each([
    'Jane Doe',
    'JANE DOE',
    'Jane Q. Doe',
    "Maeve O'Dorran",
    'Jan van der Berg',
    'María José Castañuela Ruiz',
    'Doe, Jane',
    'Étienne Lagrève',
  ])('is %j', (text) => {
    expect(looksLikePerson(text)).toBe(true);
  });

  it.each([
    'Jane',
    'jane doe',
    'Acme Widgets, Inc.',
    'Title: CFO',
    '1 Main Street',
    'Jane Doe 2',
    'a@b.c',
    'An Officer Of The Company With Many Words',
    '',
    '____',
  ])('is not %j', (text) => {
    expect(looksLikePerson(text)).toBe(false);
  });
});
