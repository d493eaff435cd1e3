import { describe, expect, it } from 'vitest';
import { findOnLetter, type LetterFinds } from '../../../../pipelines/branding/letter/letter-finds.ts';
import { shownFinds } from '../../../../pipelines/branding/letter/shown-finds.ts';
import { pdfSignature, readLetter, topOf, type TestLetter } from '../../../support/letter-reading.ts';

const request = {
  legalName: 'Acme Widgets, Inc.',
  dba: null,
  displayName: 'Acme Fast',
  country: 'US',
  phones: ['+12025550143'],
};
const lines = [
  'Acme Widgets, Inc.',
  '1 Main Street, Springfield, IL 62701',
  'LETTER OF AUTHORIZATION',
  'We authorize calls from +1 202 555 0143 under the name Acme Fast.',
  'Sincerely,',
  '',
  'Jane Doe',
  'Chief Financial Officer',
  'March 3, 2026',
];
const pen = { left: 0.12, top: topOf(5), width: 0.2, height: 0.015 };

function find(change: readonly string[] = lines, more: TestLetter = { ink: [pen] }): LetterFinds {
  return findOnLetter(readLetter(change, more), request);
}

describe('the names of a request', () => {
  it('are found with their places', () => {
    expect(find().names.map(({ kind, how, seen }) => [kind, how, seen?.value, seen?.place.line])).toEqual([
      ['legalName', 'whole', 'Acme Widgets, Inc.', 1],
      ['displayName', 'whole', 'Acme Fast', 4],
    ]);
  });

  it.each([
    ['Acme Widgets LLC', 'other_form'],
    ['Acme Widgets International Holdings', 'longer'],
    ['Acme Widgots, Inc.', 'near'],
    ['Another Company, Inc.', null],
  ])('written %s: %s', (written, how) => {
    expect(find([written, ...lines.slice(1)]).names[0]).toMatchObject({ kind: 'legalName', how });
  });
});

describe('a signature', () => {
  it('of ink has the name and the title that are printed near it', () => {
    const { ink, signer, title, place } = find().signing;
    expect(ink).toEqual([{ page: 1, line: 0, box: pen }]);
    expect(place).toEqual(ink[0]);
    expect([signer?.value, signer?.place.line]).toEqual(['Jane Doe', 7]);
    expect(title?.value).toBe('Chief Financial Officer');
  });

  it.each([
    ['behind labels', ['Signature:', '', 'Name: Jane Doe', 'Title: Chief Financial Officer', 'Date: March 3, 2026']],
    ['in one line', ['Signature:', '', 'Jane Doe, Chief Financial Officer']],
    ['beside company names', ['', 'Acme Widgets, Inc.', 'Jane Doe', 'Chief Financial Officer']],
  ])('has the name and title %s', (_name, block) => {
    const { signer, title } = find([...lines.slice(0, 4), ...block], { ink: [{ ...pen, top: topOf(5) }] }).signing;
    expect([signer?.value, title?.value]).toEqual(['Jane Doe', 'Chief Financial Officer']);
  });

  it('of a PDF or typed behind /s/ has its place and signer, too', () => {
    const box = { left: 0.1, top: topOf(5), width: 0.3, height: 0.02 };
    expect(find(lines, { signatures: [pdfSignature({ box })] }).signing).toMatchObject({
      place: { page: 1, box },
      signer: { value: 'Jane Doe' },
      ink: [],
    });
    expect(find([...lines.slice(0, 5), '/s/ Jane Doe']).signing.signer?.value).toBe('Jane Doe');
  });

  it('is none without ink, and a logo in the letterhead is no ink', () => {
    const logo = { left: 0.1, top: 0.02, width: 0.2, height: 0.05 };
    expect(find(lines, { ink: [logo] }).signing).toEqual({ ink: [], signer: null, title: null, place: null });
  });

  it('that was read as text with little confidence names nobody', () => {
    const scrawl = readLetter([...lines.slice(0, 5), 'Jone Dae'], { ink: [pen], confidence: 40 });
    expect(findOnLetter(scrawl, request).signing.signer).toBeNull();
  });
});

it('dates and the least confidence of a page are given', () => {
  expect(find().dates.map(({ date, place }) => [date, place.line])).toEqual([['2026-03-03', 9]]);
  expect(find().confidence).toBe(93);
  expect(findOnLetter(readLetter([]), request).confidence).toBeNull();
});

describe('the list of what was looked for', () => {
  it('says of each name, number, date, ink and signer whether it was found, and names numbers that nobody asked for', () => {
    const finds = find([...lines, 'Tel. +1 202 555 0199']);
    const list = shownFinds(finds).map(({ name, state, asked, value }) => [name, state, asked, value]);
    expect(list).toEqual([
      ['Legal name', 'found', 'Acme Widgets, Inc.', 'Acme Widgets, Inc.'],
      ['Display name', 'found', 'Acme Fast', 'Acme Fast'],
      ['Requested number', 'found', '+12025550143', '+12025550143'],
      ['Ink', 'found', null, 'handwriting, a stamp or a picture'],
      ['Name at the signature', 'found', null, 'Jane Doe'],
      ['Title at the signature', 'found', null, 'Chief Financial Officer'],
      ['Date', 'found', null, '2026-03-03'],
      ['Other number', 'not requested', null, '+12025550199'],
    ]);
  });

  it('of a blank letter says "not found" of everything', () => {
    const list = shownFinds(findOnLetter(readLetter([]), { ...request, dba: 'Acme Slow' }));
    expect(new Set(list.map(({ state, value, place }) => `${state}${value}${place}`))).toEqual(
      new Set(['not foundnull']),
    );
    expect(list).toHaveLength(8);
  });
});
