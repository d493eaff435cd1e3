import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inventCompanies, ordinaryNames } from '../../../../bench/company-names.ts';
import { relateName } from '../../../../pipelines/branding/names/related-name.ts';
import {
  NEARNESS,
  nearProtectedName,
  parseProtectedNames,
  PROTECTED_CATEGORIES,
  protectedNamesWith,
} from '../../../../pipelines/branding/names/protected-names.ts';

const protectedNames = protectedNamesWith([]);
const near = (name: string) => {
  const found = nearProtectedName(name, protectedNames);
  return found && `${found.how} ${found.name}`;
};

describe('the list of protected names', () => {
  const list = parseProtectedNames(
    readFileSync(join(import.meta.dirname, '../../../../data/protected-names.tsv'), 'utf8'),
  );

  it('has at least 300 entries, each with a category and a country, in every category and in 20 countries', () => {
    expect(list.length).toBeGreaterThanOrEqual(300);
    expect(
      list.filter(
        ({ name, category, country }) =>
          name.trim() !== name ||
          name === '' ||
          !PROTECTED_CATEGORIES.includes(category) ||
          !(country === null || /^[A-Z]{2}$/.test(country)),
      ),
    ).toEqual([]);
    expect(new Set(list.map(({ category }) => category)).size).toBe(PROTECTED_CATEGORIES.length);
    expect(new Set(list.map(({ country }) => country)).size).toBeGreaterThan(20);
  });

  it('has no name twice, and each of its names is near itself', () => {
    const names = list.map(({ name }) => name.toLowerCase());
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    expect(
      list.filter(({ name }) => nearProtectedName(name, protectedNames)?.how !== 'same').map(({ name }) => name),
    ).toEqual([]);
  });
});

describe('a name', () => {
  it.each([
    ['PayPal', 'same PayPal'],
    ['PAYPAL, Inc.', 'same PayPal'],
    ['Pay Pal', 'same PayPal'],
    ['Société Generale', 'same Société Générale'],
    ['Zuercher Kantonalbank', 'same Zürcher Kantonalbank'],
    ['A.T.&T.', 'same AT&T'],
    ['Sberbank', 'same Сбербанк'],
    ['F B I', 'same FBI'],
    ['ＰａｙＰａｌ', 'same PayPal'],
    ['PayPa1', 'look_alike PayPal'],
    ['PayPaI', 'look_alike PayPal'],
    ['РауРаl', 'look_alike PayPal'],
    ['P a y P a l', 'same PayPal'],
    ['Pay\u200BPal', 'same PayPal'],
    ['0range', 'look_alike Orange'],
    ['Arnazon', 'look_alike Amazon'],
    ['VVells Fargo', 'look_alike Wells Fargo'],
    ['Amaazon', 'look_alike Amazon'],
    ['ᏢᎪᎩᏢᎪᏞ', 'look_alike PayPal'],
    ['Micrоsоft', 'same Microsoft'],
    ['𝐏𝐚𝐲𝐏𝐚𝐥', 'same PayPal'],
    ['PayPa丨', 'look_alike PayPal'],
    ['W3lls F@rgo', 'look_alike Wells Fargo'],
    ['Goog1e Support', 'look_alike Google'],
    ['Chase Bank', 'contained Chase'],
    ['ChaseBank', 'contained Chase'],
    ['Chase Fraud Department', 'contained Chase'],
    ['My PayPal Help', 'contained PayPal'],
    ['securepaypalhelp', 'contained PayPal'],
    ['Fargo Wells', 'contained Wells Fargo'],
    ['Visa International', 'contained Visa'],
    ['Apple Support Team', 'contained Apple Support'],
    ['Springfield Police', 'contained Police'],
    ['Bank of America Support', 'contained Bank of America'],
    ['Paypol', 'one_edit PayPal'],
    ['Payapl', 'one_edit PayPal'],
    ['Netflx Billing', 'one_edit Netflix'],
    ['Barclay', 'one_edit Barclays'],
    ['Chose Bank', 'one_edit Chase'],
    ['eBey', 'one_edit eBay'],
    ['DLH Express', 'one_edit DHL'],
    ['Ring Doorbell Support', 'contained Ring'],
    ['Eon Energie', 'contained E.ON'],
    ['DHL24', 'same DHL'],
    ['Norton 360', 'same Norton'],
    ['DHLs', 'one_edit DHL'],
    ['lRS', 'look_alike IRS'],
    ['Chase Bnak', 'contained Chase'],
    ['みずほサポート', 'contained みずほ'],
    ['Spam Risk', 'same Spam Risk'],
    ['B of A', 'same B of A'],
    ['ATT', 'same AT&T'],
    ['Goldmann Sacks', 'two_edits Goldman Sachs'],
    ['Federel Expres', 'two_edits Federal Express'],
    ['Deutshe Bnk', 'two_edits Deutsche Bank'],
    ['AMZN', 'same AMZN'],
    ['ﾐｽﾞﾎ', 'same みずほ'],
  ])('%s: %s', (name, expected) => {
    expect(near(name)).toBe(expected);
  });

  it.each([
    'Northwind Dental',
    'Chase Miller Dental',
    'Apple Valley Dental',
    'Target Roofing Pros of Ohio Smith',
    'Vista Lettings',
    'Baker Law',
    'Delta Plumbing',
    'Miller Contractors',
    'Atlas Roofing',
    'Pro Painting',
    'Clark Electric',
    'King Plumbing',
    'Rogers Heating and Air',
    'Target Roofing',
    'Tate Law Office',
    'Norton Dental',
    'Tangerin Catering',
    'Sakura',
    'Ромашка',
    'The Bank Company',
    'Purchase Order Northwind',
    '',
    '---',
  ])('%s is near none', (name) => {
    expect(near(name)).toBe(null);
  });

  it('of the list stays near it with a look-alike, a doubled or a missing letter, a space or an accent', () => {
    const long = protectedNames
      .filter(
        ({ joined, entry }) =>
          !entry.common && joined.plain.length >= 7 && /^[\x20-\x7E]*[a-z][\x20-\x7E]*$/.test(entry.name),
      )
      .map(({ entry }) => entry.name);
    fc.assert(
      fc.property(
        fc.constantFrom(...long),
        fc.nat(),
        fc.constantFrom<(letter: string) => string>(
          (letter) => letter + letter,
          (letter) => `${letter} `,
          (letter) => `${letter}\u0301`,
          (letter) => ({ a: 'а', e: 'е', o: '0', l: '1', i: 'l', s: '5', p: 'р', c: 'с' })[letter] ?? letter,
          () => '',
        ),
        (name, at, change) => {
          const letters = [...name.matchAll(/[a-z]/g)];
          const { index, 0: letter } = letters[at % letters.length]!;
          expect(near(name.slice(0, index) + change(letter) + name.slice(index + 1))).not.toBe(null);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('that can be split into generic words in many ways costs no more time than another', () => {
    const start = performance.now();
    expect(near(`${'delas'.repeat(24)}q ups`)).not.toBe(null);
    expect(performance.now() - start).toBeLessThan(2_000);
  });

  it('that an operator adds is protected like those of the list', () => {
    const own = protectedNamesWith([{ name: 'Skellbrook', category: 'brand', country: null, common: false }]);
    expect(nearProtectedName('SkeIlbrook Help', own)).toMatchObject({ name: 'Skellbrook', how: 'look_alike' });
    expect(near('Skellbrook')).toBe(null);
  });
});

it('at most 5 % of 200 ordinary companies need a person for their own name', () => {
  const needPerson = ordinaryNames.filter((legalName) => {
    const displayName = legalName.replace(
      /,? (?:LLC|PLLC|LLP|Inc\.|Co\.|Ltd|Limited|GmbH|KG|e\.K\.|SARL|SAS|S\.L\.|S\.A\.|S\.r\.l\.|S\.p\.A\.)$/,
      '',
    );
    return (
      nearProtectedName(legalName, protectedNames) !== null ||
      nearProtectedName(displayName, protectedNames) !== null ||
      !relateName(displayName, legalName).related
    );
  });
  expect(ordinaryNames).toHaveLength(200);
  expect(needPerson.length, needPerson.join('; ')).toBeLessThanOrEqual(10);
});

it('of 1,000 invented names of honest companies fewer than 30 are near a protected name', () => {
  const hits = inventCompanies(1000, 1).filter(
    ({ displayName, legalName }) =>
      (nearProtectedName(displayName, protectedNames) ?? nearProtectedName(legalName, protectedNames)) !== null,
  );
  expect(hits.length).toBeLessThan(30);
  expect(Object.keys(NEARNESS)).toHaveLength(5);
});
